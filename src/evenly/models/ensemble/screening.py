"""Which parameters of a wide table matter, so that a race learns from these alone.

Methods for a few parameters take forever with forty: grids have a mode for each, and there are 1,560 products and
ratios of pairs. Most of forty columns don't change the time. A Gaussian process has a length-scale for each input and
is cheap. A parameter's effect is how far its predictions move when the parameter's values are swapped between rows
[Breiman, Random forests, 2001, section 10]. Processes of the 4, 8 and 12 parameters with the largest effects, and of
all, predict folds that neither they nor the ranking have learned from: else chance among forty columns would pass for
an effect [Ambroise and McLachlan, Selection bias in gene extraction, 2002]. The fewest parameters whose error is near
the least are kept.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from evenly.errors import EvenlyError
from evenly.models.array_types import Floats
from evenly.models.base import Model
from evenly.models.ensemble.race import Table, left_out_logs_of
from evenly.models.inputs.coding import Coding
from evenly.models.registry import model_class
from evenly.models.regression_model import fold_numbers
from evenly.space.space import Space

__all__ = ["WIDE", "that_matter"]

#: With more parameters than this a table is wide.
WIDE = 12
#: How many parameters may be kept, besides all.
_COUNTS = (4, 8, 12)
#: The error may exceed the least by this share.
_NEAR = 1.02
_FOLDS, _MOST_RUNS, _FEWEST_RUNS = 3, 1_000, 30


def that_matter(runs: Table, say: Callable[[str], None]) -> list[str]:
    """Return the names of the parameters to learn from, in the order of the table; all if it isn't wide."""
    names = [str(name) for name in runs.frame.columns]
    if len(names) <= WIDE or len(runs) < _FEWEST_RUNS:
        return names
    say(f"which of {len(names)} parameters matter")
    if len(runs) > _MOST_RUNS:
        runs = runs.rows(np.sort(np.random.default_rng(0).permutation(len(runs))[:_MOST_RUNS]))
    folds = fold_numbers(Coding.learn(runs.frame, runs.space).inputs(runs.frame), _FOLDS)
    if folds is None:
        return names
    counts = [*_COUNTS, len(names)]
    left_out = np.full((len(counts), len(runs)), np.nan)
    try:
        for fold in np.unique(folds):
            ranked = _by_effect(runs.rows(folds != fold))
            for row, count in enumerate(counts):
                made = left_out_logs_of(_process, _with(runs, ranked[:count]), folds, [int(fold)])
                left_out[row, folds == fold] = made[folds == fold]
        known = np.isfinite(left_out).all(axis=0) & runs.measured
        if 2 * known.sum() < len(runs):  # labels that are never met again, as names of jobs
            return names
        errors = np.abs(left_out - runs.logs)[:, known].mean(axis=1)
        count = counts[int(np.flatnonzero(errors <= _NEAR * errors.min())[0])]
        kept = set(_by_effect(runs)[:count])
    except EvenlyError:  # too little to tell
        return names
    return [name for name in names if name in kept]


def _process() -> Model:
    kind: Any = model_class("gp")
    model: Model = kind(effort="quick", folds=0)
    return model


def _with(runs: Table, names: list[str]) -> Table:
    """Return the runs with some of their parameters."""
    frame = runs.frame[names]
    return Table(frame, runs.logs, runs.weights, Space.from_data(frame, like=runs.space), runs.measured)


def _by_effect(runs: Table) -> list[str]:
    """Return the parameters, that with the largest effect first."""
    model = runs.teach(_process())
    rng = np.random.default_rng(0)
    usual = np.log(model._predict(model.space_.frame(runs.frame)))
    effects: dict[str, float] = {}
    for name in map(str, runs.frame.columns):
        swapped = runs.frame.copy()
        swapped[name] = swapped[name].to_numpy()[rng.permutation(len(runs))]
        moved: Floats = np.log(model._predict(model.space_.frame(swapped))) - usual
        effects[name] = float(np.mean(moved**2))
    return sorted(effects, key=lambda name: -effects[name])
