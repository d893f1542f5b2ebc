"""Conditions that a fitted formula must keep on the range asked: values above zero, slopes of a given sign."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from evenly.models.scaling_laws.dense_points import dense_points

__all__ = ["Conditions"]

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Conditions:
    """Where a formula must stay above zero, and where its derivatives must keep a sign.

    Attributes
    ----------
    points : array (n_points, d)
        Where a search checks its candidates.
    signs : dict of int to float
        Parameters whose derivative, times the sign, must be above zero at all points.
    positive : bool
        Whether values must be above zero; never asked of a model of the logarithm.
    bounds : tuple of (low, high), one per parameter, optional
        The range asked, on all of which what a search keeps is checked again.
    """

    points: Floats
    signs: dict[int, float]
    positive: bool
    bounds: tuple[tuple[float, float], ...] = ()

    @cached_property
    def dense(self) -> Floats:
        """Some 100,000 points of the range asked, (n, d)."""
        return dense_points(self.bounds)
