"""Whether measured runs are those of coupled solvers: one step for all, without waiting, and nobody missing."""

from __future__ import annotations

import re
import shlex
from collections.abc import Collection, Sequence
from itertools import combinations, permutations
from pathlib import Path
from typing import TYPE_CHECKING

from evenly.cli.console import note
from evenly.cli.input_paths import why_unread
from evenly.cli.same_work import are_tables, are_tables_or_logs, check_folders, check_same_work
from evenly.cli.texts_about import Texts, texts_about
from evenly.errors import InputError, option_text
from evenly.readers.tables.columns import SOLVER_NAMES, is_part, measured, unit_of_time
from evenly.readers.tables.states import name_key
from evenly.runs.units import base_unit
from evenly.space.expressions import quoted

if TYPE_CHECKING:
    from evenly.cli.run_input import Learned
    from evenly.readers import Measurements

__all__ = [
    "check_coupled", "check_inputs", "check_no_whole_runs", "check_one_program", "column_of_solvers", "may_be_alone",
]  # fmt: skip

#: Suffixes of tables, of which each usually holds a solver.
_TABLES = frozenset({".csv", ".tsv", ".xlsx", ".parquet"})
#: Suffixes of files that may hold times, of which none could be read.
_OF_TIMES = frozenset({
    ".csv", ".tsv", ".json", ".log", ".out", ".dat", ".nc", ".zip", ".zst", ".xz", ".bz2", ".gz", ".7z", ".tgz",
})  # fmt: skip
#: Names of what is the whole of a coupled run.
_WHOLES = frozenset({"total", "tot", "all", "coupled", "whole", "sum"})
#: Words of a time that no solver alone has.
_WHOLE_RUNS = _WHOLES | {
    "wall", "walltime", "elapsed", "run", "runtime", "real", "step", "mean", "median", "min", "max",
}  # fmt: skip
#: A column is called so that holds the solvers of coupled runs.
_MODEL = frozenset({"model", "submodel", "modell", "modèle", "modelo", "modello"})
#: So many equal times can't be chance.
_FEWEST = 3
_WITHOUT_WAITING = "give the time of each without its waiting; if they are that, evenly allocate --no-waiting says so"
_WAITING = re.compile(r"wait(?:s|ing)?|idling|idle|blocked|waittimes?|warte(?:n|zeit|zeiten)|attente|espera|attesa")
_NOT = frozenset({
    "without", "no", "not", "excluding", "excl", "excluded", "minus", "less", "subtracted", "removed", "ohne", "kein",
    "keine", "abgezogen", "sans", "hors", "sin", "senza", "nicht",
})  # fmt: skip
#: Words of a part of a time.
_INSIDE = re.compile(
    r"\b(?:contain\w*|inclu\w*|incl|inside|part of|within|called by|enthalten|enthält|teil von|inbegriffen|compris|"
    r"contien\w*|contenu\w*|dentro)\b",
    re.IGNORECASE,
)
#: Words by which versions of one solver differ.
_VERSIONS = frozenset({
    "old", "new", "copy", "backup", "bak", "alt", "neu", "orig", "original", "final", "before", "after", "vorher",
    "nachher", "kopie", "v", "version", "previous", "latest", "ancien", "nouveau",
})  # fmt: skip
_OLD = frozenset({"old", "copy", "backup", "bak", "alt", "orig", "original", "before", "kopie", "previous", "ancien"})
#: Timers of one wait differ by less than this share, and times of several runs by so many times more.
_TIMERS, _VARIED = 0.06, 10


def check_coupled(
    learned: Learned,
    typed: Sequence[Path],
    *,
    chosen: bool,
    no_waiting: bool = False,
    step_days: float | None = None,
    layout: str | None = None,
) -> None:
    """Refuse runs whose times can't be compared between solvers, and ask for what settles it.

    Parameters
    ----------
    learned : Learned
        The solvers' models, and what was read.
    typed : sequence of Path
        The files and folders that were given.
    chosen : bool
        Whether the user named the parameters: then other columns don't count.
    no_waiting : bool
        Whether the user says that the times are without the waiting.
    step_days : float, optional
        The days that a step simulates, as the user says.
    layout : str, optional
        How solvers wait for each other, as the user says.

    Raises
    ------
    InputError
        If the table of a solver can't be read, or the whole run would be a solver. If steps are of different work, or
        times contain the waiting. If a row seems to be wrong.
    """
    found = learned.found
    if found is None:
        return
    check_inputs(found, [*learned.models])
    _check_nobody_missing(found, learned)
    if len(learned.models) < 2:
        _check_rows(learned)
        return
    if wholes := [name for name in learned.models if _is_whole(name) and len(learned.models) > 2]:
        raise InputError(
            f"{wholes[0]!r} seems to be the whole of the coupled run, and no solver: leave it out with --without "
            f"{shlex.quote(wholes[0])}; if it is a solver, give it another name"
        )
    if not chosen and _from_tables(learned):
        _check_no_part([*learned.models])
    _tell_rising(learned)
    check_folders(learned.runs, typed)
    about = texts_about(learned.runs, found)
    if not chosen:
        _check_nothing_inside(about)
    _check_no_sum(learned)
    _check_no_twins(learned, no_waiting=no_waiting)
    check_same_work(learned.runs, found, about, chosen=chosen, step_days=step_days, layout=layout)
    _check_waiting(learned, about, no_waiting=no_waiting)
    if not (no_waiting or found.placed):  # CESM's times are those of each component
        _check_balance(learned)
    _check_rows(learned)


def _is_whole(name: str) -> bool:
    """Tell whether a solver is called as the whole of a coupled run.

    Examples
    --------
    >>> [_is_whole(name) for name in ("total", "whole model", "Gesamtmodell", "total_water", "ocean")]
    [True, True, True, True, False]
    """
    words = re.findall(r"[^\W\d_]+", name.lower())
    return any(word in _WHOLES - {"all", "sum"} or word.startswith("gesamt") for word in words) or words in (
        ["all"],
        ["sum"],
    )


def _check_no_part(solvers: Sequence[str]) -> None:
    """Ask about a solver whose name has that of another in it: ``radiation (in atm)``, ``atm (incl. land)``."""
    words = {name: re.findall(r"[^\W_]+", name.lower()) for name in solvers}
    for longer, whole in permutations(solvers, 2):
        its, more = words[whole], [word for word in words[longer] if word not in words[whole]]
        if its and set(its) < set(words[longer]) and any(map(str.isalpha, more)) and not set(more) <= _VERSIONS:
            raise InputError(
                f"{longer!r} may contain {whole}, or be a part of it, so that one time would count twice: leave one "
                f"out, as --without {shlex.quote(longer)}; if both are solvers of their own, name the parameters, with "
                "--parameters"
            )


def _check_nothing_inside(about: Texts) -> None:
    """Ask about a line that tells that a solver's time contains that of another."""
    own = [(text.text, {solver}) for solver, its in about.of.items() for text in its if text.is_line]
    lines = [*about.divided, *(text.text for text in about.shared)]
    for text, of in [*own, *((line, set[str]()) for line in lines)]:
        words = set(re.findall(r"[^\W_]+", text.lower()))
        named = {name for name in about.of if set(re.findall(r"[^\W_]+", name.lower())) <= words} | of
        if len(named) > 1 and _INSIDE.search(text) and not words & _NOT and not _WAITING.search(text.lower()):
            raise InputError(
                f"{text!r} may tell that the times of one of {', '.join(sorted(named))} contain those of another: "
                "leave the part out with --without; if no time contains another, name the parameters, with --parameters"
            )


def _tell_rising(learned: Learned) -> None:
    """Say whose times rise with the cores from each count to the next, as times do that are summed over cores."""
    for solver, runs in learned.runs.items():
        if len(runs.parameters) != 1:
            continue
        medians = runs.ok.to_frame().groupby(runs.parameters[0])[runs.response].median()
        if len(medians) > _FEWEST and (medians.diff().iloc[1:] > 0).all() and medians.iloc[-1] > 1.1 * medians.iloc[0]:
            note(
                f"the times of {solver} rise with each number of cores: check that they aren't sums over all cores, "
                "which are no times of a run"
            )


def _check_rows(learned: Learned) -> None:
    """Refuse runs with a row that seems to be wrong, as models say that few rows tell."""
    if unsure := [name for name, model in learned.models.items() if model.training_.get("outliers", {}).get("few")]:
        raise InputError(
            f"a row of {unsure[0] or 'the runs'} is far off the others (see the note above), and the plan would follow "
            "it: correct it, or leave it out; if it is right, --outliers keep says so"
        )


def _from_tables(learned: Learned) -> bool:
    """Tell whether the solvers' times are those of tables, or of saved models."""
    return len(learned.models) > 1 and (learned.found is None or are_tables(learned.found))


def may_be_alone(learned: Learned) -> bool:
    """Tell whether solvers may have been measured alone: neither tables nor logs nor saved models say it.

    Files of preCICE and CESM are those of coupled runs.
    """
    return len(learned.models) > 1 and (learned.found is None or are_tables_or_logs(learned.found))


def check_inputs(found: Measurements, solvers: Sequence[str]) -> None:
    """Refuse an input of which nothing was read, and names of solvers that may be one."""
    if found.unread:
        path = found.unread[0]
        raise InputError(
            f"nothing was read from {path} ({why_unread(path, found)}), so that a solver would be missing: correct it; "
            "or, if it holds no solver's times, leave it out"
        )
    _check_spelling(solvers)


def column_of_solvers(found: Measurements, given: Collection[str]) -> str | None:
    """Return the column whose labels are taken for the names of solvers, as `model`, and say so; None if there is none.

    The name is for coupled runs only: for one program, a model is one of turbulence, or of a machine. The column is the
    only one with labels, and the user gives it no value.
    """
    from evenly.readers.tables.roles import words_of
    from evenly.space.parameters import Categorical

    if len(found.runs) != 1:
        return None
    parameters = next(iter(found.runs.values())).space.parameters
    labels = [name for name, kind in parameters.items() if isinstance(kind, Categorical)]
    if len(labels) != 1 or labels[0] in given or not words_of(labels[0]) <= _MODEL | {"name", *SOLVER_NAMES}:
        return None
    settled = option_text("--parameters", ",".join(parameters))
    note(f"{labels[0]!r} is taken for the names of the solvers; if it is a parameter: {settled}")
    return labels[0]


def check_no_whole_runs(paths: Sequence[Path], found: Measurements, fixed: Collection[str]) -> None:
    """Refuse a table of whole coupled runs, with the cores of several solvers, as the runs of one program."""
    from evenly.cli.task_columns import is_first_task
    from evenly.readers.tables.wide import with_cores

    names = next(iter(found.runs.values())).parameters
    cores = {name: column for name, column in with_cores(names).items() if column not in fixed}
    if len(found.runs) > 1 or len(cores) < 2:
        return
    placed = any(is_first_task(column.name) for column in found.columns)
    side_by_side = shlex.quote(f"max({', '.join(map(quoted, cores))})")
    layout = "" if placed else f" --layout {side_by_side}"
    file = shlex.quote(str(paths[0])) if len(paths) == 1 and paths[0].is_file() else "FILE"
    raise InputError(
        f"{', '.join(cores.values())} may be the cores of solvers in whole coupled runs: --coupled {file}"
        f"{layout}, without PATH, learns from these; or give the times of each solver in columns as {next(iter(cores))}"
        f"_time_s. If it is one program, give values of the others, as in --at {next(iter(cores.values()))}=…"
    )


def check_one_program(found: Measurements) -> None:
    """Ask whether the times of a single solver are those of one of several: others beside it have names like its own.

    No name is asked about that is the time of a whole run.
    """
    from evenly.readers.tables.side_by_side import shared_pattern

    times = [one.name for one in found.columns if one.role == "time"]
    asked = any("--time" in one.why for one in found.columns if one.role == "time")
    others = [one.name for one in found.columns if one.role == "quantity" and base_unit(one.unit) == "s"]
    pattern = shared_pattern([*times, *others]) if others else ""
    if len(found.runs) > 1 or len(times) != 1:
        return
    _check_units_of_solvers(times[0], others, asked=asked)
    if not pattern:
        return
    before, after = pattern.split("*")
    own = times[0].removeprefix(before).removesuffix(after)
    if len(others) > 1 and name_key(own) in _WHOLES and not asked:
        raise InputError(
            f"whether {', '.join(map(repr, others))} are the times of solvers, and {times[0]!r} that of all, is open: "
            f"if so, --time {shlex.quote(pattern)} --solver '*' --without {shlex.quote(own)} reads them; if it is the "
            f"time of one program, say so with --only {shlex.quote(next(iter(found.runs)))}"
        )
    if set(name_key(own).split("_")) & _WHOLE_RUNS:
        return
    raise InputError(
        f"whether {times[0]!r} is the time of one solver, and {', '.join(map(repr, others))} of others, is open: if "
        f"so, --time {shlex.quote(pattern)} --solver '*' reads them all; if it is the time of one program, say so with "
        f"--only {shlex.quote(next(iter(found.runs)))}"
    )


def _check_units_of_solvers(time: str, others: Sequence[str], *, asked: bool) -> None:
    """Ask whether times in other units are those of other solvers: ``atm_ms`` beside ``ocn_s``."""
    unit = unit_of_time(time)
    bases = {name: known.base for name in (time, *others) if (known := measured(name)) is not None}
    own = set(name_key(bases.get(time, time)).split("_"))
    rest = [name for name in others if unit_of_time(name) not in ("", unit) and not is_part(bases.get(name, name))]
    if not asked and rest and unit and not own & _WHOLE_RUNS and own != {"time"}:
        raise InputError(
            f"whether {time!r} is the time of one solver, and {', '.join(map(repr, rest))} of others, is open: if so, "
            f"give all in one unit, as s; if it is the time of one program, say so with {option_text('--time', time)}"
        )


def _check_spelling(solvers: Sequence[str]) -> None:
    """Ask about names of solvers that differ only in capitals or the marks between words."""
    by_key: dict[str, list[str]] = {}
    for name in solvers:
        by_key.setdefault(name_key(name), []).append(name)
    if alike := next((names for names in by_key.values() if len(names) > 1), None):
        raise InputError(
            f"whether {', '.join(map(repr, alike))} are one solver is open: if so, write its name alike everywhere; if "
            "not, give them names that differ in more than capitals and marks"
        )


def _check_nobody_missing(found: Measurements, learned: Learned) -> None:
    """Refuse an assignment without the solver whose table couldn't be read."""
    if learned.left_out:
        return
    read = {path for path, _ in found.sources}
    lost = [one for one in found.lost if one.path not in read and _TABLES & {s.lower() for s in one.path.suffixes}]
    if strange := [path for path in found.unknown if path.suffix.lower() in _OF_TIMES]:
        note(
            f"left out, since in no known format: {', '.join(map(str, strange[:5]))}{' …' if len(strange) > 5 else ''}"
        )
    if lost:
        raise InputError(
            f"{lost[0].path} was left out ({lost[0].reason}), so that a solver may be missing: correct it, or give the "
            "files of all solvers by their names"
        )


def _check_no_sum(learned: Learned) -> None:
    """Ask about a solver whose times are the sums of the others' in all runs: that of the whole, by another name."""
    import numpy as np

    times = {name: runs.values for name, runs in learned.runs.items()}
    lengths = {len(values) for values in times.values()}
    if len(times) < 3 or len(lengths) > 1 or lengths.pop() < _FEWEST:
        return
    everything = np.sum(list(times.values()), axis=0)
    for name, values in times.items():
        if np.allclose(values, everything - values, rtol=_TIMERS / 3, atol=0):
            raise InputError(
                f"the times of {name!r} are the sums of those of the others, as those of the whole coupled run are: "
                f"leave it out with --without {shlex.quote(name)}; if it is a solver, give its times apart"
            )


def _check_no_twins(learned: Learned, *, no_waiting: bool) -> None:
    """Ask about two solvers of the same times, to the last digit, and about names such as atm_old and atm_new."""
    import numpy as np

    for first, second in combinations(learned.runs, 2):
        one, other = learned.runs[first].values, learned.runs[second].values
        same = len(one) == len(other) >= _FEWEST and np.array_equal(np.sort(one), np.sort(other), equal_nan=True)
        if (same and np.ptp(one) > 0 and not no_waiting) or _are_versions(first, second):
            older = max((first, second), key=lambda name: (bool(_OLD & set(re.findall(r"[a-z]+", name.lower()))), name))
            why = "have the same times in all runs" if same else "may be two versions of one solver"
            raise InputError(
                f"{first} and {second} {why}: if they are one solver, leave one out, as --without "
                f"{shlex.quote(older)}; if these are the times of a whole step, with the waiting, give those of each "
                "without it; if both are right, --no-waiting says so"
                if same
                else f"{first} and {second} {why}: if so, leave one out, as --without {shlex.quote(older)}; if they "
                "are two solvers, give them names without words such as old and new"
            )


def _are_versions(first: str, second: str) -> bool:
    """Tell whether two names differ in words of versions only.

    Examples
    --------
    >>> _are_versions("atm_old", "atm_new"), _are_versions("atm (copy)", "atm"), _are_versions("atm1", "atm2")
    (True, True, False)
    """
    one, other = (set(re.findall(r"[^\W\d_]+", name.lower())) for name in (first, second))
    return one != other and (one ^ other) <= _VERSIONS and bool(one & other)


def _check_waiting(learned: Learned, about: Texts, *, no_waiting: bool) -> None:
    """Ask about times that may contain the waiting for others by what stands beside them, and by other columns."""
    if no_waiting:
        return
    for solver in learned.runs:
        told = next((one.text for one in about.all_of(solver) if _tells_waiting(one.text)), "")
        if told:
            raise InputError(f"{told!r} tells that times contain the waiting for other solvers: {_WITHOUT_WAITING}")
    waits = {name for runs in learned.runs.values() for name in runs.quantities if "wait" in name.lower()}
    own = {name for runs in learned.runs.values() for name in ("coupling", "solving") if name in runs.quantities}
    asked = learned.found is not None and any(
        "--time" in one.why for one in learned.found.columns if one.role == "time"
    )
    if waits and not own and not asked:
        raise InputError(
            f"whether the times contain {', '.join(sorted(waits))} is open: {_WITHOUT_WAITING}; --time says which "
            "column to learn"
        )


def _tells_waiting(text: str) -> bool:
    """Tell whether a text says that times contain the waiting.

    Examples
    --------
    >>> _tells_waiting("includes waiting for atm"), _tells_waiting("without waiting"), _tells_waiting("with_waiting")
    (True, False, True)
    >>> _tells_waiting("Zeiten ohne Wartezeit"), _tells_waiting("waiting time already subtracted")
    (False, False)
    """
    words = re.findall(r"[^\W\d_]+", text.lower())
    return any(_WAITING.fullmatch(word) for word in words) and not set(words) & _NOT


def _check_balance(learned: Learned) -> None:
    """Ask whether times contain the waiting where two solvers take nearly the same in each run, on other cores.

    So do solvers whose cores were balanced well in all runs. If times agree run by run, they do so in their order.
    """
    import numpy as np

    ordered = {name: runs.ok.to_frame().sort_values(runs.response) for name, runs in learned.runs.items()}
    for first, second in combinations(learned.runs, 2):
        one, other = ordered[first], ordered[second]
        if len(one) != len(other) or len(one) < _FEWEST or "solving" in learned.runs[first].quantities:
            continue  # preCICE tells solving from waiting
        logs = [np.log(ordered[name][learned.runs[name].response].to_numpy()) for name in (first, second)]
        apart = float(np.sqrt(np.mean((logs[0] - logs[1]) ** 2)))
        counts = [ordered[name][list(learned.runs[name].parameters)].to_numpy() for name in (first, second)]
        moved = np.mean([tuple(a) != tuple(b) for a, b in zip(*counts, strict=True)])
        if apart < _TIMERS and np.ptp(logs[0]) > _VARIED * apart and moved > 0.5:
            raise InputError(
                f"in {len(one)} runs, {first} and {second} take the same time, to {max(100 * apart, 0.01):.1g} %, "
                f"although their cores differ, as times do that contain the waiting for each other: {_WITHOUT_WAITING}"
            )
