"""Times small runs of Meep, one request after the other; it runs in Meep's own Python.

``python -m evenly.adapters.meep.worker`` reads settings from its input, one line of JSON each, and answers each with
one line: ``{"seconds": …, "amounts": {…}}`` per step, or ``{"error": …}``. Starting Meep takes longer than most runs,
so one process serves many, and keeps simulations for the next repeat while there is room.
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TextIO

import numpy as np

from evenly.balance.cost.meep import Meep
from evenly.balance.cutting.pieces import pieces_of

if TYPE_CHECKING:
    from evenly.balance.cutting.cell import Cell

__all__ = ["Workbench", "amounts_of", "serve", "step_seconds"]

#: A batch of steps takes at least so long, and so many batches are timed; the least counts, since noise only adds.
BATCH_S, BATCHES = 0.008, 5
#: Monitors transform once in so many steps, so batches are multiples.
GROUP = 4
#: Points of the simulations that are kept.
ROOM = 4_000_000
Settings = Mapping[str, Any]


@dataclass(frozen=True)
class Workbench:
    """Simulations that were built, by their settings."""

    kept: dict[str, Any]
    amounts: dict[str, dict[str, float]]

    def run(self, settings: Settings) -> dict[str, Any]:
        """Time a design once, and say what it has to do per step."""
        key = json.dumps(settings, sort_keys=True)
        sim = self.kept.pop(key, None) or self._built(key, settings)
        seconds = step_seconds(sim.fields.step)
        if sum(_points(one) for one in self.kept.values()) + _points(sim) <= ROOM:
            self.kept[key] = sim
        else:
            sim.reset_meep()
        return {"seconds": seconds, "amounts": self.amounts[key]}

    def _built(self, key: str, settings: Settings) -> Any:
        from evenly.adapters.meep.building import boxes, simulation

        sim = simulation(settings)
        if key not in self.amounts:
            from evenly.adapters.meep.cells import cell_of

            self.amounts[key] = amounts_of(cell_of(sim), *boxes(settings))
        sim.init_sim()
        # Monitors are made when the first run begins; fields fill the cell, and connections are made, before timing.
        sim.run(until=sim.fields.dt)
        for _ in range(20 + max(settings["points"])):
            sim.fields.step()
        return sim


def amounts_of(cell: Cell, low: Any, high: Any) -> dict[str, float]:
    """Return what one process does for the chunks that boxes (n, 3) of a cell become; terms of nothing left out."""
    program = Meep()
    total = program.amounts(pieces_of(cell, low, high)).sum(axis=0)
    found = {term.name: float(amount) for term, amount in zip(program.terms, total, strict=True) if amount}
    return found | {"processes": 1.0}


def step_seconds(step: Any, batch_s: float = BATCH_S, batches: int = BATCHES) -> float:
    """Return the CPU seconds of a step: the least of several batches."""
    begin = time.process_time()
    for _ in range(GROUP):
        step()
    steps = GROUP * max(1, round(batch_s / max(time.process_time() - begin, 1e-6)))
    found = []
    for _ in range(batches):
        begin = time.process_time()
        for _ in range(steps):
            step()
        found.append((time.process_time() - begin) / steps)
    return min(found)


def serve(requests: TextIO, replies: TextIO) -> None:
    """Answer requests until there are no more."""
    bench = Workbench({}, {})
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
    # Meep prints to the standard output, at any time: answers go through a copy, everything else to the errors.
    with os.fdopen(os.dup(1), "w") as replies:
        os.dup2(2, 1)
        import meep

        meep.verbosity(0)
        replies.write(json.dumps({"ready": meep.__version__}) + "\n")
        replies.flush()
        serve(sys.stdin, replies)


if __name__ == "__main__":
    _main()
