"""Searches of a table by other programs, for `benchmarks/tuning.py`, in the Python of the program's environment.

    PYTHON benchmarks/tuning_rivals.py {optuna-tpe,optuna-gp,smac,skopt} < requests

Reads one JSON object per line: ``values`` (lists of each parameter's values, numbers sorted), ``numeric`` (which are
numbers), ``rows`` (configurations as positions in those lists), ``seconds`` (null: failed), ``runs`` and ``seed``.
Prints one line for each: ``version`` and ``best``, the least seconds after each run (null: nothing found yet).

All programs have their default settings, and are treated alike. Numbers are asked for by their position among the
values, as the table holds no others. A proposal that is not in the table, or was run before, stands for the nearest row
that was not; that row is run, and told as what was run. A run that failed is told as a failure where the program knows
that, else as slow as the slowest run so far. Gaussian processes learn logarithms of seconds, as evenly does.
"""

from __future__ import annotations

import json
import math
import sys
import tempfile
import warnings
from collections.abc import Sequence
from importlib.metadata import version
from typing import Any, Protocol

import numpy as np

Row = Sequence[int]


class Rival(Protocol):
    """A program that searches: the sizes of the parameters, which of them are numbers, and a seed make one."""

    version: str

    def ask(self) -> Row:
        """Return a proposal, as positions among the values."""

    def tell(self, row: Row, seconds: float | None, slowest: float) -> None:
        """Learn that a row was run, which isn't always the one that was asked for."""


class Optuna:
    """Optuna's tree-structured Parzen estimator (its default), or its Gaussian processes."""

    def __init__(self, sizes: Row, numeric: Sequence[bool], seed: int, sampler: str) -> None:
        import optuna
        from optuna.distributions import CategoricalDistribution, IntDistribution

        optuna.logging.set_verbosity(optuna.logging.ERROR)
        self.version = version("optuna")
        self._is_process = sampler == "GPSampler"
        self._study = optuna.create_study(sampler=getattr(optuna.samplers, sampler)(seed=seed))
        self._space = {
            f"x{k}": IntDistribution(0, size - 1) if number else CategoricalDistribution(list(range(size)))
            for k, (size, number) in enumerate(zip(sizes, numeric, strict=True))
        }

    def ask(self) -> Row:
        self._trial = self._study.ask(self._space)
        return [self._trial.params[name] for name in self._space]

    def tell(self, row: Row, seconds: float | None, slowest: float) -> None:
        del slowest  # Optuna knows failures
        from optuna.trial import TrialState, create_trial

        params = {name: int(value) for name, value in zip(self._space, row, strict=True)}
        value = None if seconds is None else math.log(seconds) if self._is_process else seconds
        if params == self._trial.params and value is not None:
            self._study.tell(self._trial, value)
            return
        self._study.tell(self._trial, state=TrialState.FAIL)
        if value is not None:
            self._study.add_trial(create_trial(params=params, distributions=self._space, value=value))


class Smac:
    """SMAC3 with its facade for hyper-parameters: a random forest of logarithms, expected improvement."""

    def __init__(self, sizes: Row, numeric: Sequence[bool], seed: int, runs: int) -> None:
        import smac
        from ConfigSpace import Categorical, ConfigurationSpace, Integer

        self.version = version("smac")
        space = ConfigurationSpace(seed=seed)
        for k, (size, number) in enumerate(zip(sizes, numeric, strict=True)):
            whole = number and size > 1
            space.add(Integer(f"x{k}", (0, size - 1)) if whole else Categorical(f"x{k}", list(range(size))))
        folder = tempfile.mkdtemp(prefix="smac-")
        scenario = smac.Scenario(space, output_directory=folder, deterministic=True, n_trials=runs, seed=seed)
        facade = smac.HyperparameterOptimizationFacade
        self._space = space
        self._smac = facade(scenario, _never_called, overwrite=True, logging_level=False)

    def ask(self) -> Row:
        self._info = self._smac.ask()
        return [int(self._info.config[f"x{k}"]) for k in range(len(self._space))]

    def tell(self, row: Row, seconds: float | None, slowest: float) -> None:
        from ConfigSpace import Configuration
        from smac.runhistory import StatusType, TrialInfo, TrialValue

        at = Configuration(self._space, values={f"x{k}": int(value) for k, value in enumerate(row)})
        status = StatusType.CRASHED if seconds is None else StatusType.SUCCESS
        value = TrialValue(cost=slowest if seconds is None else seconds, status=status)
        self._smac.tell(TrialInfo(at, seed=self._info.seed), value, save=False)


class Skopt:
    """scikit-optimize: Gaussian processes, with its default portfolio of acquisition functions."""

    def __init__(self, sizes: Row, numeric: Sequence[bool], seed: int) -> None:
        import skopt

        self.version = version("scikit-optimize")
        kinds = [
            skopt.space.Integer(0, size - 1) if number and size > 1 else skopt.space.Categorical(list(range(size)))
            for size, number in zip(sizes, numeric, strict=True)
        ]
        self._optimizer = skopt.Optimizer(kinds, random_state=seed)

    def ask(self) -> Row:
        return [int(value) for value in self._optimizer.ask()]

    def tell(self, row: Row, seconds: float | None, slowest: float) -> None:
        self._optimizer.tell([int(value) for value in row], math.log(slowest if seconds is None else seconds))


def rival_of(name: str, told: dict[str, Any]) -> Rival:
    """Return a program by its name, for what is told of a table."""
    sizes, numeric, seed = [len(values) for values in told["values"]], told["numeric"], told["seed"]
    if name == "smac":
        return Smac(sizes, numeric, seed, told["runs"])
    if name == "skopt":
        return Skopt(sizes, numeric, seed)
    return Optuna(sizes, numeric, seed, {"optuna-tpe": "TPESampler", "optuna-gp": "GPSampler"}[name])


def _never_called(at: Any, seed: int = 0) -> float:
    """Stand for the program, which SMAC doesn't run where it is asked and told."""
    raise AssertionError(f"asked to run {at} with seed {seed}")


def searched(rival: Rival, told: dict[str, Any]) -> list[float | None]:
    """Return the least seconds after each run of one search."""
    numeric, rows = np.array(told["numeric"]), np.array(told["rows"])
    wide = np.array([max(1, len(values) - 1) for values in told["values"]])
    open_rows = np.ones(len(rows), dtype=bool)
    best: list[float | None] = []
    slowest: float | None = None
    while len(best) < told["runs"] and open_rows.any():
        wanted = np.array(rival.ask())
        apart = np.where(numeric, np.abs(rows - wanted) / wide, rows != wanted).sum(axis=1)
        row = int(np.argmin(np.where(open_rows, apart, np.inf)))
        open_rows[row] = False
        took = told["seconds"][row]
        if took is not None:
            slowest = max(took, slowest or 0.0)
        # Before any run went well, nobody knows how slow a failure should be.
        rival.tell(rows[row].tolist(), took, 1.0 if slowest is None else slowest)
        least = [s for s in (took, best[-1] if best else None) if s is not None]
        best.append(min(least) if least else None)
    return best + best[-1:] * (told["runs"] - len(best))


def main() -> None:
    warnings.simplefilter("ignore")
    for line in sys.stdin:
        told = json.loads(line)
        rival = rival_of(sys.argv[1], told)
        print(json.dumps({"version": rival.version, "best": searched(rival, told)}), flush=True)


if __name__ == "__main__":
    main()
