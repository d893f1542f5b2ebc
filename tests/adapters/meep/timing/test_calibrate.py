"""Calibration of real Meep: its Python, its worker, what designs can tell, going on after an interruption."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from evenly.adapters.meep.cell.interpreter import VARIABLE, environment, find_python, package_folder
from evenly.adapters.meep.timing.calibrate import MeepFailed, MeepWorker, calibrate_meep, open_store, time_meep
from evenly.adapters.meep.timing.calibration_designs import meep_designs
from evenly.decomposition.calibration.designs import Design
from evenly.decomposition.calibration.nonnegative_regression import regress
from evenly.decomposition.costs.meep import Meep
from evenly.errors import InputError

TINY = Design("tiny", "8^3", {"points": [8, 8, 8]})
AMOUNTS = """
import json, sys
from evenly.adapters.meep.timing.simulation_builder import boxes, simulation
from evenly.adapters.meep.cell.cell import cell_of
from evenly.adapters.meep.timing.calibration_designs import meep_designs
from evenly.adapters.meep.timing.worker import amounts_of
import meep
meep.verbosity(0)
settings = [design.settings for design in meep_designs() if "ranks" not in design.settings]
found = [amounts_of(cell_of(simulation(one)), *boxes(one)) for one in settings]
json.dump(found, open(sys.argv[1], "w"))
"""


@pytest.fixture(scope="module")
def worker(meep_python: Path) -> Iterator[MeepWorker]:
    with MeepWorker(meep_python) as started:
        yield started


def test_a_design_is_timed_and_its_amounts_are_told(worker: MeepWorker) -> None:
    timing = worker.run(TINY)
    assert timing.amounts[0]["points"] == 512
    assert timing.amounts[0]["processes"] == timing.amounts[0]["chunks"] == 1
    # 512 points take some microseconds, and by no means a second.
    assert 0 < timing.seconds[0] < 1
    assert timing.pace is not None
    assert timing.pace > 0


def test_chunks_of_the_process_are_those_of_the_design(worker: MeepWorker) -> None:
    layers = [{"kind": "pml", "axis": "z", "points": 4, "side": "high"}]
    cut = Design("tiny", "cut", {"points": [12, 12, 12], "cuts": [2, 1, 1], "layers": layers})
    timing = worker.run(cut)
    assert timing.amounts[0]["chunks"] == 4
    assert timing.amounts[0]["processes"] == 1
    # Chunks of PML begin one point before the layer.
    assert timing.amounts[0]["PML 1d points"] == 5 * 144


def test_a_worker_that_was_killed_is_started_again(worker: MeepWorker) -> None:
    before = worker.pid
    os.kill(before, signal.SIGKILL)
    assert worker.run(TINY).amounts[0]["points"] == 512
    assert worker.pid != before


def test_a_run_that_fails_is_said_and_the_next_one_is_served(worker: MeepWorker) -> None:
    impossible = Design("tiny", "impossible", {"points": [8, 8, 8], "medium": {"epsilon": "much"}})
    with pytest.raises(MeepFailed, match="the run tiny, impossible of Meep failed"):
        worker.run(impossible)
    assert worker.run(TINY).seconds[0] > 0


def test_a_run_that_takes_too_long_is_given_up(worker: MeepWorker) -> None:
    patience, worker.patience_s = worker.patience_s, 0.5
    try:
        with pytest.raises(MeepFailed, match=r"Meep (died|can't be started)"):
            worker.run(Design("tiny", "long", {"points": [120, 120, 120]}))
    finally:
        worker.patience_s = patience
    assert worker.run(TINY).seconds[0] > 0


def test_no_meep_is_said_with_what_to_do(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="python3-meep-mpi-default"):
        find_python(tmp_path / "python")
    monkeypatch.setenv(VARIABLE, str(tmp_path / "another"))
    with pytest.raises(InputError, match="another can't import it"):
        calibrate_meep(1.0)


def test_a_meep_that_breaks_is_quoted(meep_python: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("evenly.adapters.meep.timing.calibrate.MODULE", "evenly.no_such_module")
    with pytest.raises(MeepFailed, match="no_such_module"):
        MeepWorker(meep_python)


def test_a_calibration_goes_on_where_it_was_interrupted(worker: MeepWorker, tmp_path: Path) -> None:
    path = tmp_path / "timings.jsonl"
    # A run that has begun is finished, so there is one.
    assert len(time_meep(worker, open_store(path, worker.version), 1e-9)) == 1
    some = time_meep(worker, open_store(path, worker.version), 1.0)
    assert len(some) > 1
    again = time_meep(worker, open_store(path, worker.version), 0.5)
    assert [one.runs for one in again] == [one.runs for one in some]
    with pytest.raises(InputError, match="another meep"):
        open_store(path, "0.1")


def test_designs_tell_all_terms_apart(meep_python: Path, tmp_path: Path) -> None:
    """Planted coefficients come back from the amounts of the designs."""
    with package_folder() as folder:
        command = [str(meep_python), "-c", AMOUNTS, str(tmp_path / "amounts.json")]
        subprocess.run(command, env=environment(folder), check=True, capture_output=True, timeout=300)
    found = json.loads((tmp_path / "amounts.json").read_text())
    assert len(found) == len([d for d in meep_designs() if "ranks" not in d.settings])
    names = [term.name for term in Meep.terms]
    amounts = np.array([[one.get(name, 0.0) for name in names] for one in found])
    planted = 1e-9 * (1 + np.arange(len(names)))
    # Exact times: what remains is the condition of the equations times rounding.
    result = regress(amounts, amounts @ planted)
    assert result.known.all()
    np.testing.assert_allclose(result.coefficients, planted, rtol=1e-6)


def test_the_package_folder_shows_evenly_alone(meep_python: Path) -> None:
    code = "import sys, evenly; print(evenly.__file__); import numpy; print(numpy.__file__)"
    with package_folder() as folder:
        done = subprocess.run(
            [str(meep_python), "-c", code], env=environment(folder), capture_output=True, text=True, check=True
        )
        assert done.stdout.splitlines()[0].startswith(str(folder))
    if Path(sys.executable).parent != meep_python.parent:
        assert str(Path(sys.prefix) / "lib") not in done.stdout.splitlines()[1]
