"""Drawings of chunks: as rectangles of a slice, or as separated boxes that are seen from a corner.

Boxes are drawn from the farthest to the nearest. The tree of cuts gives this order exactly: the half on the camera's
side of a cut can hide the other half, but never the reverse (H. Fuchs, Z. M. Kedem, B. F. Naylor, "On visible surface
generation by a priori tree structures", SIGGRAPH Comput. Graph. 14, 124 (1980)). Boxes are moved away from the centre,
so each stays on its side of every cut.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import PolyCollection
from matplotlib.path import Path
from matplotlib.ticker import FixedLocator, MaxNLocator
from numpy.typing import NDArray

from evenly.decomposition.cells.cell import Cell
from evenly.fdtd.cell.box import AXES, Box
from evenly.fdtd.cell.grid import Grid
from evenly.fdtd.cell.partition import BinaryPartition
from evenly.report.formatting import compact
from evenly.report.plots.style import GREY, INK, PALETTE, add_box, readable_on

__all__ = [
    "Plane", "aspect_of", "back_to_front", "boxes_aspect", "draw_boxes", "draw_plane", "frame_plane", "plane_of",
    "rank_colour",
]  # fmt: skip

Array = NDArray[np.float64]
Colour = Callable[[int], str]
#: With more chunks than this, their numbers are not written: nobody could read them.
MOST_NUMBERS = 80
#: A shorter edge is drawn with this share of the length of the longest edge.
LEAST_EDGE = 0.15
#: The direction of the camera: to the right of the low y side, and above.
AZIMUTH, ELEVATION = np.radians(-58.0), np.radians(24.0)
#: Width of a digit of a chunk's number, in inches.
DIGIT = 0.075
#: Approximate width or height of slices, in inches.
WIDTH = 3.0
_TIERS = ((None, 0.0), ("white", 0.38), ("black", 0.32), ("white", 0.62))


def rank_colour(rank: int) -> str:
    """Return the colour of a rank. There are 32 colours, and successive ranks have different ones.

    Examples
    --------
    >>> rank_colour(0) == rank_colour(32), len({rank_colour(rank) for rank in range(32)})
    (True, 32)
    """
    base = PALETTE[rank % len(PALETTE)]
    towards, share = _TIERS[rank // len(PALETTE) % len(_TIERS)]
    return base if towards is None else _mixed(base, towards, share)


def _mixed(colour: str, other: str, share: float) -> str:
    a, b = (np.array(mpl.colors.to_rgb(c)) for c in (colour, other))
    return str(mpl.colors.to_hex(tuple((1 - share) * a + share * b)))


# ---- slices -------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Plane:
    """A slice through a cell.

    Parameters
    ----------
    grid : Grid
    across : 0, 1 or 2
        The axis perpendicular to the slice.
    at : int
        The grid index of the slice's points along this axis.
    center : three floats
        The coordinates of the middle of the grid.
    """

    grid: Grid
    across: int
    at: int
    center: tuple[float, float, float] = (0.0, 0.0, 0.0)

    @property
    def position(self) -> float:
        """The coordinate of the slice along the axis perpendicular to it, in a."""
        return self._place(self.across, self.at)

    def _place(self, axis: int, index: int) -> float:
        return self.center[axis] + self.grid.origin[axis] + index * self.grid.dx

    @property
    def axes(self) -> tuple[int, int]:
        """The axes of the picture, across and up."""
        first, second = (axis for axis in range(3) if axis != self.across)
        return first, second

    @property
    def extent(self) -> tuple[float, float, float, float]:
        """The cell's limits in the picture: left, right, bottom, top. A thin axis has an eighth of the longest edge."""
        return self.corners(self.grid.box)

    def corners(self, box: Box) -> tuple[float, float, float, float]:
        """Return the limits of a box in the picture, in a: left, right, bottom, top."""
        ends: list[float] = []
        for axis in self.axes:
            if self.grid.thin[axis]:
                half = max(self.grid.size) / 16
                ends += [-half, half]
            else:
                ends += [self._place(axis, i) for i in (box.lo[axis], box.hi[axis])]
        return ends[0], ends[1], ends[2], ends[3]

    def holds(self, box: Box) -> bool:
        """Return whether the slice intersects a box."""
        return box.lo[self.across] <= self.at < box.hi[self.across]


def plane_of(cell: Cell, across: int | None = None) -> Plane:
    """Return the slice through the middle that is perpendicular to an axis, by default to the thin axis of a 2D cell.

    Examples
    --------
    >>> from evenly.decomposition.cells.survey import Survey
    >>> survey = Survey.of_blocks(((0, 40), (0, 1), (0, 20)), (), np.zeros((1, 1, 1, 0)))
    >>> plane_of(Cell("fdtd", Grid((4.0, 0.0, 2.0), 10), survey)).axes
    (0, 2)
    """
    grid = cell.grid
    if across is None:
        across = max(axis for axis in range(3) if grid.thin[axis])
        if grid.dimensions == 1 and grid.thin[:2] == (True, True):
            across = 0  # z is then up
    return Plane(grid, across, grid.shape[across] // 2, cell.center)


def draw_plane(axes: Axes, plane: Plane, boxes: Sequence[Box], labels: Sequence[str], colour: Colour | None) -> None:
    """Draw the chunks that a slice intersects, filled or as outlines, with labels if there is room."""
    x0, x1, y0, y1 = plane.extent
    shown = [n for n, box in enumerate(boxes) if plane.holds(box)]
    for n in shown:
        a, b, c, d = plane.corners(boxes[n])
        look: dict[str, Any] = {"fill": False, "edgecolor": INK, "linewidth": 0.9}
        if colour is not None:
            look = {"facecolor": colour(n), "edgecolor": "white", "linewidth": 1.0 if len(shown) < 300 else 0.2}
        add_box(axes, (a, b, c, d), gid="chunk", zorder=2, **look)
        scale = WIDTH / max(x1 - x0, y1 - y0)
        room = (b - a) * scale > DIGIT * len(labels[n]) + 0.06 and (d - c) * scale > 0.15
        if room and len(shown) <= MOST_NUMBERS:
            ink = INK if colour is None else readable_on(colour(n))
            axes.text((a + b) / 2, (c + d) / 2, labels[n], ha="center", va="center", fontsize=8, color=ink, zorder=4)


def frame_plane(axes: Axes, plane: Plane, unit: str) -> None:
    """Set the limits, the scale and the labels of the axes of a slice."""
    x0, x1, y0, y1 = plane.extent
    axes.set_xlim(x0, x1)
    axes.set_ylim(y0, y1)
    axes.set_aspect("auto" if aspect_of(plane) != (y1 - y0) / (x1 - x0) else "equal")
    first, second = plane.axes
    ticks = (2 if aspect_of(plane) > 2 else 4), (2 if aspect_of(plane) < 0.3 else 4)
    sides: tuple[Any, ...] = ((first, axes.xaxis, axes.set_xlabel), (second, axes.yaxis, axes.set_ylabel))
    for (axis, which, label), most in zip(sides, ticks, strict=True):
        if plane.grid.thin[axis]:
            which.set_ticks([])
            continue
        label(f"{AXES[axis]} ({unit})", fontsize=10, color=INK)
        low, high = plane.extent[:2] if axis == first else plane.extent[2:]
        two = FixedLocator(_two_ticks(low, high))
        which.set_major_locator(two if most == 2 else MaxNLocator(most, steps=[1, 2, 5, 10]))
    axes.tick_params(labelsize=9, color=GREY, labelcolor=INK)
    axes.spines[:].set_color(GREY)


def _two_ticks(low: float, high: float) -> list[float]:
    """Return two round values, one on each side of the middle of a short axis. More ticks would overlap.

    Examples
    --------
    >>> _two_ticks(-0.3, 0.3)
    [-0.2, 0.2]
    """
    away = 0.36 * (high - low)
    power = 10.0 ** math.floor(math.log10(away))
    step = max(n for n in (1, 2, 5) if n * power <= away) * power
    return [(low + high) / 2 - step, (low + high) / 2 + step]


def aspect_of(plane: Plane) -> float:
    """Return the ratio of height to width of a slice in the picture."""
    x0, x1, y0, y1 = plane.extent
    return float(min(5.0, max(0.125, (y1 - y0) / (x1 - x0))))


# ---- boxes --------------------------------------------------------------------------------------------------


def back_to_front(layout: BinaryPartition, towards: Array) -> list[int]:
    """Return the leaves in the order of drawing: seen from the direction `towards`, a leaf hides only earlier ones.

    Examples
    --------
    >>> back_to_front(BinaryPartition([("x", 0.0), 0, [("y", 0.0), 1, 2]]), np.array([-1.0, 1.0, 0.0]))
    [1, 2, 0]
    """
    number = {where: n for n, (where, _) in enumerate(layout.leaves)}
    order: list[int] = []
    stack = [("root", layout)]
    while stack:
        where, node = stack.pop()
        if node.left is None or node.right is None or node.axis is None:
            order.append(number[where])
            continue
        prefix = "" if where == "root" else f"{where}."
        halves = [(f"{prefix}left", node.left), (f"{prefix}right", node.right)]
        # The leaf on top of the stack is drawn first.
        stack += halves[::-1] if towards[node.axis] > 0 else halves
    return order


@dataclass(frozen=True)
class _Camera:
    right: Array
    up: Array
    towards: Array

    @classmethod
    def usual(cls) -> _Camera:
        ca, sa, ce, se = np.cos(AZIMUTH), np.sin(AZIMUTH), np.cos(ELEVATION), np.sin(ELEVATION)
        return cls(np.array([-sa, ca, 0.0]), np.array([-se * ca, -se * sa, ce]), np.array([ce * ca, ce * sa, se]))

    def flat(self, points: Array) -> Array:
        """Return the places (..., 2) of points (..., 3) in the picture."""
        return np.stack([points @ self.right, points @ self.up], axis=-1)


def boxes_aspect(cell: Cell) -> float:
    """Return the ratio of height to width of the picture of boxes.

    Examples
    --------
    >>> from evenly.decomposition.cells.survey import Survey
    >>> tall = Survey.of_blocks(((0, 10), (0, 10), (0, 60)), (), np.zeros((1, 1, 1, 0)))
    >>> boxes_aspect(Cell("fdtd", Grid((1, 1, 6), 10), tall)) > 2
    True
    """
    half = _drawn(cell) / 2
    faces = _faces(np.stack([-half, half])[None], _Camera.usual())
    width, height = np.ptp(faces.reshape(-1, 2), axis=0)
    return float(height / width)


def _drawn(cell: Cell) -> Array:
    shape = np.array(cell.grid.shape, dtype=float)
    return np.asarray(np.maximum(shape / shape.max(), LEAST_EDGE))


def draw_boxes(
    axes: Axes, cell: Cell, layout: BinaryPartition, labels: Sequence[str], colour: Colour, unit: str
) -> None:
    """Draw all chunks of a three-dimensional cell as boxes with gaps, so that each is visible.

    Parameters
    ----------
    axes : Axes
    cell : Cell
    layout : BinaryPartition
    labels : sequence of str
        One per leaf, written on a visible side.
    colour : callable
        Returns the colour of the leaf with a given number.
    unit : str
        The unit of lengths.
    """
    camera = _Camera.usual()
    shape = np.array(cell.grid.shape, dtype=float)
    drawn = _drawn(cell)
    boxes = layout.boxes(cell.grid)
    ends = np.array([[box.lo, box.hi] for box in boxes]) / shape - 0.5
    apart = _apart(len(boxes))
    ends = (ends + apart * ends.mean(axis=1, keepdims=True)) * drawn
    order = back_to_front(layout, camera.towards)
    faces = _faces(ends, camera)
    width = 0.7 if len(boxes) <= 100 else 0.4 if len(boxes) <= 1000 else 0.0
    colours = [_shades(colour(n)) for n in range(len(boxes))]
    shown = PolyCollection(
        [faces[n, side] for n in order for side in range(3)],
        facecolors=[colours[n][side] for n in order for side in range(3)],
        edgecolors="white" if width else "face", linewidths=width, gid="chunks", joinstyle="round",
    )  # fmt: skip
    axes.add_collection(shown)
    _frame_boxes(axes, faces)
    if len(boxes) <= MOST_NUMBERS:
        _label(axes, faces, order, labels, colours)
    _name_edges(axes, cell.grid, unit, camera, (ends.min(axis=(0, 1)), ends.max(axis=(0, 1))))


def _apart(count: int) -> float:
    """Return how far boxes are moved apart, as a share of the distance between their centres."""
    return 0.22 if count <= 16 else 0.3 if count <= 64 else 0.15 if count <= 300 else 0.0


def _faces(ends: Array, camera: _Camera) -> Array:
    """Return the corners (n, 3, 4, 2) of the three visible sides, perpendicular to x, y, z, of boxes (n, 2 ends, 3)."""
    sides = []
    for axis in range(3):
        others = [a for a in range(3) if a != axis]
        corners = np.zeros((len(ends), 4, 3))
        corners[:, :, axis] = ends[:, int(camera.towards[axis] > 0), axis][:, None]
        for n, (i, j) in enumerate(((0, 0), (1, 0), (1, 1), (0, 1))):
            corners[:, n, others[0]], corners[:, n, others[1]] = ends[:, i, others[0]], ends[:, j, others[1]]
        sides.append(camera.flat(corners))
    return np.stack(sides, axis=1)


def _shades(colour: str) -> tuple[str, str, str]:
    """Return the colours of the sides perpendicular to x, y, z. Light comes from above."""
    return _mixed(colour, "black", 0.16), colour, _mixed(colour, "white", 0.28)


def _frame_boxes(axes: Axes, faces: Array) -> None:
    low, high = faces.min(axis=(0, 1, 2)), faces.max(axis=(0, 1, 2))
    room = 0.1 * (high - low).max()
    axes.set_xlim(low[0] - room, high[0] + 0.3 * room)
    axes.set_ylim(low[1] - 0.9 * room, high[1] + 0.2 * room)
    axes.set_aspect("equal", anchor="NW")
    axes.set_axis_off()


def _label(
    axes: Axes, faces: Array, order: list[int], labels: Sequence[str], colours: Sequence[tuple[str, str, str]]
) -> None:
    scale = min(3.3 / np.ptp(axes.get_xlim()), 3.5 / np.ptp(axes.get_ylim()))
    outlines = {n: [Path(faces[n, side]) for side in range(3)] for n in order}
    for place, n in enumerate(order):
        nearer = [path for other in order[place + 1 :] for path in outlines[other]]
        half = np.array([0.5 * DIGIT * len(labels[n]) + 0.02, 0.07]) / scale
        for side in sorted(range(3), key=lambda side: -_area(faces[n, side])):
            middle = faces[n, side].mean(axis=0)
            text = middle + half * np.array([[-1, -1], [1, -1], [1, 1], [-1, 1], [0, 0]])
            inside = outlines[n][side].contains_points(text).all()
            if inside and not any(path.contains_points(text).any() for path in nearer):
                axes.text(
                    middle[0], middle[1], labels[n], ha="center", va="center", fontsize=7.5, zorder=4,
                    color=readable_on(colours[n][side]), gid="number",
                )  # fmt: skip
                break


def _area(polygon: Array) -> float:
    x, y = polygon.T
    return float(abs(x @ np.roll(y, 1) - y @ np.roll(x, 1)) / 2)


def _name_edges(axes: Axes, grid: Grid, unit: str, camera: _Camera, ends: tuple[Array, Array]) -> None:
    """Write the names of the axes and the sizes of the cell along three edges of the outline."""
    (x0, y0, z0), (x1, y1, z1) = ends
    edges = {
        0: ((x0, y0, z0), (x1, y0, z0), (0.0, -1.0)),
        1: ((x1, y0, z0), (x1, y1, z0), (0.0, -1.0)),
        2: ((x0, y0, z0), (x0, y0, z1), (-1.0, 0.0)),
    }
    for axis, (start, stop, away) in edges.items():
        a, b = camera.flat(np.array([start, stop]))
        angle = np.degrees(np.arctan2(b[1] - a[1], b[0] - a[0]))
        normal = np.array([b[1] - a[1], a[0] - b[0]]) / max(1e-9, float(np.hypot(*(b - a))))
        normal = normal if normal @ np.array(away) > 0 else -normal
        longest = max(np.ptp(axes.get_xlim()), np.ptp(axes.get_ylim()))
        middle = (a + b) / 2 + 0.035 * longest * normal
        text = f"{AXES[axis]}: {compact(grid.shape[axis] * grid.dx, 3)} {unit}"
        axes.text(
            middle[0], middle[1], text, ha="center", va="center", fontsize=8, rotation=angle,
            rotation_mode="anchor", color=GREY, gid="axis",
        )  # fmt: skip
