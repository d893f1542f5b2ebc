"""Amounts of work that names and texts tell: ``atm_1month``, ``a 5-day run``, ``only 100 steps``."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

__all__ = ["Work", "differ", "step_length_in", "works_in"]

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
_NUMBERS = {
    "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "ten": 10, "twelve": 12,
    "twenty": 20, "thirty": 30,
    "zwei": 2, "drei": 3, "vier": 4, "fünf": 5, "sechs": 6, "sieben": 7, "zehn": 10, "zwölf": 12, "zwanzig": 20,
}  # fmt: skip
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
    rf"(?<![a-z0-9.])(?:(?P<count>\d+|{'|'.join(_NUMBERS)})[\s_-]?(?:{_OF_MODEL}\s)?(?P<unit>{_DAY}|{_MONTH}|{_YEAR}|{_STEPS})"
    r"|(?P<before>days|months|years|tage|monate|jahre|jours|mois|d[ií]as|meses|años|giorni|mesi|anni|n?steps|schritte|"
    r"iterations)[\s:=]+(?P<number>\d+)"
    rf"|(?:{_OF_MODEL}|one|per|ein(?:en?|em)?|un|une)\s(?P<one>day|month|year|tag|monat|jahr|jour|mois|mes|d[ií]a|año))"
    r"(?![a-z0-9])",
    re.IGNORECASE,
)
_SECONDS = {"s": 1.0, "m": 60.0, "h": 3600.0}
_LENGTH = rf"(?P<{{}}>\d+(?:\.\d+)?)[\s_-]?(?P<{{}}>s|secs?|seconds?|sekunden|min|minutes?|minuten|{_HOUR})"
#: ``dt = 10 min``, ``time step: 600 s``, ``a 10-min step``.
_STEP_LENGTH = re.compile(
    r"(?<![^\W_])(?:dt|Δt|delta t|(?:time|coupling) ?steps?|step length|zeitschritte?|pas de temps|paso de tiempo)"
    rf"(?: of| von| de)?\s*[=:]?\s*{_LENGTH.format('after', 'unit')}(?![^\W_])"
    rf"|(?<![\d.]){_LENGTH.format('before', 'its')}[\s_-](?:time[\s_-]?)?"
    r"(?:steps?|(?:zeit)?schritte?|pas|paso)(?![^\W_])",
    re.IGNORECASE,
)
#: Dimensions, as in ``ocean_3d`` and ``d3``.
_DIMENSIONS = re.compile(r"[23]d|d[23]|[hdy]\d+", re.IGNORECASE)
#: A month has 28 to 31 days.
_ALIKE = 1.09


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


def works_in(text: str, *, is_line: bool = False) -> list[Work]:
    """Return the amounts of work that a name tells, or a line of text.

    Examples
    --------
    >>> works_in("atm_10days"), works_in("ocn-1yr"), works_in("ice_3d"), works_in("x_500steps")
    ([Work(unit='days', count=10.0)], [Work(unit='days', count=365.0)], [], [Work(unit='steps', count=500.0)])
    >>> works_in("a 5-day run of 20 coupling intervals", is_line=True), works_in("ocn_month") == works_in("ocn_1mon")
    ([Work(unit='days', count=5.0), Work(unit='intervals', count=20.0)], True)
    >>> works_in("days = 3, measured on an 8-core node", is_line=True), works_in("five days", is_line=True)
    ([Work(unit='days', count=3.0)], [Work(unit='days', count=5.0)])
    """
    found = []
    for match in (_IN_LINES if is_line else _IN_NAMES).finditer(text):
        if _DIMENSIONS.fullmatch(match[0]):
            continue
        unit = (match["unit"] or match["before"] or match["one"]).lower()
        told = match["count"] or match["number"] or "1"
        count = float(_NUMBERS.get(told.lower(), told))
        days = next((days for words, days in _DAYS.items() if re.fullmatch(words, unit)), None)
        found.append(Work("days", count * days) if days else Work(unit.rstrip("s") + "s", count))
    return [work for work in found if work.count > 0]


def step_length_in(text: str) -> list[Work]:
    """Return the length of a step that a text tells, in seconds that it simulates.

    Examples
    --------
    >>> step_length_in("time per step [ms] (dt = 10 min)"), step_length_in("a 1800 s step"), step_length_in("time [s]")
    ([Work(unit='seconds of a step', count=600.0)], [Work(unit='seconds of a step', count=1800.0)], [])
    """
    match = _STEP_LENGTH.search(text)
    if match is None:
        return []
    unit, count = (match["unit"] or match["its"]).lower(), float(match["after"] or match["before"])
    return [Work("seconds of a step", count * _SECONDS["h" if re.fullmatch(_HOUR, unit) else unit[0]])]


def differ(works: Sequence[Sequence[Work]]) -> bool:
    """Tell whether some texts tell works that others don't.

    Examples
    --------
    >>> differ([[Work("days", 30)], [Work("days", 31)]]), differ([[Work("days", 30)], [Work("steps", 30)]])
    (False, True)
    """
    told = [sorted(set(one)) for one in works]
    return any(
        len(one) != len(told[0]) or not all(a.is_like(b) for a, b in zip(one, told[0], strict=True)) for one in told[1:]
    )
