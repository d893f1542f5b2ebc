"""Designs: small runs for the calibration of a program, and their timings.

>>> design = Design("vacuum", "20^3", {"points": 20})
>>> timed = Timed(design, ({"points": 8000.0},), ((3.1e-5,), (3.0e-5,), (3.5e-5,)))
>>> timed.seconds.tolist(), timed.repeats
([3.1e-05], 3)
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

__all__ = ["Design", "Purpose", "Timed", "Timing", "interleaved"]

Array = NDArray[np.float64]
Purpose = Literal["feature", "cell"]


@dataclass(frozen=True)
class Design:
    """A small run to be timed.

    Parameters
    ----------
    group : str
        The subject: a feature ("vacuum", "PML 2d"), the effect of cuts ("cut position"), or a cell ("oled").
    name : str
        Name within the group.
    settings : mapping
        Settings with which the program runs the design: plain JSON values, since they go to files and processes.
    purpose : "feature" or "cell"
        Cells are cut for several ranks. They are also held out, one group at a time, to estimate prediction errors.
    """

    group: str
    name: str
    settings: Mapping[str, Any] = field(default_factory=dict)
    purpose: Purpose = "feature"

    @property
    def key(self) -> str:
        """A text that identifies the design, the same in every process and on every machine."""
        return json.dumps([self.group, self.name, self.purpose, self.settings], sort_keys=True)


@dataclass(frozen=True)
class Timing:
    """The result of one execution of a design.

    Parameters
    ----------
    seconds : (ranks,)
        CPU seconds per step of every rank, without waiting.
    amounts : per rank, mapping of term to float
        Amount of each term per step; terms that are left out are 0.
    pace : float, optional
        CPU seconds of a fixed reference workload at the same time. If other programs share the caches and cores, the
        pace and the times vary together, so times are scaled to one pace before they are compared.
    """

    seconds: tuple[float, ...]
    amounts: tuple[Mapping[str, float], ...]
    pace: float | None = None


@dataclass(frozen=True)
class Timed:
    """A design with all of its timings.

    Parameters
    ----------
    design : Design
    amounts : per rank, mapping of term to float
        Amount of each term per step.
    runs : (repeats, ranks)
        CPU seconds per step of every execution, scaled to the machine's usual pace where paces are known.
    """

    design: Design
    amounts: tuple[Mapping[str, float], ...]
    runs: tuple[tuple[float, ...], ...]

    @property
    def repeats(self) -> int:
        """Number of timed executions."""
        return len(self.runs)

    @cached_property
    def seconds(self) -> Array:
        """Median seconds per step over the repeats, (ranks,)."""
        return np.asarray(np.median(np.array(self.runs), axis=0))

    @cached_property
    def spread(self) -> Array:
        """Half the width of the 95 % confidence interval of the median, (ranks,); infinite with less than 3 repeats."""
        runs = np.array(self.runs)
        if len(runs) < 3:
            return np.full(runs.shape[1], math.inf)
        # For normal noise, the standard error of the median is 1.2533 σ/√n; σ is 1.4826 times the median absolute
        # deviation.
        deviation = 1.4826 * np.median(np.abs(runs - self.seconds), axis=0)
        return np.asarray(1.96 * 1.2533 * deviation / math.sqrt(len(runs)))

    @property
    def tightness(self) -> float:
        """Half the width of the median's interval over the median; the largest of all ranks."""
        return float(np.max(self.spread / self.seconds))

    def matrix(self, terms: Sequence[str]) -> Array:
        """Return the amounts as (ranks, terms)."""
        return np.array([[float(rank.get(term, 0.0)) for term in terms] for rank in self.amounts])


def interleaved(designs: Iterable[Design]) -> list[Design]:
    """Return the designs in an order in which any first part of the list covers all groups and their ranges well.

    Groups take turns. Of each group, the first design comes first, then the last, then those in the middle.

    Examples
    --------
    >>> [d.name for d in interleaved([*(Design("a", str(i)) for i in range(4)), Design("b", "x")])]
    ['0', 'x', '3', '1', '2']
    """
    groups: dict[str, list[Design]] = {}
    for design in designs:
        groups.setdefault(design.group, []).append(design)
    turns = [[members[i] for i in _ends_first(len(members))] for members in groups.values()]
    longest = max(map(len, turns), default=0)
    return [members[i] for i in range(longest) for members in turns if i < len(members)]


def _ends_first(n: int) -> list[int]:
    """Return 0 … n-1 in an order in which each number is as far as possible from those before it (farthest first)."""
    order = [0, n - 1][:n]
    while len(order) < n:
        rest = [i for i in range(n) if i not in order]
        order.append(max(rest, key=lambda i: (min(abs(i - j) for j in order), -i)))
    return order
