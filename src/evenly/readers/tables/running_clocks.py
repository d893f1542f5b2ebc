"""Times that count on from the start of a job, over all its runs, instead of from the start of each run."""

from __future__ import annotations

import re
from collections.abc import Iterable

import numpy as np

from evenly.errors import ReadError, option_text
from evenly.readers.tables.roles import words_of
from evenly.readers.tables.values import Values
from evenly.runs.durations import parse

__all__ = ["counts_on", "refuse_running_clock"]

_SAID = re.compile(
    r"\b(?:(?:since|from) (?:the )?(?:start|beginning|launch)\b(?: of [^\W\d_]+(?: [^\W\d_]+)?)?|cumul\w+|accumulated|"
    r"kumul\w+|aufaddiert|seit (?:dem )?(?:start|beginn|anfang)|depuis le début|desde el (?:inicio|comienzo)|"
    r"acumulad\w+|dall'inizio)",
    re.IGNORECASE,
)
#: What may stand beside ``clock``, which is no wall clock and no clock rate then.
_BESIDE = frozenset({"time", "s", "sec", "seconds", "min", "minutes", "h", "hours", "ms", "job"})
#: In so many rows, growing times are no chance.
_FEWEST = 3


def counts_on(text: str) -> str:
    """Return the words of a name or a line that tell of times since the start of a job; "" if none do.

    Examples
    --------
    >>> counts_on("# seconds since the start of the job"), counts_on("Zeit kumuliert [s]"), counts_on("clock_s")
    ('since the start of the job', 'kumuliert', 'clock')
    >>> counts_on("wall clock [s]"), counts_on("time_s")
    ('', '')
    """
    if (match := _SAID.search(text.replace("_", " "))) is not None:
        return match[0]
    return "clock" if words_of(text) - _BESIDE == {"clock"} else ""


def refuse_running_clock(values: Values, column: str, told_by: Iterable[str]) -> None:
    """Ask whether times count on from the start of a job, if names or lines say so and they grow from row to row.

    Raises
    ------
    ReadError
        With the option that says that each is the time of its run.
    """
    said = next((said for text in told_by if (said := counts_on(text))), "")
    if not said or values.options.time is not None:
        return
    own = values.are_durations(column)
    times = np.array([parse(text, "mm:ss") for text in values.texts(column)]) if own else values.numbers(column)
    times = times[np.isfinite(times)]
    if len(times) < _FEWEST or not (np.diff(times) > 0).all():
        return
    raise ReadError(
        values.path,
        f"{said!r} tells that {column!r} may count on from the start of the job, for it grows from row to row. Give "
        f"the time of each run: the difference to the row above. If each is that of its run already, pass "
        f"time={column!r} ({option_text('--time', column)})",
    )
