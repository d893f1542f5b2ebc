"""Choice of rank, grid and penalty by cross-validation among the runs to learn from."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from evenly.models.completion.candidate_fit import Member, Settings
from evenly.models.inputs.coding import Coding, Inputs
from evenly.models.regression_model import fold_numbers

__all__ = ["Freedom", "choose", "usual_count", "usual_rank"]

Floats = NDArray[np.float64]
#: With fewer runs nothing is chosen.
_LEAST = 64
_MOST_RANK = 48
_PENALTIES = ((0.01, 0.01), (1.0, 1.0), (0.1, 1.0), (0.1, 10.0))
#: Sweeps of a candidate's fits: enough to compare it with others.
_SWEEPS = 20


def usual_rank(n_runs: int) -> int:
    """Return the rank to start the choice from."""
    return 2 if n_runs < 24 else 4 if n_runs < 128 else 8 if n_runs < 1024 else 16 if n_runs < 8192 else 32


def usual_count(n_runs: int) -> int:
    """Return the number of grid points to start the choice from: between the cube root of the runs and twice that."""
    return int(np.clip(round(1.25 * n_runs ** (1 / 3)), 4, 32))


@dataclass(frozen=True)
class Freedom:
    """Which of rank, count of grid points and penalty the user left to choose."""

    rank: bool
    count: bool
    penalty: bool

    def rounds(self, start: Settings, *, few: bool) -> Iterator[list[dict[str, object]]]:
        """Yield the changes to try, one group after the other, on the best settings so far."""
        if self.count:
            # With few runs errors hardly differ between grids; too coarse ones harm more than too fine ones.
            coarser: list[dict[str, object]] = [] if few else [{"count": max(4, start.count // 2)}]
            yield [*coarser, {"count": round(start.count * 1.5) if few else start.count * 2}]
        if self.rank:
            yield [{"rank": max(1, start.rank // 2)}, {"rank": min(start.rank * 2, _MOST_RANK)}]
        if self.penalty:
            yield [{"penalty": pair} for pair in _PENALTIES]


def choose(
    settings: Settings, freedom: Freedom, inputs: Inputs, logs: Floats, weights: Floats, coding: Coding
) -> Settings:
    """Return the settings that predict left-out runs best, by coordinate search: one setting after the other."""
    folds = (
        fold_numbers(inputs, 5, seed=1)
        if len(logs) >= _LEAST and (freedom.rank or freedom.count or freedom.penalty)
        else None
    )
    if folds is None:
        return settings
    # Folds that are left out, and starts whose mean predicts each: fewer where there are many runs.
    tested = 5 if len(logs) < 1024 else 2 if len(logs) < 6000 else 1
    starts = 2 if len(logs) < 1024 else 1

    def errors(candidate: Settings) -> Floats:
        """Return the weighted absolute errors of left-out runs, always in the same order."""
        quick = replace(candidate, sweeps=_SWEEPS, tolerance=max(candidate.tolerance, 3e-3))
        found = []
        for fold in range(tested):
            out = folds == fold
            made = np.zeros(int(out.sum()))
            for seed in range(starts):
                member = Member(quick)
                member.fit(inputs.rows(~out), logs[~out], weights[~out], coding, seed)
                made += member.predict(inputs.rows(out)) / starts
            found.append(weights[out] * np.abs(made - logs[out]))
        return np.concatenate(found)

    best, least = settings, errors(settings)
    for changes in freedom.rounds(settings, few=len(logs) < 1000):
        base = best
        for change in changes:
            candidate = replace(base, **change)  # type: ignore[arg-type]
            if candidate == base:
                continue
            # Taken only if errors fall by more than the standard error of their paired difference.
            found = errors(candidate)
            gain = least - found
            if gain.mean() > gain.std() / np.sqrt(len(gain)) + 1e-9:
                best, least = candidate, found
    return best
