"""Coding of configurations for regression: numbers scaled to [-1, 1] over the measured range, labels numbered."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd

from evenly.errors import InputError
from evenly.models.array_types import Floats, Ints
from evenly.models.stored_dataclass import Stored
from evenly.space.parameters import Categorical, Integer
from evenly.space.space import Space

__all__ = ["Coding", "Inputs", "codes_of", "whole_where_near"]

#: Maximum relative rounding error of a number that is coded and decoded.
_ROUNDING = 1e-9


@dataclass(frozen=True)
class Inputs:
    """Coded configurations.

    Attributes
    ----------
    numbers : array (n, n_numeric)
        Coded numbers, in [-1, 1] for configurations inside the learned range.
    labels : int array (n, n_categorical)
        Index of each label among the labels of its parameter.
    sizes : tuple of int
        Number of labels of each categorical parameter.
    """

    numbers: Floats
    labels: Ints
    sizes: tuple[int, ...]

    def __len__(self) -> int:
        return len(self.numbers)

    def rows(self, which: Any) -> Inputs:
        """Return some of the configurations, selected by indices, a mask or a slice."""
        return Inputs(self.numbers[which], self.labels[which], self.sizes)

    @cached_property
    def one_hot(self) -> Floats:
        """One-hot coded labels, (n, sum of sizes)."""
        columns = [self.labels[:, [k]] == np.arange(size) for k, size in enumerate(self.sizes)]
        return np.hstack(columns).astype(np.float64) if columns else np.zeros((len(self), 0))

    @cached_property
    def matrix(self) -> Floats:
        """Coded numbers, then one-hot labels, (n, n_numeric + sum of sizes)."""
        return np.hstack([self.numbers, self.one_hot])

    @cached_property
    def beyond(self) -> Floats:
        """Distance of each configuration from the learned range, in half-ranges, (n,)."""
        return np.asarray(np.linalg.norm(np.maximum(np.abs(self.numbers) - 1, 0), axis=1), dtype=np.float64)


@dataclass(frozen=True)
class Coding(Stored):
    """The coding of each parameter: the scaled logarithm if all measured values are above zero, else the scaled value.

    Labels are coded by their index in a sorted list.

    Attributes
    ----------
    names : list of str
    kinds : list of {"log", "linear", "label"}
    centres, scales : lists of float
        A number x is coded as ``(log x - centre) / scale``, or ``(x - centre) / scale`` if it is linear. A parameter
        with a single value has scale 1.
    labels : list of lists
        Measured labels of each categorical parameter; empty for numbers.
    """

    names: list[str]
    kinds: list[str]
    centres: list[float]
    scales: list[float]
    labels: list[list[Any]]

    @classmethod
    def learn(cls, table: pd.DataFrame, space: Space) -> Coding:
        """Learn kinds, centres and scales from the measured values, a table (n_runs, n_parameters).

        Examples
        --------
        >>> table = pd.DataFrame({"cores": [1, 4, 16], "solver": ["cg", "gmres", "cg"]})
        >>> coding = Coding.learn(table, Space.from_data(table))
        >>> coding.inputs(table).matrix
        array([[-1.,  1.,  0.],
               [ 0.,  0.,  1.],
               [ 1.,  1.,  0.]])
        """
        # Sorted by name, so that the order of a table's columns changes nothing.
        coding = cls(sorted(space.names), [], [], [], [])
        for name in coding.names:
            kind, low, high, labels = "label", -1.0, 1.0, []
            if isinstance(space.parameters[name], Categorical):
                labels = sorted(pd.unique(table[name]).tolist(), key=str)
            else:
                x = table[name].to_numpy(dtype=np.float64)
                kind = "log" if x.min() > 0 else "linear"
                low, high = map(float, np.log([x.min(), x.max()]) if kind == "log" else (x.min(), x.max()))
            coding.kinds.append(kind)
            coding.centres.append((low + high) / 2)
            # A parameter of one value keeps scale 1, so that nothing is divided by zero.
            coding.scales.append((high - low) / 2 if high > low else 1.0)
            coding.labels.append(labels)
        return coding

    @property
    def sizes(self) -> tuple[int, ...]:
        """Number of labels of each categorical parameter."""
        return tuple(len(labels) for kind, labels in zip(self.kinds, self.labels, strict=True) if kind == "label")

    @property
    def numeric(self) -> list[str]:
        """Names of the numeric parameters."""
        return [name for name, kind in zip(self.names, self.kinds, strict=True) if kind != "label"]

    def inputs(self, table: pd.DataFrame) -> Inputs:
        """Return the coded inputs of a table of configurations (n, d).

        Raises
        ------
        InputError
            If a label wasn't measured, or a number isn't above zero although all measured ones were.
        """
        numbers, labels = [], []
        for n, (name, kind) in enumerate(zip(self.names, self.kinds, strict=True)):
            if kind == "label":
                labels.append(codes_of(table[name], self.labels[n]))
            else:
                numbers.append((self.transformed(n, table[name]) - self.centres[n]) / self.scales[n])
        return Inputs(
            np.column_stack(numbers) if numbers else np.zeros((len(table), 0)),
            np.column_stack(labels) if labels else np.zeros((len(table), 0), np.int64),
            self.sizes,
        )

    def inputs_of(self, matrix: Floats) -> Inputs:
        """Return the inputs whose `Inputs.matrix` is the given one, (n, n_numeric + sum of sizes)."""
        numbers = len(self.numeric)
        ends = numbers + np.cumsum([0, *self.sizes])
        labels = [np.argmax(matrix[:, a:b], axis=1) for a, b in itertools.pairwise(ends)]
        stacked = np.column_stack(labels) if labels else np.zeros((len(matrix), 0), np.int64)
        return Inputs(matrix[:, :numbers].copy(), stacked, self.sizes)

    def table(self, inputs: Inputs, space: Space) -> pd.DataFrame:
        """Decode inputs: return the table of configurations, with integer parameters rounded.

        Examples
        --------
        >>> table = pd.DataFrame({"cores": [1, 4, 16], "solver": ["cg", "gmres", "cg"]})
        >>> space = Space.from_data(table)
        >>> coding = Coding.learn(table, space)
        >>> coding.table(coding.inputs(table), space).equals(table)
        True
        """
        columns: dict[str, Any] = {}
        numbers, labels = iter(inputs.numbers.T), iter(inputs.labels.T)
        for n, (name, kind) in enumerate(zip(self.names, self.kinds, strict=True)):
            if kind == "label":
                columns[name] = [self.labels[n][code] for code in next(labels)]
                continue
            plain = next(numbers) * self.scales[n] + self.centres[n]
            values = np.exp(plain) if kind == "log" else plain
            whole = isinstance(space.parameters[name], Integer)
            columns[name] = np.round(values) if whole else whole_where_near(values)
        return space.frame(columns)

    def transformed(self, n: int, column: Any) -> Floats:
        """Return the logarithms of a column of the parameter with index n, or its values if it is linear."""
        x = np.asarray(column, dtype=np.float64)
        if self.kinds[n] != "log":
            return x
        if x.size and x.min() <= 0:
            raise InputError(
                f"{self.names[n]!r} was above zero in all measured runs and must stay so, but got {x.min()}"
            )
        return np.log(x)


def whole_where_near(values: Floats) -> Floats:
    """Round decoded numbers that are whole up to rounding errors, and return the others unchanged.

    Examples
    --------
    >>> whole_where_near(np.array([8.000000000001, 8.01]))
    array([8.  , 8.01])
    """
    near = np.round(values)
    return np.where(np.abs(values - near) <= _ROUNDING * np.abs(near), near, values)


def codes_of(column: pd.Series[Any], labels: Sequence[Any]) -> Ints:
    """Return the index of each value (n,) of a parameter among its measured labels.

    Raises
    ------
    InputError
        If a value wasn't measured.

    Examples
    --------
    >>> codes_of(pd.Series(["mpi", "serial", "mpi"]), ["serial", "mpi"]).tolist()
    [1, 0, 1]
    """
    codes = pd.Index(labels).get_indexer(pd.Index(column))
    unknown = np.flatnonzero(codes < 0)
    if len(unknown):
        raise InputError(
            f"{column.name!r} must be one of {', '.join(map(str, labels))}, which were measured, "
            f"but got {column.iloc[unknown[0]]!r}"
        )
    return np.asarray(codes, dtype=np.int64)
