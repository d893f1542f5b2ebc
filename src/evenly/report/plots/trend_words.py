"""A short description of a line for a title: how fast it falls or grows, and where its minimum is."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from evenly.report.formatting import compact, value_text
from evenly.report.slices import Line

__all__ = ["quantity_name", "trend"]

_FLAT = 1.05
_STRAIGHT = 0.25
_LEVEL = 0.05


def quantity_name(response: dict[str, str]) -> str:
    """Return the name of a model's response for people.

    Examples
    --------
    >>> quantity_name({"name": "seconds", "unit": "s"}), quantity_name({"name": "peak_memory", "unit": "B"})
    ('time', 'peak memory')
    """
    return "time" if response["name"] == "seconds" else response["name"].replace("_", " ")


def trend(line: Line, parameter: str, quantity: str = "time") -> str:
    """Describe in words how a line depends on a parameter over the training range.

    Parameters
    ----------
    line : Line
        A model along one parameter.
    parameter, quantity : str
        The names of the axes.

    Examples
    --------
    >>> x = np.geomspace(1, 100, 50)
    >>> line = Line(x, 8 / x, 7 / x, 9 / x, np.ones(50, dtype=bool))
    >>> trend(line, "cores")
    'time falls as cores$^{-1.00}$'
    """
    x, value = line.x[line.inside], line.value[line.inside]
    if len(x) < 2:
        return f"{quantity} at {parameter} = {value_text(x[0]) if len(x) else '?'}"
    if not np.issubdtype(x.dtype, np.number):
        return _of_labels(x, value, parameter, quantity)
    if value.max() < _FLAT * value.min():
        return f"{quantity} hardly depends on {parameter}"
    lowest = int(np.argmin(value))
    if min(value[0], value[-1]) > _FLAT * value[lowest]:
        best = compact(float(x[lowest]), 2)
        return f"{'fastest' if quantity == 'time' else f'least {quantity}'} near {parameter} = {best}"
    verb = "falls" if value[-1] < value[0] else "grows"
    if x[0] <= 0:
        times = max(value[-1], value[0]) / min(value[-1], value[0])
        return f"{quantity} {verb} {compact(float(times), 2)}-fold with {parameter}"
    return f"{quantity} {verb} as {_powers(np.log(x.astype(np.float64)), np.log(value), parameter)}"


def _of_labels(x: NDArray[Any], value: NDArray[np.float64], parameter: str, quantity: str) -> str:
    order = np.argsort(value)
    times = compact(float(value[order[-1]] / value[order[0]]), 2)
    if value.max() < _FLAT * value.min():
        return f"{quantity} hardly depends on {parameter}"
    return f"{quantity} with {x[order[-1]]} is {times} times that with {x[order[0]]}"


def _powers(log_x: NDArray[np.float64], log_value: NDArray[np.float64], parameter: str) -> str:
    """Return the power law as text, with two exponents if the exponent changes from one end to the other."""
    name = parameter.replace("$", r"\$")
    part = max(2, len(log_x) // 5)
    first = float(np.polyfit(log_x[:part], log_value[:part], 1)[0])
    last = float(np.polyfit(log_x[-part:], log_value[-part:], 1)[0])
    if abs(last - first) < _STRAIGHT:
        return f"{name}$^{{{np.polyfit(log_x, log_value, 1)[0]:.2f}}}$"
    if abs(last) < _LEVEL:
        return f"{name}$^{{{first:.2f}}}$, then flattens out"
    how = "flattening" if abs(last) < abs(first) else "steepening"
    return f"{name}$^{{{first:.2f}}}$, {how} to {name}$^{{{last:.2f}}}$"
