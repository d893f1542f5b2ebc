"""Counts what the chaos tried and what went wrong, for the table of ``benchmarks/chaos.py``."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator

import pytest

__all__ = ["MakeTally", "Tally", "tally"]

KINDS = ("tried", "lost", "hung", "executed", "traceback", "wrong")


class Tally:
    """Counts of what was done to one thing."""

    def __init__(self, what: str) -> None:
        self.what = what
        self.counts: Counter[str] = Counter(dict.fromkeys(KINDS, 0))
        self.told: list[str] = []

    def try_one(self) -> None:
        """Count one trial."""
        self.counts["tried"] += 1

    def bad(self, kind: str, message: str) -> None:
        """Count what went wrong, and keep what to say of it."""
        assert kind in KINDS[1:]
        self.counts[kind] += 1
        self.told.append(f"{kind}: {message}")


MakeTally = Callable[[str], Tally]


@pytest.fixture
def tally(record_property: Callable[[str, object], None]) -> Iterator[MakeTally]:
    """Return a function that makes a `Tally`; the test fails at its end if anything went wrong."""
    made: list[Tally] = []

    def make(what: str) -> Tally:
        made.append(Tally(what))
        return made[-1]

    yield make
    for one in made:
        for kind, count in one.counts.items():
            record_property(f"{one.what}: {kind}", count)
    told = [line for one in made for line in one.told]
    assert not told, "\n".join(told)
