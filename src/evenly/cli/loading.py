"""From a path on the command line to runs and models: reads, reports what was left out, fits with a progress bar."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from evenly.cli.console import note, progress
from evenly.errors import InputError

if TYPE_CHECKING:
    from evenly.models.base import Model
    from evenly.readers import Measurements
    from evenly.runs import Runs

__all__ = ["FitOptions", "Learned", "learn", "measurements", "split"]


@dataclass(frozen=True)
class FitOptions:
    """What was asked of `evenly.fit`.

    `cores` is the largest core count that predictions will be asked for, `fixed` names the parameters other than cores.
    """

    method: str | None = None
    statistic: str = "median"
    effort: str = "normal"
    response: str | None = None
    train: str | None = None
    cores: int | None = None
    fixed: tuple[str, ...] = ()
    arguments: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Learned:
    """Models by solver, with what they were learned from and tested on where that is known."""

    models: dict[str, Model]
    runs: dict[str, Runs] = field(default_factory=dict)
    test: dict[str, Runs] = field(default_factory=dict)
    found: Measurements | None = None


def measurements(path: Path, reading: dict[str, Any]) -> Measurements:
    """Read `path` and tell what was left out."""
    from evenly.readers import scan

    found = scan(path, **reading)
    for skipped in found.skipped:
        if not skipped.benign:
            note(f"left out: {skipped}")
    return found


def learn(path: Path, reading: dict[str, Any], options: FitOptions) -> Learned:
    """Load the models in a ``.evenly`` file, or read measurements and fit one model per solver."""
    from evenly.models.storage import load

    if path.suffix == ".evenly":
        loaded = load(path)
        return Learned(loaded if isinstance(loaded, dict) else {"": loaded})
    found = measurements(path, reading)
    train, test = split(found.runs, options.train)
    return Learned(_fit_each(train, options), train, test, found)


def split(runs: dict[str, Runs], condition: str | None) -> tuple[dict[str, Runs], dict[str, Runs]]:
    """Return training and test runs per solver; without a condition all is for training."""
    if condition is None:
        return dict(runs), {}
    halves = {solver: one.split(condition) for solver, one in runs.items()}
    empty = [solver for solver, (train, _) in halves.items() if not len(train)]
    if empty:
        raise InputError(f"--train {condition!r} leaves no runs to learn from{f' for {empty[0]}' if empty[0] else ''}")
    return {s: train for s, (train, _) in halves.items()}, {s: test for s, (_, test) in halves.items() if len(test)}


def _fit_each(runs: dict[str, Runs], options: FitOptions) -> dict[str, Model]:
    return {solver: _fit_one(solver, one, options) for solver, one in runs.items()}


def _fit_one(solver: str, runs: Runs, options: FitOptions) -> Model:
    from evenly.models.fitting import DEFAULT_METHOD, fit
    from evenly.models.registry import model_class

    known = model_class(options.method or DEFAULT_METHOD)._get_param_names()
    with progress(f"learning {solver or options.method or 'a model'}") as done:
        told: dict[str, Any] = {"progress": done} if "progress" in known else {}
        open_ = [name for name in runs.parameters if name not in options.fixed]
        if options.cores is not None and "asked" in known and len(open_) == 1:
            told["asked"] = {open_[0]: (1, max(options.cores, 1))}
        try:
            return fit(
                runs, method=options.method, statistic=options.statistic, effort=options.effort,
                response=options.response, **{**told, **options.arguments},
            )  # fmt: skip
        except InputError as error:
            raise InputError(f"{solver}: {error}" if solver else str(error)) from None
