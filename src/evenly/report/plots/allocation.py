"""Figures of an assignment of cores: time and cost against total cores, and a timeline of all cores."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from numpy.typing import NDArray

from evenly.allocation.balancers.proportional import ProportionalBalancer
from evenly.allocation.plan import Plan
from evenly.errors import InputError
from evenly.report.formatting import percent, quantity
from evenly.report.plots.style import (
    GREY,
    INK,
    PALETTE,
    Scaling,
    legend_below,
    new_figure,
    quantity_axis,
    set_title,
    solver_colours,
    tidy,
    value_axis,
)
from evenly.report.plots.timeline import CoupledStep, plot_timeline

__all__ = ["plot_curve", "plot_plan", "steps_of"]

Floats = NDArray[np.float64]
_INTERVALS = 48
#: Two lines closer than this hide each other; in per cent of the cores.
_SAME = 2.0
#: The colour of things that belong to no single solver.
_TIME = PALETTE[6]
_DASHES = (0, (4, 2))
_DOTS = (0, (1, 1.5))
_OTHERS = {
    "current": ("now", "s"),
    "proportional": ("cores ∝ degrees of freedom", "^"),
    "fastest": ("fastest on these cores", "v"),
}


def plot_curve(plan: Plan, *, first: int | None = None, log: Scaling = "auto") -> Figure:
    """Show time, core-hours and each solver's share of the cores against total cores.

    Parameters
    ----------
    plan : Plan
        From `evenly.allocate`. Marks show its own total, the knee, and the assignments that it was compared with.
    first : int, optional
        The smallest total number of cores. By default, it is a sixteenth of the cores that the plan could use.
    log : {"auto", "linear", "log"}
        The scale of cores, time and core-hours. ``"auto"`` is logarithmic if the cores span a factor of four or more.

    Returns
    -------
    Figure
        The line of time is dashed where a solver's model is outside its training range. If several uncertain solvers
        run at the same time, the line lies in the lower part of its band: see `Plan.interval`.

    Examples
    --------
    >>> import evenly
    >>> plan = evenly.allocate({"a": lambda p: 8 / p + 0.1, "b": lambda p: 4 / p}, cores=64)
    >>> [axes.get_ylabel() for axes in plot_curve(plan).axes]
    ['time per step (s)', 'core-hours', 'share of cores (%)']
    """
    lowest = plan.problem.cores / 16 if first is None else first
    curve = plan.curve[plan.curve["cores"] >= min(lowest, plan.used, plan.knee or plan.used)].reset_index(drop=True)
    totals = curve["cores"].to_numpy(dtype=np.float64)
    scale = log == "log" or (log == "auto" and bool(totals.max() >= 4 * totals.min()))
    figure = new_figure(6.4, 7.0)
    time, cost, shares = figure.subplots(3, 1, sharex=True, height_ratios=[2.2, 1.0, 1.4])
    handles = _draw_time(time, plan, curve, log=scale)
    _draw_cost(cost, curve, log=scale)
    handles |= _draw_shares(shares, plan, curve)
    for axes in (time, cost, shares):
        value_axis(axes, "x", "total cores" if axes is shares else "", "", totals, log=scale)
        axes.axvline(plan.used, color=INK, linewidth=0.9, zorder=1, gid="used")
        if plan.knee is not None:
            axes.axvline(plan.knee, color=GREY, linewidth=1.1, linestyle=_DOTS, zorder=1, gid="knee")
        axes.set_xlim(totals.min(), max(totals.max(), plan.used) * 1.03 + (totals.max() == totals.min()))
    set_title(figure, *_finding(plan))
    figure.align_ylabels([time, cost, shares])
    legend_below(figure, handles)
    return figure


def _finding(plan: Plan) -> tuple[str, str]:
    curve = plan.curve
    at = int(np.argmin(np.abs(curve["cores"].to_numpy() - plan.used)))
    efficiency = percent(float(curve["efficiency"].iloc[at]), 2)
    finding = f"{plan.used} cores: {quantity(plan.seconds, digits=3)} per step at {efficiency} efficiency"
    if plan.knee is None:
        return finding, f"no knee up to {plan.problem.cores} cores"
    if plan.knee == plan.used:
        return finding, "this is the knee of the curve: up to here, time falls faster than efficiency"
    knee = curve.loc[curve["knee"]].iloc[0]
    detail = f"knee at {int(knee['cores'])} cores: {quantity(float(knee['seconds']), digits=3)}"
    return finding, f"{detail} at {percent(float(knee['efficiency']), 2)} efficiency"


def _draw_time(axes: Axes, plan: Plan, curve: pd.DataFrame, *, log: bool) -> dict[str, Any]:
    tidy(axes)
    seconds = curve["seconds"].to_numpy(dtype=np.float64)
    handles: dict[str, Any] = {}
    line = _draw_line(axes, plan, curve)
    band = _intervals(plan, curve)
    if band is None:
        handles["time"] = line
    else:
        axes.fill_between(curve["cores"], band[0], band[1], color=_TIME, alpha=0.18, linewidth=0, gid="interval")
        patch = Patch(facecolor=_TIME, alpha=0.18, linewidth=0)
        handles[f"time and {percent(plan.noise.level)} interval"] = (patch, line)
    shown = [seconds, *(band or [])]
    quantity_axis(axes, "y", "time per step", "s", np.concatenate(shown), log=log)
    handles |= _mark_others(axes, plan)
    (handles["this plan"],) = axes.plot(
        plan.used, plan.seconds, "o", color=INK, markersize=7, linestyle="none", zorder=4, clip_on=False, gid="plan"
    )
    if plan.knee is not None:
        handles["knee"] = Line2D([], [], color=GREY, linewidth=1.1, linestyle=_DOTS)
    if _outside(plan, curve).any():
        handles["extrapolated"] = Line2D([], [], color=_TIME, linewidth=1.8, linestyle=_DASHES)
    if not log:
        axes.set_ylim(bottom=0)
    return handles


def _draw_line(axes: Axes, plan: Plan, curve: pd.DataFrame) -> Line2D:
    """Draw time against cores. The line is dashed where a model extrapolates."""
    totals, seconds = curve["cores"].to_numpy(dtype=np.float64), curve["seconds"].to_numpy(dtype=np.float64)
    outside = _outside(plan, curve)
    # The dashed part starts at the last point inside the range, so that the line has no gap.
    near = np.r_[outside[1:], False] | np.r_[False, outside[:-1]]
    dashed, solid = np.where(outside | near, seconds, np.nan), np.where(outside, np.nan, seconds)
    axes.plot(totals, dashed, color=_TIME, linewidth=1.8, linestyle=_DASHES, gid="extrapolated time")
    (line,) = axes.plot(totals, solid, color=_TIME, linewidth=1.8, gid="time")
    return line


def _outside(plan: Plan, curve: pd.DataFrame) -> NDArray[np.bool_]:
    """Return for each row whether a solver's model is outside its training range, shape (n,)."""
    beyond = np.zeros(len(curve), dtype=np.bool_)
    for name, solver in plan.problem.curves.items():
        beyond |= solver.extrapolates(curve[f"cores[{name}]"].to_numpy(dtype=np.int64))
    return beyond


def _mark_others(axes: Axes, plan: Plan) -> dict[str, Any]:
    """Mark the assignments that the plan was compared with, at the plan's total number of cores."""
    handles = {}
    for name, other in plan.versus.items():
        label, marker = _OTHERS.get(name, (name, "v"))
        total = int(plan.problem.used(other.cores))
        (handles[label],) = axes.plot(
            total, other.seconds, marker, color="white", markeredgecolor=INK, markersize=7, linestyle="none", zorder=3,
            clip_on=False, gid=name,
        )  # fmt: skip
    return handles


def _intervals(plan: Plan, curve: pd.DataFrame) -> tuple[Floats, Floats] | None:
    """Return bounds (n,) of the time for the rows of the curve; None if no uncertainty is known.

    Bounds are computed for a few rows. Between these rows, their ratio to the time is interpolated. So the time always
    lies within its bounds.
    """
    if plan.interval is None:
        return None
    rows = np.unique(np.linspace(0, len(curve) - 1, _INTERVALS).round().astype(np.int64))
    found = []
    for row in curve.iloc[rows].to_dict("records"):
        cores = {name: int(row[f"cores[{name}]"]) for name in plan.cores}
        bounds = Plan(plan.problem, cores, plan.balancer, machine=plan.machine, noise=plan.noise).interval
        found.append([bound / row["seconds"] for bound in bounds] if bounds else [1.0, 1.0])
    lower, upper = np.array(found, dtype=np.float64).T
    seconds, every = curve["seconds"].to_numpy(dtype=np.float64), np.arange(len(curve))
    return seconds * np.interp(every, rows, lower), seconds * np.interp(every, rows, upper)


def _draw_cost(axes: Axes, curve: pd.DataFrame, *, log: bool) -> None:
    tidy(axes)
    hours = curve["core_hours"].to_numpy(dtype=np.float64)
    axes.plot(curve["cores"], hours, color=_TIME, linewidth=1.8, gid="core-hours")
    quantity_axis(axes, "y", "core-hours", "1", hours, log=log and bool(hours.max() >= 4 * hours.min()))
    if axes.get_yscale() == "linear":
        axes.set_ylim(bottom=0, top=1.1 * hours.max())


def _draw_shares(axes: Axes, plan: Plan, curve: pd.DataFrame) -> dict[str, Any]:
    """Stack the solvers' shares if they add up to all cores; draw lines if solvers share cores."""
    tidy(axes)
    colours = solver_colours(plan.problem.names)
    totals = curve["cores"].to_numpy(dtype=np.float64)
    shares = {name: 100 * curve[f"cores[{name}]"].to_numpy(dtype=np.float64) / totals for name in colours}
    labels = {name: f"{name} ({plan.cores[name]})" for name in colours}
    handles: dict[str, Any] = {}
    if np.allclose(np.sum(list(shares.values()), axis=0), 100):
        axes.stackplot(totals, *shares.values(), colors=list(colours.values()), alpha=0.85, linewidth=0)
        handles = {labels[name]: Patch(facecolor=colour, alpha=0.85) for name, colour in colours.items()}
    else:
        for (name, colour), width in zip(colours.items(), _widths(list(shares.values())), strict=True):
            (handles[labels[name]],) = axes.plot(
                totals, shares[name], color=colour, linewidth=width, gid=f"share of {name}"
            )
    quantity_axis(axes, "y", "share of cores (%)", "1", [0.0, 100.0])
    axes.set_yticks([0, 25, 50, 75, 100])
    axes.set_ylim(0, 102)
    return handles


def _widths(lines: list[Floats]) -> list[float]:
    """Return line widths such that each line is visible below the lines that are drawn later."""
    covering = [
        sum(np.mean(np.abs(line - later) < _SAME) > 0.25 for later in lines[i + 1 :]) for i, line in enumerate(lines)
    ]
    return [1.8 + 1.7 * min(int(count), 4) for count in covering]


# ---- before and after ---------------------------------------------------------------------------------------


def plot_plan(plan: Plan, before: Mapping[str, int] | str = "auto", *, count: int = 3) -> Figure:
    """Show a few coupled steps under another assignment and under the plan, on one time axis.

    Parameters
    ----------
    plan : Plan
        From `evenly.allocate`.
    before : mapping of str to int, or word
        The other assignment: the cores of each solver; ``"current"`` or ``"proportional"``, if the plan was compared
        with them; ``"equal"`` shares; or ``"auto"``, the first of these three words that is available.
    count : int
        The number of steps to draw.

    Returns
    -------
    Figure

    Examples
    --------
    >>> import evenly
    >>> plan = evenly.allocate({"a": lambda p: 60 / p, "b": lambda p: 30 / p}, cores=90)
    >>> [axes.get_title(loc="left").split(":")[0] for axes in plot_plan(plan).axes]
    ['equal shares', 'evenly']
    """
    return plot_timeline(plan.problem.layout, *steps_of(plan, before), count=count)


def steps_of(plan: Plan, before: Mapping[str, int] | str = "auto") -> list[CoupledStep]:
    """Return the assignment `before` (see `plot_plan`) and that of the plan, with their times."""
    label, cores = _before(plan, before)
    times = plan.problem.times(cores)
    earlier = CoupledStep(label, cores, {name: float(seconds) for name, seconds in times.items()})
    return [earlier, CoupledStep("evenly", plan.cores, plan.times)]


def _before(plan: Plan, before: Mapping[str, int] | str) -> tuple[str, Mapping[str, int]]:
    if not isinstance(before, str):
        return "before", before
    for word in ("current", "proportional"):
        if before in (word, "auto") and word in plan.versus:
            return _OTHERS[word][0], plan.versus[word].cores
    if before in ("equal", "auto"):
        alike = dataclasses.replace(plan.problem, degrees_of_freedom=dict.fromkeys(plan.cores, 1.0))
        return "equal shares", ProportionalBalancer().assign(alike)
    known = ", ".join(["auto", "equal", *plan.versus])
    raise InputError(f"before must be one of {known}, or the cores of each solver, but got {before!r}")
