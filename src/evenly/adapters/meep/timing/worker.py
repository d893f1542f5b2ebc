"""Times small runs of Meep, one request after the other; it runs in Meep's own Python.

``python -m evenly.adapters.meep.timing.worker`` reads settings from its standard input, one line of JSON per run. It
answers each line with one line: ``{"seconds": …, "pace": …, "amounts": {…}}``, or ``{"error": …}``. Starting Meep takes
longer than most runs, so one process makes many runs. It keeps simulations for further repetitions while memory allows.
"""

from __future__ import annotations

import json
import math
import os
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, TextIO

import numpy as np

from evenly.adapters.meep.cell.cell import cell_of
from evenly.adapters.meep.timing.simulation_builder import boxes, simulation
from evenly.decomposition.cells.pieces import pieces_of
from evenly.decomposition.costs.meep import Meep

if TYPE_CHECKING:
    from evenly.decomposition.cells.cell import Cell

__all__ = ["ReferenceWork", "Workbench", "amounts_of", "paced_seconds", "serve"]

#: CPU seconds of a batch of steps, and the number of timed batches.
_BATCH_S, _BATCHES = 0.004, 10
#: CPU seconds of the steps before a batch that bring the fields back into the caches, and the most such steps.
_WARM_S, _WARM = 0.004, 5
#: A step that takes longer than this has fields that don't fit into the caches.
_LONG_S = 0.008
#: Monitors transform once in so many steps, so the steps of a batch are a multiple of it.
_GROUP = 4
#: Most grid points of all kept simulations together.
_ROOM = 4_000_000
Settings = Mapping[str, Any]
Step = Callable[[], object]


@dataclass(frozen=True)
class Workbench:
    """The simulations built so far, by their settings, and the pace that is timed together with them."""

    pace: ReferenceWork
    kept: dict[str, Any]
    amounts: dict[str, dict[str, float]]

    def run(self, settings: Settings) -> dict[str, Any]:
        """Time a design once, and return its seconds per step, the pace, and its amounts of work."""
        key = json.dumps(settings, sort_keys=True)
        sim = self.kept.pop(key, None) or self._built(key, settings)
        seconds, pace = paced_seconds(sim.fields.step, self.pace.seconds)
        if sum(_points(one) for one in self.kept.values()) + _points(sim) <= _ROOM:
            self.kept[key] = sim
        else:
            sim.reset_meep()
        return {"seconds": seconds, "pace": pace, "amounts": self.amounts[key]}

    def _built(self, key: str, settings: Settings) -> Any:
        if key not in self.amounts:
            self.amounts[key] = amounts_of(cell_of(simulation(settings)), *boxes(settings))
        return _ready(settings)


def _ready(settings: Settings) -> Any:
    """Return a simulation that is ready for timing."""
    sim = simulation(settings)
    sim.init_sim()
    # Monitors are made when the first run begins; fields fill the cell, and connections are made, before timing.
    sim.run(until=sim.fields.dt)
    for _ in range(20 + max(settings["points"])):
        sim.fields.step()
    return sim


def amounts_of(cell: Cell, low: Any, high: Any) -> dict[str, float]:
    """Return the amounts of work of one process for boxes (n, 3) of a cell, without terms that are zero."""
    program = Meep()
    total = program.amounts(pieces_of(cell, low, high)).sum(axis=0)
    found = {term.name: float(amount) for term, amount in zip(program.terms, total, strict=True) if amount}
    return found | {"processes": 1.0}


class ReferenceWork:
    """A fixed piece of work. It measures the speed of this core while something else is timed."""

    SETTINGS: ClassVar[Settings] = {"points": [24, 24, 24]}
    STEPS = 6
    #: Number of equal cells. The speed of a cell depends on its place in memory, so a mean is used.
    COPIES = 3

    def __init__(self) -> None:
        self._sims = [_ready(self.SETTINGS) for _ in range(self.COPIES)]
        self.seconds()

    def seconds(self) -> float:
        """Return the CPU seconds of a step when earlier steps have filled the caches."""
        return float(np.mean([self._warm_seconds(sim.fields.step) for sim in self._sims]))

    def _warm_seconds(self, step: Step) -> float:
        # Without a first batch, the pace would look slower next to large cells, which empty the caches.
        _batch(step, self.STEPS)
        return _batch(step, self.STEPS)


def paced_seconds(step: Step, pace: Callable[[], float]) -> tuple[float, float]:
    """Return the CPU seconds of a step, and the pace at that time.

    Batches of steps and of the pace take turns, so that both have the same load of the machine. Medians are used. The
    first steps after the pace bring the fields back into the caches, so they are left out. If the fields don't fit into
    the caches, no steps are left out.

    Examples
    --------
    >>> seconds, pace = paced_seconds(lambda: sum(range(1000)), lambda: 1e-3)
    >>> pace
    0.001
    """
    spent = max(_batch(step, _GROUP), 1e-9)
    steps = _GROUP * max(1, round(_BATCH_S / (_GROUP * spent)))
    warm = math.ceil(min(_WARM_S / spent, _WARM)) if spent < _LONG_S else 0
    around, ratios = [pace()], []
    for _ in range(_BATCHES):
        _batch(step, warm)
        seconds = _batch(step, steps)
        around.append(pace())
        ratios.append(seconds / (0.5 * (around[-2] + around[-1])))
    usual = float(np.median(around))
    return float(np.median(ratios)) * usual, usual


def _batch(step: Step, steps: int) -> float:
    begin = time.process_time()
    for _ in range(steps):
        step()
    return (time.process_time() - begin) / max(steps, 1)


def serve(requests: TextIO, replies: TextIO) -> None:
    """Answer requests until there are no more."""
    bench = Workbench(ReferenceWork(), {}, {})
    for line in requests:
        try:
            answer = bench.run(json.loads(line))
        except Exception as error:  # whatever a design does, the next one must still be served
            answer = {"error": f"{type(error).__name__}: {error}"}
        replies.write(json.dumps(answer) + "\n")
        replies.flush()


def _points(sim: Any) -> int:
    return int(np.prod([max(1.0, round(side * sim.resolution)) for side in sim.cell_size]))


def _main() -> None:
    # Meep may print to the standard output at any time. So answers use a copy of it, and all else goes to the errors.
    with os.fdopen(os.dup(1), "w") as replies:
        os.dup2(2, 1)
        import meep

        meep.verbosity(0)
        replies.write(json.dumps({"ready": meep.__version__}) + "\n")
        replies.flush()
        serve(sys.stdin, replies)


if __name__ == "__main__":
    _main()
