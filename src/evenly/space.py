"""What may vary: named parameters and the rules that configurations obey.

A `Space` can count and enumerate its feasible configurations without holding more than it must, sample them by several
designs, check a table of configurations, and name the rule that an infeasible one breaks.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, get_args

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from evenly.errors import InfeasibleError, InputError
from evenly.expressions import Expression
from evenly.parameters import Categorical, Integer, Ordinal, Parameter, Real, Scale, parameter_from_dict
from evenly.sampling import Design, unit_points

__all__ = ["Configurations", "Constraint", "Design", "Space"]

#: What functions accept as a table of configurations.
Configurations = pd.DataFrame | Mapping[str, Any] | Sequence[Mapping[str, Any]] | ArrayLike

_CHUNK = 65_536
_MIN_ACCEPTANCE = 1e-3


@dataclass(frozen=True)
class Constraint:
    """A named rule that every configuration must obey.

    Parameters
    ----------
    rule : str or callable
        An expression over the parameters (``"ranks * threads <= 128"``) or a function of one configuration (dict) to
        bool. Expressions are faster, and only they can be saved.
    name : str, optional
        How messages call the rule; the expression itself by default.
    """

    rule: str | Callable[[dict[str, Any]], bool]
    name: str = ""

    def __post_init__(self) -> None:
        if isinstance(self.rule, str):
            object.__setattr__(self, "_expression", Expression(self.rule))
        default = self.rule if isinstance(self.rule, str) else getattr(self.rule, "__name__", "rule")
        object.__setattr__(self, "name", self.name or default)

    @property
    def needs(self) -> frozenset[str] | None:
        """The parameters an expression mentions; None for a function, which may use any."""
        expression: Expression | None = getattr(self, "_expression", None)
        return expression.names if expression is not None else None

    def holds(self, table: pd.DataFrame) -> NDArray[np.bool_]:
        """Tell for which rows of `table`, shape (n,), the rule holds."""
        if callable(self.rule):
            return np.array(
                [bool(self.rule({str(k): v for k, v in row.items()})) for row in table.to_dict("records")],
                dtype=np.bool_,
            )
        expression: Expression = getattr(self, "_expression")  # noqa: B009 - set in __post_init__
        return np.broadcast_to(expression(_columns(table)), (len(table),)).astype(np.bool_)


def _columns(table: pd.DataFrame) -> dict[str, NDArray[Any]]:
    return {str(name): table[name].to_numpy() for name in table.columns}


class Space:
    """Named parameters and constraints.

    Parameters
    ----------
    constraints : iterable of Constraint, str or callable
        Rules; expressions and functions of a configuration (dict) to bool work as they are.
    listed : DataFrame, optional
        Only these rows are configurations.
    **parameters : Parameter
        What may vary, by name.

    Examples
    --------
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
    """

    def __init__(
        self,
        *,
        constraints: Iterable[Constraint | str | Callable[[dict[str, Any]], bool]] = (),
        listed: pd.DataFrame | None = None,
        **parameters: Parameter,
    ) -> None:
        self._set(parameters, constraints, listed)

    def _set(
        self,
        parameters: Mapping[str, Parameter],
        constraints: Iterable[Constraint | str | Callable[[dict[str, Any]], bool]],
        listed: pd.DataFrame | None,
    ) -> None:
        for name, kind in parameters.items():
            if not isinstance(kind, Parameter):
                raise InputError(f"{name!r} must be an Integer, Real, Ordinal or Categorical, but got {kind!r}")
        self.parameters: dict[str, Parameter] = dict(parameters)
        self.constraints = tuple(c if isinstance(c, Constraint) else Constraint(c) for c in constraints)
        for constraint in self.constraints:
            unknown = sorted((constraint.needs or frozenset()) - set(parameters))
            if unknown:
                raise InputError(
                    f"the constraint {constraint.name!r} mentions {unknown[0]!r}, "
                    f"which is not a parameter ({', '.join(parameters)})"
                )
        self.listed = None if listed is None else listed[list(parameters)].drop_duplicates(ignore_index=True)

    # ---- building -------------------------------------------------------------------------------------------

    @classmethod
    def of(
        cls,
        parameters: Mapping[str, Parameter],
        constraints: Iterable[Constraint | str | Callable[[dict[str, Any]], bool]] = (),
        listed: pd.DataFrame | None = None,
    ) -> Space:
        """Build a space from a mapping, whatever the parameters are called."""
        space = cls.__new__(cls)
        space._set(parameters, constraints, listed)
        return space

    @classmethod
    def from_frame(cls, frame: pd.DataFrame, *, units: Mapping[str, str] | None = None) -> Space:
        """Return the space of exactly these rows; kinds and scales as `from_data` guesses them."""
        space = cls.from_data(frame, units=units)
        return cls.of(space.parameters, listed=space.frame(frame))

    @classmethod
    def from_data(cls, frame: pd.DataFrame, *, units: Mapping[str, str] | None = None) -> Space:
        """Return the box that spans `frame`: the range that was measured.

        Whole numbers become `Integer`, other numbers `Real`, all else `Categorical`. What is above zero
        everywhere gets a log scale: sizes and counts act by ratios.

        Examples
        --------
        >>> Space.from_data(pd.DataFrame({"cores": [4, 16], "solver": ["cg", "gmres"]}))
        Space(cores=Integer(low=4, high=16, scale='log', step=1, unit=''), solver=Categorical('cg', 'gmres'))
        """
        if not len(frame):
            raise InputError("a space can't be told from an empty table")
        names = [str(name) for name in frame.columns]
        units = units or {}
        kinds = {name: _guess(frame[name], units.get(name, "")) for name in names}
        return cls.of(kinds)

    def to_dict(self) -> dict[str, Any]:
        """Return a JSON-able description; constraints must be expressions."""
        functions = [c.name for c in self.constraints if callable(c.rule)]
        if functions:
            raise InputError(f"the constraint {functions[0]!r} is a function and can't be saved: write it as text")
        description: dict[str, Any] = {
            "parameters": {name: kind.to_dict() for name, kind in self.parameters.items()},
            "constraints": [{"rule": c.rule, "name": c.name} for c in self.constraints],
        }
        if self.listed is not None:
            description["listed"] = {name: self.listed[name].tolist() for name in self.parameters}
        return description

    @classmethod
    def from_dict(cls, description: Mapping[str, Any]) -> Space:
        """Build a space from what `to_dict` returned."""
        listed = description.get("listed")
        return cls.of(
            {name: parameter_from_dict(kind) for name, kind in description["parameters"].items()},
            [Constraint(**c) for c in description.get("constraints", ())],
            None if listed is None else pd.DataFrame(listed),
        )

    # ---- looking --------------------------------------------------------------------------------------------

    @property
    def names(self) -> list[str]:
        """The parameters' names, in order."""
        return list(self.parameters)

    def __len__(self) -> int:
        return len(self.parameters)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Space):
            return NotImplemented
        same_rows = (
            self.listed.equals(other.listed)
            if self.listed is not None and other.listed is not None
            else self.listed is other.listed
        )
        return self.parameters == other.parameters and self.constraints == other.constraints and same_rows

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        parts = [f"{name}={kind!r}" for name, kind in self.parameters.items()]
        if self.constraints:
            parts.append(f"constraints={[c.name for c in self.constraints]}")
        if self.listed is not None:
            parts.append(f"listed={len(self.listed)} rows")
        return f"Space({', '.join(parts)})"

    def frame(self, configurations: Configurations) -> pd.DataFrame:
        """Return `configurations` as a table with the parameters as columns, in order.

        Parameters
        ----------
        configurations : DataFrame, dict of columns, dict, list of dicts, or array (n, n_parameters)
            More columns than the parameters are ignored; scalars are repeated.

        Raises
        ------
        InputError
            If a parameter is missing, isn't a number where it must be, or is NaN; the message names the row.
        """
        table = self._table(configurations)
        missing = [name for name in self.names if name not in table.columns]
        if missing:
            raise InputError(
                f"the configurations need {', '.join(map(repr, self.names))}, but {missing[0]!r} is missing; "
                f"got {', '.join(map(repr, table.columns)) or 'nothing'}"
            )
        table = table[self.names].reset_index(drop=True)
        for name, kind in self.parameters.items():
            if not isinstance(kind, Categorical):
                table[name] = _as_numbers(table[name])
        return table

    def _table(self, configurations: Configurations) -> pd.DataFrame:
        if isinstance(configurations, pd.DataFrame):
            return configurations
        if isinstance(configurations, Mapping):
            columns = {str(k): np.ravel(np.asarray(v)) for k, v in configurations.items()}
            length = max((len(v) for v in columns.values()), default=0)
            wrong = [k for k, v in columns.items() if len(v) not in (1, length)]
            if wrong:
                raise InputError(
                    f"all columns must have as many values ({length}) or one, "
                    f"but {wrong[0]!r} has {len(columns[wrong[0]])}"
                )
            return pd.DataFrame({k: np.broadcast_to(v, (length,)) for k, v in columns.items()})
        if isinstance(configurations, Sequence) and configurations and isinstance(configurations[0], Mapping):
            return pd.DataFrame(list(configurations))
        array = np.asarray(configurations)
        if array.ndim == 1 and len(self) == 1:
            array = array[:, None]
        if array.ndim != 2 or array.shape[1] != len(self):
            raise InputError(
                f"an array of configurations must have shape (n, {len(self)}) for {', '.join(self.names)}, "
                f"but got {array.shape}"
            )
        return pd.DataFrame(array, columns=self.names)

    # ---- checking -------------------------------------------------------------------------------------------

    def contains(self, configurations: Configurations) -> NDArray[np.bool_]:
        """Tell which configurations are feasible, shape (n,)."""
        table = self.frame(configurations)
        ok = np.ones(len(table), dtype=np.bool_)
        for name, kind in self.parameters.items():
            ok &= kind.contains(table[name])
        for constraint in self.constraints:
            ok[ok] = constraint.holds(table[ok])
        if self.listed is not None and ok.any():
            known = set(self.listed.itertuples(index=False, name=None))
            ok &= np.array([row in known for row in table.itertuples(index=False, name=None)], dtype=np.bool_)
        return ok

    def why_infeasible(self, configuration: Mapping[str, Any]) -> list[str]:
        """Return the rules that one configuration breaks, in words; empty if it is feasible."""
        table = self.frame(configuration)
        broken = [
            f"{name} must be {kind.describe()}, but got {_plain(table[name].iloc[0])}"
            for name, kind in self.parameters.items()
            if not kind.contains(table[name])[0]
        ]
        broken += [f"{c.name} does not hold" for c in self.constraints if not c.holds(table)[0]]
        if not broken and not self.contains(table)[0]:
            broken.append("it is not one of the listed configurations")
        return broken

    def check(self, configurations: Configurations) -> pd.DataFrame:
        """Return the table of `configurations`, or raise `InputError` naming the first bad row and its rules."""
        table = self.frame(configurations)
        bad = np.flatnonzero(~self.contains(table))
        if len(bad):
            rules = self.why_infeasible(dict(table.iloc[int(bad[0])]))
            raise InputError(f"configuration {bad[0]} is not feasible: {'; '.join(rules)}")
        return table

    def outside(self, configurations: Configurations) -> dict[str, NDArray[np.bool_]]:
        """Tell per parameter which rows lie outside its range, ignoring constraints and integer steps.

        Returns
        -------
        dict of str to array (n,)
            Only parameters with at least one row outside.
        """
        table = self.frame(configurations)
        found = {name: _beyond(kind, table[name]) for name, kind in self.parameters.items()}
        return {name: mask for name, mask in found.items() if mask.any()}

    # ---- enumerating ----------------------------------------------------------------------------------------

    def count(self) -> int:
        """Return the number of feasible configurations, in bounded memory.

        Raises
        ------
        InputError
            If a `Real` parameter makes them infinitely many.
        """
        if self.listed is None and not self.constraints:
            return int(np.prod([len(v) for v in self._all_values()], dtype=object)) if len(self) else 0
        return sum(len(part) for part in self.iterate())

    def enumerate(self, limit: int = 10_000_000) -> pd.DataFrame:
        """Return all feasible configurations, in lexicographic order of the parameters.

        Parameters
        ----------
        limit : int
            More than this many is an error rather than a full memory.
        """
        parts: list[pd.DataFrame] = []
        total = 0
        for part in self.iterate():
            parts.append(part)
            total += len(part)
            if total > limit:
                raise InputError(f"the space has more than {limit} configurations: use iterate() or sample()")
        return pd.concat(parts, ignore_index=True) if parts else pd.DataFrame(columns=self.names)

    def iterate(self) -> Iterator[pd.DataFrame]:
        """Yield the feasible configurations in blocks of bounded size.

        Parameters are added one at a time, and each constraint prunes as soon as all that it mentions is there.
        """
        if self.listed is not None:
            plain = Space.of(self.parameters, self.constraints)
            yield self.listed[plain.contains(self.listed)]
            return
        self._all_values()
        if len(self):
            yield from self._extend(pd.DataFrame(index=[0]), 0)

    def _extend(self, prefix: pd.DataFrame, depth: int) -> Iterator[pd.DataFrame]:
        if depth == len(self):
            yield prefix.reset_index(drop=True)
            return
        name = self.names[depth]
        values = self._all_values()[depth]
        due = [c for c in self.constraints if self._due(c) == depth]
        rows = max(1, _CHUNK // len(values))
        for start in range(0, len(prefix), rows):
            block = prefix.iloc[start : start + rows]
            grown = block.loc[block.index.repeat(len(values))].copy()
            grown[name] = np.tile(values, len(block))
            grown = grown.reset_index(drop=True)
            for constraint in due:
                grown = grown[constraint.holds(grown)].reset_index(drop=True)
            if len(grown):
                yield from self._extend(grown, depth + 1)

    def _due(self, constraint: Constraint) -> int:
        """Return the depth at which all that a constraint needs is known."""
        if constraint.needs is None:
            return len(self) - 1
        return max((self.names.index(name) for name in constraint.needs), default=0)

    def _all_values(self) -> list[NDArray[Any]]:
        lists = {name: kind.values() for name, kind in self.parameters.items()}
        endless = [name for name, values in lists.items() if values is None]
        if endless:
            raise InputError(f"{endless[0]!r} takes any real number, so the space can't be enumerated: sample it")
        return [values for values in lists.values() if values is not None]

    # ---- sampling -------------------------------------------------------------------------------------------

    def sample(
        self, n: int, *, design: Design = "random", seed: int | np.random.Generator | None = None
    ) -> pd.DataFrame:
        """Draw feasible configurations.

        Parameters
        ----------
        n : int
            How many rows; they may repeat where the space is small.
        design : {"random", "uniform", "log-uniform", "sobol", "lhs"}
            ``"random"`` follows each parameter's own scale, ``"uniform"`` and ``"log-uniform"`` override it;
            ``"sobol"`` and ``"lhs"`` fill the space evenly (what constraints reject is replaced by further points).
        seed : int or Generator, optional
            The same seed gives the same sample.

        Returns
        -------
        DataFrame (n, n_parameters)

        Raises
        ------
        InfeasibleError
            If no feasible configuration can be found.
        """
        if design not in get_args(Design):
            raise InputError(f"design must be one of {', '.join(get_args(Design))}, but got {design!r}")
        rng = np.random.default_rng(seed)
        if self.listed is not None:
            return self._choose(self.enumerate(), n, rng)
        scale: Scale | None = {"uniform": "linear", "log-uniform": "log"}.get(design)  # type: ignore[assignment]
        stream = unit_points(len(self), design, n, rng)
        kept: list[pd.DataFrame] = []
        found = tried = 0
        while found < n:
            table = self._from_unit(next(stream), scale)
            tried += len(table)
            good = table[self.contains(table)]
            kept.append(good)
            found += len(good)
            if found < n and tried >= 20_000 and found < _MIN_ACCEPTANCE * tried:
                return self._choose(self._few_feasible(tried), n, rng)
        return pd.concat(kept, ignore_index=True).head(n)

    def _from_unit(self, u: NDArray[np.float64], scale: Scale | None) -> pd.DataFrame:
        columns = {name: kind.from_unit(u[:, i], scale) for i, (name, kind) in enumerate(self.parameters.items())}
        return pd.DataFrame(columns)

    def _few_feasible(self, tried: int) -> pd.DataFrame:
        """Enumerate a space whose constraints reject nearly everything, if it can be."""
        if any(kind.values() is None for kind in self.parameters.values()):
            raise InfeasibleError(
                f"the constraints ({', '.join(c.name for c in self.constraints)}) rejected nearly all of {tried} "
                "points: narrow the bounds of the real parameters",
                constraint=self.constraints[0].name,
            )
        return self.enumerate()

    def _choose(self, table: pd.DataFrame, n: int, rng: np.random.Generator) -> pd.DataFrame:
        if not len(table):
            raise InfeasibleError(
                f"no configuration obeys {', '.join(c.name for c in self.constraints)}",
                constraint=self.constraints[0].name if self.constraints else "listed",
            )
        rounds = [rng.permutation(len(table)) for _ in range(-(-n // len(table)))]
        return table.iloc[list(itertools.chain(*rounds))[:n]].reset_index(drop=True)


def _guess(column: pd.Series[Any], unit: str) -> Parameter:
    if column.dtype == object or not pd.api.types.is_numeric_dtype(column) or column.dtype == bool:
        return Categorical(*sorted(pd.unique(column).tolist(), key=str), unit=unit)
    numbers = column.to_numpy(dtype=np.float64)
    if not np.isfinite(numbers).all():
        row = int(np.flatnonzero(~np.isfinite(numbers))[0])
        raise InputError(f"parameter {column.name!r} must be finite, but row {row} holds {numbers[row]}")
    scale: Scale = "log" if numbers.min() > 0 else "linear"
    if np.all(numbers == np.round(numbers)):
        return Integer(int(numbers.min()), int(numbers.max()), scale=scale, unit=unit)
    return Real(float(numbers.min()), float(numbers.max()), scale=scale, unit=unit)


def _as_numbers(column: pd.Series[Any]) -> pd.Series[Any]:
    numbers = pd.to_numeric(column, errors="coerce")
    bad = np.flatnonzero(~np.isfinite(numbers.to_numpy(dtype=np.float64)))
    if len(bad):
        raise InputError(
            f"{column.name!r} must be a finite number, but row {bad[0]} holds {_plain(column.iloc[int(bad[0])])}"
        )
    return numbers


def _beyond(kind: Parameter, column: pd.Series[Any]) -> NDArray[np.bool_]:
    match kind:
        case Integer() | Real():
            low, high = float(kind.low), float(kind.high)
        case Ordinal():
            low, high = float(kind.options[0]), float(kind.options[-1])
        case _:
            return ~kind.contains(column)
    x = column.to_numpy(dtype=np.float64)
    slack = 1e-12 * max(abs(low), abs(high))
    return np.asarray((x < low - slack) | (x > high + slack))


def _plain(value: Any) -> str:
    return repr(value.item() if isinstance(value, np.generic) else value)
