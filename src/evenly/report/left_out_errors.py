"""Leave-one-out errors of a model: each run is predicted by a fit without this run.

Errors on the training runs are too optimistic. The leave-one-out predictions are computed while a model is fitted
(`Model.left_out_predictions_`). So these errors are available only for the runs that the model was fitted to.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pandas as pd

from evenly.metrics import all_metrics
from evenly.models.array_types import Floats
from evenly.models.base import Model, digest
from evenly.report.slices import measured_by_configuration
from evenly.runs.runs import Runs

__all__ = ["LeftOut", "left_out_errors", "left_out_predictions"]


class LeftOut(NamedTuple):
    """What was measured, and what a model predicts of it without it; a row per configuration that it can predict."""

    measured: Floats
    predicted: Floats
    configurations: pd.DataFrame


def left_out_predictions(model: Model, runs: Runs) -> LeftOut | None:
    """Return the leave-one-out predictions of a model.

    A configuration that the other runs can't predict has no row, for example the only one with some label.

    Parameters
    ----------
    model : Model
        The fitted model.
    runs : Runs
        The runs to which the model was fitted.

    Returns
    -------
    LeftOut or None
        None if the model has no leave-one-out predictions, none of them is usable, or `runs` are other runs.

    Examples
    --------
    >>> import evenly
    >>> table = pd.DataFrame({"cores": [1, 2, 4], "seconds": [8.0, 4.0, 2.2]})
    >>> runs = evenly.Runs.from_frame(table, ["cores"])
    >>> left_out_predictions(evenly.fit(runs, method="power-law"), runs).predicted.round(2)
    array([7.27, 4.2 , 2.  ])
    """
    if (known := model.left_out_predictions_) is None:
        return None
    measured, configurations = measured_by_configuration(model, runs, model.training_.get("statistic"))
    # `fit` gives a model what was measured first, and bounds, which its digest counts as NaN, last.
    bounds = max(len(known) - len(measured), 0)
    if digest([*measured, *[np.nan] * bounds]) != model.training_digest_:
        return None
    predicted = known[: len(measured)]
    usable = np.isfinite(predicted) & (predicted > 0)
    if not usable.any():
        return None
    return LeftOut(measured[usable], predicted[usable], configurations[usable])


def left_out_errors(model: Model, runs: Runs) -> dict[str, float] | None:
    """Return all error metrics of the leave-one-out predictions, with one value per configuration.

    A configuration that the other runs can't predict isn't counted. Of a long table, those are counted that the model
    learned from (`evenly.models.thinning`).

    Parameters
    ----------
    model : Model
        The fitted model.
    runs : Runs
        The runs to which the model was fitted.

    Returns
    -------
    dict of str to float, or None
        None where there are no leave-one-out predictions: see `left_out_predictions`.

    Examples
    --------
    >>> import evenly
    >>> table = pd.DataFrame({"cores": [1, 2, 4], "seconds": [8.0, 4.0, 2.2]})
    >>> runs = evenly.Runs.from_frame(table, ["cores"])
    >>> errors = left_out_errors(evenly.fit(runs, method="power-law"), runs)
    >>> round(errors["MLogQ"], 4)
    0.0794
    """
    if model.training_.get("thinned_from") == len(runs):
        return model.training_["left_out"] or None
    known = left_out_predictions(model, runs)
    return None if known is None else all_metrics(known.measured, known.predicted) or None
