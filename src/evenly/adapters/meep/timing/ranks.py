"""CPU seconds per step of each rank of a Meep simulation under MPI, without waiting.

Meep's own timers are wall clocks: with more ranks than cores, they include the time that a rank waits for a core. Here
the CPU time of each process is measured around its steps. The CPU time in MPI functions that wait is subtracted
(`mpi_waiting`). So there may be more ranks than cores. The simulation is the result of a function in a Python file.
"""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from evenly.adapters.meep.cell.interpreter import environment, find_mpirun, find_python, package_folder
from evenly.adapters.meep.timing.mpi_waiting import VARIABLE, build_waiting
from evenly.decomposition.cells.cell import Cell
from evenly.errors import InputError, RunFailed
from evenly.processes import scratch_folder

__all__ = ["MeepRun", "RankTimes", "Split", "cell_of_run", "time_ranks"]

Split = Literal["even", "cost"]
MODULE = "evenly.adapters.meep.timing.rank"


@dataclass(frozen=True)
class MeepRun:
    """A Meep simulation: a function in a file that returns it, and the arguments of this function.

    Parameters
    ----------
    file : Path
    function : str
    options : mapping
        Keyword arguments: plain values.
    """

    file: Path
    function: str
    options: Mapping[str, Any]


@dataclass(frozen=True)
class RankTimes:
    """The measured times of each rank, and its chunks.

    Parameters
    ----------
    seconds : (ranks,)
        CPU seconds per step without waiting: the minimum over several batches.
    waiting : (ranks,)
        CPU seconds per step in MPI functions that wait, of the same batch.
    meep_cost : (ranks,)
        Cost of each rank's chunks by Meep's own model, in the model's unit.
    low, high : (chunks, 3)
        Corners of the chunks in grid points.
    owners : (chunks,)
        Rank of each chunk.
    pace : float, optional
        CPU seconds per step of a small vacuum cell at the same time, if a single process runs.
    paces : (ranks,), optional
        The same for each rank, if it was requested.
    """

    seconds: NDArray[np.float64]
    waiting: NDArray[np.float64]
    meep_cost: NDArray[np.float64]
    low: NDArray[np.int64]
    high: NDArray[np.int64]
    owners: NDArray[np.int64]
    pace: float | None = None
    paces: NDArray[np.float64] | None = None

    @property
    def imbalance(self) -> float:
        """The time of the slowest rank over the mean of all ranks."""
        return float(self.seconds.max() / self.seconds.mean())


def cell_of_run(run: MeepRun, python: Path | str | None = None) -> Cell:
    """Return the cell of a simulation, without any time step."""
    with scratch_folder() as folder:
        _launch(run, folder, 1, find_python(python), {"cell": True})
        return Cell.load(folder / "cell.npz")


def time_ranks(
    run: MeepRun,
    ranks: int,
    layout: Path | Split,
    *,
    one_process: bool = False,
    beside_pace: bool = False,
    python: Path | str | None = None,
    batches: int = 6,
    batch_s: float = 0.01,
) -> RankTimes:
    """Return the CPU time per step of each rank of a simulation on a layout.

    Parameters
    ----------
    run : MeepRun
    ranks : int
    layout : Path, "even" or "cost"
        A file that `evenly partition` wrote, or one of Meep's own ways of cutting.
    one_process : bool
        Whether one process steps the chunks of all ranks. It never waits, so its time is the sum over the ranks.
    beside_pace : bool
        Whether each rank also times its own small vacuum cell, the pace, alternating with the steps. Then medians are
        used.
    python : Path or str, optional
        Meep's own Python.
    batches : int
        Number of batches of steps; the minimum is used, or the median with `beside_pace`.
    batch_s : float
        Least CPU seconds of a batch.

    Raises
    ------
    InputError
        If there is no Meep, no MPI, or no C compiler.
    RunFailed
        If the run fails.
    """
    request = {
        "layout": str(layout), "chunks": ranks, "batches": batches, "batch_s": batch_s, "beside_pace": beside_pace,
    }  # fmt: skip
    processes = 1 if one_process else ranks
    with scratch_folder() as folder:
        _launch(run, folder, processes, find_python(python), request)
        told = [json.loads((folder / f"rank{rank}.json").read_text(encoding="utf-8")) for rank in range(processes)]
    first = told[0]
    return RankTimes(
        np.array([one["seconds"] for one in told]),
        np.array([one["waiting"] for one in told]),
        np.array(first["meep_cost"]),
        np.array(first["low"], dtype=np.int64),
        np.array(first["high"], dtype=np.int64),
        np.array(first["owners"], dtype=np.int64),
        first.get("pace"),
        np.array([one["pace"] for one in told]) if beside_pace else None,
    )


def _launch(run: MeepRun, folder: Path, ranks: int, python: Path, request: Mapping[str, Any]) -> None:
    about = {"file": str(Path(run.file).resolve()), "function": run.function, "options": dict(run.options)}
    (folder / "request.json").write_text(json.dumps({**about, **request}), encoding="utf-8")
    command = [str(python), "-m", MODULE, str(folder)]
    with package_folder() as package:
        variables = environment(package)
        if ranks > 1:
            library = build_waiting(folder, python)
            variables |= {VARIABLE: str(library), **_oversubscribed()}
            command = [*_mpirun(python, ranks), "env", f"LD_PRELOAD={library}", *command]
        done = subprocess.run(command, env=variables, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        last = "\n".join((done.stdout + done.stderr).strip().splitlines()[-15:])
        raise RunFailed(f"{run.function} of {run.file} failed on {ranks} ranks:\n{last}", exit_code=done.returncode)


def _mpirun(python: Path, ranks: int) -> list[str]:
    found = find_mpirun(python)
    if found is None:
        raise InputError(f"There is no mpirun beside {python}: install the MPI of that Meep (Debian: openmpi-bin).")
    return [str(found), "-n", str(ranks)]


def _oversubscribed() -> dict[str, str]:
    """Return variables that let Open MPI start more ranks than cores, and yield cores while it waits.

    Other MPI libraries ignore them.
    """
    allowed = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"} if os.geteuid() == 0 else {}
    return {"OMPI_MCA_rmaps_base_oversubscribe": "1", "OMPI_MCA_mpi_yield_when_idle": "1", **allowed}
