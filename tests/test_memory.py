"""What fits into the memory: said before it is taken; packed files within limits; pipes and devices are not read."""

from __future__ import annotations

import gc
import gzip
import io
import json
import lzma
import os
import zipfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from evenly import memory
from evenly.campaign.study import Study
from evenly.decomposition.cells.cell import Cell
from evenly.errors import EvenlyError, InputError, ReadError
from evenly.fdtd.cell.grid import Grid
from evenly.fdtd.monitors.files import read_data
from evenly.fdtd.simulation import Simulation
from evenly.fdtd.structures.views import View
from evenly.machine.machine import Machine
from evenly.memory import check_room, free_bytes, read_arrays, unpacked_limit
from evenly.models.storage import load
from evenly.readers import scan

MIB = 1 << 20


def promise(shape: tuple[int, ...]) -> bytes:
    """Return a .npy file whose header promises more than it holds."""
    file = io.BytesIO()
    np.lib.format.write_array_header_1_0(file, {"descr": "<f8", "fortran_order": False, "shape": shape})
    return file.getvalue()


def archive(path: Path, entries: dict[str, bytes]) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as opened:
        for name, content in entries.items():
            opened.writestr(name, content)
    return path


def test_what_is_free_is_at_most_what_is_allowed() -> None:
    import resource

    soft, hard = resource.getrlimit(resource.RLIMIT_AS)
    try:
        resource.setrlimit(resource.RLIMIT_AS, (1 << 40, hard))
        assert free_bytes() < 1 << 40
    finally:
        resource.setrlimit(resource.RLIMIT_AS, (soft, hard))


def test_what_needs_too_much_says_both_numbers() -> None:
    check_room("little", 1e3, "")
    with pytest.raises(
        InputError, match=r"a grid would take at least 8\.67e\+11 EiB of memory, but .* are free: shrink"
    ):
        check_room("a grid", 1e30, "shrink")


def test_a_fields_room_is_asked_for_before_it_is_taken() -> None:
    sim = Simulation(cell=(10.0, 10.0, 10.0), resolution=1e4)
    with pytest.raises(InputError, match="the fields of a grid of 100000 x 100000 x 100000 points"):
        sim.chunks  # noqa: B018


@pytest.mark.parametrize("pack", [gzip.compress, lzma.compress])
def test_text_that_unpacks_to_much_is_refused(
    tmp_path: Path, pack: Callable[[bytes], bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("EVENLY_UNPACK_MIB", "1")
    path = tmp_path / "runs.csv.gz"
    path.write_bytes(pack(b"cores,seconds\n" + b"8,2.5\n" * 200_000))
    with pytest.raises(ReadError, match=r"unpacks to more than 1 MiB.* EVENLY_UNPACK_MIB .now 1"):
        scan(path)
    monkeypatch.setenv("EVENLY_UNPACK_MIB", "2")
    assert len(scan(path).runs[""]) == 200_000


def test_a_rank_file_that_unpacks_to_much_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EVENLY_UNPACK_MIB", "1")
    meta = {"name": "A", "rank": 0, "size": 1, "unix_us": "0", "tinit": "", "compression": True}
    body = lzma.compress(b"N1:solver.advance\n" * 100_000)
    path = tmp_path / "A-0-1.txt"
    path.write_bytes(json.dumps(meta).encode() + b"\n" + body)
    with pytest.raises(ReadError, match="unpacks to more than 1 MiB"):
        scan(path)


def test_a_file_may_always_unpack_to_twice_its_size(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EVENLY_UNPACK_MIB", "1")
    path = tmp_path / "large"
    path.write_bytes(bytes(3 * MIB))
    assert unpacked_limit(path, 64) == 6 * MIB


def test_the_limit_must_be_a_number(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EVENLY_UNPACK_MIB", "much")
    with pytest.raises(InputError, match="EVENLY_UNPACK_MIB must be a whole number of MiB, but is 'much'"):
        unpacked_limit(tmp_path, 64)


def test_arrays_that_unpack_to_much_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EVENLY_UNPACK_MIB", "1")
    path = tmp_path / "zeros.npz"
    np.savez_compressed(path, x=np.zeros(MIB))
    for read in (read_arrays, Cell.load, View.load, read_data):
        with pytest.raises(ReadError, match="unpacks to more than 1 MiB"):
            read(path)
    inner = io.BytesIO()
    np.savez_compressed(inner, x=np.zeros(MIB))
    path = archive(tmp_path / "model.evenly", {"model.json": b"{}", "arrays.npz": inner.getvalue()})
    with pytest.raises(ReadError, match="unpacks to more than 1 MiB"):
        load(path)


def test_arrays_that_promise_more_than_they_hold_are_refused(tmp_path: Path) -> None:
    path = archive(tmp_path / "promise.npz", {"x.npy": promise((10**6, 10**6))})
    with pytest.raises(ValueError, match=r"x\.npy promises 8000000000000 bytes, but holds"):
        read_arrays(path)
    for read in (Cell.load, View.load, read_data):
        with pytest.raises(ReadError):
            read(path)


def test_a_parquet_file_of_repeated_values_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("pyarrow")
    monkeypatch.setenv("EVENLY_UNPACK_MIB", "1")
    path = tmp_path / "runs.parquet"
    pd.DataFrame({"cores": [8] * 100_000, "seconds": [2.5] * 100_000}).to_parquet(path)
    with pytest.raises(ReadError, match="unpacks to more than 1 MiB"):
        scan(path)


def test_a_text_larger_than_the_memory_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "runs.csv"
    path.write_text("cores,seconds\n" + "8,2.5\n" * 1000)
    monkeypatch.setattr(memory, "free_bytes", lambda: 1e4)
    monkeypatch.setattr(memory, "_LITTLE", 0)
    with pytest.raises(EvenlyError, match=r"would take at least .* of memory"):
        scan(path)


def test_pipes_and_devices_are_not_waited_for(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe.csv"
    os.mkfifo(pipe)
    for read in (load, Study.load, Machine.load, Cell.load, scan):
        with pytest.raises(ReadError, match=r"a pipe or a device|no measurement found"):
            read(pipe)
    with pytest.raises(ReadError, match="a pipe or a device"):
        Study.load("/dev/zero")


def test_grids_without_fields_may_be_of_any_size() -> None:
    assert Grid((10.0, 10.0, 10.0), 1e4).shape == (100_000, 100_000, 100_000)


def test_garbage_is_looked_for_again_after_many_objects_were_made() -> None:
    made = memory.many_objects()(json.loads)
    with pytest.raises(json.JSONDecodeError):
        made("[")
    assert gc.isenabled()
    gc.disable()
    try:
        with memory.many_objects():
            pass
        assert not gc.isenabled()
    finally:
        gc.enable()
