"""What a run came to, in the words of schedulers and people: Slurm's and PBS's states, exit codes, ok and failed.

A run that a limit of time ended (``TIMEOUT``, ``DEADLINE``) is "timed out": its seconds are kept, it took longer. A job
that hasn't ended tells nothing yet, nor does one that was "lost": cancelled by a person, preempted, or its node failed.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Literal

__all__ = [
    "EXIT_NAMES",
    "STATE_NAMES",
    "State",
    "counted",
    "is_state_word",
    "must_be_states",
    "name_key",
    "state_of",
    "states",
]

State = Literal["ok", "failed", "timed out", "running", "lost"]

#: Words that can mean nothing else, in lower case.
_WORDS: dict[str, State] = {
    **dict.fromkeys((
        "ok", "success", "succeeded", "successful", "done", "completed", "passed", "pass", "finished", "erfolgreich",
        "fertig", "erledigt", "beendet", "abgeschlossen", "terminé", "réussi", "completado", "terminado", "correcto",
        "completato", "riuscito", "concluído", "zakończone", "zakończony", "выполнено", "завершено", "успешно",
        "tamamlandı", "完了", "完成", "成功", "正常終了", "voltooid", "klaar",
    ), "ok"),
    **dict.fromkeys((
        "failed", "fail", "failure", "error", "crashed", "crash", "oom", "killed", "aborted", "invalid",
        "out_of_memory", "out_of_me", "special_exit",
        "stopped", "out of memory", "diverged", "segfault",
        "segmentation fault", "dnf", "did not finish", "fehlgeschlagen", "abgebrochen", "abgestürzt", "fehler",
        "échec", "échoué", "erreur", "interrompu", "abbruch",
        "falhou", "falha", "błąd", "ошибка", "сбой", "hata", "başarısız",
        "失敗", "失败", "エラー", "错误", "異常終了", "mislukt",
        "fallido", "falló", "abortado", "fallito", "errore",
    ), "failed"),
    **dict.fromkeys((
        "cancelled", "canceled", "node_fail", "node fail", "node failure", "boot_fail", "launch_failed", "preempted",
        "revoked", "annulé", "cancelada", "anulowane", "отменено", "iptal", "cancelado", "annullato",
    ), "lost"),
    **dict.fromkeys((
        "timed out", "timeout", "timed_out", "time limit", "deadline", "walltime", "hit walltime", "walltime exceeded",
        "hit time limit", "time limit exceeded", "time limit reached", "ran into limit", "ran into time limit",
        "ran into the limit", "ran into walltime", "hit limit", "hit the limit", "limit reached", "reached limit",
        "reached time limit", "out of time", "over time", "zeitlimit", "zeitlimit erreicht", "zeitüberschreitung",
        "zeitgrenze", "limite de temps", "temps dépassé", "límite de tiempo", "limite di tempo",
    ), "timed out"),
    **dict.fromkeys((
        "running", "pending", "suspended", "requeued", "configuring", "completing", "resizing", "queued", "held",
        "exiting", "waiting", "requeue_hold", "requeue_fed", "signaling", "stage_out", "resv_del_hold",
    ), "running"),
}  # fmt: skip
#: Words of a limit of time, of an end there, and of other limits or none.
_LIMITS = frozenset({"limit", "timelimit", "walltime", "wallclock", "zeitlimit", "laufzeitlimit", "límite", "limite"})
_ENDED = frozenset({
    "killed", "hit", "reached", "exceeded", "over", "cancelled", "canceled", "stopped", "ended", "ran", "cut", "out",
    "überschritten", "erreicht", "abgebrochen", "dépassée", "dépassé", "atteinte", "superado", "superato", "raggiunto",
})  # fmt: skip
_OTHER_LIMITS = frozenset({
    "memory", "mem", "disk", "quota", "oom", "ram", "file", "iteration", "iterations", "step", "steps", "not", "no",
    "within", "below", "under", "before", "error", "speicher",
})  # fmt: skip
#: Short words and those of LSF, which count in a column of states only. ``F`` is Slurm's FAILED, but PBS's finished.
_SHORT: dict[str, State] = {
    "": "ok", "cd": "ok", "c": "ok",
    **dict.fromkeys(("f", "se", "st", "exit"), "failed"),
    **dict.fromkeys(("ca", "nf", "pr", "bf", "rv"), "lost"),
    **dict.fromkeys(("to", "dl"), "timed out"),
    **dict.fromkeys((
        "r", "pd", "s", "rq", "cf", "cg", "rs", "q", "e", "h", "w", "run", "pend", "psusp", "ususp", "ssusp", "unkwn",
    ), "running"),
}  # fmt: skip
_SLURM_ONLY = frozenset({"cd", "ca", "nf", "pr", "bf", "to", "dl", "pd", "rq", "cf", "cg"})
#: Names of columns of states, as `name_key` writes them.
STATE_NAMES = frozenset({"status", "state", "stat", "job_state", "jobstate", "job_status", "run_status"})
#: Names of columns that hold states or anything else: its words decide.
_PERHAPS_STATES = frozenset({
    "result", "outcome", "verdict", "job_result", "run_result", "exit_reason", "end", "ended",
    "statut", "estado", "stato", "esito", "resultado", "ergebnis", "zustand", "résultat", "état", "stan", "статус",
    "состояние", "durum", "状態", "状态", "toestand",
})  # fmt: skip
#: Those of them that mean a state: one known word is enough.
_STATES_IN_OTHER_WORDS = frozenset({
    "statut", "estado", "stato", "zustand", "état", "stan", "статус", "состояние", "durum", "状態", "状态", "toestand",
})  # fmt: skip
EXIT_NAMES = frozenset({
    "exit", "exit_code", "exitcode", "exit_status", "exitstatus", "rc", "ret", "retcode", "ret_code", "returncode",
    "return_code", "error_code", "errorcode", "derived_exit_code", "derivedexitcode", "failed", "crashed", "signal",
    "term_signal", "fehler", "erreur", "échec",
})  # fmt: skip
#: Those of them that may be settings: most runs end without a signal.
_SIGNALS = frozenset({"signal", "term_signal"})
_SUCCESS_NAMES = frozenset({"ok", "success", "succeeded", "successful", "passed", "completed", "finished", "valid",
                            "keep", "kept", "used", "good", "included", "measured", "verwenden", "verwendet",
                            "done", "use", "usable", "converged", "erfolg", "fertig", "gültig", "réussi",
                            "valide"})  # fmt: skip
#: Names of columns that mark runs which their author doesn't want.
_MARK_NAMES = frozenset({"outlier", "is_outlier", "bad", "exclude", "excluded", "discard", "ausreißer", "invalid"})
_TIMEOUT_NAMES = frozenset({"timed_out", "timeout", "timedout"})
_TRUTH = {
    **dict.fromkeys(("1", "true", "yes", "y", "ja", "j", "oui", "o", "✓", "✔", "wahr", "vrai"), True),
    **dict.fromkeys(("0", "false", "no", "n", "nein", "non", "✗", "✘", "falsch", "faux"), False),
}
#: A code, which is minus the signal in Python, 128 and the signal in shells and 256 times the code of a wait; with
#: the signal behind it as in Slurm; with a point where a table has holes.
_EXIT = re.compile(r"-?\d+(\.0|:\d+)?")


def name_key(column: str) -> str:
    """Return a column's name in lower case with underscores, to look it up.

    Examples
    --------
    >>> name_key("Exit Code"), name_key("JobState"), name_key(" NodeList ")
    ('exit_code', 'job_state', 'node_list')
    """
    spaced = re.sub(r"(?<=[a-z])(?=[A-Z])", "_", column.strip().rstrip("?!: "))
    return re.sub(r"[\s\-./]+", "_", spaced).lower().strip("_")


def state_of(cell: str) -> State | None:
    """Return what one word of a column of states means; None if it isn't known.

    Examples
    --------
    >>> [state_of(word) for word in ("COMPLETED", "CANCELLED by 12345", "TO", "CANCELLED+", "PENDING", "measured")]
    ['ok', 'lost', 'timed out', 'lost', 'running', None]
    >>> state_of("killed at limit"), state_of("memory limit exceeded")
    ('timed out', None)
    """
    word = _plain(cell)
    return _WORDS.get(word) or _SHORT.get(word) or ("timed out" if _tells_limit(word) else None)


def _tells_limit(text: str) -> bool:
    """Tell whether words say that a limit of time ended a run: ``killed at limit``, ``exceeded walltime``."""
    words = set(re.findall(r"[^\W\d_]+", text))
    return bool(words & _LIMITS and words & _ENDED) and not words & _OTHER_LIMITS


def is_state_word(cell: str) -> bool:
    """Tell whether a cell is a state's word in a column of any name.

    Examples
    --------
    >>> is_state_word("NODE_FAIL"), is_state_word("F"), is_state_word("cg")
    (True, False, False)
    """
    return _plain(cell) in _WORDS


def _plain(cell: str) -> str:
    word = cell.strip().lower()
    return re.sub(r"( by \S+|\+)$", "", word) if word.startswith("cancel") else word.removesuffix("+")


def must_be_states(column: str, cells: Sequence[str]) -> bool:
    """Tell whether a column can only hold states, by its name, or by its name and most of its words.

    Examples
    --------
    >>> must_be_states("result", ["ok", "ok", "mesh broken"]), must_be_states("result", ["sheared", "ok", "broken"])
    (True, False)
    >>> must_be_states("Zustand", ["ok", "fest"]), must_be_states("Zustand", ["fest", "weich"])
    (True, False)
    """
    key = name_key(column)
    if key in _STATES_IN_OTHER_WORDS:
        return any(is_state_word(cell) for cell in cells)
    if key in _PERHAPS_STATES:
        return 2 * sum(is_state_word(cell) for cell in cells) > len(cells)
    return key in ("status", "state")


def counted(cells: Iterable[str]) -> str:
    """Count the words of states.

    Examples
    --------
    >>> counted(["CANCELLED by 12", "CANCELLED by 7", "137"])
    '2 × CANCELLED, 1 × 137'
    """
    counts = Counter(re.sub(r" by \S+$|\+$", "", cell) for cell in cells)
    return ", ".join(f"{number} × {word or 'nothing'}" for word, number in counts.items())


def states(column: str, cells: Sequence[str]) -> list[State] | str | None:
    """Return the state of each row, if a column tells them: by words, or by numbers whose meaning its name tells.

    Parameters
    ----------
    column : str
        Its name.
    cells : sequence of str (n_rows,)
        Its text.

    Returns
    -------
    list of str (n_rows,), or str, or None
        A text is a question, since the column may mean two things; None if the column doesn't tell states.

    Examples
    --------
    >>> states("State", ["COMPLETED", "TIMEOUT"]), states("ExitCode", ["0:0", "1:0"]), states("rc", ["0", "-9"])
    (['ok', 'timed out'], ['ok', 'failed'], ['ok', 'failed'])
    >>> states("signal", ["0", "0", "9"]), states("signal", ["0", "5", "9"])
    (['ok', 'ok', 'failed'], None)
    >>> states("solver", ["cg", "amg"]) is None, states("status", ["0", "1"])
    (True, "0 and 1 in 'status' may each mean success")
    """
    key = name_key(column)
    distinct = {_plain(cell) for cell in set(cells)}
    if key in _SIGNALS and 2 * sum(set(cell) <= set("0.") for cell in cells) <= len(cells):
        return None  # a setting
    if distinct <= {*_TRUTH, ""} and distinct != {""}:
        return _by_truth(column, key, cells)
    if key in EXIT_NAMES and all(_EXIT.fullmatch(cell) for cell in cells):
        return ["ok" if set(cell) <= set("0.:") else "failed" for cell in cells]
    if key in STATE_NAMES and "f" in distinct and not distinct & _SLURM_ONLY:
        return f"'F' in {column!r} may be Slurm's FAILED or PBS's finished"
    if not (key in STATE_NAMES or all(is_state_word(cell) for cell in cells)):
        return None
    known = [state_of(cell) for cell in cells]
    return [state for state in known if state] if None not in known else None


def _by_truth(column: str, key: str, cells: Iterable[str]) -> list[State] | str | None:
    good: tuple[State, State] | None = None  # what false and true mean
    if key in EXIT_NAMES:
        good = ("ok", "failed")
    elif key in _SUCCESS_NAMES:
        good = ("failed", "ok")
    elif key in _MARK_NAMES:
        good = ("ok", "failed")
    elif key in _TIMEOUT_NAMES:
        good = ("ok", "timed out")
    if good is not None:
        return [good[_TRUTH[cell.lower()]] if cell else "ok" for cell in cells]
    low, high = ("false", "true") if {cell.lower() for cell in cells} & {"true", "false"} else ("0", "1")
    return f"{low} and {high} in {column!r} may each mean success" if key in STATE_NAMES else None
