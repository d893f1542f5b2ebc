"""Plots of predicted and measured times."""

from __future__ import annotations

from collections.abc import Mapping
from statistics import median
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Patch
from matplotlib.ticker import FixedLocator

from evenly.demo.findings import Compared
from evenly.report.plots.style import GREY, INK, PALETTE, legend_below, one_panel, quantity_axis, set_title

__all__ = ["plot_ranks", "plot_steps"]

_PREDICTED, _CPU, _WAITING = PALETTE[0], PALETTE[1], "#D0D0D0"


def plot_steps(compared: Mapping[str, Compared], finding: str) -> Figure:
    """Plot the seconds per step of each layout: the prediction with its interval, and every measured run."""
    figure, axes = one_panel(5.6, 1.5 + 0.62 * len(compared), grid="x")
    shown: list[float] = [0.0]
    handles: dict[str, Any] = {}
    for row, one in enumerate(compared.values()):
        low, high, middle = (one.predicted[name] for name in ("lower_s", "upper_s", "step_s"))
        handles["predicted, 9 of 10 within"] = axes.barh(
            row - 0.14, high - low, left=low, height=0.2, color=_PREDICTED, alpha=0.3, gid="interval", zorder=2
        )
        axes.plot([middle] * 2, [row - 0.28, row], color=_PREDICTED, linewidth=2.5, gid="predicted", zorder=3)
        if one.runs:
            times = one.paced_s
            (handles["measured, each run"],) = axes.plot(
                times, [row + 0.18] * len(times), "o", color=_CPU, markersize=5.5, alpha=0.75, gid="measured", zorder=4
            )
            axes.plot([median(times)] * 2, [row + 0.04, row + 0.32], color=_CPU, linewidth=2.5, zorder=3)
        shown += [high, *one.paced_s]
    _name_rows(axes, list(compared))
    quantity_axis(axes, "x", "time per step, at the pace of the calibration", "s", shown)
    axes.set_xlim(0, 1.05 * max(shown))
    set_title(figure, finding)
    legend_below(figure, handles)
    return figure


def plot_ranks(compared: Mapping[str, Compared], finding: str) -> Figure:
    """Plot for each rank the predicted computing time, the CPU time, and the wall time with waiting."""
    names = [f"{name}, rank {rank}" for name, one in compared.items() for rank in range(one.seen.ranks)]
    figure, axes = one_panel(5.6, 1.4 + 0.58 * len(names), grid="x")
    places = np.arange(len(names), dtype=np.float64)
    predicted = np.concatenate([one.seen.load.seconds for one in compared.values()])
    cpu = np.concatenate([one.busy_s("cpu") for one in compared.values()])
    work = np.concatenate([one.busy_s("wall") for one in compared.values()])
    whole = np.concatenate([one.whole_s() for one in compared.values()])
    for offset, values, colour, gid in ((-0.26, predicted, _PREDICTED, "predicted"), (0.0, cpu, _CPU, "cpu"),
                                        (0.26, work, PALETTE[4], "wall")):  # fmt: skip
        axes.barh(places + offset, values, height=0.23, color=colour, gid=gid, zorder=3)
    axes.barh(
        places + 0.26, whole - work, left=work, height=0.23, color=_WAITING, hatch="////", edgecolor="white",
        linewidth=0, gid="waiting", zorder=3,
    )  # fmt: skip
    _name_rows(axes, names)
    quantity_axis(axes, "x", "time per step", "s", [0.0, *predicted, *cpu, *whole])
    set_title(figure, finding)
    colours = {"predicted work": _PREDICTED, "its CPU time": _CPU, "its wall time": PALETTE[4], "waiting": _WAITING}
    legend_below(figure, {name: Patch(color=colour) for name, colour in colours.items()})
    return figure


def _name_rows(axes: Axes, names: list[str]) -> None:
    axes.yaxis.set_major_locator(FixedLocator(list(range(len(names)))))
    axes.set_yticklabels(names, fontsize=9, color=INK)
    axes.set_ylim(len(names) - 0.45, -0.55)
    axes.tick_params(axis="y", length=0)
    axes.spines["left"].set_color(GREY)
