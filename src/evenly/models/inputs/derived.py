"""Derived inputs for trees and nets: products, ratios and remainders of parameters as additional columns.

Run times depend on totals (``ppn · nodes`` ranks, ``m · n · k`` operations) and on ratios of sizes. They also depend on
the remainder when a size is divided into blocks, and on the distance of a count from a power of two. A tree splits one
input at a time, so it would need many splits to represent any of these.

* ``"products"``: sums and differences of the logarithms of two parameters, and the sum of all.
* ``"remainders"``: for whole numbers and each suitable block size, the filled share of the last block, and the
  logarithm of the ratio of the padded size to the size.
* ``"powers"``: for whole numbers, the distance from the nearest power of two in octaves, and the number of factors of
  two.

`choose` keeps the groups that lower the error on left-out runs.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np

from evenly.models.array_types import Floats
from evenly.models.inputs.coding import Coding, Inputs, whole_where_near
from evenly.models.stored_dataclass import Stored

__all__ = ["GROUPS", "Derived", "choose"]

#: Groups of derived inputs, in the order in which they are tried.
GROUPS = ("products", "remainders", "powers")
_BLOCKS = (2, 4, 8, 16, 32, 64, 128)
#: A block size is used only if it fits this often into the largest value, and the parameter has at least `_VALUES`
#: values.
_FITS = 4
_VALUES = 8
#: A group is kept if the error on left-out runs would rise by more than this share without it.
_GAIN = 0.005
#: Of more numbers, no pairs are multiplied: they would be hundreds of columns.
_MOST_PAIRED = 16


@dataclass(frozen=True)
class Derived(Stored):
    """The derived inputs of coded numbers. The coding is undone before they are computed.

    Attributes
    ----------
    kinds : list of {"log", "linear"}
        Coding of each number.
    centres, scales : lists of float
        Centre and scale that undo the coding of each number.
    blocks : list of lists of int
        Block sizes of each number; empty if no remainders are derived from it.
    groups : tuple of str
        The groups of `GROUPS` that are derived.
    """

    kinds: list[str]
    centres: list[float]
    scales: list[float]
    blocks: list[list[int]]
    groups: tuple[str, ...] = ()

    @classmethod
    def learn(cls, coding: Coding, inputs: Inputs, groups: Sequence[str] = GROUPS) -> Derived:
        """Return the derived inputs of `groups`, without groups that have no columns for the runs (n, d).

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
        if len(numeric) > _MOST_PAIRED:
            groups = [group for group in groups if group != "products"]
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
        """Undo the coding of numbers: return their logarithms (values if linear) and their values, (n, d) each."""
        # Logarithms are rounded, so that equal products of parameters have equal logarithms. Whole values are exact.
        plain = np.asarray(np.round(inputs.numbers * np.array(self.scales) + np.array(self.centres), 10))
        log = np.array([kind == "log" for kind in self.kinds], dtype=bool)
        return plain, whole_where_near(np.where(log, np.exp(np.where(log, plain, 0.0)), plain))

    def columns(self, inputs: Inputs) -> Floats:
        """Return the derived inputs, (n, k), unscaled; k is 0 without groups."""
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
                # (x mod b) / b, the filled share of the last block, and the log of x padded to whole blocks, over x.
                for n, blocks in enumerate(self.blocks):
                    x = np.maximum(values[:, n], 1e-300)
                    made += [np.mod(x, b) / b for b in blocks] + [np.log(np.ceil(x / b) * b / x) for b in blocks]
            else:
                # Distance from the nearest power of two in octaves, and the number of factors of two, up to 10.
                x = np.maximum(values[:, [n for n, blocks in enumerate(self.blocks) if blocks]], 1e-300)
                octaves = np.log2(x)
                made += [
                    *(octaves - np.round(octaves)).T,
                    *np.sum([np.mod(x, 2**k) == 0 for k in range(1, 11)], axis=0).T,
                ]
        return np.column_stack(made) if made else np.zeros((len(inputs), 0))

    def counts(self) -> dict[str, int]:
        """Return the number of columns of each group, in the order of the groups."""
        logs = self.kinds.count("log")
        counts = {
            "products": logs * (logs - 1) + (logs > 2),
            "remainders": 2 * sum(map(len, self.blocks)),
            "powers": 2 * sum(map(bool, self.blocks)),
        }
        return {group: counts[group] for group in self.groups}

    def names(self, numeric: Sequence[str]) -> list[str]:
        """Return the names of the columns, given the names of the numeric parameters."""
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


def choose(derived: Derived, error: Callable[[Derived], float]) -> Derived:
    """Choose groups of derived inputs by backward elimination.

    Parameters
    ----------
    derived : Derived
        Derived inputs with all groups that have columns.
    error : callable
        Returns the error on left-out runs of a method fitted with the groups of its argument.

    Returns
    -------
    Derived
        With the groups that are left after dropping, one after the other, each that doesn't lower the error enough.
        Without any group if the error is then as small.
    """
    if not derived.groups:
        return derived
    best, lowest_error = derived, error(derived)
    for group in derived.groups if len(derived.groups) > 1 else ():
        fewer = replace(best, groups=tuple(g for g in best.groups if g != group))
        if fewer.groups and (found := error(fewer)) <= lowest_error * (1 + _GAIN):
            best, lowest_error = fewer, min(found, lowest_error)
    none = replace(derived, groups=())
    return none if error(none) <= lowest_error * (1 + _GAIN) else best


def _block_sizes(x: Floats) -> list[int]:
    """Return the block sizes whose remainders vary over the measured values (n,); none if these aren't whole."""
    values = np.unique(x)
    if not np.array_equal(x, np.round(x)) or x.min() < 1 or len(values) < _VALUES:
        return []
    # If all values are powers of two, remainders contain no more information than the logarithms.
    if np.all(np.log2(x) == np.round(np.log2(x))):
        return []
    # A block size that divides all values has constant remainders, so it is left out.
    return [b for b in _BLOCKS if b * _FITS <= x.max() and len(np.unique(x % b)) > 1]
