"""Durations as people, schedulers and programs write them, read as seconds; and seconds written as ``HH:MM:SS``.

``1-02:03:04`` (Slurm), ``27:03:04`` (PBS), ``03:04.5`` (minutes and seconds), ``PT1H2M3.5S`` (ISO 8601), ``1h 2m 3s``,
``0m3.5s`` (the shell's ``time``), ``12.5 ms``, ``4'44"``. Only ``12:30`` may mean two things: minutes and seconds, or
hours and minutes.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from typing import Literal

from evenly.runs.units import SECONDS_PER

__all__ = [
    "TIME_UNITS", "TWO_FIELDS", "TwoFields", "common_unit", "format_hms", "has_two_fields", "is_duration", "parse",
    "two_fields_of", "unit_of",
]  # fmt: skip

#: Units of times for people, from the shortest: least seconds from which it is used, seconds, name. Minutes, hours and
#: days are used only for longer times: 300 s reads as 5 min, 200 s as 200 s.
TIME_UNITS = (
    (1e-9, 1e-9, "ns"), (1e-6, 1e-6, "µs"), (1e-3, 1e-3, "ms"), (1.0, 1.0, "s"), (300.0, 60.0, "min"),
    (3 * 3600.0, 3600.0, "h"), (3 * 86_400.0, 86_400.0, "d"),
)  # fmt: skip

#: Least number of a unit that is still easy to read, and of minutes and days: 52 s isn't 0.87 min.
_READABLE, _READABLE_OF = 0.2, {"min": 2.0, "d": 2.0}

#: What the two fields of ``12:30`` are.
TwoFields = Literal["mm:ss", "hh:mm"]
TWO_FIELDS: tuple[TwoFields, ...] = ("mm:ss", "hh:mm")

#: So that a sum of parts is exact to the digits given: 1m13.54s is 73.54 s.
_DIGITS = 9
_CLOCK = re.compile(
    r"(?:(?P<d>\d+)-|(?P<days>\d+) days?,? )?(?P<a>\d+):(?P<b>[0-5]?\d)(?::(?P<c>[0-5]?\d))?(?P<f>[.,]\d+)?"
)
#: What two fields are, told behind them.
_TOLD = re.compile(r"(?P<fields>\d+:[0-5]?\d)\s*(?P<unit>min|m|h|hrs?|hours?)\.?", re.IGNORECASE)
_ISO = re.compile(
    r"P(?:(?P<d>\d+)D)?(?:T(?:(?P<h>\d+(?:\.\d+)?)H)?(?:(?P<m>\d+(?:\.\d+)?)M)?(?:(?P<s>\d+(?:[.,]\d+)?)S)?)?"
)
_HOURS = re.compile(r"(?P<h>\d+)\s*h\s*(?P<m>[0-5]\d)", re.IGNORECASE)
#: ``4'44"``, ``1h04'44.5"``: minutes and seconds by their marks.
_MARKED = re.compile(
    r"(?:(?P<h>\d+)\s*h\s*)?(?P<m>\d+)\s*['′’](?:\s*(?P<s>[0-5]?\d(?:[.,]\d+)?)\s*(?:\"|″|”|''|′′|’’))?"
)
_WORD = re.compile(
    r"(?P<number>\d+(?:[.,]\d+)?(?:[eE][+-]?\d+)?)\s*(?P<unit>[A-Za-zµμí]+)(?:\(s\)|(?<=[a-zA-Z]{3})\.)?[\s,]*"
)
_WORDS = {
    **{word: SECONDS_PER[unit] for unit in ("ns", "us", "µs", "μs", "ms", "s", "min", "h", "d") for word in [unit]},
    **dict.fromkeys(("sec", "secs", "second", "seconds"), 1.0),
    **dict.fromkeys(("m", "mins", "minute", "minutes"), 60.0),
    **dict.fromkeys(("hr", "hrs", "hour", "hours"), 3600.0),
    **dict.fromkeys(("day", "days"), 86_400.0),
    **dict.fromkeys(("msec", "millisecond", "milliseconds"), 1e-3),
    **dict.fromkeys(("usec", "microsecond", "microseconds"), 1e-6),
    **dict.fromkeys(("nsec", "nanosecond", "nanoseconds"), 1e-9),
    **dict.fromkeys(("nanosekunden", "nanosegundos", "nanosecondes"), 1e-9),
    **dict.fromkeys(("mikrosekunden", "microsegundos", "microsecondes", "microsecondi", "microsegundo"), 1e-6),
    **dict.fromkeys(("millisekunden", "milisegundos", "millisecondes", "millisecondi", "milisegundo"), 1e-3),
    **dict.fromkeys(("sek", "sekunde", "sekunden", "segundo", "segundos", "seg", "seconde", "secondes"), 1.0),
    **dict.fromkeys(("secondo", "secondi", "seconden", "sekund"), 1.0),
    **dict.fromkeys(("minuten", "minuto", "minutos", "minuti", "minuut", "minut"), 60.0),
    **dict.fromkeys(("std", "stunde", "stunden", "heure", "heures", "hora", "horas", "ora", "ore", "uur"), 3600.0),
    **dict.fromkeys(("uren", "godz", "godzin"), 3600.0),
    **dict.fromkeys(("tag", "tage", "jour", "jours", "dias", "días", "giorni", "dagen"), 86_400.0),
}


def parse(text: str, two_fields: TwoFields | None = None) -> float:
    """Return the seconds of a duration; NaN if the text is none, or is ``12:30`` and `two_fields` isn't given.

    A number without a unit is none: its unit is known elsewhere.

    Examples
    --------
    >>> [parse(text) for text in ("01:02:03", "1-02:03:04", "03:04.5", "PT1H2M3.5S", "1h 2m 3s", "3h40", "4'44''")]
    [3723.0, 93784.0, 184.5, 3723.5, 3723.0, 13200.0, 284.0]
    >>> parse("12:30"), parse("12:30", "mm:ss"), parse("12:30", "hh:mm"), parse("640")
    (nan, 750.0, 45000.0, nan)
    >>> parse("15:23 min"), parse("1:30 h"), parse("52,1 Sekunden"), parse("3 Std. 20 Min.")
    (923.0, 5400.0, 52.1, 12000.0)
    """
    text = text.strip()
    if not text[:1].isdigit() and not text.startswith("P"):
        return math.nan
    if match := _CLOCK.fullmatch(text):
        return round(_clock(match, two_fields), _DIGITS)
    if match := _TOLD.fullmatch(text):  # 15:23 min
        return parse(match["fields"], "mm:ss" if match["unit"][0] in "mM" else "hh:mm")
    if text != "P" and not text.endswith("T") and (match := _ISO.fullmatch(text)):
        return sum(
            float((match[part] or "0").replace(",", ".")) * seconds
            for part, seconds in (("d", 86_400.0), ("h", 3600.0), ("m", 60.0), ("s", 1.0))
        )
    if match := _HOURS.fullmatch(text):  # 3h40
        return 3600.0 * float(match["h"]) + 60.0 * float(match["m"])
    if match := _MARKED.fullmatch(text):
        parts = (float((match[part] or "0").replace(",", ".")) for part in ("h", "m", "s"))
        return round(sum(part * factor for part, factor in zip(parts, (3600.0, 60.0, 1.0), strict=True)), _DIGITS)
    return _in_words(text)


def _clock(match: re.Match[str], two_fields: TwoFields | None) -> float:
    days = float(match["d"] or match["days"] or 0)
    first, second = float(match["a"]), float(match["b"])
    fraction = float((match["f"] or "0").replace(",", "."))
    if match["c"] is not None:
        return 86_400 * days + 3600 * first + 60 * second + float(match["c"]) + fraction
    if match["d"] is not None:  # Slurm's D-HH:MM
        return 86_400 * days + 3600 * first + 60 * second if match["f"] is None else math.nan
    if match["f"] is not None or two_fields == "mm:ss":
        return 86_400 * days + 60 * first + second + fraction
    return 86_400 * days + 3600 * first + 60 * second if two_fields == "hh:mm" else math.nan


def _in_words(text: str) -> float:
    total, at, last = 0.0, 0, math.inf
    while match := _WORD.match(text, at):
        unit = match["unit"]
        factor = _WORDS.get(unit, _WORDS.get(unit.lower(), math.nan))
        if unit == "D":  # 2D has two axes
            return math.nan
        if not factor < last:  # units fall: 1h 2m 3s
            return math.nan
        total += float(match["number"].replace(",", ".")) * factor
        at, last = match.end(), factor
    if at < len(text) or not at:
        return math.nan
    return round(total, _DIGITS) if total >= 1 else total


def is_duration(text: str) -> bool:
    """Tell whether a text is a duration with fields or units, of whatever meaning.

    Examples
    --------
    >>> is_duration("12:30"), is_duration("3h"), is_duration("640"), is_duration("3.5 GiB"), is_duration("2D")
    (True, True, False, False, False)
    """
    return math.isfinite(parse(text, "mm:ss"))


def has_two_fields(text: str) -> bool:
    """Tell whether a duration is one like ``12:30``, which may mean two things.

    Examples
    --------
    >>> has_two_fields("12:30"), has_two_fields("12:30.5"), has_two_fields("1-12:30"), has_two_fields("12:30:00")
    (True, False, False, False)
    """
    return is_duration(text) and not math.isfinite(parse(text))


def two_fields_of(texts: Iterable[str]) -> TwoFields | None:
    """Return what others in a column tell about ``12:30``: minutes and seconds beside ``1:02:03``; None if nothing.

    Examples
    --------
    >>> two_fields_of(["58:30", "1:02:10"]), two_fields_of(["12:30", "1-02:30"]), two_fields_of(["12:30", "9:10"])
    ('mm:ss', 'hh:mm', None)
    """
    found: set[TwoFields] = set()
    for text in texts:
        match = _CLOCK.fullmatch(text.strip())
        if match is None or has_two_fields(text):
            continue
        # Who leaves out hours of zero has minutes and seconds left; Slurm's D-HH:MM leaves out the seconds.
        found.add("mm:ss" if match["c"] is not None or match["d"] is None else "hh:mm")
    return found.pop() if len(found) == 1 else None


def format_hms(seconds: float) -> str:
    """Return seconds as ``HH:MM:SS``, with days in front as Slurm takes them; below a minute with milliseconds.

    Examples
    --------
    >>> format_hms(3723.4), format_hms(93784), format_hms(12.3456), format_hms(float("inf"))
    ('01:02:03', '1-02:03:04', '00:00:12.346', '∞')
    """
    if not math.isfinite(seconds):
        return "∞" if seconds > 0 else "–"
    whole = round(seconds * 1000) if abs(seconds) < 60 else round(seconds) * 1000
    sign, whole = "-" * (whole < 0), abs(whole)
    minutes, rest = divmod(whole, 60_000)
    hours, minutes = divmod(minutes, 60)
    days, hours = divmod(hours, 24)
    fraction = f".{rest % 1000:03d}" if whole < 60_000 else ""
    return f"{sign}{f'{days}-' * (days > 0)}{hours:02d}:{minutes:02d}:{rest // 1000:02d}{fraction}"


def unit_of(seconds: float) -> tuple[float, str]:
    """Return the seconds and the name of the unit in which a time is written.

    Examples
    --------
    >>> unit_of(0.02), unit_of(200.0), unit_of(300.0), unit_of(7200.0)
    ((0.001, 'ms'), (1.0, 's'), (60.0, 'min'), (60.0, 'min'))
    """
    fitting = [one for one in TIME_UNITS if abs(seconds) * (1 + 1e-12) >= one[0]]
    return (fitting or [TIME_UNITS[0]])[-1][1:]


def common_unit(seconds: Iterable[float], own: float) -> tuple[float, str]:
    """Return one unit for a column of times and for text about one of them: that of the largest if it suits `own`.

    Examples
    --------
    >>> common_unit([250_000.0, 2832.0], own=2832.0), common_unit([12_690.0, 113.0], own=113.0)
    ((3600.0, 'h'), (1.0, 's'))
    >>> common_unit([805.0, 52.0], own=52.0), common_unit([805.0, 130.0], own=130.0)
    ((1.0, 's'), (60.0, 'min'))
    """
    size, name = unit_of(max((abs(x) for x in seconds if math.isfinite(x)), default=own))
    if name == "d" and own < _READABLE_OF[name] * size:
        size, name = 3600.0, "h"
    return (size, name) if own >= _READABLE_OF.get(name, _READABLE) * size else unit_of(own)
