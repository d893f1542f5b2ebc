"""When a run can't win any more, and what its time is at least, where runs are noisy."""

from __future__ import annotations

import numpy as np

from evenly.campaign.fastest import Fastest
from evenly.campaign.record import Record


def test_limits_grow_with_the_noise_of_repetitions() -> None:
    limits: dict[float, float] = {}
    for noise in (0.02, 0.3):
        random = np.random.default_rng(0)
        fastest = Fastest()
        for number in range(1, 9):
            for repetition in range(2):
                took = number * float(np.exp(random.normal(0, noise)))
                fastest.add((), Record(number, repetition, "ok", {"seconds": took}, took=took))
        limits[noise] = fastest.limit_s((), 2.0) or 0.0
    assert 2.0 < limits[0.02] < 2.4
    assert limits[0.3] > 1.3 * limits[0.02]


def test_a_bound_of_the_timed_part_allows_for_a_start_up_that_scatters() -> None:
    """Programs start in 20 to 60 ms and print 10 to 100 ms: one that is ended may not be said to take longer."""
    random = np.random.default_rng(1)
    wrong = told = 0
    for _ in range(200):
        fastest = Fastest()
        for number, seconds in ((1, 0.010), (2, 0.030), (1, 0.010), (3, 0.05), (2, 0.030)):
            took = seconds + float(random.uniform(0.02, 0.06))
            fastest.add((), Record(number, 0, "ok", {"seconds": seconds}, took=took))
        late = 0.100
        bound = fastest.bound((), late + float(random.uniform(0.02, 0.06)))
        told += bound is not None
        wrong += bound is not None and bound > late
    assert told > 50
    assert wrong <= 0.05 * told


def test_tasks_and_configurations_are_told_apart() -> None:
    fastest = Fastest()
    fastest.add((4,), Record(1, 0, "ok", {"seconds": 1.0}, took=2.0))
    fastest.add((8,), Record(2, 0, "failed", {}, took=0.1))
    assert fastest.limit_s((8,), 2.0) is None
    assert fastest.bound((8,), 9.0) is None
    assert fastest.has((4,), 1)
    assert not fastest.has((8,), 2)
