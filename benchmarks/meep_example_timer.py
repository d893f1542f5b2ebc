"""Times the ranks of one of Meep's example scripts on several layouts; `meep_example_costs.py` starts it with MPI.

``python meep_example_timer.py FOLDER`` reads ``request.json`` there, and each rank writes its own file. The simulations
of all layouts are there at once and step in turns, so that all see the same machine.
"""

from __future__ import annotations

import ctypes
import json
import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from evenly.adapters.meep.cell.script_runner import STEPPING
from evenly.adapters.meep.timing.rank import (
    GROUP,
    WARM,
    _batch,
    _batch_of,
    _chunks,
    _cut,
    _ReferenceTimer,
    _waiting,
)
from meep_example_runs import run_script, without_modes


class _Reached(BaseException):
    """Raised at a script's first step, with its simulation."""


def simulation_of(script: Sequence[str], cut: Mapping[str, Any]) -> Any:
    """Return the simulation that a script runs first, with its chunks cut as these arguments say."""
    import meep as mp

    kind = mp.Simulation
    usual = {name: getattr(kind, name) for name in ("__init__", *STEPPING)}

    def made(sim: Any, *args: Any, **kwargs: Any) -> None:
        usual["__init__"](sim, *args, **{**kwargs, "chunk_layout": None, **cut})

    def reached(sim: Any, *_args: Any, **_kwargs: Any) -> None:
        raise _Reached(sim)

    kind.__init__ = made
    for name in STEPPING:
        setattr(kind, name, reached)
    folder = Path.cwd()
    try:
        os.chdir(Path(script[0]).parent)
        why = run_script(list(script))
    except _Reached as found:
        return found.args[0]
    finally:
        os.chdir(folder)
        for name, method in usual.items():
            setattr(kind, name, method)
    raise RuntimeError(why or "the script made no step")


def times(script: Sequence[str], ranks: int, layouts: Mapping[str, str], rounds: int, batch_s: float) -> dict[str, Any]:
    """Return the seconds of a step and the pace in each round, and the chunks, for each layout."""
    # A process that only records what ranks agree on makes no cells of its own.
    pace, waiting = (_ReferenceTimer() if rounds else None), _waiting()
    sims, found = {}, {}
    for way, layout in layouts.items():
        sim = sims[way] = simulation_of(script, _cut(layout, ranks))
        sim.init_sim()
        found[way] = {"seconds": [], "paces": [], **_chunks(sim)}
        sim.run(until=sim.fields.dt)
    if pace is None:
        return found
    steps = {way: _batch_of(sim.fields.step, GROUP, batch_s, waiting) for way, sim in sims.items()}
    for _ in range(rounds):
        for way, sim in sims.items():
            before = pace.seconds()
            for _ in range(WARM):
                sim.fields.step()
            found[way]["seconds"].append(_batch(sim.fields.step, steps[way], waiting)[0])
            found[way]["paces"].append((before + pace.seconds()) / 2)
    return found


def one_after_the_other(request: Mapping[str, Any], folder: Path) -> None:
    """Time the ranks of each number of ranks, each in a process of its own, which is a fork of this one."""
    library = ctypes.CDLL(request["library"])
    for ranks, layouts in request["layouts"].items():
        agreed = bytes(folder / f"agreed{ranks}")
        for rank in range(-1 if int(ranks) > 1 else 0, int(ranks)):
            if child := os.fork():
                if os.waitpid(child, 0)[1]:
                    sys.exit(f"Error: rank {rank} of {ranks} failed")
                continue
            if rank < 0:
                library.lone_ranks_record(agreed)
            elif int(ranks) > 1:
                library.lone_ranks_play(agreed, rank, int(ranks))
            rounds = request["rounds"] if rank >= 0 else 0
            found = times(request["script"], int(ranks), layouts, rounds, request["batch_s"])
            (folder / f"rank{rank}of{ranks}.json").write_text(json.dumps(found), encoding="utf-8")
            sys.stderr.flush()
            os._exit(0)


def main(folder: Path) -> None:
    """Time all layouts of the request in a folder."""
    import meep as mp

    request = json.loads((folder / "request.json").read_text(encoding="utf-8"))
    without_modes(lambda: None)
    if request["library"]:
        one_after_the_other(request, folder)
        return
    ((ranks, layouts),) = request["layouts"].items()
    found = times(request["script"], int(ranks), layouts, request["rounds"], request["batch_s"])
    (folder / f"rank{mp.my_rank()}of{ranks}.json").write_text(json.dumps(found), encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
