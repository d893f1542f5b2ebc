"""Timing of a program's designs until every confidence interval is narrow enough or the time budget is spent.

First every design is run once, in an order in which any first part of the list covers all features. Then the designs
whose median isn't known well enough are repeated, round robin. Each timing is stored at once, so a calibration can stop
at any time and be resumed.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from time import perf_counter

from evenly.decomposition.calibration.designs import Design, Timed, Timing, interleaved
from evenly.decomposition.calibration.timing_store import TimingStore
from evenly.errors import InputError

__all__ = ["MOST_REPEATS", "Progress", "calibrate"]

#: Most and fewest repeats of a design. Differences that remain after the most repeats aren't noise.
MOST_REPEATS = 15
LEAST_REPEATS = 3


@dataclass(frozen=True)
class Progress:
    """Progress of a calibration.

    Parameters
    ----------
    spent_s, budget_s : float
        Wall seconds spent so far, including runs before an interruption, and the time budget.
    measured, designs : int
        Number of designs that were run, and of all designs.
    tight : int
        Number of designs whose interval is narrow enough.
    now : str
        Name of the next design; empty at the end.
    """

    spent_s: float
    budget_s: float
    measured: int
    designs: int
    tight: int
    now: str = ""

    @property
    def fraction(self) -> float:
        """Share of the calibration that is done: the larger of the shares by time and by designs."""
        return max(min(1.0, self.spent_s / self.budget_s), self.tight / max(1, self.designs))


def calibrate(
    designs: Sequence[Design],
    run: Callable[[Design], Timing],
    store: TimingStore,
    *,
    budget_s: float = 180.0,
    tightness: float = 0.02,
    progress: Callable[[Progress], object] = lambda _: None,
    clock: Callable[[], float] = perf_counter,
) -> list[Timed]:
    """Time designs within a budget and return the timed ones, in the order of `designs`.

    Parameters
    ----------
    designs : sequence of Design
    run : callable
        Runs a design once and returns its timing.
    store : TimingStore
        Store of the timings, which may hold earlier ones.
    budget_s : float
        Wall seconds for all runs together, including those in the store. A run that has begun is finished.
    tightness : float
        A design is repeated until half the width of its median's interval over the median is at most this value.
    progress : callable
        Called with the progress before every run and at the end.
    clock : callable
        Returns the wall time in seconds.

    Raises
    ------
    InputError
        If there are no designs, or the budget or the tightness isn't above 0.
    """
    if not designs or not budget_s > 0 or not tightness > 0:
        raise InputError(
            "A calibration needs designs, and a budget and a tightness above 0, but got "
            f"{len(designs)} designs, {budget_s!r} s and {tightness!r}."
        )
    order = interleaved(designs)
    while due := _due(order, store, tightness):
        for design in due:
            if store.spent_s >= budget_s:
                progress(_progress(order, store, budget_s, tightness))
                return _known(designs, store)
            progress(_progress(order, store, budget_s, tightness, f"{design.group}: {design.name}"))
            begin = clock()
            timing = run(design)
            store.add(design, timing, clock() - begin)
    progress(_progress(order, store, budget_s, tightness))
    return _known(designs, store)


def _due(order: Sequence[Design], store: TimingStore, tightness: float) -> list[Design]:
    """Return the designs of the next round: among those not known well enough, those with the fewest repeats."""
    loose = [(design, store.timed(design)) for design in order]
    wanted = [(design, timed.repeats if timed else 0) for design, timed in loose if not _is_tight(timed, tightness)]
    fewest = min((repeats for _, repeats in wanted), default=0)
    return [design for design, repeats in wanted if repeats == fewest]


def _is_tight(timed: Timed | None, tightness: float) -> bool:
    if timed is None or timed.repeats < LEAST_REPEATS:
        return False
    return timed.repeats >= MOST_REPEATS or timed.tightness <= tightness


def _known(designs: Sequence[Design], store: TimingStore) -> list[Timed]:
    return [timed for timed in map(store.timed, designs) if timed is not None]


def _progress(
    order: Sequence[Design], store: TimingStore, budget_s: float, tightness: float, now: str = ""
) -> Progress:
    known = _known(order, store)
    tight = sum(_is_tight(timed, tightness) for timed in known)
    return Progress(store.spent_s, budget_s, len(known), len(order), tight, now)
