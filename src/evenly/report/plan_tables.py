"""Tables of an assignment of cores, for the terminal and for machines."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from rich.table import Table

from evenly.balance.plan import Plan
from evenly.report.formatting import common_prefix, compact, interval, percent, plain, quantity
from evenly.report.run_tables import add_row, new_table

__all__ = ["comparison_table", "curve_as_dict", "curve_table", "plan_as_dict", "plan_table"]

_OTHERS = {"current": "now", "proportional": "cores ∝ degrees of freedom"}


def plan_table(plan: Plan, *, title: str = "") -> Table:
    """Show the assignment: per solver its cores, time and waiting, and below what that means for a step.

    Parameters
    ----------
    plan : Plan
        From `evenly.allocate`.
    title : str, optional
        Above the table.

    Returns
    -------
    rich.table.Table

    Examples
    --------
    >>> import evenly
    >>> plan = evenly.allocate({"inner": lambda p: 60 / p, "outer": lambda p: 30 / p}, cores=90)
    >>> plan_table(plan).row_count
    3
    """
    table = new_table(title, "\n".join(_notes(plan)))
    table.add_column("solver", overflow="fold")
    for heading in ("cores", "as good with", "time", "waits"):
        table.add_column(heading, justify="right", no_wrap=True)
    factor, prefix = common_prefix([*plan.times.values(), plan.seconds])
    for name, cores in plan.cores.items():
        ends = plan.within_noise.get(name, (cores, cores))
        alike = "" if ends[0] == ends[1] else f"{ends[0]} … {ends[1]}"
        seconds = f"{compact(plan.times[name] / factor)} {prefix}"
        add_row(table, name, str(cores), alike, seconds, percent(plan.waiting[name], 2))
    table.add_section()
    add_row(table, "step", str(plan.used), "", f"{compact(plan.seconds / factor)} {prefix}", "")
    return table


def _notes(plan: Plan) -> list[str]:
    notes = []
    if plan.interval is not None:
        notes.append(f"{percent(plan.noise.level)} interval of a step: {interval(*plan.interval)}")
    if plan.jitter is not None:
        expected = quantity(plan.expected_seconds)
        notes.append(f"with steps that vary: {expected} per step, {percent(plan.jitter.loss, 2)} lost to waiting")
    notes.append(f"imbalance {compact(plan.imbalance, 4)}, {compact(plan.core_hours)} core-hours per step")
    if plan.idle:
        notes.append(f"{plan.idle} of {plan.problem.cores} cores stay idle: they would not make a step faster")
    notes.extend(f"note: {text}" for text in plan.extrapolated)
    return notes


def comparison_table(plan: Plan, *, title: str = "") -> Table:
    """Show the plan beside the assignments it was compared with and the runner-up that is within noise.

    Examples
    --------
    >>> import evenly
    >>> from evenly.balance.noise import Compare
    >>> solvers = {"inner": lambda p: 60 / p, "outer": lambda p: 30 / p}
    >>> plan = evenly.allocate(solvers, cores=90, compare=Compare(current={"inner": 45, "outer": 45}))
    >>> comparison_table(plan).row_count
    2
    """
    table = new_table(title)
    table.add_column("assignment", overflow="fold")
    table.add_column("cores", overflow="fold")
    table.add_column("time per step", justify="right", no_wrap=True)
    table.add_column("the plan saves", justify="right", no_wrap=True)
    others = [(_OTHERS.get(name, name), other) for name, other in plan.versus.items()]
    runner_up = plan.runner_up
    seconds = [plan.seconds, *(other.seconds for _, other in others), *([runner_up.seconds] if runner_up else [])]
    factor, prefix = common_prefix(seconds)
    written = [f"{compact(value / factor)} {prefix}" for value in seconds]
    add_row(table, "this plan", _listed(plan.cores), written[0], "")
    for (label, other), text in zip(others, written[1:], strict=False):
        add_row(table, label, _listed(other.cores), text, _saving(other.gain, other.interval))
    if runner_up:
        gain = 1 - plan.seconds / runner_up.seconds
        add_row(
            table,
            "runner-up, within noise",
            _listed({name: runner_up.cores[name] for name in plan.cores}),
            written[-1],
            _saving(gain, None),
        )
    return table


def _listed(cores: Mapping[str, int]) -> str:
    return ", ".join(f"{name} {count}" for name, count in cores.items())


def _saving(gain: float, bounds: tuple[float, float] | None) -> str:
    if bounds is None:
        return percent(gain, 2)
    low, high = (compact(round(100 * bound, 1), 2) for bound in bounds)
    return f"{percent(gain, 2)} ({low} … {high})"


def curve_table(plan: Plan, totals: Iterable[int], *, title: str = "") -> Table:
    """Show the best assignment for several totals.

    Parameters
    ----------
    plan : Plan
        From `evenly.allocate`, for the largest total.
    totals : iterable of int
        At most the plan's own.
    title : str, optional
        Above the table.

    Returns
    -------
    rich.table.Table
        Where there are more than four solvers, their cores share one column.
    """
    rows = curve_as_dict(plan, totals)["totals"]
    table = new_table(title)
    table.add_column("cores", justify="right", no_wrap=True)
    apart = len(plan.cores) <= 4
    if apart:
        for name in plan.cores:
            table.add_column(name, justify="right", no_wrap=len(name) <= 8, overflow="fold")
    else:
        table.add_column("solvers", overflow="fold")
    known = any(row["interval_seconds"] for row in rows)
    headings = ["time", *([f"{percent(plan.noise.level)} interval"] if known else []), "core-hours", "imbalance"]
    for heading in headings:
        table.add_column(heading, justify="right", no_wrap=True)
    factor, prefix = common_prefix([row["seconds"] for row in rows])
    for row in rows:
        shares = [str(n) for n in row["cores"].values()] if apart else [_listed(row["cores"])]
        between = [interval(*row["interval_seconds"]) if row["interval_seconds"] else "–"] if known else []
        numbers = [compact(row["core_hours"]), compact(row["imbalance"])]
        add_row(
            table, str(row["total_cores"]), *shares, f"{compact(row['seconds'] / factor)} {prefix}", *between, *numbers
        )
    return table


def plan_as_dict(plan: Plan) -> dict[str, Any]:
    """Return all about a plan as plain values that JSON can hold; times in seconds, cost in core-hours.

    Examples
    --------
    >>> import evenly
    >>> plan = evenly.allocate({"inner": lambda p: 60 / p, "outer": lambda p: 30 / p}, cores=90)
    >>> found = plan_as_dict(plan)
    >>> found["cores"], found["seconds"]
    ({'inner': 60, 'outer': 30}, 1.0)
    """
    found: dict[str, Any] = plain(plan.to_dict())
    return found


def curve_as_dict(plan: Plan, totals: Iterable[int] | None = None) -> dict[str, Any]:
    """Return the best assignments for several totals, or the whole curve, as plain values that JSON can hold.

    Examples
    --------
    >>> import evenly
    >>> plan = evenly.allocate({"inner": lambda p: 60 / p, "outer": lambda p: 30 / p}, cores=90)
    >>> [row["cores"] for row in curve_as_dict(plan, [30, 60])["totals"]]
    [{'inner': 20, 'outer': 10}, {'inner': 40, 'outer': 20}]
    """
    if totals is not None:
        return {"totals": [_row(plan.at(total), total) for total in totals]}
    return {"knee_cores": plan.knee, "totals": [_of_curve(row, plan.cores) for row in plan.curve.to_dict("records")]}


def _row(plan: Plan, total: int) -> dict[str, Any]:
    found: dict[str, Any] = plain(
        {
            "total_cores": int(total),
            "used_cores": plan.used,
            "cores": plan.cores,
            "seconds": plan.seconds,
            "interval_seconds": plan.interval,
            "core_hours": plan.core_hours,
            "imbalance": plan.imbalance,
        }
    )
    return found


def _of_curve(row: Mapping[Any, Any], names: Iterable[str]) -> dict[str, Any]:
    shares = {name: int(row[f"cores[{name}]"]) for name in names}
    others = {str(key): value for key, value in row.items() if not str(key).startswith("cores")}
    found: dict[str, Any] = plain({"total_cores": int(row["cores"]), "cores": shares, **others})
    return found
