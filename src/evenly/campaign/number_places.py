"""What stands around a number in printed text: the rest of it, a word behind it, and its name before it or above it."""

from __future__ import annotations

import math
import re

from evenly.runs.durations import is_duration, parse

__all__ = ["NUMBER", "plain_number", "title_above", "title_before", "unit_in_title", "whole_number", "word_behind"]

NUMBER = re.compile(r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eEdD][-+]?\d+)?", re.ASCII)
#: What goes on with a number, before a part of it and behind it.
_LEFT = re.compile(r"(?:(?<![\w)\]-])-)?(?:\d[\d.,:]*(?:[eEdD][-+]?\d*)?)?$|(?<![\w.])\.$", re.ASCII)
_RIGHT = re.compile(r"(?:[\d.,:]*\d)?(?:\.?[eEdD][-+]?\d+)?", re.ASCII)
#: One part of ``1h 2m 3.5s``.
_PART = re.compile(r"\d+(?P<fraction>\.\d+)?[ \t]*[A-Za-zµμ]+[ \t]*", re.ASCII)
#: Commas that may be in one number; then those before decimals, and those between groups.
_COMMAS = re.compile(r"-?(?:\d{1,3}(?:,\d{3})+(?:\.\d*)?|\d+,\d+(?:[eE][-+]?\d+)?)", re.ASCII)
_DECIMAL = re.compile(r"-?(?:0,\d+|\d+,(?!\d{3}$)\d+)(?:[eE][-+]?\d+)?", re.ASCII)
_GROUPS = re.compile(r"-?[1-9]\d{0,2}(?:(?:,\d{3}){2,}(?:\.\d*)?|,\d{3}\.\d*)", re.ASCII)
#: What may be a unit, right behind a number.
_WORD = re.compile(r"[ \t]*(?:(?P<word>%|[A-Za-zµμ]+)(?P<more>[\w^*]?)|[\[(](?P<inside>[A-Za-zµμ]+)[\])])")
#: A word that is the name of what follows it (``2 min: 3``, ``0.5 loss 2.3``), or goes on with a sentence (``0.5 for
#: all``). In ``45 cycles per step``, the number may be that of cycles.
_NAMES = re.compile(r"[ \t]*[A-Za-zµμ]\w*[ \t]*[:=]")
_NEXT = re.compile(r"[ \t]*[A-Za-zµμ]+[ \t]+[-+.]?\d")
_GOES_ON = re.compile(r"[ \t]*(?!\w{3,}[^s]s\b)[a-z]{2,}[ \t]+[(A-Za-z]")
#: What stands before the name of a number: another number, with its unit, or a mark.
_EARLIER = re.compile(
    r".*(?<![\w.])\d[\d.:]*(?:[eE][-+]?\d+)?(?!\w)(?:[ \t]*[A-Za-zµμ%/]+(?!\w|[ \t]*[=:\[(/]))?|.*[|;,{]"
)
_MARKS = " \t:=\"'>.,;|{}-]"
#: So many lines of a table are looked through for its header.
_ROWS = 1000


def whole_number(held: str, before: str, behind: str) -> tuple[str, str]:
    """Return the number of which a part is held between two texts, or all of it, and what stands behind it.

    Examples
    --------
    >>> whole_number("1.5", "took ", "e+01 ms"), whole_number("5", "took 0.4", " s"), whole_number("2", "", " h 5 min")
    (('1.5e+01', ' ms'), ('0.45', ' s'), ('2 h 5 min', ''))
    >>> whole_number("1", "took ", ",234 us"), whole_number("2", "", ":30"), whole_number("0", "", "m0.05s")
    (('1,234', ' us'), ('2:30', ''), ('0m0.05s', ''))
    >>> whole_number("0.45", "100,", ",ok"), whole_number("0.45", "....", " s"), whole_number("4", "", " s, 3 ms")
    (('0.45', ',ok'), ('0.45', ' s'), ('4', ' s, 3 ms'))
    """
    left, right = (match[0] if match else "" for match in (_LEFT.search(before), _RIGHT.match(behind)))
    if not _is_one(left + held + right):  # marks between numbers
        left, right = re.split("[,:]", left)[-1], re.split("[,:]", right)[0]
    several = "" if left else _in_units(held + behind)
    if len(several) > len(held + right):
        return several, (held + behind)[len(several) :]
    return left + held + right, behind[len(right) :]


def _is_one(text: str) -> bool:
    """Tell whether a text with commas or colons is one number or duration."""
    fields = re.fullmatch(r"(?:\d+-)?\d+(?::\d\d){1,2}(?:\.\d+)?", text)
    return bool(NUMBER.fullmatch(text) or _COMMAS.fullmatch(text) or (fields and is_duration(text)))


def _in_units(text: str) -> str:
    """Return the duration with several units at the beginning of a text; "" if there is none."""
    ends, at = [0], 0
    while match := _PART.match(text, at):
        at = match.end()
        ends.append(at)
        if match["fraction"]:
            break
    return next((text[:end].rstrip() for end in ends[:1:-1] if math.isfinite(parse(text[:end]))), "")


def plain_number(text: str) -> str:
    """Return a number as Python reads it; "" if it is none, or if its comma may be a decimal one or not.

    Examples
    --------
    >>> plain_number("1.5D+00"), plain_number("0,450"), plain_number("1,234,567"), plain_number("50,000")
    ('1.5e+00', '0.450', '1234567', '')
    """
    if NUMBER.fullmatch(text):
        return text.lower().replace("d", "e")
    if _DECIMAL.fullmatch(text):
        return text.replace(",", ".")
    return text.replace(",", "") if _GROUPS.fullmatch(text) else ""


def word_behind(behind: str) -> tuple[str, float]:
    """Return the word behind a number that may be its unit, and the seconds of that unit; NaN if it is none of time.

    Examples
    --------
    >>> word_behind(" ms"), word_behind(" [us]"), word_behind(" Gcycles"), word_behind(" on 4 ranks"), word_behind("")
    (('ms', 0.001), ('us', 1e-06), ('Gcycles', nan), ('', nan), ('', nan))
    """
    match = _WORD.match(behind)
    if match is None or _NAMES.match(behind):
        return "", math.nan
    word = match["word"] or match["inside"]
    # Metres, and the least of several beside others, are none of time.
    is_open = word in ("m", "M") or match["more"] or (word == "min" and _NEXT.match(behind))
    seconds = math.nan if is_open else parse(f"1 {word}")
    is_text = match["inside"] or (word != "min" and _NEXT.match(behind)) or _GOES_ON.match(behind)
    return ("" if math.isnan(seconds) and is_text else word), seconds


def title_before(before: str) -> str:
    """Return what a number is called in the text before it.

    Examples
    --------
    >>> title_before("step 3 time [ms]: "), title_before('4 ranks, "wall_ms": '), title_before("took 3 ms, total ")
    ('time [ms]', 'wall_ms', 'total')
    """
    return _EARLIER.sub("", before, count=1).lstrip(_MARKS + ")").rstrip(_MARKS.replace("]", ""))


def title_above(above: str, before: str, behind: str) -> str:
    r"""Return the heading of a number in a table whose columns are parted by blanks; "" if there is none.

    Examples
    --------
    >>> title_above("start\n cells   time/ms\n 100   0.9", " 200   ", "0.45")
    'time/ms'
    """
    column, many = len(before.split()), len((before + behind).split())
    if not before.endswith((" ", "\t")):
        return ""
    for other in reversed(above.rsplit("\n", _ROWS)[-_ROWS:]):
        fields = other.split()
        if len(fields) != many:
            return ""
        if not any(field[0].isdigit() for field in fields):
            return fields[column]
    return ""


def unit_in_title(title: str) -> str:
    """Return the unit that the name of a number tells, as that of a column; "" if there is none.

    Examples
    --------
    >>> [unit_in_title(title) for title in ("Time [ms]", "wall_us", "Minutes", "ns/day", "memory [GiB]", "took")]
    ['ms', 'us', 'min', '1/d', 'GiB', '']
    """
    from evenly.readers.tables.columns import measured, unit_of_rate, unit_of_time  # takes long to import

    known = measured(title)
    return unit_of_rate(title) or unit_of_time(title) or (known.unit if known else "")
