"""What Slurm writes as text, as numbers: durations, dates, sizes, states. Each distinct text is parsed once."""

from __future__ import annotations

import re
from collections.abc import Callable

import numpy as np
import pandas as pd
from numpy.typing import NDArray

__all__ = ["NO_LIMIT", "STATES", "dates", "durations", "each", "sizes", "state"]

Floats = NDArray[np.float64]
_DURATION = re.compile(r"(?:(\d+)-)?(?:(\d+):)?(\d+):(\d+(?:\.\d+)?)")
_SIZE = re.compile(r"(\d+(?:\.\d+)?)\s*([KMGTPE]?)i?B?([cn]?)", re.IGNORECASE)
_FACTORS = {letter: 1024.0**power for power, letter in enumerate(("", "K", "M", "G", "T", "P", "E"))}
#: What stands where there is no value.
_NONE = ("", "none", "unknown", "n/a", "invalid", "none assigned", "nan")
#: Slurm writes such sizes where it knows none.
_NONSENSE = 1024.0**5
#: What stands where a job has no time limit of its own.
NO_LIMIT = ("unlimited", "partition_limit", "infinite", "unbegrenzt", "illimité", "ilimitado", "illimitato")
#: Slurm's words for the state of a job, and its codes of two letters.
STATES = {
    "COMPLETED": "CD", "TIMEOUT": "TO", "DEADLINE": "DL", "FAILED": "F", "CANCELLED": "CA", "NODE_FAIL": "NF",
    "OUT_OF_MEMORY": "OOM", "PREEMPTED": "PR", "BOOT_FAIL": "BF", "LAUNCH_FAILED": "LF", "REVOKED": "RV",
    "RUNNING": "R", "PENDING": "PD", "SUSPENDED": "S", "REQUEUED": "RQ", "REQUEUE_HOLD": "RH", "RESIZING": "RS",
    "COMPLETING": "CG", "CONFIGURING": "CF", "STOPPED": "ST", "SPECIAL_EXIT": "SE",
}  # fmt: skip
_CODES = {code: word for word, code in STATES.items()}


def each(texts: pd.Series[str], parse: Callable[[str], float]) -> Floats:
    """Return the number of each text, shape (n,); `parse` is called once for each distinct text.

    Raises
    ------
    ValueError
        If `parse` does; its second argument is the label of the first row with that text.

    Examples
    --------
    >>> each(pd.Series(["1", "2", "1"]), float)
    array([1., 2., 1.])
    """
    codes, distinct = pd.factorize(texts)
    numbers = np.full(len(distinct) + 1, np.nan)
    for i, text in enumerate(distinct):
        try:
            numbers[i] = parse(str(text).strip())
        except ValueError as error:
            raise ValueError(str(error), texts.index[int(np.argmax(codes == i))]) from None
    return numbers[codes]


def durations(texts: pd.Series[str]) -> Floats:
    """Return seconds from Slurm's durations, shape (n,); NaN where there is none, infinity without a limit.

    Examples
    --------
    >>> durations(pd.Series(["00:17:46", "5-00:00:26", "02:00.355", "UNLIMITED", ""])).tolist()
    [1066.0, 432026.0, 120.355, inf, nan]
    """
    return each(texts, _duration)


def _duration(text: str) -> float:
    found = _DURATION.fullmatch(text)
    if found:
        days, hours, minutes, seconds = (float(part or 0) for part in found.groups())
        return 86_400 * days + 3600 * hours + 60 * minutes + seconds
    if text.lower() in NO_LIMIT:
        return np.inf
    if text.lower() in _NONE:
        return np.nan
    raise ValueError(f"a duration such as 1-02:03:04 was expected, but got {text!r}")


def dates(texts: pd.Series[str]) -> Floats:
    """Return seconds since 1970 from dates as 2024-06-24T12:33:26, shape (n,); NaN where there is none.

    Examples
    --------
    >>> dates(pd.Series(["1970-01-02T00:00:01", "Unknown"]))
    array([86401.,    nan])
    """
    codes, distinct = pd.factorize(texts)
    known = pd.Series(distinct, dtype=object)
    found = pd.to_datetime(known, format="%Y-%m-%dT%H:%M:%S", errors="coerce")
    wrong = found.isna() & ~known.str.strip().str.lower().isin(_NONE)
    if wrong.any():
        first = int(np.flatnonzero(wrong)[0])
        row = texts.index[int(np.argmax(codes == first))]
        reason = (
            f"a date such as 2024-06-24T12:33:26 was expected, but got {known[first]!r}: if another program wrote it "
            "so, read the file as a table, with --format table"
        )
        raise ValueError(reason, row)
    seconds = (found - pd.Timestamp(0)).dt.total_seconds().to_numpy(dtype=np.float64)
    return np.append(seconds, np.nan)[codes]


def sizes(texts: pd.Series[str], cores: Floats, nodes: Floats) -> Floats:
    """Return bytes from sizes as ``4Gc`` (for each core), ``100Gn`` (for each node) or ``12.5M``, shape (n,).

    Examples
    --------
    >>> sizes(pd.Series(["4Gc", "1Gn", "12K", "0", "?"]), np.full(5, 8.0), np.full(5, 2.0)) / 1024**3
    array([3.20000000e+01, 2.00000000e+00, 1.14440918e-05,            nan,
                      nan])
    """
    clean = texts.astype(object).fillna("").astype(str).str.strip()
    size = each(clean, _size)
    letter = clean.str[-1:].str.lower()
    times = np.where(letter == "c", cores, np.where(letter == "n", nodes, 1.0))
    total = size * times
    return np.asarray(np.where((total > 0) & (total < _NONSENSE), total, np.nan))


def _size(text: str) -> float:
    found = _SIZE.fullmatch(text)
    return float(found[1]) * _FACTORS[found[2].upper()] if found else np.nan


def state(text: str) -> str:
    """Return a state without what Slurm adds to it, and whole where a column cut it off.

    Examples
    --------
    >>> state("CANCELLED by 12345"), state("CANCELLED+"), state("OUT_OF_ME+"), state("TO"), state("odd")
    ('CANCELLED', 'CANCELLED', 'OUT_OF_MEMORY', 'TIMEOUT', 'odd')
    """
    word = text.strip().split(" ")[0]
    if word.endswith("+"):
        whole = [known for known in STATES if known.startswith(word[:-1])]
        return whole[0] if len(whole) == 1 else word[:-1]
    return _CODES.get(word, word)
