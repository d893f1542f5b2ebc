"""Predicted against measured values: the size of a model's errors, and where they occur.

Runs that a model learned from are shown as it predicts them without them, where the model knows that.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Patch
from numpy.typing import NDArray

from evenly.errors import InputError
from evenly.metrics import mlogq
from evenly.models.base import Model
from evenly.report.formatting import compact, percent, typical_error
from evenly.report.left_out_errors import left_out_predictions
from evenly.report.plots.style import (
    GREY,
    INK,
    PALETTE,
    headed,
    legend_below,
    new_figure,
    quantity_axis,
    set_title,
    tidy,
)
from evenly.report.plots.trend_words import quantity_name
from evenly.report.slices import measured_by_configuration, quietly
from evenly.runs.runs import Runs

__all__ = ["plot_predictions"]

Floats = NDArray[np.float64]
_FACTORS = ((2.0, "#F1F1F1"), (1.1, "#DADADA"))
_LEFT_OUT, _LEARNED, _HELD_OUT = "left out, one by one", "learned from", "held out"
#: How the title names each kind of runs.
_WHOSE = {_LEFT_OUT: "runs left out", _LEARNED: "the runs it learned from", _HELD_OUT: "held-out runs"}


def plot_predictions(
    model: Model, runs: Runs | None = None, test: Runs | None = None, *, level: float = 0.9, name: str = ""
) -> Figure:
    """Show predictions against measurements, with bands for errors of a factor of 1.1 and 2.

    Parameters
    ----------
    model : Model
        Fitted.
    runs : Runs, optional
        The runs that the model was fitted to. Each is predicted by a fit without it, where the model has these
        predictions; else by the model itself.
    test : Runs, optional
        Held-out measurements. Bars show the model's intervals for them, and the title tells how well they fit.
    level : float
        The probability of the interval.
    name : str
        The solver's name, for the title.

    Returns
    -------
    Figure

    Raises
    ------
    InputError
        If neither `runs` nor `test` holds a successful run.

    Examples
    --------
    >>> import evenly, pandas as pd
    >>> table = pd.DataFrame({"cores": [1, 2, 4, 8, 16], "seconds": [80.0, 40.0, 20.0, 10.0, 5.0]})
    >>> runs = evenly.Runs.from_frame(table, ["cores"])
    >>> figure = plot_predictions(evenly.fit(runs, method="power-law"), runs)
    >>> figure.axes[0].get_ylabel(), figure.legends[0].get_texts()[-1].get_text()
    ('predicted time (s)', 'left out, one by one: 5, off by 0 %')
    """
    sets = {}
    if runs is not None and (own := _left_out(model, runs, level)) is not None:
        sets[_LEFT_OUT] = own
    elif runs is not None and (own := _pairs(model, runs, level)) is not None:
        sets[_LEARNED] = own
    if test is not None and (new := _pairs(model, test, level)) is not None:
        sets[_HELD_OUT] = new
    if not sets:
        raise InputError("there are no successful runs to compare with predictions: pass `runs` or `test`")
    figure = new_figure(5.4, 5.4)
    axes = figure.subplots()
    handles = _bands(axes, model, np.concatenate([np.concatenate(one[:2]) for one in sets.values()]))
    for i, (label, one) in enumerate(sets.items()):
        handles |= _draw(axes, label, one, i if len(sets) > 1 else 0)
    are_medians = "single_runs" in model.training_ and model.training_["statistic"] == "median"
    whose = "these medians of repeated runs" if are_medians else "them"
    finding = _finding(next(reversed(sets)), next(reversed(sets.values())), level, whose)
    set_title(figure, headed(name, finding[0]), finding[1])
    legend_below(figure, handles)
    return figure


def _pairs(model: Model, runs: Runs, level: float) -> tuple[Floats, Floats, Floats, Floats] | None:
    measured, asked = measured_by_configuration(model, runs)
    if not len(measured):
        return None
    silent = quietly(model)
    return measured, silent.predict(asked), *silent.interval(asked, level)


def _left_out(model: Model, runs: Runs, level: float) -> tuple[Floats, Floats, Floats, Floats] | None:
    """Return what `_pairs` does, of predictions by fits without each run; intervals are as wide as the model's."""
    if (known := left_out_predictions(model, runs)) is None:
        return None
    silent = quietly(model)
    lower, upper = silent.interval(known.configurations, level)
    ratio = known.predicted / silent.predict(known.configurations)
    return known.measured, known.predicted, lower * ratio, upper * ratio


def _bands(axes: Axes, model: Model, values: Floats) -> dict[str, Any]:
    """Draw the diagonal and the bands around it on square log axes."""
    tidy(axes, grid="none")
    ends = np.array([values.min() / 1.4, values.max() * 1.4])
    what, unit = quantity_name(model.response_), model.response_["unit"]
    handles = {}
    for factor, shade in _FACTORS:
        axes.fill_between(ends, ends / factor, ends * factor, color=shade, linewidth=0, zorder=0)
        handles[f"within a factor of {compact(factor)}"] = Patch(facecolor=shade)
    axes.plot(ends, ends, color=GREY, linewidth=1, zorder=1)
    quantity_axis(axes, "x", f"measured {what}", unit, values, log=True)
    quantity_axis(axes, "y", f"predicted {what}", unit, values, log=True)
    axes.set(xlim=ends, ylim=ends, aspect="equal")
    return handles


def _draw(axes: Axes, label: str, pairs: tuple[Floats, Floats, Floats, Floats], rank: int) -> dict[str, Any]:
    measured, predicted, lower, upper = pairs
    held_out, many = label == _HELD_OUT, len(measured) > 100
    colour = INK if held_out else PALETTE[rank]
    bars = np.vstack([np.maximum(predicted - lower, 0), np.maximum(upper - predicted, 0)])
    drawn = axes.errorbar(
        measured, predicted, yerr=bars if held_out and not many else None, fmt="D" if held_out else "o",
        markersize=3 if many else 5, markerfacecolor="white" if held_out else colour, markeredgecolor=colour if held_out
        else "white", markeredgewidth=0.9 if held_out else 0.4, color=colour, elinewidth=0.9, linestyle="none",
        alpha=0.5 if many else 1.0, zorder=3 if held_out else 2,
    )  # fmt: skip
    drawn[0].set_gid(label)
    return {f"{label}: {len(measured)}, off by {typical_error(mlogq(measured, predicted))}": drawn}


def _finding(label: str, pairs: tuple[Floats, Floats, Floats, Floats], level: float, whose: str) -> tuple[str, str]:
    measured, predicted, lower, upper = pairs
    held = float(np.mean((lower <= measured) & (measured <= upper)))
    off = typical_error(mlogq(measured, predicted))
    return (
        f"typically off by {off} on {_WHOSE[label]}",
        f"{percent(held, 2)} of {whose} inside the {percent(level)} interval",
    )
