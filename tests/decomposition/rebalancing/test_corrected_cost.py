"""What was measured goes wherever a cost is asked for: into prices of chunks and into the search for cuts."""

from __future__ import annotations

import numpy as np

from evenly.decomposition.cells.survey import Survey
from evenly.decomposition.costs.cost_model import Coefficient, CostModel
from evenly.decomposition.partitioning.density import Density
from evenly.decomposition.rebalancing.corrected_cost import CorrectedCost
from tests.decomposition.rebalancing.planted import plain_cell


def test_cuts_are_searched_by_what_was_measured() -> None:
    cell = plain_cell((6, 4, 5), 12)
    x, y, z = cell.grid.shape
    cost = CostModel("fdtd", {"points": Coefficient(4e-9), "chunks": Coefficient(1e-6)})
    # The half below takes three times as much as is charged.
    halves = np.array([[1.0, 3.0], [1.0, 1.0]]).reshape(2, 1, 1, 2)
    regions = Survey.of_blocks(((0, x // 2, x), (0, y), (0, z)), ("model", "measured"), halves)
    low, high = np.array([[0, 0, 0], [x // 2, 0, 0]]), np.array([[x // 2, y, z], [x, y, z]])
    for factor in (1.0, 2.0):
        corrected = CorrectedCost.of(cost, {"points": factor}, regions)
        below, above = corrected.spread_seconds(cell, low, high) / cost.spread_seconds(cell, low, high)
        np.testing.assert_allclose([below, above], [3 * factor, factor])
        # Two thirds of the lower half take half of 3 + 1.
        at = Density.of(cell, corrected, 64).cuts(low[:1], high[1:], np.array([0]), np.array([0.5]))
        assert at.tolist() == [x // 3]
