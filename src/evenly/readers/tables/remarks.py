"""Remarks that say that a run is none: it crashed, or was extrapolated, or its author doesn't trust it.

Such rows would be learned from, since a remark is no state. So they are asked about: a condition leaves them out.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

__all__ = ["not_a_run", "not_measured"]

#: What was never run: the whole remark, or its beginning.
_NOT_MEASURED = re.compile(
    r"\W*(?:extrapolated|estimated?|projected|predicted|interpolated|not (?:yet )?(?:run|measured)|hochgerechnet|"
    r"geschätzt|extrapoliert|vorhergesagt|estimé|extrapolé|prédit)\b(?:\W*$|\W+(?:from|by|with|value|time|runtime|aus|par)\b.*)",
    re.IGNORECASE,
)
#: What went wrong.
_WRONG = re.compile(
    r"seg(?:mentation )?fault|\bsegv\b|sigsegv|sigkill|core dumped|\bcrash(?:ed)?\b|\boom\b|out of memory|mpi_abort|"
    r"\babort(?:ed)?\b|\bkilled\b(?!-)|\bfailed\b|\bdie[ds]\b|\bdiverged\b|\boutlier\b|\bincomplete\b|\bhung\b|"
    r"node (?:went )?(?:down|fail\w*)|stopped early|only half|exit (?:code|status) [1-9]|signal \d|timed? ?out\b|"
    r"abgestürzt|abgebrochen|fehlgeschlagen|ungültig|ausreißer|unvollständig|planté|échou|incomplet|falló|incompleto",
    re.IGNORECASE,
)
#: What is no reason to doubt a run, though a word is there that would be.
_HARMLESS = re.compile(
    r"\b(?:no|not|never|without|earlier|fix(?:ed)?|good|ok|removed|test|model|criterion|i/o|old|previous|kein|nicht|ohne|"
    r"behoben|sans)\b",
    re.IGNORECASE,
)
#: What its author doesn't want to be used.
_UNWANTED = re.compile(
    r"do(?:n't| not) (?:use|trust)|^\W*(?:discard|ignore|invalid|wrong|bad|garbage)\b\W*(?:this|run|value|time|:|,|$)|"
    r"nicht (?:verwenden|benutzen)|ne pas utiliser|no usar",
    re.IGNORECASE,
)
#: Columns whose every mark leaves its row out.
_MARKS = frozenset({
    "outlier", "outliers", "exclude", "excluded", "skip", "discard", "ignore", "bad", "estimated", "extrapolated",
    "ausreißer", "ausschließen", "geschätzt",
})  # fmt: skip


def not_measured(cells: Sequence[str]) -> int | None:
    """Return the first row whose text says that it wasn't measured; None if none or all say so.

    Examples
    --------
    >>> not_measured(["measured", "extrapolated"]), not_measured(["fine", "coarse"])
    (1, None)
    """
    return _first(cells, lambda cell: _NOT_MEASURED.match(cell) is not None)


def not_a_run(name: str, cells: Sequence[str]) -> int | None:
    """Return the first row whose remark says that it isn't to be learned from; None if none or all say so.

    Parameters
    ----------
    name : str
        The column, in lower case.
    cells : sequence of str (n_rows,)
        Its text.

    Examples
    --------
    >>> not_a_run("comment", ["", "segfault", "new switch"]), not_a_run("outlier", ["", "", "x"])
    (1, 2)
    """
    if name in _MARKS:
        return _first(cells, lambda cell: cell.lower() not in ("", "0", "no", "false", "nein", "non", "-"))
    return _first(cells, _says_so)


def _says_so(cell: str) -> bool:
    if _UNWANTED.search(cell) or _NOT_MEASURED.match(cell):
        return True
    return bool(_WRONG.search(cell)) and _HARMLESS.search(cell) is None


def _first(cells: Sequence[str], says_so: Callable[[str], bool]) -> int | None:
    """Return the first row whose cell says so, unless all do."""
    distinct = set(cells)
    found = {cell for cell in distinct if says_so(cell)}
    return next(row for row, cell in enumerate(cells) if cell in found) if found and found != distinct else None
