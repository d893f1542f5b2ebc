"""Outer shells of the measured range, and what lies beyond it."""

from __future__ import annotations

import numpy as np

from evenly.models.extrapolation.edge_shells import outer_shell, outer_shells, sides
from evenly.models.inputs.coding import Inputs


def uniform(n: int, d: int, seed: int = 0) -> Inputs:
    numbers = np.random.default_rng(seed).uniform(-1, 1, (n, d))
    numbers[0], numbers[1] = -1, 1
    return Inputs(numbers, np.zeros((n, 0), np.int64), ())


def test_sides_tell_above_below_and_inside() -> None:
    inputs = Inputs(np.array([[0.5, -1.0], [1.2, 0.0], [-1.1, 3.0], [1.0 + 1e-12, 0]]), np.zeros((4, 0), np.int64), ())
    assert sides(inputs).tolist() == [[0, 0], [1, 0], [-1, 1], [0, 0]]
    assert sides(inputs).any(axis=1).tolist() == [False, True, True, False]


def test_a_shell_is_the_outer_share_of_the_range_and_nothing_else() -> None:
    inputs = uniform(2000, 2)
    shell = outer_shell(inputs, 0.2, [1, 0])
    assert shell is not None
    assert (inputs.numbers[shell.inner, 0] <= 0.6).all()
    assert (inputs.numbers[shell.outer, 0] > 0.6).all()
    assert (shell.inner | shell.outer).all()
    # The box of what is learned from ends where its runs end, and distances are in its half-ranges.
    assert shell.high[0] == inputs.numbers[shell.inner, 0].max()
    half = (shell.high[0] - shell.low[0]) / 2
    assert np.isclose(shell.beyond(inputs)[1], np.hypot((1 - shell.high[0]) / half, max(0, 1 - shell.high[1])))


def test_of_several_sides_the_corner_is_asked_and_no_run_of_any_side_is_learned_from() -> None:
    inputs = uniform(2000, 3)
    shell = outer_shell(inputs, 0.3)
    assert shell is not None
    assert (inputs.numbers[shell.inner] <= 0.4).all()
    assert ((inputs.numbers[shell.outer] > 0.4).sum(axis=1) >= 2).all()


def test_lower_sides_mirror_upper_ones() -> None:
    inputs = uniform(500, 2)
    mirrored = Inputs(-inputs.numbers, inputs.labels, ())
    one, other = outer_shell(inputs, 0.25, [1, 0]), outer_shell(mirrored, 0.25, [-1, 0])
    assert one is not None
    assert other is not None
    np.testing.assert_array_equal(one.outer, other.outer)


def test_shares_that_cut_between_the_same_values_give_one_shell() -> None:
    levels = np.repeat([-1.0, 0.0, 1.0], 10)[:, None]
    inputs = Inputs(levels, np.zeros((30, 0), np.int64), ())
    assert len(outer_shells(inputs, [1], (0.1, 0.2, 0.3))) == 1


def test_without_a_range_there_is_no_shell() -> None:
    same = Inputs(np.zeros((20, 1)), np.zeros((20, 0), np.int64), ())
    assert outer_shell(same, 0.2) is None
