"""A model along one parameter, one line per value of a second."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from evenly.errors import InputError
from evenly.models.base import Model
from evenly.report.formatting import value_text
from evenly.report.plots.slice_panel import draw_slice, slice_through
from evenly.report.plots.style import Scaling, legend_below, new_figure, set_title
from evenly.report.plots.trend_words import quantity_name
from evenly.report.slices import bounds, choose_parameter, fixed_at
from evenly.runs.runs import Runs

__all__ = ["plot_family"]

_MOST = 6


def plot_family(
    model: Model,
    runs: Runs | None = None,
    *,
    by: str,
    parameter: str | None = None,
    values: Sequence[Any] | None = None,
    at: Mapping[str, Any] | None = None,
    level: float = 0.9,
    log: Scaling = "auto",
    name: str = "",
) -> Figure:
    """Show a model along one parameter, one line for each value of a second.

    Parameters
    ----------
    model, runs, level, log, name
        As in `evenly.report.plots.model.plot_model`.
    by : str
        The second parameter.
    parameter : str, optional
        On the horizontal axis; the first other numeric one that varies by default.
    values : sequence, optional
        Of the second parameter; by default at most six of the measured ones, spread over their range.
    at : mapping of str to value, optional
        The other parameters; by default the combination measured most often.

    Returns
    -------
    Figure

    Raises
    ------
    InputError
        If `by` is not a second parameter of the model.

    Examples
    --------
    >>> import evenly, pandas as pd
    >>> table = pd.DataFrame({"n": [1, 2, 4, 1, 2, 4], "cores": [1, 1, 1, 2, 2, 2], "seconds": [2., 4, 8, 1, 2, 4]})
    >>> runs = evenly.Runs.from_frame(table, ["n", "cores"])
    >>> figure = plot_family(evenly.fit(runs, method="power-law"), runs, by="cores")
    >>> [text.get_text() for text in figure.legends[0].get_texts()]
    ['cores = 1', 'cores = 2']
    """
    chosen = _other(model, by) if parameter is None else choose_parameter(model, parameter)
    if by not in model.space_.names or by == chosen:
        others = ", ".join(one for one in model.space_.names if one != chosen) or "none"
        raise InputError(f"`by` must be a parameter beside {chosen!r} ({others}), but got {by!r}")
    fixed = fixed_at(model, runs, (chosen, by), at)
    asked = list(values) if values is not None else _spread(model, runs, by)
    slices = [
        slice_through(model, runs, chosen, {**fixed, by: value}, level=level, points="on the slice") for value in asked
    ]
    figure = new_figure()
    axes = figure.subplots()
    colours = mpl.colormaps["viridis"](np.linspace(0.0, 0.85, len(slices)))
    handles = {}
    for value, shown, colour in zip(asked, slices, colours, strict=True):
        shade = mpl.colors.to_hex(colour)
        draw_slice(axes, shown, shade, log, together=slices)
        handles[f"{by} = {value_text(value)}"] = Line2D([], [], color=shade, linewidth=1.8, marker="o", markersize=5)
    title = f"{quantity_name(model.response_)} over {chosen}, by {by}"
    detail = ", ".join(f"{key} = {value_text(value)}" for key, value in fixed.items())
    set_title(figure, f"{name}: {title}" if name else title[:1].upper() + title[1:], detail)
    legend_below(figure, list(handles.values()), list(handles))
    return figure


def _other(model: Model, by: str) -> str:
    ends = {name: bounds(kind) for name, kind in model.space_.parameters.items() if name != by}
    varying = [name for name, end in ends.items() if end is not None and end[0] < end[1]]
    if not varying:
        raise InputError(f"a model needs a numeric parameter beside {by!r} that varies: use plot_model")
    return varying[0]


def _spread(model: Model, runs: Runs | None, by: str) -> list[Any]:
    """Return at most six values, spread over what was measured or learned on."""
    kind = model.space_.parameters[by]
    ends = bounds(kind)
    if runs is not None:
        known = np.unique(runs.ok.configurations[by].to_numpy())
    elif ends is None:
        known = np.asarray(kind.values())
    else:
        known = np.geomspace(*ends, 4) if getattr(kind, "scale", "linear") == "log" else np.linspace(*ends, 4)
    picked = np.unique(np.linspace(0, len(known) - 1, min(len(known), _MOST)).round().astype(np.int64))
    return list(known[picked].tolist())
