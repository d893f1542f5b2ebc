"""Small runs that a program is calibrated with: what is to be timed, and what was.

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
        What it tells of: a feature ("vacuum", "PML 2d"), how cuts matter ("cut position"), or a cell ("oled").
    name : str
        Its name within the group.
    settings : mapping
        What the program needs to run it: plain values of JSON, since they go to files and to other processes.
    purpose : "feature" or "cell"
        Cells, cut for several ranks, are also left out one by one to learn how far predictions are off.
    """

    group: str
    name: str
    settings: Mapping[str, Any] = field(default_factory=dict)
    purpose: Purpose = "feature"

    @property
    def key(self) -> str:
        """What tells it from all other designs, whenever and wherever it was made."""
        return json.dumps([self.group, self.name, self.purpose, self.settings], sort_keys=True)


@dataclass(frozen=True)
class Timing:
    """What one execution of a design tells.

    Parameters
    ----------
    seconds : (ranks,)
        CPU seconds per step of every rank, waiting left out.
    amounts : per rank, mapping of term to float
        What each rank had to do per step; terms that are left out are 0.
    pace : float, optional
        CPU seconds that a fixed piece of work took at the same time. Where other programs share the caches and cores
        these vary together, so times are compared at one pace.
    """

    seconds: tuple[float, ...]
    amounts: tuple[Mapping[str, float], ...]
    pace: float | None = None


@dataclass(frozen=True)
class Timed:
    """A design with all that was measured.

    Parameters
    ----------
    design : Design
    amounts : per rank, mapping of term to float
    runs : (repeats, ranks)
        CPU seconds per step of every execution, at the machine's usual pace where paces are known.
    """

    design: Design
    amounts: tuple[Mapping[str, float], ...]
    runs: tuple[tuple[float, ...], ...]

    @property
    def repeats(self) -> int:
        """How many executions were timed."""
        return len(self.runs)

    @cached_property
    def seconds(self) -> Array:
        """Median over the repeats, (ranks,)."""
        return np.asarray(np.median(np.array(self.runs), axis=0))

    @cached_property
    def spread(self) -> Array:
        """Half the width of the 95 % interval of the median, (ranks,); infinite below three repeats."""
        runs = np.array(self.runs)
        if len(runs) < 3:
            return np.full(runs.shape[1], math.inf)
        # The median of normal noise varies by 1.2533 σ/√n; 1.4826 times the median deviation is σ.
        deviation = 1.4826 * np.median(np.abs(runs - self.seconds), axis=0)
        return np.asarray(1.96 * 1.2533 * deviation / math.sqrt(len(runs)))

    @property
    def tightness(self) -> float:
        """Half the interval's width over the median, of the rank where it is largest."""
        return float(np.max(self.spread / self.seconds))

    def matrix(self, terms: Sequence[str]) -> Array:
        """Return the amounts as (ranks, terms)."""
        return np.array([[float(rank.get(term, 0.0)) for term in terms] for rank in self.amounts])


def interleaved(designs: Iterable[Design]) -> list[Design]:
    """Return the designs such that any beginning of the list covers all groups, and each group's range, best.

    Of each group come its first, then its last, then the middle ones; groups take turns.

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
    """Return 0 … n-1 such that each is as far as can be from those before it."""
    order = [0, n - 1][:n]
    while len(order) < n:
        rest = [i for i in range(n) if i not in order]
        order.append(max(rest, key=lambda i: (min(abs(i - j) for j in order), -i)))
    return order
