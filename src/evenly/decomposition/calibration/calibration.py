"""Timing a program's designs until every interval is tight or the time is spent.

All designs are run once, in an order in which any beginning covers all features; then, round robin, those again whose
median isn't known well enough. Each timing is kept at once, so that a calibration may end at any time and be resumed.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from time import perf_counter

from evenly.decomposition.calibration.designs import Design, Timed, Timing, interleaved
from evenly.decomposition.calibration.timing_store import TimingStore
from evenly.errors import InputError

__all__ = ["MOST_REPEATS", "Progress", "calibrate"]

#: More repeats would not tell more: what still differs then isn't noise.
MOST_REPEATS = 15
LEAST_REPEATS = 3


@dataclass(frozen=True)
class Progress:
    """How far a calibration is.

    Parameters
    ----------
    spent_s, budget_s : float
        Wall seconds so far, runs before an interruption included, and at most.
    measured, designs : int
        Designs that were run, and all of them.
    tight : int
        Designs whose interval is as narrow as asked for.
    now : str
        What runs next; empty at the end.
    """

    spent_s: float
    budget_s: float
    measured: int
    designs: int
    tight: int
    now: str = ""

    @property
    def fraction(self) -> float:
        """Share of the work that is done, by time or by designs, whichever is further."""
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
    """Return what was measured of each design that was run, in the order given.

    Parameters
    ----------
    designs : sequence of Design
    run : callable
        Runs a design once.
    store : TimingStore
        Where timings are kept, and what was timed before.
    budget_s : float
        Wall seconds that all runs may take together, those of the store included. Each run that has begun is finished.
    tightness : float
        Half of the interval of a median over the median, below which a design isn't run again.
    progress : callable
        Told before every run and at the end.
    clock : callable
        Of wall time.

    Raises
    ------
    InputError
        If there is nothing to run, or the budget or the tightness isn't above 0.
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
    """Return the designs of the next round: those with the fewest repeats of those that aren't known well enough."""
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
