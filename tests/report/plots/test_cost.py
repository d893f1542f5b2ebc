"""Pictures and tables of cost models hold what was measured and what is predicted."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from matplotlib.axes import Axes

from evenly.decomposition.costs.cost_model import Coefficient, CostModel
from evenly.report.plots.cost import plot_cost, plot_feature, plot_predictions
from evenly.report.tables.cost import cost_as_dict, cost_table, errors_line, typical_shares

SIZES = (1000.0, 4000.0, 16000.0)


def _row(group: str, points: float, purpose: str = "feature", **more: Any) -> dict[str, Any]:
    amounts = {"points": points, "chunks": 1.0}
    seconds = 3e-9 * points + 2e-5
    return {
        "group": group, "name": f"{points}", "purpose": purpose, "rank": 0, "ranks": 1, "amounts": amounts,
        "seconds": seconds, "spread": 0.01 * seconds, "repeats": [seconds] * 3, **more,
    }  # fmt: skip


@pytest.fixture
def cost() -> CostModel:
    rows = [*(_row("vacuum", n) for n in SIZES), *(_row("one pole", n) for n in SIZES)]
    cells = [_row("oled", n, "cell", held_out=4e-5) for n in SIZES]
    coefficients = {"points": Coefficient(3e-9, 1e-10), "chunks": Coefficient(2e-5, 1e-6)}
    return CostModel("fdtd", coefficients, 0.04, measured=(*rows, *cells), machine="test", share_error_p90=0.08)


def _line(axes: Axes, gid: str) -> Any:
    return next(line for line in axes.lines if line.get_gid() == gid)


def test_there_is_a_picture_per_feature(cost: CostModel) -> None:
    assert set(plot_cost(cost)) == {"fdtd-cost-predictions", "fdtd-cost-vacuum", "fdtd-cost-one-pole"}


def test_a_feature_shows_points_and_the_line_through_them(cost: CostModel) -> None:
    axes = plot_feature(cost, "vacuum").axes[0]
    measured, predicted = _line(axes, "measured"), _line(axes, "predicted")
    assert sorted(measured.get_xdata()) == [*SIZES]
    np.testing.assert_allclose(predicted.get_ydata(), [3e-9 * n + 2e-5 for n in SIZES])


def test_cells_are_shown_as_they_were_predicted_unseen(cost: CostModel) -> None:
    axes = plot_predictions(cost).axes[0]
    cells, features = _line(axes, "cell"), _line(axes, "feature")
    np.testing.assert_allclose(cells.get_ydata(), [4e-5 / (3e-9 * n + 2e-5) for n in SIZES])
    np.testing.assert_allclose(features.get_ydata(), 1.0)


def test_a_model_without_runs_has_a_picture_and_a_table_all_the_same() -> None:
    bare = CostModel("fdtd", {"points": Coefficient(3e-9)})
    assert set(plot_cost(bare)) == {"fdtd-cost-predictions"}
    assert cost_table(bare).row_count > 10
    assert "no cells were left out" in errors_line(bare)
    assert all(np.isnan(share) for share in typical_shares(bare).values())


def test_the_table_tells_every_term_with_its_share(cost: CostModel) -> None:
    told = cost_as_dict(cost)
    assert told["coefficients"]["points"]["ns"] == pytest.approx(3.0)
    assert told["coefficients"]["points"]["standard_error_ns"] == pytest.approx(0.1)
    # 21,000 points at 3 ns beside three chunks at 20 µs.
    assert told["typical_shares"]["points"] == pytest.approx(63 / 123)
    assert "4 %" in errors_line(cost)
    assert "8 %" in errors_line(cost)
