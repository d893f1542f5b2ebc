"""Learning curves: the error on left-out runs as a function of the number of runs, extrapolated to more runs.

Regression errors fall roughly as a power of the number of runs until they reach the noise level [Viering and Loog, The
shape of learning curves, 2022]. The exponent is fitted to up to three numbers of runs. Repeated runs tell the noise
level: no error on measured values falls below it. Where runs weren't repeated, the extrapolated error is what more runs
bring at best.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pandas as pd

from evenly.models.base import Model
from evenly.models.ensemble.race import Table, left_out_logs_of, mean_error
from evenly.models.uncertainty.single_runs import SingleRuns
from evenly.runs.runs import Runs

__all__ = ["above_noise", "curve_of", "learning_curve"]

_SHARES = (0.25, 0.5)
_MORE = (2, 4)
#: Least number of runs for which a trend is fitted, and maximum number of test runs.
_FEWEST, _TESTED = 24, 2_000
#: With at least this many runs to learn from, one random split is always enough.
_LARGE = 2_000


def curve_of(model: Model, runs: Runs, error: float) -> pd.DataFrame:
    """Return the learning curve of a fitted model: its own, or one that is measured now, by fits to some of its runs.

    Parameters
    ----------
    model : Model
    runs : Runs
        What it was fitted to.
    error : float
        MLogQ on left-out runs.

    Returns
    -------
    DataFrame
        As `above_noise`.

    Examples
    --------
    >>> import evenly
    >>> cores = np.arange(1, 41)
    >>> table = pd.DataFrame({"cores": cores, "seconds": 80 / cores + np.tile([1.0, 1.1], 20)})
    >>> runs = evenly.Runs.from_frame(table, ["cores"])
    >>> curve_of(evenly.fit(runs, method="power-law"), runs, 0.1)["runs"].tolist()
    [10, 20, 40, 80, 160]
    """
    own: pd.DataFrame | None = getattr(model, "learning_curve_", None)
    if own is not None:
        return above_noise(model, own)
    rows = runs.evidence(model.training_.get("statistic", "median"))
    rows = rows[~rows["censored"]].reset_index(drop=True)
    values = rows[runs.response].to_numpy(dtype=np.float64)
    count = len(rows)
    table = Table(rows[runs.parameters], np.log(values), np.ones(count), runs.space, np.ones(count, dtype=np.bool_))
    return above_noise(model, learning_curve(table, lambda: type(model)(**model.get_params()), error, count))


def above_noise(model: Model, curve: pd.DataFrame) -> pd.DataFrame:
    """Keep the extrapolated errors of a learning curve above the noise of the values that a model learned from.

    With normal noise of standard deviation s (in logarithms), the MLogQ of a model without any error is sqrt(2/π) s.

    Parameters
    ----------
    model : Model
        The fitted model. It knows the noise, if enough runs were repeated.
    curve : DataFrame
        From `learning_curve`.

    Returns
    -------
    DataFrame
        The curve with the column ``kind``: "measured", or "expected"; "at best" where the noise isn't known.
    """
    kept = model.training_.get("single_runs")
    noise = None if kept is None else SingleRuns.from_state(kept).noise()
    measured = curve["measured"].astype(bool)
    kind = np.where(measured, "measured", "at best" if noise is None else "expected")
    if noise is None or not measured.any():
        return curve.assign(kind=kind)
    least = min(np.sqrt(2 / np.pi) * noise, float(curve["error"][measured].iloc[-1]))
    return curve.assign(error=curve["error"].where(measured, curve["error"].clip(lower=least)), kind=kind)


def learning_curve(
    table: Table, make: Callable[[], Model], error: float, learned_from: int, *, effort: str = "normal"
) -> pd.DataFrame:
    """Measure the error with a quarter and half of the runs, and extrapolate it to two and four times as many runs.

    Parameters
    ----------
    table : Table
    make : callable
        Returns a model that has learned nothing yet.
    error : float
        MLogQ on left-out runs of models that learned from `learned_from` runs.
    learned_from : int
    effort : {"quick", "normal", "thorough"}
        "quick": measure with a quarter of the runs only; "thorough": with two random splits of few runs.

    Returns
    -------
    DataFrame
        ``runs``, ``error`` (MLogQ) and ``measured`` (False where the error is extrapolated); no rows where there are
        too few runs.
    """
    n = len(table)
    if n < _FEWEST or not np.isfinite(error) or error <= 0:
        return pd.DataFrame({"runs": [], "error": [], "measured": []})
    rows = []
    for share in _SHARES[:1] if effort == "quick" else _SHARES:
        learned = round(share * n)
        errors = []
        for seed in range(1 if effort != "thorough" or learned >= _LARGE else 2):
            order = np.random.default_rng(seed).permutation(n)[: learned + _TESTED]
            some, folds = table.rows(order), np.repeat([0, 1], [learned, len(order) - learned])
            errors.append(mean_error(left_out_logs_of(make, some, folds, [1]), some))
        # An error of 0, as of runs that follow a law exactly, has no logarithm, and no trend.
        finite = [one for one in errors if np.isfinite(one) and one > 0]
        if finite:
            rows.append((learned, float(np.mean(finite)), True))
    rows.append((learned_from, error, True))
    sizes, measured = np.array([r[0] for r in rows], float), np.array([r[1] for r in rows])
    # error ≈ c · runs^slope, by least squares in logarithms; the slope is kept between -1 and 0.
    slope = np.polyfit(np.log(sizes), np.log(measured), 1)[0] if len(rows) > 1 else 0.0
    slope = float(np.clip(slope, -1.0, 0.0))
    rows += [(more * n, float(error * (more * n / learned_from) ** slope), False) for more in _MORE]
    return pd.DataFrame(rows, columns=["runs", "error", "measured"])
