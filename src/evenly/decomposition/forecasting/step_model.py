"""Step models: corrections of a cost model, learned rank by rank from rehearsals, with the errors that remain.

The prediction is the cost model's seconds of a rank times a coefficient, which a model learns as a function of the
rank's work (as the factor N/P and the coefficient W in T = W · N/P). Every timed rank is one row of training data, so
the correction holds for any layout.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

import evenly.models.storage as storage
from evenly.decomposition.costs.cost_model import CostModel, program_named
from evenly.decomposition.forecasting.lone_rank_timing import RankLoads
from evenly.decomposition.forecasting.rehearsal import Rehearsal
from evenly.decomposition.forecasting.training_overlap import Overlap
from evenly.errors import InputError, ReadError
from evenly.models.base import Effort, Model
from evenly.models.factorized import Factorized

__all__ = ["FEWEST", "StepModel", "rank_table"]

Array = NDArray[np.float64]
#: Method that learns the coefficients.
LEARNER = "extra-trees"
#: Baseline method: one factor and one power of the cost model's seconds for all ranks.
PLAIN = "power-law"
FOLDS = 5
#: Fewest cells that a step model is learned from.
FEWEST = 10
#: Lower bound of all shares, so that their logarithms are finite.
LEAST_SHARE = 1e-3
_FORMAT_VERSION = 1


@dataclass(frozen=True)
class StepModel:
    """A cost model with a learned correction.

    Parameters
    ----------
    cost : CostModel
        The cost model that is corrected.
    coefficients : Model
        The learned model, from rows of `rank_table` to seconds per step.
    errors : (runs,)
        Cross-validation errors: absolute errors of the logarithm of the slowest rank's seconds in held-out cells,
        sorted.
    overlap : Overlap
        The training cells' features, to recognise cells unlike them.
    """

    cost: CostModel
    coefficients: Model
    errors: Array
    overlap: Overlap

    @classmethod
    def learn(
        cls,
        rehearsals: Sequence[Rehearsal],
        cost: CostModel,
        *,
        learner: str = LEARNER,
        effort: Effort = "normal",
        folds: int = FOLDS,
    ) -> StepModel:
        """Learn a step model from rehearsals, with errors from k-fold cross-validation over cells.

        Parameters
        ----------
        rehearsals : sequence of Rehearsal
            At least ten.
        cost : CostModel
            The cost model by which they were cut.
        learner : str
            A method of `evenly.fit`. If it is no better on held-out cells than one power of the cost model's seconds,
            this power law is used instead.
        effort : {"quick", "normal", "thorough"}
        folds : int
            Number of folds of the cross-validation.

        Raises
        ------
        InputError
            If there are fewer than ten rehearsals.
        """
        if len(rehearsals) < FEWEST:
            raise InputError(
                f"A step model is learned from at least {FEWEST} cells that were timed, but got {len(rehearsals)}."
            )
        # The power law of the cost model's seconds is the baseline that the learner must beat.
        tried = {method: _left_out_errors(rehearsals, cost, method, effort, folds) for method in (PLAIN, learner)}
        best = min(tried, key=lambda method: float(np.mean(np.abs(tried[method]))))
        errors = tried[best]
        cells = pd.DataFrame([{**one.traits, "ranks": float(one.setting.ranks)} for one in rehearsals])
        model = _fitted(rehearsals, cost, best, effort)
        return cls(dataclasses.replace(cost, measured=()), model, np.sort(np.abs(errors)), Overlap.learn(cells))

    def rank_seconds(self, loads: Sequence[RankLoads]) -> list[Array]:
        """Return the predicted seconds per step of each rank, one array (ranks,) for each of several loads."""
        return _rank_seconds(self.coefficients, loads, self.cost)

    def half_width(self, level: float) -> float:
        """Return the half width of the prediction interval of the slowest rank's log seconds, at a level such as 0.9.

        It is a quantile of the cross-validation errors.
        """
        n = len(self.errors)
        place = min(n - 1, int(np.ceil(level * (n + 1))) - 1)
        return float(self.errors[max(place, 0)])

    def save(self, path: Path | str) -> None:
        """Write the step model to a file that `load` reads; its format is that of all models of evenly.

        Raises
        ------
        InputError
            If the file can't be written.
        """
        self.coefficients.training_ = {
            "step_model": _FORMAT_VERSION,
            "cost": self.cost.to_dict(),
            "errors": self.errors,
            "overlap": self.overlap.to_state(),
        }
        storage.save(self.coefficients, path)

    @classmethod
    def load(cls, path: Path | str) -> StepModel:
        """Read a step model from a file that `save` wrote.

        Raises
        ------
        ReadError
            If the file holds no step model.
        """
        model = storage.load(path)
        about = model.training_ if isinstance(model, Model) else {}
        if not isinstance(model, Model) or about.get("step_model") != _FORMAT_VERSION:
            raise ReadError(path, "a step model was expected, such as `evenly train` makes")
        model._warned = True
        overlap = Overlap.from_state(about["overlap"])
        return cls(CostModel.from_dict(about["cost"]), model, np.asarray(about["errors"]), overlap)


def rank_table(load: RankLoads, cost: CostModel, which: ArrayLike | None = None) -> pd.DataFrame:
    """Return the features of ranks, one row per rank of `which` (all ranks by default).

    The columns are ``work_s``, the seconds by the cost model; ``memory``, `RankLoads.far_bytes` in GB per second of
    ``work_s``; and each term's share of the seconds. ``memory`` and the shares are at least 10⁻³.
    """
    rows = np.arange(len(load.seconds)) if which is None else np.asarray(which)
    seconds = load.seconds[rows]
    names = [term.name for term in program_named(cost.program).all_terms]
    # Never zero, since a model may take logarithms of a share that no training cell lacked and a new cell does.
    shares = np.maximum(load.profile[rows], LEAST_SHARE)
    memory = np.maximum(load.far_bytes[rows] / seconds / 1e9, LEAST_SHARE)
    return pd.DataFrame({"work_s": seconds, "memory": memory, **dict(zip(names, shares.T, strict=True))})


def _left_out_errors(
    rehearsals: Sequence[Rehearsal], cost: CostModel, learner: str, effort: Effort, folds: int
) -> Array:
    """Return the cross-validation errors of the log seconds of each cell's slowest rank, (n,): measured - predicted."""
    fold = np.random.default_rng(0).permutation(len(rehearsals)) % folds
    errors = np.zeros(len(rehearsals))
    for k in range(folds):
        some = _fitted([r for r, its in zip(rehearsals, fold, strict=True) if its != k], cost, learner, effort)
        left_out = [int(i) for i in np.flatnonzero(fold == k)]
        predicted = _rank_seconds(some, [rehearsals[i].load for i in left_out], cost)
        for i, seconds in zip(left_out, predicted, strict=True):
            errors[i] = np.log(rehearsals[i].seconds.max() / seconds.max())
    return errors


def _fitted(rehearsals: Sequence[Rehearsal], cost: CostModel, learner: str, effort: Effort) -> Model:
    table = pd.concat([rank_table(one.load, cost, one.timed) for one in rehearsals], ignore_index=True)
    table = table.loc[:, table.nunique() > 1]
    seconds = np.concatenate([one.seconds[one.timed] for one in rehearsals])
    inputs = {"computation": ["work_s"]} if learner == PLAIN else None
    model = Factorized(factors={"computation": "work_s"}, inputs=inputs, learner=learner, effort=effort)
    model.fit(table, seconds, parts={"computation": seconds})
    # No warnings of extrapolation by single rows: `Overlap` checks the features of the whole cell.
    model._warned = True
    return model


def _rank_seconds(model: Model, loads: Sequence[RankLoads], cost: CostModel) -> list[Array]:
    """Return the predicted seconds of the ranks of each load; all loads are predicted in one call."""
    tables = [rank_table(load, cost) for load in loads]
    asked = pd.concat(tables, ignore_index=True)[model.space_.names]
    found = model.predict(asked)
    return np.split(found, np.cumsum([len(table) for table in tables])[:-1])
