"""A link: the time of a message from one rank to another.

A link has two numbers, latency and bandwidth, as in Hockney's model t = latency + size / bandwidth [R. W. Hockney, "The
communication challenge for MPP: Intel Paragon and Meiko CS-2", Parallel Computing 20 (1994) 389–398]. It may also have
a measured table of sizes and times, which shows where the MPI library changes its protocol.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields
from itertools import pairwise
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from evenly.arguments import explained
from evenly.errors import InputError, check_keys

__all__ = ["Link", "check_number"]


@explained
@dataclass(frozen=True)
class Link:
    """One-way time of a message between two otherwise idle ranks, as a function of its size.

    Parameters
    ----------
    latency_s : float
        Time of a message of almost no bytes, in seconds.
    bytes_per_s : float
        Bandwidth of large messages, in bytes per second; with a table, it is used only above the largest size.
    message_bytes : sequence of float, shape (n,)
        Sizes of the timed messages, ascending, in bytes; n is 2 or more. Empty where no messages were timed.
    message_s : sequence of float, shape (n,)
        One-way times of these messages, in seconds.

    Raises
    ------
    InputError
        If a number is invalid, or the numbers of sizes and times differ.

    Notes
    -----
    With a table, times are interpolated linearly in log size and log time. A message smaller than the smallest size
    takes the time of the smallest size. A larger one takes the time of the largest size and ``1 / bytes_per_s`` for
    each further byte.

    Examples
    --------
    >>> Link(1e-6, 1e9).seconds([0, 1000])
    array([1.e-06, 2.e-06])
    >>> Link(1e-6, 1e9, message_bytes=(10, 1000), message_s=(1e-6, 4e-6)).seconds([0, 100, 2000])
    array([1.e-06, 2.e-06, 5.e-06])
    """

    latency_s: float
    bytes_per_s: float
    message_bytes: tuple[float, ...] = ()
    message_s: tuple[float, ...] = ()

    def __post_init__(self) -> None:
        check_number("latency_s", self.latency_s, zero=True)
        check_number("bytes_per_s", self.bytes_per_s)
        for name in ("message_bytes", "message_s"):
            # A list from a file becomes a tuple, which can be compared and hashed.
            object.__setattr__(self, name, _numbers(name, getattr(self, name)))
        sizes, times = self.message_bytes, self.message_s
        if len(sizes) != len(times):
            raise InputError(
                f"message_bytes and message_s must be of one length, but got {len(sizes)} sizes and {len(times)} "
                "times: give the time of each size"
            )
        if len(sizes) == 1:
            raise InputError(
                "message_bytes must hold two sizes or more, but got 1: leave both lists out where only latency_s and "
                "bytes_per_s are known"
            )
        if any(a >= b for a, b in pairwise(sizes)):
            raise InputError(f"message_bytes must be ascending, but got {list(sizes)}: sort them, with their times")

    def seconds(self, size: ArrayLike) -> NDArray[np.float64]:
        """Return the one-way time of messages from their sizes, in seconds.

        Parameters
        ----------
        size : array_like, any shape
            Bytes of each message, 0 or more; an empty message still takes the latency.

        Returns
        -------
        array of the same shape

        Raises
        ------
        InputError
            If a size is below zero or no number.

        Examples
        --------
        >>> Link(1e-6, 1e9).seconds([[0], [8000]])
        array([[1.e-06],
               [9.e-06]])
        """
        sizes = np.asarray(size, dtype=np.float64)
        if not np.all(np.isfinite(sizes) & (sizes >= 0)):
            wrong = sizes[~(np.isfinite(sizes) & (sizes >= 0))].flat[0]
            raise InputError(f"size must be a number of bytes of at least 0, but got {wrong:g}")
        if not self.message_bytes:
            return np.asarray(self.latency_s + sizes / self.bytes_per_s)
        first, last = self.message_bytes[0], self.message_bytes[-1]
        inside = np.interp(
            np.log(np.clip(sizes, first, last)), np.log(self.message_bytes), np.log(self.message_s)
        )  # fmt: skip
        return np.asarray(np.exp(inside) + np.maximum(sizes - last, 0.0) / self.bytes_per_s)

    def to_dict(self) -> dict[str, Any]:
        """Return the values for JSON and TOML, without the two lists where no messages were timed.

        Examples
        --------
        >>> Link(1e-6, 1e9).to_dict()
        {'latency_s': 1e-06, 'bytes_per_s': 1000000000.0}
        """
        values = {"latency_s": self.latency_s, "bytes_per_s": self.bytes_per_s}
        tables = {"message_bytes": list(self.message_bytes), "message_s": list(self.message_s)}
        return {**values, **{name: table for name, table in tables.items() if table}}

    @classmethod
    def from_dict(cls, values: Mapping[str, Any], name: str = "link") -> Self:
        """Return a link from the mapping that `to_dict` returns.

        Parameters
        ----------
        values : mapping
        name : str
            Name of the link in error messages.

        Raises
        ------
        InputError
            If a key is unknown or missing, or a value is invalid.

        Examples
        --------
        >>> Link.from_dict({"latency_s": 1e-6, "bytes_per_s": 1e9})
        Link(latency_s=1e-06, bytes_per_s=1000000000.0, message_bytes=(), message_s=())
        """
        if not isinstance(values, Mapping):
            raise InputError(
                f"{name} must be a table, as {{ latency_s = 1e-6, bytes_per_s = 1e10 }}, but got {values!r}"
            )
        check_keys(name, values, [field.name for field in fields(cls)])
        for needed in ("latency_s", "bytes_per_s"):
            if needed not in values:
                raise InputError(f"{name} needs {needed}: give both latency_s and bytes_per_s")
        try:
            return cls(**values)
        except InputError as error:
            raise InputError(f"{name}: {error}") from None


def check_number(name: str, value: Any, *, whole: bool = False, zero: bool = False) -> None:
    """Raise an `InputError` if `value` is no finite number above zero (or, with `zero`, of at least zero).

    Examples
    --------
    >>> check_number("nodes", 0, whole=True)
    Traceback (most recent call last):
    evenly.errors.InputError: nodes must be a whole number above zero, but got 0
    """
    kinds = (int,) if whole else (int, float)
    number = isinstance(value, kinds) and not isinstance(value, bool) and math.isfinite(value)
    if not number or value < 0 or (value == 0 and not zero):
        allowed = "of at least zero" if zero else "above zero"
        raise InputError(f"{name} must be a {'whole ' if whole else ''}number {allowed}, but got {value!r}")


def _numbers(name: str, values: Any) -> tuple[float, ...]:
    if isinstance(values, str) or not isinstance(values, Iterable):
        raise InputError(f"{name} must be a list of numbers, but got {values!r}")
    given: list[Any] = list(values)
    for value in given:
        check_number(f"each of {name}", value)
    return tuple(float(value) for value in given)
