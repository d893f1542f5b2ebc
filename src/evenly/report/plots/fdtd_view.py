"""Slices through an FDTD simulation: media, chunks and their owners, absorbing layers, monitors, fields."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from matplotlib.colors import LinearSegmentedColormap
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.ticker import MaxNLocator

from evenly.errors import InputError
from evenly.fdtd.structures.views import Area, View
from evenly.report.formatting import compact, ranks_text
from evenly.report.plots.style import (
    GREY,
    INK,
    PALETTE,
    add_box,
    colour_bar,
    legend_below,
    new_figure,
    readable_on,
    set_title,
)

__all__ = ["plot_field", "plot_geometry"]

METAL = "#4A4A4A"
#: Light enough for lines and hatches on top.
MEDIA = LinearSegmentedColormap.from_list("media", ["#FFFFFF", "#DCE9F5", "#A9CBE3", "#6BA3CE"])
HATCHES = {"PML": "////", "absorber": "...."}
MONITOR, SOURCE = "#D55E00", "#009E73"
#: With more chunks than this, their numbers are not written: nobody could read them.
MOST_NUMBERS = 80
#: An outline is drawn where the index changes by more than this between neighbouring grid points.
SEEN_JUMP = 0.05
#: This percentile of a field gets the last colour. Around a point source, fields grow without bound.
SHOWN_SHARE = 99.5


def plot_geometry(view: View) -> Figure:
    """Show a slice with media, layers, monitors and sources, and beside it the chunks and their owners.

    Parameters
    ----------
    view : View
        From `evenly.fdtd.structures.views.take_view`.

    Returns
    -------
    Figure
    """
    figure, (media, chunks) = _panels(view, 2)
    handles = _draw_media(figure, media, view)
    _draw_borders(media, view.chunks, 0.5)
    handles |= _draw_marks(media, view)
    _draw_owners(chunks, view)
    _draw_layers(chunks, view.layers)
    _frame(media, view)
    _frame(chunks, view)
    chunks.set_title("chunks by rank", loc="left", fontsize=9, color=GREY)
    wavelength = f"λ = {compact(1 / view.frequency, 3)} {view.unit}"
    set_title(figure, f"{view.name}: {_parts(view)}", f"refractive index at {wavelength}")
    legend_below(figure, handles)
    return figure


def plot_field(view: View) -> Figure:
    """Show a snapshot of a field component, with the outlines of media and the borders of chunks.

    Raises
    ------
    InputError
        If the view holds no field.
    """
    if view.snapshot is None:
        raise InputError("A picture of a field needs a view with one: take it `with_field`.")
    figure, (axes,) = _panels(view, 1)
    largest = float(np.percentile(np.abs(view.snapshot), SHOWN_SHARE)) or 1.0
    image = axes.imshow(
        view.snapshot.T, origin="lower", extent=view.extent, cmap="RdBu_r", vmin=-largest, vmax=largest,
        interpolation="nearest", gid="field",
    )  # fmt: skip
    _draw_outlines(axes, view)
    _draw_borders(axes, view.chunks, 0.7, style="--")
    _draw_layers(axes, view.layers, faint=True)
    _frame(axes, view)
    _colour_bar(figure, axes, image, f"{view.component} (arbitrary unit)", extend="both", extendfrac=0.03)
    place = "" if view.across in view.axes else f"{view.across} = {compact(view.at, 3)} {view.unit}, "
    set_title(figure, f"{view.name}: {view.component}", f"{place}t = {compact(view.time, 3)} {view.unit}/c")
    handles = _layer_handles(view.layers) | {"chunk border": Line2D([], [], color=INK, linewidth=0.8, linestyle="--")}
    legend_below(figure, handles)
    return figure


def _panels(view: View, count: int) -> tuple[Figure, Sequence[Axes]]:
    """Return panels side by side for tall slices, or one below the other for wide slices.

    Each panel has room for a colour bar. The figure is as large as its panels, so there are no gaps around them.
    """
    width, height = view.extent[1] - view.extent[0], view.extent[3] - view.extent[2]
    aspect = min(6.0, max(0.15, height / width))
    beside = aspect > 0.5 or count == 1
    across = min(3.6 if beside and count > 1 else 5.2, 6.2 / aspect)
    columns, rows = (count, 1) if beside else (1, count)
    size = (columns * across + 0.95 * columns + 0.8, rows * (across * aspect + 0.75) + 0.85)
    figure = new_figure(max(5.6, size[0]), max(3.0, size[1]))
    panels = figure.subplots(rows, columns)
    return figure, list(np.atleast_1d(panels))


def _draw_media(figure: Figure, axes: Axes, view: View) -> dict[str, Any]:
    metal = view.index.imag > view.index.real
    shown = np.ma.masked_array(view.index.real, metal)
    low, high = float(shown.min()) if shown.count() else 1.0, float(shown.max()) if shown.count() else 1.0
    image = axes.imshow(
        shown.T, origin="lower", extent=view.extent, cmap=MEDIA, vmin=min(1.0, low), vmax=max(high, low + 0.1),
        interpolation="nearest", gid="media",
    )  # fmt: skip
    handles: dict[str, Any] = {}
    if metal.any():
        colours = np.zeros((*metal.T.shape, 4))
        colours[metal.T] = mpl.colors.to_rgba(METAL)
        axes.imshow(colours, origin="lower", extent=view.extent, interpolation="nearest", gid="metal")
        handles["metal (Re ε < 0)"] = Patch(facecolor=METAL)
    _colour_bar(figure, axes, image, "index")
    return handles


def _colour_bar(figure: Figure, axes: Axes, image: Any, label: str, **options: Any) -> None:
    """Put a colour bar beside a panel, as tall as the panel."""
    x0, x1, y0, y1 = image.get_extent()
    # All bars have the same width, whatever the shape of the panel.
    width = 0.035 * max(1.0, (y1 - y0) / (x1 - x0))
    bar = colour_bar(figure, image, label, cax=axes.inset_axes((1.0 + width, 0.0, width, 1.0)), **options)
    bar.ax.yaxis.set_major_locator(MaxNLocator(5))


def _draw_outlines(axes: Axes, view: View) -> None:
    """Draw lines between grid points where the medium changes."""
    index = np.abs(view.index)
    x0, x1, y0, y1 = view.extent
    edges = [np.linspace(x0, x1, index.shape[0] + 1), np.linspace(y0, y1, index.shape[1] + 1)]
    segments = []
    for axis in range(2):
        i, j = np.nonzero(_steepest(index, axis))
        along, across = (i, j) if axis == 0 else (j, i)
        at = edges[axis][along + 1]
        from_, to = edges[1 - axis][across], edges[1 - axis][across + 1]
        ends = [np.stack([at, from_], axis=1), np.stack([at, to], axis=1)]
        segments.append(np.stack([e if axis == 0 else e[:, ::-1] for e in ends], axis=1))
    lines = LineCollection(list(np.concatenate(segments)), colors=INK, linewidths=0.7, alpha=0.7, zorder=2.5)
    lines.set_gid("media")
    axes.add_collection(lines)


def _steepest(index: Any, axis: int) -> Any:
    """Return where the index jumps most between neighbours along an axis: one place per averaged interface."""
    jumps = np.moveaxis(np.abs(np.diff(index, axis=axis)), axis, 0)
    none = np.zeros((1, *jumps.shape[1:]))
    before, after = np.concatenate([none, jumps])[:-1], np.concatenate([jumps, none])[1:]
    return np.moveaxis((jumps > SEEN_JUMP) & (jumps >= before) & (jumps > after), 0, axis)


def _draw_borders(axes: Axes, chunks: Iterable[Area], width: float, *, style: str = "-") -> None:
    for chunk in chunks:
        add_box(
            axes, chunk.corners, fill=False, edgecolor=INK, linewidth=width, linestyle=style, alpha=0.6, gid="chunk"
        )


def _draw_owners(axes: Axes, view: View) -> None:
    numbered = len(view.chunks) <= MOST_NUMBERS
    cell = (view.extent[1] - view.extent[0], view.extent[3] - view.extent[2])
    for chunk in view.chunks:
        x0, x1, y0, y1 = chunk.corners
        colour = PALETTE[chunk.owner % len(PALETTE)]
        add_box(axes, chunk.corners, facecolor=colour, edgecolor="white", linewidth=1.0, gid="owner")
        wide = (x1 - x0) / cell[0] > 0.035 * len(str(chunk.owner)) + 0.02 and (y1 - y0) / cell[1] > 0.06
        if numbered and wide:
            # A number needs its own background, because the layers are hatched.
            ground = {"boxstyle": "round,pad=0.15", "facecolor": colour, "edgecolor": "none"}
            axes.text(
                (x0 + x1) / 2, (y0 + y1) / 2, str(chunk.owner), ha="center", va="center", fontsize=8, bbox=ground,
                color=readable_on(colour), zorder=4,
            )  # fmt: skip


def _draw_layers(axes: Axes, layers: Iterable[Area], *, faint: bool = False) -> None:
    look: dict[str, Any] = {"fill": False, "edgecolor": GREY, "linewidth": 0, "alpha": 0.25 if faint else 0.7}
    for layer in layers:
        add_box(axes, layer.corners, hatch=HATCHES[layer.label], gid="layer", **look)


def _layer_handles(layers: Iterable[Area]) -> dict[str, Any]:
    return {
        name: Patch(facecolor="white", edgecolor=GREY, hatch=HATCHES[name])
        for name in dict.fromkeys(layer.label for layer in layers)
    }


def _draw_marks(axes: Axes, view: View) -> dict[str, Any]:
    _draw_layers(axes, view.layers)
    handles = _layer_handles(view.layers)
    for area in view.monitors:
        _draw_area(axes, area, MONITOR, "monitor")
    for area in view.sources:
        _draw_area(axes, area, SOURCE, "source")
    if view.monitors:
        handles["monitor"] = Line2D([], [], color=MONITOR, linewidth=1.6, linestyle=(0, (4, 1.5)))
    if view.sources:
        point = all(a.corners[0] == a.corners[1] and a.corners[2] == a.corners[3] for a in view.sources)
        look: dict[str, Any] = {"marker": "*", "linestyle": "none", "markersize": 10} if point else {"linewidth": 2.4}
        handles["source"] = Line2D([], [], color=SOURCE, **look)
    return handles


def _draw_area(axes: Axes, area: Area, colour: str, gid: str) -> None:
    x0, x1, y0, y1 = area.corners
    if x0 == x1 and y0 == y1:
        axes.plot(
            [x0], [y0], "*" if gid == "source" else "o", color=colour, markersize=10, markeredgecolor="white",
            markeredgewidth=0.6, zorder=5, gid=gid,
        )  # fmt: skip
    elif x0 == x1 or y0 == y1:
        style: Any = "-" if gid == "source" else (0, (4, 1.5))
        axes.plot([x0, x1], [y0, y1], color=colour, linewidth=2.4 if gid == "source" else 1.6, linestyle=style,
                  zorder=4, gid=gid)  # fmt: skip
    else:
        look: dict[str, Any] = {"edgecolor": colour, "linewidth": 1.6, "linestyle": (0, (4, 1.5)), "zorder": 4}
        add_box(axes, area.corners, fill=False, gid=gid, **look)
        if area.filled:
            add_box(axes, area.corners, facecolor=colour, alpha=0.2, zorder=3)


def _frame(axes: Axes, view: View) -> None:
    axes.set_xlim(view.extent[0], view.extent[1])
    axes.set_ylim(view.extent[2], view.extent[3])
    axes.set_aspect("equal")
    axes.set_xlabel(f"{view.axes[0]} ({view.unit})", fontsize=10, color=INK)
    axes.set_ylabel(f"{view.axes[1]} ({view.unit})", fontsize=10, color=INK)
    axes.tick_params(labelsize=9, color=GREY, labelcolor=INK)
    axes.xaxis.set_major_locator(MaxNLocator(5, steps=[1, 2, 5, 10]))
    axes.yaxis.set_major_locator(MaxNLocator(6, steps=[1, 2, 5, 10]))
    axes.spines[:].set_color(GREY)


def _parts(view: View) -> str:
    where = "" if view.across in view.axes or view.total_chunks == len(view.chunks) else f"of {view.total_chunks} "
    place = f"{view.across} = {compact(view.at, 3)} {view.unit}"
    return f"{len(view.chunks)} {where}chunks at {place}, on {ranks_text(view.ranks)}"
