"""Whether the times of coupled solvers are of the same work: what stands in and around their tables may tell another.

Names of files, folders and solvers, lines beside a table and columns with one value may tell work: ``atm_1month.csv``
beside ``ocn_1year.csv``, ``5-day run`` above one table. Where the work differs, evenly asks. Whatever else differs is
said, beside what is assumed: all times are those of the same step of the coupled run.
"""

from __future__ import annotations

import dataclasses
import re
import shlex
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from evenly.cli.console import note
from evenly.cli.step_lengths import as_option, check_counts, lengths_in, tells_steps
from evenly.cli.texts_about import Text, Texts
from evenly.errors import InputError
from evenly.readers.tables.columns import unit_of_time
from evenly.readers.tables.per_work import days_of, is_label_of_work, is_of_a_step, is_step_length, time_of_work
from evenly.readers.tables.works import Work, differ, works_in
from evenly.runs.count_names import kind_of
from evenly.runs.step_days import days_of_step

if TYPE_CHECKING:
    from evenly.readers import Measurements
    from evenly.runs.runs import Runs

__all__ = ["WORK", "are_tables", "are_tables_or_logs", "check_folders", "check_same_work"]

#: Words of counts of the work of a run: times of different amounts of work can't be compared.
WORK = frozenset({
    "steps", "nsteps", "timesteps", "windows", "iterations", "days", "months", "years", "nts", "ndays", "nyears",
    "cycles", "day", "month", "year", "stop", "sim", "simulated", "simulation", "simtime", "nstep", "ntimesteps",
    "ntimestep", "iters", "niter", "niters", "iter", "couplings", "schritte", "zeitschritte", "anzahlschritte", "tage",
    "monate", "jahre", "jours", "mois", "pas", "días", "dias", "meses", "años", "giorni", "mesi", "anni", "simulierte",
    "simulierter", "simulada", "simulado", "simulados", "simulées", "simulés", "simulée", "simulé", "hours", "tmax",
    "tend", "duration", "durée", "duración", "dauer", "runlength",
})  # fmt: skip
_OF_NODES = re.compile(
    r"\bnumber of nodes\b|\bnodes? (?:instead|each|x|\*)|\bnodes?\b.*\bcores each\b|\bcores = \w*nodes?|\bKnotenzahl\b",
    re.IGNORECASE,
)
#: Words by which a line tells some runs from the rest.
_OTHERS = re.compile(r"\b(?:others?|rest|except|übrigen|anderen|restlichen|sauf|autres|otros|resto)\b", re.IGNORECASE)
#: Simulated times that differ by less are equal but for rounded numbers of steps.
_ROUNDED = 0.002
#: So much of a line is quoted.
_QUOTED = 60


def check_same_work(
    runs: Mapping[str, Runs],
    found: Measurements,
    about: Texts,
    *,
    chosen: bool,
    step_days: float | None = None,
    layout: str | None = None,
) -> None:
    """Refuse times of solvers that are of different work, and say what is assumed where nothing tells the work.

    Parameters
    ----------
    runs : mapping of str to Runs
        The runs of each solver.
    found : Measurements
        Where they were read.
    about : Texts
        What stands about the solvers.
    chosen : bool
        Whether the user named the parameters: then nothing but the times tells the work.
    step_days : float, optional
        The days that a step simulates, as the user says.
    layout : str, optional
        How solvers wait for each other, as the user says. If it counts the steps of each, these may be of different
        lengths.

    Raises
    ------
    InputError
        If the work differs, or contradicts what the user says.
    """
    from evenly.readers.simulated_days import days_of_solvers

    times = [column for column in found.columns if column.role == "time"]
    days = {column.name: days_of(column.name, column.unit) for column in times}
    if len(set(days.values())) > 1:
        told = ", ".join(f"{name!r}" for name in days)
        raise InputError(
            f"the times of the solvers ({told}) are of different work: a step is a simulated year with SYPD and times "
            "per year, a simulated day with SDPD, and another one where a time says neither: give all in one unit"
            f"{', or say with --step-days how many days such a time simulates' if None in days.values() else ''}"
        )
    days_of_step(days_of_solvers(runs, found.days))
    steps_told = tells_steps(layout, runs)
    other: list[str] = []
    of_steps = any(is_of_a_step(column.name) for column in times)
    of_work = any(time_of_work(name) is not None or one is not None for name, one in days.items())
    of_work |= found.same_days
    if not chosen:
        other += _settings_that_differ(
            runs, layout, of_steps=of_steps, may_be_steps=are_tables(found) and not of_work,
            of_days=bool(days) and None not in days.values(),
        )  # fmt: skip
        _check_some_runs(runs, about)
    if not are_tables(found):  # formats of programs but logs tell what their times are of
        if are_tables_or_logs(found) and not found.days:
            note("all times are taken as those of the same step of the coupled run")
        return
    if times and not chosen:
        _check_units_and_counts(runs, found, about)
    if not chosen:
        _check_step_lengths(about, next(iter(runs.values())).parameters, layout, of_steps=of_steps)
    if of_work:
        if other:
            note(f"taken as settings of each solver: {'; '.join(other)}")
        return
    shared = ""
    if not chosen:
        _check_works(about, next(iter(runs.values())).parameters, steps_told=steps_told)
        _check_lines_of_all(about, next(iter(runs.values())).parameters)
        other += _names_that_differ(about) + _lines_that_differ(about)
        shared = "" if any(is_of_a_step(name) for name in days) else _work_of_all(about, found, step_days)
    although = f", on one machine, although {'; '.join(other)}" if other else ""
    of_what = "a step of each solver, which the layout counts" if steps_told else "the same step of the coupled run"
    note(f"all times are taken as those of {of_what}{shared}{although}")


def are_tables(found: Measurements) -> bool:
    """Tell whether all runs are from tables, of jobs perhaps: they don't tell what a time is of."""
    from evenly.readers.jobs.job_reader import JobReader
    from evenly.readers.registry import reader_class

    return all(
        name == "table" or issubclass(reader_class(name), JobReader) for name in {name for _, name in found.sources}
    )


def are_tables_or_logs(found: Measurements) -> bool:
    """Tell whether all runs are from tables or logs, which don't tell whether a program ran alone."""
    rest = tuple((path, name) for path, name in found.sources if name != "log")
    return are_tables(dataclasses.replace(found, sources=rest))


def _settings_that_differ(
    runs: Mapping[str, Runs], layout: str | None, *, of_steps: bool, may_be_steps: bool, of_days: bool
) -> list[str]:
    """Refuse counts of work that are the same in a solver's runs, but not in all; return other such settings.

    So are the lengths of a step where times are, or may be, those of a step, unless the layout tells how many steps
    each solver takes. Where times tell that they are those of a day or year (`of_days`), the days of a run don't count.
    """
    from evenly.readers.tables.constants import SETTINGS
    from evenly.readers.tables.lone_work import days_in

    values: dict[str, dict[str, float | str]] = {}
    for solver, one in runs.items():
        table = one.to_frame()
        for name in (*one.parameters, *one.quantities):
            if of_days and days_in(name, 1.0) is not None:
                continue
            if table[name].nunique() == 1 and (name in one.parameters or len(table) > 1):
                values.setdefault(name, {})[solver] = table[name].dropna().iloc[0]
    said: list[str] = []
    if not (of_steps or tells_steps(layout, runs)) and (whole := _whole_runs(values, set(runs))):
        note(f"all times are taken as those of whole runs: {' * '.join(whole)} is the same for all")
        values = {name: of_solvers for name, of_solvers in values.items() if name not in whole}
    for name, of_solvers in values.items():
        not_told = [solver for solver, one in runs.items() if name not in (*one.parameters, *one.quantities)]
        varied = len(of_solvers) + len(not_told) < len(runs)
        if len(set(of_solvers.values())) + bool(not_told) < 2 or (varied and name not in _parameters(runs)):
            continue
        told = ", ".join(
            f"{value if isinstance(value, str) else format(value, 'g')} for {solver}"
            for solver, value in of_solvers.items()
        ) + "".join(f", not told for {solver}" for solver in not_told)
        words = set(_words(name))
        is_length = is_step_length(name) and (of_steps or may_be_steps)
        lengths = lengths_in(name, of_solvers) if is_length else {}
        if is_length and layout is not None and tells_steps(layout, runs):
            check_counts(layout, lengths, f"{name} is {told}", f"leave {name} out with --parameters")
            continue
        by_name = is_length or (not of_steps and (bool(words & WORK) or words >= {"run", "length"}))
        by_name |= any(one.quantities.get(name) == "s" for one in runs.values())  # a length of time that is no result
        texts = [value for value in of_solvers.values() if isinstance(value, str)]
        by_label = any(map(is_label_of_work, texts)) or differ([works_in(text) for text in texts])
        if by_name or by_label:
            raise InputError(
                f"{name} is {told}, so that their times are of different work: give the time of one step of the "
                f"coupled run for each; or, if the times are those already, leave {name} out with --parameters; if it "
                "counts simulated days, call it simulated_days"
                + (f"; or say how many steps each takes, as {as_option(layout, lengths, runs)}" if lengths else "")
            )
        if not (words & SETTINGS or kind_of(name) or not_told):
            said.append(f"{name} is {told}")
    return said


def _whole_runs(values: Mapping[str, Mapping[str, float | str]], solvers: set[str]) -> tuple[str, ...]:
    """Return the columns of steps' lengths and of their number if both make the same simulated time for all."""
    for length in filter(is_step_length, values):
        lengths = lengths_in(length, values[length])
        for number, counts in values.items():
            if number == length or not set(_words(number)) & WORK or not set(lengths) == set(counts) == solvers:
                continue
            simulated = [lengths[name] * count for name, count in counts.items() if not isinstance(count, str)]
            if len(simulated) == len(solvers) and 0 < max(simulated) <= (1 + _ROUNDED) * min(simulated):
                return length, number
    return ()


def _words(name: str) -> list[str]:
    return re.split(r"[\s_\-.()\[\]]+", name.lower())


def _parameters(runs: Mapping[str, Runs]) -> set[str]:
    return {name for one in runs.values() for name in one.parameters}


def _check_works(about: Texts, parameters: Sequence[str], *, steps_told: bool) -> None:
    """Refuse works that differ: of all that tell any in their names, or in lines; in lines, all must tell the same.

    Numbers of steps don't count where the layout tells them.
    """

    def tells(text: Text) -> bool:
        return any(not (steps_told and work.unit == "steps") for work in text.works)

    for lines in (False, True):
        texts = {
            solver: [one for one in told if one.is_line == lines and tells(one)] for solver, told in about.of.items()
        }
        some = {solver: [work for one in its for work in one.works] for solver, its in texts.items() if its}
        missing = lines and 0 < len(some) < len(texts)
        if not (differ(list(some.values())) or missing):
            continue
        told = ", ".join(
            repr(solver) if (text := texts[solver][0].text) == solver else f"{_short(text)!r} for {solver}"
            for solver in some
        )
        lacking = f", and nothing for {', '.join(name for name in texts if name not in some)}" if missing else ""
        where, how = "lines or cells" if lines else "names", "may be" if missing else "are"
        raise InputError(
            f"the {where} tell that the times of the solvers {how} of different work ({told}{lacking}): give the time "
            "of one step of the coupled run for each; or, if the times are those already, name the parameters, as in "
            f"--parameters {','.join(parameters)}"
        )


def _check_step_lengths(about: Texts, parameters: Sequence[str], layout: str | None, *, of_steps: bool) -> None:
    """Refuse times of steps of different lengths: headings tell that, and lines where times are those of a step.

    If the layout counts the steps of each solver, its counts must agree with the lengths.
    """
    told = {
        solver: [one for one in texts if one.step_length and (one.is_heading or of_steps)]
        for solver, texts in about.of.items()
    }
    some = {solver: texts[0] for solver, texts in told.items() if texts}
    lengths = {solver: text.step_length[0].count for solver, text in some.items()}
    said = ", ".join(f"{_short(text.text)!r} for {solver}" for solver, text in some.items())
    named = f"--parameters {','.join(parameters)}"
    if layout is not None and tells_steps(layout, told):
        check_counts(layout, lengths, f"the steps of the solvers are of different lengths ({said})", f"add {named}")
    elif some and (len(some) < len(told) or differ([text.step_length for text in some.values()])):
        raise InputError(
            f"the steps of the solvers may be of different lengths ({said}): give the time of one step of the coupled "
            f"run for each, or say how many steps each takes in it, as in {as_option(layout, lengths, told)} {named}; "
            f"if the times are of one step of the coupled run already, {named} alone says so"
        )


def check_folders(runs: Mapping[str, Runs], typed: Sequence[Path]) -> None:
    """Ask about a solver's runs in folders of several kinds by their words: ``8_8`` beside ``8_8_fine``.

    The solver's own name tells no kind. Who types the folders themselves means all of them: then it is said. So it is
    where most folders have words of their own (``monday``, ``try2``), which tell no kind.

    Parameters
    ----------
    runs : mapping of str to Runs
        The runs of each solver.
    typed : sequence of Path
        The files and folders that were given.
    """
    tops = [path.resolve() for path in typed]
    for solver, one in runs.items():
        folders = sorted({Path(str(source)).resolve().parent for source in one.to_frame()["source"]})
        below = [next((path.relative_to(top) for top in tops if path.is_relative_to(top)), path) for path in folders]
        for parts, is_typed in ((below, False), (folders, True)):
            words = [_words_of_folders(path) - _words_of_folders(Path(solver)) for path in parts]
            common = words[0].intersection(*words)
            kinds = {frozenset(its - common) for its in words}
            if len(kinds) < 2:
                continue
            own = ", ".join(map(repr, sorted(set[str]().union(*kinds))))
            if is_typed or (frozenset() not in kinds and 2 * len(kinds) > len(words)):
                note(f"the folders of {solver}'s runs differ by {own} in their names: all runs are taken as alike")
                return
            everything = " ".join(shlex.quote(str(path)) + "/*" * path.is_dir() for path in typed)
            raise InputError(
                f"only some folders of {solver}'s runs have {own} in their names, so that the runs may be of different "
                f"kinds: give the folders of one kind, each by its name; if all are alike, give all of them so, as "
                f"{everything}"
            )


def _words_of_folders(path: Path) -> set[str]:
    """Return the words in the names of folders; of letters that stand in all, as in ``n8`` and ``n16``, none counts."""
    words = re.findall(r"[^\W\d_]+", str(path).lower())
    return {word.rstrip("s") or word for word in words}


def _check_some_runs(runs: Mapping[str, Runs], about: Texts) -> None:
    """Ask about lines that tell that some runs are of another machine, mesh or version: by their folders or counts."""
    from evenly.readers.tables.remarks import tells_another

    for solver, one in runs.items():
        table = one.to_frame()
        folders = {part for path in map(Path, map(str, table["source"].unique())) for part in path.parent.parts}
        names = {name for name in folders if re.search(r"\d", name)}
        counts = {f"{value:g}" for name in one.parameters if kind_of(name) for value in table[name].unique()}
        for text in about.all_of(solver):
            words = set(re.findall(r"[\w.-]*\w", text.text))
            of_some = names & words or 0 < len(counts & words) < len(counts)
            if text.is_line and of_some and (tells_another(text.text) or _OTHERS.search(text.text)):
                raise InputError(
                    f"{_short(text.text)!r} may tell that some runs of {solver} aren't as the others are: give those "
                    "of one kind only; or, if all are alike, leave this line out"
                )


def _check_units_and_counts(runs: Mapping[str, Runs], found: Measurements, about: Texts) -> None:
    """Ask about lines that tell of one solver that its times are in another unit, or that its counts are nodes."""
    times = [column for column in found.columns if column.role == "time"]
    units = {column.unit for column in times}
    are_named = all(unit_of_time(column.name) for column in times)
    parameters = next(iter(runs.values())).parameters
    are_nodes = any(kind_of(name) == "nodes" for name in parameters)
    told = {
        solver: [(text, unit) for text in its if text.is_line for unit in text.units]
        for solver, its in about.of.items()
    }
    few = not are_named and 0 < sum(map(bool, told.values())) < len(told)
    for solver, its in about.of.items():
        wrong = next((text for text, unit in told[solver] if few or unit not in units), None)
        counts = next((text for text in its if text.is_line and _OF_NODES.search(text.text) and not are_nodes), None)
        if text := wrong or counts:
            what = "times of the solvers" if wrong else "counts of the solvers"
            raise InputError(
                f"{_short(text.text)!r} tells that the {what} may be in different units: give all in one; or, if they "
                f"are, name the parameters, as --parameters {','.join(parameters)}"
            )


def _check_lines_of_all(about: Texts, parameters: Sequence[str]) -> None:
    """Ask about lines that tell several amounts of work: ``5 days for atm, 30 days for ocn``."""
    by_unit: dict[str, list[tuple[Work, str]]] = {}
    for one in about.shared:
        for work in one.works:
            by_unit.setdefault(work.unit, []).append((work, one.text))
    for told in by_unit.values():
        if differ([[work] for work, _ in told]):
            texts = [repr(_short(text)) for text in dict.fromkeys(text for _, text in told)]
            said = f"{' and '.join(texts)} {'tell' if len(texts) > 1 else 'tells'} several amounts of work"
            raise InputError(
                f"{said}, so that the times of the solvers may be of different work: give the time of one step of the "
                "coupled run for each; or, if the times are those already, name the parameters, as in --parameters "
                f"{','.join(parameters)}"
            )


def _work_of_all(about: Texts, found: Measurements, step_days: float | None) -> str:
    """Return the simulated days that the times of all solvers are of, in words; refuse others that the user says."""
    from evenly.readers.simulated_days import days_told

    if all(one.days for one in found.runs.values()):
        return ""  # the reader said it, and they were compared with what the user says
    days = {count: text for text, count in days_told(found.columns).items()}
    told = [(one.text, one.works) for its in (*about.of.values(), about.shared) for one in its]
    days |= {work.count: text for text, works in told for work in works if work.unit == "days"}
    if len(days) != 1:
        return ""
    (count, text), *_ = days.items()
    if step_days is not None and not Work("days", step_days).is_like(Work("days", count)):
        raise InputError(
            f"{_short(text)!r} tells that the times are of {count:g} simulated days, but --step-days is {step_days:g}: "
            f"if they are, say --step-days {count:g}; if they are of {step_days:g} already, name the parameters with "
            "--parameters"
        )
    return "" if found.days else f", with {step_days or count:g} simulated days ({_short(text)})"  # the reader said it


def _names_that_differ(about: Texts) -> list[str]:
    """Return a sentence about parts of names that not all have: of files, folders and solvers.

    Parts without a number count if several solvers have them: those of one may be its name.
    """
    parts = {
        solver: {part for one in told if one.is_name for part in _several(re.split(r"[\s_\-.]+", one.text))}
        for solver, told in about.of.items()
    }
    having = Counter(part for its in parts.values() for part in its)
    own = [
        part
        for its in parts.values()
        for part in sorted(its)
        if having[part] < len(parts) and (having[part] > 1 or re.search(r"\d", part))
    ]
    return [f"only some names have {', '.join(dict.fromkeys(own))}"] if own else []


def _several(parts: Sequence[str]) -> Iterable[str]:
    """Return the parts of a name, unless it is one word: the solver's."""
    return parts if len(parts) > 1 else ()


def _lines_that_differ(about: Texts) -> list[str]:
    """Return a sentence about the lines beside tables, if not all say the same, but for the solver's name."""
    lines = {
        solver: [
            re.sub(rf"(?<!\w){re.escape(solver)}(?!\w)", "…", one.text, flags=re.IGNORECASE)
            for one in told
            if one.is_line
        ]
        for solver, told in about.of.items()
    }
    common = set.intersection(*(set(its) for its in lines.values()))
    own = {solver: [line for line in its if line not in common] for solver, its in lines.items()}
    told = [f"{_short(its[0])!r} for {solver}" for solver, its in own.items() if its]
    return [f"lines or cells differ: {', '.join(told)}"] if told else []


def _short(text: str) -> str:
    return text if len(text) <= _QUOTED else f"{text[: _QUOTED - 2]} …"
