"""A figure of the tree of cuts of a layout: from the whole cell on the left to the chunks of ranks on the right."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from matplotlib.figure import Figure
from matplotlib.patches import FancyBboxPatch
from numpy.typing import NDArray

from evenly.decomposition.partitioning.plan import CutPlan
from evenly.fdtd.cell.box import AXES
from evenly.fdtd.cell.partition import BinaryPartition
from evenly.report.formatting import compact, ranks_text
from evenly.report.plots.partition_drawing import rank_colour
from evenly.report.plots.style import GREY, INK, new_figure, readable_on, set_title

__all__ = ["plot_tree"]

#: If the tree has more ends than this, its deeper parts are summarised: nobody could read them.
MOST_ENDS = 64
#: Inches between the levels and between ends.
LEVEL, END = 1.05, 0.235
_AXIS_COLOURS = ("#E8EFF7", "#EDF5E9", "#FBEFE2")


@dataclass
class _Node:
    """A cut or an end of the drawn tree. `leaves` are its first and its last leaf."""

    text: str
    level: int
    axis: int | None
    leaves: tuple[int, int]
    below: list[_Node] = field(default_factory=list)
    y: float = 0.0


def plot_tree(plan: CutPlan, *, unit: str = "a", most: int = MOST_ENDS) -> Figure:
    """Show the cuts with their axes and positions, and the chunks with their ranks and loads.

    Parameters
    ----------
    plan : CutPlan
    unit : str
        The unit of lengths.
    most : int
        If there are more chunks than this, each of the deepest parts of the tree is drawn as one end.
    """
    chosen = plan.prediction
    layout = plan.in_program
    owners = [owner % chosen.ranks for owner in layout.owners]
    root = _grown(layout, _deepest_drawn(layout, most))
    ends = _placed(root)
    levels = max(end.level for end in ends)
    summarised = any(end.leaves[1] > end.leaves[0] for end in ends)
    beside = 1.75 if summarised else 0.85
    figure = new_figure(max(4.4, LEVEL * (levels + 0.5 + beside)), max(1.6, END * len(ends) + 0.95))
    axes = figure.subplots()
    _draw_links(axes, root, levels)
    share = chosen.rank_s / chosen.rank_s.mean()
    _draw_nodes(axes, root, levels, owners, share)
    axes.set_xlim(-0.5, levels + beside)
    axes.set_ylim(len(ends) - 0.4, -0.6)
    axes.set_axis_off()
    ends_are = "ends: ranks, number of chunks, " if summarised else "ends: rank, "
    detail = f"cuts in {unit}; {ends_are}predicted time over the mean"
    set_title(figure, f"{plan.cell.name}: {len(owners)} chunks for {ranks_text(chosen.ranks)}", detail)
    return figure


def _deepest_drawn(layout: BinaryPartition, most: int) -> int:
    """Return the deepest level up to which the drawn tree has at most `most` ends; at least 1."""
    depths = np.array([0 if where == "root" else where.count(".") + 1 for where, _ in layout.walk()])
    inner = np.array([node.owner is None for _, node in layout.walk()])
    for level in range(int(depths.max()), 0, -1):
        ends = np.count_nonzero(~inner & (depths <= level)) + np.count_nonzero(inner & (depths == level))
        if ends <= most:
            return level
    return 1


def _grown(layout: BinaryPartition, deepest: int) -> _Node:
    """Return the part of a tree that is drawn. Leaves are numbered depth-first."""
    count = _counted(layout)

    def grow(node: BinaryPartition, level: int, first: int) -> _Node:
        last = first + count[id(node)] - 1
        if node.left is None or node.right is None or node.axis is None or node.position is None or level == deepest:
            return _Node("", level, None, (first, last))
        text = f"{AXES[node.axis]} = {compact(node.position, 3)}".replace("-", "−")
        lower = grow(node.left, level + 1, first)
        upper = grow(node.right, level + 1, first + count[id(node.left)])
        return _Node(text, level, node.axis, (first, last), [lower, upper])

    return grow(layout, 0, 0)


def _counted(layout: BinaryPartition) -> dict[int, int]:
    """Return the number of leaves below each node."""
    count: dict[int, int] = {}
    for _, node in reversed(list(layout.walk())):
        own = node.left is None or node.right is None
        count[id(node)] = 1 if own else count[id(node.left)] + count[id(node.right)]
    return count


def _placed(root: _Node) -> list[_Node]:
    """Set the vertical position of every node, with the ends one below the other, and return the ends."""
    ends: list[_Node] = []

    def place(node: _Node) -> None:
        for one in node.below:
            place(one)
        if node.below:
            node.y = (node.below[0].y + node.below[-1].y) / 2
        else:
            node.y = float(len(ends))
            ends.append(node)

    place(root)
    return ends


def _all(node: _Node) -> list[_Node]:
    return [node, *(deeper for one in node.below for deeper in _all(one))]


def _x(node: _Node, levels: int) -> float:
    """Return the horizontal position of a node: the level of a cut; all ends are on the right."""
    return float(node.level if node.below else levels)


def _draw_links(axes: Axes, root: _Node, levels: int) -> None:
    lines = []
    for node in _all(root):
        for one in node.below:
            x0, x1 = _x(node, levels), _x(one, levels)
            turn = node.level + 0.5
            lines.append([(x0, node.y), (turn, node.y), (turn, one.y), (x1, one.y)])
    axes.add_collection(LineCollection(lines, colors=GREY, linewidths=0.9, zorder=1, gid="link", joinstyle="round"))


def _draw_nodes(axes: Axes, root: _Node, levels: int, owners: list[int], share: NDArray[np.float64]) -> None:
    widest = max(len(_end_text(node, owners)) for node in _all(root) if not node.below)
    width = max(0.3, 0.085 * widest + 0.14)
    for node in _all(root):
        x = _x(node, levels)
        if node.below:
            _box(axes, x, node.y, 0.78, _AXIS_COLOURS[node.axis or 0], GREY, "cut")
            axes.text(x, node.y, node.text, ha="center", va="center", fontsize=8, color=INK, zorder=3)
            continue
        first, last = node.leaves
        alone = last == first
        colour = rank_colour(owners[first]) if alone else "#F4F4F4"
        _box(axes, x, node.y, width, colour, "none" if alone else GREY, "end")
        text = _end_text(node, owners)
        axes.text(x, node.y, text, ha="center", va="center", fontsize=8, color=readable_on(colour), zorder=3)
        mean = f"{share[sorted(set(owners[first : last + 1]))].mean():.3f}"
        beside = mean if alone else f"{last - first + 1} chunks, {mean}"
        axes.text(x + width / 2 + 0.08, node.y, beside, ha="left", va="center", fontsize=8, color=GREY, gid="load")


def _end_text(node: _Node, owners: list[int]) -> str:
    ranks = owners[node.leaves[0] : node.leaves[1] + 1]
    return str(ranks[0]) if len(ranks) == 1 else f"{min(ranks)}–{max(ranks)}"


def _box(axes: Axes, x: float, y: float, width: float, colour: str, edge: str, gid: str) -> None:
    axes.add_patch(
        FancyBboxPatch(
            (x - width / 2, y - 0.36), width, 0.72, boxstyle="round,pad=0,rounding_size=0.09", mutation_aspect=3.0,
            facecolor=colour, edgecolor=edge, linewidth=0.7, zorder=2, gid=gid,
        )
    )  # fmt: skip
