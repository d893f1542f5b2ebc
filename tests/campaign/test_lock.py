"""The lock of a campaign's file: one writer at a time, whatever the file is called and wherever it lies."""

from __future__ import annotations

import fcntl
import json
import os
import subprocess
import sys
import time
import warnings
from pathlib import Path
from typing import Any

import pytest

from evenly import processes
from evenly.campaign import lock as locking
from evenly.campaign.lock import FileLock, file_system_time
from evenly.campaign.record import Record
from evenly.campaign.store import Store
from evenly.errors import EvenlyWarning, InputError, ReadError

HOLD = """
import sys, time
from pathlib import Path
from evenly.campaign.lock import FileLock
lock = FileLock(Path(sys.argv[1]))
print("held", flush=True)
time.sleep(60)
"""


def holder(path: Path) -> subprocess.Popen[str]:
    """Start a process that holds the lock of a file."""
    found = subprocess.Popen([sys.executable, "-c", HOLD, str(path)], stdout=subprocess.PIPE, text=True)
    assert found.stdout is not None
    assert found.stdout.readline() == "held\n"
    return found


def written(path: Path, **changes: Any) -> Path:
    """Write the lock that a process of another machine holds."""
    place = path.with_name(path.name + ".lock")
    place.write_text(json.dumps({"host": "node17", "pid": 4, "machine": "x", "started": "9", "token": "a"} | changes))
    return place


def aged(place: Path, seconds: float) -> None:
    then = time.time() - seconds
    os.utime(place, (then, then))


def test_all_names_of_a_file_share_a_lock(tmp_path: Path) -> None:
    (tmp_path / "here").mkdir()
    (tmp_path / "link.db").symlink_to(tmp_path / "here" / "runs.db")
    (tmp_path / "there").symlink_to(tmp_path / "here")
    with Store(tmp_path / "here" / "runs.db"):
        for name in ("link.db", "there/runs.db", "here/../here/runs.db"):
            with pytest.raises(InputError, match="another campaign is writing"):
                Store(tmp_path / name)
    os.link(tmp_path / "here" / "runs.db", tmp_path / "second.db")
    for name in ("here/runs.db", "second.db"):
        with pytest.raises(InputError, match="several hard links"):
            Store(tmp_path / name)


def test_the_holder_is_named_and_a_killed_one_is_replaced(tmp_path: Path) -> None:
    path = tmp_path / "runs.db"
    process = holder(path)
    with pytest.raises(InputError, match=f"process {process.pid} on "):
        FileLock(path)
    process.kill()
    process.communicate()
    with pytest.warns(EvenlyWarning, match=f"process {process.pid} on .* ended without closing"), FileLock(path):
        pass
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("path", ["/usr/bin:/bin", ""])
def test_a_killed_holder_is_replaced_at_once_without_proc(
    path: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """On systems such as macOS, by `ps`, or where that is missing by whether there is such a process."""
    monkeypatch.setattr(processes, "_PROC", tmp_path / "no proc")
    monkeypatch.setattr(processes, "_hardware", lambda: "this one")
    monkeypatch.setenv("PATH", path)
    file = tmp_path / "runs.db"
    hold = HOLD.replace(
        "lock =",
        f"from evenly import processes\nprocesses._PROC = Path({str(tmp_path / 'no proc')!r})\n"
        "processes._hardware = lambda: 'this one'\nlock =",
    )
    process = subprocess.Popen([sys.executable, "-c", hold, str(file)], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    assert process.stdout.readline() == "held\n"
    with pytest.raises(InputError, match=f"process {process.pid} on "):
        FileLock(file)
    process.kill()
    process.communicate()
    with pytest.warns(EvenlyWarning, match="ended without closing"), FileLock(file):
        pass
    # Another process that has the number now is told by when it began.
    written(file, machine="this one", pid=os.getpid(), started="5")
    with pytest.warns(EvenlyWarning, match="ended without closing"), FileLock(file):
        pass


def test_no_lock_of_the_system_is_needed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise OSError(38, "Function not implemented")

    monkeypatch.setattr(fcntl, "flock", refuse)
    monkeypatch.setattr(fcntl, "lockf", refuse)
    with Store(tmp_path / "runs.db") as store:
        store.add(Record(store.add_configurations([{"n": 1}])[0], 0, "ok", {"seconds": 1.0}))
        with pytest.raises(InputError, match="another campaign is writing"):
            Store(tmp_path / "runs.db")


def test_a_holder_elsewhere_is_alive_while_it_touches_its_lock(tmp_path: Path) -> None:
    place = written(tmp_path / "runs.db")
    with pytest.raises(InputError, match=r"process 4 on node17.*delete .*runs\.db\.lock"):
        FileLock(tmp_path / "runs.db")
    aged(place, 3600)
    with pytest.warns(EvenlyWarning, match="node17"), FileLock(tmp_path / "runs.db") as lock:
        assert lock.is_held()


def test_a_process_of_the_same_number_is_another_one(tmp_path: Path) -> None:
    written(tmp_path / "runs.db", machine=processes._machine(), pid=os.getpid(), started="1")
    with pytest.warns(EvenlyWarning), FileLock(tmp_path / "runs.db"):
        pass


@pytest.mark.parametrize("text", ["", "{", '{"machine": 3}', '{"pid": [], "machine": "here"}'])
def test_a_damaged_lock_is_waited_for_and_then_replaced(text: str, tmp_path: Path) -> None:
    place = written(tmp_path / "runs.db")
    place.write_text(text.replace("here", processes._machine()))
    if "here" not in text:
        with pytest.raises(InputError, match="another process"):
            FileLock(tmp_path / "runs.db")
    aged(place, 3600)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", EvenlyWarning)
        FileLock(tmp_path / "runs.db").release()


def test_the_holder_touches_its_lock(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(locking, "_TOUCH_S", 0.02)
    with FileLock(tmp_path / "runs.db"):
        aged(tmp_path / "runs.db.lock", 3600)
        deadline = time.monotonic() + 30
        while locking._age(tmp_path / "runs.db.lock") > 60 and time.monotonic() < deadline:
            time.sleep(0.02)
        assert locking._age(tmp_path / "runs.db.lock") < 60


def test_a_lock_is_released_by_whoever_forgot_it(tmp_path: Path) -> None:
    forgotten = FileLock(tmp_path / "runs.db")
    del forgotten
    code = "import sys; from pathlib import Path; from evenly.campaign.lock import FileLock as L; x = L(Path('own.db'))"
    subprocess.run([sys.executable, "-c", code], check=True, cwd=tmp_path)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.filterwarnings(
    "ignore::DeprecationWarning", "ignore::RuntimeWarning"
)  # Python and JAX warn beside threads
def test_a_forked_child_does_not_release_its_parents_lock(tmp_path: Path) -> None:
    with FileLock(tmp_path / "runs.db") as lock:
        child = os.fork()
        if child == 0:
            lock.release()
            os._exit(0)
        os.waitpid(child, 0)
        assert lock.is_held()


def test_only_one_of_many_replaces_a_stale_lock(tmp_path: Path) -> None:
    aged(written(tmp_path / "runs.db"), 3600)
    code = HOLD.replace("sleep(60)", "sleep(4)")
    many = [
        subprocess.Popen([sys.executable, "-W", "ignore", "-c", code, "runs.db"], cwd=tmp_path, stdout=subprocess.PIPE,
                         stderr=subprocess.DEVNULL, text=True)
        for _ in range(6)
    ]  # fmt: skip
    assert sorted(process.communicate()[0] for process in many) == [""] * 5 + ["held\n"]


def test_a_file_deleted_or_replaced_meanwhile_is_noticed_and_its_runs_are_kept(tmp_path: Path) -> None:
    for change in ("deleted", "replaced", "lock deleted"):
        (folder := tmp_path / change).mkdir()
        path = folder / "runs.db"
        with Store(path) as store:
            number = store.add_configurations([{"n": 1}])[0]
            store.add(Record(number, 0, "ok", {"seconds": 1.0}))
            if change == "lock deleted":
                (folder / "runs.db.lock").unlink()
            else:
                path.unlink()
            if change == "replaced":
                path.write_bytes(b"something else")
            for _ in range(2):
                with pytest.raises(ReadError, match=r"was deleted or replaced.*so far: 2.*continues from there"):
                    store.add(Record(number, 1, "ok", {"seconds": 1.0}))
        # The run that had just ended is among them.
        (copy,) = folder.glob("*.rescued-*.db")
        with Store(copy) as store:
            assert (store.count(), store.left_running()) == (2, [])


@pytest.mark.parametrize("replaced", [True, False])
def test_the_log_of_a_file_that_is_gone_spoils_no_other(tmp_path: Path, replaced: bool) -> None:
    other, path = tmp_path / "other.db", tmp_path / "runs.db"
    with Store(other) as store:
        for n, number in enumerate(store.add_configurations([{"n": n} for n in range(4)])):
            store.add(Record(number, 0, "ok", {"seconds": 1.0 + n}))
    with Store(path) as store:
        number = store.add_configurations([{"n": 1}])[0]
        store.add(Record(number, 0, "ok", {"seconds": 1.0}))
        if replaced:
            other.rename(path)
        else:
            path.unlink()
        with pytest.raises(ReadError, match="was deleted or replaced"):
            store.add(Record(number, 1, "ok", {"seconds": 1.0}))
    with Store(path) as store:
        assert store.count() == (4 if replaced else 0)


def test_files_are_timed_by_the_clock_of_their_file_system(tmp_path: Path) -> None:
    assert abs(file_system_time(tmp_path) - time.time()) < 5
    assert list(tmp_path.iterdir()) == []


def test_a_file_in_the_lock_s_place_that_is_none_stays(tmp_path: Path) -> None:
    place = tmp_path / "runs.db.lock"
    place.write_text("my own notes")
    os.utime(place, (1.0, 1.0))
    with pytest.raises(InputError, match=r"\.lock lies where the lock of .* but evenly did not write it: move"):
        FileLock(tmp_path / "runs.db")
    assert [path.read_text() for path in tmp_path.iterdir()] == ["my own notes"]


def test_a_file_server_that_fails_for_a_moment_takes_no_lock_away(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(*_: object) -> None:
        raise OSError(5, "Input/output error")

    with FileLock(tmp_path / "runs.db") as lock:
        with monkeypatch.context() as patch:
            patch.setattr("evenly.campaign.lock._read", fails)
            assert lock.is_held()
        assert lock.is_held()


def test_a_folder_that_was_moved_is_told(tmp_path: Path) -> None:
    folder = tmp_path / "here"
    folder.mkdir()
    with Store(folder / "runs.db") as store:
        number = store.add_configurations([{"n": 1}])[0]
        store.add(Record(number, 0, "ok", {"seconds": 1.0}))
        folder.rename(tmp_path / "there")
        with pytest.raises(ReadError, match=r"its folder was moved or deleted .* the runs are there"):
            store.add(Record(number, 1, "ok", {"seconds": 1.0}))
    (tmp_path / "there" / "runs.db.lock").unlink()  # of a process that has ended, it holds nobody up
    with Store(tmp_path / "there" / "runs.db") as store:
        assert store.count() == 1
