"""Inputs made of inputs, for methods that cut along axes: trees and nets see ratios, products and remainders as given.

Run times depend on totals (``ppn · nodes`` ranks, ``m · n · k`` operations), on ratios of sizes, on what is left over
when a size is cut into blocks, and on how far a count is from a power of two. A tree needs many splits for any of them.

* ``"products"``: sums and differences of the logarithms of two parameters, and the sum of all.
* ``"remainders"``: for whole numbers, the share of the last block that is filled, for each block size that the range
  makes sense of, and the logarithm of the padded size over the size.
* ``"powers"``: for whole numbers, the distance from powers of two in octaves, and how often two divides them.

Which of them stay is for validation to say: see `choose`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evenly.models.inputs.coding import Coding, Inputs, whole_where_near

__all__ = ["GROUPS", "Derived", "choose"]

Floats = NDArray[np.float64]
#: Groups of derived inputs, in the order in which they are tried.
GROUPS = ("products", "remainders", "powers")
_BLOCKS = (2, 4, 8, 16, 32, 64, 128)
#: Blocks must fit this often into the largest value, and a parameter take so many values, to leave telling remainders.
_FITS = 4
_VALUES = 8
#: A group stays if it lowers the error on runs left out by this share.
_GAIN = 0.005


@dataclass(frozen=True)
class Derived:
    """How inputs are derived from a table's numbers.

    Attributes
    ----------
    kinds : list of {"log", "linear"}
        Of each number, with the centre and scale that undo its coding.
    centres, scales : lists of float
    blocks : list of lists of int
        Block sizes of each number; none where it isn't whole.
    groups : tuple of str
        Those of `GROUPS` that are made.
    """

    kinds: list[str]
    centres: list[float]
    scales: list[float]
    blocks: list[list[int]]
    groups: tuple[str, ...] = ()

    @classmethod
    def learn(cls, coding: Coding, inputs: Inputs, groups: Sequence[str] = GROUPS) -> Derived:
        """Tell from the runs learned from which of `groups` make sense.

        Examples
        --------
        >>> import pandas as pd
        >>> from evenly import Space
        >>> table = pd.DataFrame({"ppn": [1, 2, 4, 8], "nodes": [16, 8, 1, 4]})
        >>> coding = Coding.learn(table, Space.from_data(table))
        >>> derived = Derived.learn(coding, coding.inputs(table), ["products"])
        >>> derived.names(coding.numeric)
        ['nodes · ppn', 'nodes / ppn']
        >>> derived.columns(coding.inputs(table)).round(1)[:, 0]
        array([2.8, 2.8, 1.4, 3.5])
        """
        numeric = [n for n, kind in enumerate(coding.kinds) if kind != "label"]
        plain = cls(
            [coding.kinds[n] for n in numeric],
            [coding.centres[n] for n in numeric],
            [coding.scales[n] for n in numeric],
            [[] for _ in numeric],
        )
        values = plain._values(inputs)
        whole = replace(plain, blocks=[_block_sizes(values[:, n]) for n in range(len(numeric))])
        return replace(whole, groups=tuple(group for group in groups if _MAKERS[group].count(whole)))

    def _values(self, inputs: Inputs) -> Floats:
        """Numbers as they were before coding; whole ones exactly."""
        plain = self._logs(inputs)
        log = np.array([kind == "log" for kind in self.kinds], dtype=bool)
        return whole_where_near(np.where(log, np.exp(np.where(log, plain, 0.0)), plain))

    def _logs(self, inputs: Inputs) -> Floats:
        """Logarithms, or values of numbers that are linear, rounded so that equal products are equal."""
        return np.asarray(np.round(inputs.numbers * np.array(self.scales) + np.array(self.centres), 10))

    @property
    def logs(self) -> list[int]:
        """Numbers that have logarithms and more than one value."""
        return [n for n, kind in enumerate(self.kinds) if kind == "log"]

    def columns(self, inputs: Inputs) -> Floats:
        """Return derived inputs, (n, k), in their own units; k is 0 without groups."""
        made = [_MAKERS[group].columns(self, inputs) for group in self.groups]
        return np.hstack(made) if made else np.zeros((len(inputs), 0))

    def counts(self) -> dict[str, int]:
        """Return how many columns each group has, in their order."""
        return {group: _MAKERS[group].count(self) for group in self.groups}

    def names(self, numeric: Sequence[str]) -> list[str]:
        """Name the columns, given the names of the numbers."""
        return [name for group in self.groups for name in _MAKERS[group].names(self, numeric)]

    def to_state(self) -> dict[str, Any]:
        """Return what `from_state` reads."""
        return {
            "kinds": self.kinds, "centres": self.centres, "scales": self.scales, "blocks": self.blocks,
            "groups": list(self.groups),
        }  # fmt: skip

    @classmethod
    def from_state(cls, state: Mapping[str, Any]) -> Derived:
        """Restore what `to_state` returned."""
        fields = {name: list(state[name]) for name in ("kinds", "centres", "scales")}
        return cls(**fields, blocks=[list(b) for b in state["blocks"]], groups=tuple(state["groups"]))


def choose(derived: Derived, error: Callable[[Derived], float]) -> Derived:
    """Keep the groups that lower an error on runs left out.

    Parameters
    ----------
    derived : Derived
        With all groups that make sense.
    error : callable
        What a method fitted with some groups is off by on runs it hasn't seen.

    Returns
    -------
    Derived
        With all groups, then without each that isn't missed; or with none if that is better still.
    """
    if not derived.groups:
        return derived
    best, least = derived, error(derived)
    for group in derived.groups if len(derived.groups) > 1 else ():
        fewer = replace(best, groups=tuple(g for g in best.groups if g != group))
        if fewer.groups and (found := error(fewer)) <= least * (1 + _GAIN):
            best, least = fewer, min(found, least)
    none = replace(derived, groups=())
    return none if error(none) <= least * (1 + _GAIN) else best


def _block_sizes(x: Floats) -> list[int]:
    if not np.array_equal(x, np.round(x)) or x.min() < 1 or len(np.unique(x)) < _VALUES:
        return []
    # Where all values are multiples of a block, or only powers of two, its remainders tell nothing.
    return [b for b in _BLOCKS if b * _FITS <= x.max() and len(np.unique(x % b)) > 1 and not _powers_of_two(x)]


def _powers_of_two(x: Floats) -> bool:
    return bool(np.all(np.log2(x) == np.round(np.log2(x))))


class _Products:
    @staticmethod
    def count(derived: Derived) -> int:
        n = len(derived.logs)
        return n * (n - 1) + (n > 2)

    @staticmethod
    def columns(derived: Derived, inputs: Inputs) -> Floats:
        logs = derived._logs(inputs)[:, derived.logs]
        pairs = list(combinations(range(logs.shape[1]), 2))
        sums = [logs[:, a] + logs[:, b] for a, b in pairs] + [logs[:, a] - logs[:, b] for a, b in pairs]
        total = [logs.sum(axis=1)] if logs.shape[1] > 2 else []
        return np.round(np.column_stack(sums + total), 9)

    @staticmethod
    def names(derived: Derived, numeric: Sequence[str]) -> list[str]:
        chosen = [numeric[n] for n in derived.logs]
        pairs = list(combinations(chosen, 2))
        total = [" · ".join(chosen)] if len(chosen) > 2 else []
        return [f"{a} · {b}" for a, b in pairs] + [f"{a} / {b}" for a, b in pairs] + total


class _Remainders:
    @staticmethod
    def count(derived: Derived) -> int:
        return 2 * sum(map(len, derived.blocks))

    @staticmethod
    def columns(derived: Derived, inputs: Inputs) -> Floats:
        values = derived._values(inputs)
        made = []
        for n, blocks in enumerate(derived.blocks):
            x = np.maximum(values[:, n], 1e-300)
            made += [np.mod(x, b) / b for b in blocks] + [np.log(np.ceil(x / b) * b / x) for b in blocks]
        return np.column_stack(made)

    @staticmethod
    def names(derived: Derived, numeric: Sequence[str]) -> list[str]:
        return [
            name
            for n, blocks in enumerate(derived.blocks)
            for name in [*(f"{numeric[n]} mod {b}" for b in blocks), *(f"{numeric[n]} padded to {b}" for b in blocks)]
        ]


class _Powers:
    @staticmethod
    def _which(derived: Derived) -> list[int]:
        return [n for n, blocks in enumerate(derived.blocks) if blocks]

    @staticmethod
    def count(derived: Derived) -> int:
        return 2 * len(_Powers._which(derived))

    @staticmethod
    def columns(derived: Derived, inputs: Inputs) -> Floats:
        values = np.maximum(derived._values(inputs)[:, _Powers._which(derived)], 1e-300)
        octaves = np.log2(values)
        twos = np.sum([np.mod(values, 2**k) == 0 for k in range(1, 11)], axis=0)
        return np.hstack([octaves - np.round(octaves), twos])

    @staticmethod
    def names(derived: Derived, numeric: Sequence[str]) -> list[str]:
        chosen = [numeric[n] for n in _Powers._which(derived)]
        return [f"{name} from a power of two" for name in chosen] + [f"twos in {name}" for name in chosen]


_MAKERS: dict[str, Any] = {"products": _Products, "remainders": _Remainders, "powers": _Powers}
