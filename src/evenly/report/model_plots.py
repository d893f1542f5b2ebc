"""A model beside the measurements it was learned from, along one parameter at a time.

Faint points are single runs, larger ones the median of each configuration with the standard deviation over its
repetitions, the line is the model, the band the interval of a new measurement. Beyond the range learned on, the line is
dashed and the band hatched.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from numpy.typing import NDArray

from evenly.errors import InputError
from evenly.models.base import Model
from evenly.parameters import Categorical, Parameter
from evenly.report.formatting import compact, percent, span
from evenly.report.slices import (
    Line,
    Points,
    bounds,
    choose_parameter,
    fixed_at,
    line_along,
    points_along,
)
from evenly.report.style import (
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
from evenly.report.trend import quantity_name, trend
from evenly.runs import Runs

__all__ = ["plot_model", "plot_models", "plot_slices"]

_PANEL = (4.1, 3.1)
_TEST_COLOUR = "#000000"


@dataclass
class _Slice:
    """All that one panel shows."""

    model: Model
    parameter: str
    at: dict[str, Any]
    level: float
    line: Line
    points: Points | None
    test: Points | None
    handles: dict[str, Any] = field(default_factory=dict)

    @property
    def kind(self) -> Parameter:
        return self.model.space_.parameters[self.parameter]

    @property
    def quantity(self) -> str:
        return quantity_name(self.model.response_)

    def shown(self) -> NDArray[np.float64]:
        """Return every value on the panel, for its scale."""
        points = [p.value for p in (self.points, self.test) if p is not None]
        return np.concatenate([self.line.value, *points])


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
        What it was learned from.
    parameter : str, optional
        On the horizontal axis; the first numeric one that varies by default.
    at : mapping of str to value, optional
        The other parameters; by default the combination measured most often. The picture says which.
    level : float
        Of the interval.
    test : Runs, optional
        Measurements that were held out, drawn apart.
    log : {"auto", "linear", "log"}
        Scale of both axes; by default logarithmic where values span a factor of four or more.
    extend_to : float, optional
        How far beyond the range learned on to draw; by default as far as there are measurements.
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
    shown = _slice(model, runs, parameter, at, level=level, test=test, extend_to=extend_to)
    figure = new_figure()
    axes = figure.subplots()
    _draw(axes, shown, PALETTE[0], log)
    finding = trend(shown.line, shown.parameter, shown.quantity)
    set_title(figure, f"{name}: {finding}" if name else _capital(finding), _detail(shown))
    legend_below(figure, list(shown.handles.values()), list(shown.handles))
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
    """Show several solvers' models side by side, one panel each, with one time axis.

    Parameters are those of `plot_model`, with runs and held-out runs per solver.

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
        slices[name] = _slice(model, measured, parameter, own, level=level, test=held_out, extend_to=extend_to)
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
    """Show a model along each of its parameters, one panel each; the others stay fixed.

    Parameters
    ----------
    model, runs, level, test, log, name
        As in `plot_model`.
    parameters : sequence of str, optional
        Which ones; all by default.
    at : mapping of str to value, optional
        The point through which all slices go; by default the combination measured most often.

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
        shown = _slice(model, runs, parameter, others, level=level, test=test)
        title = _capital(trend(shown.line, parameter, shown.quantity))
        panels.append((title, shown, PALETTE[i % len(PALETTE)]))
    through = ", ".join(f"{key} = {_value(value)}" for key, value in centre.items())
    return _panels(panels, log, f"{name}: slices through {through}" if name else f"Slices through {through}")


# ---- preparing ----------------------------------------------------------------------------------------------


def _slice(
    model: Model,
    runs: Runs | None,
    parameter: str | None,
    at: Mapping[str, Any] | None,
    *,
    level: float,
    test: Runs | None = None,
    extend_to: float | None = None,
) -> _Slice:
    chosen = choose_parameter(model, parameter)
    runs, test = (_same_response(model, one) for one in (runs, test))
    fixed = fixed_at(model, runs, (chosen,), at)
    points = None if runs is None else points_along(model, runs, chosen, fixed)
    held_out = None if test is None or not len(test.ok) else points_along(model, test, chosen, fixed)
    reach = _reach(model.space_.parameters[chosen], [p for p in (points, held_out) if p is not None], extend_to)
    line = line_along(model, chosen, fixed, level=level, reach=reach)
    return _Slice(model, chosen, fixed, level, line, points, held_out)


def _same_response(model: Model, runs: Runs | None) -> Runs | None:
    name = model.response_["name"]
    return runs.learning(name) if runs is not None and name in runs.quantities else runs


def _reach(kind: Parameter, points: list[Points], extend_to: float | None) -> tuple[float, float] | None:
    ends = bounds(kind)
    if ends is None:
        return None
    seen = [float(v) for p in points for v in p.x] + ([] if extend_to is None else [float(extend_to)])
    return min([ends[0], *seen]), max([ends[1], *seen])


def _value(value: Any) -> str:
    return compact(float(value)) if isinstance(value, int | float | np.number) else str(value)


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]


def _detail(shown: _Slice) -> str:
    parts = [f"{key} = {_value(value)}" for key, value in shown.at.items()]
    formula = getattr(shown.model, "formula_", "")
    if isinstance(formula, str) and 0 < len(formula) <= 60:
        parts.append(formula)
    return ", ".join([*parts[:4], *(["…"] if len(parts) > 4 else [])])


# ---- drawing ------------------------------------------------------------------------------------------------


def _panels(panels: list[tuple[str, _Slice, str]], log: Scaling, title: str) -> Figure:
    columns = min(3, len(panels))
    rows = -(-len(panels) // columns)
    figure = new_figure(max(6.4, _PANEL[0] * columns), _PANEL[1] * rows + 0.9)
    grid = figure.subplots(rows, columns, squeeze=False).ravel()
    handles: dict[str, Any] = {}
    everything = np.concatenate([shown.shown() for _, shown, _ in panels])
    for axes, (heading, shown, colour) in zip(grid, panels, strict=False):
        _draw(axes, shown, colour, log, together=everything)
        axes.set_title(heading, loc="left", fontsize=9.5, color=colour, wrap=True)
        handles |= {label: handle for label, handle in shown.handles.items() if label not in handles}
    for axes in grid[len(panels) :]:
        axes.remove()
    _share_limits(list(grid[: len(panels)]))
    set_title(figure, title)
    legend_below(figure, list(handles.values()), list(handles))
    return figure


def _share_limits(panels: list[Axes]) -> None:
    """Give panels of the same quantity the same vertical limits, so that heights compare."""
    limits = [axes.get_ylim() for axes in panels]
    for axes in panels:
        axes.set_ylim(min(low for low, _ in limits), max(high for _, high in limits))


def _draw(axes: Axes, shown: _Slice, colour: str, log: Scaling, *, together: NDArray[np.float64] | None = None) -> None:
    tidy(axes)
    values = shown.shown() if together is None else together
    log_y = _is_log(log, values)
    quantity_axis(axes, "y", shown.quantity, shown.model.response_["unit"], values, log=log_y)
    if isinstance(shown.kind, Categorical):
        _draw_labels(axes, shown, colour)
    else:
        _draw_line(axes, shown, colour)
        log_x = getattr(shown.kind, "scale", "linear") == "log" and _is_log(log, shown.line.x)
        measured = shown.line.x[shown.line.inside] if shown.points is None else shown.points.x.astype(np.float64)
        value_axis(axes, "x", shown.parameter, shown.kind.unit, measured, log=log_x)
    for points, held_out in ((shown.points, False), (shown.test, True)):
        if points is not None and len(points.x):
            _draw_points(axes, shown, points, _TEST_COLOUR if held_out else colour, held_out=held_out)
    if not log_y:
        axes.set_ylim(bottom=0)


def _is_log(log: Scaling, values: NDArray[Any]) -> bool:
    numbers = values.astype(np.float64)
    if not np.all(numbers > 0):
        return False
    return log == "log" or (log == "auto" and bool(numbers.max() >= 4 * numbers.min()))


def _draw_line(axes: Axes, shown: _Slice, colour: str) -> None:
    line = shown.line
    inside, beyond = np.flatnonzero(line.inside), np.flatnonzero(~line.inside)
    label = f"model and {percent(shown.level)} interval"
    if len(inside):
        (drawn,) = axes.plot(line.x[inside], line.value[inside], color=colour, linewidth=1.8, gid="model")
        axes.fill_between(
            line.x[inside], line.lower[inside], line.upper[inside], color=colour, alpha=0.18, linewidth=0, gid="band"
        )
        shown.handles[label] = (Patch(facecolor=colour, alpha=0.18, linewidth=0), drawn)
    for part in _pieces(beyond, line.inside):
        _draw_extrapolation(axes, shown, part, colour)


def _pieces(beyond: NDArray[np.intp], inside: NDArray[np.bool_]) -> list[NDArray[np.intp]]:
    """Split the points beyond the range into left and right, each joined to the range's end."""
    if not len(beyond):
        return []
    parts = np.split(beyond, np.flatnonzero(np.diff(beyond) > 1) + 1)
    last = len(inside) - 1
    return [np.arange(max(part[0] - 1, 0), min(part[-1] + 1, last) + 1) for part in parts]


def _draw_extrapolation(axes: Axes, shown: _Slice, part: NDArray[np.intp], colour: str) -> None:
    line, ends = shown.line, bounds(shown.kind)
    axes.plot(line.x[part], line.value[part], color=colour, linewidth=1.8, linestyle=(0, (4, 2)), gid="extrapolation")
    axes.fill_between(
        line.x[part], line.lower[part], line.upper[part],
        facecolor="none", edgecolor=colour, alpha=0.35, hatch="////", linewidth=0, gid="extrapolation band",
    )  # fmt: skip
    if ends is not None:
        hatched = Patch(facecolor="none", edgecolor=colour, alpha=0.35, hatch="////", linewidth=0)
        dashed = Line2D([], [], color=colour, linewidth=1.8, linestyle=(0, (4, 2)))
        shown.handles[f"extrapolated (learned on {span(*ends)})"] = (hatched, dashed)


def _draw_labels(axes: Axes, shown: _Slice, colour: str) -> None:
    """Show a model over a categorical parameter: a dash per label, a bar for the interval."""
    line, places = shown.line, np.arange(len(shown.line.x))
    bars = axes.bar(places, line.upper - line.lower, bottom=line.lower, width=0.6, color=colour, alpha=0.18, gid="band")
    axes.hlines(line.value, places - 0.3, places + 0.3, color=colour, linewidth=1.8, gid="model")
    axes.set_xticks(places, [str(x) for x in line.x])
    axes.set_xlabel(shown.parameter, fontsize=10)
    dash = Line2D([], [], color=colour, linewidth=1.8)
    shown.handles[f"model and {percent(shown.level)} interval"] = (bars[0], dash)


def _places(shown: _Slice, x: NDArray[Any]) -> NDArray[Any]:
    if not isinstance(shown.kind, Categorical):
        return x
    return np.array([list(shown.line.x).index(label) for label in x], dtype=np.float64)


def _draw_points(axes: Axes, shown: _Slice, points: Points, colour: str, *, held_out: bool) -> None:
    if len(points.raw) > len(points.x):
        raw = axes.plot(
            _places(shown, points.raw_x), points.raw, ".", color=colour, alpha=0.35, markersize=4, markeredgewidth=0,
            zorder=2.5, gid="repetitions",
        )  # fmt: skip
        if not held_out:
            shown.handles["single runs"] = raw[0]
    # A bar that reaches zero or below can't be drawn on a log axis: it ends at a tenth of the median.
    down = np.minimum(points.spread, 0.9 * points.value)
    many = len(points.x) > 60
    bars = axes.errorbar(
        _places(shown, points.x), points.value, yerr=np.vstack([down, points.spread]) if points.spread.any() else None,
        fmt="D" if held_out else "o", markersize=3 if many else 5, markerfacecolor="white" if held_out else colour,
        markeredgecolor=colour if held_out else "white", markeredgewidth=1.1 if held_out else 0.6, color=colour,
        ecolor=colour, elinewidth=1, capsize=0 if many else 2.5, linestyle="none", zorder=3,
        alpha=0.5 if many else 1.0,
    )  # fmt: skip
    bars[0].set_gid("test" if held_out else "medians")
    shown.handles[_points_label(points, held_out=held_out)] = bars


def _points_label(points: Points, *, held_out: bool) -> str:
    label = "held out" if held_out else "measured"
    if len(points.raw) > len(points.x) or points.spread.any():
        label += " (median ± standard deviation)"
    return f"{label}, carried to this slice by the model" if points.carried else label
