"""The meaning of a table's columns, derived from their names.

``time_ms`` is a time in milliseconds, ``SYPD`` a rate, ``peak_memory [GiB]`` another measured quantity. ``domain``
names the solver of a row, ``host`` the machine. All remaining columns are parameters, which vary between runs.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from evenly.errors import InputError
from evenly.readers.tables.per_work import several_works, time_of_work, with_short_rate, without_step_length
from evenly.runs.units import SECONDS_PER, base_unit

__all__ = [
    "ALIASES",
    "COMPONENTS",
    "NO_TIME",
    "OF_METHODS",
    "SOLVER_NAMES",
    "STATISTICS",
    "Measured",
    "canonical_unit",
    "is_rate",
    "measured",
    "time_candidates",
    "timing_by_unit",
    "unit_of_rate",
    "unit_of_time",
]

#: Names that mean one of the bookkeeping columns; a step is a repetition within a run.
ALIASES: dict[str, str] = {
    "run": "run", "run_id": "run", "runid": "run", "job": "run", "job_id": "run", "jobid": "run",
    "repetition": "repetition", "rep": "repetition", "repeat": "repetition", "trial": "repetition",
    "attempt": "repetition",
    "step": "step", "iteration": "step", "timestep": "step", "time_step": "step", "window": "step",
    "machine": "machine", "host": "machine", "hostname": "machine", "cluster": "machine",
    "replicate": "repetition", "lauf": "run", "durchlauf": "run", "wiederholung": "repetition", "messung": "repetition",
    "messung_nr": "repetition", "lauf_nr": "run", "versuch": "repetition", "essai": "repetition",
    "n°_essai": "repetition", "répétition": "repetition",
    "when": "when", "date": "when", "datetime": "when", "timestamp": "when", "started": "when",
    "source": "source",
}  # fmt: skip
#: Names of a column that says which solver of a coupled run a row belongs to. ``solver`` may also be a choice of
#: linear solver, so it counts only where no other column holds labels.
SOLVER_NAMES = (
    "domain", "participant", "component", "composant", "composante", "componente", "komponente", "solver", "solveur",
    "löser",
)  # fmt: skip
#: Those of them that may be such a choice.
OF_METHODS = frozenset({"solver", "solveur", "löser"})
#: Names of solvers that are nothing else: a column that holds only such names them, whatever it is called.
COMPONENTS = frozenset({
    "atm", "atmos", "atmosphere", "ocn", "oce", "ocean", "ice", "seaice", "lnd", "land", "rof", "river", "rivers",
    "wav", "wave", "waves", "glc", "cpl", "coupler", "fluid", "solid", "structure", "atmosphäre", "ozean", "meereis",
    "océan", "atmosphère", "océano", "atmósfera", "oceano", "atmosfera",
})  # fmt: skip
#: Statistics that other tools write beside a time; evenly computes its own.
STATISTICS = frozenset({
    "count", "spread", "std", "stddev", "std_dev", "stdev", "stderr", "sem", "n_samples", "variance",
    "stabw", "standardabweichung", "streuung", "varianz", "écart", "desv", "desviación", "desvio", "deviazione", "σ",
})  # fmt: skip
#: Values of the time column that stand for a missing time.
NO_TIME = frozenset(
    {"", "-", "--", "na", "n/a", "n.a.", "n.a", "k.a.", "n.d.", "nan", "none", "null", "inf", "infinity"}
)

_TIME_NAMES = frozenset({
    "zeit", "laufzeit", "rechenzeit", "gesamtzeit", "wandzeit", "wanduhrzeit", "dauer", "время", "czas", "tijd",
    "temps", "durée", "tiempo", "tempo", "duração", "duración", "durata", "looptijd",
    "seconds", "time", "times", "wtime", "runtime", "run_time", "realtime", "walltime", "wall_time", "wall",
    "wallclock",
    "wallclock_time",
    "wall_clock_time", "elapsed", "elapsed_time", "duration", "time_to_solution", "total_time", "time_total",
    "median", "median_time", "mean_time", "avg_time", "average_time", "min_time", "tempo_medio", "tiempo_medio",
    "tiempo_promedio", "tiempo_total", "tempo_totale", "temps_moyen", "temps_total", "mittlere_zeit",
})  # fmt: skip
#: Names of a time, if a unit of time stands beside them.
_WHOLES = frozenset({"total", "t_total", "overall", "real", "mean", "avg", "average", "loop", "epoch"})
_TIME_WORDS = frozenset({"seconds", "time", "runtime", "walltime", "wall", "elapsed", "duration", "median"})
#: If a name has one of these words, "time" is a simulated time or a parameter, not a measurement.
_NOT_MEASURED = frozenset(
    {
        "start",
        "end",
        "final",
        "simulated",
        "simulation",
        "model",
        "integrator",
        "scheme",
        "limit",
        "physical",
        "flow",
        "modelled",
        "modeled",
        "problem",
        "saved",
        "estimated",
        "predicted",
        "expected",
        "remaining",
        "physikalische",
        "physique",
        "integration",
    }
)
_STEPS = frozenset({"dt", "step", "timestep", "interval", "period", "timeout", "window", "horizon", "tau"})
_NOT_MEASURED_NAMES = frozenset({"time_step", "time_steps", "time_stepping", "sim_time", "time_of_day"})
#: Words of times that are set, where only a unit says that a column holds times.
_SET = frozenset({"delay", "sleep", "budget", "limit", "target", "tick", "cutoff", "dt", "age", "lag", "offset"})
#: Words of rates: throughput_mcells_s is one, and no time.
_RATES = frozenset({
    "throughput", "rate", "bandwidth", "perf", "performance", "speed", "cells", "mcells",
    "gcells", "updates", "mlups", "images",
})  # fmt: skip
_OTHER_WORDS = frozenset({
    "memory", "mem", "rss", "hwm", "footprint", "energy", "consumption", "traffic", "energie", "énergie", "energía",
    "energia", "verbrauch", "speicher", "arbeitsspeicher", "mémoire", "memoria",
})  # fmt: skip
_SHORT_UNITS = frozenset({"ms", "us", "ns", "sypd", "sdpd", "minutes", "hours"})
#: Names of phases of a step; such a column is never a parameter.
_PHASES = frozenset(
    {"waiting", "wait", "sending", "receiving", "interpolation", "communication", "comm", "computation"}
)
#: Words of a time that isn't the whole one.
_PARTS = frozenset({
    "queue", "queued", "wait", "waiting", "pending", "cpu", "user", "sys", "system", "idle", "comm", "communication",
    "mpi", "io", "init", "setup", "startup", "compile", "compilation",
})  # fmt: skip
_UNIT_NAMES = {
    "s": "s", "sec": "s", "secs": "s", "second": "s", "seconds": "s", "ms": "ms", "msec": "ms", "milliseconds": "ms",
    "millisecondes": "ms", "millisekunden": "ms", "milisegundos": "ms", "millisecondi": "ms",
    "us": "us", "µs": "us", "μs": "us", "usec": "us", "microseconds": "us", "ns": "ns", "nanoseconds": "ns",
    "min": "min", "mins": "min", "minutes": "min", "h": "h", "hours": "h", "days": "d",
    "hr": "h", "hrs": "h", "stunden": "h", "heures": "h", "minuten": "min", "sekunden": "s", "secondes": "s",
    "mikrosekunden": "us", "microsegundos": "us", "microsecondes": "us", "microsecondi": "us",
    "horas": "h", "ore": "h", "uur": "h", "godz": "h", "minutos": "min", "minuti": "min", "segundos": "s",
    "secondi": "s", "seconden": "s", "tagen": "d", "dagen": "d", "días": "d", "giorni": "d",
    "tage": "d", "jours": "d", "sypd": "SYPD", "sdpd": "SDPD",
    "sn": "s", "saniye": "s", "dk": "min", "dakika": "min", "saat": "h", "秒": "s", "分": "min", "分钟": "min",
    "時間": "h", "小时": "h", "ミリ秒": "ms", "毫秒": "ms", "초": "s", "분": "min", "с": "s", "сек": "s", "мин": "min",
    "ч": "h", "мс": "ms", "sekund": "s", "minut": "min", "godzin": "h",
}  # fmt: skip
#: Units in brackets only: elsewhere, ``std`` is a deviation.
_IN_BRACKETS = {
    "hs": "h",
    "mn": "min",
    "d": "d",
    "std": "h",
    "std.": "h",
    "day": "d",
    "min.": "min",
    "sek.": "s",
    "sec.": "s",
    "godz.": "h",
}
_WHOLE_NAME_UNITS = frozenset({"seconds", "milliseconds", "microseconds", "nanoseconds", "ms", "us", "µs", "μs", "ns",
                               "minutes", "hours", "sypd", "sdpd"})  # fmt: skip
_OTHER_UNITS = ("B", "kB", "MB", "GB", "TB", "KiB", "MiB", "GiB", "TiB", "J", "kJ", "MJ", "Wh", "kWh")
#: Without regard to capitals; mJ and MJ are different units.
_ANY_CASE = {unit.lower(): unit for unit in _OTHER_UNITS if unit.lower() not in ("b", "j", "mj")}
_BRACKETS = re.compile(r"^(?P<base>.*?)\s*(?:\[(?P<a>[^\]]+)\]|\((?P<b>[^)]+)\))\s*$")
#: ``time [s] on 2 sockets``: a unit of time within a name.
_INSIDE = re.compile(r"^(?P<base>[^\[(]*\S)\s*[\[(](?P<a>[^\])]+)[\])](?P<rest>.+)$")
_IN_UNIT = re.compile(r"^(?P<base>.+?)\s+in\s+\S+$")
#: A unit of time that ends a name as a word of its own, and can be nothing else.
_PLAIN_UNIT = re.compile(r"^(?P<base>.+?)[_.\s](?:[uµμmn]s(?:ec)?|secs?)$", re.IGNORECASE)
#: ``Laufzeit in Min.``
_IN_WORDS = re.compile(r"^(?P<base>.+?)\s+in\s+(?P<unit>[^\W\d_]+\.?)$")
#: As in ISO 80000: ``t / s``, ``t_ges / s``. Without blanks, t may be tokens.
_OVER_UNIT = re.compile(r"^(?P<base>t(?:\s+/\s+|_\w+\s*/\s*))\w+$")
_SUFFIX = re.compile(r"^(?P<base>.+?)(?:\s*/\s*|_in_|\s+in\s+|_|\.|\s+)(?P<unit>[^\s_./]+)$")
_CLOCK = re.compile(
    r"(?P<base>.*?\S)\s*[\[(](?:(?:d-|d:)?h{1,2}:mm(?::ss)?|m{1,2}[.:]ss?|min[.:]se[ck]|(?:h|std)[.:]min)[\])]",
    re.IGNORECASE,
)
_RATE = re.compile(
    r"(?P<base>.*\S)(?:\s*/\s*|[\s_]+per[\s_]+)(?:(?:cpu|core|node|rank|gpu|wall(?:[\s_-]?clock)?)[\s_-]?)?"
    r"(?P<per>s|sec|second|min|minute|h|hour|d|day)(?:(?:\s*/\s*|[\s_]+per[\s_]+)(?:gpu|cpu|core|node|rank))?(?:\s*[\])])?",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class Measured:
    """A column that holds something measured.

    Parameters
    ----------
    column : str
        Its name in the file.
    base : str
        Its name without the unit.
    unit : str
        See `evenly.runs.units.to_base`; ``""`` where the name has none.
    certainty : int
        2 where the whole name means a time (``seconds``, ``wall_ms``), 1 where a part of it does
        (``seconds_before``), 0 for other quantities.
    """

    column: str
    base: str
    unit: str
    certainty: int


def measured(column: str) -> Measured | None:
    """Return what a column of this name measures; None if nothing in the name says so.

    Examples
    --------
    >>> measured("time_ms")
    Measured(column='time_ms', base='time', unit='ms', certainty=2)
    >>> measured("SYPD").unit, measured("peak_memory [GiB]").unit, measured("cores")
    ('SYPD', 'GiB', None)
    >>> measured("MPI time %") is None
    True
    """
    name = with_short_rate(without_step_length(column.strip()))
    if "%" in name:  # a share
        return None
    if (work := _time_of_work(name)) is not None and not work[0]:
        return Measured(column, column, work[1], 1)
    if name.lower() in _WHOLE_NAME_UNITS:
        return Measured(column, "seconds", _UNIT_NAMES[name.lower()], 2)
    base, unit = _split_unit(name)
    plain = re.sub(r"[\s\-.]+", "_", re.sub(r"(?<=[a-z])(?=[A-Z])", "_", base.strip(" ,"))).lower()
    words = set(plain.split("_"))
    if unit and base_unit(unit) != "s":
        return Measured(column, base, unit, 0) if words & _OTHER_WORDS else None
    if plain in _TIME_NAMES or (unit and plain in _WHOLES):
        return Measured(column, base, unit, 2 if work is None else 1)
    if words & _SHORT_UNITS:  # ``median_ms_or_P``: a unit that isn't the name's end doesn't hold for all of it
        return None
    spelled = bool(unit) and re.search(r"(?:^|[\W_])(?:milli|micro|nano)?seconds\W*$", name.lower()) is not None
    spelled = spelled and not words & _STEPS  # train_seconds, but not interval_seconds
    timed = (
        spelled or {*words, *re.findall(r"^[^\W_]+", plain)} & _TIME_WORDS or ("times" in words and words & _PARTS)
    )  # mpi_times, but not n_times
    if timed and not words & _NOT_MEASURED and plain not in _NOT_MEASURED_NAMES:
        return Measured(column, base, unit, 1)
    if plain in _PHASES:
        return Measured(column, base, unit, 0)
    if (several := several_works(name)) is None:
        return None
    bare = measured(several[0])  # time per 5 simulated days (s), or s per 5 simulated days
    unit = bare.unit if bare is not None and bare.certainty else _unit_in_brackets(several[0])
    return Measured(column, column, unit, 1) if unit in SECONDS_PER else None


def time_candidates(columns: Iterable[str]) -> list[Measured]:
    """Return the columns that may be the time, only the most certain ones.

    Examples
    --------
    >>> [m.column for m in time_candidates(["cores", "seconds_before", "seconds_after"])]
    ['seconds_before', 'seconds_after']
    >>> [m.column for m in time_candidates(["cores", "comm_time_s", "time_s"])]
    ['time_s']
    >>> [m.column for m in time_candidates(["Kerne", "Laufzeit (s)"])]
    ['Laufzeit (s)']
    """
    columns = list(columns)
    times = [m for m in map(measured, columns) if m is not None and m.certainty > 0]
    best = max((m.certainty for m in times), default=0)
    found = [m for m in times if m.certainty == best]
    # A rate stands beside a time, a part beside the whole, a least and a deviation beside a mean.
    for lesser in (_is_rate, lambda m: is_part(m.base), _is_statistic):
        found = [m for m in found if not lesser(m)] or found
    return found or _by_unit(columns)


def _is_rate(found: Measured) -> bool:
    return found.unit in ("SYPD", "SDPD") or "/" in found.unit


def is_part(name: str) -> bool:
    """Tell whether a name without its unit is that of a part of the time: of starting, waiting, communication.

    Examples
    --------
    >>> is_part("setup"), is_part("wall time")
    (True, False)
    """
    return bool(set(re.split(r"[\s_\-.]+", name.lower())) & _PARTS)


def _is_statistic(found: Measured) -> bool:
    its = set(re.split(r"[\s_\-.]+", found.base.lower()))
    return not its.isdisjoint({"min", "max", "minimum", "maximum", "sd", *STATISTICS})


def _by_unit(columns: Iterable[str]) -> list[Measured]:
    """Return the column of which only the unit says that it is a time, if it is the only one.

    It stands in brackets, or is a word that nothing else ends with: ``kernel_us``, but not ``n_s``.
    """
    found = [
        Measured(column, match["base"].strip(" /"), unit, 1)
        for column in columns
        if (match := _first_match(column.strip(), (_BRACKETS, _IN_UNIT, _PLAIN_UNIT, _OVER_UNIT)))
        and (unit := unit_of_time(column))
        if not set(re.split(r"[\s_\-.]+", match["base"].lower())) & {*_NOT_MEASURED, *_STEPS, *_SET}
    ]
    found = [m for m in found if not is_part(m.base)] or found
    return found if len(found) == 1 else []


def _first_match(text: str, patterns: Iterable[re.Pattern[str]]) -> re.Match[str] | None:
    return next((match for pattern in patterns if (match := pattern.match(text))), None)


def is_rate(column: str) -> bool:
    """Tell whether a name is that of a rate, as ``GB/s``; ``wall/s`` is a time in seconds.

    Examples
    --------
    >>> is_rate("GB/s"), is_rate("images per second"), is_rate("it/s/GPU"), is_rate("wall/s"), is_rate("cores per node")
    (True, True, True, False, False)
    >>> is_rate("t/s"), is_rate("t / s"), is_rate("ocean (s/day)"), is_rate("rate (s/day)")
    (True, False, False, True)
    """
    column = with_short_rate(column)
    work = _time_of_work(column.strip())
    is_time = work is not None and not set(re.split(r"[\s_\-.]+", work[0].lower())) & _RATES
    if is_time or _OVER_UNIT.match(column.strip()):
        return False
    match = _RATE.fullmatch(column.strip())
    return match is not None and (match["base"].lower() in _WHOLE_NAME_UNITS or measured(match["base"]) is None)


def unit_of_rate(column: str) -> str:
    """Return the unit of a rate by its name, without what is counted; "" if it is none.

    Examples
    --------
    >>> unit_of_rate("ns/day"), unit_of_rate("sim. days/wallclock hour"), unit_of_rate("GB/s"), unit_of_rate("time_s")
    ('1/d', '1/h', '1/s', '')
    """
    match = _RATE.fullmatch(column.strip())
    per = match["per"].lower() if match and is_rate(column) else ""
    return f"1/{'min' if per.startswith('min') else per[0]}" if per else ""


def timing_by_unit(column: str) -> Measured | None:
    """Return a column as a timing if its name ends with a unit of time, as ``solve_s``, and isn't that of a step.

    Only the values can tell whether it was measured: ``n_s`` ends so, too.

    Examples
    --------
    >>> timing_by_unit("solve_s").unit, timing_by_unit("dt_s"), timing_by_unit("cores")
    ('s', None, None)
    """
    base, unit = _split_unit(column.strip())
    words = set(re.split(r"[\s_\-.]+", base.lower()))
    if (
        not unit
        or base_unit(unit) != "s"
        or is_rate(column)
        or words & {*_NOT_MEASURED, *_STEPS, *_RATES, "core", "cpu", "node"}
    ):
        return None
    return Measured(column, base, unit, 0)


def unit_of_time(column: str) -> str:
    """Return the unit that a column's name tells, if it is one of time or a rate; else nothing.

    Examples
    --------
    >>> unit_of_time("Laufzeit (s)"), unit_of_time("X [ms]"), unit_of_time("memory [GiB]")
    ('s', 'ms', '')
    """
    unit = _split_unit(column.strip())[1]
    return unit if unit and base_unit(unit) == "s" else ""


def canonical_unit(text: str) -> str:
    """Return a unit as evenly spells it; unchanged if it isn't known.

    Examples
    --------
    >>> canonical_unit("gib"), canonical_unit("Seconds"), canonical_unit("apples")
    ('GiB', 's', 'apples')
    """
    return _known_unit(text.strip()) or text


def _time_of_work(name: str) -> tuple[str, str] | None:
    """Return what stands before the unit of ``time (h/year)``, and the unit; ``ns/day`` is a rate."""
    found = time_of_work(name)
    unit = "" if found is None else _unit_in_brackets(found.unit) or _known_unit(f"{found.unit}s")
    is_time = unit in SECONDS_PER and not (unit in ("us", "ns") and found is not None and found.days)
    return (found.base, unit) if found is not None and found.is_certain and is_time else None


def _split_unit(name: str) -> tuple[str, str]:
    """Split ``wall [s]``, ``wall (s)``, ``wall_s``, ``wall/s`` into name and unit; the cells tell of ``(hh:mm:ss)``."""
    name = with_short_rate(without_step_length(name))
    if clock := _CLOCK.fullmatch(name):
        return clock["base"], ""
    if (work := _time_of_work(name)) is not None:
        return work
    for pattern in (_BRACKETS, _IN_WORDS, _SUFFIX):
        match = pattern.match(name)
        if match is None:
            continue
        groups = match.groupdict()
        text = (groups.get("unit") or groups.get("a") or groups.get("b") or "").strip()
        unit = _known_unit(text) if pattern is _SUFFIX else _unit_in_brackets(text)
        if unit:
            return match["base"].strip(), unit
    inside = _INSIDE.match(name)
    if inside is not None and (unit := _unit_in_brackets(inside["a"].strip())) and base_unit(unit) == "s":
        return f"{inside['base'].strip()} {inside['rest'].strip()}", unit
    return name, ""


def _unit_in_brackets(text: str) -> str:
    return _known_unit(text) or _IN_BRACKETS.get(text.lower(), "")


def _known_unit(text: str) -> str:
    if text in _OTHER_UNITS or text.lower() in _ANY_CASE:
        return text if text in _OTHER_UNITS else _ANY_CASE[text.lower()]
    if text.lower() in _UNIT_NAMES:
        return _UNIT_NAMES[text.lower()]
    try:
        base_unit(text)
    except InputError:
        return ""
    return "" if text in ("1", "d") else text
