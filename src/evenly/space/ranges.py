"""Ranges of measured values: the smallest range that contains them, values outside a range, unions of ranges."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from evenly.errors import InputError
from evenly.space.configurations import as_labels, as_number_column, is_numeric, label_order
from evenly.space.parameters import Categorical, Integer, Ordinal, Parameter, Real, Scale, as_values

__all__ = ["beyond", "ends", "extent", "learned_on", "outside", "span", "union"]


def span(column: pd.Series[Any], *, unit: str = "", like: Parameter | None = None) -> Parameter:
    """Return the smallest parameter range that contains all values of `column`, shape (n,).

    Parameters
    ----------
    column : Series (n,)
        At least one value. Whole numbers become `Integer`, other numbers `Real`, all else `Categorical`. Numbers that
        are all positive get a log scale.
    unit : str
        The parameter's unit.
    like : Parameter, optional
        If given, its kind, scale and unit are used. Its log scale becomes linear if a value is not positive.

    Raises
    ------
    InputError
        If a number is missing or infinite (the message names the row), or an entry can't be a label.

    Examples
    --------
    >>> span(pd.Series([4, 16]))
    Integer(low=4, high=16, scale='log', step=1, unit='')
    >>> span(pd.Series([4, 16]), like=Categorical(4, 8, 16))
    Categorical(4, 16)
    """
    if isinstance(like, Categorical) or (like is None and not is_numeric(column)):
        return _labels(column, unit if like is None else like.unit)
    if like is None:
        numbers = as_number_column(column, what="parameter ")
        scale: Scale = "log" if numbers.min() > 0 else "linear"
        whole = bool(np.all((numbers == np.round(numbers)) & (np.abs(numbers) <= 2**53)))
        return _box(numbers, scale, unit, whole=whole)
    numbers = as_values(like, column).to_numpy()
    scale = getattr(like, "scale", "linear")
    if scale == "log" and numbers.min() <= 0:
        scale = "linear"
    if isinstance(like, Ordinal):
        return Ordinal(*np.unique(numbers).tolist(), scale=scale, unit=like.unit)
    return _box(numbers.astype(np.float64), scale, like.unit, whole=numbers.dtype.kind == "i")


def _box(numbers: NDArray[np.float64], scale: Scale, unit: str, *, whole: bool) -> Parameter:
    low, high = float(numbers.min()), float(numbers.max())
    return Integer(int(low), int(high), scale=scale, unit=unit) if whole else Real(low, high, scale=scale, unit=unit)


def _labels(column: pd.Series[Any], unit: str) -> Categorical:
    try:
        return Categorical(*sorted(dict.fromkeys(as_labels(column)), key=label_order), unit=unit)
    except InputError as error:
        raise InputError(f"parameter {column.name!r}: {error}") from None


def beyond(kind: Parameter, column: pd.Series[Any]) -> NDArray[np.bool_]:
    """Return which entries, bool of shape (n,), lie outside the bounds of `kind`, or are not among its labels.

    Examples
    --------
    >>> beyond(Ordinal(480, 960), pd.Series([500, 1000]))
    array([False,  True])
    """
    match kind:
        case Integer() | Real() | Ordinal():
            low, high = map(float, ends(kind))
        case _:
            return ~kind.contains(column)
    x = column.to_numpy(dtype=np.float64)
    slack = 1e-12 * max(abs(low), abs(high))
    return np.asarray((x < low - slack) | (x > high + slack))


def outside(parameters: Mapping[str, Parameter], table: pd.DataFrame) -> dict[str, NDArray[np.bool_]]:
    """Return for each parameter which rows of `table` are outside its bounds, bool of shape (n,).

    Parameters without such rows are omitted.

    Examples
    --------
    >>> outside({"cores": Integer(1, 8), "n": Integer(1, 9)}, pd.DataFrame({"cores": [4, 16], "n": [1, 2]}))
    {'cores': array([False,  True])}
    """
    found = {name: beyond(kind, table[name]) for name, kind in parameters.items()}
    return {name: mask for name, mask in found.items() if mask.any()}


def union(kinds: Sequence[Parameter], column: pd.Series[Any]) -> Parameter:
    """Return a parameter that allows every value that one of `kinds` allows.

    Parameters
    ----------
    kinds : sequence of Parameter
        At least one parameter. The result has the scale and unit of the first one.
    column : Series (n,)
        The values of all tables. If only some of `kinds` are `Categorical`, these values become the labels.

    Examples
    --------
    >>> union([Integer(1, 4, scale="log", unit="cores"), Integer(2, 16)], pd.Series([1, 4, 2, 16]))
    Integer(low=1, high=16, scale='log', step=1, unit='cores')
    """
    first = kinds[0]
    if all(kind == first for kind in kinds):
        return first
    labels = [kind for kind in kinds if isinstance(kind, Categorical)]
    if labels and len(labels) < len(kinds):
        return span(column, like=labels[0])
    if labels:
        return Categorical(*_all_options(labels), unit=first.unit)
    low, high = min(ends(kind)[0] for kind in kinds), max(ends(kind)[1] for kind in kinds)
    scale: Scale = "log" if getattr(first, "scale", "linear") == "log" and low > 0 else "linear"
    ordinals = [kind for kind in kinds if isinstance(kind, Ordinal)]
    if len(ordinals) == len(kinds):
        return Ordinal(*_all_options(ordinals), scale=scale, unit=first.unit)
    if any(isinstance(kind, Real) or not all(float(end).is_integer() for end in ends(kind)) for kind in kinds):
        return Real(low, high, scale=scale, unit=first.unit)
    return Integer(int(low), int(high), scale=scale, step=_common_step(kinds, int(low)), unit=first.unit)


def _all_options(kinds: Sequence[Categorical] | Sequence[Ordinal]) -> list[Any]:
    return list(dict.fromkeys(option for kind in kinds for option in kind.options))


def ends(kind: Parameter) -> tuple[float, float]:
    """Return the smallest and largest value of a numeric parameter.

    Examples
    --------
    >>> ends(Ordinal(960, 480))
    (480, 960)
    """
    if isinstance(kind, Integer | Real):
        return kind.low, kind.high
    options = kind.values()
    return (options[0].item(), options[-1].item()) if options is not None else (-math.inf, math.inf)


def extent(kind: Parameter) -> str:
    """Return the values of a parameter in few words, for messages on what was measured.

    Examples
    --------
    >>> extent(Integer(16, 64)), extent(Categorical("cg", "amg"))
    ('16 … 64', 'cg, amg')
    """
    if isinstance(kind, Categorical):
        shown = ", ".join(map(str, kind.options[:12]))
        return f"{shown}, … ({len(kind.options)} in all)" if len(kind.options) > 12 else shown
    low, high = ends(kind)
    return f"{low:.6g}" if low == high else f"{low:.6g} … {high:.6g}"


def learned_on(kind: Parameter) -> str:
    """Return what a model learned a parameter on, for messages on a value outside; of a label, what stands for it.

    Examples
    --------
    >>> learned_on(Integer(16, 64)), learned_on(Categorical("cg", "amg"))
    ('learned on 16 … 64', 'learned on cg, amg: their mean stands for it')
    """
    return f"learned on {extent(kind)}" + (": their mean stands for it" if isinstance(kind, Categorical) else "")


def _common_step(kinds: Sequence[Parameter], low: int) -> int:
    parts = [n for kind in kinds if isinstance(kind, Integer) for n in (kind.step, kind.low - low)]
    return math.gcd(*parts) if all(isinstance(kind, Integer) for kind in kinds) else 1
