"""One rank of a Meep simulation that is timed. It runs in Meep's own Python; the module `ranks` starts it.

``python -m evenly.adapters.meep.timing.rank FOLDER`` reads ``request.json`` in this folder, and writes ``cell.npz`` or
the rank's own file into it.
"""

from __future__ import annotations

import ctypes
import json
import os
import runpy
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from statistics import median
from typing import Any

__all__ = ["main"]

#: Monitors transform once in this number of steps, so the steps of a batch are a multiple of it.
GROUP = 8
#: Number of steps before all timing, and of steps after each measurement of the pace.
WARM_UP, WARM = 24, 2


def main(folder: Path) -> None:
    """Carry out the request in a folder."""
    import meep

    meep.verbosity(0)
    request = json.loads((folder / "request.json").read_text(encoding="utf-8"))
    build = runpy.run_path(request["file"])[request["function"]]
    if request.get("cell"):
        from evenly.adapters.meep.cell.cell import cell_of

        cell_of(build(**request["options"]), name=request["function"]).save(folder / "cell.npz")
        return
    pace = _ReferenceTimer() if request.get("beside_pace") else None
    sim = build(**request["options"], **_cut(request["layout"], request["chunks"]))
    sim.init_sim()
    found = {"meep_cost": list(sim.get_estimated_costs()), **_chunks(sim)}
    sim.run(until=sim.fields.dt)
    if pace is not None:
        found |= _beside(pace, sim, request["batches"], request["batch_s"])
    elif meep.count_processors() == 1:
        found |= _paced(sim.fields.step)
    else:
        found |= _timed(sim.fields.step, request["batches"], request["batch_s"])
    (folder / f"rank{meep.my_rank()}.json").write_text(json.dumps(found), encoding="utf-8")


def _cut(layout: str, chunks: int) -> dict[str, Any]:
    if layout in ("even", "cost"):
        return {"split_chunks_evenly": layout == "even", "num_chunks": chunks}
    from evenly.adapters.meep.layouts import layout as read

    return {"chunk_layout": read(layout)}


def _chunks(sim: Any) -> Mapping[str, Any]:
    """Return the corners of all chunks in grid points, and their owners."""
    from evenly.adapters.meep.grid import grid_of, volumes_of

    grid, middle = grid_of(sim)
    corner = [m - n / grid.resolution / 2 for m, n in zip(middle, grid.shape, strict=True)]
    low, high = [], []
    for chunk in volumes_of(sim.structure.get_chunk_volumes()):
        a = [
            0 if thin else round((at - c) * grid.resolution)
            for thin, at, c in zip(grid.thin, chunk.low, corner, strict=True)
        ]
        low.append(a)
        high.append([first + n for first, n in zip(a, chunk.shape, strict=True)])
    return {"low": low, "high": high, "owners": [int(owner) for owner in sim.structure.get_chunk_owners()]}


def _timed(step: Callable[[], None], batches: int, batch_s: float) -> Mapping[str, float]:
    """Return the CPU seconds per step of work and of waiting, from the batch with the least work.

    All ranks must make the same number of steps. It follows from the rank with the most work (`_batch_of`).
    """
    waiting = _waiting()
    steps = _batch_of(step, GROUP, batch_s, waiting)
    seconds, idle = min(_batch(step, steps, waiting) for _ in range(batches))
    return {"seconds": seconds, "waiting": idle}


class _ReferenceTimer:
    """A fixed piece of work that each process does alone. All other simulations are shared by all processes."""

    def __init__(self) -> None:
        import meep

        from evenly.adapters.meep.timing.worker import ReferenceWork

        meep.divide_parallel_processes(meep.count_processors())
        self._alone = ReferenceWork()
        meep.begin_global_communications()

    def seconds(self) -> float:
        """Return the CPU seconds of a step. A process may call this without the others."""
        import meep

        meep.end_global_communications()
        seconds = self._alone.seconds()
        meep.begin_global_communications()
        return seconds


def _beside(pace: _ReferenceTimer, sim: Any, batches: int, batch_s: float) -> Mapping[str, float]:
    """Return the same as `_timed`, and the pace. Batches of both alternate, and medians are used."""
    from evenly.adapters.meep.cell.monitors import period_of

    step, waiting = sim.fields.step, _waiting()
    steps = _batch_of(step, period_of(sim, sim.fields.dt), batch_s, waiting)
    around, found = [pace.seconds()], []
    for _ in range(batches):
        # After the pace, these steps bring the fields back into the caches.
        for _ in range(WARM):
            step()
        found.append(_batch(step, steps, waiting))
        around.append(pace.seconds())
    ratios = [2 * work / (a + b) for (work, _), a, b in zip(found, around[:-1], around[1:], strict=True)]
    usual = median(around)
    return {"seconds": median(ratios) * usual, "waiting": median(idle for _, idle in found), "pace": usual}


def _batch_of(step: Callable[[], None], group: int, batch_s: float, waiting: Callable[[], float]) -> int:
    """Return the steps, a multiple of `group`, that take about `batch_s` on the rank with the most work."""
    import meep

    for _ in range(WARM_UP):
        step()
    work = float(meep.max_to_all(group * _batch(step, group, waiting)[0]))
    return group * max(1, round(batch_s / max(work, 1e-6)))


def _batch(step: Callable[[], None], steps: int, waiting: Callable[[], float]) -> tuple[float, float]:
    """Return the CPU seconds per step of work and of waiting."""
    begin, waited = time.thread_time(), waiting()
    for _ in range(steps):
        step()
    idle = waiting() - waited
    return (time.thread_time() - begin - idle) / steps, idle / steps


def _paced(step: Callable[[], None]) -> Mapping[str, float]:
    """Return the CPU seconds per step of one process alone, and the pace."""
    from evenly.adapters.meep.timing.worker import ReferenceWork, paced_seconds

    for _ in range(WARM_UP):
        step()
    seconds, pace = paced_seconds(step, ReferenceWork().seconds)
    return {"seconds": seconds, "waiting": 0.0, "pace": pace}


def _waiting() -> Callable[[], float]:
    """Return a function that returns the seconds of waiting so far."""
    from evenly.adapters.meep.timing.mpi_waiting import VARIABLE

    if VARIABLE not in os.environ:
        return lambda: 0.0
    told = ctypes.CDLL(os.environ[VARIABLE]).evenly_waiting
    told.restype = ctypes.c_double
    return told


if __name__ == "__main__":
    main(Path(sys.argv[1]))
