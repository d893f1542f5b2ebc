"""Identities that metrics keep for any values."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from evenly import metrics

PAIRS = st.lists(st.tuples(st.floats(1e-6, 1e6), st.floats(1e-6, 1e6)), min_size=1, max_size=20)
FACTORS = st.floats(1e-3, 1e3)


@given(pairs=PAIRS, factor=FACTORS)
def test_identities(pairs: list[tuple[float, float]], factor: float) -> None:
    y, m = np.array(pairs).T
    # Each logarithm is off by a few roundings of its argument (relative 2^-53) and of its own size (below 30).
    np.testing.assert_allclose(metrics.mlogq(y, factor * y), metrics.mlogq(y, y / factor), rtol=1e-12, atol=1e-14)
    for name in ("MLogQ", "MLogQ2", "SMAPE"):
        metric = metrics.METRICS[name]
        np.testing.assert_allclose(metric(y, m), metric(m, y), rtol=1e-12, atol=1e-14)
    for name in ("MLogQ", "MLogQ2", "SMAPE", "MAPE"):
        metric = metrics.METRICS[name]
        # m / y - 1 loses digits where m is close to y: by one rounding of 1, the absolute tolerance.
        np.testing.assert_allclose(metric(factor * y, factor * m), metric(y, m), rtol=1e-9, atol=1e-14)
    assert 0 <= metrics.smape(y, m) <= 2
    assert metrics.mlogq(y, m) ** 2 <= metrics.mlogq2(y, m) * (1 + 1e-12)  # Jensen
    assert metrics.mae(y, m) ** 2 <= metrics.mse(y, m) * (1 + 1e-12)
    assert np.isnan(metrics.r2(y, m)) or metrics.r2(y, m) <= 1
    order = np.random.default_rng(0).permutation(len(y))
    np.testing.assert_allclose(metrics.mape(y[order], m[order]), metrics.mape(y, m), rtol=1e-12)
