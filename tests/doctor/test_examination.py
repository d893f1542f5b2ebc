"""What the checks say of a machine that is well, and of one with each fault."""

from __future__ import annotations

import stat
from pathlib import Path

import pytest

from evenly.doctor import hardware, software
from evenly.doctor.examination import examine
from evenly.errors import InputError, MissingExtraError


def program(folder: Path, name: str, text: str) -> None:
    """Write an executable script."""
    place = folder / name
    place.write_text(f"#!/bin/sh\n{text}\n", encoding="utf-8")
    place.chmod(place.stat().st_mode | stat.S_IXUSR)


def test_a_whole_examination(tmp_path: Path) -> None:
    shares: list[float] = []
    found = {one.name: one for one in examine(tmp_path, seconds=0.05, progress=shares.append)}
    assert shares[-1] == 1
    assert len(found) == len(shares)
    assert found["files"].verdict == "good"
    assert found["two ranks"].verdict in ("good", "note")
    assert "GB/s" in found["memory bandwidth"].found
    assert "MiB" in found["caches"].found
    assert all(one.remedy for one in found.values() if one.verdict == "bad")
    assert list(tmp_path.iterdir()) == []


def test_schedulers_that_answer_fail_or_are_silent(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    assert software.scheduler({}).found == "none found: runs start here"
    program(tmp_path, "sinfo", "echo slurm 22.05.8")
    outside, inside = software.scheduler({}), software.scheduler({"SLURM_JOB_NODELIST": "n[1-2]"})
    assert (outside.verdict, inside.verdict) == ("note", "good")
    assert "not inside a job" in outside.found
    assert inside.found == "slurm 22.05.8; inside a job on 2 hosts"
    program(tmp_path, "sinfo", "echo slurm_load_partitions: Unable to contact slurm controller >&2; exit 1")
    assert software.scheduler({}).verdict == "bad"
    assert "Unable to contact" in software.scheduler({}).found
    program(tmp_path, "sinfo", "echo sinfo: fatal: Could not establish a configuration source >&2; exit 1")
    alone = software.scheduler({})
    assert (alone.verdict, alone.found) == ("note", "Slurm's commands are here, but no cluster: runs start here")
    monkeypatch.setattr(software, "_PATIENCE_S", 0.2)
    program(tmp_path, "sinfo", "exec /bin/sleep 20")
    assert "doesn't answer" in software.scheduler({}).found


def test_ranks_that_do_not_start(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program(tmp_path, "mpiexec", "echo there are not enough slots >&2; exit 7")
    monkeypatch.setenv("EVENLY_MPIEXEC", str(tmp_path / "mpiexec"))
    found = hardware.ranks()
    assert found.verdict == "bad"
    assert "there are not enough slots" in found.found


def test_ranks_that_nobody_installed_are_no_fault(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(**_: object) -> None:
        raise MissingExtraError("Starting several ranks", extra="mpi")

    monkeypatch.setattr(hardware, "measure_messages", missing)
    found = hardware.ranks()
    assert (found.verdict, "pip install 'evenly[mpi]'" in found.found) == ("note", True)


def test_folders_that_cannot_be_locked_or_have_another_clock(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hardware, "file_system_time", lambda _: 0.0)
    assert "is off by" in hardware.files(tmp_path).found

    def refuse(_: Path) -> None:
        raise InputError("can't be written: Read-only file system")

    monkeypatch.setattr(hardware, "FileLock", refuse)
    found = hardware.files(tmp_path)
    assert (found.verdict, "Read-only file system" in found.found) == ("bad", True)


def test_a_container_with_less_than_its_cores(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hardware, "_share_of_container", lambda: 0.5)
    found = hardware.cores()
    assert (found.verdict, found.remedy) == ("note", "run at most 1 ranks or threads at once")


def test_little_memory_and_unsteady_cores(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hardware, "free_bytes", lambda: 1e8)
    assert hardware.memory().verdict == "bad"
    for jitter, verdict in ((0.2, "note"), (0.01, "good")):
        monkeypatch.setattr(hardware, "measure_jitter", lambda *_, found=jitter: found)
        assert hardware.steadiness(0.1).verdict == verdict


def test_a_cache_that_others_use_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    sizes: list[float] = []

    def measured(cores: list[int], array: float, seconds: float) -> float:
        sizes.append(array)
        return 12e9 if array < 2**23 else 11e9

    monkeypatch.setattr(hardware, "memory_bandwidth", measured)
    monkeypatch.setattr("evenly.machine.measuring.node.cache_bytes", lambda: 24 * 2**20)
    found = hardware.caches(0.1)
    assert (found.verdict, sizes[0]) == ("note", 4 * 2**20)
    assert "24 MiB; in half of it, one core moves 12.0 GB/s (1.1 times" in found.found
    assert "others use it" in found.remedy
