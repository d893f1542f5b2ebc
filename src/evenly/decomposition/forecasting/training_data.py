"""Training data of the step model: random cells of all sizes on all numbers of ranks, and their rehearsals.

>>> settings = training_settings(3, seed=1)
>>> [setting.structure for setting in settings], all(1 <= setting.ranks <= 4096 for setting in settings)
(['random', 'random', 'random'], True)
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import replace
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np

from evenly.decomposition.costs.cost_model import CostModel
from evenly.decomposition.forecasting.rehearsal import Rehearsal, RehearsalStore, Setting, rehearse
from evenly.errors import InputError
from evenly.fdtd.structures import build

__all__ = ["POINTS", "RANKS", "gather", "log_uniform", "random_parameters", "real_settings", "training_settings"]

#: Range of grid points of a cell, range of grid points of a rank, and the largest number of ranks.
POINTS, POINTS_PER_RANK, RANKS = (1e5, 10**7.5), (1.5e3, 1e6), 4096
REAL_POINTS = (1e5, 1e6)
#: Dispersive media, with 1, 2, 3 and 5 poles, and the probability of each.
MATERIALS = {"indium tin oxide": 0.2, "passive silicon": 0.3, "silicon": 0.25, "silver": 0.25}
#: Parameters of the Dirichlet distribution that divides the room: susceptibility, transforms, dielectric, nothing.
CONCENTRATION = (1.2, 0.55, 1.0, 0.5)
#: Share of the room that regions may fill, and the smallest share of the cell for each region.
FILLED, LEAST = 0.9, 0.002
#: Probability that regions lie in a medium instead of vacuum, and that they reach into the absorber.
SURROUNDED, REACHING = 0.65, 0.5
#: Range of the share of PML and of absorber in the cell. Random cells have thick layers at one axis; these take as much
#: of the cell as the layers of real structures at two axes.
PML, ABSORBER = (0.04, 0.45), (0.025, 0.88)
FREQUENCIES = (2, 60)
#: Probability that the dispersive region holds balls, and the range of their number.
HOLDING, BALLS = 0.25, (1.0, 64.0)


def training_settings(count: int, *, seed: int = 0, first: int = 0) -> list[Setting]:
    """Return settings of random cells on random numbers of ranks, drawn independently.

    The points of a cell and the points per rank are log-uniform. The contents of the cells are drawn such that the
    structures of `evenly.fdtd.structures` lie well inside their range (``benchmarks/random_cells.py`` measures this).

    Parameters
    ----------
    count : int
        Number of settings.
    seed : int
    first : int
        Number of the first draw, to extend earlier draws with the same seed.
    """
    return [_drawn(np.random.default_rng([seed, n])) for n in range(first, first + count)]


def real_settings(count: int, *, most_ranks: int = 8, seed: int = 0) -> list[Setting]:
    """Return settings of random cells to run on at most `most_ranks` real MPI ranks, drawn as in `training_settings`.

    The cells have 10⁵ to 10⁶ points, so that a rehearsal takes seconds.
    """
    drawn = [_drawn(np.random.default_rng([seed, 1, n]), REAL_POINTS, most_ranks) for n in range(count)]
    return [replace(setting, source="mpi") for setting in drawn]


def _drawn(random: np.random.Generator, some_points: tuple[float, float] = POINTS, most_ranks: int = RANKS) -> Setting:
    points = log_uniform(random, *some_points)
    ranks = int(np.clip(round(points / log_uniform(random, *POINTS_PER_RANK)), 1, most_ranks))
    # If the contents don't fit into the cell, only they are drawn again. Otherwise small cells, which have less room,
    # would be too rare.
    while True:
        parameters = random_parameters(random, float(f"{points:.4g}"))
        try:
            build("random", **parameters)
        except InputError:
            continue
        # Drawn last, so that the other parameters don't depend on whether there are balls.
        if random.random() < HOLDING:
            parameters["balls"] = round(log_uniform(random, *BALLS))
        return Setting("random", parameters, ranks)


def random_parameters(random: np.random.Generator, points: float) -> dict[str, Any]:
    """Return random parameters of a cell; its regions and layers may not fit into it."""
    pml, absorber = log_uniform(random, *PML), log_uniform(random, *ABSORBER)
    reach = "absorber" if random.random() < REACHING else "interior"
    room = (1 - pml) * (1 if reach == "absorber" else 1 - absorber) * FILLED
    parts = random.dirichlet(CONCENTRATION)[:3] * room
    silicon, monitor, dielectric = (round(max(LEAST, float(part)), 5) for part in parts)
    material = str(random.choice(list(MATERIALS), p=list(MATERIALS.values())))
    return {
        "seed": int(random.integers(2**31)), "points": points, "material": material,
        "silicon": silicon, "monitor": monitor, "dielectric": dielectric, "pml": round(pml, 4),
        "absorber": round(absorber, 4), "frequencies": round(log_uniform(random, *FREQUENCIES)), "elongation": 5.0,
        "surroundings": 1.5 if random.random() < SURROUNDED else 1.0, "reach": reach,
    }  # fmt: skip


def log_uniform(random: np.random.Generator, low: float, high: float) -> float:
    """Return a log-uniform random number between `low` and `high`."""
    return float(np.exp(random.uniform(math.log(low), math.log(high))))


def gather(
    settings: Sequence[Setting],
    store: Path | str,
    cost: CostModel,
    *,
    how: Callable[[Setting, CostModel], Rehearsal] = rehearse,
    workers: int = 1,
    seconds: float = math.inf,
    told: Callable[[int, int, str], None] | None = None,
) -> int:
    """Rehearse the settings that the store doesn't hold yet, in random order, and return how many succeeded.

    Parameters
    ----------
    settings : sequence of Setting
    store : path
        See `RehearsalStore`.
    cost : CostModel
    how : callable
        Rehearses a setting by a cost model; a function of a module, or such a one with arguments (`functools.partial`).
    workers : int
        Number of processes that rehearse side by side; 1 if any setting uses real MPI ranks.
    seconds : float
        No rehearsal begins later than this many seconds after the start.
    told : callable, optional
        Progress callback: called with how many are done, how many there are, and the error of the last one (an empty
        text if there was none).
    """
    import time

    with RehearsalStore(store, cost) as kept:
        left = [setting for setting in settings if setting not in kept]
    order = [left[i] for i in np.random.default_rng(0).permutation(len(left))]
    until, done = time.monotonic() + seconds, 0
    workers = 1 if any(setting.source == "mpi" for setting in order) else workers
    with ProcessPoolExecutor(workers, mp_context=get_context("spawn")) as pool:
        waiting = {pool.submit(_rehearsed, how, setting, str(store), cost, until): setting for setting in order}
        for number, finished in enumerate(as_completed(waiting), 1):
            wrong = finished.result()
            done += wrong == ""
            if told is not None:
                told(number, len(order), wrong)
    return done


def _rehearsed(
    how: Callable[[Setting, CostModel], Rehearsal], setting: Setting, store: str, cost: CostModel, until: float
) -> str:
    import time

    from evenly.errors import EvenlyError

    if time.monotonic() > until:
        return "no time left"
    try:
        found = how(setting, cost)
    except (EvenlyError, MemoryError) as error:
        return f"{setting.key}: {error}"
    with RehearsalStore(store, cost) as kept:
        kept.add(found)
    return ""
