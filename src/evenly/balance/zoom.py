"""The fastest assignment of solvers side by side, without tabulating every count.

For models that certify where they rise and fall, the best time of a solver with at least p cores is known exactly on
any few counts that include the ends of these intervals. From such a coarse table follow bounds on the best time of the
step, and with them bounds on each solver's cores; looking closer between the bounds, a few rounds lead from a million
counts to a few thousand, which are tabulated. The answer is exact: the same as from full tables.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from evenly.balance.base import Problem
from evenly.balance.curves import Front, SolverCurve
from evenly.balance.layout import Layout, Repeated, SideBySide, Solver

__all__ = ["can_zoom", "zoom"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

_WORTH_IT = 100_000
_POINTS = 400
_FEW = 8_000
_OUT_OF_REACH = 1 << 60


def can_zoom(problem: Problem) -> bool:
    """Tell whether the layout is all side by side, and every model certifies its shape on enough counts."""
    factors = _factors(problem.layout)
    if factors is None or sum(len(problem.curves[name].counts) for name in problem.names) < _WORTH_IT:
        return False
    return all(isinstance(problem.curves[name].counts, range) for name in problem.names) and all(
        problem.curves[name].certified is not None for name in problem.names
    )


def zoom(problem: Problem) -> dict[str, int]:
    """Return the fastest assignment; among equally fast ones, the one with the fewest cores."""
    factors = _factors(problem.layout) or {}
    lenses = [_Lens.over(problem.curves[name], factors[name]) for name in problem.names]
    points = _POINTS
    while any(lens.coarse for lens in lenses):
        points *= 2  # so that plateaus, on which looking closer decides nothing, come to an end
        fastest, slowest = _bracket(lenses, problem.cores)
        for k, lens in enumerate(lenses):
            low, high = lens.fewest_possible(slowest), lens.most_possible(fastest)
            lenses[k] = lens.closer(low, high, points) if lens.coarse else lens
    best = _bracket(lenses, problem.cores)[1]
    return {name: int(lens.cores_for(best)) for name, lens in zip(problem.names, lenses, strict=True)}


def _factors(layout: Layout) -> dict[str, float] | None:
    """Return by how much each solver's time is multiplied, if the layout is all side by side."""
    if isinstance(layout, Solver):
        return {layout.name: 1.0}
    if isinstance(layout, Repeated):
        inner = _factors(layout.part)
        return None if inner is None else {name: layout.count * factor for name, factor in inner.items()}
    if not isinstance(layout, SideBySide):
        return None
    found = [_factors(part) for part in layout.parts]
    return None if any(f is None for f in found) else {n: v for part in found for n, v in (part or {}).items()}


def _bracket(lenses: list[_Lens], cores: int) -> tuple[float, float]:
    """Return bounds on the best time: the largest known to be out of reach, the smallest known to be in reach."""
    times = np.unique(np.concatenate([lens.front.seconds for lens in lenses]))
    in_reach = _first(times, lambda time: sum(lens.cores_for(time) for lens in lenses) <= cores)
    possible = _first(times, lambda time: sum(lens.fewest_possible(time) for lens in lenses) <= cores)
    return (float(times[possible - 1]) if possible else 0.0), float(times[in_reach])


def _first(times: Floats, holds: object) -> int:
    low, high = 0, len(times) - 1
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if holds(times[middle]) else (middle + 1, high)  # type: ignore[operator]
    return low


@dataclass(frozen=True)
class _Lens:
    """One solver's curve on a few counts.

    Parameters
    ----------
    curve : SolverCurve
        The curve.
    factor : float
        What its seconds are multiplied by in the layout.
    points : array of int (n,)
        Positions in the curve's counts that were looked at.
    front : Front
        The best time (K,) known from the points and from all counts before them.
    after : array of int (K,)
        For each step of the front, the fewest cores that may already reach its time: just after the point before it.
    """

    curve: SolverCurve
    factor: float
    points: Ints
    front: Front
    after: Ints

    @classmethod
    def over(cls, curve: SolverCurve, factor: float) -> _Lens:
        return cls._look(curve, factor, _spread(curve, 0, len(curve.counts) - 1, _POINTS), None)

    @classmethod
    def _look(cls, curve: SolverCurve, factor: float, points: Ints, before: tuple[int, float] | None) -> _Lens:
        start, step = int(curve.counts[0]), _step(curve)
        cores = start + step * points
        seconds = factor * curve.seconds(cores)
        after = np.concatenate([cores[:1], cores[:-1] + step])
        if before is not None:
            cores, seconds = np.insert(cores, 0, before[0]), np.insert(seconds, 0, before[1])
            after = np.insert(after, 0, start)
        best = np.minimum.accumulate(seconds)
        kept = np.concatenate([[True], best[1:] < best[:-1]]) & np.isfinite(best)
        return cls(curve, factor, points, Front(cores[kept], best[kept]), after[kept])

    @property
    def coarse(self) -> bool:
        return int(self.points[-1] - self.points[0]) != len(self.points) - 1

    def cores_for(self, seconds: float) -> int:
        """Return enough cores to reach `seconds`: the fewest on a lens that is not coarse."""
        step = self._step_for(seconds)
        return int(self.front.cores[step]) if step < len(self.after) else _OUT_OF_REACH

    def fewest_possible(self, seconds: float) -> int:
        """Return a count below which `seconds` is surely out of reach."""
        step = self._step_for(seconds)
        return int(self.after[step]) if step < len(self.after) else self._beyond()

    def most_possible(self, seconds: float) -> int:
        """Return a count that surely reaches `seconds`, or the largest."""
        return min(self.cores_for(seconds), int(self.curve.counts[-1]))

    def closer(self, low: int, high: int, points: int) -> _Lens:
        """Look at the counts from `low` to `high` only; counts below `low` enter by their best."""
        start, step = int(self.curve.counts[0]), _step(self.curve)
        known = int(np.searchsorted(self.front.cores, low)) - 1
        before = (int(self.front.cores[known]), float(self.front.seconds[known])) if known >= 0 else None
        places = _spread(self.curve, (min(low, high) - start) // step, (high - start) // step, points)
        return self._look(self.curve, self.factor, places, before)

    def _step_for(self, seconds: float) -> int:
        return int(np.searchsorted(-self.front.seconds, -seconds, side="left"))

    def _beyond(self) -> int:
        # Past the last point looked at; nothing lies there on the first look, which covers all counts.
        last = int(self.curve.counts[0]) + _step(self.curve) * int(self.points[-1])
        return last + _step(self.curve) if last < self.curve.counts[-1] else _OUT_OF_REACH


def _step(curve: SolverCurve) -> int:
    return curve.counts.step if isinstance(curve.counts, range) else 1


def _spread(curve: SolverCurve, low: int, high: int, points: int) -> Ints:
    """Return positions from `low` to `high`: all if few, else some (denser at the start) and all turns."""
    if high - low <= max(_FEW, points):
        return np.arange(low, high + 1)
    start, step = int(curve.counts[0]), _step(curve)
    chosen = low - 1 + np.geomspace(1, high - low + 1, points)
    even = np.linspace(low, high, points)
    ends = [(end - start) // step + side for piece in curve.certified or () for end in piece for side in (0, 1)]
    turning = np.array([end for end in ends if low <= end <= high], dtype=np.int64)
    return np.unique(np.concatenate([np.rint(chosen), np.rint(even), turning, [low, high]]).astype(np.int64))
