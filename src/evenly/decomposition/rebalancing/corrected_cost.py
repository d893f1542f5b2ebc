"""A cost model corrected by measurements: a factor for each term, and a factor for each region of the cell.

>>> from evenly.decomposition.costs.cost_model import Coefficient
>>> cost = CostModel("fdtd", {"points": Coefficient(3e-9), "chunks": Coefficient(1e-6)})
>>> CorrectedCost.of(cost, {"points": 2.0}).coefficients["points"].seconds
6e-09
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields

import numpy as np
from numpy.typing import NDArray

from evenly.decomposition.cells.cell import Cell
from evenly.decomposition.cells.pieces import pieces_of
from evenly.decomposition.cells.survey import Survey
from evenly.decomposition.costs.cost_model import Coefficient, CostModel, program_named

__all__ = ["CorrectedCost", "in_bulk"]

Array = NDArray[np.float64]
Ints = NDArray[np.int64]
# Units of terms whose amount doesn't grow with a chunk's volume.
_ONCE = ("chunk", "side", "call", "patch")


@dataclass(frozen=True)
class CorrectedCost(CostModel):
    """A cost model with measured corrections, usable in place of any cost model.

    Parameters
    ----------
    regions : Survey, optional
        Seconds per block of two kinds: "model", as the model predicts them, and "measured", as the measurements
        correct them. Work that grows with a chunk's volume is multiplied by the ratio of the two sums over its box.
    """

    regions: Survey | None = None

    @classmethod
    def of(cls, cost: CostModel, factors: Mapping[str, float], regions: Survey | None = None) -> CorrectedCost:
        """Return the cost model with coefficients multiplied by `factors`, by name of term; others stay the same."""
        given = {field.name: getattr(cost, field.name) for field in fields(CostModel)}
        given["coefficients"] = {
            name: Coefficient(c.seconds * factors.get(name, 1.0), c.error) for name, c in cost.coefficients.items()
        }
        return cls(**given, regions=regions)

    def chunk_seconds(self, cell: Cell, low: Ints, high: Ints) -> Array:
        """Return the corrected seconds per step (n,) that the work in boxes (n, 3) takes."""
        pieces = pieces_of(cell, low, high)
        amounts = program_named(self.program).amounts(pieces)
        prices, spread = self.vector[: amounts.shape[1]], in_bulk(self.program)
        bulk = pieces.sums(amounts @ np.where(spread, prices, 0.0), len(low))
        fixed = pieces.sums(amounts @ np.where(spread, 0.0, prices), len(low))
        return np.asarray(bulk * self._factor(low, high) + fixed)

    def spread_seconds(self, cell: Cell, low: Ints, high: Ints) -> Array:
        """Return the corrected seconds per step (n,) of the work on the points of boxes (n, 3)."""
        return np.asarray(super().spread_seconds(cell, low, high) * self._factor(low, high))

    def _factor(self, low: Ints, high: Ints) -> Array:
        if self.regions is None:
            return np.ones(len(low))
        model, measured = self.regions.counts(low, high).T
        return np.where(model > 0, measured / np.where(model > 0, model, 1.0), 1.0)


def in_bulk(program: str) -> NDArray[np.bool_]:
    """Return which terms of a program grow with a chunk's volume, (terms,); the others are paid per chunk or side.

    Examples
    --------
    >>> bool(in_bulk("fdtd").any())
    True
    """
    return np.array([term.per not in _ONCE for term in program_named(program).terms])
