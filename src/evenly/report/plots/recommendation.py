"""The picture of a recommended number of cores: the job's time on each number that was looked at."""

from __future__ import annotations

import numpy as np
from matplotlib.figure import Figure

from evenly.core_counts.goal import time_words
from evenly.core_counts.recommendation import Recommendation
from evenly.report.formatting import percent
from evenly.report.plots.style import GREY, INK, PALETTE, legend_below, one_panel, quantity_axis, set_title, value_axis

__all__ = ["plot_recommendation"]

_DASHES = (0, (4, 2))


def plot_recommendation(found: Recommendation) -> Figure:
    """Show the time against the number of cores with its interval, what perfect scaling were, and the recommendation.

    Circles outside what was measured are hollow.

    Examples
    --------
    >>> import evenly, pandas as pd
    >>> runs = pd.DataFrame({"cores": [1, 2, 4, 8, 16], "seconds": [80.0, 41.0, 21.0, 11.5, 6.6]})
    >>> model = evenly.fit(runs, parameters=["cores"], method="power-law")
    >>> plot_recommendation(evenly.recommend(model, [1, 4, 16])).axes[0].get_xlabel()
    'cores'
    """
    curve, best = found.curve, found.best
    cores = curve["cores"].to_numpy(dtype=np.float64)
    seconds = curve["run_s"].to_numpy(dtype=np.float64)
    figure, axes = one_panel(6.4, 4.4, grid="both")
    band = axes.fill_between(
        cores, curve["run_lower_s"], curve["run_upper_s"], color=PALETTE[0], alpha=0.18, linewidth=0, zorder=2,
        gid="interval",
    )  # fmt: skip
    (line,) = axes.plot(cores, seconds, "o-", color=PALETTE[0], markersize=4.5, gid="time", zorder=4)
    outside = curve["extrapolated"].to_numpy(dtype=np.bool_)
    (hollow,) = axes.plot(
        cores[outside], seconds[outside], "o", color=PALETTE[0], markerfacecolor="white", markersize=4.5, zorder=4.5,
        gid="extrapolated",
    )  # fmt: skip
    ideal = seconds[0] * cores[0] / cores
    (inverse,) = axes.plot(cores, ideal, color=GREY, linestyle=_DASHES, linewidth=1.2, zorder=1)
    (mark,) = axes.plot([found.cores], [best["run_s"]], "*", color=INK, markersize=13, gid="best", zorder=5)
    log = bool(len(cores) > 1 and cores.max() >= 4 * cores.min())
    value_axis(axes, "x", "cores", "", cores, log=log)
    shown = [*curve["run_lower_s"], *curve["run_upper_s"], *ideal]
    quantity_axis(axes, "y", "time", "s", shown, log=log, written=found.time_unit)
    set_title(
        figure, f"{found.cores} cores take {time_words(found.seconds, found.time_unit)}", found.choice.why.split(":")[0]
    )
    within = f"its {percent(found.level)} interval"
    beyond = {"outside what was measured": hollow} if outside.any() else {}
    legend_below(figure, {"predicted": line, within: band, "inverse to cores": inverse, "recommended": mark, **beyond})
    return figure
