"""Where configurations lie on the grid that a user, or the data, asks for."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from evenly import Space
from evenly.errors import InputError
from evenly.models.completion.cpr import CPR
from evenly.models.completion.grid import Grid, parse_grid
from evenly.models.inputs.coding import Coding

TABLE = pd.DataFrame({
    "n": [10, 20, 40, 80, 160, 320, 640, 1000],
    "level": [0, 1, 2, 0, 1, 2, 0, 1],
    "solver": list("abcaabbc"),
    "one": [3] * 8,
})  # fmt: skip
CODING = Coding.learn(TABLE, Space.from_data(TABLE))
INPUTS = CODING.inputs(TABLE)


def _grid(wanted: object = None, count: int = 4, basis: str = "hat") -> Grid:
    return Grid.lay(INPUTS, CODING, parse_grid(wanted, CODING), count, basis)  # type: ignore[arg-type]


def test_a_parameter_of_one_value_has_no_mode() -> None:
    assert _grid().sizes == (3, 4, 3)
    assert [mode.ordered for mode in _grid().modes] == [True, True, False]


def test_few_values_are_indexed() -> None:
    place = _grid().place(INPUTS)
    rows = place.rows[0] + place.shares[0]
    np.testing.assert_allclose(rows, TABLE["level"])


def test_hat_functions_reproduce_what_is_linear() -> None:
    grid = _grid(count=5)
    place = grid.place(INPUTS)
    knots = grid.modes[1].knots
    x = (1 - place.shares[1]) * knots[place.rows[1]] + place.shares[1] * knots[place.rows[1] + 1]
    np.testing.assert_allclose(x, INPUTS.numbers[:, 1], atol=1e-12)


def test_cells_interpolate_between_mid_points_and_go_on_to_the_edge() -> None:
    grid = _grid({"n": [10.0, 100.0, 1000.0]}, basis="cells")
    assert grid.sizes[1] == 2
    middles = np.log(np.sqrt([1000.0, 100_000.0]))
    place = grid.place(INPUTS)
    x = middles[0] + (place.rows[1] + place.shares[1]) * (middles[1] - middles[0])
    np.testing.assert_allclose(x, np.log(TABLE["n"]), atol=1e-12)
    fitted = grid.place(INPUTS, fitting=True)
    assert fitted.rows[1].tolist() == [0, 0, 0, 0, 1, 1, 1, 1]
    assert not fitted.shares.any()


def test_uniform_grids_are_linear_in_the_parameter_itself() -> None:
    grid = _grid({"n": ("uniform", 12)})
    np.testing.assert_allclose(grid.modes[1].knots, np.linspace(10, 1000, 12))
    place = grid.place(INPUTS)
    np.testing.assert_allclose(10 + 90 * (place.rows[1] + place.shares[1]), TABLE["n"])


def test_given_points_are_the_grid() -> None:
    model = CPR(grid={"n": [5, 30, 2000]}, rank=1, starts=1, folds=0).fit(TABLE, np.arange(1.0, 9.0))
    np.testing.assert_allclose(model.grid_["n"], [5, 30, 2000])
    np.testing.assert_allclose(model.grid_["level"], [0, 1, 2])


@pytest.mark.parametrize(
    ("grid", "says"),
    [
        ({"solver": 4}, "numeric parameters"),
        ({"n": [20, 1000]}, "span the values measured"),
        ({"n": [1000, 10]}, "rising points"),
        ({"n": 1}, "2 to 4096"),
        ({"n": "cubic"}, "'log' or 'uniform'"),
        ({"level": "log"}, "above zero"),
        (("uniform", 2.5), "2 to 4096"),
    ],
)
def test_grids_that_cannot_be_are_refused(grid: object, says: str) -> None:
    with pytest.raises(InputError, match=says):
        CPR(grid=grid, rank=1, starts=1, folds=0).fit(TABLE, np.arange(1.0, 9.0))
