"""Pictures of forecasts: time and cost against the number of ranks."""

from __future__ import annotations

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter

from evenly.decomposition.forecasting.forecast import Forecast
from evenly.report.formatting import compact, percent, quantity
from evenly.report.plots.style import GREY, INK, PALETTE, legend_below, one_panel, quantity_axis, set_title, value_axis

__all__ = ["plot_cost", "plot_forecast", "plot_time"]

_DASHES = (0, (4, 2))


def plot_forecast(found: Forecast) -> dict[str, Figure]:
    """Return all figures of a forecast by name."""
    return {f"{found.name}-forecast-time": plot_time(found), f"{found.name}-forecast-cost": plot_cost(found)}


def plot_time(found: Forecast) -> Figure:
    """Show the seconds per step with their interval, and how many of them are computing."""
    curve, best = found.curve, found.best
    ranks = curve["ranks"].to_numpy(dtype=np.float64)
    figure, axes = one_panel(6.4, 4.4, grid="both")
    band = axes.fill_between(
        ranks, curve["lower_s"], curve["upper_s"], color=PALETTE[0], alpha=0.18, linewidth=0, gid="interval", zorder=2
    )
    (total,) = axes.plot(ranks, curve["step_s"], "o-", color=PALETTE[0], markersize=4.5, gid="step", zorder=4)
    (computing,) = axes.plot(ranks, curve["computation_s"], color=PALETTE[1], linewidth=1.4, gid="computing", zorder=3)
    first = float(curve["step_s"].iloc[0])
    (ideal,) = axes.plot(ranks, first * ranks[0] / ranks, color=GREY, linestyle=_DASHES, linewidth=1.2, zorder=1)
    _mark(axes, found, best["step_s"])
    shown = [*curve["lower_s"], *curve["upper_s"]]
    log = _axis(axes, ranks)
    quantity_axis(axes, "y", "time per step", "s", shown, log=log)
    if log:
        axes.set_ylim(min(shown) / 2.5, max(shown) * 1.3)
    said = f"{found.name}: {found.ranks} ranks take {quantity(best['step_s'], digits=3)} per step"
    set_title(figure, said, f"predicted for {found.machine.name}, replayed on its description, not measured on it")
    drawn = {"step": total, "its interval": band, "of it computing": computing, "inverse to ranks": ideal}
    legend_below(figure, drawn)
    return figure


def plot_cost(found: Forecast) -> Figure:
    """Show the core-hours (or the price) of the run against its time, with one point per number of ranks."""
    curve, best = found.curve, found.best
    priced = "money" in curve
    column, unit = ("money", found.machine.currency) if priced else ("core_hours", "core-hours")
    figure, axes = one_panel(6.4, 4.2, grid="both")
    (line,) = axes.plot(curve["run_s"], curve[column], "o-", color=PALETTE[0], markersize=4.5, gid="counts", zorder=3)
    quantity_axis(axes, "x", f"time of {found.steps} steps", "s", curve["run_s"], log=len(curve) > 2)
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: compact(value, 3)))
    axes.set_ylabel(f"{unit} of the run", fontsize=10, color=INK)
    axes.set_ylim(0, 1.12 * float(curve[column].max()))
    for place in _labelled(curve["ranks"].to_list(), found.ranks):
        row = curve.iloc[place]
        axes.annotate(
            str(int(row["ranks"])), (row["run_s"], row[column]), xytext=(4, 5), textcoords="offset points",
            fontsize=8, color=INK,
        )  # fmt: skip
    (mark,) = axes.plot([best["run_s"]], [best[column]], "*", color=INK, markersize=13, gid="best", zorder=5)
    said = f"{found.name}: {found.ranks} ranks cost {compact(best[column], 3)} {unit}, at an efficiency of "
    set_title(figure, said + percent(best["efficiency"], 2), f"predicted for {found.machine.name}; numbers are ranks")
    legend_below(figure, {"numbers of ranks": line, "recommended": mark})
    return figure


def _mark(axes: Axes, found: Forecast, height: float) -> None:
    axes.plot([found.ranks], [height], "*", color=INK, markersize=13, gid="best", zorder=5)


def _axis(axes: Axes, ranks: np.ndarray) -> bool:
    log = len(ranks) > 1 and ranks.max() / ranks.min() >= 4
    value_axis(axes, "x", "ranks", "", ranks, log=bool(log))
    return bool(log)


def _labelled(ranks: list[float], best: int) -> list[int]:
    """Return the indices of the points that get a label: about eight, and the recommended one."""
    each = max(1, len(ranks) // 8)
    return sorted({*range(0, len(ranks), each), len(ranks) - 1, ranks.index(best)})
