"""Parsing of command-line arguments to values: counts, ranges, assignments, sizes."""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Collection, Iterable, Sequence
from fractions import Fraction
from typing import Any

from evenly.errors import InputError, did_you_mean
from evenly.readers.tables.columns import canonical_unit
from evenly.runs.count_names import kind_of
from evenly.runs.units import base_unit, to_base

__all__ = [
    "assignments", "configurations", "counts", "duration", "names", "numbers", "one_of", "pairs", "probability",
    "share", "size_in_bytes", "spelled", "values",
]  # fmt: skip

_MOST = 1_000_000
#: A value ends at the first blank; what follows it is the next name, which may hold blanks.
_ZERO_AT_END = re.compile(r"\d+\.\d*0")
#: A value in quotes, or a name in backticks, may hold any marks.
_QUOTED = re.compile(r"(?:`(?P<ticked>[^`]+)`|(?P<name>[^=`\"]+))\s*=\s*(?P<value>\"[^\"]*\"|[^=\"]+)", re.DOTALL)
_NEXT_NAME = re.compile(
    r"(?P<value>.*?\S(?:,\s+[-+.\d]\S*)*?)\s+(?P<name>[^\s\-].*)|(?P<before>[^\s,].*),(?P<word>[^\W\d]\w*)", re.DOTALL
)


def names(text: str | None) -> list[str] | None:
    """Split ``"a, b"`` at commas; None stays None.

    Examples
    --------
    >>> names("m, n,k")
    ['m', 'n', 'k']
    """
    return None if text is None else [part.strip() for part in text.split(",") if part.strip()]


def one_of(value: str, allowed: Iterable[str], option: str) -> str:
    """Return `value` if it is allowed; else say what is, and what may have been meant.

    Examples
    --------
    >>> one_of("pmfn", ["pmnf", "power-law"], "--method")
    Traceback (most recent call last):
    evenly.errors.InputError: --method must be one of pmnf, power-law, but got 'pmfn' (did you mean 'pmnf'?)
    """
    known = list(allowed)
    if value in known:
        return value
    raise InputError(f"{option} must be one of {', '.join(known)}, but got {value!r}{did_you_mean(value, known)}")


def spelled(name: str, known: Sequence[str]) -> str:
    """Return the parameter that a name means.

    It may be written in other capitals, or without the ``_`` that evenly put behind it. A name such as ``NCPUS`` means
    the only parameter that counts cores, which evenly calls ``cores`` in tables of jobs.

    Examples
    --------
    >>> spelled("cores", ["Cores", "mesh"]), spelled("machine", ["machine_"]), spelled("n", ["N", "n"])
    ('Cores', 'machine_', 'n')
    >>> spelled("NCPUS", ["cores", "name"]), spelled("NNodes", ["cores"])
    ('cores', 'NNodes')
    """
    alike = [one for one in known if name.lower() in (one.lower(), one.lower().removesuffix("_"))]
    if not alike and (kind := kind_of(name)) in ("cores", "nodes", "ranks"):
        alike = [one for one in known if kind_of(one) == kind]
    return alike[0] if name not in known and len(alike) == 1 else name


def numbers(text: str, option: str = "") -> list[float]:
    """Read ``"1,2,4"``, fractions, ``"first:last:step"`` and ``"first..last"`` in steps of 1 (last included).

    Examples
    --------
    >>> numbers("-1:1:1/2"), numbers("1..4")
    ([-1.0, -0.5, 0.0, 0.5, 1.0], [1.0, 2.0, 3.0, 4.0])
    """
    return [float(value) for part in text.split(",") for value in _range(part.strip(), text, option)]


def counts(text: str, option: str = "") -> list[int]:
    """Read whole numbers above zero, as ``"280,336"`` or ``"280:560:56"``.

    Examples
    --------
    >>> counts("280:392:56, 1024")
    [280, 336, 392, 1024]
    """
    values = numbers(text, option)
    wrong = [value for value in values if value < 1 or value != int(value)]
    if wrong:
        raise InputError(f"{_place(option)}{text!r} must hold whole numbers above zero, but {wrong[0]:g} is not")
    return [int(value) for value in values]


def _place(option: str) -> str:
    return f"{option}: " if option else ""


def _range(part: str, whole: str, option: str) -> list[Fraction]:
    try:
        bounds = [Fraction(piece.strip()) for piece in part.replace("..", ":", 1).split(":")]
        first, last = bounds[0], bounds[min(1, len(bounds) - 1)]
        step = bounds[2] if len(bounds) > 2 else Fraction(1)
        float(max(map(abs, bounds)))  # too large a number ends here
        if len(bounds) > 3 or step <= 0 or last < first:
            raise ValueError
    except (ValueError, ArithmeticError):
        raise InputError(
            f"{_place(option)}{whole!r} must be numbers separated by commas, or first..last or first:last:step with "
            f"first <= last, but {part!r} is not"
        ) from None
    if (last - first) / step > _MOST:
        raise InputError(f"{_place(option)}{part!r} has more than {_MOST} values")
    return [first + i * step for i in range(int((last - first) / step) + 1)]


def pairs(items: Sequence[str], option: str) -> dict[str, str]:
    """Read ``name=value`` items, several per item if separated by blanks, or by commas; names may hold blanks.

    Examples
    --------
    >>> pairs(["inner=4 outer=8"], "--min")
    {'inner': '4', 'outer': '8'}
    >>> pairs(["mesh size=160000 cores=64,128"], "--at")
    {'mesh size': '160000', 'cores': '64,128'}
    >>> pairs(["flags=-O3 -march=native cores=8"], "--at")
    {'flags': '-O3 -march=native', 'cores': '8'}
    >>> pairs(["nx=512,cores=64,128,ppn=8"], "--at")
    {'nx': '512', 'cores': '64,128', 'ppn': '8'}
    >>> pairs(['mesh="fine (nx=8), 2D"'], "--at")
    {'mesh': '"fine (nx=8), 2D"'}
    """
    found: dict[str, str] = {}
    for name, value in itertools.chain.from_iterable(_pairs(item, option) for item in items):
        if name in found:
            raise InputError(f"{option} names {name!r} twice")
        found[name] = value
    return found


def _pairs(item: str, option: str) -> list[tuple[str, str]]:
    if (match := _QUOTED.fullmatch(item.strip())) and (match["ticked"] or match["value"].startswith('"')):
        return [((match["ticked"] or match["name"]).strip(), match["value"].strip())]
    name, *rest = item.split("=")
    found: list[tuple[str, str]] = []
    before = ""  # a value may hold an equals sign: -O3 -march=native
    for text in rest[:-1]:
        match = _NEXT_NAME.fullmatch(text.strip())
        if match is None:
            before += f"{text}="
            continue
        found.append((name.strip(), before + (match["value"] or match["before"]).rstrip(",")))
        name, before = match["name"] or match["word"], ""
    found.append((name.strip(), before + rest[-1].strip() if rest else ""))
    if not all(name and value for name, value in found):
        raise InputError(f"{option} takes name=value, but got {item!r}")
    return found


def at_values(items: Sequence[str]) -> dict[str, Any]:
    """Read the ``name=value`` items of ``--at``; a number that ends with a zero stays text.

    Examples
    --------
    >>> at_values(["cores=512", "version=1.10", 'mesh="fine, 2D"'])
    {'cores': 512, 'version': '1.10', 'mesh': 'fine, 2D'}
    """
    found = {name: _as_typed(text) for name, text in pairs(items, "--at").items()}
    return {name: many[0] if len(many) == 1 else many for name, many in found.items()}


def values(items: Sequence[str], option: str, *, texts: Collection[str] = ()) -> dict[str, Any]:
    """Read ``name=value`` items whose values are numbers or text; those of `texts` are one text, whatever is in it.

    Examples
    --------
    >>> values(["cores=512", "machine=haswell"], "--constant")
    {'cores': 512, 'machine': 'haswell'}
    """
    found = {name: [text] if name in texts else _values(text) for name, text in pairs(items, option).items()}
    return {name: many[0] if len(many) == 1 else many for name, many in found.items()}


def assignments(items: Sequence[str], option: str) -> dict[str, int]:
    """Read ``solver=count`` items.

    Examples
    --------
    >>> assignments(["inner=190", "outer=90"], "--current")
    {'inner': 190, 'outer': 90}
    """
    result: dict[str, int] = {}
    for name, value in pairs(items, option).items():
        found = counts(value, f"{option} {name}")
        if len(found) != 1:
            raise InputError(f"{option} takes one count per solver, but {name!r} has {value!r}")
        result[name] = found[0]
    return result


def configurations(items: Sequence[str]) -> list[dict[str, Any]]:
    """Read ``parameter=values`` items into all combinations; values as in `numbers`, or labels.

    Examples
    --------
    >>> configurations(["cores=64,128", "solver=cg"])
    [{'cores': 64, 'solver': 'cg'}, {'cores': 128, 'solver': 'cg'}]
    """
    lists = {name: _as_typed(text) for name, text in pairs(items, "--at").items()}
    total = 1
    for values in lists.values():
        total *= len(values)
    if total > _MOST:
        raise InputError(f"--at asks for {total} configurations, more than {_MOST}: use --file")
    return [dict(zip(lists, row, strict=True)) for row in itertools.product(*lists.values())]


def _values(text: str) -> list[Any]:
    try:
        values = numbers(text)
    except InputError:
        return [_label(part.strip()) for part in text.split(",")] if text.strip(" ,") else [text]
    return [int(value) if value == int(value) else value for value in values]


def _as_typed(text: str) -> list[Any]:
    """Read values; numbers that end with a zero stay text, since 1.10 may be a version. A number may be text, too.

    What stands in quotes is one label.
    """
    if len(text) > 1 and text.startswith('"') and text.endswith('"'):
        return [text[1:-1]]
    parts = [part.strip() for part in text.split(",")]
    return parts if any(map(_ZERO_AT_END.fullmatch, parts)) and ":" not in text and ".." not in text else _values(text)


def _label(text: str) -> Any:
    """Text, or a truth value as TOML, JSON and tables write it."""
    return {"true": True, "false": False}.get(text.lower(), text)


def share(text: str, option: str) -> float:
    """Read a share: ``"5%"`` or ``"0.05"``; 1 and more only with the sign, since ``10`` may mean either.

    Examples
    --------
    >>> share("5%", "--within"), share("0.05", "--within")
    (0.05, 0.05)
    >>> share("10", "--within")
    Traceback (most recent call last):
    evenly.errors.InputError: --within takes a share such as 5% or 0.05, but got '10': write 10%
    """
    percent = text.strip().endswith("%")
    try:
        value = float(text.strip().removesuffix("%"))
    except ValueError:
        value = -1.0
    if not 0 <= value < float("inf"):
        raise InputError(f"{option} takes a share such as 5% or 0.05, but got {text!r}")
    if value >= 1 and not percent:
        raise InputError(f"{option} takes a share such as 5% or 0.05, but got {text!r}: write {value:g}%")
    return value / 100 if percent else value


def probability(text: str, option: str) -> float:
    """Read a probability from 1 % to 99.9 %, with or without the sign.

    Examples
    --------
    >>> probability("0.9", "--level"), probability("90", "--level"), probability("90%", "--level")
    (0.9, 0.9, 0.9)
    >>> round(probability("99.9%", "--limit"), 9)
    0.999
    """
    try:
        value = float(text.strip().removesuffix("%"))
    except ValueError:
        value = float("nan")
    percent = text.strip().endswith("%")
    if 1 < value < 10 and not percent:
        # 1.5 may be a mistyped 0.15 or 15: nobody means 1.5 % without saying so.
        value = math.nan
    value = value / 100 if percent or value > 1 else value
    if not 0.01 - 1e-12 <= value <= 0.999 + 1e-12:
        raise InputError(f"{option} takes a probability from 1 % to 99.9 %, as 0.9 or 90%, but got {text!r}")
    return value


def size_in_bytes(text: str) -> float:
    """Read a size such as ``"96GiB"``.

    Examples
    --------
    >>> size_in_bytes("1.5 KiB")
    1536.0
    """
    stripped = text.strip()
    digits = stripped.rstrip("BKMGTbkmgti ").strip()
    unit = canonical_unit(stripped[len(digits) :].strip())
    try:
        if base_unit(unit) != "B":
            raise ValueError
        return float(to_base([float(digits)], unit)[0])
    except ValueError:
        raise InputError(f"a size is a number with B, kB, MB, GB, KiB, MiB, GiB or TiB, but got {text!r}") from None


def duration(text: str, option: str) -> float:
    """Return seconds from a duration as 90, 90s, 90min, 1.5h, 2d, or MM:SS, HH:MM:SS, D-HH:MM:SS as Slurm writes it.

    Examples
    --------
    >>> [duration(text, "--deadline") for text in ("1.5h", "90min", "01:30:00", "1-00:00:00", "2:30")]
    [5400.0, 5400.0, 5400.0, 86400.0, 150.0]
    """
    from evenly.runs.durations import parse

    seconds = float(text) if re.fullmatch(r"\s*\d+\.?\d*\s*", text) else parse(text, "mm:ss")
    if not seconds > 0:
        raise InputError(f"{option} takes a time above 0, as 90s, 90min, 2h or 1:30:00, but got {text!r}")
    return seconds
