"""Figures of a calibration: for each feature, measured and predicted time against the size of the feature."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from numpy.typing import NDArray

from evenly.decomposition.costs.cost_model import CostModel, program_named
from evenly.report.formatting import percent
from evenly.report.plots.style import (
    GREY,
    INK,
    PALETTE,
    legend_below,
    one_panel,
    points_with_bars,
    quantity_axis,
    set_title,
)

__all__ = ["plot_cost", "plot_feature", "plot_predictions"]

Array = NDArray[np.float64]
Rows = Sequence[Mapping[str, Any]]


def plot_cost(cost: CostModel) -> dict[str, Figure]:
    """Return all pictures of a calibration by name: one of all runs, and one per feature.

    Parameters
    ----------
    cost : CostModel
        It must hold its calibration runs.
    """
    figures = {f"{cost.program}-cost-predictions": plot_predictions(cost)}
    groups = dict.fromkeys(row["group"] for row in cost.measured if row.get("purpose") != "cell")
    for group in groups:
        name = re.sub(r"[^a-z0-9]+", "-", group.lower()).strip("-")
        figures[f"{cost.program}-cost-{name}"] = plot_feature(cost, group)
    return figures


def plot_feature(cost: CostModel, group: str) -> Figure:
    """Show the measured time per step of one feature's runs against their size, and the model's prediction.

    Parameters
    ----------
    cost : CostModel
    group : str
        The name of the feature in the calibration.
    """
    rows = [row for row in cost.measured if row["group"] == group]
    sizes, seconds, predicted = _numbers(cost, rows)
    figure, axes = one_panel(6.4, 4.4, grid="both")
    order = np.argsort(sizes, kind="stable")
    # Runs of equal size differ in something else, so a line through their predictions would mean nothing.
    joined = len(np.unique(sizes)) == len(sizes)
    (line,) = axes.plot(
        sizes[order], predicted[order], "-" if joined else "_", color=PALETTE[1], linewidth=1.6, markersize=14,
        markeredgewidth=1.8, zorder=2, gid="predicted",
    )  # fmt: skip
    spread = np.array([float(row.get("spread") or 0.0) for row in rows])
    points = points_with_bars(axes, sizes, seconds, spread, colour=PALETTE[0], gid="measured")
    quantity_axis(axes, "x", "points of the cell that a rank steps", "1", sizes, log=True)
    quantity_axis(axes, "y", "CPU time per step", "s", [*seconds, *predicted], log=True)
    off = np.abs(predicted / seconds - 1)
    set_title(figure, f"{group}: predicted to {percent(float(off.mean()), 2)} in the mean", _where(cost))
    legend_below(figure, {"measured (median, interval)": points, "cost model": line})
    return figure


def plot_predictions(cost: CostModel) -> Figure:
    """Show the ratio of predicted to measured time of all runs. Left-out cells have their own marks."""
    figure, axes = one_panel(7.2, 4.6, grid="both")
    handles: dict[str, Any] = {}
    kinds = (("feature", "features", PALETTE[0], "o"), ("cell", "cells (each left out once)", PALETTE[1], "D"))
    everything: list[float] = []
    for purpose, label, colour, marker in kinds:
        rows = [row for row in cost.measured if row.get("purpose", "feature") == purpose]
        if not rows:
            continue
        _, seconds, predicted = _numbers(cost, rows)
        if purpose == "cell":
            predicted = np.array([row.get("held_out", p) for row, p in zip(rows, predicted, strict=True)])
        everything += seconds.tolist()
        (handles[label],) = axes.plot(
            seconds, predicted / seconds, marker, color=colour, markersize=4.5, alpha=0.75, markeredgewidth=0, zorder=3,
            gid=purpose,
        )  # fmt: skip
    axes.axhline(1.0, color=INK, linewidth=1.0, zorder=2)
    axes.axhspan(0.9, 1.1, color=GREY, alpha=0.12, zorder=1, linewidth=0)
    quantity_axis(axes, "x", "measured CPU time per step of a rank", "s", everything, log=True)
    axes.set_ylabel("predicted / measured", fontsize=10, color=INK)
    off = "not known" if np.isnan(cost.share_error) else f"off by {percent(cost.share_error, 2)} in the mean"
    set_title(figure, f"{cost.program}: a rank's share on cells left out is {off}", f"{_where(cost)}; band: ± 10 %")
    legend_below(figure, handles)
    return figure


def _numbers(cost: CostModel, rows: Rows) -> tuple[Array, Array, Array]:
    """Return points, measured and predicted seconds of each run."""
    names = [term.name for term in program_named(cost.program).all_terms]
    amounts = np.array([[float(row["amounts"].get(name, 0.0)) for name in names] for row in rows])
    seconds = np.array([float(row["seconds"]) for row in rows])
    return amounts[:, names.index("points")], seconds, amounts @ cost.vector


def _where(cost: CostModel) -> str:
    return f"{cost.program} on {cost.machine}" + (f", {cost.when[:10]}" if cost.when else "")
