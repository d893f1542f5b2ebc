"""Columns that only name their row: jobs, users, hosts, dates, remarks, numbers of runs."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from itertools import repeat

import numpy as np
from numpy.typing import NDArray

from evenly.readers.tables.clock_times import are_dates, tell_when
from evenly.readers.tables.roles import ENOUGH, words_of
from evenly.readers.tables.states import is_state_word, name_key
from evenly.runs.count_names import letters

__all__ = ["JOBS", "ON_SOME_ROWS", "TITLES", "USERS", "identifies", "is_of_remarks", "is_prose", "without_number"]

#: Why a column of any name holds remarks.
ON_SOME_ROWS = "remarks on some rows"
_IDENTIFIERS = frozenset({
    "operator", "tester", "bearbeiter",
    "user", "username", "user_name", "uid", "gid", "account", "acct", "owner", "who", "host", "hosts",
    "host_list", "hostlist", "node_list", "nodelist", "exec_host", "exec_hosts", "hostnames",
    "path", "file", "filename", "file_name", "dir", "directory", "folder", "workdir", "work_dir", "log", "logfile",
    "log_file", "uuid", "guid", "url", "email", "pid",
    "seed", "random_seed", "rng_seed",
    "job_id_raw", "jobidraw", "array_id",
    "array_job_id", "job_owner",
    "submit", "submitted", "submit_time", "eligible", "start", "end", "started", "ended", "start_time",
    "end_time", "job", "job_id", "jobid", "run_id", "date", "datetime", "timestamp",
})  # fmt: skip
#: Names of remarks on rows.
_REMARKS = frozenset({
    "comment", "comments", "note", "notes", "remark", "remarks", "description", "kommentar", "kommentare", "anmerkung",
    "anmerkungen", "bemerkung", "bemerkungen", "hinweis", "notiz", "notizen", "remarque", "remarques", "commentaire",
    "commentaires", "nota", "notas", "comentario", "comentarios", "observaciones",
    "observation", "observations", "verdict", "interpretation",
    "conclusion", "fazit", "beobachtung", "beobachtungen", "constat", "commento",
})  # fmt: skip
#: Names of the number of a job and of its user, without signs and accents, the most telling first.
JOBS = (
    "jobid", "jobidraw", "jobnumber", "jobnr", "jobno", "jobnum", "jobnummer", "jid", "slurmjobid", "pbsjobid",
    "idjob", "auftragsnummer", "auftragsnr", "idtravail", "idtrabajo", "idlavoro", "job", "auftrag", "tache",
    "travail", "trabajo", "lavoro", "trabalho", "taak", "zadanie",
)  # fmt: skip
USERS = (
    "user", "username", "userid", "jobowner", "owner", "login", "uid", "benutzer", "benutzername", "benutzerin",
    "nutzer", "nutzername", "nutzerin", "anwender", "utilisateur", "usager", "usuario", "usuaria", "utente",
    "gebruiker", "uzytkownik",
)  # fmt: skip
_NUMBERINGS = frozenset({
    "id", "index", "idx", "#", "no", "nr", "row", "line", "number", "prova", "essai", "versuch", "ensayo", "prueba",
    "lauf", "messung", "mesure", "misura", "proef", "lfd",
})  # fmt: skip
#: Words of names that number the rows: ``job_no``, ``lfd. Nr.``
_OF_NUMBERINGS = _NUMBERINGS | {"job", "jobs", "run", "runs", "test", "case", "nummer", "experiment", "exp", "trial"}
#: Words of columns that give runs a name.
TITLES = frozenset({"name", "job", "jobname", "label", "case", "run", "bench", "benchmark", "test", "title"})
#: The share of rows with labels of their own in which labels only name rows.
_NEARLY_EACH = 0.9
_RUN = re.compile(r"(?:run|job|trial|exp|experiment)[\s_#-]*0*([1-9]\d*)", re.IGNORECASE)
#: Two words, as a remark has.
_PROSE = re.compile(r"[^\W\d_]{2,} +[^\W\d_]{2,}")


def identifies(
    column: str,
    cells: Sequence[str],
    numeric: bool,
    others_vary: bool,
    counts: Iterable[NDArray[np.float64]] = (),
) -> str:
    """Return why a column only names its row; empty if it doesn't.

    Parameters
    ----------
    column : str
        Its name.
    cells : sequence of str (n_rows,)
        Its text.
    numeric : bool
        Whether they are numbers.
    others_vary : bool
        Whether another column could tell the runs apart.
    counts : iterable of arrays (n_rows,)
        Columns of cores, nodes, …, which names of runs repeat: ``bench_016``.

    Examples
    --------
    >>> identifies("user", ["ann", "bob"], False, True), identifies("mesh", ["fine", "coarse"], False, True)
    ('its name is that of an identifier', '')
    """
    key, words = name_key(column), words_of(column)
    distinct = set(cells) - {""}
    if key in _IDENTIFIERS | _REMARKS or letters(column) in (*JOBS, *USERS):
        return "its name is that of an identifier"
    numbers_by_name = key in _NUMBERINGS or key.endswith("_id") or (words & _NUMBERINGS and words <= _OF_NUMBERINGS)
    running = numeric and cells[0] in ("0", "1") and list(cells) == [str(int(cells[0]) + n) for n in range(len(cells))]
    if numbers_by_name and len(distinct) == len(cells) > 1 and (others_vary or running):
        return "it numbers the rows"
    if not numeric and others_vary and _number_runs(cells):
        return "it numbers the rows"
    if not numeric and tell_when(column, cells):
        is_clock = not are_dates([cell for cell in cells if any(map(str.isdigit, cell))])
        return "its values are times of day" if is_clock else "its values are dates"
    texts = [cell for cell in cells if cell and not is_state_word(cell)]  # beside "ok", too
    if not numeric and others_vary and len(set(texts)) == len(texts) < len(cells) and any(map(is_prose, texts)):
        return ON_SOME_ROWS
    if not numeric and words & TITLES and any(map(_tells, repeat(cells), counts)):
        return "it tells a number that another column holds"
    if not numeric and others_vary and len(cells) >= ENOUGH and len(distinct) >= _NEARLY_EACH * len(cells):
        return "a different label in nearly each row"
    return ""


def is_of_remarks(column: str) -> bool:
    """Tell whether a column holds remarks by its name.

    Examples
    --------
    >>> is_of_remarks("Bemerkung"), is_of_remarks("user")
    (True, False)
    """
    return name_key(column) in _REMARKS


def is_prose(text: str) -> bool:
    """Tell whether a text has two words, as a remark has.

    Examples
    --------
    >>> is_prose("sum of 5 runs"), is_prose("-O3 -march=native")
    (True, False)
    """
    return _PROSE.search(text) is not None


def _number_runs(cells: Sequence[str]) -> bool:
    """Tell whether cells are run1, run2, run3 and so on."""
    if len(cells) < 3 or _RUN.fullmatch(cells[0]) is None:
        return False
    found = [_RUN.fullmatch(cell) for cell in cells]
    return [match and int(match[1]) for match in found] == list(range(1, len(cells) + 1))


def _tells(cells: Sequence[str], counts: NDArray[np.float64]) -> bool:
    """Tell whether labels differ in nothing but the number of their row: bench_016 beside 16 cores."""
    return len(set(cells)) > 1 and len(set(without_number(cells, counts))) == 1


def without_number(cells: Sequence[str], counts: NDArray[np.float64]) -> list[str]:
    """Return labels without the number that is that of their row, (n_rows,), in all of them at the same place.

    Examples
    --------
    >>> without_number(["fine_np8", "h2o_np016", "fine_np32"], np.array([8, 16, 32.0]))
    ['fine_np', 'h2o_np', 'fine_np']
    >>> without_number(["fine_np8", "fine_np16"], np.array([8, 8.0]))
    ['fine_np8', 'fine_np16']
    """
    parts = [re.split(r"(\d+)", cell) for cell in cells]
    numbers = min((len(one) // 2 for one in parts), default=0)
    for place in (*range(1, 2 * numbers, 2), *range(-2, -2 * numbers - 1, -2)):  # from the front, and from the end
        if all(one[place] and float(one[place]) == count for one, count in zip(parts, counts.tolist(), strict=True)):
            for one in parts:
                one[place] = ""
    return list(map("".join, parts))
