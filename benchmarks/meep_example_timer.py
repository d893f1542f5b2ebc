"""Times the ranks of one of Meep's example scripts on several layouts; `meep_example_costs.py` starts it with MPI.

``python meep_example_timer.py FOLDER`` reads ``request.json`` there, and each rank writes its own file. The simulations
of all layouts are there at once and step in turns, so that all see the same machine.
"""

from __future__ import annotations

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


def main(folder: Path) -> None:
    """Time all layouts of the request in a folder."""
    import meep as mp

    request = json.loads((folder / "request.json").read_text(encoding="utf-8"))
    without_modes(lambda: None)
    pace, waiting = _ReferenceTimer(), _waiting()
    sims, found = {}, {}
    for way, layout in request["layouts"].items():
        sim = sims[way] = simulation_of(request["script"], _cut(layout, request["ranks"]))
        sim.init_sim()
        found[way] = {"seconds": [], "paces": [], **_chunks(sim)}
        sim.run(until=sim.fields.dt)
    if request["rounds"]:
        steps = {way: _batch_of(sim.fields.step, GROUP, request["batch_s"], waiting) for way, sim in sims.items()}
    for _ in range(request["rounds"]):
        for way, sim in sims.items():
            before = pace.seconds()
            for _ in range(WARM):
                sim.fields.step()
            found[way]["seconds"].append(_batch(sim.fields.step, steps[way], waiting)[0])
            found[way]["paces"].append((before + pace.seconds()) / 2)
    (folder / f"rank{mp.my_rank()}.json").write_text(json.dumps(found), encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
