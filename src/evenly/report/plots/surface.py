"""Figures of a model over two parameters: a map with contour lines, or a surface in three dimensions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, cast

import matplotlib as mpl
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.colors import LogNorm, Normalize
from matplotlib.figure import Figure
from matplotlib.ticker import FixedLocator, FuncFormatter
from numpy.typing import NDArray

from evenly.errors import InputError
from evenly.models.base import Model
from evenly.report.formatting import compact, prefix_for, value_text
from evenly.report.plots.style import (
    GREY,
    INK,
    headed,
    legend_below,
    new_figure,
    nice_ticks,
    quantity_axis,
    set_title,
    tidy,
    value_axis,
)
from evenly.report.plots.trend_words import quantity_name, trend
from evenly.report.slices import Line, bounds, fixed_at, of_response, quietly
from evenly.runs.runs import Runs
from evenly.space.parameters import Categorical, Parameter

__all__ = ["plot_surface"]

Floats = NDArray[np.float64]
#: x, y and value of a grid, shape (n, n) each, or of points, shape (n,) each.
Surface = tuple[Floats, Floats, Floats]
_CELLS = 121
_COLOURS = "viridis"


def plot_surface(
    model: Model,
    runs: Runs | None = None,
    *,
    x: str | None = None,
    y: str | None = None,
    at: Mapping[str, Any] | None = None,
    view: Literal["map", "3d"] = "map",
    name: str = "",
) -> Figure:
    """Show a model over two numeric parameters.

    Circles show the measured configurations. Their colours show the measured values: where the model is right, a circle
    has the colour of the map around it. If no configuration lies on the slice, rings show the places of all others.

    Parameters
    ----------
    model : Model
        Fitted on two numeric parameters or more.
    runs : Runs, optional
        The runs that the model was fitted to.
    x, y : str, optional
        The parameters on the axes. By default, they are the first two numeric parameters.
    at : mapping of str to value, optional
        The values of the other parameters. By default, they are the combination that was measured most often.
    view : {"map", "3d"}
        Filled contours, or a surface.
    name : str
        The solver's name, for the title.

    Returns
    -------
    Figure

    Raises
    ------
    InputError
        If the model has fewer than two numeric parameters, or if `x`, `y` or `at` names something else.

    Examples
    --------
    >>> import evenly, pandas as pd
    >>> table = pd.DataFrame({"n": [1, 2, 4, 1, 2, 4], "cores": [1, 1, 1, 2, 2, 2], "seconds": [2., 4, 8, 1, 2, 4]})
    >>> runs = evenly.Runs.from_frame(table, ["n", "cores"])
    >>> plot_surface(evenly.fit(runs, method="power-law"), runs).axes[0].get_xlabel()
    'n'
    """
    if view not in ("map", "3d"):
        raise InputError(f"view must be 'map' or '3d', but got {view!r}")
    names = _choose(model, x, y)
    measured = None if runs is None else of_response(model, runs)
    fixed = fixed_at(model, measured, names, at)
    grid = [_grid(model.space_.parameters[one]) for one in names]
    across, up = np.meshgrid(*grid)
    table = pd.DataFrame({names[0]: across.ravel(), names[1]: up.ravel()}).assign(**fixed)
    values = quietly(model).predict(table).reshape(across.shape)
    figure = new_figure(6.4, 4.9)
    draw = _map if view == "map" else _surface
    draw(figure, model, names, (across, up, values), _on_slice(measured, names, fixed))
    finding = _finding(names, (across, up, values), quantity_name(model.response_))
    detail = ", ".join(f"{key} = {value_text(value)}" for key, value in fixed.items())
    set_title(figure, headed(name, finding), detail)
    return figure


def _finding(names: tuple[str, str], surface: Surface, quantity: str) -> str:
    """Describe how the quantity depends on each parameter, along a line through the middle of the map."""
    middle = _CELLS // 2
    inside = np.ones(_CELLS, dtype=np.bool_)
    said = []
    for name, x, value in (
        (names[0], surface[0][middle], surface[2][middle]),
        (names[1], surface[1][:, middle], surface[2][:, middle]),
    ):
        said.append(trend(Line(x, value, value, value, inside), name, quantity))
    return f"{said[0]}, {said[1].removeprefix(quantity + ' ')}"


def _choose(model: Model, x: str | None, y: str | None) -> tuple[str, str]:
    kinds = model.space_.parameters
    numeric = [name for name, kind in kinds.items() if not isinstance(kind, Categorical)]
    for given in (x, y):
        if given is not None and given not in numeric:
            raise InputError(f"x and y must be numeric parameters ({', '.join(numeric) or 'none'}), but got {given!r}")
    rest = [name for name in numeric if name not in (x, y)]
    chosen = [x or (rest.pop(0) if rest else ""), y or (rest.pop(0) if rest else "")]
    if "" in chosen or chosen[0] == chosen[1]:
        raise InputError(
            f"a surface needs two different numeric parameters, but the model has {', '.join(numeric) or 'none'} "
            f"and x = {x!r}, y = {y!r}: use plot_model for a single parameter"
        )
    return chosen[0], chosen[1]


def _is_log(kind: Parameter) -> bool:
    ends = bounds(kind)
    return getattr(kind, "scale", "linear") == "log" and ends is not None and ends[1] >= 4 * ends[0]


def _grid(kind: Parameter) -> Floats:
    low, high = bounds(kind) or (0.0, 1.0)
    if low == high:
        raise InputError(f"a surface needs parameters that vary, but one was measured only at {compact(low)}")
    points = np.geomspace(low, high, _CELLS) if _is_log(kind) else np.linspace(low, high, _CELLS)
    points[0], points[-1] = low, high
    return np.asarray(points)


def _on_slice(runs: Runs | None, names: tuple[str, str], fixed: Mapping[str, Any]) -> tuple[Floats, Floats, Floats]:
    """Return x, y and value of the measured configurations. All values are NaN if none lies on the slice."""
    if runs is None:
        return np.empty(0), np.empty(0), np.empty(0)
    table = runs.ok.aggregate()
    on = np.ones(len(table), dtype=np.bool_)
    for key, value in fixed.items():
        on &= (table[key] == value).to_numpy()
    if not on.any():
        table = table.assign(**{runs.response: np.nan})
        on[:] = True
    x, y, value = (table.loc[on, column].to_numpy(dtype=np.float64) for column in (*names, runs.response))
    return x, y, value


def _norm(values: Floats, measured: Floats) -> Normalize:
    everything = np.concatenate([values.ravel(), measured[np.isfinite(measured)]])
    low, high = float(everything.min()), float(everything.max())
    return LogNorm(low, high) if low > 0 and high >= 4 * low else Normalize(low, high)


def _map(figure: Figure, model: Model, names: tuple[str, str], surface: Surface, points: Surface) -> None:
    axes = figure.subplots()
    tidy(axes, grid="none")
    norm = _norm(surface[2], points[2])
    unit = model.response_["unit"]
    for which, one, grid in (("x", names[0], surface[0][0]), ("y", names[1], surface[1][:, 0])):
        kind = model.space_.parameters[one]
        seen = points[0 if which == "x" else 1]
        value_axis(axes, cast("Any", which), one, kind.unit, seen if len(seen) else grid, log=_is_log(kind))
    axes.set(xlim=_padded(surface[0], axes.get_xscale()), ylim=_padded(surface[1], axes.get_yscale()))
    mesh = axes.pcolormesh(*surface, norm=norm, cmap=_COLOURS, shading="gouraud", rasterized=True)
    factor, prefix = prefix_for(surface[2].ravel().tolist(), unit)
    levels = _levels(surface[2], factor)
    if len(levels):
        lines = axes.contour(*surface, levels=levels, colors="white", linewidths=0.8)
        axes.clabel(lines, fmt=lambda v: f"{compact(v / factor, 3)} {prefix}".rstrip(), fontsize=8)
    _points(figure, axes, points, norm)
    bar = figure.colorbar(mesh, ax=axes, pad=0.02)
    quantity_axis(bar.ax, "y", quantity_name(model.response_), unit, surface[2].ravel(), log=isinstance(norm, LogNorm))
    bar.outline.set_visible(False)


def _padded(values: Floats, scale: str) -> tuple[float, float]:
    """Return wider limits, with room for points on the edge."""
    low, high = float(values.min()), float(values.max())
    if scale == "log":
        room = (high / low) ** 0.03
        return low / room, high * room
    return low - 0.03 * (high - low), high + 0.03 * (high - low)


def _points(figure: Figure, axes: Axes, points: Surface, norm: Normalize) -> None:
    x, y, value = points
    edge: dict[str, Any] = {"linewidths": 1.1, "zorder": 3}
    if len(x) and np.isfinite(value).any():
        drawn = axes.scatter(x, y, c=value, norm=norm, cmap=_COLOURS, s=36, edgecolors="white", gid="measured", **edge)
        axes.scatter(x, y, s=52, facecolors="none", edgecolors=INK, linewidths=0.6, zorder=3)
        legend_below(figure, {"measured, in the colour of its value": drawn})
    elif len(x):
        drawn = axes.scatter(x, y, s=14, facecolors="none", edgecolors=INK, gid="elsewhere", **edge)
        legend_below(figure, {"measured at other values of the fixed parameters": drawn})


def _levels(values: Floats, factor: float) -> list[float]:
    """Return round values strictly between the extremes, in the base unit."""
    low, high = float(values.min()), float(values.max())
    ticks = nice_ticks(low / factor, high / factor, log=low > 0 and high >= 4 * low, most=10)
    return [tick * factor for tick in ticks if low < tick * factor < high]


def _surface(figure: Figure, model: Model, names: tuple[str, str], surface: Surface, points: Surface) -> None:
    # Imported here, because only this view needs it. The import registers the projection.
    from mpl_toolkits.mplot3d import Axes3D  # type: ignore[import-untyped]

    axes = cast("Axes3D", figure.add_subplot(projection="3d"))
    kinds = [model.space_.parameters[name] for name in names]
    low, high = float(surface[2].min()), float(surface[2].max())
    logs = [*map(_is_log, kinds), low > 0 and high >= 4 * low]
    drawn = [np.log10(one) if log else one for one, log in zip(surface, logs, strict=True)]
    marks = [np.log10(one) if log else one for one, log in zip(points, logs, strict=True)]
    shade = mpl.colormaps[_COLOURS](Normalize(drawn[2].min(), drawn[2].max())(drawn[2]))
    axes.plot_surface(*drawn, facecolors=shade, rstride=4, cstride=4, linewidth=0.2, edgecolor="#FFFFFF80", alpha=0.85)
    if len(marks[2]) and np.isfinite(marks[2]).any():
        axes.scatter(*marks, color=INK, s=16, depthshade=False, gid="measured")
    factor, prefix = prefix_for([low, high], model.response_["unit"])
    what = quantity_name(model.response_)
    labels = [*names, f"{what} ({prefix})" if prefix else what]
    for axis, one, log, label, scale in zip("xyz", surface, logs, labels, (1.0, 1.0, factor), strict=True):
        _axis_3d(getattr(axes, f"{axis}axis"), one, label, scale, log=log)
    axes.view_init(elev=28, azim=_towards_lowest(surface[2]))
    axes.set_box_aspect(None, zoom=0.92)


def _towards_lowest(values: Floats) -> float:
    """Return the azimuth in degrees with the lowest corner in front, so that the highest corner hides nothing."""
    corners = {-123: values[0, 0], -57: values[0, -1], 33: values[-1, -1], 147: values[-1, 0]}
    return float(min(corners, key=lambda azimuth: float(corners[azimuth])))


def _axis_3d(axis: Any, values: Floats, label: str, factor: float, *, log: bool) -> None:
    """Label an axis of a 3-d view. It has no log scale, so logarithms are drawn, and the labels show the numbers."""
    ticks = np.array(nice_ticks(float(values.min()) / factor, float(values.max()) / factor, log=log, most=6)) * factor
    axis.set_major_locator(FixedLocator((np.log10(ticks) if log else ticks).tolist()))
    axis.set_major_formatter(FuncFormatter(lambda place, _=None: compact((10**place if log else place) / factor, 3)))
    axis.set_tick_params(labelsize=8, labelcolor=INK)
    axis.set_label_text(label, fontsize=9, color=INK)
    axis.pane.set_edgecolor(GREY)
    axis.pane.set_facecolor("white")
