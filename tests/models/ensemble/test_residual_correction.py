"""Trees on a blend's errors: there where something is left, gone where only noise is."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from numpy.typing import NDArray

from evenly import Space
from evenly.models.ensemble.residual_correction import Correction
from evenly.models.inputs.coding import Coding, Inputs
from evenly.models.regression_model import fold_numbers
from tests.models.contract import through_files

Floats = NDArray[np.float64]


@pytest.fixture(scope="module")
def sizes() -> pd.DataFrame:
    return pd.DataFrame({"n": np.random.default_rng(0).integers(32, 4096, 600)})


def _coded(table: pd.DataFrame) -> tuple[Coding, Inputs]:
    coding = Coding.learn(table, Space.from_data(table))
    return coding, coding.inputs(table)


def _learned(table: pd.DataFrame, errors: Floats) -> tuple[Correction, Floats]:
    coding, inputs = _coded(table)
    folds = fold_numbers(inputs, 5)
    assert folds is not None
    return Correction.learn(coding, inputs, errors, np.ones(len(errors)), folds)


def _of_blocks(table: pd.DataFrame) -> Floats:
    return np.where(table["n"] % 32 < 16, -0.1, 0.1)


def test_what_block_sizes_do_is_found(sizes: pd.DataFrame) -> None:
    noise = 0.02 * np.random.default_rng(1).normal(size=len(sizes))
    correction, left_out = _learned(sizes, _of_blocks(sizes) + noise)
    assert correction.gain > 0.3
    before, after = (np.mean(np.abs(_of_blocks(sizes) + noise - made)) for made in (0.0, left_out))
    assert after == pytest.approx(before * (1 - correction.gain))
    asked = pd.DataFrame({"n": np.arange(512, 2048)})
    missed = _of_blocks(asked) - correction.predict(_coded(sizes)[0].inputs(asked))
    assert np.mean(np.abs(missed)) < 0.6 * np.mean(np.abs(_of_blocks(asked)))


def test_noise_is_left_alone(sizes: pd.DataFrame) -> None:
    correction, left_out = _learned(sizes, 0.1 * np.random.default_rng(2).normal(size=len(sizes)))
    assert correction.gain == 0
    assert not left_out.any()
    assert not correction.predict(_coded(sizes)[1]).any()


def test_few_runs_are_left_alone(sizes: pd.DataFrame) -> None:
    some = sizes.iloc[:100]
    assert _learned(some, _of_blocks(some))[0].trees is None


def test_it_is_stored(sizes: pd.DataFrame) -> None:
    correction, _ = _learned(sizes, _of_blocks(sizes))
    coding, inputs = _coded(sizes)
    again = Correction.from_state(through_files(correction.to_state()), coding)
    np.testing.assert_array_equal(again.predict(inputs), correction.predict(inputs))
    assert Correction.from_state(None, coding).trees is None
