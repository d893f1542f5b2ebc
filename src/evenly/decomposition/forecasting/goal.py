"""The numbers of ranks to predict for, and the choice of the recommended one by a goal.

>>> counts_between(1, 512, cores_per_node=48)[:8], counts_between(1, 512, cores_per_node=48)[-4:]
([1, 2, 3, 4, 6, 8, 12, 16], [336, 384, 480, 512])
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd

from evenly.arguments import explained
from evenly.errors import InfeasibleError, InputError

__all__ = ["Goal", "counts_between"]


def counts_between(low: int, high: int, *, cores_per_node: int | None = None) -> list[int]:
    """Return numbers of ranks from `low` to `high`, at most about four per octave.

    Within a node these are powers of two and 3/2 times powers of two. Beyond one node they are multiples of the cores
    of a node, if this number is known. `low` and `high` themselves are always included.
    """
    found = {low, high}
    node = cores_per_node or high + 1
    power = 1
    while power <= high:
        found |= {power, power * 3 // 2} if power > 1 else {power}
        power *= 2
    found = {n for n in found if n <= node or n in (low, high)}
    step = 1
    while node * step <= high:
        found |= {node * n for n in range(step, min(2 * step, high // node) + 1, max(1, step // 4 or 1))}
        step *= 2
    return sorted(n for n in found if low <= n <= high)


@explained
@dataclass(frozen=True)
class Goal:
    """The goal by which a number of ranks is recommended: efficiency, deadline or budget.

    Parameters
    ----------
    efficiency : float
        Smallest parallel efficiency, relative to the smallest number of ranks. Without budget and deadline, the largest
        number of ranks with at least this efficiency is recommended.
    deadline_s : float, optional
        Most seconds of the whole run. The number of ranks with the fewest core-hours whose upper bound keeps the
        deadline is recommended; if there is none, one whose prediction keeps it.
    core_hours : float, optional
        Budget of the whole run in core-hours. Without a deadline, the fastest number of ranks within it is recommended.
    money : float, optional
        Budget of the whole run in the machine's currency.
    """

    efficiency: float = 0.7
    deadline_s: float | None = None
    core_hours: float | None = None
    money: float | None = None

    def __post_init__(self) -> None:
        if not 0 < self.efficiency <= 1:
            raise InputError(f"`efficiency` must lie between 0 and 1, but got {self.efficiency!r}.")
        for name in ("deadline_s", "core_hours", "money"):
            value = getattr(self, name)
            if value is not None and not value > 0:
                raise InputError(f"`{name}` must be above 0, but got {value!r}.")

    def choose(self, curve: pd.DataFrame, currency: str = "EUR") -> tuple[int, str]:
        """Return the recommended number of ranks and the reason, in one sentence.

        Parameters
        ----------
        curve : DataFrame
            `Forecast.curve`.

        Raises
        ------
        InfeasibleError
            If no row meets the deadline or the budget; the message names the row that comes nearest.
        """
        if self.deadline_s is None and self.core_hours is None and self.money is None:
            return self._well_used(curve)
        left = curve
        for column, most, unit in (("core_hours", self.core_hours, "core-hours"), ("money", self.money, currency)):
            if most is not None:
                left = _within(left, column, most, unit)
        if self.deadline_s is None:
            best = _least(left, "run_s")
            return int(best["ranks"]), f"the fastest run within the budget: {_told(best)}"
        safe = left[left["run_upper_s"] <= self.deadline_s]
        likely = left[left["run_s"] <= self.deadline_s]
        if not len(likely):
            best = _least(left, "run_s")
            raise InfeasibleError(
                f"no number of ranks looked at ends within {_time(self.deadline_s)}: the fastest is {_told(best)}. "
                "Give more time, fewer steps, or more ranks.",
                constraint="deadline",
            )
        chosen, how = (safe, "") if len(safe) else (likely, ", if the prediction holds: its upper bound is later")
        best = _least(chosen, "core_hours")
        return int(best["ranks"]), f"the fewest core-hours that meet the deadline{how}: {_told(best)}"

    def _well_used(self, curve: pd.DataFrame) -> tuple[int, str]:
        used = curve[curve["efficiency"] >= self.efficiency]
        best = _least(used, "ranks", -1) if len(used) else _least(curve, "efficiency", -1)
        faster = curve[(curve["ranks"] > best["ranks"]) & (curve["step_s"] < best["step_s"])]
        why = f"the most ranks that are used to {self.efficiency:.0%} at least: {_told(best)}"
        if not len(faster):
            return int(best["ranks"]), f"{why}; none looked at is faster"
        fastest = _least(faster, "step_s")
        more = fastest["core_hours"] / best["core_hours"]
        return int(best["ranks"]), (
            f"{why}; {int(fastest['ranks'])} are {best['step_s'] / fastest['step_s']:.2f} times as fast for "
            f"{more:.2f} times the core-hours"
        )


def _within(curve: pd.DataFrame, column: str, most: float, unit: str) -> pd.DataFrame:
    if column not in curve:
        raise InputError("a budget in money needs a price: give the machine price_per_core_hour.")
    left = curve[curve[column] <= most]
    if len(left):
        return left
    best = _least(curve, column)
    raise InfeasibleError(
        f"no number of ranks looked at stays within {most:g} {unit}: the cheapest are {int(best['ranks'])} ranks with "
        f"{best[column]:.3g}. Give a larger budget or fewer steps.",
        constraint="budget",
    )


def _least(curve: pd.DataFrame, column: str, sign: int = 1) -> dict[str, float]:
    """Return the row with the smallest value of a column, or with the largest for a sign of -1."""
    at = int(np.argmin(sign * curve[column].to_numpy(dtype=np.float64)))
    return {str(name): float(value) for name, value in curve.iloc[at].items()}


def _told(row: dict[str, float]) -> str:
    return (
        f"{int(row['ranks'])} ranks take {_time(float(row['run_s']))} and {float(row['core_hours']):.3g} core-hours, "
        f"used to {float(row['efficiency']):.0%}"
    )


def _time(seconds: float) -> str:
    for unit, size, least in (("h", 3600.0, 2.0), ("min", 60.0, 2.0), ("s", 1.0, 1.0)):
        if seconds >= least * size:
            return f"{seconds / size:.3g} {unit}"
    return f"{seconds * 1e3:.3g} ms"
