"""Candidates: the feasible, untried configurations that a search strategy compares.

A space of at most `LISTED` combinations is enumerated. From a larger space, some thousand configurations are drawn for
each choice, and neighbours of the best ones are added. Where the constraints reject nearly all configurations, some
thousand feasible ones are found once, and more are drawn near them for each choice.
"""

from __future__ import annotations

from collections.abc import Collection
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd

from evenly.errors import InfeasibleError
from evenly.models.array_types import Flags, Floats, Ints
from evenly.models.gaussian_process.few_valued import Levels
from evenly.models.inputs.coding import Coding, Inputs
from evenly.space.constrained_walks import neighbours, random_table, walk
from evenly.space.parameters import Integer, Real
from evenly.space.sampling import combinations
from evenly.space.space import Space
from evenly.tuning.trials import Key

__all__ = ["DRAWN", "LISTED", "Candidates", "corners"]

#: Maximum number of combinations of values for which a space is enumerated.
LISTED = 200_000
#: Number of configurations to compare for each choice, and number of neighbours of the best ones.
DRAWN, NEIGHBOURS = 5_000, 1_000
#: If more than this share of random points is feasible, configurations are drawn by rejection for each choice.
_EASY = 0.01
#: Number of configurations that are kept where few are feasible, and of new ones near them for each choice.
_KEPT, _FRESH = 2 * DRAWN, 500


class Candidates:
    """The feasible configurations of a space, listed or sampled.

    Parameters
    ----------
    space : Space

    Raises
    ------
    InfeasibleError
        If the space is enumerated and has no feasible configuration.
    """

    def __init__(self, space: Space) -> None:
        self.space = space
        many = space.listed is None and combinations(space.parameters) > LISTED
        self.listed = None if many else space.enumerate()
        if self.listed is not None and not len(self.listed):
            rules = ", ".join(c.name for c in space.constraints) or "the list, which is empty"
            raise InfeasibleError(f"no configuration obeys {rules}: loosen a rule", constraint=rules)

    @cached_property
    def coding(self) -> Coding:
        """The coding of configurations as model inputs, scaled by the parameters' ranges, not by measured runs."""
        table = self.listed if self.listed is not None else corners(self.space)
        return Coding.learn(table, self.space)

    @cached_property
    def levels(self) -> Levels:
        """Numeric parameters with few values, which are coded as labels too."""
        coded = self.coding.inputs(self.listed) if self.listed is not None else None
        return Levels([], []) if coded is None else Levels.learn(coded)

    @property
    def placed(self) -> int:
        """Number of label columns of `inputs` that are categorical parameters; the columns after them are `levels`."""
        return len(self.coding.sizes)

    def inputs(self, table: pd.DataFrame) -> Inputs:
        """Return the coded inputs of configurations (n, n_parameters)."""
        return self.levels.added(self.coding.inputs(table))

    def open(self, taken: Collection[Key], near: pd.DataFrame, random: np.random.Generator) -> pd.DataFrame:
        """Return untried configurations to choose from: all of them, or a sample with neighbours of `near`.

        Parameters
        ----------
        taken : collection of tuples
            Keys of the configurations to exclude, see `evenly.tuning.trials.key_of`.
        near : DataFrame (n, n_parameters)
            Good configurations, whose neighbours are added to a sample.
        random : Generator
        """
        if self.listed is not None:
            rows = np.flatnonzero(self._untaken(self.listed, taken))
            if len(rows) > DRAWN:
                rows = self._some(rows, near, random)
            return self.listed.iloc[rows].reset_index(drop=True)
        drawn = [self._drawn(random)]
        if len(near):
            drawn.append(self._mutated(near, random))
        table = pd.concat(drawn, ignore_index=True).drop_duplicates(ignore_index=True)
        return table[self._untaken(table, taken)].reset_index(drop=True)

    @cached_property
    def _is_easy(self) -> bool:
        """Whether enough random points are feasible for rejection sampling."""
        table = self.space.fix_inactive(random_table(self.space.parameters, DRAWN, np.random.default_rng(0)))
        return bool(np.mean(self.space.contains(table)) > _EASY)

    def _drawn(self, random: np.random.Generator) -> pd.DataFrame:
        """Draw feasible configurations; where few are feasible, some of those kept, and new ones near the kept ones."""
        space = self.space
        if self._is_easy:
            return space.sample(DRAWN, design="random", seed=random)
        fresh = walk(space.parameters, space.rules, _FRESH, random, start=self._kept, fix_inactive=space.fix_inactive)
        some = self._kept.iloc[random.permutation(len(self._kept))[:DRAWN]]
        return pd.concat([some, fresh], ignore_index=True)

    @cached_property
    def _kept(self) -> pd.DataFrame:
        # The seed is fixed, so that an interrupted search resumes in the same way.
        return self.space.sample(_KEPT, design="random", seed=0).drop_duplicates(ignore_index=True)

    @staticmethod
    def _untaken(table: pd.DataFrame, taken: Collection[Key]) -> Flags:
        if not taken:
            return np.ones(len(table), dtype=np.bool_)
        rows = table.itertuples(index=False, name=None)
        return np.fromiter((row not in taken for row in rows), dtype=np.bool_, count=len(table))

    @cached_property
    def _matrix(self) -> Floats:
        assert self.listed is not None  # noqa: S101
        return self.coding.inputs(self.listed).matrix

    def _some(self, rows: Ints, near: pd.DataFrame, random: np.random.Generator) -> Ints:
        """Return random rows, and the rows nearest to good configurations."""
        chosen = [random.choice(rows, DRAWN, replace=False)]
        each = NEIGHBOURS // max(1, len(near))
        for place in self.coding.inputs(near).matrix if len(near) else ():
            apart = np.sum((self._matrix[rows] - place) ** 2, axis=1)
            chosen.append(rows[np.argpartition(apart, min(each, len(rows) - 1))[:each]])
        return np.unique(np.concatenate(chosen))

    def _mutated(self, near: pd.DataFrame, random: np.random.Generator) -> pd.DataFrame:
        """Return feasible neighbours of good configurations; in each, about one or two parameters are changed."""
        starts = near.iloc[np.resize(np.arange(len(near)), NEIGHBOURS)].reset_index(drop=True)
        names = self.space.names
        often = min(1.0, 1.5 / len(names))
        columns: dict[str, Any] = {}
        for name in names:
            changed = random.random(NEIGHBOURS) < often
            columns[name] = np.where(
                changed, neighbours(self.space.parameters[name], starts[name], random), starts[name]
            )
        table = self.space.fix_inactive(self.space.frame(columns))
        return table[self.space.contains(table)]


def corners(space: Space) -> pd.DataFrame:
    """Return rows that together contain both ends of every range and all labels; rows may be infeasible."""
    columns: dict[str, list[Any]] = {}
    for name, kind in space.parameters.items():
        columns[name] = [kind.low, kind.high] if isinstance(kind, Integer | Real) else list(kind.values())  # type: ignore[arg-type]
    longest = max(map(len, columns.values()))
    return space.frame({name: [*values, *[values[-1]] * (longest - len(values))] for name, values in columns.items()})
