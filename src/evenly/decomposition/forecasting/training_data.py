"""Which cells are rehearsed to learn from, and rehearsing them: random ones of every size, on every number of ranks.

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
from evenly.decomposition.forecasting.rehearsal import RehearsalStore, Setting, rehearse
from evenly.errors import InputError
from evenly.fdtd.structures import build

__all__ = ["POINTS", "RANKS", "gather", "log_uniform", "random_parameters", "real_settings", "training_settings"]

#: Grid points of a cell and of a rank, and ranks, that are drawn.
POINTS, POINTS_PER_RANK, RANKS = (1e5, 10**7.5), (1.5e3, 1e6), 4096
REAL_POINTS = (1e5, 1e6)
#: Dispersive media, of 1, 2, 3 and 5 poles, and how often each is taken.
MATERIALS = {"indium tin oxide": 0.2, "passive silicon": 0.3, "silicon": 0.25, "silver": 0.25}
#: How the room for regions is divided on average: susceptibility, transforms, dielectric, none of them.
CONCENTRATION = (1.2, 0.55, 1.0, 0.5)
#: Of that room, what regions may fill, and the least share of the cell of each.
FILLED, LEAST = 0.9, 0.002
#: How often regions lie in a medium rather than in vacuum, and reach into the absorber, as in real structures.
SURROUNDED, REACHING = 0.65, 0.5
#: Of the cell, absorbing layers: those at two axes of a real structure take as much as thick ones at one.
PML, ABSORBER = (0.04, 0.45), (0.025, 0.88)
FREQUENCIES = (2, 60)
#: How often the dispersive region holds balls, and how many.
HOLDING, BALLS = 0.25, (1.0, 64.0)


def training_settings(count: int, *, seed: int = 0, first: int = 0) -> list[Setting]:
    """Return random cells on numbers of ranks, every one a draw of its own.

    Points are drawn evenly in their logarithm, so are the points of a rank; what a cell holds is drawn such that the
    structures of `evenly.fdtd.structures` lie well inside (``benchmarks/random_cells.py`` shows how well).

    Parameters
    ----------
    count : int
    seed : int
    first : int
        Number of the first draw, to add to others of the same seed.
    """
    return [_drawn(np.random.default_rng([seed, n])) for n in range(first, first + count)]


def real_settings(count: int, *, most_ranks: int = 8, seed: int = 0) -> list[Setting]:
    """Return random cells that are run on real ranks, up to so many, as `training_settings` draws them.

    They hold 10⁵ to 10⁶ points, so that one takes seconds.
    """
    drawn = [_drawn(np.random.default_rng([seed, 1, n]), REAL_POINTS, most_ranks) for n in range(count)]
    return [replace(setting, source="mpi") for setting in drawn]


def _drawn(random: np.random.Generator, some_points: tuple[float, float] = POINTS, most_ranks: int = RANKS) -> Setting:
    points = log_uniform(random, *some_points)
    ranks = int(np.clip(round(points / log_uniform(random, *POINTS_PER_RANK)), 1, most_ranks))
    # Only what a cell holds is drawn again where it doesn't fit, or small cells, with less room, would be rarer.
    while True:
        parameters = random_parameters(random, float(f"{points:.4g}"))
        try:
            build("random", **parameters)
        except InputError:
            continue
        # Drawn last, so that cells without balls are those that they would be if there were none.
        if random.random() < HOLDING:
            parameters["balls"] = round(log_uniform(random, *BALLS))
        return Setting("random", parameters, ranks)


def random_parameters(random: np.random.Generator, points: float) -> dict[str, Any]:
    """Return drawn parameters of a random cell; it may be that regions and layers don't fit into it."""
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
    """Return a number whose logarithm is drawn evenly."""
    return float(np.exp(random.uniform(math.log(low), math.log(high))))


def gather(
    settings: Sequence[Setting],
    store: Path | str,
    cost: CostModel,
    *,
    workers: int = 1,
    most: int = 6,
    rounds: int = 1,
    seconds: float = math.inf,
    told: Callable[[int, int, str], None] | None = None,
) -> int:
    """Rehearse settings that the store doesn't have, in random order, and return how many were.

    Parameters
    ----------
    settings : sequence of Setting
    store : path
        See `RehearsalStore`.
    cost : CostModel
    workers : int
        Processes that rehearse side by side; one where real ranks run.
    most : int
        Ranks of each setting that are timed at most.
    rounds : int
        How often each of them is timed.
    seconds : float
        No rehearsal is begun later than this after the first.
    told : callable, optional
        Called with how many are done, how many there are, and what went wrong with the last (empty: nothing).
    """
    import time

    with RehearsalStore(store, cost) as kept:
        left = [setting for setting in settings if setting not in kept]
    order = [left[i] for i in np.random.default_rng(0).permutation(len(left))]
    until, done = time.monotonic() + seconds, 0
    workers = 1 if any(setting.source == "mpi" for setting in order) else workers
    with ProcessPoolExecutor(workers, mp_context=get_context("spawn")) as pool:
        waiting = {
            pool.submit(_rehearsed, setting, str(store), cost, most, rounds, until): setting for setting in order
        }
        for number, finished in enumerate(as_completed(waiting), 1):
            wrong = finished.result()
            done += wrong == ""
            if told is not None:
                told(number, len(order), wrong)
    return done


def _rehearsed(setting: Setting, store: str, cost: CostModel, most: int, rounds: int, until: float) -> str:
    import time

    from evenly.errors import EvenlyError

    if time.monotonic() > until:
        return "no time left"
    try:
        found = rehearse(setting, cost, most=most, rounds=rounds)
    except (EvenlyError, MemoryError) as error:
        return f"{setting.key}: {error}"
    with RehearsalStore(store, cost) as kept:
        kept.add(found)
    return ""
