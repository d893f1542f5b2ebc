"""Remarks that say that a run is none: it crashed, or was extrapolated, or its author doesn't trust it.

Such rows would be learned from, since a remark is no state. So they are asked about: a condition leaves them out.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

__all__ = ["not_a_run", "not_measured"]

#: What was never run.
_NOT_MEASURED = re.compile(
    r"extrapolat|estimat|projected|predicted|interpolat|not (?:yet )?(?:run|measured)|hochgerechnet|geschätzt|"
    r"extrapoliert|vorhergesagt|estimé|extrapolé|prédit",
    re.IGNORECASE,
)
#: What went wrong.
_WRONG = re.compile(
    r"segfault|segmentation|\bsegv\b|sigsegv|sigkill|core dumped|\bcrash|\boom\b|out of memory|mpi_abort|\babort|"
    r"\bkilled\b|\bfailed\b|\bdiverged|do not use|don't use|\binvalid\b|\boutlier|\bdiscard|\bignore\b|\bwrong\b|"
    r"abgestürzt|abgebrochen|abbruch|fehlgeschlagen|ungültig|nicht verwenden|ausreißer|planté|échou|échec|invalide",
    re.IGNORECASE,
)
#: Columns whose every mark leaves its row out.
_MARKS = frozenset({"outlier", "outliers", "exclude", "excluded", "skip", "discard", "ignore", "ausreißer"})


def not_measured(cells: Sequence[str]) -> int | None:
    """Return the first row whose text says that it wasn't measured; None if none or all say so.

    Examples
    --------
    >>> not_measured(["measured", "extrapolated"]), not_measured(["fine", "coarse"])
    (1, None)
    """
    return _first([bool(_NOT_MEASURED.search(cell)) for cell in cells])


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
        return _first([cell.lower() not in ("", "0", "no", "false", "nein", "non", "-") for cell in cells])
    return _first([bool(_NOT_MEASURED.search(cell) or _WRONG.search(cell)) for cell in cells])


def _first(told: Sequence[bool]) -> int | None:
    return told.index(True) if any(told) and not all(told) else None
