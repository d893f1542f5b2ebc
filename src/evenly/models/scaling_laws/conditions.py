"""Conditions that a fitted formula must meet on the prediction range: values above zero, slopes of a given sign."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from evenly.models.array_types import Floats
from evenly.models.scaling_laws.dense_points import dense_points

__all__ = ["Conditions"]


@dataclass(frozen=True)
class Conditions:
    """The signs that the values and derivatives of a formula must have, and the range where they must have them.

    Attributes
    ----------
    points : array (n_points, d)
        Points at which a search checks its candidates.
    signs : dict of int to float
        For some parameters by number, the sign (1 or -1) of the derivative: sign · derivative must be above zero.
    positive : bool
        Whether values must be above zero; always False for a model of the logarithm.
    bounds : tuple of (low, high), one per parameter, optional
        The prediction range. Candidates that a search keeps are checked again on all of it.
    """

    points: Floats
    signs: dict[int, float]
    positive: bool
    bounds: tuple[tuple[float, float], ...] = ()

    @cached_property
    def dense(self) -> Floats:
        """About 100,000 points of the prediction range, (n, d)."""
        return dense_points(self.bounds)
