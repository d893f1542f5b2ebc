"""Learning curves whose noise is planted."""

from __future__ import annotations

import numpy as np
import pandas as pd

import evenly
from evenly.models.ensemble.learning_curves import above_noise, curve_of


def _model(repeated: int, noise: float = 0.03) -> tuple[evenly.Model, evenly.Runs]:
    cores = np.repeat(2 ** np.arange(8), repeated)
    times = 100 / cores * np.exp(noise * np.random.default_rng(0).standard_normal(len(cores)))
    runs = evenly.Runs.from_frame(pd.DataFrame({"cores": cores, "seconds": times}), ["cores"])
    return evenly.fit(runs, method="power-law"), runs


def _falling() -> pd.DataFrame:
    return pd.DataFrame(
        {"runs": [4, 8, 16, 32], "error": [0.08, 0.04, 0.02, 0.01], "measured": [True, True, False, False]}
    )


def test_no_error_is_expected_below_the_noise_of_repeated_runs() -> None:
    found = above_noise(_model(5)[0], _falling())
    assert found["kind"].tolist() == ["measured", "measured", "expected", "expected"]
    # A median of five normal runs has the standard deviation sqrt(π/2/5) · 3 % = 1.7 %; MLogQ is sqrt(2/π) of it.
    # With 32 runs of freedom, the noise is known to within 1/sqrt(64) = 13 %; twice that is allowed.
    assert found["error"].tolist()[:3] == [0.08, 0.04, 0.02]
    assert 0.0134 * 0.74 < found["error"].iloc[3] < 0.0134 * 1.26
    # Never above what was measured.
    assert (above_noise(_model(5, 0.5)[0], _falling())["error"].iloc[2:] == 0.04).all()


def test_where_the_noise_is_unknown_the_errors_are_those_at_best() -> None:
    found = above_noise(_model(1)[0], _falling())
    assert found["kind"].tolist() == ["measured", "measured", "at best", "at best"]
    pd.testing.assert_frame_equal(found.drop(columns="kind"), _falling())


def test_curves_without_points_stay_so() -> None:
    assert not len(curve_of(*_model(1), 0.02))
