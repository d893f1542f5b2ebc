"""One panel of a model along one parameter. `evenly.report.plots.model` combines panels into figures."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.transforms import Transform, offset_copy
from numpy.typing import NDArray

from evenly.errors import InputError
from evenly.models.base import Model
from evenly.report.formatting import percent, span
from evenly.report.plots.style import Scaling, above_zero, quantity_axis, tidy, value_axis
from evenly.report.plots.trend_words import quantity_name
from evenly.report.slices import Line, Points, bounds, choose_parameter, fixed_at, line_along, of_response, points_along
from evenly.runs.runs import Runs
from evenly.space.parameters import Categorical, Parameter

__all__ = ["Slice", "comparable", "draw_slice", "share_limits", "slice_through"]

_TEST_COLOUR = "#000000"
#: If there are more points than this, they are drawn as pixels also in vector formats, so that files stay small.
_RASTER = 2000
_DECADES_APART = 1e3


@dataclass
class Slice:
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
        """Return all values on the panel. They determine its scale."""
        points = [p.value for p in (self.points, self.test) if p is not None]
        return np.concatenate([self.line.value, *points])


def comparable(slices: Sequence[Slice]) -> bool:
    """Return whether the values of all panels can share one axis: their medians lie within three decades."""
    middles = [abs(float(np.median(one.shown()))) for one in slices]
    return max(middles) <= _DECADES_APART * min(middles)


def share_limits(panels: list[Axes]) -> None:
    """Give panels of the same quantity the same vertical limits, so that heights can be compared."""
    limits = [axes.get_ylim() for axes in panels]
    for axes in panels:
        axes.set_ylim(min(low for low, _ in limits), max(high for _, high in limits))


def slice_through(
    model: Model,
    runs: Runs | None,
    parameter: str | None,
    at: Mapping[str, Any] | None,
    *,
    level: float,
    test: Runs | None = None,
    extend_to: float | None = None,
) -> Slice:
    """Evaluate a model along one parameter, and select the measurements to show with it.

    The parameters are those of `evenly.report.plots.model.plot_model`.
    """
    chosen = choose_parameter(model, parameter)
    runs, test = (None if one is None else of_response(model, one) for one in (runs, test))
    fixed = fixed_at(model, runs, (chosen,), at)
    seen = None if runs is None else points_along(model, runs, chosen, fixed)
    held_out = None if test is None or not len(test.ok) else points_along(model, test, chosen, fixed)
    reach = _reach(model.space_.parameters[chosen], [p for p in (seen, held_out) if p is not None], extend_to)
    line = line_along(model, chosen, fixed, level=level, reach=reach)
    return Slice(model, chosen, fixed, level, line, seen, held_out)


def _reach(kind: Parameter, points: list[Points], extend_to: float | None) -> tuple[float, float] | None:
    ends = bounds(kind)
    if extend_to is not None and (ends is None or not ends[1] < extend_to < np.inf):
        raise InputError(
            f"a picture is extended to a number above the largest measured one, but got {extend_to:g}"
            + ("" if ends is None else f", and {ends[1]:g} was measured")
        )
    if ends is None:
        return None
    seen = [float(v) for p in points for v in p.x] + ([] if extend_to is None else [float(extend_to)])
    return min([ends[0], *seen]), max([ends[1], *seen])


def draw_slice(axes: Axes, shown: Slice, colour: str, log: Scaling, *, together: Sequence[Slice] = ()) -> None:
    """Draw one panel. The scales are chosen for all panels in `together`."""
    tidy(axes)
    family = together or [shown]
    values = np.concatenate([one.shown() for one in family])
    log_y = _is_log(log, values)
    quantity_axis(axes, "y", shown.quantity, shown.model.response_["unit"], values, log=log_y)
    if isinstance(shown.kind, Categorical):
        _draw_labels(axes, shown, colour)
    else:
        _draw_line(axes, shown, colour)
        alike = np.concatenate([one.line.x for one in family if one.parameter == shown.parameter])
        log_x = getattr(shown.kind, "scale", "linear") == "log" and _is_log(log, alike)
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


def _draw_line(axes: Axes, shown: Slice, colour: str) -> None:
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
    """Split the points outside the training range into left and right, each with the nearest point of the range."""
    if not len(beyond):
        return []
    parts = np.split(beyond, np.flatnonzero(np.diff(beyond) > 1) + 1)
    last = len(inside) - 1
    return [np.arange(max(part[0] - 1, 0), min(part[-1] + 1, last) + 1) for part in parts]


def _draw_extrapolation(axes: Axes, shown: Slice, part: NDArray[np.intp], colour: str) -> None:
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


def _draw_labels(axes: Axes, shown: Slice, colour: str) -> None:
    """Show a model along a categorical parameter: each label has a dash for the value, and a bar for the interval."""
    line, places = shown.line, np.arange(len(shown.line.x))
    bars = axes.bar(places, line.upper - line.lower, bottom=line.lower, width=0.6, color=colour, alpha=0.18, gid="band")
    axes.hlines(line.value, places - 0.3, places + 0.3, color=colour, linewidth=1.8, gid="model")
    axes.set_xticks(places, [str(x) for x in line.x])
    axes.set_xlabel(shown.parameter, fontsize=10)
    dash = Line2D([], [], color=colour, linewidth=1.8)
    shown.handles[f"model and {percent(shown.level)} interval"] = (bars[0], dash)


def _places(shown: Slice, x: NDArray[Any]) -> NDArray[Any]:
    if not isinstance(shown.kind, Categorical):
        return x
    return np.array([list(shown.line.x).index(label) for label in x], dtype=np.float64)


def _draw_points(axes: Axes, shown: Slice, points: Points, colour: str, *, held_out: bool) -> None:
    repeated = _repeated(points.raw_x)
    if repeated.any():
        x, value = _places(shown, points.raw_x[repeated]), points.raw[repeated]
        raw = axes.plot(
            x, value, ".", color=colour, alpha=0.4, markersize=5, markeredgewidth=0, zorder=2.5, gid="repetitions",
            transform=_beside(axes), rasterized=len(x) > _RASTER,
        )  # fmt: skip
        if not held_out:
            shown.handles["single runs"] = raw[0]
    many = len(points.x) > 60
    bars = axes.errorbar(
        _places(shown, points.x), points.value,
        yerr=above_zero(points.value, points.spread) if points.spread.any() else None,
        fmt="D" if held_out else "o", markersize=3 if many else 5, markerfacecolor="white" if held_out else colour,
        markeredgecolor=colour if held_out else "white", markeredgewidth=1.1 if held_out else 0.6, color=colour,
        ecolor=colour, elinewidth=1, capsize=0 if many else 2.5, linestyle="none", zorder=3,
        alpha=0.5 if many else 1.0,
    )  # fmt: skip
    bars[0].set_gid("test" if held_out else "medians")
    shown.handles[_points_label(points, held_out=held_out)] = bars


def _repeated(x: NDArray[Any]) -> NDArray[np.bool_]:
    """Return which single runs (m,) have the same x as others. The remaining runs are already drawn as medians."""
    _, place, count = np.unique(x, return_inverse=True, return_counts=True)
    return np.asarray(count[place.ravel()] > 1, dtype=np.bool_)


def _beside(axes: Axes) -> Transform:
    """Return a shift to the right, so that the median does not hide single runs."""
    figure: Any = axes.get_figure()
    return offset_copy(axes.transData, figure, x=6, units="points")


def _points_label(points: Points, *, held_out: bool) -> str:
    label = "held out" if held_out else "measured"
    if len(points.raw) > len(points.x) or points.spread.any():
        label += ", median ± std. dev."
    return f"{label}, scaled to this slice by the model" if points.carried else label
