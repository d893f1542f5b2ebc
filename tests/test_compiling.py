"""Compiled code finds a place, also where neither the package nor the user's cache can be written to."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from evenly import compiling
from evenly.errors import EvenlyWarning

# A file system that is mounted read-only, for a process that may write everywhere, as tests in containers do.
READ_ONLY = """
import os, sys, warnings
allowed, access = os.environ["ALLOWED"], os.access
os.access = lambda path, mode: access(path, mode) and (not mode & os.W_OK or str(path).startswith(allowed))
import numba.core.caching as caching
def refuse(self):
    if not self.get_cache_path().startswith(allowed):
        raise OSError(30, "Read-only file system")
    os.makedirs(self.get_cache_path(), exist_ok=True)
caching._CacheLocator.ensure_cache_path = refuse
with warnings.catch_warnings(record=True) as told:
    warnings.simplefilter("always")
    import evenly
    from evenly.compiling import njit
    from evenly.models.gaussian_process import kernels
    from evenly.models.pmnf import loss_kernels
print(len(told), *(str(one.message) for one in told))
print(os.environ.get("NUMBA_CACHE_DIR"))
"""


def run(folder: Path, **variables: str) -> tuple[str, str]:
    environment = {name: value for name, value in os.environ.items() if name != "NUMBA_CACHE_DIR"}
    environment |= {"TMPDIR": str(folder), "ALLOWED": str(folder), **variables}
    done = subprocess.run(
        [sys.executable, "-c", READ_ONLY], env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    said, place = done.stdout.splitlines()
    return said, place


def test_where_nothing_can_be_written_a_private_folder_is_used_and_said_once(tmp_path: Path) -> None:
    said, place = run(tmp_path)
    assert said.startswith("1 nothing can be written to ")
    assert "set NUMBA_CACHE_DIR" in said
    assert Path(place).parent == tmp_path
    assert Path(place).stat().st_mode & 0o777 == 0o700
    # Those that are started from here know it.
    assert run(tmp_path, NUMBA_CACHE_DIR=place) == ("0", place)
    # The same folder again, where the code is.
    assert run(tmp_path)[1] == place


def test_the_users_choice_and_cache_come_first(tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    assert run(tmp_path, NUMBA_CACHE_DIR=str(tmp_path / "mine")) == ("0", str(tmp_path / "mine"))
    assert run(tmp_path, XDG_CACHE_HOME=str(tmp_path / "new" / "cache")) == ("0", "None")
    said, place = run(tmp_path, NUMBA_CACHE_DIR="/proc/nowhere")
    assert said.startswith("1 nothing can be written to /proc/nowhere")
    assert Path(place).parent == tmp_path


def test_a_folder_that_others_can_write_to_is_not_taken(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    usual = tmp_path / f"evenly-compiled-{os.getuid()}"
    assert compiling._private_folder() == usual
    usual.chmod(0o777)
    assert compiling._private_folder() != usual
    usual.rmdir()
    (tmp_path / "elsewhere").mkdir(mode=0o700)
    usual.symlink_to(tmp_path / "elsewhere")
    assert compiling._private_folder() not in (usual, tmp_path / "elsewhere")


def test_the_choice_is_a_warning(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compiling, "_can_be_written", lambda _: False)
    monkeypatch.setattr(compiling, "_private_folder", lambda: tmp_path)
    monkeypatch.setenv("NUMBA_CACHE_DIR", "/given")
    with pytest.warns(EvenlyWarning, match="nothing can be written to /given"):
        compiling._choose_cache()
    assert os.environ["NUMBA_CACHE_DIR"] == str(tmp_path)


def test_without_numba_no_folder_is_chosen(tmp_path: Path) -> None:
    code = (
        "import importlib.util, sys\n"
        "find = importlib.util.find_spec\n"
        "importlib.util.find_spec = lambda name: None if name == 'numba' else find(name)\n"
        "sys.modules['numba'] = None\n"
        "try:\n import evenly.compiling\nexcept ImportError:\n print('none')"
    )
    environment = {**os.environ, "NUMBA_CACHE_DIR": "/dev/null/x", "TMPDIR": str(tmp_path)}
    command = [sys.executable, "-W", "error", "-c", code]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    assert (done.stdout, done.stderr) == ("none\n", "")
    assert not list(tmp_path.iterdir())
