"""Points of the prediction range at which formulas are checked: few during a search, many for its best candidates."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import numpy as np

from evenly.models.array_types import Floats

__all__ = ["dense_points", "spread_points"]

_DENSE = 100_000


def spread_points(bounds: Sequence[tuple[float, float]], n: int) -> Floats:
    """Return points (n_points, d) that fill a box evenly, and its corners.

    Points are spaced geometrically along dimensions with bounds above zero, and linearly along the others.
    """
    d = len(bounds)
    if d == 1:
        return _in_box(np.linspace(0.0, 1.0, n)[:, None], bounds)
    from scipy.stats import qmc

    # Halton's low-discrepancy sequence fills boxes more evenly than random points.
    corners = np.array(list(itertools.product((0.0, 1.0), repeat=d))) if d <= 6 else np.zeros((0, d))
    return _in_box(np.concatenate([qmc.Halton(d, scramble=False).random(n), corners]), bounds)


def dense_points(bounds: Sequence[tuple[float, float]]) -> Floats:
    """Return about 100,000 points (n_points, d) of a box; many of them lie on its faces, edges and corners."""
    d = len(bounds)
    if d == 1:
        return _in_box(np.linspace(0.0, 1.0, _DENSE)[:, None], bounds)
    from scipy.stats import qmc

    u = qmc.Halton(d, scramble=False).random(_DENSE // 2)
    corners = np.array(list(itertools.product((0.0, 1.0), repeat=d))) if d <= 12 else np.zeros((0, d))
    # In the second half of the points, a third of each coordinate's values is the lower bound, and a third the upper.
    return _in_box(np.concatenate([u, np.clip(3 * u - 1, 0.0, 1.0), corners]), bounds)


def _in_box(u: Floats, bounds: Sequence[tuple[float, float]]) -> Floats:
    """Map points of the unit cube (n_points, d) to a box: geometrically where bounds are above zero, else linearly."""
    columns = [
        low * (high / low) ** u[:, k] if low > 0 else low + (high - low) * u[:, k]
        for k, (low, high) in enumerate(bounds)
    ]
    return np.column_stack([np.clip(column, low, high) for column, (low, high) in zip(columns, bounds, strict=True)])
