"""Allocation by trying everything: the oracle of the tests. Shares no code with the balancers but the layout's text."""

from __future__ import annotations

import functools
import itertools
import re
from collections.abc import Mapping, Sequence
from types import CodeType

import numpy as np

Tables = Mapping[str, Sequence[float]]


def seconds_of(text: str, times: Mapping[str, float]) -> float:
    """Evaluate a layout expression as Python: names become numbers, ``sum(a, b)`` becomes ``_sum(a, b)``."""
    return float(eval(_code(text), {"max": max, "_sum": _sum}, dict(times)))  # noqa: S307 - the tests' own expressions


def _sum(*parts: float) -> float:
    return sum(parts)


@functools.cache
def _code(text: str) -> CodeType:
    return compile(re.sub(r"\bsum\(", "_sum(", text), "layout", "eval")


def best(
    text: str,
    tables: Tables,
    used: object,
    limit: int,
    counts: Mapping[str, Sequence[int]] | None = None,
) -> tuple[float, int] | None:
    """Return the least time and its fewest cores; None if nothing fits. ``tables[name][p - 1]`` is for p cores."""
    names = list(tables)
    ranges = [counts[name] if counts else range(1, len(tables[name]) + 1) for name in names]
    answers = []
    for combination in itertools.product(*ranges):
        cores = dict(zip(names, combination, strict=True))
        total = used(cores)  # type: ignore[operator]
        if total <= limit:
            times = {name: tables[name][count - 1] for name, count in cores.items()}
            answers.append((seconds_of(text, times), int(total)))
    finite = [answer for answer in answers if np.isfinite(answer[0])]
    return min(finite) if finite else None
