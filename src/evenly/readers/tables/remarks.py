"""Remarks that say that a run is none: it crashed, or was extrapolated, or its author doesn't trust it.

Such rows would be learned from, since a remark is no state. So they are asked about: a condition leaves them out. Words
tell of runs that were never made, or that their author doesn't want. That a run went wrong is told by its time, too: no
list of words is whole, and a word as "failed" may mean something else. So where the other runs tell the law, a remark
counts if its run lies off it, whatever the words are, and a word of failure doesn't count if its run lies on it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Sequence

import numpy as np
import pandas as pd
from numpy.typing import NDArray

__all__ = [
    "first_to_say",
    "is_mark",
    "is_wrong",
    "not_measured",
    "not_used",
    "off_the_law",
    "plain_text",
    "quoted_texts",
    "tells_another",
    "unused_lines",
]

#: What was never run: the whole remark, or its beginning.
_NOT_MEASURED = re.compile(
    r"\W*(?:(?:extrapolated|calculated|estimated?|projected|predicted|interpolated|assumed|"
    r"not (?:yet )?(?:run|measured)|hochgerechnet|geschätzt|extrapoliert|vorhergesagt|"
    r"angenommen|estimé|extrapolé|prédit|supposé)\b"
    r"(?:\W*$|\W+(?:from|by|with|value|time|runtime|aus|par)\b.*)"
    r"|ideal(?: (?:scaling|speed-?up|value|time))?(?: assumed)?\W*$"
    r"|(?:from|by) (?:the |a |an? )?(?:fit|model|theory|formula|paper|literature|brochure|vendor|amdahl|data ?sheet)"
    r"\b.*"
    r"|(?:literature|vendor'?s?|theoretical|fitted|modell?ed) (?:value|number|time|figure)s?\W*$)",
    re.IGNORECASE,
)
#: Where rows come from that nobody ran.
_FROM_THEORY = re.compile(
    r"(?:amdahl'?s? )?(?:model(?:led|ed)?|theory|theoretical|theorie|ideal|fit(?:ted)?|calculated|computed|berechnet|"
    r"calculé|guess|vendor|datasheet|literature|paper)",
    re.IGNORECASE,
)
#: What went wrong.
_WRONG = re.compile(
    r"seg(?:mentation )?fault|\bsegv\b|sigsegv|sigkill|core dumped|\bcrash(?:ed)?\b|\boom\b|out of memory|mpi_abort|"
    r"\babort(?:ed)?\b|\bkilled\b(?!-)|\bfailed\b|\bdie[ds]\b|\bdiverged\b|\boutlier\b|\bincomplete\b|\bhung\b|"
    r"node (?:went )?(?:down|fail\w*)|stopped (?:early|after|at)|(?:only|just) (?:a )?half|"
    r"half (?:of )?(?:the )?(?:steps|iterations|time|run)|interrupted|unfinished|partial (?:run|output|result)|"
    r"(?:not|didn'?t) (?:finish|complete|converge)\w*|exit (?:code|status) [1-9]|signal \d|timed? ?out\b|"
    r"wall ?time exceeded|"
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
#: What tells that a run is another one than those beside it.
_WHAT = (
    r"machines?|clusters?|systems?|partitions?|computers?|cpus?|processors?|queues?|compilers?|versions?|builds?|"
    r"mesh(?:es)?|grids?|resolutions?|inputs?|cases?|domains?|set-?ups?|rechner\w*|maschinen?|gitter\w*|netz\w*|"
    r"auflösung|eingabe\w*|maillages?|résolution|mallas?|máquinas?|resolución|versión|macchin[ae]|griglia"
)
_ANOTHER = re.compile(
    r"\b(?:instead of|rather than|in place of|(?:an)?statt|anstelle|au lieu d\w*|en (?:lugar|vez) de|invece di)\b"
    r"|\b(?:other|another|different|old(?:er)?|new(?:er)?|previous|former|second|finer?|coarser?|ander\w*|alte\w*|neue\w*|"
    r"fein\w*|grob\w*|autre|ancien\w*|nouve\w*|otr[oa]|viej[oa]|altr[oa]|vecchi[oa])"
    rf"\W+(?:\w+\W+)?(?:{_WHAT})\b"
    r"|\b(?:still|also|only|measured|ran|run|done|noch|gemessen|encore|mesuré)\s+(?:on|at|auf|sur|en|su)\s+"
    r"(?!(?:mon|tues?|wednes|thurs|fri|satur|sun)day)(?-i:[A-Z])\w{3,}",
    re.IGNORECASE,
)
#: So many texts are quoted, each up to so many characters; of longer ones, so many of the end.
_MOST, _LONGEST, _END = 4, 160, 60
#: What may tell more than a title does.
_TELLING = re.compile(
    r"\d|\b(?:per|each|every|not|only|except|instead|same|without|after|before|half|je|pro|nur|nicht|ohne|nach|par|sans|"
    r"chaque|por|sin|cada)\b",
    re.IGNORECASE,
)
_LETTERS = re.compile(r"[^\W\d_]{2,}")
#: A number with one letter before it.
_NAMED_NUMBER = re.compile(r"[^\W\d_]\s*[=:]?\s*\d.*")
#: How far off a straight line a run may be, in logarithms, since the law bends.
_BENT = np.log(4.0)
#: Columns whose every mark leaves its row out.
_MARKS = frozenset({
    "outlier", "outliers", "exclude", "excluded", "skip", "discard", "ignore", "bad", "estimated", "extrapolated",
    "ausreißer", "ausschließen", "geschätzt",
})  # fmt: skip


def not_measured(cells: Sequence[str], *, origin: bool = False) -> int | None:
    """Return the first row whose text says that it wasn't measured; None if none or all say so.

    In a column of the `origin` of rows, ``model`` says so, too.

    Examples
    --------
    >>> not_measured(["measured", "extrapolated"]), not_measured(["fine", "coarse"])
    (1, None)
    >>> not_measured(["run", "model"], origin=True), not_measured(["run", "model"])
    (1, None)
    """
    return first_to_say(
        cells, lambda cell: bool(_NOT_MEASURED.match(cell) or (origin and _FROM_THEORY.fullmatch(cell)))
    )


def not_used(name: str, cells: Sequence[str]) -> int | None:
    """Return the first row that its author doesn't want, or that was never run; None if none or all are so.

    Parameters
    ----------
    name : str
        The column, in lower case.
    cells : sequence of str (n_rows,)
        Its text.

    Examples
    --------
    >>> not_used("comment", ["", "do not use", "new switch"]), not_used("outlier", ["", "", "x"])
    (1, 2)
    """
    if is_mark(name):
        return first_to_say(cells, lambda cell: cell.lower() not in ("", "0", "no", "false", "nein", "non", "-"))
    return first_to_say(cells, lambda cell: bool(_UNWANTED.search(cell) or _NOT_MEASURED.match(cell)))


def is_mark(name: str) -> bool:
    """Tell whether a column, by its name in lower case, marks runs that its author doesn't want.

    Examples
    --------
    >>> is_mark("outlier"), is_mark("comment")
    (True, False)
    """
    return name in _MARKS


def is_wrong(cell: str) -> bool:
    """Tell whether the words of a remark are those of a run that went wrong.

    Examples
    --------
    >>> is_wrong("segfault"), is_wrong("crash test"), is_wrong("new switch")
    (True, False, False)
    """
    return bool(_WRONG.search(cell)) and _HARMLESS.search(cell) is None


def tells_another(text: str) -> bool:
    """Tell whether a remark says that a run is of another machine, mesh or version than those beside it.

    Examples
    --------
    >>> tells_another("T63 instead of T127"), tells_another("measured on the old machine"), tells_another("rerun")
    (True, True, False)
    >>> tells_another("still on Mistral"), tells_another("done on Monday")
    (True, False)
    """
    return _ANOTHER.search(text) is not None


def quoted_texts(texts: Sequence[str]) -> str:
    """Return the first texts in quotes, without the middle of long ones, and how many more there are.

    Examples
    --------
    >>> quoted_texts(["rerun", "on a Monday", "a", "b", "c"])
    "'rerun', 'on a Monday', 'a', 'b' and 1 more"
    """
    shown = ", ".join(repr(_cut(text)) for text in texts[:_MOST])
    return f"{shown} and {len(texts) - _MOST} more" if len(texts) > _MOST else shown


def _cut(text: str) -> str:
    if len(text) <= _LONGEST:
        return text
    return f"{text[: _LONGEST - _END].rpartition(' ')[0]} … {text[-_END:].partition(' ')[2]}"


def unused_lines(lines: Sequence[str], counts: Collection[str] = (), *, beside: str = "the table") -> str:
    """Return a note that quotes the text beside a table, what may tell most first; "" if there is none.

    Lines that name one of the table's `counts`, as its numbers of cores, come first.

    Examples
    --------
    >>> unused_lines(["# Wing, run by Ada", "# for 10 days", "# 256: on 128 physical cores", "# ---"], {"128", "256"})
    "text beside the table, which was not used: '256: on 128 physical cores', 'for 10 days', 'Wing, run by Ada'"
    """
    texts = list(dict.fromkeys(line for line in map(plain_text, lines) if _says(line)))
    texts.sort(
        key=lambda line: (
            set(re.findall(r"\d+", line)).isdisjoint(counts),
            _TELLING.search(line) is None,
            len(_LETTERS.findall(line)) < 2,
        )
    )
    return f"text beside {beside}, which was not used: {quoted_texts(texts)}" if texts else ""


def plain_text(line: str) -> str:
    """Return a line of text without the marks of comments and headings around it.

    Examples
    --------
    >>> plain_text("# 4M cells"), plain_text("*** Results ***"), plain_text("<!-- on two racks -->")
    ('4M cells', 'Results', 'on two racks')
    """
    return line.strip().removeprefix("<!--").strip("#%/!*-=|> ")


def _says(line: str) -> bool:
    """Tell whether a line says something: two words, or what a number is of (``4M cells``, ``n = 4``, ``v1.3``)."""
    words = len(_LETTERS.findall(line))
    return words > 1 or (words == 1 and any(map(str.isdigit, line))) or _NAMED_NUMBER.fullmatch(line) is not None


def off_the_law(
    parameters: pd.DataFrame, seconds: NDArray[np.float64], remarked: NDArray[np.bool_]
) -> NDArray[np.float64]:
    """Return how far each run lies off the law of those without a remark, in logarithms, (n_rows,); NaN if unknown.

    The law is a parabola in the logarithms of numbers, with a factor for each label. Where runs scatter around it, only
    what is beyond three times their scatter counts. Few runs of one parameter tell a straight line; what a parabola
    may add to it, up to four times, doesn't count then. Between two of them, a run has a time between theirs.

    Parameters
    ----------
    parameters : DataFrame (n_rows, n_parameters)
    seconds : array (n_rows,)
    remarked : bool array (n_rows,)
        Which rows have a remark.

    Examples
    --------
    >>> cores = pd.DataFrame({"cores": [4, 8, 16, 32, 64, 128]})
    >>> seconds = np.array([100, 50, 25, 12.5, 0.3, 3.1])
    >>> off_the_law(cores, seconds, np.array([0, 0, 0, 0, 1, 0], dtype=bool)).round(1).tolist()
    [0.0, 0.0, 0.0, 0.0, 3.0, 0.0]
    """
    usable = np.isfinite(seconds) & (seconds > 0)
    known = usable & ~remarked
    logs = np.log(np.where(usable, seconds, 1.0))
    # The law of several parameters has many forms: only a table of many rows can tell that a run is off it.
    freedom = 2 if parameters.shape[1] == 1 else 5
    law = _law(_design(parameters), logs, known, freedom)
    if law is not None:
        return np.where(usable, np.maximum(np.abs(logs - law[0]) - 3 * law[1], 0.0), np.nan)
    if parameters.shape[1] != 1:
        return np.full(len(seconds), np.nan)
    outside = _outside_neighbours(parameters.iloc[:, 0], logs, known)
    law = _law(_design(parameters, curved=False), logs, known, 1)
    apart = np.full(len(seconds), np.nan) if law is None else np.abs(logs - law[0]) - 3 * law[1]
    # On such a line, nothing is sure to be on the law: what isn't far off it, or off its neighbours, is unknown.
    return np.where(usable & (apart > _BENT), apart, np.where(usable & (outside > 0), outside, np.nan))


def _outside_neighbours(column: pd.Series, logs: NDArray[np.float64], known: NDArray[np.bool_]) -> NDArray[np.float64]:
    """Return how far each run lies outside the times of the next known ones below and above, (n_rows,).

    It is in logarithms; 0 between them, and where one of them is missing.
    """
    x = pd.to_numeric(column, errors="coerce").to_numpy(dtype=np.float64)
    found = np.zeros(len(logs))
    for row in np.flatnonzero(np.isfinite(x)):
        below, above = x[known & (x < x[row])], x[known & (x > x[row])]
        if len(below) and len(above):
            ends = logs[known & ((x == below.max()) | (x == above.min()))]
            found[row] = max(logs[row] - ends.max(), ends.min() - logs[row], 0.0)
    return found


def _law(
    design: NDArray[np.float64], logs: NDArray[np.float64], known: NDArray[np.bool_], freedom: int
) -> tuple[NDArray[np.float64], float] | None:
    """Return the law of the known runs at all rows, and their scatter; None where too few runs tell it."""
    rank = np.linalg.matrix_rank(design)
    if known.sum() < design.shape[1] + freedom or np.linalg.matrix_rank(design[known]) < rank:
        return None
    law = design @ np.linalg.lstsq(design[known], logs[known], rcond=None)[0]
    return law, float(np.sqrt(np.sum((logs - law)[known] ** 2) / (known.sum() - rank)))


def _design(parameters: pd.DataFrame, *, curved: bool = True) -> NDArray[np.float64]:
    """Return the columns of the law, (n_rows, n_columns): a parabola where three values are known, else a line."""
    columns = [np.ones(len(parameters))]
    for name in parameters.columns:
        values = pd.to_numeric(parameters[name], errors="coerce").to_numpy(dtype=np.float64)
        if np.isfinite(values).all() and (values > 0).all():
            z = np.log(values)
            z -= z.mean()
            columns += [z, z**2] if curved and len(np.unique(z)) > 2 else [z]
        else:
            dummies = pd.get_dummies(parameters[name].astype(str), drop_first=True, dtype=np.float64)
            columns += list(dummies.to_numpy().T)
    return np.column_stack(columns)


def first_to_say(cells: Sequence[str], says_so: Callable[[str], bool]) -> int | None:
    """Return the first row whose cell says so, unless all do."""
    distinct = set(cells)
    found = {cell for cell in distinct if says_so(cell)}
    return next(row for row, cell in enumerate(cells) if cell in found) if found and found != distinct else None
