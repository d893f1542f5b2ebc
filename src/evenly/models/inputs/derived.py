"""Derived inputs for trees and nets: products, ratios and remainders of parameters as columns of their own.

Run times depend on totals (``ppn · nodes`` ranks, ``m · n · k`` operations), on ratios of sizes, on what is left over
when a size is cut into blocks, and on how far a count is from a power of two. A tree, which splits along one input at
a time, would need many splits for any of them.

* ``"products"``: sums and differences of the logarithms of two parameters, and the sum of all.
* ``"remainders"``: for whole numbers and each block size that fits into the range several times, the share of the last
  block that is filled, and the logarithm of the padded size over the size.
* ``"powers"``: for whole numbers, the distance from powers of two in octaves, and how often two divides them.

`choose` keeps the groups that lower the error on runs left out.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evenly.models.inputs.coding import Coding, Inputs, whole_where_near
from evenly.models.stored_dataclass import Stored

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
class Derived(Stored):
    """Which inputs are derived from coded numbers, and how the coding is undone first.

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
        """Return those of `groups` that have columns for these runs, inputs (n, d).

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
            tuple(groups),
        )
        values = plain._decoded(inputs)[1]
        every = replace(plain, blocks=[_block_sizes(values[:, n]) for n in range(len(numeric))])
        return replace(every, groups=tuple(group for group, count in every.counts().items() if count))

    def _decoded(self, inputs: Inputs) -> tuple[Floats, Floats]:
        """Undo the coding of numbers: return their logarithms (values where linear) and their values, (n, d) each."""
        # Rounded, so that equal products of parameters give equal logarithms; whole values come back exactly.
        plain = np.asarray(np.round(inputs.numbers * np.array(self.scales) + np.array(self.centres), 10))
        log = np.array([kind == "log" for kind in self.kinds], dtype=bool)
        return plain, whole_where_near(np.where(log, np.exp(np.where(log, plain, 0.0)), plain))

    def columns(self, inputs: Inputs) -> Floats:
        """Return derived inputs, (n, k), in their own units; k is 0 without groups."""
        plain, values = self._decoded(inputs)
        made = []
        for group in self.groups:
            if group == "products":
                # log(x y) = log x + log y, log(x / y) = log x - log y, and the logarithm of the product of all.
                logs = plain[:, [n for n, kind in enumerate(self.kinds) if kind == "log"]]
                pairs = list(combinations(range(logs.shape[1]), 2))
                sums = [logs[:, a] + logs[:, b] for a, b in pairs] + [logs[:, a] - logs[:, b] for a, b in pairs]
                made += [np.round(x, 9) for x in (*sums, *([logs.sum(axis=1)] if logs.shape[1] > 2 else []))]
            elif group == "remainders":
                # Share of the last block of b that x fills, and the logarithm of x padded to whole blocks, over x.
                for n, blocks in enumerate(self.blocks):
                    x = np.maximum(values[:, n], 1e-300)
                    made += [np.mod(x, b) / b for b in blocks] + [np.log(np.ceil(x / b) * b / x) for b in blocks]
            else:
                # Distance from the nearest power of two in octaves, and how often two divides the value.
                x = np.maximum(values[:, [n for n, blocks in enumerate(self.blocks) if blocks]], 1e-300)
                octaves = np.log2(x)
                made += [
                    *(octaves - np.round(octaves)).T,
                    *np.sum([np.mod(x, 2**k) == 0 for k in range(1, 11)], axis=0).T,
                ]
        return np.column_stack(made) if made else np.zeros((len(inputs), 0))

    def counts(self) -> dict[str, int]:
        """Return how many columns each group has, in their order."""
        logs = self.kinds.count("log")
        counts = {
            "products": logs * (logs - 1) + (logs > 2),
            "remainders": 2 * sum(map(len, self.blocks)),
            "powers": 2 * sum(map(bool, self.blocks)),
        }
        return {group: counts[group] for group in self.groups}

    def names(self, numeric: Sequence[str]) -> list[str]:
        """Return the names of the columns, given the names of the numbers."""
        found = []
        for group in self.groups:
            if group == "products":
                chosen = [name for name, kind in zip(numeric, self.kinds, strict=True) if kind == "log"]
                pairs = list(combinations(chosen, 2))
                found += [f"{a} · {b}" for a, b in pairs] + [f"{a} / {b}" for a, b in pairs]
                found += [" · ".join(chosen)] if len(chosen) > 2 else []
            elif group == "remainders":
                for name, blocks in zip(numeric, self.blocks, strict=True):
                    found += [f"{name} mod {b}" for b in blocks] + [f"{name} padded to {b}" for b in blocks]
            else:
                chosen = [name for name, blocks in zip(numeric, self.blocks, strict=True) if blocks]
                found += [f"{name} from a power of two" for name in chosen] + [f"twos in {name}" for name in chosen]
        return found

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
    """Return the block sizes whose remainders vary over measured values (n,); none where these aren't whole."""
    values = np.unique(x)
    if not np.array_equal(x, np.round(x)) or x.min() < 1 or len(values) < _VALUES:
        return []
    # Remainders of powers of two tell no more than the powers do.
    if np.all(np.log2(x) == np.round(np.log2(x))):
        return []
    # Where all values are multiples of a block its remainders are all the same.
    return [b for b in _BLOCKS if b * _FITS <= x.max() and len(np.unique(x % b)) > 1]
