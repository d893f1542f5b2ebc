"""Searches of a table by Optuna's default sampler, for `benchmarks/tuning.py --optuna`; it runs in Optuna's own Python.

Reads one JSON object from its input: ``values`` (lists of each parameter's values, numbers sorted), ``numeric``
(which are numbers), ``rows`` (configurations as positions in those lists), ``seconds`` (null: failed), ``runs`` and
``seeds``. Prints one JSON object: ``version`` and ``best``, for each seed the least seconds after each run (null:
nothing found yet).

Numbers are asked for by their position among the values, as the table holds no others. What isn't in the table is told
to be pruned, and a configuration that was run already gets the same answer again: both cost no run, so that Optuna's
runs are as many as everyone's.
"""

from __future__ import annotations

import json
import sys
from typing import Any

import optuna

#: Proposals for each run, after which a random configuration that wasn't run yet is taken.
MOST_ASKED = 200


def best_of(told: dict[str, Any], seed: int) -> list[float | None]:
    """Return the least seconds after each run of one search."""
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    study = optuna.create_study(sampler=optuna.samplers.TPESampler(seed=seed))
    seconds = {tuple(row): s for row, s in zip(told["rows"], told["seconds"], strict=True)}
    runs: set[tuple[int, ...]] = set()
    best: list[float | None] = []
    asked = 0
    while len(best) < told["runs"] and asked < MOST_ASKED * told["runs"]:
        asked += 1
        trial = study.ask()
        row = tuple(
            trial.suggest_int(f"x{k}", 0, len(values) - 1)
            if numeric
            else trial.suggest_categorical(f"x{k}", list(range(len(values))))
            for k, (values, numeric) in enumerate(zip(told["values"], told["numeric"], strict=True))
        )
        if row not in seconds:
            study.tell(trial, state=optuna.trial.TrialState.PRUNED)
            continue
        took = seconds[row]
        if took is None:
            study.tell(trial, state=optuna.trial.TrialState.FAIL)
        else:
            study.tell(trial, took)
        if row not in runs:
            runs.add(row)
            least = [s for s in (took, best[-1] if best else None) if s is not None]
            best.append(min(least) if least else None)
    return best + best[-1:] * (told["runs"] - len(best))


if __name__ == "__main__":
    request = json.load(sys.stdin)
    found = [best_of(request, seed) for seed in request["seeds"]]
    json.dump({"version": optuna.__version__, "best": found}, sys.stdout)
