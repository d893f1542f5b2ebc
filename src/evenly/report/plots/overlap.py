"""A figure that compares simulations with the training data of a model."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from numpy.typing import NDArray

from evenly.decomposition.forecasting.training_overlap import COVERED, INPUTS, Overlap
from evenly.report.formatting import count_text, percent
from evenly.report.plots.style import (
    GREY,
    INK,
    legend_below,
    new_figure,
    quantity_axis,
    set_title,
    solver_colours,
    tidy,
    value_axis,
)

__all__ = ["plot_overlap"]

Array = NDArray[np.float64]
# The histogram of the training rows is as high as this many strips.
_HEIGHT = 3.0


def plot_overlap(
    training: pd.DataFrame, asked: Mapping[str, pd.DataFrame], overlap: Overlap, *, what: str = "random cells"
) -> Figure:
    """Compare simulations with the training rows, with one panel per input and one for the distance.

    In each panel, a histogram shows the training rows. Strips of dots below it show the other simulations.

    Parameters
    ----------
    training : DataFrame
        The rows that `overlap` was learned from, with the columns that `Overlap` describes.
    asked : mapping of str to DataFrame
        The other simulations, by name.
    overlap : Overlap
    what : str
        The name of the training rows.

    Examples
    --------
    >>> import numpy as np
    >>> from evenly.decomposition.forecasting.training_overlap import Overlap
    >>> random = np.random.default_rng(0)
    >>> names = [name for name in INPUTS if name != "points per rank"] + ["ranks"]
    >>> table = pd.DataFrame({name: random.uniform(1, 9, 50) for name in names})
    >>> len(plot_overlap(table, {"first ten": table[:10]}, Overlap.learn(table)).axes)
    9
    """
    colours = solver_colours(asked)
    figure = new_figure(8.0, 6.0)
    panels = figure.subplots(3, 3).ravel()
    for axes, name in zip(panels[:-1], INPUTS, strict=True):
        values = {key: _values(table, name) for key, table in asked.items()}
        _panel(axes, _values(training, name), values, colours, log=True)
        if name.startswith("share"):
            value_axis(axes, "x", name, "", _values(training, name), log=True)
        else:
            quantity_axis(axes, "x", name, "1", _values(training, name), log=True)
    distances = {key: overlap.distance(table) for key, table in asked.items()}
    _panel(panels[-1], overlap.own, distances, colours, log=False)
    quantity_axis(panels[-1], "x", f"distance to {what} (theirs: 1)", "1", overlap.own, log=False)
    panels[-1].set_xlim(left=0)
    _legend(figure, colours, what)
    inside = [not names for table in asked.values() for names in overlap.outside(table)]
    share = "All" if all(inside) else f"{percent(float(np.mean(inside)), 3)} of"
    those = f"{share} {count_text(len(inside))}"
    set_title(figure, f"{those} simulations lie among the {count_text(len(training))} {what} learned from")
    return figure


def _values(table: pd.DataFrame, name: str) -> Array:
    found = table["points"] / table["ranks"] if name == "points per rank" else table[name]
    return np.asarray(found, dtype=np.float64)


def _panel(axes: Axes, training: Array, asked: Mapping[str, Array], colours: Mapping[str, str], *, log: bool) -> None:
    tidy(axes, grid="none")
    axes.spines["left"].set_visible(False)
    axes.set_yticks([])
    axes.axvspan(*np.quantile(training, COVERED), color=GREY, alpha=0.10, linewidth=0, zorder=0, gid="covered")
    edges = _edges(training, log=log)
    density = np.histogram(training, edges)[0] / np.diff(np.log(edges) if log else edges)
    axes.stairs(
        density / density.max() * _HEIGHT, edges, fill=True, color=GREY, alpha=0.55, linewidth=0, zorder=2,
        gid="training",
    )  # fmt: skip
    random = np.random.default_rng(0)
    for row, (name, values) in enumerate(asked.items()):
        height = -0.75 - row + random.uniform(-0.28, 0.28, len(values))
        axes.plot(
            values, height, "o", color=colours[name], markersize=2.6, alpha=0.6, markeredgewidth=0, zorder=3, gid=name
        )
    axes.axhline(0, color=INK, linewidth=0.8, zorder=2)
    axes.set_ylim(-0.4 - len(asked), _HEIGHT * 1.05)


def _edges(values: Array, *, log: bool) -> Array:
    """Return the edges of the bars of a histogram. Each value has its own bar if all are small whole numbers."""
    low, high = float(values.min()), float(values.max())
    if not log:
        return np.linspace(low, high, 31)
    if low < 31 and np.all(values == np.round(values)):
        return np.unique(np.round(np.geomspace(low - 0.5, high + 0.5, 31) + 0.5) - 0.5)
    return np.geomspace(low, high, 31)


def _legend(figure: Figure, colours: Mapping[str, str], what: str) -> None:
    handles: dict[str, Any] = {what: Patch(color=GREY, alpha=0.55, linewidth=0)}
    handles["98 % of them"] = Patch(color=GREY, alpha=0.12, linewidth=0)
    for name, colour in colours.items():
        handles[name] = Line2D([], [], color=colour, marker="o", linestyle="", markersize=5)
    legend_below(figure, handles)
