"""Searches of a table by Optuna's default sampler, for `benchmarks/tuning.py --optuna`; it runs in Optuna's own Python.

Reads one JSON object from its input: ``values`` (lists of each parameter's values, numbers sorted), ``numeric``
(which are numbers), ``rows`` (configurations as positions in those lists), ``seconds`` (null: failed), ``runs`` and
``seeds``. Prints one JSON object: ``version`` and ``best``, for each seed the least seconds after each run (null:
nothing found yet).

Numbers are asked for by their position among the values, as the table holds no others. A proposal that is not in the
table, or was run before, stands for the nearest row that was not: that is run, and told as a trial of its own.
"""

from __future__ import annotations

import json
import sys
from typing import Any

import numpy as np
import optuna
from optuna.distributions import CategoricalDistribution, IntDistribution
from optuna.trial import TrialState, create_trial


def best_of(told: dict[str, Any], seed: int) -> list[float | None]:
    """Return the least seconds after each run of one search."""
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    study = optuna.create_study(sampler=optuna.samplers.TPESampler(seed=seed))
    numeric, rows = np.array(told["numeric"]), np.array(told["rows"])
    wide = np.array([max(1, len(values) - 1) for values in told["values"]])
    asked = {
        f"x{k}": IntDistribution(0, len(values) - 1)
        if numeric[k]
        else CategoricalDistribution(list(range(len(values))))
        for k, values in enumerate(told["values"])
    }
    open_rows = np.ones(len(rows), dtype=bool)
    best: list[float | None] = []
    while len(best) < told["runs"] and open_rows.any():
        trial = study.ask(asked)
        wanted = np.array([trial.params[name] for name in asked])
        apart = np.where(numeric, np.abs(rows - wanted) / wide, rows != wanted).sum(axis=1)
        row = int(np.argmin(np.where(open_rows, apart, np.inf)))
        open_rows[row] = False
        took = told["seconds"][row]
        if took is not None and apart[row] == 0:
            study.tell(trial, took)
        else:
            study.tell(trial, state=TrialState.FAIL)
            if took is not None:
                params = {name: int(value) for name, value in zip(asked, rows[row], strict=True)}
                study.add_trial(create_trial(params=params, distributions=asked, value=took))
        least = [s for s in (took, best[-1] if best else None) if s is not None]
        best.append(min(least) if least else None)
    return best + best[-1:] * (told["runs"] - len(best))


if __name__ == "__main__":
    request = json.load(sys.stdin)
    found = [best_of(request, seed) for seed in request["seeds"]]
    json.dump({"version": optuna.__version__, "best": found}, sys.stdout)
