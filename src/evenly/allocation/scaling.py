"""Scaling curve of a problem: time, cost and efficiency against total cores, and its knee.

The knee is the total with the largest efficiency over time (Eager, Zahorjan and Lazowska, "Speedup versus efficiency in
parallel systems", 1989). Below the knee, more cores shorten the time by a larger factor than they lower efficiency.
"""

from __future__ import annotations

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from evenly.allocation.problem.base import Balancer, Problem
from evenly.allocation.problem.curves import Front
from evenly.allocation.problem.objective import Objective, core_hours
from evenly.errors import InfeasibleError
from evenly.machine.machine import Machine

__all__ = ["best_total", "curve_of", "totals"]

Ints = NDArray[np.int64]

#: With fewer totals than `_ALL`, each is computed; otherwise `_SOME` of them, in equal ratios.
_ALL = 512
_SOME = 256
#: Totals per round of the grid refinement, between the neighbours of the best total.
_ADDED = 34
#: Fraction of all cores: more idle cores than this show that the curve ends because more cores do not help.
_CLEARLY_MORE = 0.1
_JOULES_PER_CORE_HOUR_AND_WATT = 3600.0


def totals(problem: Problem, always: tuple[int, ...] = ()) -> Ints:
    """Return totals (n,) from the fewest to all cores: every total up to 512 of them, else 256 in equal ratios.

    With equal ratios, the totals in `always` are added.
    """
    first = int(problem.used(problem.fewest()))
    if problem.cores - first < _ALL:
        return np.arange(first, problem.cores + 1)
    spread = np.rint(np.geomspace(first, problem.cores, _SOME)).astype(np.int64)
    return np.unique(np.concatenate([spread, [total for total in always if first <= total <= problem.cores]]))


def curve_of(problem: Problem, balancer: Balancer, machine: Machine, always: tuple[int, ...] = ()) -> pd.DataFrame:
    """Return time against total cores, one row per assignment.

    Returns
    -------
    DataFrame
        Columns: ``cores`` (used in total), ``seconds`` per step, ``cores[name]`` of each solver, ``core_hours`` per
        step as billed, ``cost`` where the machine has a price, ``joules`` where it has a power, ``efficiency``
        (fewest core-hours of any row over those of this row) and ``knee`` (true in one row, or in none where the curve
        has no knee). See `totals` for the totals. Totals that give an assignment a second time, since they would only
        leave more cores idle, are left out.
    """
    asked = totals(problem, always)
    found = balancer.assign_all(problem, asked)
    table = pd.DataFrame({"cores": problem.used(found), "seconds": problem.seconds(found)})
    for name in problem.curves:
        table[f"cores[{name}]"] = found[name]
    table = table.drop_duplicates("cores").reset_index(drop=True)
    hours = core_hours(table["cores"].to_numpy(), table["seconds"].to_numpy(), machine)
    table["core_hours"] = hours
    if machine.price_per_core_hour is not None:
        table["cost"] = hours * machine.price_per_core_hour
    if machine.watts_per_core is not None:
        table["joules"] = hours * machine.watts_per_core * _JOULES_PER_CORE_HOUR_AND_WATT
    table["efficiency"] = hours.min() / hours
    table["knee"] = np.arange(len(table)) == _knee(problem, table, hours)
    return table


def _knee(problem: Problem, table: pd.DataFrame, hours: NDArray[np.float64]) -> int:
    """Return the row of the knee, or -1 where efficiency over time is largest at an end of the table."""
    # Efficiency over time is largest where core-hours times seconds is smallest.
    best = int(np.argmin(hours * table["seconds"].to_numpy()))
    if 0 < best < len(table) - 1:
        return best
    # The last row is a true knee where many more cores were available but would not make a step faster.
    idle = problem.cores - int(table["cores"].iloc[-1])
    steps = sum(counts.step for c in problem.curves.values() if isinstance(counts := c.counts, range))
    return best if best and idle > max(_CLEARLY_MORE * problem.cores, steps) else -1


def best_total(problem: Problem, balancer: Balancer, objective: Objective, machine: Machine) -> int:
    """Return the total number of cores that is best for an objective.

    Where the balancer gives no front, the total is found by grid refinement. It starts with totals in equal ratios and
    refines around the best one. The result is exact if the cost has a single minimum between the best total's
    neighbours.

    Raises
    ------
    InfeasibleError
        If no total keeps to the objective's constraints.
    """
    front = balancer.front(problem)
    if front is not None:
        return int(front.cores[objective.choose(front, machine)])
    asked = totals(problem)
    front = _front_at(problem, balancer, asked)
    while True:
        try:
            best = objective.choose(front, machine)
        except InfeasibleError as error:
            # The grid contains the largest total, so only a bound on cost can hold between the grid's totals without
            # holding at one of them. Then the refinement continues around the cheapest total.
            if error.constraint != "max_core_hours":
                raise
            best = int(np.argmin(core_hours(front.cores, front.seconds, machine)))
        # Grid refinement: add totals between the neighbours of the best one, until no total is left between them.
        low, high = int(asked[max(best - 1, 0)]), int(asked[min(best + 1, len(asked) - 1)])
        finer = np.unique(np.rint(np.linspace(low, high, _ADDED)).astype(np.int64))
        new = finer[~np.isin(finer, asked)]
        if not len(new):
            return int(asked[objective.choose(front, machine)])
        asked, front = _joined(asked, front, new, _front_at(problem, balancer, new))


def _front_at(problem: Problem, balancer: Balancer, asked: Ints) -> Front:
    found = balancer.assign_all(problem, asked)
    return Front(np.asarray(problem.used(found), dtype=np.int64), np.asarray(problem.seconds(found)))


def _joined(asked: Ints, front: Front, new: Ints, more: Front) -> tuple[Ints, Front]:
    order = np.argsort(np.concatenate([asked, new]), kind="stable")
    cores, seconds = np.concatenate([front.cores, more.cores]), np.concatenate([front.seconds, more.seconds])
    return np.concatenate([asked, new])[order], Front(cores[order], seconds[order])
