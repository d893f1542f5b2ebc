"""Which columns of a table that people wrote are the job, its user, its name, and when it was submitted, began, ended.

Told by their names, in several languages, and of dates by their values, too: the end is as long after the start as the
job took, and the submission is before the start.
"""

from __future__ import annotations

import contextlib
import itertools
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from evenly.errors import InputError, ReadError, option_text
from evenly.readers.tables.clock_times import ENDS, STARTS, is_date, moments
from evenly.readers.tables.identifiers import JOBS, USERS
from evenly.readers.tables.roles import bounds_time
from evenly.readers.tables.values import Values
from evenly.runs.count_names import letters

__all__ = ["DATES", "Dates", "agree", "find_dates", "find_limit", "find_texts"]

Floats = NDArray[np.float64]
#: Names without signs and accents, the most telling first.
_TEXTS: dict[str, tuple[str, ...]] = {
    "id": (*JOBS, "runid", "run", "lauf", "id", "nr", "no", "number", "nummer", "numero"),
    "user": (*USERS, "who", "person", "wer"),
    "account": (
        "account", "acct", "project", "projectid", "projekt", "projet", "proyecto", "progetto", "projeto", "konto",
        "group", "gruppe", "groupe", "grupo", "gruppo",
    ),
    "name": (
        "jobname", "jobtitle", "jobbezeichnung", "nomdutravail", "nomjob", "nomdujob", "nombredeltrabajo",
        "nomedellavoro", "name", "nom", "nombre", "nome", "naam", "nazwa", "title", "titel", "bezeichnung",
        "application", "app", "program", "programm", "programme", "programa", "programma", "anwendung", "executable",
        "exe", "code", "software", "script", "skript", "command", "job",
    ),
    "partition": ("partition", "queue", "queuename", "warteschlange", "filedattente", "cola", "coda", "wachtrij"),
    "cluster": ("cluster", "machine", "system", "maschine", "rechner"),
}  # fmt: skip
#: Names that number jobs, or rows or repeated runs.
_NUMBERS_OF_ANY = frozenset({"runid", "run", "lauf", "id", "nr", "no", "number", "nummer", "numero"})
#: Names of columns of dates.
_DATES: dict[str, frozenset[str]] = {
    "submit": frozenset({
        "submit", "submitted", "submittime", "submittedat", "submittedon", "submission", "submissiontime",
        "submissiondate", "submitdate", "submitts", "tsubmit", "timesubmitted", "timesubmit", "submittimestamp",
        "qtime", "queued", "queuedat", "queuetime", "enqueued", "enqueuedat", "created", "createdat", "creationtime",
        "eingereicht", "eingereichtam", "eingereichtum", "einreichung", "einreichzeit", "einreichungszeit",
        "einreichdatum", "abgeschickt", "abgeschicktam", "abgesendet", "soumis", "soumise", "soumisle", "soumission",
        "datesoumission", "datedesoumission", "heuredesoumission", "heuresoumission", "envoye", "envoyele", "enviado",
        "enviadoel", "envio", "fechaenvio", "fechadeenvio", "horadeenvio", "inviato", "inviatoil", "invio", "datainvio",
        "datadiinvio", "submetido", "submissao", "ingediend", "ingediendop", "wyslano", "zlozono",
    }),
    "start": frozenset({
        *map(letters, STARTS), "startedon", "startts", "gestartet", "gestartetam", "begonnen", "begonnenam",
        "startdatum", "demarre", "demarrage", "datedebut", "datededebut", "heuredebut", "heurededebut", "debutle",
        "iniciado", "comienzo", "horainicio", "horadeinicio", "fechainicio", "fechadeinicio", "avviato", "datainizio",
        "orainizio", "gestart", "aanvang", "poczatek", "von", "from",
    }),
    "end": frozenset({
        *map(letters, ENDS), "endedat", "endedon", "completed", "completedon", "beendet", "beendetam", "geendet",
        "enddatum", "fertig", "fertigam", "termine", "terminele", "datefin", "datedefin", "heurefin", "heuredefin",
        "finalizado", "terminado", "horafin", "horadefin", "fechafin", "fechadefin", "finito", "terminato", "datafine",
        "orafine", "einde", "koniec", "bis", "until", "to",
    }),
}  # fmt: skip
#: The dates of a job, in their order.
DATES = ("submit", "start", "end")
#: An identifier differs in nearly each row.
_NEARLY_EACH = 0.9
#: Times agree within so large a part, and a minute: dates are often told to the minute.
_CLOSE, _MINUTE = 0.02, 60.0
#: The share of the rows in which dates are in their order, and times agree.
_MOST = 0.95


@dataclass(frozen=True)
class Dates:
    """When jobs were submitted, began and ended.

    Parameters
    ----------
    columns : mapping of str to str
        The column of each of `DATES` that is there.
    seconds : mapping of str to array (n_rows,)
        Seconds since 1970; NaN where unknown.
    open : mapping of str to array (n_rows,)
        Columns of dates of which nothing tells what they are yet, with their seconds.
    notes : tuple of str
        What was settled by values.
    """

    columns: Mapping[str, str]
    seconds: Mapping[str, Floats]
    open: Mapping[str, Floats]
    notes: tuple[str, ...] = ()

    @property
    def between(self) -> Floats | None:
        """The seconds from the start to the end, (n_rows,), if both are there."""
        return self.seconds["end"] - self.seconds["start"] if {"start", "end"} <= set(self.seconds) else None

    def named(self, took: Floats) -> Dates:
        """Return the dates with those that `took`, (n_rows,), tells apart by their values."""
        columns, seconds, open_ = dict(self.columns), dict(self.seconds), dict(self.open)
        notes = list(self.notes)

        def take(role: str, column: str, why: str) -> None:
            columns[role], seconds[role] = column, open_.pop(column)
            notes.append(f"{column!r} is the {_WORDS[role]} by its values: {why}")

        pairs = [
            (one, other)
            for one in (*open_, *([columns["start"]] if "start" in columns else []))
            for other in (*open_, *([columns["end"]] if "end" in columns else []))
            if one != other and agree(self._of(other) - self._of(one), took)
        ]
        if len(pairs) == 1:
            for role, column in zip(("start", "end"), pairs[0], strict=True):
                if column in open_:
                    take(role, column, "the end is as long after the start as the job took")
        if len(open_) == 1 and "submit" not in seconds and "start" in seconds:
            column, found = next(iter(open_.items()))
            before = seconds["start"] - found
            if _mostly(before >= -_MINUTE, before) and (before > 0).any():
                take("submit", column, "it is before the start")
        return Dates(columns, seconds, open_, tuple(notes))

    def _of(self, column: str) -> Floats:
        if column in self.open:
            return self.open[column]
        return self.seconds[next(role for role, its in self.columns.items() if its == column)]


_WORDS = {"submit": "submission", "start": "start", "end": "end"}


def agree(one: Floats, other: Floats) -> bool:
    """Tell whether two times agree in nearly all rows that have both.

    Examples
    --------
    >>> agree(np.array([3600.0, 7230.0]), np.array([3601.0, 7200.0])), agree(np.array([1.0]), np.array([np.nan]))
    (True, False)
    """
    difference = np.abs(one - other)
    return _mostly(difference <= _CLOSE * other + _MINUTE, difference) and bool((other > _MINUTE).any())


def _mostly(holds: NDArray[np.bool_], among: Floats) -> bool:
    known = np.isfinite(among)
    return bool(known.any() and holds[known].mean() >= _MOST)


def find_texts(values: Values, given: Mapping[str, str], taken: Collection[str]) -> dict[str, str]:
    """Return the columns of id, user, account, name, partition and cluster; `given` are those that the user names.

    Raises
    ------
    ReadError
        If several columns may be the user, or the name.

    Examples
    --------
    >>> import pandas as pd
    >>> from pathlib import Path
    >>> from evenly.readers.tables.options import TableOptions
    >>> cells = pd.DataFrame({"Job": ["7", "8"], "Benutzer": ["ada", "ada"], "Programm": ["wave", "wave"]})
    >>> find_texts(Values(TableOptions(), Path("a.csv"), cells, np.array([2, 3])), {}, ())
    {'id': 'Job', 'user': 'Benutzer', 'name': 'Programm'}
    """
    found: dict[str, str] = {}
    for role, names in _TEXTS.items():
        if role in given:
            found[role] = given[role]
            continue
        free = [c for c in map(str, values.cells) if c not in taken and c not in (*found.values(), *given.values())]
        by_name = sorted((c for c in free if letters(c) in names), key=lambda c: names.index(letters(c)))
        by_name = [c for c in by_name if any(values.texts(c)) and (role != "id" or _tells_apart(c, values.texts(c)))]
        if len(by_name) > 1 and role == "user" and values.texts(by_name[0]) != values.texts(by_name[1]):
            raise ReadError(
                values.path,
                f"{by_name[0]!r} and {by_name[1]!r} may each name the user: say which, as in "
                f"{option_text('-O', f'user={by_name[0]}')}",
            )
        if by_name:
            found[role] = by_name[0]
    return found


def _tells_apart(column: str, cells: Sequence[str]) -> bool:
    """Tell whether a column numbers jobs; numbers that repeat are steps of one job only if its name says job."""
    there = [cell.split(".")[0] for cell in cells if cell]  # a step is 7.batch
    rows = [cell for cell in cells if cell]
    of_jobs = letters(column) not in _NUMBERS_OF_ANY and len(set(there)) > 1 and all(c.isdecimal() for c in there)
    return len(set(rows)) >= _NEARLY_EACH * len(rows) or of_jobs


def find_limit(values: Values, given: str | None, taken: Collection[str]) -> str | None:
    """Return the column of the time limits that were asked for; None if there is none.

    Raises
    ------
    ReadError
        If several may be it.
    """
    if given is not None:
        return given
    found = [c for c in map(str, values.cells) if c not in taken and bounds_time(c) and any(values.texts(c))]
    if len(found) > 1:
        raise ReadError(
            values.path,
            f"{' and '.join(map(repr, found))} may each be the time limit that was asked for: say which, as in "
            f"{option_text('-O', f'limit={found[0]}')}",
        )
    return found[0] if found else None


def find_dates(values: Values, given: Mapping[str, str], order: str | None) -> Dates:
    """Return when jobs were submitted, began and ended.

    Parameters
    ----------
    values : Values
    given : mapping of str to str
        The columns that the user names.
    order : str, optional
        ``"day first"`` or ``"month first"`` where ``03/04/2026`` may be either.

    Raises
    ------
    ReadError
        If several columns may be one of them, a cell is no date, or it is open whether the day comes first.
    """
    columns = dict(given)
    dated = [c for c in map(str, values.cells) if c not in given.values() and _holds_dates(values, c)]
    for role, names in _DATES.items():
        by_name = [c for c in dated if letters(c) in names]
        if role not in given and len(by_name) > 1:
            raise ReadError(
                values.path,
                f"{' and '.join(map(repr, by_name))} may each be the {_WORDS[role]} of the jobs: say which, as in "
                f"{option_text('-O', f'{role}={by_name[0]}')}",
            )
        if role not in given and by_name:
            columns[role] = by_name[0]
    try:
        tables = _moments(values, columns.values())
    except InputError as error:
        raise ReadError(values.path, str(error)) from None
    open_: list[str] = []
    for column in (c for c in dated if c not in columns.values()):
        with contextlib.suppress(InputError):  # a date of something else may be written in another way
            tables = _moments(values, (*columns.values(), *open_, column))
            open_.append(column)
    table, said = _ordered(values, columns, tables, order)
    seconds = {role: table[c] for role, c in columns.items()}
    return Dates(columns, seconds, {c: table[c] for c in open_}, said)


def _moments(values: Values, columns: Iterable[str]) -> list[dict[str, Floats]]:
    return moments({c: values.texts(c) for c in columns})


def _holds_dates(values: Values, column: str) -> bool:
    """Tell whether most cells of a column are dates with times, or seconds since 1970 under the name of a date."""
    cells = [cell for cell in values.texts(column) if cell not in ("", "-")][:50]
    named = any(letters(column) in names for names in _DATES.values())

    def one(cell: str) -> bool:
        try:
            return bool(np.isfinite(moments({column: [cell]})[0][column]).any()) and (named or is_date(cell))
        except InputError:
            return False

    return bool(cells) and 2 * sum(map(one, cells)) > len(cells)


def _ordered(
    values: Values, columns: Mapping[str, str], tables: list[dict[str, Floats]], order: str | None
) -> tuple[dict[str, Floats], tuple[str, ...]]:
    """Return the dates with the day or the month first, as the user says, or as keeps submissions before ends."""
    if order not in (None, "day first", "month first"):
        raise InputError(f"-O dates= takes 'day first' or 'month first', but got {order!r}")
    if len(tables) == 1:
        return tables[0], ()
    if order is not None:
        return tables[order == "month first"], ()
    fitting = [table for table in tables if _in_order([table[columns[role]] for role in DATES if role in columns])]
    if len(fitting) != 1:
        example = next(iter(columns.values()), next(iter(tables[0])))
        raise ReadError(
            values.path,
            f"the dates in {example!r} may have the day or the month first, as {values.texts(example)[0]!r}: say "
            "-O dates='day first' or -O dates='month first'",
        )
    first = "day" if fitting[0] is tables[0] else "month"
    return fitting[0], (f"dates have the {first} first: otherwise, jobs would end before they began",)


def _in_order(dates: Sequence[Floats]) -> bool:
    """Tell whether submissions are before starts, and starts before ends, by days at most."""
    gaps = [later - earlier for earlier, later in itertools.pairwise(dates)]
    return all(_mostly((gap >= -_MINUTE), gap) for gap in gaps)
