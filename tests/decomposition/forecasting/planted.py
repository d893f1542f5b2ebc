"""Rehearsals whose truth is known: the cost model misses by a factor that depends on what ranks hold."""

from __future__ import annotations

from functools import cache

import numpy as np

from evenly.decomposition.costs.cost_model import CostModel, program_named
from evenly.decomposition.costs.locations import shipped_file
from evenly.decomposition.forecasting.features import SHARES
from evenly.decomposition.forecasting.lone_rank_timing import RankLoads
from evenly.decomposition.forecasting.messages import Messages
from evenly.decomposition.forecasting.rehearsal import Rehearsal, Setting
from evenly.decomposition.forecasting.step_model import StepModel

__all__ = ["COST", "learned", "planted"]

COST = CostModel.load(shipped_file("fdtd"))
_TERMS = len(program_named("fdtd").all_terms)


def planted(count: int, *, noise: float = 0.0, seed: int = 0) -> list[Rehearsal]:
    """Return rehearsals of 4 timed ranks: seconds are those of the costs times 1 + half the first term's share."""
    random = np.random.default_rng(seed)
    found = []
    for number in range(count):
        profile = random.dirichlet(np.full(_TERMS, 0.3), 4)
        far = random.uniform(0, 1e6, 4)
        load = RankLoads(np.exp(random.uniform(-9, -4, 4)), profile, np.zeros(4), np.zeros(4), far, far)
        seconds = load.seconds * (1 + 0.5 * profile[:, 0]) * np.exp(noise * random.normal(size=4))
        messages = Messages(
            4, np.array([0]), np.array([1]), np.array([0]), np.array([800.0]), np.array([100.0, 100.0, 0.0, 0.0])
        )
        traits = {f"share of {name}": float(random.uniform(0.1, 0.3)) for name in SHARES}
        traits |= {"points": float(random.uniform(1e5, 1e6)), "frequencies": float(random.uniform(5, 50))}
        setting = Setting("random", {"seed": number}, 4)
        found.append(Rehearsal(setting, traits, load, messages, seconds, np.arange(4)))
    return found


@cache
def learned() -> StepModel:
    """Return a step model of 30 rehearsals, learned once for all tests of a process."""
    return StepModel.learn(planted(30), COST)
