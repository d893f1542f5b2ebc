"""The space of configurations: named parameters, and constraints on their values.

A `Space` counts and enumerates its feasible configurations in blocks of bounded memory, and samples them by several
designs. It also checks a table of configurations, and names the rules that an infeasible configuration breaks.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from evenly.arguments import explained
from evenly.errors import InputError
from evenly.space import enumeration, feasibility
from evenly.space.conditions import Condition
from evenly.space.configurations import Configurations, as_table
from evenly.space.constraints import Constraint
from evenly.space.designs import Design
from evenly.space.parameters import Integer, Parameter, parameter_from_dict  # noqa: F401 - Integer is for the examples
from evenly.space.ranges import outside, span
from evenly.space.sampling import combinations, sample

__all__ = ["Configurations", "Constraint", "Space"]

Rule = Constraint | str | Callable[[dict[str, Any]], bool]


@explained
class Space:
    """The configurations that named parameters allow and that satisfy all constraints.

    Parameters
    ----------
    constraints : iterable of Constraint, str or callable
        Rules that every configuration satisfies. A rule may be an expression, or a function that takes a configuration
        (dict) and returns a bool.
    listed : DataFrame, optional
        If given, only these rows are configurations.
    conditions : mapping of str to str, optional
        For each conditional parameter, the expression under which it has an effect. Where the expression is false, the
        parameter has its first value, so that no two configurations are equivalent.
    **parameters : Parameter
        The parameters, by name.

    Attributes
    ----------
    rules : tuple of Constraint
        The constraints, and one further constraint per condition.

    Examples
    --------
    >>> from evenly.space.parameters import Categorical, Integer, Ordinal
    >>> space = Space(ranks=Integer(1, 64), threads=Ordinal(1, 2, 4), constraints=["ranks * threads == 64"])
    >>> space.count()
    3
    >>> space.enumerate()
       ranks  threads
    0     16        4
    1     32        2
    2     64        1
    >>> space.why_infeasible({"ranks": 5, "threads": 3})
    ['threads must be one of 1, 2, 4, but got 3', 'ranks * threads == 64 does not hold']
    >>> Space(
    ...     solver=Categorical("lu", "cg"), tolerance=Ordinal(1e-8, 1e-4), conditions={"tolerance": "solver == 'cg'"}
    ... ).enumerate()
      solver     tolerance
    0     lu  1.000000e-08
    1     cg  1.000000e-08
    2     cg  1.000000e-04
    """

    def __init__(
        self,
        *,
        constraints: Iterable[Rule] = (),
        listed: pd.DataFrame | None = None,
        conditions: Mapping[str, str] | None = None,
        **parameters: Parameter,
    ) -> None:
        self._set(parameters, constraints, listed, conditions or {})

    def _set(
        self,
        parameters: Mapping[str, Parameter],
        constraints: Iterable[Rule],
        listed: pd.DataFrame | None,
        conditions: Mapping[str, str],
    ) -> None:
        for name, kind in parameters.items():
            if not isinstance(kind, Parameter):
                raise InputError(f"{name!r} must be an Integer, Real, Ordinal or Categorical, but got {kind!r}")
        if isinstance(constraints, str) or callable(constraints):
            raise InputError(f"constraints must be a list of rules, but got {constraints!r}: put it into [ ]")
        self.parameters: dict[str, Parameter] = dict(parameters)
        self.constraints = tuple(c if isinstance(c, Constraint) else Constraint(c) for c in constraints)
        self._conditions = tuple(Condition.of(name, rule, parameters) for name, rule in conditions.items())
        self.rules = (*self.constraints, *(condition.constraint for condition in self._conditions))
        for constraint in self.rules:
            unknown = sorted((constraint.needs or frozenset()) - set(parameters))
            if unknown:
                raise InputError(
                    f"the constraint {constraint.name!r} mentions {unknown[0]!r}, "
                    f"which is not a parameter ({', '.join(parameters)})"
                )
        self.listed = None if listed is None else self.frame(listed).drop_duplicates(ignore_index=True)

    @classmethod
    def of(
        cls,
        parameters: Mapping[str, Parameter],
        constraints: Iterable[Rule] = (),
        listed: pd.DataFrame | None = None,
        conditions: Mapping[str, str] | None = None,
    ) -> Space:
        """Build a space from a mapping of parameters, whose names may be any text.

        Examples
        --------
        >>> Space.of({"cores per node": Integer(1, 48)}, ["`cores per node` % 12 == 0"]).count()
        4
        """
        space = cls.__new__(cls)
        space._set(parameters, constraints, listed, conditions or {})
        return space

    @classmethod
    def from_frame(cls, frame: pd.DataFrame, *, units: Mapping[str, str] | None = None) -> Space:
        """Return the space that contains exactly these rows; `from_data` infers the kinds and scales.

        Examples
        --------
        >>> Space.from_frame(pd.DataFrame({"m": [1, 2], "n": [4, 8]})).contains({"m": [1, 1], "n": [4, 8]})
        array([ True, False])
        """
        space = cls.from_data(frame, units=units)
        return cls.of(space.parameters, listed=frame)

    @classmethod
    def from_data(
        cls, frame: pd.DataFrame, *, units: Mapping[str, str] | None = None, like: Space | None = None
    ) -> Space:
        """Return the smallest box that contains all rows of `frame`: the measured range.

        Columns of whole numbers become `Integer`, of other numbers `Real`, all others `Categorical`. A number that is
        positive in all rows gets a log scale, because ratios of sizes and counts matter more than differences. A
        parameter of `like` keeps its kind, scale and unit instead; its log scale becomes linear if a value is not
        positive.

        Raises
        ------
        InputError
            If there are no rows, or a number is missing or infinite; the message names the row.

        Examples
        --------
        >>> Space.from_data(pd.DataFrame({"cores": [4, 16], "solver": ["cg", "gmres"]}))
        Space(cores=Integer(low=4, high=16, scale='log', step=1, unit=''), solver=Categorical('cg', 'gmres'))
        """
        if not len(frame):
            raise InputError("a space can't be told from an empty table: at least one row is needed")
        known = {} if like is None else like.parameters
        columns = {str(name): column for name, column in as_table(frame).items()}
        return cls.of(
            {name: span(x, unit=(units or {}).get(name, ""), like=known.get(name)) for name, x in columns.items()}
        )

    def to_dict(self) -> dict[str, Any]:
        """Return a description of the space that JSON can hold; constraints must be expressions, not functions.

        Examples
        --------
        >>> space = Space(cores=Integer(1, 8), constraints=["cores % 2 == 0"])
        >>> Space.from_dict(space.to_dict()) == space
        True
        """
        functions = [c.name for c in self.constraints if callable(c.rule)]
        if functions:
            raise InputError(f"the constraint {functions[0]!r} is a function and can't be saved: write it as text")
        description: dict[str, Any] = {
            "parameters": {name: kind.to_dict() for name, kind in self.parameters.items()},
            "constraints": [{"rule": c.rule, "name": c.name} for c in self.constraints],
        }
        if self._conditions:
            description["conditions"] = self.conditions
        if self.listed is not None:
            description["listed"] = {name: self.listed[name].tolist() for name in self.parameters}
        return description

    @classmethod
    def from_dict(cls, description: Mapping[str, Any]) -> Space:
        """Build a space from the description that `to_dict` returned.

        Raises
        ------
        InputError
            If the description is incomplete or does not describe a space.

        Examples
        --------
        >>> Space.from_dict({"parameters": {"cores": {"kind": "integer", "low": 1, "high": 8}}}).names
        ['cores']
        """
        try:
            kinds = {name: parameter_from_dict(kind) for name, kind in description["parameters"].items()}
            constraints = [Constraint(**c) for c in description.get("constraints", ())]
            listed = description.get("listed")
            table = None if listed is None else as_table(listed)
            return cls.of(kinds, constraints, table, description.get("conditions"))
        except (KeyError, TypeError, AttributeError) as error:
            raise InputError(f"the description of a space is incomplete or wrong: {error!r}") from None

    @property
    def names(self) -> list[str]:
        """The parameters' names, in order."""
        return list(self.parameters)

    @property
    def conditions(self) -> dict[str, str]:
        """For each conditional parameter, the expression under which it has an effect."""
        return {one.parameter: one.rule for one in self._conditions}

    def __len__(self) -> int:
        return len(self.parameters)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Space):
            return NotImplemented
        rows = [None if space.listed is None else space.listed.to_dict("list") for space in (self, other)]
        same_parameters = list(self.parameters.items()) == list(other.parameters.items())
        same_rules = self.constraints == other.constraints and self.conditions == other.conditions
        return same_parameters and same_rules and rows[0] == rows[1]

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        parts = [f"{name}={kind!r}" for name, kind in self.parameters.items()]
        if self.constraints:
            parts.append(f"constraints={[c.name for c in self.constraints]}")
        if self._conditions:
            parts.append(f"conditions={self.conditions}")
        if self.listed is not None:
            parts.append(f"listed={len(self.listed)} rows")
        return f"Space({', '.join(parts)})"

    def frame(self, configurations: Configurations) -> pd.DataFrame:
        """Return `configurations` as a new table with the parameters as columns, in order.

        Parameters
        ----------
        configurations : DataFrame, dict of columns, dict, list of dicts, or array (n, n_parameters)
            Columns that are not parameters are ignored; a scalar is repeated for every row.

        Raises
        ------
        InputError
            If a parameter is missing, or the value of a numeric parameter isn't a finite number; the message names the
            row.

        Examples
        --------
        >>> Space(cores=Integer(1, 64), n=Integer(1, 9)).frame({"n": 2, "cores": [8, 16]})
           cores  n
        0      8  2
        1     16  2
        """
        return feasibility.table_of(self.parameters, configurations)

    def contains(self, configurations: Configurations) -> NDArray[np.bool_]:
        """Return for each configuration whether it is feasible, bool of shape (n,).

        Examples
        --------
        >>> Space(cores=Integer(1, 8), constraints=["cores != 5"]).contains({"cores": [4, 5, 6, 9]})
        array([ True, False,  True, False])
        """
        return self._contains(self.frame(configurations))

    def _contains(self, table: pd.DataFrame) -> NDArray[np.bool_]:
        ok = feasibility.obeys(self.parameters, self.rules, table)
        if self.listed is not None:
            rows = table.itertuples(index=False, name=None)
            ok &= np.fromiter((row in self._listed_rows for row in rows), dtype=np.bool_, count=len(table))
        return ok

    @cached_property
    def _listed_rows(self) -> frozenset[tuple[Any, ...]]:
        return frozenset(() if self.listed is None else self.listed.itertuples(index=False, name=None))

    def why_infeasible(self, configuration: Configurations) -> list[str]:
        """Return in words the rules that one configuration breaks; an empty list if it is feasible.

        Examples
        --------
        >>> Space(cores=Integer(1, 8)).why_infeasible({"cores": 9})
        ['cores must be a whole number from 1 to 8, but got 9']
        """
        table = self.frame(configuration)
        if len(table) != 1:
            raise InputError(f"why_infeasible looks at one configuration, but got {len(table)}")
        broken = feasibility.broken_rules(self.parameters, self.rules, table)
        if not broken and not self._contains(table)[0]:
            broken.append("it is not one of the listed configurations")
        return broken

    def check(self, configurations: Configurations) -> pd.DataFrame:
        """Return `configurations` as a table; raise `InputError` with the first infeasible row and its broken rules.

        Examples
        --------
        >>> Space(cores=Integer(1, 8)).check({"cores": [1, 9]})
        Traceback (most recent call last):
        evenly.errors.InputError: configuration 1 is not feasible: cores must be a whole number from 1 to 8, but got 9
        """
        table = self.frame(configurations)
        bad = np.flatnonzero(~self._contains(table))
        if len(bad):
            rules = self.why_infeasible(table.iloc[[int(bad[0])]])
            raise InputError(f"configuration {bad[0]} is not feasible: {'; '.join(rules)}")
        return table

    def outside(self, configurations: Configurations) -> dict[str, NDArray[np.bool_]]:
        """Return for each parameter which rows lie outside its range, ignoring constraints and integer steps.

        Returns
        -------
        dict of str to array of bool (n,)
            Contains only parameters with at least one row outside.

        Examples
        --------
        >>> Space(cores=Integer(1, 8), n=Integer(1, 100)).outside({"cores": [4, 16], "n": 10})
        {'cores': array([False,  True])}
        """
        return outside(self.parameters, self.frame(configurations))

    def count(self) -> int:
        """Return the number of feasible configurations, in bounded memory.

        Raises
        ------
        InputError
            If a `Real` parameter makes the number infinite.

        Examples
        --------
        >>> Space(a=Integer(1, 10**9), b=Integer(1, 10**9)).count()
        1000000000000000000
        """
        if self.listed is not None:
            return sum(len(part) for part in self.iterate())
        if not self.rules and len(self) and (found := combinations(self.parameters)) < math.inf:
            return int(found)
        return enumeration.count({name: self._values(name) for name in self.names}, self.rules)

    def _values(self, name: str) -> NDArray[Any]:
        values = self.parameters[name].values()
        if values is None:
            raise InputError(f"{name!r} takes any real number, so the space can't be enumerated: sample it")
        return values

    def enumerate(self, limit: int = 10_000_000) -> pd.DataFrame:
        """Return all feasible configurations, in lexicographic order of the parameters.

        Parameters
        ----------
        limit : int
            The largest number of configurations to return; it bounds the memory.

        Raises
        ------
        InputError
            If there are more than `limit` configurations, or infinitely many.

        Examples
        --------
        >>> Space(cores=Integer(8, 24, step=8)).enumerate()["cores"].tolist()
        [8, 16, 24]
        """
        parts: list[pd.DataFrame] = []
        total = 0
        for part in self.iterate():
            parts.append(part)
            total += len(part)
            if total > limit:
                raise InputError(f"the space has more than {limit} configurations: use iterate() or sample()")
        if not parts:
            return self.frame({name: [] for name in self.names})
        return pd.concat(parts, ignore_index=True)

    def iterate(self) -> Iterator[pd.DataFrame]:
        """Yield the feasible configurations in blocks of at most 65,536 rows (in one block if they are listed).

        Examples
        --------
        >>> [len(block) for block in Space(a=Integer(1, 300), b=Integer(1, 300)).iterate()]
        [65400, 24600]
        """
        if self.listed is not None:
            yield self.listed[self._contains(self.listed)].reset_index(drop=True)
            return
        for block in enumeration.iterate({name: self._values(name) for name in self.names}, self.rules):
            yield pd.DataFrame({name: pd.Series(column, dtype=column.dtype) for name, column in block.items()})

    def sample(
        self, n: int, *, design: Design = "random", seed: int | np.random.Generator | None = None
    ) -> pd.DataFrame:
        """Draw feasible configurations.

        Parameters
        ----------
        n : int
            The number of rows. Configurations may repeat if the space is small.
        design : {"random", "uniform", "log-uniform", "sobol", "lhs"}
            ``"random"`` draws independently on each parameter's own scale; ``"uniform"`` and ``"log-uniform"``
            override the scale. ``"sobol"`` (scrambled Sobol sequence) and ``"lhs"`` (Latin hypercube) fill the space
            evenly; further points replace the infeasible ones.
            If the rules reject nearly all points and there are too many combinations to list, random walks search for
            feasible configurations. The sample then follows no design, and rows repeat if fewer than `n` are found.
        seed : int or Generator, optional
            The same seed gives the same sample.

        Returns
        -------
        DataFrame (n, n_parameters)

        Raises
        ------
        InfeasibleError
            If no feasible configuration can be found.

        Examples
        --------
        >>> Space(cores=Integer(1, 4), n=Integer(1, 9)).sample(4, design="lhs", seed=0)["cores"].sort_values().tolist()
        [1, 2, 3, 4]
        """
        return sample(self, n, design, np.random.default_rng(seed))

    def fix_inactive(self, table: pd.DataFrame) -> pd.DataFrame:
        """Return `table` with each conditional parameter set to its first value where it has no effect.

        Examples
        --------
        >>> space = Space(a=Integer(0, 1), b=Integer(1, 9), conditions={"b": "a == 1"})
        >>> space.fix_inactive(pd.DataFrame({"a": [0, 1], "b": [5, 5]}))["b"].tolist()
        [1, 5]
        """
        for condition in self._conditions:
            table = condition.fix_inactive(table)
        return table
