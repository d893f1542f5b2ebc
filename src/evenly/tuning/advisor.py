"""Which runs would teach a model most for what they cost.

A Gaussian process knows, before a run is made, by how much it would lower the variance of the predicted log times over
the whole space, and about how long it takes. Worth running is what lowers it most per second [the criterion of Cohn, as
in Seo et al., Gaussian process regression: active data selection and test point rejection, 2000; cost as in Settles,
Craven and Friedland, Active learning with real annotation costs, 2008].
"""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from evenly.drawing import combinations
from evenly.errors import ExtrapolationWarning, InputError
from evenly.models.gaussian_process import GaussianProcess
from evenly.runs import Runs
from evenly.space import Space

__all__ = ["next_runs"]

#: So many configurations are compared at most.
_COMPARED = 4096
#: Places at which the variance is to fall.
_ASKED = 512


def next_runs(runs: Runs, n: int = 1, *, seed: int = 0) -> pd.DataFrame:
    """Return configurations that are worth running next, the best first.

    Parameters
    ----------
    runs : Runs
        What was measured; its space says what may be run.
    n : int
        How many.
    seed : int
        Of the draw of configurations, where there are too many to compare all.

    Returns
    -------
    DataFrame (at most n, n_parameters)
        Feasible, not measured before and not among those that failed; fewer than n where there are no more.

    Raises
    ------
    InputError
        If no run went well.

    Examples
    --------
    >>> from evenly import Integer
    >>> measured = pd.DataFrame({"n": [1, 2, 3, 100], "seconds": [1.0, 2.1, 2.9, 101.0]})
    >>> runs = Runs.from_frame(measured, ["n"], space=Space(n=Integer(1, 100, scale="log")))
    >>> bool(3 < next_runs(runs)["n"].iloc[0] < 100)
    True
    """
    if n < 1:
        raise InputError(f"n must be at least 1, but got {n}")
    known = runs.aggregate()
    if not len(known):
        raise InputError("no run went well, so there is nothing to learn from: run some configurations first")
    kept = runs.configurations.drop_duplicates(ignore_index=True)
    everywhere = runs.space.sample(_ASKED, design="sobol", seed=seed)
    for _ in range(n):
        open_ = _open(runs.space, kept, seed)
        if not len(open_):
            break
        model = _learned(runs.space, known)
        best = open_.iloc[[int(np.argmax(_worth(model, open_, everywhere)))]]
        kept = pd.concat([kept, best], ignore_index=True)
        # Taken for measured, so that the next one is looked for elsewhere.
        known = pd.concat([known, best.assign(seconds=model.predict(best))], ignore_index=True)
    return kept.iloc[len(runs.configurations.drop_duplicates()) :].reset_index(drop=True)


def _open(space: Space, known: pd.DataFrame, seed: int) -> pd.DataFrame:
    """Configurations that may be run and haven't been."""
    table = space.enumerate() if _few(space) else space.sample(_COMPARED, design="sobol", seed=seed)
    table = table.drop_duplicates(ignore_index=True)
    seen = set(known.itertuples(index=False, name=None))
    fresh = [row not in seen for row in table[list(known.columns)].itertuples(index=False, name=None)]
    return table[np.array(fresh, dtype=bool)].reset_index(drop=True)


def _few(space: Space) -> bool:
    """Whether all configurations can be compared."""
    return combinations(space.parameters) <= _COMPARED if space.listed is None else len(space.listed) <= _COMPARED


def _worth(model: GaussianProcess, open_: pd.DataFrame, everywhere: pd.DataFrame) -> NDArray[np.float64]:
    """Fall of the mean variance per second, (n,)."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ExtrapolationWarning)
        return np.asarray(model.lessons(open_, everywhere) / model.predict(open_))


def _learned(space: Space, known: pd.DataFrame) -> GaussianProcess:
    return GaussianProcess(effort="quick", folds=0).fit(known[space.names], known["seconds"], space=space)
