"""Censored runs: a run that was ended at its limit took longer than that, and every method learns from it.

Leaving such runs out makes predictions near the limit too low: of the configurations there, only the lucky runs were
measured. The likelihood of a bound c is ``Φ(-z)`` with ``z = (log c - μ) / σ``, where μ is the predicted log time and σ
the spread of left-out log errors [Tobin, Estimation of relationships for limited dependent variables, 1958]. Methods
learn from bounds by weighted rows alone, in rounds: fit, predict the bounds, and replace them by working values. With
``λ(z) = φ(z) / Φ(-z)``:

* Laws take a step of Newton's method towards the largest likelihood: the working value is ``μ + σ / (λ - z)``, and the
  bound is worth the share ``λ (λ - z)`` of a measured run. The share is near 0 if the bound is far below the
  prediction, since then it says nothing, and near 1 if it is far above. The first round learns from measured runs.
* All other methods learn from the mean of the predicted distribution above the bound, ``μ + σ λ`` [Hutter, Hoos and
  Leyton-Brown, Bayesian optimization with censored response data, 2011]. So a bound far below the prediction is
  replaced by the prediction itself. The first predictions are those of a law, because these methods don't extrapolate:
  without any rows above the limit they would stay below it.

Errors, intervals, and the shares of a blend come from measured runs alone.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pandas as pd

from evenly.models.array_types import Flags, Floats
from evenly.models.hung_runs import FACTOR, MULTIPLE
from evenly.plugins import load
from evenly.space.parameters import Categorical
from evenly.space.space import Space

#: A model: `evenly.models.base.Model`, which imports this module.
Model = Any

__all__ = ["hazard", "rough_copy", "working_values"]

#: Rounds of laws, and of other methods.
_NEWTON_ROUNDS, _MEAN_ROUNDS = 5, 2
#: Share of normal errors that lie within one standard deviation.
_WITHIN = 0.6827
#: Least spread of log times: less is said by exact data, and by no clock.
_LEAST_SPREAD = 1e-3
#: A bound that is worth less than this share of a measured run is left out.
_WORTHLESS = 1e-3
#: Distances in standard deviations beyond which nothing changes.
_FAR = (-12.0, 30.0)
#: A bound is above what the measured runs alone predict if it is so by the first factor, in logs, and by several times
#: their scatter, or by the second factor. If measured runs are then missed by more than this in the median, no law
#: follows both: it is that of a run that hung, say.
_ABOVE, _SURELY_ABOVE, _MISSED = math.log(1.8), math.log(10.0), 0.05


def hazard(z: Floats) -> Floats:
    """Return λ(z) = φ(z) / Φ(-z), the mean of a standard normal distribution truncated to values above z.

    Examples
    --------
    >>> hazard(np.array([-30.0, 0.0, 30.0])).round(3)
    array([ 0.   ,  0.798, 30.033])
    """
    from scipy.special import log_ndtr  # here, since importing it takes longer than a fit without bounds

    return np.asarray(np.exp(-0.5 * z**2 - 0.5 * np.log(2 * np.pi) - log_ndtr(-z)))


def working_values(
    model: Model, space: Space, table: pd.DataFrame, values: Floats, weights: Floats, measured: Flags
) -> tuple[Floats, Floats, str]:
    """Return values (n,) and weights (n,) by which a model learns from bounds, and a sentence on those that are odd.

    Parameters
    ----------
    model : Model
        The model that will learn; copies of it with its arguments `Model.rough` are fitted here.
    space : Space
        The parameters.
    table : DataFrame (n, n_parameters)
    values, weights : array (n,)
        Measured values or lower bounds, and the weight of each row.
    measured : bool array (n,)
        False for bounds.
    """
    bounds = np.flatnonzero(~measured)
    law = model if model.is_law else load("evenly.models", "log-quadratic", "method")()
    working, informing = values.copy(), weights.copy()
    # At first, bounds are left out, except those of labels that were never measured: these can't be predicted.
    informing[bounds] *= _unknown(space, table, measured)[bounds]
    misses, odd = [], bounds[:0]
    for number in range(_NEWTON_ROUNDS):
        mean, spread, z, missed = _predicted(law, space, table, values, measured, (working, informing))
        misses.append(missed)
        if number == 0:
            above = np.log(values[bounds]) - mean
            is_odd = (above > max(_ABOVE, min(MULTIPLE * spread, _SURELY_ABOVE))) & (weights[bounds] > 0)
            is_odd &= measured.sum() > 2 * len(space)  # fewer tell no law
            odd, factors, expected = bounds[is_odd], above[is_odd], np.exp(mean[is_odd])
        rate = hazard(z)
        worth = rate * (rate - z)
        working[bounds] = np.exp(mean + spread / (rate - z))
        informing[bounds] = weights[bounds] * np.where(worth < _WORTHLESS, 0.0, worth)
    told = ""
    if len(odd) and misses[-1] > max(_MISSED, 3 * misses[0]):
        without = weights.copy()
        without[odd] = 0.0
        told = _told_above(table.iloc[odd], values[odd], expected, hung=True)
        return *working_values(model, space, table, values, without, measured)[:2], told
    if len(odd) and (far := factors > FACTOR).any():
        told = _told_above(table.iloc[odd[far]], values[odd[far]], expected[far], hung=False)
    if model.is_law:
        return working, informing, told
    working[bounds] = np.exp(mean + spread * hazard(z))
    for _ in range(_MEAN_ROUNDS):
        mean, spread, z, _ = _predicted(model, space, table, values, measured, (working, weights))
        working[bounds] = np.exp(mean + spread * hazard(z))
    return working, weights, told


def _predicted(
    model: Model, space: Space, table: pd.DataFrame, values: Floats, measured: Flags, learned: tuple[Floats, Floats]
) -> tuple[Floats, float, Floats, float]:
    """Fit a copy of `model` to working values and weights.

    Returns the means (m,), σ, and z (m,) of bounds, and the median log error on measured runs.
    """
    rough = rough_copy(model)._fit_rows(space, table, *learned, measured)
    logs, predicted = np.log(values), np.log(rough._predict(space.frame(table)))
    spread = _spread(rough, logs, predicted, measured)
    missed = float(np.median(np.abs(logs - predicted)[measured]))
    return predicted[~measured], spread, np.clip((logs - predicted)[~measured] / spread, *_FAR), missed


def _told_above(table: pd.DataFrame, bounds: Floats, expected: Floats, *, hung: bool) -> str:
    """Return a sentence on configurations whose runs were stopped later than the measured runs tell."""
    where = ", ".join(f"{name} = {value}" for name, value in table.iloc[0].items())
    others = len(table) - 1
    more = f"; so were those of {others} other configuration{'s' if others > 1 else ''}" if others else ""
    told = (
        f"runs with {where} were stopped at {bounds[0]:.4g}, long after what the others tell (about {expected[0]:.3g})"
        f"{more}"
    )
    if hung:
        return f"{told}. No law follows both, so they are left out, as if they hung"
    return f"{told}. The model follows: if they hung, leave them out of the table"


def rough_copy(model: Model) -> Model:
    """Return an unfitted copy of a model that is fitted quickly; what the user chose is kept, except effort."""
    given, defaults = model.get_params(), model.default_arguments()
    # What the user chose is kept, except where it costs time.
    rough = {k: v for k, v in model.rough.items() if k in ("effort", "progress") or given.get(k) == defaults.get(k)}
    return type(model)(**{**given, **{name: value for name, value in rough.items() if name in given}})


def _unknown(space: Space, table: pd.DataFrame, measured: Flags) -> Flags:
    """Return for each row whether it has a label that no measured row has, (n,)."""
    unknown = np.zeros(len(table), dtype=np.bool_)
    for name, kind in space.parameters.items():
        if isinstance(kind, Categorical):
            unknown |= ~table[name].isin(table.loc[measured, name].tolist()).to_numpy()
    return unknown


def _spread(rough: Model, logs: Floats, predicted: Floats, measured: Flags) -> float:
    """Return the spread of log errors on left-out measured runs, corrected for the errors that bounds hide."""
    known = rough.left_out_predictions_
    errors = (logs - (predicted if known is None else np.log(known)))[measured]
    errors = errors[np.isfinite(errors)]
    if not len(errors):
        errors = (logs - predicted)[measured]
    spread = max(float(np.quantile(np.abs(errors), _WITHIN)), _LEAST_SPREAD)
    # The mean square of an error above z is σ² (1 + z λ), so n measured squares sum up to σ² (n - Σ z λ).
    z = np.clip((logs - predicted)[~measured] / spread, *_FAR)
    hidden = float(np.sum(z * hazard(z))) / len(errors)
    return spread / math.sqrt(np.clip(1.0 - hidden, 0.5, 2.0))
