"""What is asked of the models on a page, and what stands on it about one result."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from evenly.core_counts.goal import Goal
from evenly.machine.machine import Machine
from evenly.report.html_page import Section

__all__ = ["Asked", "Chapter"]


@dataclass(frozen=True)
class Asked:
    """What is asked of the models on a page.

    Parameters
    ----------
    at : mapping of str to value
        Values of parameters.
    cores : sequence of int, optional
        Numbers of cores to look at.
    cores_are : str, optional
        What the cores are, as an expression of the parameters.
    goal : Goal, optional
        What a number of cores is recommended for.
    steps : float, optional
        Steps of the job.
    machine : Machine, optional
        For its price.
    level : float
        The probability of the intervals.
    limit : float, optional
        The probability with which a time limit is enough.
    next_runs : int
        How many runs are proposed.
    """

    at: Mapping[str, Any] = field(default_factory=dict)
    cores: Sequence[int] | None = None
    cores_are: str | None = None
    goal: Goal | None = None
    steps: float | None = None
    machine: Machine | None = None
    level: float = 0.9
    limit: float | None = None
    next_runs: int = 3

    @property
    def wants_cores(self) -> bool:
        """Whether a number of cores is asked for, so that it must be recommended."""
        wants = (self.cores, self.steps, self.limit)
        return any(want is not None for want in wants) or self.goal not in (None, Goal())


@dataclass(frozen=True)
class Chapter:
    """Sections about one result, its main numbers, and the result as plain values."""

    sections: Sequence[Section]
    numbers: Mapping[str, str] = field(default_factory=dict)
    data: Mapping[str, Any] = field(default_factory=dict)
