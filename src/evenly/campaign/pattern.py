"""A pattern finds a number in what a program prints, and its unit.

The number is taken as a whole, whatever part of it the pattern holds. Its unit is what the study says, or what stands
behind the number, before it, or above it in a table. Two of these that differ are refused, and so is a word behind the
number that may be a unit, but is none that evenly knows.
"""

from __future__ import annotations

import functools
import math
import re
import warnings
from collections import deque
from dataclasses import dataclass

from evenly.campaign.number_places import (
    NUMBER,
    plain_number,
    title_above,
    title_before,
    unit_in_title,
    whole_number,
    word_behind,
)  # fmt: skip
from evenly.errors import EvenlyWarning, InputError, RunFailed
from evenly.runs.durations import has_two_fields, parse
from evenly.runs.units import SECONDS_PER, base_unit, to_base

__all__ = ["Pattern"]

#: Of output with more characters, about, only the end is kept.
_MUCH = 3_900_000
#: No model computes with larger numbers, or with those below its inverse.
_LARGEST = 1e60
_SAY = "say in [time] in which unit the numbers are"
#: What makes a rate of the word before it.
_PER = re.compile(r"(?:/| per )(min|[shd])(?:utes?|ec|econds?|ours?|r|ays?)?\b")


@dataclass(frozen=True)
class Pattern:
    r"""A regular expression that finds a number with a unit in text.

    Parameters
    ----------
    pattern : str
        A regular expression with one group; its last match counts.
    unit : str
        See `evenly.runs.units.to_base`. Without it, a unit of time that stands right after the number counts, or in its
        name before it, else seconds.
    file : str
        File to search, relative to the run's folder; by default the program's output is searched.

    Examples
    --------
    >>> Pattern(r"took (\S+)", "ms").find("took 8")
    0.008
    """

    pattern: str
    unit: str = ""
    file: str = ""

    def __post_init__(self) -> None:
        base_unit(self.unit or "s")
        if not isinstance(self.pattern, str):
            raise InputError(f"pattern must be text, as 'took (.*) s', but got {self.pattern!r}")
        try:
            groups = re.compile(self.pattern).groups
        except re.error as error:
            raise InputError(f"pattern '{self.pattern}' is not a regular expression: {error}") from None
        if groups != 1:
            raise InputError(f"pattern '{self.pattern}' must have one group ( ) around the number, but has {groups}")

    def find(self, text: str) -> float:
        """Return the number in its base unit.

        Raises
        ------
        RunFailed
            If there is none, or if its unit is open.
        """
        found = deque(enumerate(re.finditer(self.pattern, text, re.MULTILINE)), maxlen=1)
        if not found:
            kept = (
                f"the last {len(text):,} characters of the output, which are kept,"
                if len(text) > _MUCH
                else "the output"
            )
            raise RunFailed(f"nothing in {self.file or kept} matches '{self.pattern}'")
        others, match = found[0]
        if others:
            _say(f"'{self.pattern}' matches several numbers in the output of a run: the last one counts")
        value = self._value(match, text)
        if value and not 1 / _LARGEST <= abs(value) <= _LARGEST:
            raise RunFailed(f"{self._matches(match[1])}, which is too large or small to compute with")
        return value

    def _matches(self, held: str) -> str:
        return f"'{self.pattern}' matches {held!r}"

    def _value(self, match: re.Match[str], text: str) -> float:
        """Return the number that a match holds, in its base unit."""
        group = match[1] or ""
        start = max(match.start(1), 0) + len(group) - len(group.lstrip())
        held = group.strip()
        above, _, line = text[:start].rpartition("\n")
        before = max(line, text[match.start() : start], key=len)
        behind = text[start + len(held) :].partition("\n")[0]
        number, behind = self._whole(held, before, behind)
        title = title_before(before)
        if before is line and not unit_in_title(title):
            title = title_above(above, line, held + behind)
        if plain := plain_number(number):
            return self._in_unit(float(plain), behind, title)
        return self._duration(number, behind, unit_in_title(title))

    def _whole(self, held: str, before: str, behind: str) -> tuple[str, str]:
        """Return the number of which a match holds a part, or all, and what stands behind it."""
        number, rest = whole_number(held, before, behind) if NUMBER.fullmatch(held) else (held, behind)
        by_commas = re.search(r",\(|\),", self.pattern)
        if number == held or (by_commas and "," in number) or (":" in number and parse(number) == float(held)):
            return held, behind
        part = f"'{self.pattern}' holds only a part of a number, as {held} of {number}"
        if not (plain_number(number) or math.isfinite(parse(number))) or re.search(r":\(|\):", self.pattern):
            raise RunFailed(f"{part}: let the brackets ( ) of the pattern hold all of it")
        _say(f"'{self.pattern}' holds only a part of a number: all of it is taken")
        return number, rest

    def _in_unit(self, value: float, behind: str, title: str) -> float:
        """Return a number in its base unit: by the study, else by the words around it."""
        (word, seconds), unit = word_behind(behind), unit_in_title(title)
        named = math.nan if _is_least(title) else SECONDS_PER.get(unit, math.nan)
        told = [(word, "behind", seconds), (f"'{title}'", "before", named)]
        own = SECONDS_PER.get(self.unit, math.nan) if self.unit else max(told, key=lambda one: one[2] > 0)[2]
        for what, where, other in told:
            if math.isfinite(own * other) and own != other:
                asked = (
                    f'the study says unit = "{self.unit}": leave unit out if what the program prints is right'
                    if self.unit
                    else f"another unit stands beside it: {_SAY}"
                )
                raise RunFailed(f"{what} stands {where} the number that '{self.pattern}' matches, but {asked}")
        if self.unit:
            return float(to_base([value], self.unit)[0])
        self._check_open(word, seconds, title, unit, behind)
        if math.isnan(own):
            _say(f"numbers that '{self.pattern}' matches have no unit and are taken as seconds: else {_SAY}")
            return value
        if own != 1:
            what, where = (word, "behind") if seconds == own else (f"'{title}'", "before")
            _say(f"numbers that '{self.pattern}' matches are in {word or unit}: {what} stands {where} them")
        return value * own

    def _check_open(self, word: str, seconds: float, title: str, unit: str, behind: str) -> None:
        """Raise `RunFailed` if the words around a number leave its unit open."""
        number = f"the number that '{self.pattern}' matches"
        if word and math.isnan(seconds):
            if rate := _PER.match(behind.partition(word)[2]):
                raise RunFailed(
                    f"{word}{rate[0]} stands behind {number}, a rate, of which more is better: say that in [time], as "
                    f'unit = "1/{rate[1]}"'
                )
            raise RunFailed(
                f'{word} stands behind {number}, and may be a unit: {_SAY}, as unit = "s" if it is a time, or "1/s" if '
                "it is a rate, of which more is better"
            )
        if word and seconds != 1 and behind.partition(word)[2].startswith("/"):
            raise RunFailed(
                f'{word}/ stands behind {number}, a time or a rate: say which in [time], as unit = "{word}" or "1/s"'
            )
        if unit and (unit not in SECONDS_PER or _is_least(title)):
            raise RunFailed(f"'{title}' stands before {number}: {_SAY}, as unit = \"{unit}\"")

    def _duration(self, text: str, behind: str, named: str) -> float:
        """Return the seconds of a duration that is no plain number: ``0:01:30``, ``1m30s``, ``400ms``."""
        if re.fullmatch(r"\d+,\d+", text):
            raise RunFailed(
                f"{self._matches(text)}, which may be a thousand or have a decimal comma: let the program print it "
                "without a comma"
            )
        word = word_behind(behind)[0]
        seconds = next((told for t in (text, f"{text} {word}") if math.isfinite(told := parse(t))), math.nan)
        if math.isfinite(seconds):
            if {self.unit, named} <= {"", "s"}:
                return seconds
            raise RunFailed(
                f"{self._matches(text)}, which isn't in {self.unit or named}: leave unit out, if it is right"
            )
        why = "is not a number"
        if has_two_fields(text):
            why = "may be minutes and seconds, or hours and minutes: let the program print seconds, or 0:12:30"
        raise RunFailed(f"{self._matches(text)}, which {why}")


def _is_least(title: str) -> bool:
    """Tell whether the name of a number ends as that of the least one: ``time min``, but not ``time (min)``."""
    return re.search(r"(?:\b|_)min$", title, re.IGNORECASE) is not None


@functools.cache
def _say(text: str) -> None:
    """Say something that is the same for many runs once."""
    warnings.warn(EvenlyWarning(text), stacklevel=2)
