"""Greedy search, algorithm 1 of the CICE study: some random runs, then always the shortest predicted time.

[Balaprakash et al., Machine-learning-based load balancing for Community Ice Code component in CESM, 2014.] Models learn
log times, as all models of evenly do, or raw times, as in the study.
"""

from __future__ import annotations

import math
from typing import final

import numpy as np

from evenly.errors import InputError
from evenly.models.fitting import new_model
from evenly.models.regression_model import RegressionModel
from evenly.tuning.candidates import Candidates
from evenly.tuning.strategies.base import Choice, Strategy, row_of
from evenly.tuning.strategies.random_search import RandomSearch
from evenly.tuning.trials import Trials

__all__ = ["GREEDY_MODELS", "Greedy"]

#: The four surrogates of the paper: random forest, support vectors, Gaussian process, neural network.
GREEDY_MODELS = ("forest", "svm", "gp", "neural-net")


@final
class Greedy(Strategy):
    """Runs the configuration with the shortest predicted time next.

    Parameters
    ----------
    first : int
        Number of random runs before a model is learned.
    method : str
        The method of the model: one of `GREEDY_MODELS`, or another `RegressionModel`. It learns log times; with
        ":raw" behind its name, raw ones.

    Raises
    ------
    InputError
        If the method isn't a `RegressionModel`, or something else is behind its name.
    """

    def __init__(self, first: int = 5, method: str = "neural-net") -> None:
        name, colon, times = method.partition(":")
        if colon and times not in ("log", "raw"):
            raise InputError(f"a greedy search learns log or raw times ({name}:log, {name}:raw), but got {method!r}")
        model = new_model(name, "quick", {})
        if not isinstance(model, RegressionModel):
            raise InputError(f"a greedy search needs one of {', '.join(GREEDY_MODELS)}, but got {method!r}")
        self._first, self._model, self._is_raw = first, model, times == "raw"

    def choose(self, trials: Trials, candidates: Candidates, random: np.random.Generator) -> Choice | None:
        well = trials.of("ok")
        if len(trials) < self._first or len(well) < 2:
            return RandomSearch().choose(trials, candidates, random)
        fastest = sorted(well, key=lambda trial: trial.mean_s)[:5]
        table = candidates.open(trials.keys, trials.table(fastest), random)
        if not len(table):
            return None
        # Relative to the median, raw times are about as large as their logarithms.
        median_s = float(np.median([trial.mean_s for trial in well]))
        relative = np.array([trial.mean_s for trial in well]) / median_s
        learned = relative - 1 if self._is_raw else np.log(relative)
        regressor = self._model.regressor(candidates.coding)
        regressor.fit(candidates.coding.inputs(trials.table(well)), learned, np.ones(len(well)))
        predicted = regressor.predict(candidates.coding.inputs(table))
        row = int(np.argmin(predicted))
        seconds = median_s * (1 + predicted[row] if self._is_raw else math.exp(predicted[row]))
        return Choice(row_of(table, row), f"predicted to be the fastest, {seconds:.4g} s")
