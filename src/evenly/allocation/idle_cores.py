"""Why the fastest assignment leaves cores idle: the solvers' allowed counts, or no gain from more cores."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from evenly.allocation.problem.base import Problem
from evenly.allocation.problem.curves import SolverCurve, Table
from evenly.allocation.problem.limits import index_at_most, listed

__all__ = ["critical", "why_idle"]

_NUDGE = 1e-6


def why_idle(problem: Problem, cores: Mapping[str, int]) -> str:
    """Return the reason why the fastest assignment leaves cores idle, in words.

    Only solvers on the critical path matter. If such a solver already has its largest allowed count, this limit is the
    reason. If it has a larger and faster count that does not fit, the gap to this count is the reason.

    Examples
    --------
    >>> from evenly.allocation.problem.layout import parse_layout
    >>> from evenly.allocation.problem.limits import Limits
    >>> curve = SolverCurve("a", lambda p: 8 / p, range(8, 41, 8), limits=Limits(multiple=8))
    >>> why_idle(Problem(parse_layout("a"), {"a": curve}, 45), {"a": 40})
    'a may only get multiples of 8 cores, and more do not fit'
    """
    reasons = [_bound(problem.curves[name], cores[name], problem.cores) for name in critical(problem, cores)]
    found = [reason for reason in reasons if reason is not None]
    return "; ".join(found) if found else "by the solvers' curves, they would not make a step faster"


def critical(problem: Problem, cores: Mapping[str, int]) -> list[str]:
    """Return the solvers on the critical path: a step gets slower if any one of them gets slower."""
    times = problem.times(cores)
    seconds = float(problem.layout.seconds(times))
    slower = {name: problem.layout.seconds({**times, name: times[name] * (1 + _NUDGE)}) for name in times}
    return [name for name in problem.names if float(slower[name]) > seconds]


def _bound(curve: SolverCurve, chosen: int, total: int) -> str | None:
    """Return the limit that keeps a solver from more cores, in words; None where no limit does."""
    above = curve.counts[index_at_most(curve.counts, chosen) + 1 :]
    if not len(above):
        return _no_more(curve, chosen, total)
    if above[0] == chosen + 1:
        return None
    larger = listed(curve.name, above)
    faster = larger[curve.seconds(larger) < curve.seconds(np.array([chosen]))[0]]
    return f"{_allowed(curve)}, and more do not fit" if len(faster) else None


def _no_more(curve: SolverCurve, chosen: int, total: int) -> str | None:
    limits = curve.limits
    if chosen == total:
        return None
    if isinstance(curve.source, Table) and limits.allowed is None:
        return f"{curve.name} has no time on more than {chosen} cores"
    if limits.maximum is not None and chosen + limits.multiple > limits.maximum:
        return f"{curve.name} may get no more than {limits.maximum} cores"
    return f"{_allowed(curve)}, and more do not fit"


def _allowed(curve: SolverCurve) -> str:
    limits = curve.limits
    if isinstance(curve.source, Table) and limits.allowed is None:
        return f"{curve.name} has times on some counts only"
    if limits.allowed is not None:
        return f"{curve.name} may only get {', '.join(map(str, sorted(limits.allowed)[:8]))} cores"
    if limits.multiple > 1:
        return f"{curve.name} may only get multiples of {limits.multiple} cores"
    names = ", ".join(bound.name for bound in limits.all_bounds)
    return f"not every number of cores is one that {curve.name} can have{f' (bound on {names})' if names else ''}"
