"""Choice of rank, number of grid points and penalty by cross-validation."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from evenly.models.array_types import Floats
from evenly.models.completion.candidate_fit import Member, Settings
from evenly.models.inputs.coding import Coding, Inputs
from evenly.models.regression_model import fold_numbers

__all__ = ["FreeSettings", "choose", "usual_count", "usual_rank"]

#: Least number of runs for a choice by cross-validation.
_LEAST = 64
_MOST_RANK = 48
_PENALTIES = ((0.01, 0.01), (1.0, 1.0), (0.1, 1.0), (0.1, 10.0))
#: Number of sweeps to fit a candidate: enough to compare candidates.
_SWEEPS = 20


def usual_rank(n_runs: int) -> int:
    """Return the rank at which the choice starts."""
    return 2 if n_runs < 24 else 4 if n_runs < 128 else 8 if n_runs < 1024 else 16 if n_runs < 8192 else 32


def usual_count(n_runs: int) -> int:
    """Return the number of grid points at which the choice starts: 1.25 times the cube root of the runs, 4 to 32."""
    return int(np.clip(round(1.25 * n_runs ** (1 / 3)), 4, 32))


@dataclass(frozen=True)
class FreeSettings:
    """Which of rank, number of grid points and penalty are to be chosen, since the user hasn't given them."""

    rank: bool
    count: bool
    penalty: bool


def choose(
    settings: Settings, free: FreeSettings, inputs: Inputs, logs: Floats, weights: Floats, coding: Coding
) -> Settings:
    """Return the settings with the least error on left-out runs, by coordinate search: one setting after the other."""
    folds = fold_numbers(inputs, 5, seed=1) if len(logs) >= _LEAST and any(vars(free).values()) else None
    if folds is None:
        return settings
    # Number of folds to leave out, and of random starts to average for each: fewer with many runs.
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

    # Groups of changes to try, each group on the best settings of the groups before. With few runs errors hardly differ
    # between grids, but a too coarse grid is worse than a too fine one.
    counts = [round(settings.count * 1.5)] if len(logs) < 1000 else [max(4, settings.count // 2), settings.count * 2]
    rounds: list[list[dict[str, object]]] = [
        [{"count": count} for count in counts] if free.count else [],
        [{"rank": max(1, settings.rank // 2)}, {"rank": min(settings.rank * 2, _MOST_RANK)}] if free.rank else [],
        [{"penalty": pair} for pair in _PENALTIES] if free.penalty else [],
    ]
    best, best_errors = settings, errors(settings)
    for changes in rounds:
        base = best
        for change in changes:
            candidate = replace(base, **change)  # type: ignore[arg-type]
            if candidate == base:
                continue
            # A change is accepted if the mean error falls by more than the standard error of the paired differences.
            found = errors(candidate)
            gain = best_errors - found
            if gain.mean() > gain.std() / np.sqrt(len(gain)) + 1e-9:
                best, best_errors = candidate, found
    return best
