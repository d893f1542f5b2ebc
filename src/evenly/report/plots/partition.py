"""Figures of how a cell is cut.

They show the chunks by rank and by load, the work per grid point, the time of each rank, the tree of cuts, and the
speedup against the number of ranks. A cost model predicts all of it. No simulation is run.
"""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.cm import ScalarMappable
from matplotlib.colors import LinearSegmentedColormap, Normalize
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.ticker import FuncFormatter, MaxNLocator, NullLocator
from numpy.typing import NDArray

from evenly.decomposition.cells.cell import Cell
from evenly.decomposition.cells.fdtd.cell import bare_cell
from evenly.decomposition.costs.cost_model import CostModel, program_named
from evenly.decomposition.partitioning.plan import CutPlan, Prediction
from evenly.errors import InputError
from evenly.fdtd.cell.box import AXES
from evenly.report.formatting import compact, quantity, ranks_text
from evenly.report.plots.partition_drawing import (
    Plane,
    aspect_of,
    boxes_aspect,
    draw_boxes,
    draw_plane,
    frame_plane,
    plane_of,
    rank_colour,
)  # fmt: skip
from evenly.report.plots.partition_tree import plot_tree
from evenly.report.plots.style import (
    GREY,
    INK,
    PALETTE,
    add_box,
    colour_bar,
    legend_below,
    new_figure,
    one_panel,
    quantity_axis,
    set_title,
    tidy,
    value_axis,
)
from evenly.report.tables.partition import BALANCED, EVEN

if TYPE_CHECKING:
    from evenly.fdtd.simulation import Simulation

__all__ = ["plot_chunks", "plot_counts", "plot_plan", "plot_shares", "plot_where"]

Array = NDArray[np.float64]
#: Loads below the mean are blue, loads above it are red, and the mean is nearly white.
LOAD = LinearSegmentedColormap.from_list("load", ["#08519C", "#6BAED6", "#F3F1EC", "#F4975F", "#A50F15"])
WORK = LinearSegmentedColormap.from_list("work", ["#FFFFFF", "#FCE8C5", "#F3B562", "#D9772B"])
HATCHES = {"pml": "////", "absorber": "...."}
_LAYERS = {"pml": "PML", "absorber": "absorber"}
#: The colours of stepping and of sends in the figures of runs.
_WORK, _BORDERS = PALETTE[0], PALETTE[3]
#: A term is the cost of grid points if it is proportional to one of these.
_POINTWISE = frozenset({"point", "node", "value", "value and frequency", "product"})
#: The place of a colour bar beside all panels.
_BAR: dict[str, Any] = {"fraction": 0.03, "pad": 0.015, "aspect": 25, "shrink": 0.85}
#: The colours span at least this much on both sides of the mean.
LEAST_SPREAD = 0.05
#: Number of blocks along the longest axis of a slice.
BLOCKS = 72
#: If there are more bars than this, they are drawn as one outline.
MOST_BARS = 64


def plot_plan(plan: CutPlan, cost: CostModel, *, unit: str = "a") -> dict[str, Figure]:
    """Return all pictures of a plan by name: "chunks", "work", "ranks", "tree".

    Parameters
    ----------
    plan : CutPlan
    cost : CostModel
        The cost model of the plan's predictions.
    unit : str
        The unit of lengths.
    """
    return {
        "chunks": plot_chunks(plan, unit=unit),
        "work": plot_where(plan, cost, unit=unit),
        "ranks": plot_shares(plan),
        "tree": plot_tree(plan, unit=unit),
    }


# ---- chunks -------------------------------------------------------------------------------------------------


def plot_chunks(plan: CutPlan, *, unit: str = "a") -> Figure:
    """Show the chunks coloured by rank, then coloured by load, beside chunks of equal volume coloured by load.

    The load is the predicted time of a rank over the mean of all ranks.

    Parameters
    ----------
    plan : CutPlan
    unit : str
        The unit of lengths.
    """
    chosen = plan.prediction
    loads = {_name(plan): chosen} | ({EVEN: plan.even} if plan.chosen == "balanced" else {})
    shares = np.concatenate([one.rank_s / one.rank_s.mean() for one in loads.values()])
    norm = _load_norm(shares)
    figure, panels = _chunk_panels(plan.cell, 1 + len(loads))
    _draw_chunks(panels[0], plan.cell, chosen, lambda owner: rank_colour(owner), unit)
    _caption(panels[0], "chunks by rank")
    for axes, (name, one) in zip(panels[1:], loads.items(), strict=True):
        share = one.rank_s / one.rank_s.mean()
        _draw_chunks(axes, plan.cell, one, lambda owner, s=share: mpl.colors.to_hex(LOAD(norm(s[owner]))), unit)
        _caption(axes, f"load, {name} (at most {one.imbalance:.2f})")
    bar = colour_bar(figure, ScalarMappable(norm, LOAD), "predicted time over the mean", ax=panels, **_BAR)
    bar.ax.set_ylim(min(1 - LEAST_SPREAD, float(shares.min())), max(1 + LEAST_SPREAD, float(shares.max())))
    bar.ax.yaxis.set_major_locator(MaxNLocator(6, steps=[1, 2, 2.5, 5, 10]))
    set_title(figure, f"{plan.cell.name}: {_finding(plan)}")
    return figure


def plot_layout(simulation: Simulation, ranks: int | None = None, *, unit: str = "a") -> Figure:
    """Show how a simulation of `evenly.fdtd` is cut into chunks, coloured by rank; nothing is predicted.

    Parameters
    ----------
    simulation : Simulation
        Its fields aren't allocated.
    ranks : int, optional
        Number of ranks; by default those of the job, or those that the layout is for if it has only one.
    unit : str
        The unit of lengths.

    Examples
    --------
    >>> from evenly import fdtd
    >>> sim = fdtd.Simulation(cell=(10, 5, 0), resolution=10, layout=[("x", -2.0), 0, [("y", 1.5), 1, 2]])
    >>> len([shape for shape in plot_layout(sim).axes[0].patches if shape.get_gid() == "chunk"])
    3
    """
    if ranks is None:
        ranks = simulation.communicator.size
        ranks = simulation.layout.ranks if ranks == 1 else ranks
    if isinstance(ranks, bool) or ranks not in range(1, 10_000_000):
        raise InputError(f"`ranks` must be a whole number of at least 1, but got {ranks!r}.")
    cell = bare_cell(simulation)
    figure, (axes,) = _chunk_panels(cell, 1)
    owners = [owner % ranks for owner in simulation.layout.owners]
    labels, boxes = [str(owner) for owner in owners], simulation.layout.boxes(simulation.grid, simulation.layers.kept)
    if cell.grid.dimensions == 3:
        draw_boxes(axes, cell, simulation.layout, labels, lambda leaf: rank_colour(owners[leaf]), unit)
    else:
        x, y, z = (-low for low in simulation.layers.kept.lo)
        plane = plane_of(cell)
        inside = [box.shift((x, y, z)) for box in boxes]
        draw_plane(axes, plane, inside, labels, lambda leaf: rank_colour(owners[leaf]))
        _draw_layers(axes, cell, plane, above=True)
        frame_plane(axes, plane, unit)
    shares = np.bincount(owners, [box.volume for box in boxes], ranks)
    chunks = "1 chunk" if len(boxes) == 1 else f"{len(boxes)} chunks"
    points = f"at most {compact(float(shares.max()))} of {compact(float(shares.sum()))} points on a rank"
    set_title(figure, f"{chunks} on {ranks_text(ranks)}", points)
    return figure


def _finding(plan: CutPlan) -> str:
    chosen = plan.prediction
    text = f"{ranks_text(chosen.ranks)}, {quantity(chosen.step_s, digits=3)} per step"
    if plan.chosen == "balanced":
        return f"{text}, {plan.gain:.2f} times as fast as equal volumes"
    return f"{text}; equal volumes are chosen" if chosen.ranks > 1 else text


def _name(plan: CutPlan) -> str:
    return BALANCED if plan.chosen == "balanced" else EVEN


def _caption(axes: Axes, text: str) -> None:
    axes.set_title(text, loc="left", fontsize=9, color=GREY)


def _load_norm(shares: Array) -> Normalize:
    spread = max(LEAST_SPREAD, float(np.abs(shares - 1).max()))
    return Normalize(1 - spread, 1 + spread)


def _chunk_panels(cell: Cell, count: int) -> tuple[Figure, list[Axes]]:
    if cell.grid.dimensions == 3:
        aspect = boxes_aspect(cell)
        across = min(3.4, max(2.5, 4.0 / aspect))
        figure = new_figure((across + 0.1) * count + 0.9, min(4.8, max(2.6, across * aspect + 0.8)))
        return figure, list(np.atleast_1d(figure.subplots(1, count)))
    aspect = aspect_of(plane_of(cell))
    beside = aspect > 0.45
    across = min(3.3, 5.5 / aspect) if beside else 6.4
    columns, rows = (count, 1) if beside else (1, count)
    figure = new_figure(max(6.4, columns * (across + 0.5) + 0.9), max(2.6, rows * (across * aspect + 0.7) + 0.5))
    return figure, list(np.atleast_1d(figure.subplots(rows, columns)))


def _draw_chunks(axes: Axes, cell: Cell, one: Prediction, colour: Any, unit: str) -> None:
    owners = [owner % one.ranks for owner in one.layout.owners]
    labels = [str(owner) for owner in owners]
    if cell.grid.dimensions == 3:
        draw_boxes(axes, cell, one.layout, labels, lambda leaf: colour(owners[leaf]), unit)
        return
    plane = plane_of(cell)
    draw_plane(axes, plane, one.layout.boxes(cell.grid), labels, lambda leaf: colour(owners[leaf]))
    frame_plane(axes, plane, unit)


# ---- where the work is --------------------------------------------------------------------------------------


def plot_where(plan: CutPlan, cost: CostModel, *, unit: str = "a") -> Figure:
    """Show slices through the middle with the predicted time per grid point, the cuts and the absorbing layers.

    The time of a block of a slice is predicted as for a chunk, but without the costs per chunk and of borders.
    """
    cell, grid = plan.cell, plan.cell.grid
    planes = [plane_of(cell, axis) for axis in (2, 1, 0)] if grid.dimensions == 3 else [plane_of(cell)]
    work = [_work_per_point(cell, cost, plane) for plane in planes]
    top = max(float(np.percentile(values, 99.5)) for _, _, values in work) or 1.0
    figure, panels = _slice_panels(planes)
    owners = [str(owner % plan.prediction.ranks) for owner in plan.layout.owners]
    boxes = plan.layout.boxes(grid)
    for axes, plane, (x, y, values) in zip(panels, planes, work, strict=True):
        image = axes.pcolormesh(x, y, values.T * 1e9, cmap=WORK, vmin=0, vmax=top * 1e9, gid="work", zorder=1)
        image.set_edgecolor("face")
        _draw_layers(axes, cell, plane)
        draw_plane(axes, plane, boxes, owners, None)
        frame_plane(axes, plane, unit)
        if grid.dimensions == 3:
            _caption(axes, f"at {AXES[plane.across]} = {compact(plane.position, 3)} {unit}".replace("-", "−"))
    colour_bar(figure, image, "predicted ns per point and step", ax=panels, extend="max", **_BAR)
    set_title(figure, f"{cell.name}: where the work is, cut for {ranks_text(plan.prediction.ranks)}")
    layers = [kind for kind in HATCHES if any(depth for pair in getattr(cell, kind) for depth in pair)]
    handles: dict[str, Any] = {"chunk": Line2D([], [], color=INK, linewidth=0.9)}
    handles |= {_LAYERS[k]: Patch(facecolor="white", edgecolor=GREY, hatch=HATCHES[k]) for k in layers}
    legend_below(figure, handles)
    return figure


def _slice_panels(planes: Sequence[Plane]) -> tuple[Figure, list[Axes]]:
    aspects = [aspect_of(plane) for plane in planes]
    if len(planes) == 1:
        across = min(5.4, 6.0 / aspects[0])
        figure = new_figure(max(5.6, across + 1.8), max(2.4, across * aspects[0] + 1.4))
        return figure, [figure.subplots()]
    # All panels have the same scale: the longest edge of the cell is 3.2 inches.
    edges = [plane.extent for plane in planes]
    scale = 3.3 / max(max(e[1] - e[0], e[3] - e[2]) for e in edges)
    widths = [max(0.6, (e[1] - e[0]) * scale) for e in edges]
    heights = [w * a for w, a in zip(widths, aspects, strict=True)]
    figure = new_figure(max(6.4, sum(widths) + 0.85 * len(planes) + 0.9), max(2.8, max(heights) + 1.6))
    return figure, list(figure.subplots(1, len(planes), gridspec_kw={"width_ratios": widths}))


def _work_per_point(cell: Cell, cost: CostModel, plane: Plane) -> tuple[Array, Array, Array]:
    """Return the blocks of a slice: corners across and up, in a, and seconds per point and step, shape (n1, n2)."""
    grid, (first, second) = cell.grid, plane.axes
    side = max(1, -(-max(grid.shape[first], grid.shape[second]) // BLOCKS))
    edges = [_edges(cell, axis, side) for axis in (first, second)]
    start = max(0, min(plane.at - side // 2, grid.shape[plane.across] - side))
    low = np.zeros((len(edges[0]) - 1, len(edges[1]) - 1, 3), dtype=np.int64)
    high = np.zeros_like(low)
    low[..., plane.across], high[..., plane.across] = start, min(start + side, grid.shape[plane.across])
    for axis, edge, where in ((first, edges[0], np.s_[:, None]), (second, edges[1], np.s_[None, :])):
        low[..., axis], high[..., axis] = edge[:-1][where], edge[1:][where]
    flat = low.reshape(-1, 3), high.reshape(-1, 3)
    seconds = _of_points(cost).chunk_seconds(cell, *flat) / np.prod(flat[1] - flat[0], axis=1)
    corners = [_places(plane, n, edge) for n, edge in enumerate(edges)]
    return corners[0], corners[1], seconds.reshape(low.shape[:2])


def _of_points(cost: CostModel) -> CostModel:
    """Return the costs of grid points, without the costs per chunk, per row and of borders."""
    own = {term.name for term in program_named(cost.program).all_terms if term.per in _POINTWISE}
    return dataclasses.replace(cost, coefficients={n: c for n, c in cost.coefficients.items() if n in own})


def _edges(cell: Cell, axis: int, side: int) -> NDArray[np.int64]:
    """Return the corners of blocks of about `side` points along an axis. Borders of layers are corners, too."""
    n = cell.grid.shape[axis]
    borders = {0, n}
    for depths in (cell.pml[axis], cell.absorber[axis]):
        borders |= {depths[0], n - depths[1]}
    parts = [np.linspace(a, b, max(1, round((b - a) / side)) + 1) for a, b in itertools.pairwise(sorted(borders))]
    return np.unique(np.rint(np.concatenate(parts)).astype(np.int64))


def _places(plane: Plane, which: int, edge: NDArray[np.int64]) -> Array:
    low, high = plane.extent[2 * which : 2 * which + 2]
    return np.asarray(low + (high - low) * edge / plane.grid.shape[plane.axes[which]])


def _draw_layers(axes: Axes, cell: Cell, plane: Plane, *, above: bool = False) -> None:
    whole = cell.grid.box
    for kind, hatch in HATCHES.items():
        for axis in plane.axes:
            n = cell.grid.shape[axis]
            low, high = getattr(cell, kind)[axis]
            for start, stop in ((0, low), (n - high, n)):
                if stop > start:
                    add_box(
                        axes, plane.corners(whole.replace(axis, start, stop)), fill=False, hatch=hatch, edgecolor=GREY,
                        linewidth=0, alpha=0.45, gid="layer", zorder=3 if above else 1.5,
                    )  # fmt: skip


# ---- ranks --------------------------------------------------------------------------------------------------


def plot_shares(plan: CutPlan) -> Figure:
    """Show the predicted seconds of each rank for work and for borders, beside those of chunks of equal volume."""
    cuts = {_name(plan): plan.prediction} | ({EVEN: plan.even} if plan.chosen == "balanced" else {})
    ranks = plan.prediction.ranks
    width = min(6.0, max(2.9, 1.2 + 0.2 * ranks))
    figure = new_figure(max(7.4, len(cuts) * width + 0.8), 3.9)
    panels = figure.subplots(1, len(cuts), sharey=True, squeeze=False)[0]
    top = max(one.step_s for one in cuts.values())
    for axes, (name, one) in zip(panels, cuts.items(), strict=True):
        _bars(axes, one)
        axes.axhline(float(one.rank_s.mean()), color=INK, linewidth=1.0, linestyle=(0, (4, 2)), zorder=4, gid="mean")
        _caption(axes, f"{name}: slowest {one.imbalance:.3f} × the mean")
        axes.set_xlabel("rank", fontsize=10, color=INK)
        axes.xaxis.set_major_locator(MaxNLocator(8, integer=True, steps=[1, 2, 4, 5, 8, 10]))
        axes.set_xlim(-0.7, ranks - 0.3)
    quantity_axis(panels[0], "y", "predicted time per step", "s", [top])
    panels[0].set_ylim(0, 1.06 * top)
    set_title(figure, f"{plan.cell.name}: {_finding(plan)}")
    mean = Line2D([], [], color=INK, linestyle=(0, (4, 2)), linewidth=1)
    work, borders = Patch(color=_WORK), Patch(color=_BORDERS)
    legend_below(figure, {"work": work, "borders with other ranks": borders, "mean of the ranks": mean})
    return figure


def _bars(axes: Axes, one: Prediction) -> None:
    tidy(axes)
    places = np.arange(one.ranks)
    layers = (("work", one.work_s, 0 * one.work_s, _WORK), ("borders", one.border_s, one.work_s, _BORDERS))
    for name, heights, base, colour in layers:
        if one.ranks <= MOST_BARS:
            axes.bar(places, heights, bottom=base, width=0.76, color=colour, zorder=3, gid=name)
        else:
            edges = np.arange(one.ranks + 1) - 0.5
            axes.stairs(base + heights, edges, baseline=base, fill=True, color=colour, zorder=3, gid=name)


# ---- several numbers of ranks -------------------------------------------------------------------------------


def plot_counts(plans: Sequence[CutPlan], serial_s: float) -> Figure:
    """Show the predicted speedup against the number of ranks.

    The lines show the chosen cuts, chunks of equal volume, and the ideal: a speedup equal to the number of ranks.

    Parameters
    ----------
    plans : sequence of CutPlan
        Plans of one cell.
    serial_s : float
        Predicted seconds per step of one rank.
    """
    ranks = np.array([plan.prediction.ranks for plan in plans], dtype=float)
    figure, axes = one_panel(6.0, 4.2, grid="both")
    curves = {
        "answer": (serial_s / np.array([p.prediction.step_s for p in plans]), PALETTE[0], "o", "-"),
        EVEN: (serial_s / np.array([p.even.step_s for p in plans]), PALETTE[1], "s", "-"),
        "ideal (number of ranks)": (ranks, GREY, None, (0, (4, 2))),
    }
    handles = {}
    for name, (values, colour, marker, style) in curves.items():
        (handles[name],) = axes.plot(
            ranks, values, color=colour, marker=marker, markersize=5, linestyle=style, linewidth=1.6, gid=name, zorder=3
        )
    log = len(ranks) > 1 and ranks.max() / ranks.min() >= 4
    value_axis(axes, "x", "ranks", "", ranks, log=log)
    axes.set_yscale("log" if log else "linear")
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: compact(value, 3)))
    if log:
        axes.set_yticks([t for t in 2.0 ** np.arange(0, 24) if 0.6 * ranks.min() <= t <= 1.6 * ranks.max()])
        axes.yaxis.set_minor_locator(NullLocator())
    axes.set_ylabel("predicted speedup over one rank", fontsize=10, color=INK)
    best = max(plans, key=lambda plan: plan.gain)
    gain = f"up to {best.gain:.2f} times as fast as equal volumes" if best.gain > 1 else "equal volumes are chosen"
    set_title(figure, f"{plans[0].cell.name}: {gain}")
    legend_below(figure, handles)
    return figure
