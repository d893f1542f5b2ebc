"""Errors of runs that a model had not seen: of each run, by the fit without it.

Errors on the runs learned from flatter a model. Those of left-out runs were found while it was learned, and are kept
by power-law, log-quadratic and PMNF models; they are told only for the very runs that a model was learned from.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from evenly.metrics import METRICS
from evenly.models import _averaging
from evenly.models.base import Model
from evenly.models.pmnf import PMNF
from evenly.runs import Runs

__all__ = ["left_out_errors"]

Floats = NDArray[np.float64]

_ALIKE = 1e-6


def left_out_errors(model: Model, runs: Runs) -> dict[str, float] | None:
    """Return every error metric of predictions of each condensed run by the fit without it.

    Runs that the others say nothing about (the only one with a label) are not counted.

    Parameters
    ----------
    model : Model
        Fitted.
    runs : Runs
        What it was learned from.

    Returns
    -------
    dict of str to float, or None
        None where the model keeps no such predictions, nothing is left to judge by, or `runs` are others.

    Examples
    --------
    >>> import evenly
    >>> table = pd.DataFrame({"cores": [1, 2, 4], "seconds": [8.0, 4.0, 2.2]})
    >>> runs = evenly.Runs.from_frame(table, ["cores"])
    >>> errors = left_out_errors(evenly.fit(runs, method="power-law"), runs)
    >>> round(errors["MLogQ"], 4)
    0.0794
    """
    response = model.response_["name"]
    chosen = runs.learning(response) if response in runs.quantities else runs
    statistic = model.training_.get("statistic")
    table = chosen.ok.aggregate(statistic) if statistic else chosen.ok.aggregate()
    table = table[table[chosen.response].notna()]
    measured, asked = table[chosen.response].to_numpy(dtype=np.float64), table[model.space_.names]
    predicted = _predictions(model, asked, measured) if len(table) == model.n_runs_ else None
    if predicted is None:
        return None
    known = np.isfinite(predicted) & (predicted > 0)
    if not known.any():
        return None
    return {name: metric(measured[known], predicted[known]) for name, metric in METRICS.items()}


def _predictions(model: Model, asked: pd.DataFrame, measured: Floats) -> Floats | None:
    if isinstance(model, PMNF):
        return _of_average(model, asked, measured)
    fit: Any = getattr(model, "_fit", None)
    if not hasattr(fit, "left_out") or not hasattr(model, "_design") or len(fit.left_out) != len(measured):
        return None
    # The residual of a run on the fit to all is that without it, times 1 - leverage on all = 1 / (1 + leverage).
    seen = np.log(measured) - fit.logs(model._design(model.space_.frame(asked)))
    if not _same(seen, fit.left_out / (1.0 + fit.leverages)):
        return None
    return np.asarray(measured / np.exp(fit.left_out), dtype=np.float64)


def _of_average(model: PMNF, asked: pd.DataFrame, measured: Floats) -> Floats | None:
    order = model._in_order(model.space_.frame(asked), measured)[1]
    if any(len(member.left_out) != len(measured) for member in model.members_):
        return None
    scores = _averaging.residuals(model.members_, measured[order]) / np.sqrt(1.0 + model._local.leverages)
    known = np.sort(scores[np.isfinite(scores)])
    if len(known) != len(model._conformal.scores) or not _same(known, model._conformal.scores):
        return None
    predicted = np.empty_like(measured)
    predicted[order] = sum(member.weight * member.left_out for member in model.members_)
    return predicted


def _same(one: Floats, other: Floats) -> bool:
    known = np.isfinite(one) & np.isfinite(other)
    return bool(np.allclose(one[known], other[known], rtol=_ALIKE, atol=_ALIKE))
