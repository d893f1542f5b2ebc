"""The cell and the number of ranks that a layout was made for; saved in the layout's file and checked on use.

>>> from evenly.fdtd.cell.grid import Grid
>>> made_for = LayoutTarget.of(Grid((4.0, 2.0, 0.0), 10), ranks=4)
>>> print(made_for)
a cell of 4 × 2 × 0 (40 × 20 × 1 points, resolution 10) on 4 ranks
>>> made_for.check(Grid((4.0, 2.0, 0.0), 20))    # positions are lengths, so a finer grid is cut at the same places
>>> made_for.check(Grid((4.0, 3.0, 0.0), 10))
Traceback (most recent call last):
evenly.errors.InputError: The layout was made for a cell of 4 × 2 × 0 (40 × 20 × 1 points, resolution 10) on 4 ranks,
but this cell is 4 × 3 × 0 (40 × 30 × 1 points, resolution 10): ...
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from evenly.errors import InputError
from evenly.fdtd.cell.grid import Grid, Vector

__all__ = ["LayoutTarget"]


@dataclass(frozen=True)
class LayoutTarget:
    """The cell and the number of ranks that a layout was made for.

    Parameters
    ----------
    size : three floats
        Edge lengths of the cell, in a; 0 along a thin axis.
    resolution : float
        Points per a.
    points : three ints
        Grid points along x, y, z.
    ranks : int
    program : str
        The program that simulates the cell, ``"fdtd"`` or ``"meep"``.
    center : three floats
        Centre of the cell in the coordinates of the layout's cuts.
    source : str
        The file that this was read from, for messages; not stored.

    Raises
    ------
    InputError
        If a number is not finite or out of range.
    """

    size: Vector
    resolution: float
    points: tuple[int, int, int]
    ranks: int
    program: str = "fdtd"
    center: Vector = (0.0, 0.0, 0.0)
    source: str = ""

    def __post_init__(self) -> None:
        numbers = (*self.size, self.resolution, *self.points, self.ranks, *self.center)
        sound = all(math.isfinite(n) for n in numbers) and min(self.size) >= 0 and min(self.points) >= 1
        if not sound or self.resolution <= 0 or self.ranks < 1:
            raise InputError(
                "what a layout was made for must be sizes of at least 0, a resolution above 0, points and ranks of at "
                f"least 1, but got {self.size}, {self.resolution}, {self.points}, {self.ranks}"
            )

    @classmethod
    def of(cls, grid: Grid, ranks: int, *, program: str = "fdtd") -> LayoutTarget:
        """Return the record for a layout of a grid's cell on `ranks` ranks."""
        return cls(grid.size, float(grid.resolution), grid.shape, ranks, program, grid.center)

    @classmethod
    def of_dict(cls, stored: Any, source: str = "") -> LayoutTarget:
        """Return the record from the data that `to_dict` returned.

        Raises
        ------
        InputError
            If `stored` is not such data.
        """
        try:
            given = dict(stored)
            x, y, z = (int(n) for n in given["points"])
            return cls(
                _three(given["size"]),
                float(given["resolution"]),
                (x, y, z),
                int(given["ranks"]),
                str(given["program"]),
                _three(given["center"]),
                source,
            )
        except (KeyError, TypeError, ValueError, OverflowError) as error:
            raise InputError(
                f'"made_for" must say size, resolution, points, ranks, program and center: {error}'
            ) from None

    def to_dict(self) -> Mapping[str, Any]:
        """Return the data for a file."""
        return {
            "program": self.program,
            "size": list(self.size),
            "resolution": self.resolution,
            "points": list(self.points),
            "dimensions": sum(n > 1 for n in self.points),
            "center": list(self.center),
            "ranks": self.ranks,
        }

    def moved(self, by: Vector) -> LayoutTarget:
        """Return the same record in coordinates that are larger by `by`."""
        x, y, z = (old + step for old, step in zip(self.center, by, strict=True))
        return replace(self, center=(x, y, z))

    def check(self, grid: Grid) -> None:
        """Check that a grid is that of this cell. With another resolution, sizes may differ by one grid spacing.

        Parameters
        ----------
        grid : Grid
            The points that are cut: with mirror symmetries, those on one side of the planes.

        Raises
        ------
        InputError
            If the size or the thin axes differ, or the cell's middle is elsewhere.
        """
        slack = (1 + 1e-9) * max(1 / self.resolution, grid.dx) if self.resolution != grid.resolution else grid.dx / 2
        same = all((a > 0) == (b > 0) and abs(a - b) <= slack for a, b in zip(self.size, grid.size, strict=True))
        if not same:
            here = _cell(grid.size, grid.shape, grid.resolution)
            raise InputError(
                f"{self._layout} was made for {self}, but this cell is {here}: cut this one (`evenly partition`), or "
                "run what the layout was made for."
            )
        if max(abs(a - b) for a, b in zip(self.center, grid.center, strict=True)) > max(1 / self.resolution, grid.dx):
            there, here = ("(" + ", ".join(f"{at:g}" for at in middle) + ")" for middle in (self.center, grid.center))
            here = f"at {here}" if any(grid.center) else "the origin"
            raise InputError(
                f"{self._layout} was made for a cell whose middle is at {there}, but here it is {here}: cut this cell "
                "(`evenly partition`)."
            )

    @property
    def _layout(self) -> str:
        return f"The layout {self.source}" if self.source else "The layout"

    def __str__(self) -> str:
        on = "1 rank" if self.ranks == 1 else f"{self.ranks} ranks"
        return f"a cell of {_cell(self.size, self.points, self.resolution)} on {on}"


def _cell(size: Sequence[float], points: Sequence[int], resolution: float) -> str:
    edges, counts = (" × ".join(f"{n:.6g}" for n in three) for three in (size, points))
    return f"{edges} ({counts} points, resolution {resolution:g})"


def _three(values: Any) -> Vector:
    x, y, z = (float(v) for v in values)
    return x, y, z
