"""How many steps the first run of a Meep simulation makes, from the arguments of the call that starts it.

Meep runs for a time, for a time after its sources have ended, or until a condition holds. A condition depends on the
fields, so nothing is known of such a run before it ends.

>>> class Source:
...     class src:
...         class swigobj:
...             last_time_max = staticmethod(lambda: 100.0)
>>> class Simulation:
...     sources = [Source]
>>> steps_of_run(Simulation, "run", {"until": 200}, dt=0.05)
4000
>>> steps_of_run(Simulation, "run", {"until_after_sources": 50}, dt=0.05)
3000
>>> steps_of_run(Simulation, "run", {"until_after_sources": lambda sim: True}, dt=0.05) is None
True
"""

from __future__ import annotations

import math
import numbers
from collections.abc import Mapping
from typing import Any

__all__ = ["steps_of_run"]

#: Times beyond this are those of sources that never end.
_ENDLESS = 1e15
#: Methods that make a run, and the arguments that tell its end.
_ENDS = {"run": ("until", "until_after_sources"), "_run_until": ("cond", ""), "_run_sources_until": ("", "cond")}


def steps_of_run(sim: Any, method: str, given: Mapping[str, Any], dt: float) -> int | None:
    """Return the number of steps of a run that has made none yet; None if it isn't certain.

    Parameters
    ----------
    sim : meep.Simulation
    method : str
        The method that was called, such as ``"run"``.
    given : mapping
        Its arguments by name.
    dt : float
        Meep's time of a step.
    """
    until, after = (given.get(name) for name in _ENDS.get(method, ("", "")))
    # If both are given, Meep takes the time after the sources.
    time = _number(until) if after is None else _number(after) + _end_of_sources(sim)
    # A step is made while less than the whole time has passed; times are rounded by Meep, so a tiny rest is none.
    return math.ceil(time / dt - 1e-6) if 0 < time < _ENDLESS else None


def _number(told: Any) -> float:
    """Return a time, also as the only one of a list; nan if a condition may end the run."""
    only = told[0] if isinstance(told, list) and len(told) == 1 else told
    return float(only) if isinstance(only, numbers.Real) and not isinstance(only, bool) else math.nan


def _end_of_sources(sim: Any) -> float:
    return max((float(one.src.swigobj.last_time_max()) for one in sim.sources), default=0.0)
