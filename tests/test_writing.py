"""Files that are replaced in one go: what was there stays until the new one is complete."""

from __future__ import annotations

import errno
import os
import shutil
import stat
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from evenly.errors import EvenlyWarning, InputError
from evenly.writing import check_replaceable, replacing


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_a_failure_leaves_the_older_file_and_nothing_else(tmp_path: Path) -> None:
    path = tmp_path / "a"
    path.write_text("old")

    def write() -> None:
        with replacing(path) as new:
            new.write_text("ne")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write()
    assert (path.read_text(), names(tmp_path)) == ("old", ["a"])


def test_nothing_beside_it_is_touched(tmp_path: Path) -> None:
    for name in ("a.part", ".a.part", "a.partial"):
        (tmp_path / name).write_text("mine")
    with replacing(tmp_path / "a") as new:
        new.write_text("new")
    assert names(tmp_path) == [".a.part", "a", "a.part", "a.partial"]
    assert all((tmp_path / name).read_text() == "mine" for name in (".a.part", "a.part", "a.partial"))


def test_a_link_stays_a_link(tmp_path: Path) -> None:
    (tmp_path / "far").mkdir()
    (tmp_path / "far" / "a").write_text("old")
    (tmp_path / "link").symlink_to("far/a")
    with replacing(tmp_path / "link") as new:
        new.write_text("new")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "far" / "a").read_text() == "new"


def test_permissions_are_those_of_the_older_file_or_usual_ones(tmp_path: Path) -> None:
    (tmp_path / "old").write_text("")
    (tmp_path / "old").chmod(0o600)
    (tmp_path / "usual").touch()
    for name in ("old", "new"):
        with replacing(tmp_path / name) as new:
            new.write_text("new")
    modes = {name: stat.S_IMODE((tmp_path / name).stat().st_mode) for name in ("old", "new", "usual")}
    assert modes["old"] == 0o600
    assert modes["new"] == modes["usual"]


def test_a_device_stays_a_device(tmp_path: Path) -> None:
    # A pipe stands for all: a test that might replace /dev/null would break the machine of its user.
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    read: list[str] = []
    reader = threading.Thread(target=lambda: read.append(pipe.read_text()))
    reader.start()
    with replacing(pipe) as new:
        new.write_text("new")
    reader.join()
    assert read == ["new"]
    assert names(tmp_path) == ["pipe"]
    assert stat.S_ISFIFO(pipe.stat().st_mode)


def test_a_device_stays_after_a_failure_too(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(ZeroDivisionError), replacing(tmp_path / "pipe"):
        raise ZeroDivisionError
    assert stat.S_ISFIFO((tmp_path / "pipe").stat().st_mode)


def test_folders_and_missing_folders_are_refused(tmp_path: Path) -> None:
    with pytest.raises(IsADirectoryError), replacing(tmp_path):
        pass
    with pytest.raises(FileNotFoundError), replacing(tmp_path / "none" / "a") as new:
        new.write_text("")


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write to all files")
def test_a_file_that_may_not_be_written_to_is_not_replaced(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("old")
    (tmp_path / "a").chmod(0o400)
    with pytest.raises(PermissionError), replacing(tmp_path / "a") as new:
        new.write_text("new")
    assert (tmp_path / "a").read_text() == "old"


def test_a_name_may_have_any_length_that_the_system_allows(tmp_path: Path) -> None:
    path = tmp_path / ("a" * os.pathconf(tmp_path, "PC_NAME_MAX"))
    with replacing(path) as new:
        new.write_text("new")
    assert names(tmp_path) == [path.name]


def test_two_writers_never_mix(tmp_path: Path) -> None:
    code = (
        "import sys\nfrom evenly.writing import replacing\nfor _ in range(100):\n"
        "    with replacing('a') as new: new.write_text(sys.argv[1] * 100_000)"
    )
    writers = [subprocess.Popen([sys.executable, "-c", code, letter], cwd=tmp_path) for letter in "xy"]
    seen = set()
    while any(writer.poll() is None for writer in writers):
        if (tmp_path / "a").exists():
            seen.add((tmp_path / "a").read_text())
    assert all(writer.returncode == 0 for writer in writers)
    assert seen <= {letter * 100_000 for letter in "xy"}
    assert names(tmp_path) == ["a"]


@pytest.mark.parametrize("content", [b"", b"x", b"evenly distributed", b"\x00" * 100_000 + b"made by evenl"])
def test_foreign_files_in_a_named_folder_are_refused(content: bytes, tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(content)
    with pytest.raises(InputError, match="since evenly did not write it: move it, or name another file or folder"):
        check_replaceable([tmp_path / "none", tmp_path / "a"])
    assert (tmp_path / "a").read_bytes() == content


def test_links_and_folders_in_the_place_of_a_file_are_refused(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to("nowhere")
    (tmp_path / "folder").mkdir()
    os.mkfifo(tmp_path / "pipe")
    for name in ("link", "folder", "pipe"):
        with pytest.raises(InputError, match="did not write it"):
            check_replaceable([tmp_path / name])


@pytest.fixture
def mounted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A file that can't be replaced, since it is a mount of its own."""
    path = tmp_path / "a"
    path.write_text("old")
    replace = Path.replace

    def refuse(part: Path, target: Path) -> Path:
        if target == path:
            raise OSError(errno.EBUSY, os.strerror(errno.EBUSY))
        return replace(part, target)

    monkeypatch.setattr(Path, "replace", refuse)
    return path


def test_a_file_that_is_a_mount_is_written_in_place(mounted: Path) -> None:
    inode = mounted.stat().st_ino
    with pytest.warns(EvenlyWarning, match="a is a mount of its own, so it was written"), replacing(mounted) as new:
        new.write_text("new")
    assert (mounted.read_text(), mounted.stat().st_ino, names(mounted.parent)) == ("new", inode, ["a"])


def test_what_can_not_be_written_in_place_is_kept_beside(mounted: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(shutil, "copyfile", full)
    reason = r"No space left on device\): it is damaged; the complete file is .*a\.new-"
    with pytest.raises(InputError, match=reason), replacing(mounted) as new:
        new.write_text("new")
    (kept,) = (path for path in mounted.parent.iterdir() if path != mounted)
    assert kept.read_text() == "new"
