"""From a path on the command line to runs and models: reads, reports what was left out, fits with a progress bar."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from evenly.cli.console import note, progress
from evenly.cli.options import Learning, Reading
from evenly.errors import InputError

if TYPE_CHECKING:
    from evenly.models.base import Model
    from evenly.readers import Measurements
    from evenly.runs import Runs

__all__ = ["Learned", "learn", "measurements", "split"]


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


def learn(
    path: Path,
    reading: Reading,
    learning: Learning,
    arguments: Callable[[Runs, list[str]], dict[str, Any]] | None = None,
) -> Learned:
    """Load the models in a ``.evenly`` file, or read measurements and fit one model per solver.

    `arguments` gives further arguments of a method for runs, knowing the names of those that it takes.
    """
    from evenly.models.storage import load

    if path.suffix == ".evenly":
        loaded = load(path)
        return Learned(loaded if isinstance(loaded, dict) else {"": loaded})
    found = measurements(path, reading.arguments())
    train, test = split(found.runs, learning.train)
    models = {solver: _fit(solver, runs, learning, arguments) for solver, runs in train.items()}
    return Learned(models, train, test, found)


def split(runs: dict[str, Runs], condition: str | None) -> tuple[dict[str, Runs], dict[str, Runs]]:
    """Return training and test runs per solver; without a condition all is for training."""
    if condition is None:
        return dict(runs), {}
    halves = {solver: one.split(condition) for solver, one in runs.items()}
    empty = [solver for solver, (train, _) in halves.items() if not len(train)]
    if empty:
        raise InputError(f"--train {condition!r} leaves no runs to learn from{f' for {empty[0]}' if empty[0] else ''}")
    return {s: train for s, (train, _) in halves.items()}, {s: test for s, (_, test) in halves.items() if len(test)}


def _fit(
    solver: str, runs: Runs, learning: Learning, arguments: Callable[[Runs, list[str]], dict[str, Any]] | None
) -> Model:
    from evenly.models.fitting import default_method, fit
    from evenly.models.registry import model_class

    known = model_class(learning.method or default_method(runs))._get_param_names()
    given = arguments(runs, known) if arguments else {}
    with progress(f"learning {solver or learning.method or 'a model'}") as done:
        told = {"progress": done} if "progress" in known else {}
        try:
            return fit(
                runs, method=learning.method, statistic=learning.statistic, effort=learning.effort,
                response=learning.response, **told, **given,
            )  # fmt: skip
        except InputError as error:
            raise InputError(f"{solver}: {error}" if solver else str(error)) from None
