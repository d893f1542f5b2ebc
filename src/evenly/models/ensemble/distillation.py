"""Distillation: a small tensor completion model learns the predictions of a blend and replaces it.

A blend stores all its members, and some members store all runs. A completion of low rank stores a few thousand numbers
[Hinton, Vinyals and Dean, Distilling the knowledge in a neural network, 2015]. It learns from random configurations
that recombine measured values. For a parameter with many values, values between the measured ones are drawn too.
"""

from __future__ import annotations

import tempfile
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from evenly.errors import InputError
from evenly.metrics import mlogq
from evenly.models.array_types import Floats
from evenly.models.completion.cpr import CPR
from evenly.models.ensemble.automatic import Automatic
from evenly.models.inputs.coding import Inputs
from evenly.models.storage import save
from evenly.models.uncertainty.local_conformal import LocalConformal

__all__ = ["distil", "stored_bytes"]

#: Ranks to try, in rising order; a larger rank must lower the difference to the blend by at least the share `_GAIN`.
_RANKS = (4, 8, 16, 32)
_GAIN = 0.02
#: Number of configurations that the blend predicts: least and most to learn from, and those to compare on.
_LEAST, _MOST, _COMPARED = 2_000, 20_000, 2_000
#: For a parameter with more values than this, values between the measured ones are drawn.
_MANY = 64
#: Maximum number of residuals that the small model stores for its intervals.
_PLACES = 300


def distil(model: Automatic, *, most_bytes: int = 100_000) -> CPR:
    """Return a small tensor completion model that approximates the predictions of `model`.

    Parameters
    ----------
    model : Automatic
        A fitted model.
    most_bytes : int
        Maximum size of the stored file, in bytes.

    Returns
    -------
    CPR
        ``training_["distilled"]`` holds ``bytes`` (size of the stored file), ``difference`` (mean absolute log ratio to
        the blend, on configurations that the completion didn't learn from) and ``error`` (of the blend, on left-out
        runs). Beyond the measured range the completion follows its own trend, not the blend's extrapolation.

    Raises
    ------
    InputError
        If the model is no blend, it learned from a single configuration, or no completion is small enough.

    Examples
    --------
    >>> m, n = (a.ravel() for a in np.meshgrid(2.0 ** np.arange(4, 12), 2.0 ** np.arange(4, 12)))
    >>> blend = Automatic(effort="quick", methods=["gp"]).fit({"m": m, "n": n}, 1e-9 * m * n + 1e-6 * m)
    >>> small = distil(blend)
    >>> small.training_["distilled"]["bytes"] < 100_000, small.training_["distilled"]["difference"] < 0.02
    (True, True)
    """
    if not hasattr(model, "space_"):
        raise InputError("this model has not learned anything yet: fit it before distilling it")
    if not isinstance(model, Automatic):
        raise InputError(f"only a blend (method auto) is distilled, but this is one model already: {model.method}")
    places = model._conformal.places
    if len(places) < 2:
        raise InputError("a model of too few configurations to compare methods can't be distilled: it is small already")
    size = int(np.clip(16 * len(places), _LEAST, _MOST))
    table = _like(places, model, size + _COMPARED)
    targets = model._predict(table)
    learn, compare = slice(0, size), slice(size, None)
    best: tuple[float, CPR] | None = None
    for rank in _RANKS:
        small = CPR(rank=rank, starts=1, folds=0).fit(table.iloc[learn], targets[learn], space=model.learned_space_)
        _take_over(small, model)
        difference = mlogq(targets[compare], small._predict(table.iloc[compare]))
        bytes_ = stored_bytes(small)
        if bytes_ > most_bytes:
            break
        small.training_["distilled"] = {"bytes": bytes_, "difference": difference, "error": model.error_}
        if best is None or difference < best[0] * (1 - _GAIN):
            best = difference, small
    if best is None:
        raise InputError(f"most_bytes must hold the smallest completion, {bytes_} bytes, but got {most_bytes}")
    return best[1]


def stored_bytes(model: Automatic | CPR) -> int:
    """Return the size of the file that `evenly.save` would write."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "model.evenly")
        save(model, path)
        return path.stat().st_size


def _like(places: Floats, model: Automatic, count: int, *, seed: int = 0) -> pd.DataFrame:
    """Draw configurations like those at `places` (n, k): each value of a measured one is redrawn or not (50 %)."""
    rng = np.random.default_rng(seed)
    measured = model._coding.inputs_of(places)
    n = len(places)
    rows = rng.integers(n, size=count)
    numbers, labels = measured.numbers[rows], measured.labels[rows]
    for k in range(numbers.shape[1]):
        moved = rng.random(count) < 0.5
        numbers[moved, k] = _drawn(measured.numbers[:, k], int(moved.sum()), rng)
    for k in range(labels.shape[1]):
        moved = rng.random(count) < 0.5
        labels[moved, k] = measured.labels[rng.integers(n, size=int(moved.sum())), k]
    return model._coding.table(Inputs(numbers, labels, measured.sizes), model.learned_space_)


def _drawn(column: Floats, count: int, rng: np.random.Generator) -> Floats:
    """Draw values from a parameter's measured distribution, (count,); with many values, interpolate its quantiles."""
    values = np.unique(column)
    if len(values) <= _MANY:
        return np.asarray(rng.choice(column, size=count))
    return np.asarray(np.quantile(column, rng.random(count)))


def _training_of(model: Automatic) -> dict[str, Any]:
    """Return what a blend knows of its runs, as far as it is about parameters that it learned from."""
    dropped = set(model.space_.names) - set(model.learned_space_.names)
    told = {name: value for name, value in model.training_.items() if name == "without_effect" or not dropped}
    for name, value in model.training_.items():
        about = _without(value, dropped) if name == "label_ranges" else value
        if name not in told and not _mentions(about, dropped):
            told[name] = about
    return told


def _without(ranges: Mapping[str, Any], dropped: Collection[str]) -> dict[str, Any]:
    """Return the ranges of numbers by parameter and label without those of some parameters."""
    return {
        name: {
            label: {number: ends for number, ends in its.items() if number not in dropped}
            for label, its in by_label.items()
        }
        for name, by_label in ranges.items()
        if name not in dropped
    }


def _mentions(value: Any, names: Collection[str]) -> bool:
    """Tell whether nested dictionaries and lists hold one of these names."""
    if isinstance(value, Mapping):
        return any(key in names or _mentions(one, names) for key, one in value.items())
    if isinstance(value, list | tuple):
        return any(_mentions(one, names) for one in value)
    return isinstance(value, str) and value in names


def _take_over(small: CPR, model: Automatic) -> None:
    """Copy the range and the run count of the blend to the completion, and adapt the blend's intervals."""
    known = model._conformal
    rows = np.random.default_rng(0).permutation(len(known.places))[:_PLACES]
    table = model._coding.table(model._coding.inputs_of(known.places[rows]), model.learned_space_)
    shift = np.log(small._predict(table) / model._predict(table))
    small.space_, small.n_runs_ = model.learned_space_, model.n_runs_
    small.response_, small.training_ = dict(model.response_), _training_of(model)
    # Squared errors add up: the blend's residual and the completion's deviation from it are taken as independent.
    residuals = np.hypot(known.residuals[rows], shift)
    small._conformal = LocalConformal.learn(
        small._coding.inputs(table), residuals, freedom=float(model.n_runs_), growth=known.growth
    )
    small.left_out_predictions_ = None
