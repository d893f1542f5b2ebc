"""Figures of a model and the measurements that it was fitted to, along one parameter at a time.

Faint points are single runs. Larger points are the median of each configuration, with the standard deviation over its
repetitions. The line is the model; the band is the prediction interval of a new measurement. Outside the range of the
training data, the line is dashed and the band is hatched.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from matplotlib.figure import Figure

from evenly.errors import InputError
from evenly.models.base import Model
from evenly.report.formatting import value_text
from evenly.report.plots.slice_panel import Slice, comparable, draw_slice, share_limits, slice_through
from evenly.report.plots.style import (
    PALETTE,
    Scaling,
    headed,
    legend_below,
    new_figure,
    set_title,
    solver_colours,
    wrapped,
)
from evenly.report.plots.trend_words import trend
from evenly.report.slices import choose_parameter, fixed_at, leading_of
from evenly.runs.runs import Runs

__all__ = ["plot_model", "plot_models", "plot_slices"]

_PANEL = (4.1, 3.1)
_LONGEST_FORMULA = 70
#: With a larger weight than this, one formula counts as the whole model.
_ALONE = 0.9999
_EXPONENT = re.compile(r"\^(-?[0-9.]+)")


def plot_model(
    model: Model,
    runs: Runs | None = None,
    *,
    parameter: str | None = None,
    at: Mapping[str, Any] | None = None,
    level: float = 0.9,
    test: Runs | None = None,
    log: Scaling = "auto",
    extend_to: float | None = None,
    name: str = "",
) -> Figure:
    """Show a model along one parameter.

    Parameters
    ----------
    model : Model
        Fitted.
    runs : Runs, optional
        The runs that the model was fitted to.
    parameter : str, optional
        The parameter on the horizontal axis. By default, it is the first numeric parameter that varies.
    at : mapping of str to value, optional
        The values of the other parameters. By default, they are the combination that was measured most often. The
        picture shows them.
    level : float
        The probability of the interval.
    test : Runs, optional
        Held-out measurements. They have their own marks.
    log : {"auto", "linear", "log"}
        The scale of both axes. ``"auto"`` is logarithmic if the values span a factor of four or more.
    extend_to : float, optional
        The line includes this value. It always covers the training range and all measurements.
    name : str
        The solver's name, for the title.

    Returns
    -------
    Figure

    Raises
    ------
    InputError
        If `parameter` or `at` names no parameter of the model.

    Examples
    --------
    >>> import evenly, pandas as pd
    >>> table = pd.DataFrame({"cores": [1, 2, 4, 8, 16], "seconds": [80.0, 40.0, 20.0, 10.0, 5.0]})
    >>> runs = evenly.Runs.from_frame(table, ["cores"])
    >>> figure = plot_model(evenly.fit(runs, method="power-law"), runs)
    >>> figure.axes[0].get_ylabel()
    'time (s)'
    """
    shown = slice_through(model, runs, parameter, at, level=level, test=test, extend_to=extend_to)
    figure = new_figure()
    axes = figure.subplots()
    draw_slice(axes, shown, PALETTE[0], log)
    finding = trend(shown.line, shown.parameter, shown.quantity)
    set_title(figure, headed(name, finding), _detail(shown))
    legend_below(figure, shown.handles)
    return figure


def plot_models(
    models: Mapping[str, Model],
    runs: Mapping[str, Runs] | None = None,
    *,
    parameter: str | None = None,
    at: Mapping[str, Any] | None = None,
    level: float = 0.9,
    test: Mapping[str, Runs] | None = None,
    log: Scaling = "auto",
    extend_to: float | None = None,
) -> Figure:
    """Show the models of several solvers side by side, with one panel each.

    The panels share one time axis unless the times are decades apart. The parameters are those of `plot_model`, with
    `runs` and `test` per solver.

    Examples
    --------
    >>> import evenly, pandas as pd
    >>> table = pd.DataFrame({"cores": [1, 2, 4, 8, 16], "seconds": [80.0, 40.0, 20.0, 10.0, 5.0]})
    >>> runs = {"inner": evenly.Runs.from_frame(table, ["cores"]), "outer": evenly.Runs.from_frame(table, ["cores"])}
    >>> len(plot_models(evenly.fit(runs, method="power-law"), runs).axes)
    2
    """
    if not models:
        raise InputError("there is no model to plot")
    slices = {}
    for name, model in models.items():
        own = {k: v for k, v in (at or {}).items() if k in model.space_.names}
        measured, held_out = (runs or {}).get(name), (test or {}).get(name)
        slices[name] = slice_through(model, measured, parameter, own, level=level, test=held_out, extend_to=extend_to)
    titles = {name: f"{name}: {trend(s.line, s.parameter, s.quantity)}" for name, s in slices.items()}
    colours = solver_colours(slices)
    return _panels([(titles[n], s, colours[n]) for n, s in slices.items()], log, "Measured and learned, per solver")


def plot_slices(
    model: Model,
    runs: Runs | None = None,
    *,
    parameters: Sequence[str] | None = None,
    at: Mapping[str, Any] | None = None,
    level: float = 0.9,
    test: Runs | None = None,
    log: Scaling = "auto",
    name: str = "",
) -> Figure:
    """Show a model along each of its parameters, with one panel each. The other parameters are fixed.

    Parameters
    ----------
    model, runs, level, test, log, name
        As in `plot_model`.
    parameters : sequence of str, optional
        The parameters with a panel; by default, all.
    at : mapping of str to value, optional
        The point that lies on all slices. By default, it is the combination that was measured most often.

    Examples
    --------
    >>> import evenly, pandas as pd
    >>> table = pd.DataFrame({"n": [1, 2, 4, 1, 2, 4], "cores": [1, 1, 1, 2, 2, 2], "seconds": [2., 4, 8, 1, 2, 4]})
    >>> runs = evenly.Runs.from_frame(table, ["n", "cores"])
    >>> [axes.get_xlabel() for axes in plot_slices(evenly.fit(runs, method="power-law"), runs).axes]
    ['n', 'cores']
    """
    wanted = list(parameters or model.space_.names)
    centre = fixed_at(model, runs, (), at)
    panels = []
    for i, parameter in enumerate(wanted):
        others = {key: value for key, value in centre.items() if key != choose_parameter(model, parameter)}
        shown = slice_through(model, runs, parameter, others, level=level, test=test)
        title = headed("", trend(shown.line, parameter, shown.quantity))
        panels.append((title, shown, PALETTE[i % len(PALETTE)]))
    through = ", ".join(f"{key} = {value_text(value)}" for key, value in centre.items())
    return _panels(panels, log, headed(name, f"slices through {through}"))


# ---- words ----------------------------------------------------------------------------------------------


def _detail(shown: Slice) -> str:
    parts = [f"{key} = {value_text(value)}" for key, value in shown.at.items()]
    formula, share = leading_of(shown.model)
    if 0 < len(formula) <= _LONGEST_FORMULA:
        raised = _EXPONENT.sub(r"$^{\1}$", formula)
        sign = "=" if share > _ALONE else "≈"
        parts.append(f"{shown.quantity} {sign} {raised} {shown.model.response_['unit'].strip('1')}".rstrip())
    return ", ".join([*parts[:4], *(["…"] if len(parts) > 4 else [])])


# ---- panels ------------------------------------------------------------------------------------------------


def _panels(panels: list[tuple[str, Slice, str]], log: Scaling, title: str) -> Figure:
    columns = min(3, len(panels))
    rows = -(-len(panels) // columns)
    figure = new_figure(max(6.4, _PANEL[0] * columns), _PANEL[1] * rows + 0.9)
    grid = figure.subplots(rows, columns, squeeze=False).ravel()
    handles: dict[str, Any] = {}
    everything = [shown for _, shown, _ in panels]
    alike = comparable(everything)
    for i, (axes, (heading, shown, colour)) in enumerate(zip(grid, panels, strict=False)):
        draw_slice(axes, shown, colour, log, together=everything if alike else ())
        axes.set_title(wrapped(heading, _PANEL[0] - 0.5, 0.074), loc="left", fontsize=9.5, color=colour)
        if i % columns and alike:
            axes.set_ylabel("")
        for label, handle in shown.handles.items():
            handles.setdefault(label.partition(" (learned")[0], handle)
    for axes in grid[len(panels) :]:
        axes.remove()
    if alike:
        share_limits(list(grid[: len(panels)]))
    set_title(figure, title)
    legend_below(figure, handles)
    return figure
