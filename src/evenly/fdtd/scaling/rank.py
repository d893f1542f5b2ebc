"""What every rank of a scaling study's runs does; its argument is a file with the task."""

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
    """Run the task in a JSON file and write the measurement to its ``result``.

    Parameters
    ----------
    file : str
        As `evenly.fdtd.scaling.runs` writes it.
    """
    task = json.loads(Path(file).read_text(encoding="utf-8"))
    measurement = run_task(task)
    if am_really_master():
        measurement.save(task["result"])


def run_task(task: Mapping[str, Any]) -> Measurement:
    """Step a program, first without and then with the clocks, and return what it took; all ranks must call.

    Parameters
    ----------
    task : mapping
        ``program``, ``parameters`` and ``options`` as for `evenly.fdtd.structures.programs.load`, ``steps``,
        ``warm_up`` and ``repetition``; ``layout``, nested lists, where the cell isn't cut evenly.

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
