"""Errors of runs that a model had not seen: of each run, by the fit without it.

Errors on the runs learned from flatter a model. Those of left-out runs were found while it was learned
(`Model.left_out_`); they are told only for the very runs that a model was learned from.
"""

from __future__ import annotations

import numpy as np

from evenly.metrics import METRICS
from evenly.models.base import Model, digest
from evenly.report.slices import measured_by_configuration
from evenly.runs.runs import Runs

__all__ = ["left_out_errors"]


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
    >>> import pandas as pd
    >>> table = pd.DataFrame({"cores": [1, 2, 4], "seconds": [8.0, 4.0, 2.2]})
    >>> runs = evenly.Runs.from_frame(table, ["cores"])
    >>> errors = left_out_errors(evenly.fit(runs, method="power-law"), runs)
    >>> round(errors["MLogQ"], 4)
    0.0794
    """
    measured, _ = measured_by_configuration(model, runs, model.training_.get("statistic"))
    if model.left_out_ is None or digest(measured) != model.learned_:
        return None
    known = np.isfinite(model.left_out_) & (model.left_out_ > 0)
    if not known.any():
        return None
    return {name: metric(measured[known], model.left_out_[known]) for name, metric in METRICS.items()}
