"""Tables of an assignment of cores, for the terminal and as plain values for JSON."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from statistics import NormalDist
from typing import TYPE_CHECKING, Any

import numpy as np
from rich.table import Table

from evenly.allocation.problem.noise import TOO_WIDE
from evenly.report.formatting import compact, percent, plain
from evenly.report.simulated_time import TimeUnit, Written, written
from evenly.report.tables.run import add_numbers, add_row, add_texts, new_table
from evenly.runs.units import step_name

if TYPE_CHECKING:
    from evenly.allocation.plan import Plan

__all__ = ["comparison_table", "curve_as_dict", "curve_table", "plan_as_dict", "plan_table"]

_OTHERS = {"fastest": "fastest on these cores", "current": "now", "proportional": "cores ∝ degrees of freedom"}
_SAVES = "saves: share of the time in the row above; efficiency: fewest core-hours of any row over those of this row"
#: Letters for the solvers' columns in a table of 80.
_ROOM, _ROOM_BESIDE_INTERVALS = 38, 22
#: A prediction below this share of the interval's middle is clearly not in the middle.
_SKEWED = 0.95
#: A step that is longer than its solvers make by less than this isn't spoken of.
_LONGER = 0.005
_UNKNOWN = "any"
_MEDIAN = "what is saved: the median, and an interval that allows for errors in the shapes of the curves"
_ALIKE = "may be as good: by the runs, a {} may take no longer with these counts than with the plan's"


def plan_table(plan: Plan, *, title: str = "", unit: TimeUnit | None = None) -> Table:
    """Return a table of the assignment: cores, time and waiting of each solver, and the totals for a step.

    Parameters
    ----------
    plan : Plan
        From `evenly.allocate`.
    title : str, optional
        The title above the table.
    unit : {"SYPD", "CHSY", "s/day"}, optional
        How times are written, where the plan knows what a step simulates. By default they are times of a step.

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
    alike = {name: f"{low} … {high}" for name, (low, high) in plan.within_noise.items() if low < high}
    how = written(unit, plan.step_days, [*plan.times.values(), plan.seconds])
    layout = plan.problem.layout
    times_in_a_step = {name: layout.seconds({one: float(one == name) for one in plan.cores}) for name in plan.cores}
    table = new_table(
        title, "\n".join([*([_ALIKE.format(step_name(plan.step_days))] if alike else []), *_notes(plan, how)])
    )
    add_texts(table, "solver")
    made = [name for way in plan.ways.values() for name in way]
    split = " × ".join(dict.fromkeys(made))
    add_numbers(
        table, "cores", *([split] if split else []), *(["may be as good"] if alike else []), how.heading, "waits"
    )
    for name, cores in plan.cores.items():
        between = [" × ".join(map(str, plan.ways.get(name, {}).values()))] if split else []
        between += [alike.get(name, "")] if alike else []
        # A rate of the whole step needs the solver's whole time in it.
        time = how.text(plan.times[name] * (1 if unit is None else times_in_a_step[name]), cores)
        add_row(table, name, str(cores), *between, time, percent(plan.waiting[name], 2))
    table.add_section()
    step = step_name(plan.step_days)
    steps = {step if unit is None else "together": plan.seconds}
    if plan.jitter is not None:
        steps = {f"{_steady(plan)} {step}": plan.seconds, f"mean {step}": plan.expected_seconds}
    for name, seconds in steps.items():
        add_row(table, name, str(plan.used), *[""] * (bool(split) + bool(alike)), how.text(seconds, _billed(plan)), "")
    return table


def _billed(plan: Plan) -> float:
    """Return the cores that are paid for."""
    return float(plan.machine.billed(plan.used))


def _inside(plan: Plan) -> str:
    """Say how much longer the solvers take inside coupled runs."""
    inside = plan.noise.inside
    if inside is None:
        return ""
    z = NormalDist().inv_cdf(0.5 + plan.noise.level / 2)
    each = []
    for name, factor in inside.factors.items():
        low, high = inside.interval(name, z)
        each.append(f"{name} {factor:.2f} ({low:.2f} … {high:.2f})")
    if inside.common:
        factor, (low, high) = next(iter(inside.factors.values())), inside.interval(next(iter(inside.factors)), z)
        return (
            f"times are {factor:.3f} times those of the components ({low:.3f} … {high:.3f}), as TOT Run Time of "
            f"{inside.runs} run{'s' * (inside.runs != 1)} tells"
            + (": it has what is in no component, such as the exchange of data" if factor > 1 else "")
        )
    if set(inside.factors.values()) == {1.0}:  # the curves themselves are those of the runs
        return (
            f"curves from {inside.runs} whole runs are right up to these factors: {', '.join(each)}; runs scatter by "
            f"{percent(inside.scatter)} around them"
        )
    return (
        f"in {inside.runs} coupled run{'s' * (inside.runs != 1)}, solvers take these multiples of their curves: "
        f"{', '.join(each)}{', beside the waiting' * (plan.jitter is not None)}; a run is taken to "
        f"scatter by {percent(inside.scatter)} around that"
    )


def _steady(plan: Plan) -> str:
    """Return what the step is called in which each solver takes the time that its model tells."""
    return "typical" if any(plan.noise.statistic_of(name) == "median" for name in plan.cores) else "steady"


def _notes(plan: Plan, how: Written) -> list[str]:
    notes, step = [], step_name(plan.step_days)
    if plan.is_guess:
        notes.append(
            f"this plan is a guess: {'; '.join(plan.extrapolated)}; --min and --max keep solvers to measured counts"
        )
    if plan.interval is not None:
        between = _between(plan.interval, how, _billed(plan))
        which = f"a {step}" if plan.jitter is None else f"a {_steady(plan)} {step}"
        notes.append(f"{percent(plan.noise.level)} interval of {which}: {between}{_remark(plan, between)}")
    most = plan.objective.max_seconds
    if plan.interval is not None and most is not None and plan.interval[1] > most:
        notes.append(
            f"the interval goes beyond the longest time allowed, {_allowed(most, plan.step_days)}: a tighter bound "
            "makes the plan surer"
        )
    if plan.interval is not None and plan.noise.scatter:
        notes.append(
            "the interval allows for a coupled run that differs from its solvers alone by "
            f"{percent(plan.noise.scatter)} (standard deviation), as 15 runs of IFS and NEMO did. With --coupled, this "
            "is learned from your own runs"
        )
    if plan.seconds > (1 + _LONGER) * plan.seconds_of_times:
        notes.append(
            f"a {step} likely takes {percent(plan.seconds / plan.seconds_of_times - 1)} longer than the time of its "
            "slowest solver above: another solver may be the slowest"
        )
    if plan.noise.inside is not None:
        notes.append(_inside(plan))
    if plan.jitter is not None:
        bounds = plan.expected_interval
        told = (
            "" if bounds is None else f" ({percent(plan.noise.level)} interval {_between(bounds, how, _billed(plan))})"
        )
        expected = f"{_said(plan.expected_seconds, how, _billed(plan))} on average{told}"
        notes.append(f"with steps that vary: {expected}, {percent(plan.jitter.loss, 2)} lost to waiting")
    balance = "" if plan.imbalance is None else f"imbalance {compact(plan.imbalance, 4)}, "
    notes.append(f"{balance}{compact(plan.core_hours)} core-hours per {step}")
    if plan.sypd is not None and plan.chsy is not None:
        notes.append(
            f"{compact(plan.sypd)} SYPD (simulated years per day); each year costs {compact(plan.chsy)} core-hours"
        )
    if plan.idle:
        notes.append(f"{plan.idle} of {plan.total} cores stay idle: {plan.idle_reason}")
    notes.extend(f"note: {text}" for text in (*(() if plan.is_guess else plan.extrapolated), *plan.failed))
    return notes


def comparison_table(plan: Plan, *, title: str = "", unit: TimeUnit | None = None) -> Table:
    """Return a table of the plan, the assignments that it was compared with, and the runner-up within noise.

    `unit` is that of `plan_table`.

    Examples
    --------
    >>> import evenly
    >>> from evenly.allocation.problem.noise import Compare
    >>> solvers = {"inner": lambda p: 60 / p, "outer": lambda p: 30 / p}
    >>> plan = evenly.allocate(solvers, cores=90, compare=Compare(current={"inner": 45, "outer": 45}))
    >>> comparison_table(plan).row_count
    2
    """
    unsure = any(other.interval for other in plan.versus.values())
    table = new_table(title, _MEDIAN if unsure else "")
    add_texts(table, "assignment", "cores")
    labels = _OTHERS | (
        {"fastest": f"fastest {_steady(plan)} {step_name(plan.step_days)}"} if plan.minimises_mean else {}
    )
    others = [(labels.get(name, name), other) for name, other in plan.versus.items()]
    runner_up = plan.runner_up
    own = plan.expected_seconds if plan.minimises_mean else plan.seconds
    rows = [(own, plan.cores), *((other.seconds, other.cores) for _, other in others)]
    rows += [(runner_up.seconds, runner_up.cores)] if runner_up else []
    how = written(unit, plan.step_days, [seconds for seconds, _ in rows])
    step = f"{'mean ' * plan.minimises_mean}{step_name(plan.step_days)}"
    heading = f"time per {step}" if unit is None else how.heading
    # Where core-hours are minimised or shown, they are what the plan saves.
    in_hours = unit == "CHSY" or plan.objective.minimise == "cost"
    billed = {n: float(plan.machine.billed(int(plan.problem.used(cores)))) for n, (_, cores) in enumerate(rows)}

    def saved(gain: float, row: int) -> float:
        return 1 - (1 - gain) * billed[0] / billed[row] if in_hours else gain

    add_numbers(table, heading, "core-hours saved" if in_hours else "the plan saves")
    texts = [how.text(seconds, billed[n]) for n, (seconds, _) in enumerate(rows)]
    add_row(table, "this plan", _listed(plan.cores), texts[0], "")
    for row, (label, other) in enumerate(others, 1):
        low_high = None if other.interval is None else (saved(other.interval[0], row), saved(other.interval[1], row))
        told = _saving(saved(other.gain, row), low_high)
        add_row(table, label + _too_many(plan, other.cores), _listed(other.cores), texts[row], told)
    if runner_up:
        gain = saved(1 - own / runner_up.seconds, len(rows) - 1)
        add_row(
            table,
            "runner-up, within noise",
            _listed({name: runner_up.cores[name] for name in plan.cores}),
            texts[-1],
            _saving(gain, None),
        )
    return table


def _too_many(plan: Plan, cores: Mapping[str, int]) -> str:
    used = int(plan.problem.used(cores))
    return f" (needs {used} cores, there are {plan.total})" if used > plan.total else ""


def _between(bounds: tuple[float, float], how: Written, cores: float) -> str:
    return how.between(bounds, cores) if bounds[1] <= TOO_WIDE * bounds[0] else _UNKNOWN


def _allowed(seconds: float, step_days: float | None) -> str:
    """Return the longest allowed time in the units in which it may have been given."""
    time = written(None, step_days, [seconds]).text(seconds, 1)
    return time if step_days is None else f"{time} ({written('SYPD', step_days, [seconds]).text(seconds, 1)} SYPD)"


def _said(seconds: float, how: Written, cores: float) -> str:
    """Return a time with a unit of its own, for a sentence."""
    return written(how.unit, how.step_days, [seconds]).text(seconds, cores) + (f" {how.unit}" if how.unit else "")


def _remark(plan: Plan, between: str) -> str:
    if between == _UNKNOWN:
        return ", the models extrapolate too far from the measurements"
    lower, upper = plan.interval or (plan.seconds, plan.seconds)
    told = plan.seconds > (1 + _LONGER) * plan.seconds_of_times  # a sentence of its own says it
    skewed = not told and plan.seconds < _SKEWED * np.sqrt(lower * upper)
    why = ", as it waits for the slowest of its solvers" if "max" in str(plan.problem.layout) else ""
    return f"; it is probably longer than predicted{why}" if skewed else ""


def _listed(cores: Mapping[str, int]) -> str:
    return ", ".join(f"{name} {count}" for name, count in cores.items())


def _saving(gain: float, bounds: tuple[float, float] | None) -> str:
    if bounds is None:
        return percent(gain, 2)
    low, high = (compact(round(100 * bound, 1), 2) for bound in bounds)
    if low == high:
        return percent(gain, 2)
    return f"{percent(gain, 2)} ({low} … {high})"


def curve_table(plan: Plan, totals: Iterable[int], *, title: str = "", unit: TimeUnit | None = None) -> Table:
    """Return a table of the best assignments for several total numbers of cores.

    Parameters
    ----------
    plan : Plan
        From `evenly.allocate`, for the largest total.
    totals : iterable of int
        Totals up to the plan's own.
    title : str, optional
        The title above the table.
    unit : {"SYPD", "CHSY", "s/day"}, optional
        As in `plan_table`.

    Returns
    -------
    rich.table.Table
        If there are many solvers, their cores share one column. ``saves`` is the time saved against the row above, and
        ``efficiency`` is the fewest core-hours of any row over those of this row. A note tells rows in
        which a solver is extrapolated.
    """
    rows = curve_as_dict(plan, totals)["totals"]
    known = any(row["interval_seconds"] for row in rows)
    headed = {name: name.replace(" ", "\n") for name in plan.cores}
    wide = sum(max(5, *map(len, name.splitlines())) + 3 for name in headed.values())
    apart = wide <= (_ROOM_BESIDE_INTERVALS if known else _ROOM)
    beyond = ", ".join(str(row["total_cores"]) for row in rows if row["extrapolated"])
    told = f"note: with {beyond} cores, a solver is extrapolated: outside the range learned on"
    table = new_table(title, "\n".join([_SAVES, *([told] if beyond else [])]))
    add_numbers(table, "cores")
    for name in headed.values() if apart else ["solvers"]:
        table.add_column(name, justify="right" if apart else "left", overflow="fold", no_wrap=apart)
    how = written(unit, plan.step_days, [row["seconds"] for row in rows])
    headings = [how.heading, *([f"{percent(plan.noise.level)}\ninterval"] if known else []), "saves", "core-h"]
    add_numbers(table, *headings, "efficiency")
    for row in rows:
        shares = [str(n) for n in row["cores"].values()] if apart else [_listed(row["cores"])]
        billed = float(plan.machine.billed(row["used_cores"]))
        bounds = row["interval_seconds"]
        between = [_between(bounds, how, billed).removesuffix(f" {how.after}") if bounds else "–"] if known else []
        time = how.text(row["seconds"], billed)
        saved = "" if row["saved"] is None else percent(row["saved"], 2)
        cost = [saved, compact(row["core_hours"], 3), percent(row["efficiency"], 2)]
        add_row(table, str(row["total_cores"]), *shares, time, *between, *cost)
    return table


def plan_as_dict(plan: Plan) -> dict[str, Any]:
    """Return a plan as plain values for JSON. Times are in seconds, and costs in core-hours.

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
    """Return the best assignments for several totals, or the whole curve, as plain values for JSON.

    Examples
    --------
    >>> import evenly
    >>> plan = evenly.allocate({"inner": lambda p: 60 / p, "outer": lambda p: 30 / p}, cores=90)
    >>> [row["cores"] for row in curve_as_dict(plan, [30, 60])["totals"]]
    [{'inner': 20, 'outer': 10}, {'inner': 40, 'outer': 20}]
    """
    if totals is not None:
        return {"totals": _against_each_other([_row(plan.at(total), total) for total in totals])}
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
            "simulated_years_per_day": plan.sypd,
            "core_hours_per_simulated_year": plan.chsy,
            "extrapolated": list(plan.extrapolated),
            "failed": list(plan.failed),
        }
    )
    return found


def _against_each_other(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Add to each row the share of time that it saves against the row before it, and its efficiency among all rows."""
    cheapest = min((row["core_hours"] for row in rows), default=1.0)
    before = [None, *(row["seconds"] for row in rows)]
    return [
        {
            **row,
            "saved": None if last is None else 1.0 - row["seconds"] / last,
            "efficiency": cheapest / row["core_hours"],
        }
        for row, last in zip(rows, before, strict=False)
    ]


def _of_curve(row: Mapping[Any, Any], names: Iterable[str]) -> dict[str, Any]:
    shares = {name: int(row[f"cores[{name}]"]) for name in names}
    others = {str(key): value for key, value in row.items() if not str(key).startswith("cores")}
    found: dict[str, Any] = plain({"total_cores": int(row["cores"]), "cores": shares, **others})
    return found
