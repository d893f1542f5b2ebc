"""The grid of tensor completion: hat functions or cells along numbers, one row per label.

With hat functions a run contributes to the two grid points beside it, with the weights of linear interpolation. A
factor is then a piecewise linear function. With cells a run contributes to the cell in which it lies; the cell's value
holds at its mid-point (section 5.1 of the paper). Predictions interpolate between mid-points, and extrapolate linearly
from the outermost mid-points to the edge of the grid.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np

from evenly.errors import InputError
from evenly.models.array_types import Floats, Ints
from evenly.models.inputs.coding import Coding, Inputs
from evenly.models.stored_dataclass import Stored

__all__ = ["Basis", "Grid", "GridSpec", "Mode", "Placement", "parse_grid"]

Basis = Literal["hat", "cells"]
#: "log" and "uniform" as in the paper; "coded" is logarithmic if all measured values are above zero, else uniform.
_Spacing = Literal["coded", "log", "uniform"]


@dataclass(frozen=True)
class GridSpec:
    """A user's settings for the grid of one parameter.

    Attributes
    ----------
    spacing : {"coded", "log", "uniform"}
    count : int or None
        Number of grid points of hat functions, or of cells; None to choose it by the number of runs.
    points : tuple of float or None
        Grid points of hat functions, or edges of cells, in the parameter's own unit.
    """

    spacing: _Spacing = "coded"
    count: int | None = None
    points: tuple[float, ...] | None = None


@dataclass(frozen=True)
class Placement:
    """The places of configurations on a grid.

    Attributes
    ----------
    rows : int array (d, n)
        Row of each mode's factor to which a configuration belongs; the lower one if it lies between two rows.
    shares : array (d, n)
        Weight of the next row; below 0 or above 1 where predictions extrapolate beyond the outermost mid-points.
    """

    rows: Ints
    shares: Floats


@dataclass(frozen=True)
class Mode(Stored):
    """A mode (dimension) of the tensor, which belongs to one parameter.

    Attributes
    ----------
    column : int
        Index of the parameter's column among the numbers, or among the labels.
    ordered : bool
        True for numbers, where predictions interpolate between neighbouring rows; False for labels.
    knots : array (size,) or (size + 1,)
        Grid points of hat functions, or edges of cells, in coded numbers, or in the parameter's unit where `exponent`
        is given. Empty for labels.
    size : int
        Number of rows of the factor.
    exponent : (centre, scale) or None
        Given for a uniform grid of a parameter that is coded by logarithms: a coded number x is exp(centre + scale x)
        in the parameter's unit.
    """

    column: int
    ordered: bool
    knots: Floats
    size: int
    exponent: tuple[float, float] | None = None

    def coordinates(self, numbers: Floats) -> Floats:
        """Return coordinates in the unit of the knots, (n,), from coded numbers (n,)."""
        return numbers if self.exponent is None else np.exp(self.exponent[0] + self.exponent[1] * numbers)


@dataclass(frozen=True)
class Grid(Stored):
    """The modes of a tensor: first those of numbers, then those of labels, without parameters of a single value."""

    modes: tuple[Mode, ...]
    basis: Basis = "hat"

    @classmethod
    def lay(cls, inputs: Inputs, coding: Coding, grid_specs: Mapping[str, GridSpec], count: int, basis: Basis) -> Grid:
        """Return a grid with `count` points or cells along each number, except where `grid_specs` has other settings.

        A number with at most `count` distinct values has one row per value.
        """
        modes = []
        numeric = [n for n, kind in enumerate(coding.kinds) if kind != "label"]
        for k, n in enumerate(numeric):
            mode = _ordered(
                inputs.numbers[:, k], k, coding, n, grid_specs.get(coding.names[n], GridSpec()), count, basis
            )
            if mode is not None:
                modes.append(mode)
        modes += [Mode(k, False, np.zeros(0), size) for k, size in enumerate(coding.sizes) if size > 1]
        return cls(tuple(modes), basis)

    @property
    def sizes(self) -> tuple[int, ...]:
        """Number of rows of each mode's factor."""
        return tuple(mode.size for mode in self.modes)

    def place(self, inputs: Inputs, *, fitting: bool = False) -> Placement:
        """Return the rows, and the weights between rows, of configurations on the grid.

        With cells, `fitting` gives each run the cell in which it lies. Otherwise configurations are interpolated
        between mid-points of cells.
        """
        d, n = len(self.modes), len(inputs)
        rows, shares = np.zeros((d, n), np.int64), np.zeros((d, n))
        for j, mode in enumerate(self.modes):
            if not mode.ordered:
                rows[j] = inputs.labels[:, mode.column]
                continue
            x, knots = mode.coordinates(inputs.numbers[:, mode.column]), mode.knots
            if self.basis == "cells" and fitting:
                rows[j] = _interval(x, knots)
                continue
            # One factor of the product in equation 5: linear interpolation between grid points or mid-points of cells.
            # Values beyond the grid are moved to its edge.
            points = knots if self.basis == "hat" else (knots[1:] + knots[:-1]) / 2
            if len(points) > 1:
                x = np.clip(x, knots[0], knots[-1])
                low = _interval(x, points)
                rows[j], shares[j] = low, (x - points[low]) / (points[low + 1] - points[low])
        return Placement(rows, shares)


def _interval(x: Floats, edges: Floats) -> Ints:
    """Return the index of the interval between rising edges in which each x (n,) lies, or the nearest interval."""
    found = np.searchsorted(edges, x, side="right") - 1
    return np.asarray(np.clip(found, 0, len(edges) - 2), dtype=np.int64)


def _ordered(x: Floats, k: int, coding: Coding, n: int, spec: GridSpec, count: int, basis: Basis) -> Mode | None:
    """Return the mode of number k, parameter n of the coding, of coded values x (n_runs,); None for a single value."""
    values = np.unique(x)
    if len(values) < 2 and spec.points is None:
        return None
    centre, scale = coding.centres[n], coding.scales[n]
    exponent = (centre, scale) if spec.spacing == "uniform" and coding.kinds[n] == "log" else None
    mode = Mode(k, True, np.zeros(0), 0, exponent)
    if spec.points is not None:
        points = np.array(spec.points)
        coded = points if exponent else (coding.transformed(n, points) - centre) / scale
        measured = mode.coordinates(values)
        slack = 1e-9 * max(1.0, float(np.abs(measured).max()))
        if coded[0] > measured[0] + slack or coded[-1] < measured[-1] - slack:
            raise InputError(
                f"grid points of {coding.names[n]!r} must span the values measured, but {points[0]:g} … {points[-1]:g} "
                "leaves some outside: add a point at each end, or leave the grid to evenly"
            )
        knots = coded
    elif spec.count is None and len(values) <= count and exponent is None:
        # One row per value. With cells, edges lie half-way between values; the first and last cells are symmetric.
        middles = (values[1:] + values[:-1]) / 2
        ends = [[2 * values[0] - middles[0]], [2 * values[-1] - middles[-1]]]
        knots = values if basis == "hat" else np.concatenate([ends[0], middles, ends[1]])
    else:
        low, high = mode.coordinates(values[[0, -1]])
        knots = np.linspace(low, high, (spec.count or count) + (basis == "cells"))
    return Mode(k, True, knots, len(knots) - (basis == "cells"), exponent)


def parse_grid(grid: Any, coding: Coding) -> dict[str, GridSpec]:
    """Parse the argument ``grid``: a spacing, a count or both for all numbers or by name, or grid points by name.

    Raises
    ------
    InputError
        If a name isn't a numeric parameter, or a setting is invalid.
    """
    if grid is None:
        return {}
    if not isinstance(grid, Mapping):
        return {name: _parse_spec(name, grid, coding) for name in coding.numeric}
    strange = [name for name in grid if name not in coding.numeric]
    if strange:
        raise InputError(
            f"a grid can be given for the numeric parameters ({', '.join(coding.numeric) or 'there are none'}), "
            f"but got one for {strange[0]!r}"
        )
    return {name: _parse_spec(name, value, coding) for name, value in grid.items()}


def _parse_spec(name: str, value: Any, coding: Coding) -> GridSpec:
    """Parse a user's settings for the grid of one parameter."""
    if isinstance(value, str):
        return GridSpec(_spacing(name, value, coding))
    if isinstance(value, int | np.integer) and not isinstance(value, bool):
        return GridSpec(count=_count(name, int(value)))
    if isinstance(value, tuple) and len(value) == 2 and isinstance(value[0], str):
        return GridSpec(_spacing(name, value[0], coding), _count(name, value[1]))
    try:
        points = tuple(float(v) for v in value)
    except (TypeError, ValueError):
        points = ()
    if len(points) < 2 or not np.all(np.isfinite(points)) or not np.all(np.diff(points) > 0):
        raise InputError(
            f"the grid of {name!r} must be 'log', 'uniform', a number of points, ('log', number), or at least two "
            f"rising points, but got {value!r}"
        )
    return GridSpec(points=points)


def _spacing(name: str, value: str, coding: Coding) -> _Spacing:
    if value not in ("log", "uniform"):
        raise InputError(f"the grid of {name!r} must be 'log' or 'uniform', but got {value!r}")
    if value == "log" and coding.kinds[coding.names.index(name)] != "log":
        raise InputError(f"the grid of {name!r} can't be 'log', since not all its values are above zero: use 'uniform'")
    return "log" if value == "log" else "uniform"


def _count(name: str, value: Any) -> int:
    if not isinstance(value, int | np.integer) or isinstance(value, bool) or not 2 <= value <= 4096:
        raise InputError(f"the grid of {name!r} must have 2 to 4096 points, but got {value!r}")
    return int(value)


BASES = get_args(Basis)
