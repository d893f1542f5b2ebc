"""Whether the times of coupled solvers are of the same work: what stands in and around their tables may tell another.

Names of files, folders and solvers, lines beside a table and columns with one value may tell work: ``atm_1month.csv``
beside ``ocn_1year.csv``, ``5-day run`` above one table. Where the work differs, evenly asks. Whatever else differs is
said, beside what is assumed: all times are those of the same step of the coupled run.
"""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from evenly.cli.console import note
from evenly.cli.layout_input import days_of_time
from evenly.errors import EvenlyError, InputError
from evenly.readers.tables.per_work import is_label_of_work, is_of_a_step, is_step_length, time_of_work
from evenly.runs.count_names import kind_of

if TYPE_CHECKING:
    from evenly.readers import Measurements
    from evenly.runs.runs import Runs

__all__ = ["WORK", "Work", "check_same_work", "works_in"]

#: Words of counts of the work of a run: times of different amounts of work can't be compared.
WORK = frozenset({
    "steps", "nsteps", "timesteps", "windows", "iterations", "days", "months", "years", "nts", "ndays", "nyears",
    "cycles", "day", "month", "year", "stop", "sim", "simulated", "simulation", "simtime", "nstep", "ntimesteps",
    "ntimestep", "iters", "niter", "niters", "iter", "couplings", "schritte", "zeitschritte", "anzahlschritte", "tage",
    "monate", "jahre", "jours", "mois", "pas", "días", "dias", "meses", "años", "giorni", "mesi", "anni", "simulierte",
    "simulierter", "simulada", "simulado", "simulados", "simulées", "simulés", "simulée", "simulé", "hours", "tmax",
    "tend", "duration", "durée", "duración", "dauer", "runlength",
})  # fmt: skip
#: Words of settings that each solver has for itself.
_OWN_SETTINGS = frozenset({
    "mesh", "grid", "gitter", "maillage", "malla", "resolution", "res", "points", "cells", "elements", "dofs", "size",
    "level", "levels", "order", "threads", "version", "code", "model", "compiler", "machine", "system", "cluster",
    "program", "name",
})  # fmt: skip
_HOUR = r"h|hrs?|hours?|stunden?|heures?|horas?|ore"
_DAY = r"d|days?|tage?n?|jours?|d[ií]as?|giorn[oi]"
_MONTH = r"mon|mo|mths?|months?|monate?n?|mois|mes(?:es)?|mes[ei]"
_YEAR = r"y|yrs?|years?|jahre?n?|ans?|años?|ann[oi]"
_STEPS = (
    r"steps?|timesteps?|(?:zeit)?schritte?n?|iterations?|iterationen|windows?|intervals?|couplings?|cycles?|zyklen|"
    r"pas|pasos?|pass[oi]"
)
#: Days of what a name tells; of steps, nobody knows.
_DAYS = {_HOUR: 1 / 24, _DAY: 1.0, _MONTH: 365 / 12, _YEAR: 365.0}
_OF_MODEL = r"(?:coupling|time|model|simulated|simulierten?)"
#: ``10days``, ``5-day``, ``n_days30``, ``month``.
_IN_NAMES = re.compile(
    rf"(?<![a-z0-9.])(?:(?P<count>\d+)[\s_-]?(?P<unit>{_HOUR}|{_DAY}|{_MONTH}|{_YEAR}|{_STEPS})"
    rf"|n?_?(?P<before>{_HOUR}|{_DAY}|{_MONTH}|{_YEAR}|{_STEPS})[\s_-]?(?P<number>\d+)"
    r"|(?P<one>day|month|year|tag|monat|jahr|jour|mois))(?![a-z0-9])",
    re.IGNORECASE,
)
#: ``5-day run``, ``20 coupling intervals``, ``days = 5``, ``a simulated month``.
_IN_LINES = re.compile(
    rf"(?<![a-z0-9.])(?:(?P<count>\d+)[\s_-]?(?:{_OF_MODEL}\s)?(?P<unit>{_DAY}|{_MONTH}|{_YEAR}|{_STEPS})"
    r"|(?P<before>days|months|years|tage|monate|jahre|jours|mois|d[ií]as|meses|años|giorni|mesi|anni|n?steps|schritte|"
    r"iterations)[\s:=]+(?P<number>\d+)"
    rf"|(?:{_OF_MODEL}|one|per|ein(?:en?|em)?|un|une)\s(?P<one>day|month|year|tag|monat|jahr|jour|mois|mes|d[ií]a|año))"
    r"(?![a-z0-9])",
    re.IGNORECASE,
)
#: Dimensions, as in ``ocean_3d`` and ``d3``.
_DIMENSIONS = re.compile(r"[23]d|d[23]|[hdy]\d+", re.IGNORECASE)
#: A month has 28 to 31 days.
_ALIKE = 1.09
#: So much of a line is quoted.
_QUOTED = 60


@dataclass(frozen=True, order=True)
class Work:
    """An amount of work: days, or steps of some kind.

    Parameters
    ----------
    unit : str
        ``"days"``, or a word as it is written: ``"steps"``.
    count : float
        How many.
    """

    unit: str
    count: float

    def is_like(self, other: Work) -> bool:
        """Tell whether two amounts may be the same: a month has 28 to 31 days."""
        return self.unit == other.unit and max(self.count, other.count) <= _ALIKE * min(self.count, other.count)


@dataclass(frozen=True)
class _Told:
    """What stands somewhere about a solver: in the name of itself, a file or a folder, or in a line beside a table."""

    text: str
    is_line: bool = False

    @property
    def works(self) -> list[Work]:
        return works_in(self.text, is_line=self.is_line)


def works_in(text: str, *, is_line: bool = False) -> list[Work]:
    """Return the amounts of work that a name tells, or a line of text.

    Examples
    --------
    >>> works_in("atm_10days"), works_in("ocn-1yr"), works_in("ice_3d"), works_in("x_500steps")
    ([Work(unit='days', count=10.0)], [Work(unit='days', count=365.0)], [], [Work(unit='steps', count=500.0)])
    >>> works_in("a 5-day run of 20 coupling intervals", is_line=True), works_in("ocn_month") == works_in("ocn_1mon")
    ([Work(unit='days', count=5.0), Work(unit='intervals', count=20.0)], True)
    >>> works_in("days = 3, measured on an 8-core node", is_line=True)
    [Work(unit='days', count=3.0)]
    """
    found = []
    for match in (_IN_LINES if is_line else _IN_NAMES).finditer(text):
        if _DIMENSIONS.fullmatch(match[0]):
            continue
        unit = (match["unit"] or match["before"] or match["one"]).lower()
        count = float(match["count"] or match["number"] or 1)
        days = next((days for words, days in _DAYS.items() if re.fullmatch(words, unit)), None)
        found.append(Work("days", count * days) if days else Work(unit.rstrip("s") + "s", count))
    return [work for work in found if work.count > 0]


def check_same_work(
    runs: Mapping[str, Runs], found: Measurements, *, chosen: bool, step_days: float | None = None
) -> None:
    """Refuse times of solvers that are of different work, and say what is assumed where nothing tells the work.

    Parameters
    ----------
    runs : mapping of str to Runs
        The runs of each solver.
    found : Measurements
        Where they were read.
    chosen : bool
        Whether the user named the parameters: then nothing but the times tells the work.
    step_days : float, optional
        The days that a step simulates, as the user says.

    Raises
    ------
    InputError
        If the work differs, or contradicts what the user says.
    """
    times = [column for column in found.columns if column.role == "time"]
    days = {column.name: days_of_time(column) for column in times}
    if len(set(days.values())) > 1:
        told = ", ".join(f"{name!r}" for name in days)
        raise InputError(
            f"the times of the solvers ({told}) are of different work: a step is a simulated year with SYPD and times "
            "per year, a simulated day with SDPD, and another one where a time says neither: give all in one unit"
        )
    other: list[str] = []
    if not chosen:
        other += _settings_that_differ(runs, of_steps=any(is_of_a_step(column.name) for column in times))
    if any(name != "table" for _, name in found.sources):
        return  # formats of programs tell what their times are of
    if any(time_of_work(name) is not None or one is not None for name, one in days.items()):
        if other:
            note(f"taken as settings of each solver: {'; '.join(other)}")
        return
    shared = ""
    if not chosen:
        about = {solver: list(_told_about(solver, runs)) for solver in runs}
        _check_works(about, next(iter(runs.values())).parameters)
        other += _names_that_differ(about) + _lines_that_differ(about)
        shared = "" if any(is_of_a_step(name) for name in days) else _work_of_all(about, found, step_days)
    although = f", although {'; '.join(other)}" if other else ""
    note(f"all times are taken as those of the same step of the coupled run{shared}{although}")


def _settings_that_differ(runs: Mapping[str, Runs], *, of_steps: bool) -> list[str]:
    """Refuse counts of work that are the same in a solver's runs, but not in all; return other such settings.

    So are the lengths of a step where times are those of a step.
    """
    values: dict[str, dict[str, float | str]] = {}
    for solver, one in runs.items():
        table = one.to_frame()
        for name in (*one.parameters, *one.quantities):
            if table[name].nunique() == 1 and (name in one.parameters or len(table) > 1):
                values.setdefault(name, {})[solver] = table[name].dropna().iloc[0]
    said = []
    for name, of_solvers in values.items():
        not_told = [solver for solver, one in runs.items() if name not in (*one.parameters, *one.quantities)]
        varied = len(of_solvers) + len(not_told) < len(runs)
        if len(set(of_solvers.values())) + bool(not_told) < 2 or (varied and name not in _parameters(runs)):
            continue
        told = ", ".join(
            f"{value if isinstance(value, str) else format(value, 'g')} for {solver}"
            for solver, value in of_solvers.items()
        ) + "".join(f", not told for {solver}" for solver in not_told)
        words = set(re.split(r"[\s_\-.()\[\]]+", name.lower()))
        by_name = bool(words & WORK) or words >= {"run", "length"} or (of_steps and is_step_length(name))
        texts = [value for value in of_solvers.values() if isinstance(value, str)]
        by_label = any(map(is_label_of_work, texts)) or _differ([works_in(text) for text in texts])
        if by_name or by_label:
            raise InputError(
                f"{name} is {told}, so that their times are of different work: give the time of one step of the "
                f"coupled run for each; or, if the times are those already, leave {name} out with --parameters"
            )
        if not (words & _OWN_SETTINGS or kind_of(name) or not_told):
            said.append(f"{name} is {told}")
    return said


def _parameters(runs: Mapping[str, Runs]) -> set[str]:
    return {name for one in runs.values() for name in one.parameters}


def _told_about(solver: str, runs: Mapping[str, Runs]) -> Iterator[_Told]:
    """Yield the solver's name, those of its own files and their folders, and the lines about it."""
    yield _Told(solver)
    sources = {name: {str(path) for path in one.to_frame()["source"]} for name, one in runs.items()}
    all_paths = sorted(set().union(*sources.values()))
    above = os.path.commonpath([Path(path).resolve().parent for path in all_paths]) if all_paths else ""
    for path in sorted(sources[solver]):
        shared = any(path in paths for name, paths in sources.items() if name != solver)
        if not shared:
            yield _Told(Path(path).name.split(".")[0])
            for folder in Path(path).resolve().parent.relative_to(above).parts:
                yield _Told(folder)
        lines, own = _lines_around(Path(path), solver)
        for line in lines:
            named = {name for name in runs if re.search(rf"(?<!\w){re.escape(name)}(?!\w)", line, re.IGNORECASE)}
            if named == {solver} or (not named and (own or not shared)):
                yield _Told(line, is_line=True)


def _lines_around(path: Path, solver: str) -> tuple[list[str], bool]:
    """Return the lines beside a file's table, or in the solver's own sheet, and whether they are its own."""
    from evenly.readers.tables.cell_files import Cells, read_cells

    for sheet in (solver, None):
        try:
            cells = read_cells(path, sheet)
        except EvenlyError:  # there is no such sheet, or there are several
            continue
        if isinstance(cells, Cells):
            own = sheet is not None and path.suffix.lower().startswith(".xls")
            return [line.strip().strip("#%/! ") for line in cells.around], own
    return [], False


def _check_works(about: Mapping[str, Sequence[_Told]], parameters: Sequence[str]) -> None:
    """Refuse works that differ: of all that tell any in their names, or in lines; in lines, all must tell the same."""
    for lines in (False, True):
        texts = {solver: [one for one in told if one.is_line == lines and one.works] for solver, told in about.items()}
        some = {solver: [work for one in its for work in one.works] for solver, its in texts.items() if its}
        missing = lines and 0 < len(some) < len(texts)
        if not (_differ(list(some.values())) or missing):
            continue
        told = ", ".join(
            repr(solver) if (text := texts[solver][0].text) == solver else f"{_short(text)!r} for {solver}"
            for solver in some
        )
        lacking = f", and nothing for {', '.join(name for name in texts if name not in some)}" if missing else ""
        where, how = "lines beside tables" if lines else "names", "may be" if missing else "are"
        raise InputError(
            f"the {where} tell that the times of the solvers {how} of different work ({told}{lacking}): give the time "
            "of one step of the coupled run for each; or, if the times are those already, name the parameters, as in "
            f"--parameters {','.join(parameters)}"
        )


def _work_of_all(about: Mapping[str, Sequence[_Told]], found: Measurements, step_days: float | None) -> str:
    """Return the simulated days that the times of all solvers are of, in words; refuse others that the user says."""
    columns = [(one.name, one.only_value) for one in found.columns if one.only_value]
    texts = [f"{name}: {value}" for name, value in columns if works_in(f"{value} {name}")]
    told = [(text, works_in(" ".join(reversed(text.split(": "))))) for text in texts]
    told += [(one.text, one.works) for its in about.values() for one in its]
    days = {work.count: text for text, works in told for work in works if work.unit == "days"}
    if len(days) != 1:
        return ""
    (count, text), *_ = days.items()
    if step_days is not None and not Work("days", step_days).is_like(Work("days", count)):
        raise InputError(
            f"{_short(text)!r} tells that the times are of {count:g} simulated days, but --step-days is {step_days:g}: "
            f"if they are, say --step-days {count:g}; if they are of {step_days:g} already, name the parameters with "
            "--parameters"
        )
    return f", with {count:g} simulated days ({_short(text)})"


def _differ(works: Sequence[Sequence[Work]]) -> bool:
    """Tell whether some texts tell works that others don't."""
    told = [sorted(set(one)) for one in works]
    return any(
        len(one) != len(told[0]) or not all(a.is_like(b) for a, b in zip(one, told[0], strict=True)) for one in told[1:]
    )


def _names_that_differ(about: Mapping[str, Sequence[_Told]]) -> list[str]:
    """Return a sentence about parts of names that not all have: of files, folders and solvers.

    Parts without a number count if several solvers have them: those of one may be its name.
    """
    parts = {
        solver: {part for one in told if not one.is_line for part in _several(re.split(r"[\s_\-.]+", one.text))}
        for solver, told in about.items()
    }
    having = Counter(part for its in parts.values() for part in its)
    own = [
        part
        for its in parts.values()
        for part in sorted(its)
        if having[part] < len(parts) and (having[part] > 1 or re.search(r"\d", part))
    ]
    return [f"names differ in {', '.join(dict.fromkeys(own))}"] if own else []


def _several(parts: Sequence[str]) -> Iterable[str]:
    """Return the parts of a name, unless it is one word: the solver's."""
    return parts if len(parts) > 1 else ()


def _lines_that_differ(about: Mapping[str, Sequence[_Told]]) -> list[str]:
    """Return a sentence about the lines beside tables, if not all say the same, but for the solver's name."""
    lines = {
        solver: [
            re.sub(rf"(?<!\w){re.escape(solver)}(?!\w)", "…", one.text, flags=re.IGNORECASE)
            for one in told
            if one.is_line
        ]
        for solver, told in about.items()
    }
    common = set.intersection(*(set(its) for its in lines.values()))
    own = {solver: [line for line in its if line not in common] for solver, its in lines.items()}
    told = [f"{_short(its[0])!r} for {solver}" for solver, its in own.items() if its]
    return [f"lines beside the tables differ: {', '.join(told)}"] if told else []


def _short(text: str) -> str:
    return text if len(text) <= _QUOTED else f"{text[: _QUOTED - 2]} …"
