"""Leave-one-out errors of a model: each run is predicted by a fit without this run.

Errors on the training runs are too optimistic. The leave-one-out predictions are computed while a model is fitted
(`Model.left_out_predictions_`). So these errors are available only for the runs that the model was fitted to.
"""

from __future__ import annotations

import numpy as np

from evenly.metrics import all_metrics
from evenly.models.base import Model, digest
from evenly.report.slices import measured_by_configuration
from evenly.runs.runs import Runs

__all__ = ["left_out_errors"]


def left_out_errors(model: Model, runs: Runs) -> dict[str, float] | None:
    """Return all error metrics of the leave-one-out predictions, with one value per configuration.

    A configuration that the other runs cannot predict is not counted, for example the only one with some label. Of a
    long table, those are counted that the model learned from (`evenly.models.thinning`).

    Parameters
    ----------
    model : Model
        The fitted model.
    runs : Runs
        The runs to which the model was fitted.

    Returns
    -------
    dict of str to float, or None
        None if the model has no leave-one-out predictions, none of them is usable, or `runs` are other runs.

    Examples
    --------
    >>> import evenly
    >>> import pandas as pd
    >>> table = pd.DataFrame({"cores": [1, 2, 4], "seconds": [8.0, 4.0, 2.2]})
    >>> runs = evenly.Runs.from_frame(table, ["cores"])
    >>> errors = left_out_errors(evenly.fit(runs, method="power-law"), runs)
    >>> round(errors["MLogQ"], 4)
    0.0794
    """
    if model.training_.get("thinned_from") == len(runs):
        return model.training_["left_out"] or None
    measured, _ = measured_by_configuration(model, runs, model.training_.get("statistic"))
    if model.left_out_predictions_ is None:
        return None
    # `fit` gives a model what was measured first, and bounds, which its digest counts as NaN, last.
    bounds = max(len(model.left_out_predictions_) - len(measured), 0)
    if digest([*measured, *[np.nan] * bounds]) != model.training_digest_:
        return None
    return all_metrics(measured, model.left_out_predictions_[: len(measured)]) or None
