"""Columns that hold ratios of times, speed-ups and efficiencies, which tell no time by themselves."""

from __future__ import annotations

import re

import numpy as np
from numpy.typing import NDArray

from evenly.errors import ReadError, option_text
from evenly.readers.tables.columns import unit_of_time
from evenly.readers.tables.roles import words_of
from evenly.readers.tables.values import Values
from evenly.runs.count_names import kind_of

__all__ = ["ratio_of_times", "refuse_contradiction", "refuse_ratio"]

#: Of times by speed-ups, all but one are the same to 2 %, and that one is off by 10 % or more.
_SAME, _OFF, _FEWEST = 0.02, 0.1, 4

_EFFICIENCIES = frozenset({
    "efficiency", "eff", "effizienz", "efficacité", "efficacite", "eficiencia", "eficiência", "efficienza", "verim",
    "wirkungsgrad",
})  # fmt: skip
_SPEED_UPS = frozenset({
    "speedup", "speedups", "beschleunigung", "accélération", "aceleración", "aceleração", "accelerazione",
    "przyspieszenie", "hızlanma",
})  # fmt: skip
#: As in textbooks: E(p), S_p. Without a bracket or a line, it may be any name.
_TEXTBOOK = re.compile(r"(?P<what>[SE])\s*[(_]\s*[pPnN]\s*\)?")


def ratio_of_times(column: str) -> str:
    """Return which ratio of times a name means, efficiency or speed-up; "" if none.

    Examples
    --------
    >>> [ratio_of_times(name) for name in ("parallel efficiency [%]", "Speed-up", "S(p)", "eff. time [s]", "cores")]
    ['efficiency', 'speed-up', 'speed-up', '', '']
    """
    words, textbook = words_of(column), _TEXTBOOK.fullmatch(column.strip())
    if unit_of_time(column):
        return ""
    if words & _EFFICIENCIES or (textbook and textbook["what"] == "E"):
        return "efficiency"
    return "speed-up" if words & _SPEED_UPS or words >= {"speed", "up"} or textbook else ""


def refuse_ratio(values: Values, column: str) -> None:
    """Refuse to learn a time from a column if it holds ratios of times.

    An efficiency is no rate: in strong scaling, the time is one over the efficiency times the cores, but nothing in a
    table tells that its problem stayed the same.

    Raises
    ------
    ReadError
        With what the time is, as far as the column tells it.
    """
    ratio = ratio_of_times(column)
    if not ratio:
        return
    count = next((name for name in map(str, values.cells.columns) if kind_of(name)), "cores")
    way = "the time of the run that it is relative to, divided by the speed-up"
    if ratio == "efficiency":
        way = (
            f"t * n / ({count} * efficiency) where all runs have the same size, and t / efficiency where the size "
            f"grows with {count}, if the run with efficiency 1 took t on n {count}"
        )
    raise ReadError(
        values.path,
        f"{column!r} is {'an' if ratio == 'efficiency' else 'a'} {ratio} by its name, which is neither a time nor a "
        f"rate: add a column with the measured times, or with those that it tells: {way}",
    )


def refuse_contradiction(values: Values, time: str, seconds: NDArray[np.float64], measured: NDArray[np.bool_]) -> None:
    """Refuse one time that its speed-up contradicts, where all others are one time divided by their speed-ups.

    Parameters
    ----------
    values : Values
    time : str
        Its column.
    seconds : array (n_rows,)
    measured : bool array (n_rows,)
        The runs that ended well.

    Raises
    ------
    ReadError
        With the line and both numbers.
    """
    if values.options.time is not None:
        return
    for column in map(str, values.cells.columns):
        if column == time or ratio_of_times(column) != "speed-up" or not values.is_numeric(column):
            continue
        rows = np.flatnonzero(measured & (values.numbers(column) > 0))
        if len(rows) < _FEWEST:
            continue
        bases = seconds[rows] * values.numbers(column)[rows]
        off = np.abs(bases / np.median(bases) - 1)
        worst = int(np.argmax(off))
        if off[worst] < _OFF or np.ptp(others := np.delete(bases, worst)) > _SAME * others.min():
            continue
        row = int(rows[worst])
        raise values.at(
            row,
            f"the time {values.texts(time)[row]!r} and its {column} {values.texts(column)[row]!r} contradict each "
            f"other, as in no other row: correct the wrong one, or pass time={time!r} ({option_text('--time', time)}) "
            "if the time is right",
        )
