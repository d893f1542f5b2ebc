"""Columns with the time of a unit of work: ``time (h/year)``, ``s/step``, ``hours per simulated year``."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from evenly.readers.tables.works import works_in
from evenly.runs.units import MONTH_DAYS, YEAR_DAYS

__all__ = [
    "TimeOfWork",
    "days_of",
    "exception_in_text",
    "is_label_of_work",
    "is_of_a_step",
    "is_step_length",
    "other_time_in_text",
    "several_works",
    "sum_in_text",
    "time_of_work",
    "with_short_rate",
    "without_step_length",
    "work_in_text",
]

_PER = re.compile(
    r"^(?:(?P<base>.*?)(?P<mark>\s*[\[(]|[\s_]+))??(?P<unit>[^\W\d_]+\.?)"
    r"(?:\s*/\s*|[\s_]+(?:per|pro|par|por|je|al?|all)[\s_]+)(?P<work>[^\W\d][^\])]*?)\s*[\])]?\s*$",
    re.IGNORECASE,
)
#: ``time per simulated day (s)``
_UNIT_LAST = re.compile(
    r"^(?P<base>[^\[(]*\S)\s+(?:per|pro|par|por|je|for|für|pour)\s+(?P<work>[^\W\d_][^\[\](]*?)\s*"
    r"[\[(](?P<unit>[^\W\d_]+)\.?[\])]$",
    re.IGNORECASE,
)
_SIMULATED = re.compile(
    r"^(?:sim(?:ulated|ulation)?|mod(?:el|ell)?|m|s|simulierte[mnrs]?)[\s_.]*"
    r"(?=(?:day|year|yr|y|d|tag|jahr|month|monat|week|woche|hour)$)"
    r"|[\s_]*(?:of[\s_])?simul\w+$",
    re.IGNORECASE,
)
_YEARS = frozenset({"y", "yr", "year", "jahr", "an", "année", "annee", "ano", "año", "anno"})
_DAYS = frozenset({"d", "day", "tag", "jour", "dia", "día", "giorno"})
_STEPS = frozenset({"step", "time step", "time_step", "timestep", "schritt", "zeitschritt", "pas", "paso", "passo"})
_MONTHS = frozenset({"month", "monat", "mois", "mes", "mês", "mese"})
_OTHERS = _STEPS | frozenset({
    "week", "woche", "semaine", "iteration", "iter", "it", "window", "itération",
    "iteración", "iteracion", "ns", "nanosecond",
})  # fmt: skip
_OF_A_STEP = re.compile(
    r"(?:/|[\s_(](?:per|pro|par|por)[\s_])\s*(?:(?:coupling|coupled|model)[\s_])?(?:time[\s_-]?step|step|zeitschritt|schritt|pas|paso|passo)\b",
    re.IGNORECASE,
)
_COUNT = r"(?P<count>[1-9]\d{0,2}(?:[.,’' ]\d{3})+|[1-9]\d*\s?k?)\s*"
_WORDS = r"(?P<work>[^\W\d_]+(?:\s[^\W\d_]+){0,2})"
_SEVERAL = re.compile(
    r"\s*(?:/|(?<![^\W_])(?:per|pro|je|par|por(?:\s+cada)?|cada|for|für|pour|para|of|von|de|al?|ogni)\s+)\s*"
    + _COUNT + _WORDS,
    re.IGNORECASE,
)  # fmt: skip
_IN_TEXT = re.compile(
    r"\b(?:(?P<unit>seconds?|secs?|minutes?|hours?|sekunden?|minuten?|stunden?|secondes?|heures?|segundos?|secondi|ms|s|h)"
    r"|times?|timings?|runtimes?|zeit(?:en)?|laufzeit(?:en)?|temps|tiempos?|tempi|tempo)\b"
    r"(?:\s+(?:is|are|was|were|ist|sind|est|sont|son|es|given|measured|angegeben))*"
    r"(?:\s*(?:in|en)\s+[^\W\d_]+)?\s*[:(,]?\s*(?:per|pro|je|par|por|for|für|pour|para)\s+(?:cada\s+)?(?:"
    + _COUNT + r")?" + _WORDS,
    re.IGNORECASE,
)  # fmt: skip
_SOME = r"(?:\d+|two|three|four|five|ten|zwei|drei|vier|fünf|zehn|deux|trois|dos|tres|due|tre)"
_RUN_WORDS = (
    r"(?:runs|repetitions|repeats|executions|measurements|solves|calls|läufen?|wiederholungen|messungen|exécutions|"
    r"répétitions|ejecuciones|repeticiones|esecuzioni|ripetizioni)"
)
_RUNS = re.compile(
    r"\b(?:sums?|totals?|summen?|gesamtzeit(?:en)?|sommes?|sumas?|somm[ae])\s+(?:(?:time|times|zeit|temps)\s+)?"
    r"(?:of|over|for|von|über|aus|de|des|di|der)\s+(?:(?:all|the|alle[rn]?|den)\s+)?"
    rf"{_SOME}\s+(?:[^\W\d_]+\s+)?{_RUN_WORDS}\b",
    re.IGNORECASE,
)
#: ``each was executed 10x; the times are the sum``, ``je 10 Läufe zusammen``.
_TIMES_RUN = re.compile(
    rf"(?<![\w.]){_SOME}(?:\s?[x×](?!\w)|\s+(?:times|mal|fois|veces|volte|(?:[^\W\d_]+\s+)?{_RUN_WORDS})\b)",
    re.IGNORECASE,
)
_ADDED = re.compile(
    r"\b(?:sums?|summed|added up|summen?|summiert|zusammen|together|somme|suma|somma|ensemble|insieme)\b",
    re.IGNORECASE,
)
_OVER_RANKS = re.compile(
    r"\b(?:sums?|summed|added up|summen?|summiert|somme|suma|somma)\s+(?:over|of|across|über|aller|de|des|su)\s+"
    r"(?:all|the|all the|alle[rn]?|die|tous les|todos los|tutti i)?\s*(?:mpi[ -])?(?:ranks?|process(?:es)?|cores?|"
    r"threads?|tasks?|prozesse?n?|kerne?n?|rangs|processus|procesos|processi)\b",
    re.IGNORECASE,
)
#: What a sum may be of that is no time.
_NO_TIME = re.compile(
    r"\b(?:memory|mem|ram|rss|bytes|traffic|energy|power|flops?|cells|particles|speicher\w*|energie|mémoire|memoria)\b",
    re.IGNORECASE,
)
_TIMES = r"\b(?:times?|timings?|runtimes?|zeit(?:en)?|laufzeit(?:en)?|temps|tiempos?|tempi)\b"
_ARE = r"\s*(?:[=:]|(?:is|are|was|were|given|in|as|ist|sind|est|sont|son|sono|en)\b\s*)*\s*"
#: ``Times relative to the first``, ``time = core-hours charged``.
_NOT_OF_A_RUN = re.compile(
    rf"{_TIMES}{_ARE}(?:(?:relative|normali[sz]ed|relativ|normiert|bezogen|relatifs?|relativos?|relativi)\b(?:\s+[^\W\d_]+){{0,2}}"
    r"|(?:(?:all|the|total|charged)\s+)?(?:core|cpu|node|gpu|kern|cœur)(?:s|en)?[\s-]?(?:h|hours?|hrs?|stunden?|heures?)\b)",
    re.IGNORECASE,
)
#: Words of an exception.
_EXCEPT = re.compile(
    r"\b(?:except|but|only|others?|rest|außer|ausser|nur|sonst|übrigen?|sauf|seulement|salvo|excepto|solo|sólo|tranne)\b",
    re.IGNORECASE,
)
_STEP_LENGTH = re.compile(
    r"(?:dt|Δt|steps[\s_]per[\s_]day|delta[\s_]?t|Δt|(?:model|coupling)?[\s_]?time[\s_-]?step(?:[\s_]length)?|step[\s_]length|zeitschritt|"
    r"pas de temps|paso de tiempo)(?:$|[\s_\[(])",
    re.IGNORECASE,
)
#: ``(dt = 10 min)``, which tells of which step a time is, and not its unit.
_ASIDE = re.compile(
    r"[\s,;_]*(?:[\[(]\s*(?:dt|Δt|delta t|(?:time|coupling) ?step|zeitschritt)\b[^\])]*\d[^\])]*[\])]"
    r"|(?<![^\W_])(?:dt|Δt)\s*[=:]?\s*\d+(?:\.\d+)?\s*[^\W\d_]+\b)",
    re.IGNORECASE,
)
#: ``simulated years per day``, ``model_days/wallclock day``, ``SJ/Tag``; years alone are simulated, too.
_SIMULATED_PER_DAY = re.compile(
    r"(?<![^\W_])(?:(?P<simulated>sim(?:ul\w+|\.)?|model(?:led|ed)?)[\s_-]*)?"
    r"(?P<of>(?P<years>years?|yrs?|s[yj]|jahre|ann[ée]es|años|anni)|days?|tage|jours|d[ií]as|giorni)"
    r"(?:[\s_-]+(?P<behind>simul\w+))?(?:\s*/\s*|[\s_-]*(?:per|pro|par|por|al)[\s_-]*)"
    r"(?:(?:wall|real)[\s_-]*(?:clock|time)?[\s_-]*)?(?:day|tag|jour|d[ií]a|giorno)(?![^\W_])",
    re.IGNORECASE,
)
#: A step may be one of the model, or one after which solvers exchange data.
_KIND_OF_STEP = re.compile(r"^(?:coupling|coupled|model)[\s_]+(?=\w)")
#: What may stand before the unit without making it another time.
_ON_THE_WALL = frozenset({"", "wall", "wallclock", "walltime", "wallclocktime", "elapsed", "elapsedtime", "time"})


_SECONDS = frozenset({"s", "sec", "secs", "seconds"})


@dataclass(frozen=True)
class TimeOfWork:
    """A name that is, or ends with, a word and "per" another.

    Parameters
    ----------
    base : str
        What stands before: ``time`` of ``time (h/year)``.
    unit : str
        As it is written: ``h``.
    work : str
        In lower case, without "simulated": ``year``.
    days : float or None
        Days that the work simulates, if it is a day, a month or a year.
    is_certain : bool
        Whether the work can be nothing else: a year, a simulated day, a day in brackets, a step; but in ``hours/day``,
        a day may be one on the wall, and ``h/core`` is no time of work.
    """

    base: str
    unit: str
    work: str
    days: float | None
    is_certain: bool

    @property
    def said(self) -> str:
        """The work in words.

        Examples
        --------
        >>> found = [time_of_work(name) for name in ("time (h/an)", "time (s/day)", "min/month", "s/iter")]
        >>> [one.said for one in found if one is not None]
        ['a simulated year', 'a simulated day', 'a simulated month (1/12 of a year)', 'each iter']
        """
        known = {
            1.0: "a simulated day", MONTH_DAYS: "a simulated month (1/12 of a year)", YEAR_DAYS: "a simulated year",
        }  # fmt: skip
        return known.get(self.days or 0.0, f"each {self.work}")


def is_of_a_step(name: str) -> bool:
    """Tell whether a time is that of a step by its name.

    Examples
    --------
    >>> is_of_a_step("ms/step"), is_of_a_step("wall time per step [ms]"), is_of_a_step("time (s/day)")
    (True, True, False)
    """
    return _OF_A_STEP.search(name) is not None


def is_label_of_work(text: object) -> bool:
    """Tell whether a label names a unit of work: ``simulated day``, ``step``; a letter may stand for something else.

    Examples
    --------
    >>> is_label_of_work("simulated month"), is_label_of_work("per step"), is_label_of_work("coarse")
    (True, True, False)
    >>> is_label_of_work("1 month"), is_label_of_work("30 days"), is_label_of_work("d")
    (True, True, False)
    """
    work = re.sub(r"^(?:(?:per|pro|par|por)\s+)?[\d.,]*\s*", "", str(text).strip(), flags=re.IGNORECASE)
    work = re.sub(r"(?<=[^\W\d_]{3})s$", "", work)
    found = time_of_work(f"time (s/{work})")
    return len(work) > 2 and found is not None and found.is_certain


def without_step_length(name: str) -> str:
    """Return a name without the length of a step that it tells.

    Examples
    --------
    >>> without_step_length("time per step [ms] (dt = 10 min)"), without_step_length("dt (s)")
    ('time per step [ms]', 'dt (s)')
    """
    return _ASIDE.sub("", name) or name


def with_short_rate(name: str) -> str:
    """Return a name with SYPD or SDPD in place of the words for these rates.

    Examples
    --------
    >>> with_short_rate("simulated years per day"), with_short_rate("ocn [model days/wallclock day]")
    ('SYPD', 'ocn [SDPD]')
    >>> with_short_rate("years/day"), with_short_rate("days per day"), with_short_rate("s/simulated day")
    ('SYPD', 'days per day', 's/simulated day')
    >>> with_short_rate("Durchsatz (SJ/Tag)"), with_short_rate("jours simulés par jour")
    ('Durchsatz (SYPD)', 'SDPD')
    """
    match = _SIMULATED_PER_DAY.search(name)
    is_year = match is not None and match["years"] is not None
    if match is None or not (match["simulated"] or match["behind"] or is_year):
        return name
    return f"{name[: match.start()]}{'SYPD' if is_year else 'SDPD'}{name[match.end() :]}"


def several_works(name: str) -> tuple[str, float, str] | None:
    """Return a name without the number of works that its time is of, that number, and the work; None if there is none.

    Examples
    --------
    >>> several_works("time per 1000 steps (s)"), several_works("Zeit für 100 Schritte [s]")
    (('time (s)', 1000.0, 'step'), ('Zeit [s]', 100.0, 'schritt'))
    >>> several_works("ms/100 steps"), several_works("time per step"), several_works("time for 16 cores")
    (('ms', 100.0, 'step'), None, None)
    """
    match = _SEVERAL.search(name)
    if match is None or (work := _one_of(match["work"])) is None:
        return None
    digits = re.sub(r"\D", "", match["count"])
    count = float(digits) * (1000 if match["count"].rstrip().lower().endswith("k") else 1)
    return f"{name[: match.start()]}{name[match.end() :]}".strip(), count, work


def work_in_text(lines: Iterable[str]) -> str:
    """Return the words around a table that tell of which work its times are; "" if none do, or it is one step.

    Examples
    --------
    >>> work_in_text(["# Time is per 10 time steps."]), work_in_text(["# time per simulated day"])
    ('Time is per 10 time steps', 'time per simulated day')
    >>> work_in_text(["seconds per 100 steps"]), work_in_text(["2 hours per day", "seconds per step"])
    ('seconds per 100 steps', '')
    >>> work_in_text(["time per step in ms, 4 ranks per node", "Wall time of 10 steps per core"])
    ''
    """
    for line in lines:
        for match in _IN_TEXT.finditer(line):
            found = _one_of(match["work"])
            if found is not None and (match["count"] or not (match["unit"] or found in _OTHERS)):
                return line[match.start() : match.end()].rstrip()
    return ""


def sum_in_text(lines: Iterable[str]) -> str:
    """Return the words around a table that tell that a time is that of several runs or ranks together; "" if none do.

    Examples
    --------
    >>> sum_in_text(["Each time below is the sum of 10 identical runs."]), sum_in_text(["# mean of 10 runs"])
    ('sum of 10 identical runs', '')
    >>> sum_in_text(["each was executed 10x; times are the sum"]), sum_in_text(["sum over all ranks"])
    ('10x; times are the sum', 'sum over all ranks')
    >>> sum_in_text(["memory: sum over all ranks", "mean of 10 runs"])
    ''
    """
    for line in lines:
        if (match := _RUNS.search(line) or _OVER_RANKS.search(line)) is not None and not _NO_TIME.search(line):
            return match[0]
        if (match := _TIMES_RUN.search(line)) is not None and (added := _ADDED.search(line)) is not None:
            ends = sorted((*match.span(), *added.span()))
            return line[ends[0] : ends[-1]]
    return ""


def other_time_in_text(lines: Iterable[str]) -> str:
    """Return the words around a table that tell that its times are ratios, or those of all cores; "" if none do.

    Examples
    --------
    >>> other_time_in_text(["Times relative to the first"]), other_time_in_text(["# time = core-hours charged"])
    ('Times relative to the', 'time = core-hours')
    >>> other_time_in_text(["Timings in s, for 20,000 core-hours", "relative efficiency"])
    ''
    """
    return next((match[0] for line in lines if (match := _NOT_OF_A_RUN.search(line))), "")


def exception_in_text(lines: Iterable[str]) -> str:
    """Return the line beside a table that tells that some runs did another amount of work; "" if none does.

    Examples
    --------
    >>> exception_in_text(["# 1000 steps each, except 256 cores: 2000 steps"])
    '1000 steps each, except 256 cores: 2000 steps'
    >>> exception_in_text(["1000 steps each, but 5 days", "only 100 steps"])
    ''
    """
    for line in lines:
        works = works_in(line, is_line=True)
        if _EXCEPT.search(line) and any(a.unit == b.unit and not a.is_like(b) for a in works for b in works):
            return line.strip().lstrip("#%/!").strip()
    return ""


def _one_of(text: str) -> str | None:
    """Return the word for one work: step of ``time steps``, pas of ``pas de temps``; None if it is no work."""
    words = text.strip().lower().split()
    for number in range(len(words), 0, -1):
        phrase = " ".join(words[:number])
        for plain in (phrase, phrase.removesuffix("s"), phrase.removesuffix("e"), phrase.removesuffix("es")):
            work = _SIMULATED.sub("", plain)
            if work in _OTHERS | _YEARS | _MONTHS | _DAYS and len(work) > 1:
                return work
    return None


def is_step_length(name: str) -> bool:
    """Tell whether a column holds the time that a step simulates.

    Examples
    --------
    >>> is_step_length("dt_s"), is_step_length("time step (s)"), is_step_length("dtime"), is_step_length("steps")
    (True, True, False, False)
    """
    return _STEP_LENGTH.match(name.strip()) is not None


def time_of_work(column: str) -> TimeOfWork | None:
    """Return what a name says of the unit of work that its time is of; None if it says nothing.

    Examples
    --------
    >>> time_of_work("time (h/year)")
    TimeOfWork(base='time', unit='h', work='year', days=365.0, is_certain=True)
    >>> time_of_work("hours per simulated day")
    TimeOfWork(base='', unit='hours', work='day', days=1.0, is_certain=True)
    >>> time_of_work("wallclock hours per simulated year").is_certain, time_of_work("CPU hours per step").is_certain
    (True, False)
    >>> [time_of_work(name).is_certain for name in ("hours/day", "hours/year")], time_of_work("time [s]") is None
    ([False, True], True)
    >>> time_of_work("time per simulated day (s)")
    TimeOfWork(base='time', unit='s', work='day', days=1.0, is_certain=True)
    """
    match = _PER.match(_UNIT_LAST.sub(r"\g<base> (\g<unit>/\g<work>)", without_step_length(column.strip())))
    if match is None:
        return None
    work = _KIND_OF_STEP.sub("", _SIMULATED.sub("", match["work"].strip()).lower())
    days = YEAR_DAYS if work in _YEARS else 1.0 if work in _DAYS else MONTH_DAYS if work in _MONTHS else None
    in_brackets = (match["mark"] or " ").strip(" _") != ""
    simulated = work != match["work"].strip().lower()
    on_the_wall = re.sub(r"[\s_-]", "", match["base"] or "").lower() in _ON_THE_WALL
    # hours/day may be of a day on the wall; nobody measures those of a month on the wall
    simulated = simulated or match["unit"].lower() in _SECONDS or days not in (None, 1.0)
    is_certain = (in_brackets or (on_the_wall and (days is None or simulated))) and (
        days is not None or work in _OTHERS
    )
    return TimeOfWork((match["base"] or "").strip(), match["unit"], work, days, is_certain)


def days_of(name: str, unit: str) -> float | None:
    """Return the days that a measured time is of, by its name or its unit; None if these don't say.

    Examples
    --------
    >>> days_of("SYPD", "SYPD"), days_of("ocean (s/day)", "s"), days_of("time", "s")
    (365.0, 1.0, None)
    """
    work = time_of_work(name)
    by_name = work.days if work is not None and work.is_certain else None
    return {"SYPD": YEAR_DAYS, "SDPD": 1.0}.get(unit, by_name)
