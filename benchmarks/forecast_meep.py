"""Steps of real Meep predicted for cells that nobody ran: learned from random cells, tried on three structures.

    python benchmarks/forecast_meep.py --store rehearsals.db --seconds 1800    # measure, learn, print; goes on
    python benchmarks/forecast_meep.py --store rehearsals.db --seconds 0       # learn from what is there

Each random cell runs on 1, 2, 4 or 8 ranks (drawn), each structure in two sizes on all of them, cut by evenly; all in
random order, so that structures and random cells see the same machine. What is compared is computing: CPU seconds per
step of the slowest rank and of every rank, waiting within MPI left out, at the pace of a small vacuum cell beside it.
Where ranks are more than cores, they take turns on these and find their caches cold: that is in the times, and learned
with them.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evenly.adapters.meep.timing.random_cells import RANKS, random_settings
from evenly.adapters.meep.timing.ranks import MeepRun
from evenly.adapters.meep.timing.rehearsals import random_run, rehearse
from evenly.decomposition.costs.cost_model import CostModel
from evenly.decomposition.costs.locations import find_cost
from evenly.decomposition.forecasting.rehearsal import Rehearsal, RehearsalStore, Setting
from evenly.decomposition.forecasting.step_model import StepModel
from evenly.errors import EvenlyError

CELLS = Path(__file__).parent / "meep_cells.py"
#: Two sizes of each structure, of 10^5 to 10^5.5 points: in larger ones Meep averages interfaces for most of a minute
#: before the first step.
SIZES: Mapping[str, Sequence[Mapping[str, Any]]] = {
    "oled": ({"resolution": 30}, {"resolution": 40}),
    "cmos": ({"resolution": 40}, {"resolution": 48}),
    "tandem": ({"resolution": 60}, {"resolution": 60, "size": 0.8}),
}
#: Runs of each structure's cell and number of ranks, whose mean counts.
REPEATS = 2
Array = NDArray[np.float64]


def structures() -> list[Setting]:
    """Return what is predicted; `run` tells repeats of one cell apart."""
    return [
        Setting(name, {**size, "run": run}, ranks)
        for name, sizes in SIZES.items()
        for size in sizes
        for ranks in RANKS
        for run in range(REPEATS)
    ]


def run_of(setting: Setting) -> MeepRun:
    """Return the simulation of a setting."""
    if setting.structure == "random":
        return random_run(setting)
    options = {name: value for name, value in setting.parameters.items() if name != "run"}
    return MeepRun(CELLS, setting.structure, options)


def gather(settings: Sequence[Setting], path: Path, cost: CostModel, seconds: float) -> None:
    """Measure what the store doesn't have, in random order, as long as there is time."""
    until, begun = time.monotonic() + seconds, time.monotonic()
    with RehearsalStore(path, cost) as store:
        left = [setting for setting in settings if setting not in store]
        order = np.random.default_rng(len(left)).permutation(len(left))
        for done, setting in enumerate(sorted((left[i] for i in order), key=again), 1):
            if time.monotonic() > until:
                break
            try:
                store.add(rehearse(setting, run_of(setting), cost))
            except EvenlyError as error:
                print(f"{setting.key}: {error}", flush=True)
            if done % 10 == 0:
                print(f"{done} of {len(left)} measured in {time.monotonic() - begun:.0f} s", flush=True)


def again(setting: Setting) -> int:
    """Return how often a setting was to be measured before: repeats come last."""
    return int(setting.parameters.get("run", 0))


def averaged(rehearsals: Sequence[Rehearsal]) -> list[list[Rehearsal]]:
    """Return the rehearsals of structures, those of one cell on as many ranks together, in the order of `SIZES`."""
    found: dict[tuple[object, ...], list[Rehearsal]] = {}
    for one in rehearsals:
        setting = one.setting
        size = tuple(value for name, value in setting.parameters.items() if name != "run")
        found.setdefault((list(SIZES).index(setting.structure), one.traits["points"], setting.ranks, size), []).append(
            one
        )
    return [found[key] for key in sorted(found, key=str)]


def seconds_of(same: Sequence[Rehearsal]) -> Array:
    """Return the mean of each rank over repeats."""
    return np.asarray(np.mean([one.seconds for one in same], axis=0))


def errors_line(name: str, measured: Sequence[Array], predicted: Sequence[Array]) -> str:
    """Return how far slowest ranks and all ranks are off."""
    slowest = np.array([p.max() / m.max() for m, p in zip(measured, predicted, strict=True)])
    every = np.concatenate([p / m for m, p in zip(measured, predicted, strict=True)])
    return f"{name:36s} {_errors(slowest)}      {_errors(every)}"


def _errors(ratio: Array) -> str:
    off = np.abs(ratio - 1)
    factor = np.maximum(ratio, 1 / ratio).max()
    return f"{100 * off.mean():5.1f} % {100 * np.percentile(off, 95):5.1f} % {factor:6.2f}"


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--store", type=Path, default=Path("forecast_meep.db"), help="where rehearsals are kept")
    parser.add_argument("--cost", type=Path, help="a cost model (default: this machine's, or the shipped one)")
    parser.add_argument("--count", type=int, default=100, help="random cells")
    parser.add_argument("--seconds", type=float, default=np.inf, help="no run begins later than so many")
    parser.add_argument("--learner", default="extra-trees", help="a method of evenly.fit")
    options = parser.parse_args(arguments)
    warnings.simplefilter("ignore")
    found = find_cost("meep", options.cost)
    print(found.note, "\n")
    settings = random_settings(options.count)
    gather([*settings, *structures()], options.store, found.cost, options.seconds)
    with RehearsalStore(options.store, found.cost) as store:
        kept = {one.setting.key: one for one in store}
    random = [kept[setting.key] for setting in settings if setting.key in kept]
    tests = averaged([kept[setting.key] for setting in structures() if setting.key in kept])
    report(random, tests, found.cost, options.learner)


def report(random: Sequence[Rehearsal], tests: Sequence[Sequence[Rehearsal]], cost: CostModel, learner: str) -> None:
    """Print each structure, and how far predictions are off by what was learned from."""
    measured = [seconds_of(same) for same in tests]
    loads = [same[0].load for same in tests]
    linear = [load.seconds for load in loads]
    counts = [count for count in (25, 50, 100) if count < len(random)] + [len(random)]
    models = {count: StepModel.learn(random[:count], cost, learner=learner) for count in counts}
    predicted = {count: model.rank_seconds(loads) for count, model in models.items()}
    # One number by which the cost model is off in all random cells: the least that could be learned.
    factor = float(np.median([one.seconds.max() / one.load.seconds.max() for one in random]))

    print("ms per step of the slowest rank           measured   linear         learned       repeats")
    for same, truth, line, guess in zip(tests, measured, linear, predicted[counts[-1]], strict=True):
        setting, slowest = same[0].setting, truth.max()
        apart = [one.seconds.max() for one in same]
        print(
            f"{setting.structure:7s} {same[0].traits['points']:9,.0f} points {setting.ranks:2d} ranks      "
            f"{1e3 * slowest:8.2f} {1e3 * line.max():8.2f} {100 * (line.max() / slowest - 1):+4.0f} % "
            f"{1e3 * guess.max():8.2f} {100 * (guess.max() / slowest - 1):+4.0f} %   "
            f"{100 * (max(apart) / min(apart) - 1):3.0f} %"
        )
    print("\n                                              slowest rank                 every rank")
    print("three structures                       mean     p95  worst x        mean     p95  worst x")
    print(errors_line("  linear cost model", measured, linear))
    print(errors_line("  linear, times one factor", measured, [factor * one for one in linear]))
    for count, guess in predicted.items():
        print(errors_line(f"  learned from {count} random cells", measured, guess))
    for name in SIZES:
        these = [n for n, same in enumerate(tests) if same[0].setting.structure == name]
        if these:
            rows = [measured[n] for n in these], [predicted[counts[-1]][n] for n in these]
            print(errors_line(f"  {name}, learned from {counts[-1]}", *rows))
    shares = np.concatenate(
        [
            one.load.seconds / one.load.seconds.sum() / (one.seconds / one.seconds.sum())
            for one in random
            if one.setting.ranks > 1
        ]
    )
    times = np.array([one.load.seconds.sum() / one.seconds.sum() for one in random])
    print("random cells")
    print(f"  linear cost model, shares of ranks {_errors(shares)}")
    print(f"  linear cost model, all ranks' time {_errors(times)}")
    print(errors_line("  linear cost model", [one.seconds for one in random], [one.load.seconds for one in random]))
    for count, model in models.items():
        off = 100 * np.expm1(model.errors)
        print(f"  left out, learned from {count:4d} of them  {off.mean():5.1f} % {np.percentile(off, 95):5.1f} %")


if __name__ == "__main__":
    main()
