"""Full disks: nothing that was there is lost, the error names the file, and no traceback is shown.

A limit of the size of files stands for a full disk everywhere. Where a small file system can be mounted, that is
full, too.
"""

from __future__ import annotations

import os
import resource
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import evenly
from evenly import fdtd
from evenly.campaign.record import Record
from evenly.campaign.store import Store
from evenly.cli.console import save_table
from evenly.decomposition.calibration.designs import Design, Timing
from evenly.decomposition.calibration.timing_store import TimingStore
from evenly.decomposition.cells.fdtd.cell import cell_from
from evenly.decomposition.costs.locations import find_cost
from evenly.errors import EvenlyError, InputError
from evenly.fdtd.measurement.measurement import Measurement
from evenly.fdtd.structures.jobs import Spectrum
from evenly.fdtd.structures.views import View
from evenly.machine.machine import Machine
from evenly.report.html_page import Page
from evenly.report.plots.style import new_figure, save_figure
from tests.chaos.amount import amount
from tests.chaos.conftest import MakeTally

pytestmark = pytest.mark.chaos

#: Each writes a file of so many hundred numbers or more.
Writer = Callable[[Path, int], object]
BLOCK = 4096


def runs(n: int) -> evenly.Runs:
    cores = np.arange(1, 100 * n)
    return evenly.Runs.from_frame(pd.DataFrame({"cores": cores, "seconds": 90.0 / cores + n}), parameters=["cores"])


@cache
def simulation(n: int) -> fdtd.Simulation:
    source = fdtd.Source(fdtd.GaussianPulse(frequency=1.0, fwidth=0.8), "Ex", center=(0, 0, 0))
    sim = fdtd.Simulation(cell=(1.0, 1.0, 1.0), resolution=10, sources=[source])
    sim.add(fdtd.Flux(center=(0, 0, 0.2), size=(0.8, 0.8, 0), frequencies=[1.0] * n))
    sim.run(until=0.2 * n, progress="off")
    return sim


def timings(path: Path, n: int) -> None:
    store = TimingStore(path, {"program": "fdtd"})
    store.add(Design("vacuum", str(n)), Timing((1e-3,) * 300 * n, ({"points": 10.0},) * 300 * n), wall_s=0.5)


def flux(path: Path, n: int) -> None:
    monitor = simulation(n).monitors[0]
    assert isinstance(monitor, fdtd.Flux)
    monitor.save(path)


def eye(n: int) -> Any:
    return np.eye(9 * n) * 1j


def figure(path: Path, n: int) -> Path:
    drawn = new_figure()
    drawn.add_subplot().plot(range(50 * n))
    return save_figure(drawn, path)


WRITERS: dict[str, Writer] = {
    "model.evenly": lambda path, n: evenly.save(evenly.fit(runs(n), method="power-law"), path),
    "runs.csv": lambda path, n: runs(n).save(path),
    "runs.parquet": lambda path, n: runs(n).save(path),
    "predictions.csv": lambda path, n: save_table(runs(n).to_frame(), path, "predictions"),
    "packed.csv.gz": lambda path, n: save_table(runs(n).to_frame(), path, "predictions"),
    "picture.png": figure,
    "picture.svg": figure,
    "page.html": lambda path, n: Page("title", "words " * 500 * n).save(path),
    "machine.toml": lambda path, n: Machine("x" * 100 * n).save(path),
    "costs.json": lambda path, n: replace(find_cost("fdtd").cost, machine="x" * n).save(path),
    "cell.npz": lambda path, n: cell_from(simulation(n)).save(path),
    "layout.json": lambda path, n: fdtd.BinaryPartition([("x", 0.1 * n), 0, 1]).save(path),
    "spectrum.csv": lambda path, n: Spectrum(np.linspace(1, 2, 90 * n), {"flux": np.ones(90 * n)}).save(path),
    "view.npz": lambda path, n: View("box", ("x", "y"), "z", 0.0, (0, 1, 0, 1), eye(n), 1.0).save(path),
    "box.fdtd.json": lambda path, n: Measurement("box" * n, steps=n).save(path),
    "flux.npz": flux,
    "fields.h5": lambda path, n: simulation(n).write(path),
    "checkpoint": lambda path, n: simulation(n).save(path),
    "timings.jsonl": timings,
}


class Limit:
    """No file may become larger."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    @contextmanager
    def room(self, sizes: list[int], share: float, *, held: int) -> Iterator[None]:
        usual = resource.getrlimit(resource.RLIMIT_FSIZE)
        resource.setrlimit(resource.RLIMIT_FSIZE, (held + int(share * max(sizes)), usual[1]))
        try:
            yield
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, usual)


class Disk:
    """A small file system."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    @contextmanager
    def room(self, sizes: list[int], share: float, *, held: int) -> Iterator[None]:
        blocks = sum(-(-(size + held) // BLOCK) - held // BLOCK for size in sizes)
        ballast = self.folder / "ballast"
        state = os.statvfs(self.folder)
        # The last block of a file that grows has some room.
        left = int(share * (blocks - 1)) if not held else 0
        ballast.write_bytes(bytes((state.f_bavail - left) * state.f_frsize))
        try:
            yield
        finally:
            ballast.unlink()


@pytest.fixture(params=["limit", "disk"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Limit | Disk]:
    folder = tmp_path / "place"
    folder.mkdir()
    if request.param == "limit":
        yield Limit(folder)
        return
    mount = ["mount", "-t", "tmpfs", "-o", f"size={2000 * BLOCK}", "tmpfs", str(folder)]
    if sys.platform != "linux" or os.geteuid() or subprocess.run(mount, capture_output=True, check=False).returncode:
        pytest.skip("no small file system can be mounted here")
    try:
        yield Disk(folder)
    finally:
        subprocess.run(["umount", "-l", str(folder)], check=True)


def snapshot(folder: Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(folder)): path.read_bytes() if path.is_file() else b""
        for path in sorted(folder.rglob("*"))
        if path.name != "ballast"
    }


def sizes(path: Path) -> list[int]:
    files = path.rglob("*") if path.is_dir() else [path]
    return [file.stat().st_size for file in files if file.is_file()]


@pytest.mark.parametrize("name", WRITERS)
def test_what_was_there_stays_and_nothing_else_is_left(
    name: str, place: Limit | Disk, tmp_path: Path, tally: MakeTally
) -> None:
    tried = tally("full disk, saving a file")
    write, path = WRITERS[name], place.folder / name
    write(path, 1)
    write(tmp_path / name, 2)
    before, needed = snapshot(place.folder), sizes(tmp_path / name)
    held = 0 if name != "timings.jsonl" else path.stat().st_size
    for share in [0.0, *np.random.default_rng(1).random(amount(2, of=30))]:
        tried.try_one()
        with place.room(needed, share, held=held), pytest.raises(EvenlyError) as raised:
            write(path, 2)
        assert str(path) in str(raised.value)
        assert snapshot(place.folder) == before
    write(path, 2)
    assert snapshot(place.folder) != before


def test_stored_runs_stay_and_the_store_goes_on(place: Limit | Disk, tally: MakeTally) -> None:
    tried = tally("full disk, storing runs")
    path = place.folder / "runs.db"
    with Store(path) as store:
        number = store.add_configurations([{"n": 1}])[0]
    stored = 0
    for share in np.random.default_rng(2).uniform(2, 60, amount(4, of=40)):
        # A wide margin: write-ahead log and its index, which has 32 KiB, are files of their own.
        tried.try_one()
        with place.room([2 * BLOCK], share + 20, held=0), suppress(EvenlyError), Store(path) as store:
            while stored < 10**6:
                store.add(Record(number, stored, "ok", {"seconds": 1.0}, output="x" * 900))
                stored += 1
        with Store(path) as store:
            assert [record.repetition for record in store.records()] == list(range(stored))
            store.add(Record(number, stored, "ok", {"seconds": 1.0}))
            stored += 1
    assert stored > 10


def test_a_full_disk_leaves_no_lock(tmp_path: Path) -> None:
    place = Limit(tmp_path)
    with place.room([0], 0.0, held=0), pytest.raises(InputError, match=r"runs\.db can't be written: File too large"):
        Store(tmp_path / "runs.db")
    with Store(tmp_path / "runs.db") as store:
        assert store.count() == 0


STUDY = """
[program]
command = "sh -c 'echo took {n}'"
[parameters]
n = [1, 2, 3, 4]
[time]
pattern = 'took (\\d+)'
unit = 's'
[repetitions]
least = 2
most = 2
"""
LIMITED = "import resource, sys; n = int(sys.argv.pop(1)); resource.setrlimit(resource.RLIMIT_FSIZE, (n, n)); "
COMMANDS = {
    "measure": "measure study.toml --save table.csv",
    "tune": "tune study.toml --runs 4 --save table.csv",
    "fit": "fit runs.csv --method power-law --save model.evenly --plot plots",
    "predict": "predict runs.csv --method power-law --at cores=8,16,32 --save made.csv",
    "partition": "partition tandem --ranks 2 --save layout.json --plot plots",
    "fdtd": "fdtd run tandem --steps 5 --resolution 20 --save results --draw",
    "ranks": "fdtd run tandem --ranks 2 --steps 5 --resolution 20 --save results",
    "example": "example gaussian-pulse copy --force",
}


def command(words: str, folder: Path, limit: int | None) -> subprocess.CompletedProcess[str]:
    code = "from evenly.cli import main; sys.argv[0] = 'evenly'; main()"
    code = f"import sys; {code}" if limit is None else LIMITED + code
    arguments = [*([] if limit is None else [str(limit)]), *words.split()]
    # Python itself keeps a part of a compiled module as if it were whole.
    environment = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1"}
    if words.startswith("partition"):
        # A cache of compiled code that must grow.
        environment["NUMBA_CACHE_DIR"] = str(folder / "compiled")
    return subprocess.run(
        [sys.executable, "-c", code, *arguments], cwd=folder, env=environment, capture_output=True, text=True,
        check=False, timeout=300,
    )  # fmt: skip


@pytest.mark.parametrize("name", COMMANDS)
def test_commands_end_with_an_error_of_evenly(name: str, tmp_path: Path, tally: MakeTally) -> None:
    tried = tally("full disk, commands")
    (tmp_path / "study.toml").write_text(STUDY)
    runs(1).save(tmp_path / "runs.csv")
    failed = 0
    for limit in (10, 5000, 0, 100, 1000, 50_000)[: amount(1, of=6)]:
        tried.try_one()
        done = command(COMMANDS[name], tmp_path, limit)
        assert "Traceback" not in done.stderr, done.stderr
        assert done.returncode in (0, 1, 2), done.stderr
        assert done.returncode == 0 or "error: " in done.stderr or done.stderr.startswith("rank "), done.stderr
        failed += done.returncode != 0
    assert failed
    assert command(COMMANDS[name], tmp_path, None).returncode == 0
