"""The counts of cores (or ranks) to predict for, where more stop paying, and the choice of one by a goal.

A choice weighs the time of a job against its core-hours. Counts that are both slower and dearer than another one are no
choice; the others are the *front*. The **knee** is the count with the least time × core-hours, the largest ratio of
efficiency to time: Eager, Zahorjan and Lazowska (1989), "Speedup versus efficiency in parallel systems", IEEE
Transactions on Computers 38 (3), 408-423. On a smooth curve, one percent more cores makes the job half a percent
faster there: the marginal efficiency is 50 %, and beyond it is less. The knee needs no threshold and no monotone
curve, since it is the least product of all counts.

>>> counts_between(1, 512, cores_per_node=48)[:8], counts_between(1, 512, cores_per_node=48)[-4:]
([1, 2, 3, 4, 6, 8, 12, 16], [336, 384, 480, 512])
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from evenly.arguments import explained
from evenly.errors import InfeasibleError, InputError
from evenly.runs.durations import common_unit, unit_of

__all__ = ["LOOKED_AT", "Choice", "Goal", "Knee", "counts_between", "counts_like", "knee_of", "reason_of", "time_words"]

#: Draws of the curve for the uncertainty of the knee.
_DRAWS = 2000
#: At most so many counts are looked at between two of which one keeps to the goal.
_FINER = 31
#: The counts that a curve has, in words.
LOOKED_AT = "looked at"
#: A common divisor of measured counts from which it may be the cores of a node.
_NODE = 8


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


def counts_like(measured: Sequence[int], low: int, high: int) -> list[int]:
    """Return counts from `low` to `high` as people ask a batch system for them: 96 cores, not 97.

    These are the measured ones, and multiples of their greatest common divisor, which holds whole nodes, at most about
    four per octave. If these are powers of two, or have no divisor that a node may have, the others are 1, 2, 3, 4, 6,
    8, 12, ….

    Examples
    --------
    >>> counts_like([24, 72, 144], 24, 240)
    [24, 48, 72, 96, 120, 144, 168, 192, 240]
    >>> counts_like([24, 72, 144], 1, 130)
    [24, 48, 72, 96, 120]
    >>> counts_like([1, 5, 16], 1, 16)
    [1, 2, 3, 4, 5, 6, 8, 12, 16]
    """
    step = int(np.gcd.reduce(np.asarray(measured, dtype=np.int64)))
    is_node = step >= _NODE and any(int(count).bit_count() > 1 for count in measured)
    found = {*counts_between(low, high, cores_per_node=step if is_node else None), *map(int, measured)}
    inside = sorted(count for count in found if low <= count <= high)
    whole = [count for count in inside if not is_node or count % step == 0]
    return whole or inside


@dataclass(frozen=True)
class Knee:
    """Where more cores stop paying: the count with the least time × core-hours.

    Parameters
    ----------
    count : int
        The count.
    lower, upper : int
        The knee lies between these, with the probability of the curve's intervals. Errors of different counts are taken
        as independent: those that they share move the whole curve, and not its knee.
    is_last, is_first : bool
        Whether it is the largest, or the smallest, of the counts that it was chosen from, so that it may lie beyond.
        Both, where there was no other count.
    among : str
        What these counts are: those looked at, or those of them on which runs aren't known to fail.
    """

    count: int
    lower: int
    upper: int
    is_last: bool = False
    is_first: bool = False
    among: str = LOOKED_AT


@dataclass(frozen=True)
class Choice:
    """The count that a goal recommends, and what speaks for another one.

    Parameters
    ----------
    count : int
    why : str
        The reason, in one sentence.
    knee : Knee
    runner_up : int or None
        The count with the least time × core-hours among the others that keep to the deadline and the budget and that no
        count beats in both time and core-hours. None if there is no such count.
    trade : str
        What the runner-up costs and brings, in one sentence.
    """

    count: int
    why: str
    knee: Knee
    runner_up: int | None
    trade: str

    def to_dict(self) -> dict[str, Any]:
        """Return the knee and the runner-up as plain values, for JSON."""
        knee = dataclasses.asdict(self.knee)
        del knee["among"]  # words for people, as in `why`
        return {"knee": knee, "runner_up": self.runner_up, "trade": self.trade}


@explained
@dataclass(frozen=True)
class Goal:
    """What a number of cores (or ranks) is recommended for: a deadline, a budget, an efficiency, or what pays.

    Without any, the count at the knee is recommended: where more cores stop paying.

    Parameters
    ----------
    efficiency : float, optional
        Smallest parallel efficiency, relative to the smallest count (of the measured ones where they are known). The
        fastest count with at least this efficiency is recommended.
    deadline_s : float, optional
        Most seconds of the whole job. The count with the fewest core-hours whose upper bound keeps the deadline is
        recommended; if there is none, one whose prediction keeps it. The bound is that of a single run, where
        ``run_latest_s`` tells it.
    core_hours : float, optional
        Budget of the whole job in core-hours. Without a deadline, the fastest count within it is recommended.
    money : float, optional
        Budget of the whole job in the machine's currency.

    Examples
    --------
    >>> Goal(deadline_s=7200.0)
    Goal(efficiency=None, deadline_s=7200.0, core_hours=None, money=None)
    """

    efficiency: float | None = None
    deadline_s: float | None = None
    core_hours: float | None = None
    money: float | None = None

    def __post_init__(self) -> None:
        if self.efficiency is not None and not 0 < self.efficiency <= 1:
            raise InputError(f"`efficiency` must lie between 0 and 1, but got {self.efficiency!r}.")
        for name in ("deadline_s", "core_hours", "money"):
            value = getattr(self, name)
            if value is not None and not value > 0:
                raise InputError(f"`{name}` must be above 0, but got {value!r}.")

    def choose(
        self, curve: pd.DataFrame, count: str = "ranks", *, currency: str = "EUR", level: float = 0.9,
        among: str = LOOKED_AT,
    ) -> Choice:  # fmt: skip
        """Return the recommended count, the knee and the runner-up.

        Parameters
        ----------
        curve : DataFrame (n_counts, …)
            A row for each count, with the columns ``run_s``, ``run_lower_s``, ``run_upper_s`` (seconds of the job),
            ``core_hours``, ``efficiency`` and, for a budget in money, ``money``.
        count : str
            The column of the counts, and their name in sentences: ``"ranks"``, ``"cores"``.
        currency : str
            That of ``money``.
        level : float
            Probability of the intervals.
        among : str
            What the counts of `curve` are, as `Knee.among`.

        Raises
        ------
        InfeasibleError
            If no row meets the goal; the message names the row that comes nearest.
        """
        left, kept, hopes = curve, list[str](), list[tuple[str, float]]()
        for column, most, unit in (("core_hours", self.core_hours, "core-hours"), ("money", self.money, currency)):
            if most is not None:
                left = _within(left, column, most, unit, count, _among(kept))
                kept.append(f"within {most:g} {unit}")
                hopes.append((column, most))
        if self.efficiency is not None:
            left = _used(left, self.efficiency, count, _among(kept))
            kept.append(f"with an efficiency of {_percent(self.efficiency)}")
        left, sure = self._in_time(left, count, _among(kept))
        knee = dataclasses.replace(knee_of(curve, count, level), among=among)
        if self.deadline_s is not None:
            best, why = _least(left, "core_hours"), "the fewest core-hours that meet the deadline"
        elif self.core_hours is not None or self.money is not None:
            best, why = _least(left, "run_s"), "the fastest run within the budget"
        elif self.efficiency is not None:
            best = _least(left, "run_s")
            why = f"the fastest with an efficiency of at least {_percent(self.efficiency)}"
        else:
            best, why = _row(left[left[count] == knee.count], 0), reason_of(knee)
        hoped = [] if sure else ["misses the deadline"]
        hoped += ["is above the budget"] if any(_upper(best, column) > most for column, most in hopes) else []
        least = 0.0 if self.efficiency is None else self.efficiency
        if "run_upper_s" in curve and best["efficiency"] * best["run_s"] < least * best["run_upper_s"]:
            hoped.append("means a lower efficiency")
        why += f", if the prediction holds (its upper bound {' and '.join(hoped)})" if hoped else ""
        # An efficiency is a wish: what it hides is told. A deadline and a budget are kept.
        other = _runner_up(curve if self.efficiency is not None else left, best, count)
        which = "was looked at" if len(left) == len(curve) else "keeps to this"
        none = f"none, as no other number that {which} is faster or takes fewer core-hours"
        trade = none if other is None else _trade(best, other, count)
        # A table of the curve stands beside this sentence.
        told = _takes(best, common_unit(curve["run_s"], best["run_s"]))
        runner_up = None if other is None else int(other[count])
        return Choice(int(best[count]), f"{why}: {told}", knee, runner_up, trade)

    def between(self, curve: pd.DataFrame, count: str = "ranks") -> list[int]:
        """Return counts between neighbours of a curve of which one keeps to the goal and the other doesn't.

        Examples
        --------
        >>> curve = pd.DataFrame({"cores": [4, 8], "run_s": [9.0, 5.0], "run_upper_s": [9.5, 5.5], "core_hours": 0.01,
        ...                       "efficiency": [1.0, 0.9]})
        >>> Goal(deadline_s=7.0).between(curve, "cores")
        [5, 6, 7]
        """
        latest = curve["run_latest_s"] if "run_latest_s" in curve else curve["run_upper_s"]
        met = [
            curve[column] <= most
            for column, most in (("core_hours", self.core_hours), ("money", self.money), ("run_s", self.deadline_s))
            if most is not None and column in curve
        ]
        met += [latest <= self.deadline_s] if self.deadline_s is not None else []
        met += [curve["efficiency"] >= self.efficiency] if self.efficiency is not None else []
        found: set[int] = set()
        counts = curve[count].to_numpy(dtype=np.int64)
        for one in met:
            for place in np.flatnonzero(np.diff(one.to_numpy(dtype=np.int64))):
                inner = np.linspace(counts[place], counts[place + 1], _FINER + 2)[1:-1].round().astype(np.int64)
                found |= set(inner.tolist()) - {int(counts[place]), int(counts[place + 1])}
        return sorted(found)

    def _in_time(self, curve: pd.DataFrame, count: str, among: str) -> tuple[pd.DataFrame, bool]:
        """Return the rows that keep the deadline, and whether their upper bounds do; `among` says which are left."""
        if self.deadline_s is None:
            return curve, True
        latest = curve["run_latest_s"] if "run_latest_s" in curve else curve["run_upper_s"]
        safe = curve[latest <= self.deadline_s]
        likely = curve[curve["run_s"] <= self.deadline_s]
        if not len(likely):
            raise InfeasibleError(
                f"no number of {count} looked at{among} ends within {time_words(self.deadline_s)}; the fastest: "
                f"{_told(_least(curve, 'run_s'), count)}. Give more time, fewer steps, or "
                f"{'loosen the other goals' if among else f'more {count}'}.",
                constraint="deadline",
            )
        return (safe, True) if len(safe) else (likely, False)


def knee_of(curve: pd.DataFrame, count: str, level: float = 0.9) -> Knee:
    """Return where more cores stop paying on a curve of `Goal.choose`.

    Examples
    --------
    >>> cores = np.array([1, 2, 4, 8, 16, 32])
    >>> seconds = 100 / cores + 10                        # time × core-hours ∝ p (100 / p + 10)², least at p = 10
    >>> curve = pd.DataFrame({"cores": cores, "run_s": seconds, "core_hours": seconds * cores / 3600})
    >>> knee_of(curve.assign(run_lower_s=0.99 * seconds, run_upper_s=1.01 * seconds), "cores")
    Knee(count=8, lower=8, upper=8, is_last=False, is_first=False, among='looked at')
    """
    from scipy.stats import norm

    counts = curve[count].to_numpy()
    product = np.log((curve["run_s"] * curve["core_hours"]).to_numpy(dtype=np.float64))
    width = np.log((curve["run_upper_s"] / curve["run_lower_s"]).to_numpy(dtype=np.float64))
    # The logarithm of time × core-hours has twice the error of that of the time. The interval is 2 z wide.
    error = np.nan_to_num(2 * width / (2 * norm.ppf(0.5 + level / 2)), posinf=0.0)
    drawn = product + error * np.random.default_rng(0).standard_normal((_DRAWS, len(counts)))
    found = np.sort(counts[np.argmin(drawn, axis=1)])
    tail = round((1 - level) / 2 * (_DRAWS - 1))
    best = int(counts[np.argmin(product)])
    lower, upper = min(best, int(found[tail])), max(best, int(found[-1 - tail]))
    last, first = best == counts.max(), best == counts.min() and best > 1
    return Knee(best, lower, upper, *((True, True) if len(counts) == 1 else (bool(last), bool(first))))


def reason_of(knee: Knee) -> str:
    """Return why the count at the knee is recommended, where there is no other goal.

    Examples
    --------
    >>> reason_of(Knee(16, 16, 16, is_last=True))
    'the largest number looked at, where more still pay'
    """
    if knee.is_last and knee.is_first:
        return f"the only number {knee.among}"
    if knee.is_last:
        return f"the largest number {knee.among}, where more still pay"
    if knee.is_first:
        return f"the smallest number {knee.among}, as more don't pay"
    return "beyond which more don't pay, as time × core-hours is least there"


def _runner_up(curve: pd.DataFrame, best: dict[str, float], count: str) -> dict[str, float] | None:
    """Return the row with the least time × core-hours of those on the front, other than the recommended one."""
    others = curve[_on_front(curve) & (curve[count] != best[count]).to_numpy()]
    return _least(others.assign(product=others["run_s"] * others["core_hours"]), "product") if len(others) else None


def _on_front(curve: pd.DataFrame) -> NDArray[np.bool_]:
    """Tell which rows no other row beats in both time and core-hours, shape (n,)."""
    time, cost = (curve[name].to_numpy(dtype=np.float64) for name in ("run_s", "core_hours"))
    order = np.lexsort((cost, time))
    cheapest_before = np.minimum.accumulate(np.concatenate([[np.inf], cost[order][:-1]]))
    kept = np.zeros(len(curve), dtype=np.bool_)
    kept[order] = cost[order] < cheapest_before
    return kept


def _trade(best: dict[str, float], other: dict[str, float], count: str) -> str:
    """Return what another row brings and costs against the recommended one."""
    faster, dearer = best["run_s"] / other["run_s"], other["core_hours"] / best["core_hours"]
    is_, takes = ("is", "takes") if other[count] == 1 else ("are", "take")
    brings = f"{is_} {faster:.2f} times as fast" if faster > 1 else f"{takes} {1 / faster:.2f} times as long"
    return f"{_many(other, count)} {brings}, at {dearer:.2f} times the core-hours"


def _among(kept: Sequence[str]) -> str:
    """Return the words for counts that keep to these goals."""
    return f" {' and '.join(kept)}" if kept else ""


def _used(curve: pd.DataFrame, efficiency: float, count: str, among: str) -> pd.DataFrame:
    used = curve[curve["efficiency"] >= efficiency]
    if len(used):
        return used
    raise InfeasibleError(
        f"no number of {count} looked at{among} has an efficiency of {_percent(efficiency)}; the best: "
        f"{_told(_row(curve, int(np.argmax(curve['efficiency']))), count)}. Lower --efficiency, or ask for fewer.",
        constraint="efficiency",
    )


def _within(curve: pd.DataFrame, column: str, most: float, unit: str, count: str, among: str) -> pd.DataFrame:
    if column not in curve:
        raise InputError("a budget in money needs a price: give --price, or price_per_core_hour in the machine's file")
    left = curve[curve[column] <= most]
    if len(left):
        return left
    best = _least(curve, column)
    raise InfeasibleError(
        f"no number of {count} looked at{among} stays within {most:g} {unit}; the cheapest: {_many(best, count)} with "
        f"{best[column]:.3g}. Give a larger budget or fewer steps.",
        constraint="budget",
    )


def _upper(row: dict[str, float], cost: str) -> float:
    """Return the upper bound of a cost, which is the time times what each second costs."""
    return row[cost] * row["run_upper_s"] / row["run_s"]


def _least(curve: pd.DataFrame, column: str) -> dict[str, float]:
    """Return the row with the smallest value of a column."""
    return _row(curve, int(np.argmin(curve[column].to_numpy(dtype=np.float64))))


def _row(curve: pd.DataFrame, at: int) -> dict[str, float]:
    numbers = curve.select_dtypes("number")
    return {str(name): float(value) for name, value in numbers.iloc[at].items()}


def _told(row: dict[str, float], count: str, unit: tuple[float, str] | None = None) -> str:
    return f"{_many(row, count)} {'takes' if row[count] == 1 else 'take'} {_takes(row, unit)}"


def _takes(row: dict[str, float], unit: tuple[float, str] | None = None) -> str:
    """Return what a row takes in time and core-hours, and its efficiency."""
    return (
        f"{time_words(row['run_s'], unit)} and {float(row['core_hours']):.3g} core-hours, at an efficiency of "
        f"{_percent(row['efficiency'])}"
    )


def _percent(share: float) -> str:
    return f"{100 * share:.0f} %"


def _many(row: dict[str, float], count: str) -> str:
    return f"{int(row[count])} {count if row[count] != 1 else count.removesuffix('s')}"


def time_words(seconds: float, unit: tuple[float, str] | None = None) -> str:
    """Return seconds as people write them, in a unit of `evenly.runs.durations`: ``"2.5 h"``.

    Examples
    --------
    >>> time_words(113.1), time_words(2832.0), time_words(2832.0, (3600.0, "h"))
    ('113 s', '47.2 min', '0.787 h')
    """
    size, name = unit or unit_of(seconds)
    number = seconds / size
    return f"{number:.0f} {name}" if number >= 1000 else f"{number:.3g} {name}"
