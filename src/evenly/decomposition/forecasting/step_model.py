"""What the cost model misses, learned rank by rank from rehearsals, and by how much whole steps are then still off.

The cost model's seconds of a rank are the factor, as N/P is in T = W · N/P; the coefficient W depends on what the rank
holds. So every timed rank is a row to learn from, and what is learned holds for any cut.
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
from evenly.decomposition.forecasting.lone_rank_timing import Load
from evenly.decomposition.forecasting.rehearsal import Rehearsal
from evenly.decomposition.forecasting.training_overlap import Overlap
from evenly.errors import InputError, ReadError
from evenly.models.base import Effort, Model
from evenly.models.factorized import Factorized

__all__ = ["StepModel", "rank_table"]

Array = NDArray[np.float64]
#: Method that learns the coefficients.
LEARNER = "extra-trees"
#: Method that learns next to nothing: one factor and one power for all ranks.
PLAIN = "power-law"
FOLDS = 5
#: A smaller share is as good as none.
LEAST_SHARE = 1e-3
_FORMAT_VERSION = 1


@dataclass(frozen=True)
class StepModel:
    """Corrects a cost model.

    Parameters
    ----------
    cost : CostModel
        The one that is corrected.
    coefficients : Model
        From rows of `rank_table` to seconds per step.
    errors : (runs,)
        By how much the logarithm of the slowest rank's seconds was off in cells that weren't learned from.
    overlap : Overlap
        Of the cells learned from, to tell which cells are unlike them.
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
        """Learn from rehearsals.

        Parameters
        ----------
        rehearsals : sequence of Rehearsal
            At least ten.
        cost : CostModel
            With which they were cut.
        learner : str
            A method of `evenly.fit`. Where it is no better on cells left out than one power of the cost model's
            seconds, that is taken.
        effort : {"quick", "normal", "thorough"}
        folds : int
            Into so many parts cells are divided to find errors on cells not learned from.

        Raises
        ------
        InputError
            If there are fewer than ten rehearsals.
        """
        if len(rehearsals) < 10:
            raise InputError(f"a step model needs at least 10 rehearsals to learn from, but got {len(rehearsals)}.")
        # One power of the cost model's seconds may be all that there is to learn.
        tried = {method: _left_out_errors(rehearsals, cost, method, effort, folds) for method in (PLAIN, learner)}
        best = min(tried, key=lambda method: float(np.mean(np.abs(tried[method]))))
        errors = tried[best]
        cells = pd.DataFrame([{**one.traits, "ranks": float(one.setting.ranks)} for one in rehearsals])
        model = _fitted(rehearsals, cost, best, effort)
        return cls(dataclasses.replace(cost, measured=()), model, np.sort(np.abs(errors)), Overlap.learn(cells))

    def rank_seconds(self, loads: Sequence[Load]) -> list[Array]:
        """Return the seconds per step of each rank, (ranks,), for each of several loads."""
        return _rank_seconds(self.coefficients, loads, self.cost)

    def half_width(self, level: float) -> float:
        """Return within what the logarithm of the slowest rank's seconds is predicted, at a level such as 0.9."""
        n = len(self.errors)
        place = min(n - 1, int(np.ceil(level * (n + 1))) - 1)
        return float(self.errors[max(place, 0)])

    def save(self, path: Path | str) -> None:
        """Write to a file that `load` reads; any model of evenly can be opened there, this one says what it is.

        Raises
        ------
        InputError
            If nothing can be written there.
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
        """Read what `save` wrote.

        Raises
        ------
        ReadError
            If it is something else.
        """
        model = storage.load(path)
        about = model.training_ if isinstance(model, Model) else {}
        if not isinstance(model, Model) or about.get("step_model") != _FORMAT_VERSION:
            raise ReadError(path, "a step model was expected, such as `evenly train` makes")
        model._warned = True
        overlap = Overlap.from_state(about["overlap"])
        return cls(CostModel.from_dict(about["cost"]), model, np.asarray(about["errors"]), overlap)


def rank_table(load: Load, cost: CostModel, which: ArrayLike | None = None) -> pd.DataFrame:
    """Return what ranks have to do as rows to learn from, those of `which`, all when left out.

    Columns are ``work_s``, seconds by the cost model; ``memory``, bytes that go to memory and back in each of these
    seconds, in GB; and the share of the seconds that each term takes; each at least 10⁻³.
    """
    rows = np.arange(len(load.seconds)) if which is None else np.asarray(which)
    seconds = load.seconds[rows]
    names = [term.name for term in program_named(cost.program).all_terms]
    # Never zero, so that logarithms can be taken of what no cell lacked and one that is asked for does.
    shares = np.maximum(load.profile[rows], LEAST_SHARE)
    memory = np.maximum(load.memory_bytes[rows] / seconds / 1e9, LEAST_SHARE)
    return pd.DataFrame({"work_s": seconds, "memory": memory, **dict(zip(names, shares.T, strict=True))})


def _left_out_errors(
    rehearsals: Sequence[Rehearsal], cost: CostModel, learner: str, effort: Effort, folds: int
) -> Array:
    """Return by how much the logarithm of each cell's slowest rank is off when the cell isn't learned from, (n,)."""
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
    # What lies outside is told by the traits of the whole cell.
    model._warned = True
    return model


def _rank_seconds(model: Model, loads: Sequence[Load], cost: CostModel) -> list[Array]:
    """Predict all ranks of all loads at once."""
    tables = [rank_table(load, cost) for load in loads]
    asked = pd.concat(tables, ignore_index=True)[model.space_.names]
    found = model.predict(asked)
    return np.split(found, np.cumsum([len(table) for table in tables])[:-1])
