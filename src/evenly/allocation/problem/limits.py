"""Limits on the core counts that a solver may get.

Counts are limited directly (`minimum`, `maximum`, `multiple`, `allowed`), or by a bound on another measured quantity.
For example, a model of peak memory per rank excludes counts on which the solver needs more memory than a node has.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from evenly.arguments import explained
from evenly.errors import InfeasibleError, InputError
from evenly.machine.machine import Machine
from evenly.memory import check_room

__all__ = ["Bound", "Limits", "index_at_most", "is_count", "possible_counts"]

Ints = NDArray[np.int64]
#: A table of counts and their times takes about so many numbers for each count.
_COLUMNS = 6
#: Core counts, increasing: a range where they are equally spaced, else an array.
Counts = range | Ints


def is_count(value: Any) -> bool:
    """Tell whether a value is a whole number of at least 1.

    Examples
    --------
    >>> [is_count(value) for value in (1, 2.0, np.int64(3), 0, 2.5, True, "4", None, float("nan"))]
    [True, True, True, False, False, False, False, False, False]
    """
    if isinstance(value, bool | np.bool_) or not isinstance(value, int | float | np.integer | np.floating):
        return False
    return bool(1 <= value < math.inf and value == value // 1)


def index_at_most(counts: Counts, count: int) -> int:
    """Return the index of the largest of `counts` (n,) that is at most `count`; 0 where all counts are larger.

    Examples
    --------
    >>> index_at_most(range(8, 41, 8), 24), index_at_most(np.array([480, 960]), 1000), index_at_most(range(4, 9), 1)
    (2, 1, 0)
    """
    if isinstance(counts, range):
        return min(len(counts) - 1, max((count - counts.start) // counts.step, 0))
    return max(int(np.searchsorted(counts, count, side="right")) - 1, 0)


def listed(name: str, counts: Counts) -> Ints:
    """Return all counts of solver `name` as an array (n,).

    Raises
    ------
    InputError
        If a table with a time for each of them doesn't fit into the memory.
    """
    room = 8.0 * _COLUMNS * len(counts)
    check_room(f"a table of {len(counts):,} core counts of {name!r}", room, "lower --cores, or name the allowed counts")
    return np.asarray(counts, dtype=np.int64)


def _are_counts(values: Any) -> bool:
    if isinstance(values, str) or not hasattr(values, "__len__") or not hasattr(values, "__iter__"):
        return False
    return len(values) > 0 and all(is_count(value) for value in values)


@explained
@dataclass(frozen=True)
class Bound:
    """An upper bound on a quantity such as peak memory.

    Parameters
    ----------
    quantity : Model or callable
        Cores of the solver (n,) → the quantity per rank (n,), for example peak memory in bytes or energy in joules.
    at_most : float, optional
        The largest allowed value, in the unit of `quantity`; by default the machine's memory per node.
    per : {"node", "rank", "solver"}
        Group of ranks over which the quantity is summed and compared with `at_most`. ``"node"``: the solver's ranks on
        one full node, or all its ranks where they are fewer. ``"solver"``: all its ranks. ``"rank"``: one rank. A
        bound per node assumes that solvers do not share nodes, so give such solvers multiples of the cores per node.
    name : str
        The quantity's name in messages.

    Examples
    --------
    >>> bound = Bound(lambda cores: 2.0**38 / cores, at_most=96 * 2.0**30, per="node")
    >>> bound.holds(np.array([28, 56, 84, 112]), Machine(cores_per_node=28))
    array([False, False,  True,  True])
    """

    quantity: Any
    at_most: float | None = None
    per: Literal["node", "rank", "solver"] = "node"
    name: str = "memory"

    def __post_init__(self) -> None:
        if self.per not in ("node", "rank", "solver"):
            raise InputError(f"a bound is per 'node', 'rank' or 'solver', but got {self.per!r}")
        if not callable(self.quantity) and not hasattr(self.quantity, "predict"):
            raise InputError(f"quantity must be a model or a function cores -> amount, but got {self.quantity!r}")

    def holds(
        self, counts: Ints, machine: Machine | None, evaluate: Callable[[Any, Ints], Any] | None = None
    ) -> NDArray[np.bool_]:
        """Tell for which `counts` (n,) the quantity stays within the bound; `evaluate` calls a model."""
        within: NDArray[np.bool_] = self.amounts(counts, machine, evaluate) <= self.limit(machine)
        return within

    def amounts(
        self, counts: Ints, machine: Machine | None, evaluate: Callable[[Any, Ints], Any] | None = None
    ) -> NDArray[np.float64]:
        """Return the quantity (n,) per node, rank or solver on `counts` (n,); `evaluate` calls a model."""
        per_rank = np.asarray(evaluate(self.quantity, counts) if evaluate else self.quantity(counts), dtype=np.float64)
        return np.asarray(per_rank * self._ranks(counts, machine), dtype=np.float64)

    def written(self, amount: float) -> str:
        """Return an amount with its unit as text: memory in GiB, other quantities in the unit that the model states."""
        unit = getattr(self.quantity, "response_", {}).get("unit", "B" if self.name == "memory" else "1")
        if unit == "B":
            return f"{amount / 2.0**30:.4g} GiB"
        return f"{amount:.4g} {unit}".removesuffix(" 1")

    def limit(self, machine: Machine | None) -> float:
        """Return `at_most`, or the machine's memory per node in bytes where `at_most` is not given."""
        if self.at_most is not None:
            return self.at_most
        if self.per != "node" or machine is None or machine.memory_bytes_per_node is None:
            raise InputError(
                f"the bound on {self.name} needs a value: give at_most, or a machine with memory_bytes_per_node "
                "and per='node'"
            )
        return machine.memory_bytes_per_node

    def _ranks(self, counts: Ints, machine: Machine | None) -> Ints:
        if self.per == "rank":
            return np.ones_like(counts)
        if self.per == "solver":
            return counts
        if machine is None or machine.cores_per_node is None:
            raise InputError(f"the bound on {self.name} per node needs a machine with cores_per_node")
        return np.minimum(counts, machine.cores_per_node)


@explained
@dataclass(frozen=True)
class Limits:
    """The core counts that a solver may get.

    Parameters
    ----------
    minimum : int
        Smallest count.
    maximum : int, optional
        Largest count.
    multiple : int
        Counts are multiples of this (cores per node, blocks).
    allowed : sequence of int, optional
        The only counts that the solver may get (for example an ocean model that runs on 480, 960, … cores).
    bounds : Bound or sequence of Bound
        Upper bounds on other quantities.

    Examples
    --------
    >>> Limits(minimum=10, multiple=8).counts(40)
    range(16, 41, 8)
    >>> Limits(allowed=(480, 960, 1920)).counts(1000)
    array([480, 960])
    """

    minimum: int = 1
    maximum: int | None = None
    multiple: int = 1
    allowed: Sequence[int] | None = None
    bounds: Bound | Sequence[Bound] = ()

    def __post_init__(self) -> None:
        given = {"minimum": self.minimum, "multiple": self.multiple}
        given |= {} if self.maximum is None else {"maximum": self.maximum}
        for name, value in given.items():
            if not is_count(value):
                raise InputError(f"{name} must be a whole number of at least 1, but got {value!r}")
        if self.maximum is not None and self.maximum < self.minimum:
            raise InputError(f"maximum must be at least minimum ({self.minimum}), but got {self.maximum}")
        if not all(isinstance(bound, Bound) for bound in self.all_bounds):
            raise InputError(f"bounds must be a Bound, or several, but got {self.bounds!r}")
        if self.allowed is not None and not _are_counts(self.allowed):
            raise InputError(
                f"allowed counts must be a list of whole numbers of at least 1, one or more, but got {self.allowed!r}"
            )

    @classmethod
    def of(cls, value: Limits | Mapping[str, Any]) -> Limits:
        """Return `value` as `Limits`; a mapping holds the parameters of `Limits`."""
        if isinstance(value, Limits):
            return value
        if not isinstance(value, Mapping):
            raise InputError(f"limits must be Limits or a mapping such as {{'minimum': 8}}, but got {value!r}")
        fields = ("minimum", "maximum", "multiple", "allowed", "bounds")
        for key in value:
            if key not in fields:
                raise InputError(f"limits have no {key!r}; allowed are {', '.join(fields)}")
        return cls(**value)

    @property
    def all_bounds(self) -> tuple[Bound, ...]:
        """The bounds as a tuple."""
        return (self.bounds,) if isinstance(self.bounds, Bound) else tuple(self.bounds)

    def counts(self, total: int) -> Counts:
        """Return the counts up to `total` that `minimum`, `maximum`, `multiple` and `allowed` permit."""
        top = total if self.maximum is None else min(total, int(self.maximum))
        start = -(-int(self.minimum) // int(self.multiple)) * int(self.multiple)
        if self.allowed is None:
            return range(start, top + 1, int(self.multiple))
        wanted = np.unique(np.asarray(self.allowed, dtype=np.int64))
        chosen: Ints = wanted[(wanted >= self.minimum) & (wanted <= top) & (wanted % self.multiple == 0)]
        return chosen


def possible_counts(
    name: str, limits: Limits, total: int, machine: Machine | None, evaluate: Callable[[Any, Ints], Any] | None = None
) -> Counts:
    """Return the counts that solver `name` may get out of `total` cores.

    Raises
    ------
    InfeasibleError
        If no count is possible; `constraint` names the limit that excludes the last counts.

    Examples
    --------
    >>> possible_counts("ocn", Limits(minimum=480), 100, None)
    Traceback (most recent call last):
    evenly.errors.InfeasibleError: 'ocn' must get at least 480 cores (minimum), but there are 100: ...
    """
    counts = limits.counts(total)
    if not len(counts):
        raise _no_count(name, limits, total)
    for bound in limits.all_bounds:
        table = listed(name, counts)
        counts = table[bound.holds(table, machine, evaluate)]
        if not len(counts):
            raise _no_count_within(name, bound, bound.amounts(table, machine, evaluate), table, machine)
    return counts


def _no_count_within(
    name: str, bound: Bound, amounts: NDArray[np.float64], table: Ints, machine: Machine | None
) -> InfeasibleError:
    least = int(np.argmin(amounts))
    raised = "at_most" if bound.at_most is not None else "the machine's memory_bytes_per_node (--memory)"
    return InfeasibleError(
        f"{name!r} must keep {bound.name} per {bound.per} at or below {bound.written(bound.limit(machine))}, but from "
        f"{table[0]} to {table[-1]} cores it needs at least {bound.written(amounts[least])} (on {table[least]}): give "
        f"more cores (--cores), or raise {raised}",
        constraint=f"{name}.{bound.name}",
    )


def _no_count(name: str, limits: Limits, total: int) -> InfeasibleError:
    if limits.minimum > total:
        reason = f"must get at least {limits.minimum} cores (minimum), but there are {total}"
        return InfeasibleError(f"{name!r} {reason}: raise --cores or lower its minimum", constraint=f"{name}.minimum")
    top = total if limits.maximum is None else min(total, limits.maximum)
    if limits.allowed is not None:
        listed = ", ".join(map(str, sorted(limits.allowed)[:8]))
        reason = f"may only get {listed} cores (allowed), but none of these"
        field, remedy = "allowed", "allow more counts"
    else:
        reason = f"must get a multiple of {limits.multiple} cores (multiple), but none"
        field, remedy = "multiple", "lower the multiple"
    text = f"{name!r} {reason} is a multiple of {limits.multiple} between {limits.minimum} and {top}"
    text = text if field == "allowed" else f"{name!r} {reason} lies between {limits.minimum} and {top}"
    return InfeasibleError(f"{text}: {remedy} or raise --cores", constraint=f"{name}.{field}")
