"""Which run comes next, and what repetitions and anchors tell."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from scipy.stats import linregress, t

from evenly import Integer, Ordinal, Real, Space
from evenly.campaign.noise import drift_of, half_width
from evenly.campaign.planning import NextRun, Schedule, first_configurations
from evenly.campaign.record import Record
from evenly.campaign.study import Plan, Program, Repetitions, Study
from evenly.errors import InputError


def study(repetitions: Repetitions | None = None, plan: Plan | None = None, space: Space | None = None) -> Study:
    space = space or Space(n=Ordinal(*range(1, 5)))
    program = Program("solve " + " ".join(f"{{{name}}}" for name in space.names))
    return Study("s", space, program, repetitions=repetitions or Repetitions(), plan=plan or Plan(), folder=Path())


def played(schedule: Schedule, seconds: dict[int, list[float]]) -> list[tuple[int, int, str]]:
    """Let the schedule ask until it has enough; times come from `seconds` in turn, None fails."""
    asked = []
    while (turn := schedule.next()) is not None:
        asked.append((turn.configuration, turn.repetition, turn.purpose))
        value = seconds[turn.configuration][turn.repetition % len(seconds[turn.configuration])]
        ok = np.isfinite(value)
        took = value if ok else 1.0
        schedule.add(
            Record(turn.configuration, turn.repetition, "ok" if ok else "failed", {"seconds": value} if ok else {},
                   took=took)
        )  # fmt: skip
    return asked


def test_rounds_over_all_before_any_is_run_again() -> None:
    schedule = Schedule(study(Repetitions(2, 4)), [3, 1, 2])
    asked = played(schedule, {1: [1.0], 2: [2.0], 3: [3.0]})
    assert [a[:2] for a in asked] == [(3, 0), (1, 0), (2, 0), (3, 1), (1, 1), (2, 1)]


def test_those_with_small_values_first_and_those_without_any_before_them() -> None:
    schedule = Schedule(study(Repetitions(2, 2)), [1, 2, 3, 4])
    schedule.put_first({1: (-1.0, 0), 2: (-9.0, 0), 4: (-5.0, -2)})
    asked = played(schedule, {1: [1.0], 2: [9.0], 3: [2.0], 4: [5.0]})
    assert [a[:2] for a in asked] == [(3, 0), (2, 0), (4, 0), (1, 0), (3, 1), (2, 1), (4, 1), (1, 1)]


def test_the_first_one_for_which_there_are_cores() -> None:
    generator = np.random.default_rng(4)
    cores = dict(enumerate(generator.integers(1, 5, 40).tolist()))
    schedule = Schedule(study(Repetitions(2, 2), Plan(anchor_every=0)), list(cores))
    schedule.share_cores(cores.__getitem__)
    left, under_way = dict.fromkeys(cores, 2), list[NextRun]()
    while sum(left.values()) or under_way:
        free = int(generator.integers(0, 5))
        fitting = [number for number in cores if left[number] and cores[number] <= free]
        expected = max(fitting, key=lambda number: left[number], default=None)
        found = schedule.next(free=free)
        assert (None if found is None else found.configuration) == expected
        if found is not None:
            schedule.start(found)
            left[found.configuration] -= 1
            under_way.append(found)
        elif under_way:
            ended = under_way.pop(int(generator.integers(len(under_way))))
            schedule.add(Record(ended.configuration, ended.repetition, "ok", {"seconds": 1.0}, took=1.0))
    assert not schedule.has_missing


def test_those_that_may_not_start_are_missing_and_asked_for_again_in_another_order() -> None:
    schedule, asked = Schedule(study(Repetitions(1, 1)), [1, 2]), list[int]()

    def may_not(number: int) -> bool:
        asked.append(number)
        return False

    assert [schedule.next(may_not), schedule.next(may_not)] == [None, None]
    assert (asked, schedule.has_missing) == ([1, 2], True)
    schedule.put_first({1: (-1.0,), 2: (-2.0,)})
    assert schedule.next(may_not) is None
    assert asked == [1, 2, 2, 1]


def test_noisy_ones_are_run_until_the_interval_is_tight_or_enough() -> None:
    noisy = [1.0, 1.5, 0.7, 1.2]
    asked = played(Schedule(study(Repetitions(2, 4)), [1, 2]), {1: [1.0], 2: noisy})
    assert sum(a[0] == 1 for a in asked) == 2
    assert sum(a[0] == 2 for a in asked) == 4
    # 20 % to either side: the least number of runs for which the interval says so.
    enough = next(n for n in range(2, 50) if half_width((noisy * 20)[:n]) <= 0.2)
    asked = played(Schedule(study(Repetitions(2, 50, 0.2)), [2]), {2: noisy})
    assert len(asked) == enough > 4


def test_one_that_failed_is_not_run_again() -> None:
    asked = played(Schedule(study(Repetitions(2, 4)), [1, 2]), {1: [1.0], 2: [np.nan]})
    assert [a[0] for a in asked] == [1, 2, 1]


def test_a_quick_configuration_is_the_anchor() -> None:
    schedule = Schedule(study(Repetitions(5, 5), Plan(anchor_every=3)), [1, 2, 3])
    asked = played(schedule, {1: [9.0], 2: [1.0], 3: [0.01]})
    # 3 is over in no time, a thousandth of the usual.
    assert schedule.anchor == 2
    assert any(a[2] == "anchor" for a in asked)
    gaps = np.diff([i for i, a in enumerate(asked) if a[0] == 2])
    assert gaps.max() <= 4


def test_no_run_is_started_beyond_the_budget() -> None:
    schedule = Schedule(study(Repetitions(2, 2), Plan(budget_s=5)), [1, 2, 3, 4])
    asked = played(schedule, {n: [2.0] for n in range(1, 5)})
    assert len(asked) == 3


def test_what_is_left_is_estimated_from_what_runs_took() -> None:
    schedule = Schedule(study(Repetitions(2, 4)), [1, 2, 3])
    assert (schedule.progress.left, schedule.progress.seconds_left) == (6, 0.0)
    schedule.add(Record(1, 0, "ok", {"seconds": 4.0}, took=4.0))
    schedule.add(Record(2, 0, "ok", {"seconds": 2.0}, took=2.0))
    # One of 4 s, one of 2 s, and two of the usual 3 s.
    assert schedule.progress.seconds_left == pytest.approx(4 + 2 + 2 * 3)


def test_a_resumed_schedule_goes_on_as_if_nothing_had_happened() -> None:
    seconds = {n: [1.0 + 0.1 * n, 1.3, 0.9] for n in range(1, 5)}
    whole = played(Schedule(study(plan=Plan(anchor_every=3)), [2, 4, 1, 3]), seconds)
    first = Schedule(study(plan=Plan(anchor_every=3)), [2, 4, 1, 3])
    records = []
    for configuration, repetition, _ in whole[:9]:
        assert first.next() is not None
        records.append(Record(configuration, repetition, "ok", {"seconds": seconds[configuration][repetition % 3]},
                              took=seconds[configuration][repetition % 3]))  # fmt: skip
        first.add(records[-1])
    second = Schedule(study(plan=Plan(anchor_every=3)), [2, 4, 1, 3], records, first.anchor)
    assert played(second, seconds) == whole[9:]


def test_first_configurations_are_distinct_shuffled_and_the_same_again() -> None:
    space = Space(n=Integer(1, 50), m=Ordinal(1, 2))
    found = first_configurations(study(plan=Plan(runs=60), space=space))
    assert len({tuple(one.items()) for one in found}) == 60
    assert found == first_configurations(study(plan=Plan(runs=60), space=space))
    every = first_configurations(study(space=space))
    assert len(every) == 100
    assert [one["n"] for one in every] != sorted(one["n"] for one in every)
    # No more than there are.
    assert len(first_configurations(study(plan=Plan(runs=500), space=space))) == 100


def test_a_space_without_end_needs_a_number_of_runs() -> None:
    with pytest.raises(InputError, match="give runs"):
        first_configurations(study(space=Space(x=Real(0, 1))))


def test_half_widths_hold_what_they_promise() -> None:
    # 95 % of intervals of 4 runs contain the true mean log: 2,000 draws, within 4 standard errors (0.5 % each).
    rng = np.random.default_rng(1)
    logs = rng.normal(0, 0.1, (2000, 4))
    held = [abs(one.mean()) <= half_width(np.exp(one).tolist()) for one in logs]
    assert abs(np.mean(held) - 0.95) < 4 * np.sqrt(0.95 * 0.05 / 2000)
    assert half_width([1.0]) == np.inf
    assert half_width([1.0, np.e]) == pytest.approx(t.ppf(0.975, 1) * np.sqrt(0.5) / np.sqrt(2))


def test_drift_is_told_from_noise() -> None:
    rng = np.random.default_rng(0)
    when = np.arange(20.0)
    steady = drift_of(when, np.exp(rng.normal(0, 0.02, 20)))
    assert not steady.matters
    slower = drift_of(when, np.exp(0.3 * when / 19 + rng.normal(0, 0.02, 20)))
    assert slower.matters
    # e^0.3 - 1 = 35 %.
    assert slower.change == pytest.approx(np.expm1(0.3), abs=3 * slower.error / 2)
    assert not drift_of([0.0, 1.0], [1.0, 2.0]).matters


def test_the_error_of_a_drift_is_that_of_a_linear_fit() -> None:
    when = np.array([0.0, 1.0, 2.5, 4.0])
    logs = np.array([0.0, 0.1, 0.12, 0.3])
    fit = linregress(when / 4, logs)
    drift = drift_of(when, np.exp(logs))
    assert drift.change == pytest.approx(np.expm1(fit.slope))
    assert drift.error == pytest.approx(np.exp(fit.slope) * np.expm1(t.ppf(0.975, 2) * fit.stderr))
