"""The program that each rank of a scaling study runs; its argument is a JSON file with the task."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from evenly.fdtd.cell.partition import BinaryPartition
from evenly.fdtd.measurement.measurement import Measurement
from evenly.fdtd.ranks.parallel import am_really_master
from evenly.fdtd.simulation import Options
from evenly.fdtd.structures.programs import Program, load

__all__ = ["main", "run_task"]


def main(file: str) -> None:
    """Run the task in a JSON file and write the measurement to the path in its ``result`` entry.

    Parameters
    ----------
    file : str
        Path of the task file that `evenly.fdtd.scaling.runs` wrote.
    """
    task = json.loads(Path(file).read_text(encoding="utf-8"))
    measurement = run_task(task)
    if am_really_master():
        measurement.save(task["result"])


def run_task(task: Mapping[str, Any]) -> Measurement:
    """Run a program's warm-up steps, then its measured steps, and return the measurement; all ranks must call it.

    Parameters
    ----------
    task : mapping
        ``program``, ``parameters`` and ``options`` as for `evenly.fdtd.structures.programs.load`, and ``steps``,
        ``warm_up`` and ``repetition``. An optional ``layout`` (nested lists) replaces the default partition.

    Examples
    --------
    >>> task = {"program": "oled", "parameters": {"resolution": 20, "size": 0.5}, "options": {}, "repetition": 0}
    >>> run_task({**task, "steps": 2, "warm_up": 1}).steps
    2
    """
    layout = None if task.get("layout") is None else BinaryPartition(task["layout"])
    program = load(task["program"], task["parameters"], layout=layout, options=Options(**task["options"]))
    program.attach()
    _step(program, task["warm_up"])
    program.simulation.communicator.barrier()
    program.simulation.reset_timing()
    _step(program, task["steps"])
    return program.measurement(repetition=task["repetition"])


def _step(program: Program, steps: int) -> None:
    for _ in range(steps):
        program.simulation.step()
    program.finish_steps()


if __name__ == "__main__":
    main(sys.argv[1])
