"""How an FDTD simulation scales: run time, communication, the time of each rank, rates.

The figures are the usual ones for the scaling of parallel FDTD: run time against the number of ranks, beside the
ideal; the ratio of communication to computation, and where it crosses one; the time of each rank for stepping, Fourier
transforms and waiting; and mean inverse times. Mean inverse times grow linearly if the scaling is ideal.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator, NullLocator, ScalarFormatter

from evenly.fdtd.scaling.study import ScalingPoint, ScalingStudy, Statistic
from evenly.report.formatting import compact, percent, ranks_text
from evenly.report.plots.fdtd_run import PHASE_COLOURS
from evenly.report.plots.style import (
    GREY,
    INK,
    PALETTE,
    above_zero,
    legend_below,
    new_figure,
    one_panel,
    points_with_bars,
    quantity_axis,
    rank_axis,
    set_title,
    tidy,
)

__all__ = ["plot_per_rank", "plot_rates", "plot_ratio", "plot_run_time", "plot_scaling"]

_DASHES = (0, (4, 2))


def plot_scaling(study: ScalingStudy) -> dict[str, Figure]:
    """Return all figures of a study by name.

    Parameters
    ----------
    study : ScalingStudy
        From `evenly.fdtd.scaling.runs.run_study`.
    """
    return {
        f"{study.name}-scaling-time": plot_run_time(study),
        f"{study.name}-scaling-ratio": plot_ratio(study),
        f"{study.name}-scaling-ranks": plot_per_rank(study),
        f"{study.name}-scaling-rates": plot_rates(study),
    }


def plot_run_time(study: ScalingStudy) -> Figure:
    """Show the time of a run against the number of ranks, beside the ideal time, which is inverse to the ranks."""
    figure, axes = _figure(study)
    ranks = np.array(study.ranks, dtype=np.float64)
    values = [point.run_s for point in study.points]
    measured = _draw(axes, ranks, values, PALETTE[0], "run time")
    ideal = values[0].mean * ranks[0] / ranks
    (line,) = axes.plot(ranks, ideal, color=GREY, linewidth=1.2, linestyle=_DASHES, gid="ideal", zorder=2)
    quantity_axis(axes, "y", f"time of {study.steps} steps", "s", [*ideal, *(v.mean for v in values)], log=True)
    best = study.fastest
    finding = (
        f"{study.name}: fastest on {best.ranks} ranks, {compact(best.speedup, 3)} × as fast as on {study.ranks[0]}"
    )
    if best.ranks == study.ranks[0]:
        finding = f"{study.name}: fastest on {ranks_text(best.ranks)}, more don't help"
    detail = f"{study.clock_label}; efficiency {percent(best.efficiency, 2)} on {best.ranks}{_bars(values)}"
    set_title(figure, finding, detail)
    legend_below(figure, {"measured": measured, "ideal (inverse to ranks)": line})
    return figure


def plot_ratio(study: ScalingStudy) -> Figure:
    """Show the ratio of the mean times of communication and computation, and where it crosses one."""
    figure, axes = _figure(study)
    points = [p for p in study.points if p.ratio.count and p.ratio.mean > 0]
    values = [point.ratio for point in points]
    ranks = np.array([point.ranks for point in points], dtype=np.float64)
    measured = _draw(axes, ranks, values, PALETTE[1], "ratio")
    one = axes.axhline(1.0, color=GREY, linewidth=1.2, linestyle=_DASHES, gid="one", zorder=2)
    handles = {"measured": measured, "as much of both": one}
    crossing = study.crossover
    if crossing is not None:
        (mark,) = axes.plot([crossing], [1.0], "*", color=INK, markersize=13, gid="crossover", zorder=5)
        handles[f"crossover at {compact(crossing, 3)} ranks"] = mark
    means = [v.mean for v in values]
    quantity_axis(axes, "y", "communication / computation", "1", [*means, 1.0], log=True)
    if means:
        axes.set_ylim(min(*means, 0.7) / 1.6, max(*means, 1.0) * 1.6)
    said = "communication never takes as long as computation"
    if crossing is not None:
        said = f"from {compact(crossing, 3)} ranks on, communication takes longer than computation"
    set_title(figure, f"{study.name}: {said}", f"{study.clock_label}, means over ranks{_bars(values)}")
    legend_below(figure, handles)
    return figure


def plot_per_rank(study: ScalingStudy, ranks: int | None = None) -> Figure:
    """Show the time of each rank for stepping, Fourier transforms and waiting.

    Parameters
    ----------
    study : ScalingStudy
    ranks : int, optional
        The run with this number of ranks is shown; by default, the run with the most ranks.
    """
    chosen = study.ranks[-1] if ranks is None else ranks
    times = study.per_rank(chosen)
    figure = new_figure(max(5.4, min(12.0, 3.0 + 0.3 * chosen)), 6.2)
    panels = figure.subplots(3, 1, sharex=True)
    places = np.arange(chosen)
    groups = (("stepping", "stepping"), ("Fourier", "fourier"), ("waiting", "waiting"))
    largest = max(getattr(t, key).mean for t in times for _, key in groups)
    for axes, (name, key) in zip(panels, groups, strict=True):
        values = [getattr(t, key) for t in times]
        tidy(axes)
        axes.bar(places, [v.mean for v in values], width=0.75, color=PHASE_COLOURS[name], zorder=3, gid=name)
        if values[0].count > 1:
            means, spread = [v.mean for v in values], [v.deviation for v in values]
            bars = above_zero(means, spread)
            axes.errorbar(places, means, yerr=bars, fmt="none", ecolor=INK, elinewidth=0.9, capsize=2, zorder=4)
        quantity_axis(axes, "y", name, "s", [*(v.mean + v.deviation for v in values), largest])
        axes.yaxis.set_major_locator(MaxNLocator(4))
        _in_unit(axes, name, largest)
        axes.set_ylim(0, None)
    rank_axis(panels[-1], chosen)
    figure.align_ylabels(list(panels))
    set_title(figure, _uneven(study, chosen), f"{study.clock_label}, {study.steps} steps{_bars([times[0].stepping])}")
    return figure


def _in_unit(axes: Axes, name: str, largest: float) -> None:
    """Give all panels the unit of the largest value, so that their heights can be compared."""
    from matplotlib.ticker import FuncFormatter

    from evenly.report.formatting import prefix_for

    factor, prefix = prefix_for([largest], "s")
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _position: compact(value / factor, 3)))
    axes.set_ylabel(f"{name} ({prefix})", fontsize=10, color=INK)


def _uneven(study: ScalingStudy, ranks: int) -> str:
    imbalance = next(point.imbalance.mean for point in study.points if point.ranks == ranks)
    if ranks == 1:
        return f"{study.name} on 1 rank"
    return f"{study.name} on {ranks} ranks: the slowest works {compact(imbalance, 3)} × the mean"


def plot_rates(study: ScalingStudy) -> Figure:
    """Show inverse times of stepping and of Fourier transforms: mean and spread over ranks and repeats."""
    figure = new_figure(6.4, 6.0)
    panels = figure.subplots(2, 1, sharex=True)
    ranks = np.array(study.ranks, dtype=np.float64)
    rows = (("stepping", [p.stepping_rate for p in study.points]), ("Fourier", [p.fourier_rate for p in study.points]))
    handles: dict[str, Any] = {}
    for axes, (name, values) in zip(panels, rows, strict=True):
        tidy(axes)
        there = np.array([v.count > 0 and np.isfinite(v.mean) for v in values])
        axes.set_ylabel(f"1 / {name} time (1/s)", fontsize=10, color=INK)
        if not there.any():
            axes.text(0.5, 0.5, f"no {name} time", transform=axes.transAxes, ha="center", color=GREY)
            continue
        known = [v for v, is_there in zip(values, there, strict=True) if is_there]
        bars = _draw(axes, ranks[there], known, PHASE_COLOURS[name], name)
        handles.setdefault("mean ± standard deviation over ranks and repeats", bars)
        ideal = known[0].mean * ranks / ranks[there][0]
        (handles["linear"],) = axes.plot(ranks, ideal, color=GREY, linewidth=1.2, linestyle=_DASHES, gid="ideal")
        axes.set_ylim(0, None)
        axes.set_xlim(0, ranks.max() * 1.05)
    panels[-1].set_xlabel("ranks", fontsize=10, color=INK)
    panels[-1].set_xticks(study.ranks)
    figure.align_ylabels(list(panels))
    set_title(figure, f"{study.name}: {_growth(study.points)}", study.clock_label)
    legend_below(figure, handles)
    return figure


def _growth(points: Sequence[ScalingPoint]) -> str:
    first, last = points[0], points[-1]
    if first.ranks == last.ranks or not first.stepping_rate.mean > 0:
        return "rates of stepping and of Fourier transforms"
    gain = last.stepping_rate.mean / first.stepping_rate.mean
    return f"{compact(last.ranks / first.ranks, 3)} × the ranks step {compact(gain, 3)} × as fast"


def _figure(study: ScalingStudy) -> tuple[Figure, Axes]:
    figure, axes = one_panel(6.4, 4.4, grid="both")
    axes.set_xscale("log")
    axes.xaxis.set_major_formatter(ScalarFormatter())
    axes.xaxis.set_minor_locator(NullLocator())
    axes.set_xticks(study.ranks, [str(n) for n in study.ranks])
    axes.set_xlabel("ranks", fontsize=10, color=INK)
    return figure, axes


def _draw(axes: Axes, ranks: Any, values: Sequence[Statistic], colour: str, gid: str) -> Any:
    means, spread = np.array([v.mean for v in values]), np.array([v.deviation for v in values])
    return points_with_bars(axes, ranks, means, spread, colour=colour, gid=gid, marks="o-")


def _bars(values: Sequence[Statistic]) -> str:
    count = max((v.count for v in values), default=0)
    return f"; bars: standard deviation of {count} repeats" if count > 1 else ""
