"""Figures of a search, and of the sensitivity to each parameter."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import FuncFormatter

from evenly.report.formatting import percent, quantity, value_text
from evenly.report.plots.style import (
    GREY,
    INK,
    PALETTE,
    escape,
    legend_below,
    new_figure,
    one_panel,
    quantity_axis,
    set_title,
    tidy,
    value_axis,
)
from evenly.report.tables.tuning import configuration_text
from evenly.tuning.result import Result
from evenly.tuning.sensitivity import Sensitivity
from evenly.tuning.strategy_comparison import StrategyComparison

__all__ = ["plot_comparison", "plot_search", "plot_sensitivity", "plot_sensitivity_over_tasks"]

#: Measures of sensitivity: column, column of the standard deviation, and label.
_MEASURES = (
    ("refitted", "refitted_sd", "error without it, refitted (+%)"),
    ("left_out", "left_out_sd", "error on runs left out (+%)"),
)
#: If there are more tasks than this, they have no colours of their own.
_MOST_TASKS = len(PALETTE)


def plot_search(result: Result) -> Figure:
    """Show the time of each run, and the fastest time so far.

    Crosses at the top are failed runs. Triangles are runs that were ended early, at the time that they had taken. If
    several tasks are searched together, each has its own colour.

    Parameters
    ----------
    result : Result

    Examples
    --------
    >>> from evenly import Integer, Space, tune
    >>> result = tune(Space(n=Integer(1, 9)), lambda at: 1.0 + (at["n"] - 4) ** 2, budget=6)
    >>> plot_search(result).axes[0].get_xlabel()
    'configurations run'
    """
    figure, axes = one_panel()
    table = result.history.assign(run=np.arange(1, len(result.history) + 1))
    shown = table["seconds"].where(table["status"] == "ok").fillna(table["at_least"])
    groups = _tasks_of(result, table)
    for part, colour in zip(groups.values(), PALETTE, strict=False):
        _curve(axes, part, colour, float(shown.max()), len(table))
    quantity_axis(axes, "y", "time", "s", shown.dropna(), log=True)
    value_axis(axes, "x", "configurations run", "", table["run"].to_numpy(dtype=np.float64))
    legend_below(figure, _legend(table, list(groups)))
    best = np.all([table[name] == value for name, value in result.best.items()], axis=0)
    at = int(table.loc[best, "run"].iloc[0])
    if len(groups) > 1:
        set_title(figure, f"{len(result.tasks)} tasks, {len(table)} configurations run")
    else:
        set_title(
            figure, f"{quantity(result.seconds)}, found in run {at} of {len(table)}", configuration_text(result.best)
        )
    return figure


def _tasks_of(result: Result, table: pd.DataFrame) -> dict[str, pd.DataFrame]:
    names = [name for name in result.task_names if table[name].nunique() > 1]
    if not names or not 1 < len(result.tasks) <= _MOST_TASKS:
        return {"": table}
    found = {}
    for values in result.tasks[names].itertuples(index=False, name=None):
        there = np.all([table[name] == value for name, value in zip(names, values, strict=True)], axis=0)
        found[configuration_text(dict(zip(names, values, strict=True)))] = table[there]
    return found


def _curve(axes: Axes, part: pd.DataFrame, colour: str, top: float, end: int) -> None:
    well = part[part["status"] == "ok"]
    late = part[part["status"] == "timed out"].dropna(subset=["at_least"])
    failed = part[part["status"] == "failed"]
    axes.plot(well["run"], well["seconds"], "o", color=colour, markersize=4.5, alpha=0.55, markeredgewidth=0, zorder=3)
    axes.plot(late["run"], late["at_least"], "^", color=colour, markersize=5, markerfacecolor="none", zorder=3)
    axes.plot(failed["run"], [top] * len(failed), "x", color=colour, markersize=5, zorder=3)
    if len(well):
        best = well["seconds"].cummin()
        runs = [*well["run"], end]
        axes.step(runs, [*best, best.iloc[-1]], where="post", color=colour, linewidth=1.8, zorder=4)


def _legend(table: pd.DataFrame, groups: list[str]) -> dict[str, Any]:
    def mark(marker: str, colour: str = GREY, line: Any = "") -> Any:
        return Line2D([], [], color=colour, marker=marker, linestyle=line, markersize=5)

    found: dict[str, Any] = {}
    if len(groups) > 1:
        found = {name: mark("o", colour, "-") for name, colour in zip(groups, PALETTE, strict=False)}
    else:
        found = {"a run": mark("o", PALETTE[0]), "the fastest so far": mark("", PALETTE[0], "-")}
    statuses = set(table["status"])
    if "timed out" in statuses:
        found["ended early"] = mark("^")
    if "failed" in statuses:
        found["failed"] = mark("x")
    return found


def plot_comparison(found: StrategyComparison) -> Figure:
    """Show how far each strategy is above the optimum after each run: the mean, and the middle half of its searches."""
    figure, axes = one_panel()
    runs, handles = np.arange(1, found.runs + 1, dtype=np.float64), {}
    for (name, above), colour in zip(found.above.items(), PALETTE, strict=False):
        low, high = np.quantile(100 * above, [0.25, 0.75], axis=0)
        axes.fill_between(runs, low, high, color=colour, alpha=0.15, linewidth=0)
        (handles[name],) = axes.plot(runs, 100 * above.mean(axis=0), color=colour, linewidth=1.8)
    axes.set_ylabel("above the optimum (%)", fontsize=10, color=INK)
    axes.set_yscale("symlog", linthresh=1)
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,g}"))
    axes.set_ylim(bottom=0)
    value_axis(axes, "x", "configurations run", "", runs)
    legend_below(figure, handles)
    best = min(found.above, key=lambda name: float(found.above[name][:, -1].mean()))
    reached = percent(float(found.above[best][:, -1].mean()))
    seeds = len(found.above[best])
    set_title(
        figure,
        f"{best} is {reached} above the optimum after {found.runs} runs",
        f"means of {seeds} searches, and the middle half",
    )
    return figure


def plot_sensitivity(found: Sensitivity, task: Hashable = "all") -> Figure:
    """Show how strongly each parameter affects the time of one task, with one panel per measure.

    The measures are those of `Sensitivity`: two permutation importances, and Sobol indices.

    Parameters
    ----------
    found : Sensitivity
    task : hashable
        A task of its table; ``"all"`` if the runs weren't separated by task.
    """
    table = found.table[found.table["task"] == task].sort_values("total")
    figure = new_figure(8.4, 1.9 + 0.34 * len(table))
    panels = figure.subplots(1, 3, sharey=True)
    places = np.arange(len(table))
    for axes, (name, deviation, label) in zip(panels, _MEASURES, strict=False):
        bars = {"color": PALETTE[0], "height": 0.62, "ecolor": INK, "capsize": 2, "error_kw": {"linewidth": 0.9}}
        axes.barh(places, table[name], xerr=table[deviation], **bars)
        axes.axvline(0, color=GREY, linewidth=0.8)
        axes.set_xlabel(label, fontsize=9, color=INK)
    panels[2].barh(places + 0.17, table["total"], height=0.32, color=PALETTE[5], label="with others")
    panels[2].barh(places - 0.17, table["first_order"], height=0.32, color=PALETTE[0], label="alone")
    panels[2].set_xlabel("share of the variance (Sobol)", fontsize=9, color=INK)
    panels[2].legend(frameon=False, fontsize=8, loc="lower right")
    for axes in panels:
        tidy(axes, grid="x")
    panels[0].set_yticks(places, [escape(str(name)) for name in table["parameter"]])
    first = table.iloc[-1]
    where = "" if found.task is None else f" at {found.task} = {value_text(task)}"
    explains = f"{first['parameter']} explains {percent(float(first['total']))} of the time's variation{where}"
    set_title(figure, explains, f"{int(first['runs'])} configurations")
    return figure


def plot_sensitivity_over_tasks(found: Sensitivity) -> Figure:
    """Show how strongly each parameter affects the time of each task."""
    task = str(found.task)
    table, order = found.table, found.ranked().index.tolist()
    figure = new_figure(8.4, 4.2)
    panels = figure.subplots(1, 2)
    tasks = list(dict.fromkeys(table["task"]))
    numeric = all(isinstance(value, int | float) for value in tasks)
    places = np.array(tasks if numeric else range(len(tasks)), dtype=np.float64)
    handles = {}
    for name, colour in zip(order, PALETTE, strict=False):
        rows = table[table["parameter"] == name].set_index("task").reindex(tasks)
        look: dict[str, Any] = {"color": colour, "marker": "o", "markersize": 4, "linewidth": 1.4}
        handles[name] = panels[0].errorbar(places, rows["refitted"], yerr=rows["refitted_sd"], capsize=2, **look)
        panels[1].plot(places, rows["total"], **look)
    log = numeric and bool(np.all(places > 0)) and places.max() / places.min() > 4
    for axes, label in zip(panels, (_MEASURES[0][2], "share of the variance, with others (Sobol)"), strict=True):
        tidy(axes)
        value_axis(axes, "x", task, "", places, log=log)
        axes.set_ylabel(label, fontsize=10, color=INK)
        if not numeric:
            axes.set_xticks(places, [escape(str(value)) for value in tasks])
    legend_below(figure, handles)
    set_title(figure, f"{order[0]} matters most over {len(tasks)} values of {task}")
    return figure
