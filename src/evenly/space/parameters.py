"""The kinds of parameter that a `Space` is made of.

There are four kinds. `Integer` and `Real` lie between bounds. `Ordinal` is one of a list of numbers (an ocean model
that runs only on 480 or 960 cores). `Categorical` is one of a list of labels. ``scale="log"`` states that ratios
matter, not differences: sampling, grids and models then use the logarithm.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any, ClassVar, Final, Literal, get_args

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from evenly.arguments import explained
from evenly.errors import InputError
from evenly.space.configurations import as_label, as_labels, as_number_column, to_floats

__all__ = [
    "Categorical",
    "Integer",
    "Ordinal",
    "Parameter",
    "Real",
    "Scale",
    "as_labels",
    "as_values",
    "parameter_from_dict",
]

Scale = Literal["linear", "log"]
#: The largest allowed whole number: beyond it, float64, which tables and models use, skips whole numbers.
_LARGEST = 2**53
_MOST_VALUES = 100_000_000


class Parameter(ABC):
    """One parameter of a configuration: its kind and its allowed values.

    Every subclass must obey these laws:

    - `contains` is true for all entries of `values` (if not None), and for all results of `from_unit` on [0, 1).
    - For numeric kinds, `from_unit` is monotone.
    - ``parameter_from_dict(p.to_dict()) == p``.
    """

    kind: ClassVar[str]
    unit: str

    @abstractmethod
    def values(self) -> NDArray[Any] | None:
        """Return all allowed values, shape (n_values,), or None if there are infinitely many."""

    @abstractmethod
    def contains(self, column: pd.Series[Any]) -> NDArray[np.bool_]:
        """Return for each entry of `column` whether it is allowed, bool of shape (n,)."""

    @abstractmethod
    def from_unit(self, u: NDArray[np.float64], scale: Scale | None = None) -> NDArray[Any]:
        """Map numbers `u` in [0, 1) to allowed values, both of shape (n,); uniform `u` samples the parameter.

        `scale` overrides the scale of an `Integer` or `Real`; a log scale is ignored if the lower bound is not
        positive. All values of an `Ordinal` or `Categorical` are equally likely, whatever the scale.
        """

    @abstractmethod
    def describe(self) -> str:
        """Return the allowed values in words."""

    @abstractmethod
    def to_dict(self) -> dict[str, Any]:
        """Return a description that JSON can hold and `parameter_from_dict` reads."""


def _check_bounds(low: Any, high: Any, scale: str) -> None:
    if scale not in get_args(Scale):
        raise InputError(f"scale must be 'linear' or 'log', but got {scale!r}")
    if not (_is_number(low) and _is_number(high) and math.isfinite(low) and math.isfinite(high)):
        raise InputError(f"bounds must be finite numbers, but got {low!r} and {high!r}")
    if low > high:
        raise InputError(f"the lower bound must not exceed the upper one, but got {low} and {high}")
    if scale == "log" and low <= 0:
        raise InputError(f"a log scale needs bounds above 0, but got {low}: use scale='linear'")


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float | np.integer | np.floating) and not isinstance(value, bool | np.bool_)


@explained
@dataclass(frozen=True)
class Integer(Parameter):
    """A whole number from `low` to `high`, both included, in steps of `step` from `low`.

    Examples
    --------
    >>> Integer(1, 1024, scale="log").describe()
    'a whole number from 1 to 1024'
    >>> Integer(8, 32, step=8).values()
    array([ 8, 16, 24, 32])
    """

    kind: ClassVar[str] = "integer"
    low: int
    high: int
    scale: Scale = "linear"
    step: int = 1
    unit: str = ""

    def __post_init__(self) -> None:
        _check_bounds(self.low, self.high, self.scale)
        if int(self.low) != self.low or int(self.high) != self.high:
            raise InputError(f"an integer's bounds must be whole, but got {self.low} and {self.high}: use Real")
        if max(abs(self.low), abs(self.high)) > _LARGEST:
            raise InputError(f"an integer's bounds must lie within ±2^53, but got {self.low} and {self.high}: use Real")
        if not _is_number(self.step) or not 1 <= self.step <= _LARGEST or int(self.step) != self.step:
            raise InputError(f"step must be a whole number of at least 1, but got {self.step!r}")
        for name in ("low", "high", "step"):
            object.__setattr__(self, name, int(getattr(self, name)))

    def __len__(self) -> int:
        return (self.high - self.low) // self.step + 1

    def values(self) -> NDArray[np.int64]:
        if len(self) > _MOST_VALUES:
            raise InputError(
                f"{self.describe()} has {len(self)} values, too many to list: sample it, or raise its step"
            )
        return np.arange(self.low, self.high + 1, self.step, dtype=np.int64)

    def contains(self, column: pd.Series[Any]) -> NDArray[np.bool_]:
        x = to_floats(column)
        with np.errstate(invalid="ignore"):
            inside = (x >= self.low) & (x <= self.high) & (np.mod(x - self.low, self.step) == 0)
        return np.asarray(inside)

    def from_unit(self, u: NDArray[np.float64], scale: Scale | None = None) -> NDArray[np.int64]:
        count = len(self)
        if (scale or self.scale) == "log" and self.low > 0:
            # The density is uniform in log x over [low, last value + step). The value v represents [v, v + step), and
            # so has the mass log(1 + step / v); see `sampling_weights`.
            edges = math.log(self.low), math.log(self.low + self.step * count)
            x = np.exp(edges[0] + u * (edges[1] - edges[0]))
            index = np.floor((x - self.low) / self.step + 1e-12).astype(np.int64)
        else:
            index = np.floor(u * count).astype(np.int64)
        result: NDArray[np.int64] = self.low + self.step * np.clip(index, 0, count - 1)
        return result

    def sampling_weights(self, values: NDArray[np.int64], scale: Scale | None = None) -> NDArray[np.float64]:
        """Return the probability, up to a factor, that `from_unit` draws each of the allowed `values`, shape (n,)."""
        if (scale or self.scale) == "log" and self.low > 0:
            return np.asarray(np.log1p(self.step / np.asarray(values, dtype=np.float64)))
        return np.ones(len(values))

    def describe(self) -> str:
        steps = "" if self.step == 1 else f" in steps of {self.step}"
        return f"a whole number from {self.low} to {self.high}{steps}{_in_unit(self.unit)}"

    def to_dict(self) -> dict[str, Any]:
        return {"kind": self.kind, **asdict(self)}


@explained
@dataclass(frozen=True)
class Real(Parameter):
    """A real number from `low` to `high`, both included.

    Examples
    --------
    >>> Real(0.1, 10.0, scale="log").from_unit(np.array([0.5]))
    array([1.])
    """

    kind: ClassVar[str] = "real"
    low: float
    high: float
    scale: Scale = "linear"
    unit: str = ""

    def __post_init__(self) -> None:
        _check_bounds(self.low, self.high, self.scale)
        for name in ("low", "high"):
            object.__setattr__(self, name, float(getattr(self, name)))

    def values(self) -> NDArray[np.float64] | None:
        return np.array([self.low]) if self.low == self.high else None

    def contains(self, column: pd.Series[Any]) -> NDArray[np.bool_]:
        x = to_floats(column)
        with np.errstate(invalid="ignore"):
            return np.asarray((x >= self.low) & (x <= self.high))

    def from_unit(self, u: NDArray[np.float64], scale: Scale | None = None) -> NDArray[np.float64]:
        if (scale or self.scale) == "log" and self.low > 0:
            ratio = self.high / self.low
            result = self.low * ratio**u if math.isfinite(ratio) else self.low ** (1 - u) * self.high**u
        else:
            width = self.high - self.low
            result = self.low + u * width if math.isfinite(width) else self.low * (1 - u) + self.high * u
        return np.asarray(np.clip(result, self.low, self.high))

    def describe(self) -> str:
        return f"a number from {self.low:g} to {self.high:g}{_in_unit(self.unit)}"

    def to_dict(self) -> dict[str, Any]:
        return {"kind": self.kind, **asdict(self)}


class _Listed(Parameter):
    """Common base class of `Ordinal` and `Categorical`: a parameter with a list of allowed values."""

    def __init__(self, options: Sequence[Any], unit: str) -> None:
        if not options:
            raise InputError(f"{type(self).__name__} needs at least one value")
        if len(set(options)) != len(options):
            twice = ", ".join(repr(one) for one, count in Counter(options).items() if count > 1)
            raise InputError(f"{type(self).__name__} values must differ, but {twice} is there more than once")
        self.options: Final = tuple(options)
        self.unit = unit

    def __len__(self) -> int:
        return len(self.options)

    def from_unit(self, u: NDArray[np.float64], scale: Scale | None = None) -> NDArray[Any]:  # noqa: ARG002
        index = np.clip(np.floor(u * len(self.options)).astype(np.int64), 0, len(self.options) - 1)
        result: NDArray[Any] = self.values()[index]
        return result

    @abstractmethod
    def values(self) -> NDArray[Any]: ...

    def describe(self) -> str:
        shown = ", ".join(map(str, self.options[:12]))
        more = f", … ({len(self.options)} in all)" if len(self.options) > 12 else ""
        return f"one of {shown}{more}{_in_unit(self.unit)}"

    def __repr__(self) -> str:
        description = self.to_dict()
        settings = [f"scale={description['scale']!r}"] if description.get("scale", "linear") != "linear" else []
        settings += [f"unit={self.unit!r}"] if self.unit else []
        return f"{type(self).__name__}({', '.join([*map(repr, self.options), *settings])})"

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self) and self.to_dict() == other.to_dict()

    def __hash__(self) -> int:
        return hash((type(self), self.options, self.unit))


@explained
class Ordinal(_Listed):
    """One of a list of numbers, kept in increasing order.

    A number equals an allowed value if their relative difference is at most 1e-9, so that ``3 * 0.1`` counts as 0.3.

    Examples
    --------
    >>> Ordinal(480, 960, 1920, unit="cores").describe()
    'one of 480, 960, 1920 cores'
    """

    kind: ClassVar[str] = "ordinal"

    def __init__(self, *options: float, scale: Scale = "linear", unit: str = "") -> None:
        if not all(_is_number(x) and math.isfinite(x) for x in options):
            raise InputError(f"Ordinal values must be finite numbers, but got {list(options)}: use Categorical")
        numbers = [x.item() if isinstance(x, np.generic) else x for x in options]
        super().__init__(sorted(numbers), unit)
        _check_bounds(self.options[0], self.options[-1], scale)
        self.scale: Scale = scale

    def values(self) -> NDArray[Any]:
        return np.array(self.options)

    def contains(self, column: pd.Series[Any]) -> NDArray[np.bool_]:
        x, options = to_floats(column), self.values().astype(np.float64)
        after = np.clip(np.searchsorted(options, x), 0, len(options) - 1)
        with np.errstate(invalid="ignore"):
            near = [np.abs(x - options[i]) <= 1e-9 * np.abs(options[i]) for i in (after, np.maximum(after - 1, 0))]
        return np.asarray(near[0] | near[1])

    def to_dict(self) -> dict[str, Any]:
        return {"kind": self.kind, "values": list(self.options), "scale": self.scale, "unit": self.unit}


@explained
class Categorical(_Listed):
    """One of a list of labels without an order: text, numbers, truth values, or None.

    Examples
    --------
    >>> Categorical("amg", "ilu").describe()
    'one of amg, ilu'
    """

    kind: ClassVar[str] = "categorical"

    def __init__(self, *options: Any, unit: str = "") -> None:
        super().__init__([as_label(x) for x in options], unit)

    def values(self) -> NDArray[Any]:
        values = np.empty(len(self.options), dtype=object)
        values[:] = self.options
        return values

    def contains(self, column: pd.Series[Any]) -> NDArray[np.bool_]:
        known = dict.fromkeys(self.options, True)
        labels = as_labels(column)
        if set(labels.tolist()) <= known.keys():
            return np.ones(len(labels), dtype=np.bool_)
        return np.array([known.get(value, False) for value in labels], dtype=np.bool_)

    def to_dict(self) -> dict[str, Any]:
        return {"kind": self.kind, "values": list(self.options), "unit": self.unit}


def as_values(kind: Parameter, column: pd.Series[Any]) -> pd.Series[Any]:
    """Convert a column of any dtype to the dtype in which tables hold a parameter of this kind, shape (n,).

    Labels become plain Python objects. Values of an `Integer`, or of an `Ordinal` of whole numbers, become int64 if
    all entries are whole; all other numbers become float64.

    Raises
    ------
    InputError
        If an entry of a numeric parameter is not a finite number; the message names the row.

    Examples
    --------
    >>> as_values(Integer(1, 8), pd.Series(["4", 8.0], name="cores", dtype=object)).tolist()
    [4, 8]
    """
    if isinstance(kind, Categorical):
        options = {option: option for option in kind.options}
        # Few distinct labels fill many rows: look up each whole number only once.
        each, rows = _distinct(column)
        labels = as_labels(each)
        # A number may be asked where labels were read as text, as versions are.
        labels[:] = [options.get(label, options.get(str(label), label)) for label in labels]
        return pd.Series(labels if rows is None else labels[rows], name=column.name, dtype=object)
    numbers = as_number_column(column)
    whole = isinstance(kind, Integer) or (isinstance(kind, Ordinal) and kind.values().dtype.kind == "i")
    if whole and np.all((numbers == np.round(numbers)) & (np.abs(numbers) <= _LARGEST)):
        return pd.Series(numbers.astype(np.int64), name=column.name)
    return pd.Series(numbers, name=column.name)


def _distinct(column: pd.Series[Any]) -> tuple[pd.Series[Any], NDArray[np.intp] | None]:
    """Return the distinct values of an integer column, and their index for each row; any other column unchanged."""
    values = column.to_numpy()
    if values.dtype.kind not in "iu":
        return column, None
    each, rows = np.unique(values, return_inverse=True)
    return pd.Series(each), np.ravel(rows)


def _in_unit(unit: str) -> str:
    return f" {unit}" if unit else ""


def parameter_from_dict(description: dict[str, Any]) -> Parameter:
    """Build a parameter from the description that `Parameter.to_dict` returned.

    Examples
    --------
    >>> parameter_from_dict({"kind": "integer", "low": 1, "high": 8})
    Integer(low=1, high=8, scale='linear', step=1, unit='')
    """
    try:
        fields = dict(description)
        kind = fields.pop("kind", None)
        match kind:
            case "integer":
                return Integer(**fields)
            case "real":
                return Real(**fields)
            case "ordinal":
                return Ordinal(*fields.pop("values"), **fields)
            case "categorical":
                return Categorical(*fields.pop("values"), **fields)
    except (KeyError, TypeError, ValueError) as error:
        if isinstance(error, InputError):
            raise
        raise InputError(f"the description of a parameter is incomplete or wrong ({error}): {description!r}") from None
    raise InputError(f"kind must be integer, real, ordinal or categorical, but got {kind!r}")
