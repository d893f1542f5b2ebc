"""A cost model with what was measured on top: a factor for each term, and one for each region of the cell.

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
# What a chunk has some of however large it is.
_ONCE = ("chunk", "side", "call", "patch")


@dataclass(frozen=True)
class CorrectedCost(CostModel):
    """A cost model that goes wherever one is asked for.

    Parameters
    ----------
    regions : Survey, optional
        Of "model" and "measured": what the model charges, and what that is in truth, block by block. What a chunk
        holds is charged by their ratio in its box.
    """

    regions: Survey | None = None

    @classmethod
    def of(cls, cost: CostModel, factors: Mapping[str, float], regions: Survey | None = None) -> CorrectedCost:
        """Return a cost model with these terms multiplied."""
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
        """Return the corrected seconds per step (n,) of what lies on the points of boxes (n, 3)."""
        return np.asarray(super().spread_seconds(cell, low, high) * self._factor(low, high))

    def _factor(self, low: Ints, high: Ints) -> Array:
        if self.regions is None:
            return np.ones(len(low))
        model, measured = self.regions.counts(low, high).T
        return np.where(model > 0, measured / np.where(model > 0, model, 1.0), 1.0)


def in_bulk(program: str) -> NDArray[np.bool_]:
    """Return which terms of a program are of what a region holds, (terms,); the others come once per chunk or side.

    Examples
    --------
    >>> bool(in_bulk("fdtd").any())
    True
    """
    return np.array([term.per not in _ONCE for term in program_named(program).terms])
