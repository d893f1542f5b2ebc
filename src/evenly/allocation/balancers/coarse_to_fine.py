"""The fastest assignments of solvers side by side, without a table of all counts.

Some models certify the intervals on which they rise or fall. A table of a few counts with the ends of these intervals
then bounds the solver's best time between its counts. Each round has three steps:

1. tabulate each solver's time on a few counts;
2. bisect over all times in these tables. This gives two bounds on the best time of a step: the smallest time that
   certainly needs no more than the available cores, and the smallest time that possibly does;
3. add counts to each table, in the gaps that may contain the cores for a time between the bounds.

A few rounds need a few hundred of a million counts. The result is exact: it is the same as from full tables. Several
totals are solved at once.

Source: the bisection on the step's time is that of bottleneck problems, as in T. Ibaraki and N. Katoh, "Resource
Allocation Problems: Algorithmic Approaches" (1988).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evenly.allocation.problem.base import Problem
from evenly.allocation.problem.curves import SolverCurve
from evenly.allocation.problem.layout import Layout, Repeated, SideBySide, Solver

__all__ = ["can_zoom", "zoom"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

_WORTH_IT = 100_000
#: Counts that a round looks at per solver, and at least per total.
_POINTS, _POINTS_PER_TOTAL = 160, 8
_OUT_OF_REACH = 1 << 44


def can_zoom(problem: Problem) -> bool:
    """Tell whether all solvers run side by side, all models certify their shapes, and there are enough counts."""
    factors = _factors(problem.layout)
    if factors is None or sum(len(problem.curves[name].counts) for name in problem.names) < _WORTH_IT:
        return False
    return all(isinstance(problem.curves[name].counts, range) for name in problem.names) and all(
        problem.curves[name].certified is not None for name in problem.names
    )


def zoom(problem: Problem, totals: Ints | None = None) -> dict[str, Ints] | None:
    """Return the fastest assignments; among equally fast ones, those with the fewest cores.

    Parameters
    ----------
    problem : Problem
        A problem for which `can_zoom` is true.
    totals : array of int (n,), optional
        Totals of available cores; by default only the problem's total.

    Returns
    -------
    dict of str to array of int (n,), or None
        Each solver's cores; None if some total is too small for finite times.
    """
    wanted = np.array([problem.cores]) if totals is None else np.asarray(totals, dtype=np.int64)
    factors = _factors(problem.layout) or {}
    points = max(_POINTS, _POINTS_PER_TOTAL * len(wanted))
    samples = [_SampledCurve.of(problem.curves[name], factors[name], points) for name in problem.names]
    while all(len(sample.front.cores) for sample in samples):
        bounds = _bracket(samples, wanted)
        # If no table changes, no gap is left, and both bounds equal the best time.
        refined = [sample.refined(*bounds, points) for sample in samples]
        if all(new is old for new, old in zip(refined, samples, strict=True)):
            found = [sample.cores_for(bounds[1]) for sample in samples]
            return dict(zip(problem.names, found, strict=True)) if np.all(sum(found) <= wanted) else None
        samples = refined
    return None


def _factors(layout: Layout) -> dict[str, float] | None:
    """Return the factor on each solver's time if all solvers run side by side, else None."""
    if isinstance(layout, Solver):
        return {layout.name: 1.0}
    if isinstance(layout, Repeated):
        inner = _factors(layout.part)
        return None if inner is None else {name: layout.count * factor for name, factor in inner.items()}
    if not isinstance(layout, SideBySide):
        return None
    found = [_factors(part) for part in layout.parts]
    return None if any(f is None for f in found) else {n: v for part in found for n, v in (part or {}).items()}


def _bracket(samples: list[_SampledCurve], totals: Ints) -> tuple[Floats, Floats]:
    """Return lower and upper bounds (n,) on the best time for the totals (n,).

    The lower bound is the smallest time that is possibly in reach, the upper bound the smallest that certainly is. If
    no known time is in reach, the bound is the largest known time.
    """
    times = np.sort(np.concatenate([sample.front.seconds for sample in samples]))
    in_reach = _first(times, totals, lambda asked: sum(sample.cores_for(asked) for sample in samples))
    possible = _first(times, totals, lambda asked: sum(sample.fewest_possible(asked) for sample in samples))
    return times[possible], times[in_reach]


def _first(times: Floats, totals: Ints, needed: Any) -> Ints:
    """Return the positions (n,) of the smallest times that need no more than the totals (n,)."""
    low, high = np.zeros(len(totals), np.int64), np.full(len(totals), len(times) - 1)
    while np.any(low < high):
        middle = (low + high) // 2
        holds = needed(times[middle]) <= totals
        low, high = np.where(holds | (low == high), low, middle + 1), np.where(holds, middle, high)
    return low


@dataclass(frozen=True)
class _Front:
    """Front (K,) of the tabulated times; `after` (K,) holds the fewest cores that may reach each time already."""

    cores: Ints
    seconds: Floats
    after: Ints


@dataclass(frozen=True)
class _SampledCurve:
    """One solver's curve on a few counts.

    Parameters
    ----------
    curve : SolverCurve
        The curve.
    factor : float
        Factor on the curve's seconds in the layout.
    cores, seconds : array (n,)
        The tabulated counts and their times. The counts include the first one, the last one and all ends of certified
        intervals.
    """

    curve: SolverCurve
    factor: float
    cores: Ints
    seconds: Floats

    @classmethod
    def of(cls, curve: SolverCurve, factor: float, points: int) -> _SampledCurve:
        cores = _spread(curve, points)
        return cls(curve, factor, cores, factor * curve.seconds(cores))

    @cached_property
    def front(self) -> _Front:
        # The front of the table. Within a gap the curve is monotone, so a point's time may be reached at any count
        # after the tabulated count before it.
        best = np.minimum.accumulate(self.seconds)
        kept = np.concatenate([[True], best[1:] < best[:-1]]) & np.isfinite(best)
        after = np.concatenate([self.cores[:1], self.cores[:-1] + _step(self.curve)])
        return _Front(self.cores[kept], best[kept], after[kept])

    def cores_for(self, seconds: Floats) -> Ints:
        """Return cores (n,) that certainly reach `seconds` (n,); they are the fewest where no gap lies before them."""
        found: Ints = np.append(self.front.cores, _OUT_OF_REACH)[self._steps_for(seconds)]
        return found

    def fewest_possible(self, seconds: Floats) -> Ints:
        """Return the cores (n,) below which `seconds` (n,) are certainly out of reach."""
        found: Ints = np.append(self.front.after, _OUT_OF_REACH)[self._steps_for(seconds)]
        return found

    def refined(self, lower: Floats, upper: Floats, points: int) -> _SampledCurve:
        """Return a finer table in the gaps before times from `lower` to `upper` (n,); the same table without gaps."""
        # Mark the front's points between `upper` and `lower` for any total: +1 where a range begins, -1 after its end;
        # the cumulative sum is positive inside a range.
        front, last = self.front, len(self.front.cores) - 1
        change = np.zeros(last + 2, np.int64)
        np.add.at(change, np.minimum(self._steps_for(upper), last), 1)
        np.add.at(change, np.minimum(self._steps_for(lower), last) + 1, -1)
        widths = (front.cores - front.after) // _step(self.curve)
        gaps = np.flatnonzero((np.cumsum(change[:-1]) > 0) & (widths > 0))
        if not len(gaps):
            return self
        more = _inside(front.after[gaps], widths[gaps], _step(self.curve), max(2, points // len(gaps)))
        cores = np.concatenate([self.cores, more])
        seconds = np.concatenate([self.seconds, self.factor * self.curve.seconds(more)])
        order = np.argsort(cores, kind="stable")
        return _SampledCurve(self.curve, self.factor, cores[order], seconds[order])

    def _steps_for(self, seconds: Floats) -> Ints:
        return np.searchsorted(-self.front.seconds, -seconds, side="left")


def _step(curve: SolverCurve) -> int:
    return curve.counts.step if isinstance(curve.counts, range) else 1


def _inside(starts: Ints, widths: Ints, step: int, most: int) -> Ints:
    """Return new counts in gaps of `widths` counts from `starts` on: all, or `most` equally spaced ones per gap."""
    chosen = np.minimum(widths, most)
    gap = np.repeat(np.arange(len(starts)), chosen)
    number = np.arange(len(gap)) - np.repeat(np.cumsum(chosen) - chosen, chosen)
    inside: Ints = starts[gap] + step * ((2 * number + 1) * widths[gap] // (2 * chosen[gap]))
    return inside


def _spread(curve: SolverCurve, points: int) -> Ints:
    """Return increasing counts (n,): about `points` in equal ratios, and all ends of certified intervals."""
    start, step, last = int(curve.counts[0]), _step(curve), len(curve.counts) - 1
    ends = [(end - start) // step + side for piece in curve.certified or () for end in piece for side in (0, 1)]
    turning = np.array([end for end in ends if 0 <= end <= last], dtype=np.int64)
    ratios = np.rint(np.geomspace(1, last + 1, points)).astype(np.int64) - 1
    places = np.sort(np.concatenate([ratios, turning, [0, last]]))
    found: Ints = start + step * places[np.concatenate([[True], places[1:] > places[:-1]])]
    return found
