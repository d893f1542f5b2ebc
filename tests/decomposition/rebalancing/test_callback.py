"""The callback on one rank: when it asks, what it measures, what it tells, and that runs end as they would."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from evenly import fdtd
from evenly.decomposition.cells.fdtd.cell import cell_of
from evenly.decomposition.rebalancing import ChunkBalancer, CostBalancer, Rebalance, Timings, simulation_interface
from evenly.decomposition.rebalancing.decision import Decision, decide
from evenly.errors import InputError
from evenly.fdtd.cell.partition import BinaryPartition
from evenly.fdtd.measurement.measurement import Measurement, RankRecord
from tests.decomposition.rebalancing.planted import plain_cost

OTHER = BinaryPartition([("x", 0.3), 0, 0])


def simulation() -> fdtd.Simulation:
    source = fdtd.Source(fdtd.GaussianPulse(1.0, width=0.3), "Ez", center=(0.1, 0, 0))
    return fdtd.Simulation(cell=(3, 2, 0), resolution=10, sources=[source], boundaries=[fdtd.PML(0.5)])


class Fickle:
    """Decides as it is told, and remembers what it was asked."""

    def __init__(self, *answers: bool) -> None:
        self.answers, self.asked = list(answers), list[tuple[Timings, BinaryPartition, float, float]]()

    def decide(
        self, timings: Timings, layout: BinaryPartition, *, steps_left: float = math.inf, rebuild_s: float = math.nan
    ) -> Decision:
        self.asked.append((timings, layout, steps_left, rebuild_s))
        return Decision(
            self.answers.pop(0), "because", 2.0, 1.0, layout=OTHER, rebuild_s=rebuild_s, steps_left=steps_left
        )


def test_it_asks_every_so_often_and_moves_when_told(monkeypatch: pytest.MonkeyPatch) -> None:
    # 3 s of work per step in windows of odd number, 1 s in even ones, whatever the machine does.
    clock = {"steps": 0}

    def planted(sim: fdtd.Simulation) -> float:
        clock["steps"] = sim.timed_steps
        whole, rest = divmod(sim.timed_steps, 20)
        return float(whole * 40 + (rest if rest <= 10 else 10 + 3 * (rest - 10)))

    monkeypatch.setattr(simulation_interface, "work_seconds", planted)
    sim, told = simulation(), list[str]()
    balancer: Any = Fickle(False, True, False)
    rebalance = Rebalance(balancer, every=50, tell=lambda decision: told.append(decision.why))
    sim.run(until=180 * sim.grid.dt, callbacks=[rebalance], progress="off")
    assert [d.adjust for d in rebalance.decisions] == [False, True, False]
    assert told == ["because"] * 3
    assert [round(left) for _, _, left, _ in balancer.asked] == [130, 80, 30]
    # The first window of five is left out: rates 3, 1, 3, 1.
    assert balancer.asked[0][0].seconds == pytest.approx([2.0])
    assert balancer.asked[0][0].noise == pytest.approx(np.std(np.log([3, 1, 3, 1]), ddof=1) / 2)
    assert math.isnan(balancer.asked[1][3])
    assert balancer.asked[2][3] > 0
    assert balancer.asked[2][1] == sim.layout == OTHER
    plain = simulation()
    plain.run(until=180 * plain.grid.dt, progress="off")
    assert np.abs(sim.field("Ez") - plain.field("Ez")).max() < 1e-13 * np.abs(plain.field("Ez")).max()


def test_any_balancer_will_do() -> None:
    sim = simulation()
    rebalance = Rebalance(ChunkBalancer(), every=10)
    sim.run(until=25 * sim.grid.dt, callbacks=[rebalance], progress="off")
    assert len(rebalance.decisions) == 2
    assert all(d.adjust and "own rule" in d.why for d in rebalance.decisions)
    with pytest.raises(InputError, match="at least 10 steps"):
        Rebalance(ChunkBalancer(), every=5)


def test_a_balancer_adjusts_a_simulation_by_hand() -> None:
    sim = simulation()
    balancer = CostBalancer(plain_cost(), cell_of(sim))
    assert balancer.make_initial_chunk_layout(sim).owners == [0]
    with pytest.raises(InputError, match="must make steps"):
        balancer.adjust_chunk_layout(sim)
    sim.run(until=20 * sim.grid.dt, progress="off")
    sim.relayout([("x", 0.7), 0, 0])
    sim.run(until=40 * sim.grid.dt, progress="off")
    # There is one rank, so nothing can be gained by the document's rule, whose way is the whole one here.
    layout = sim.layout
    assert not balancer.should_adjust_chunk_layout(sim)
    ChunkBalancer(sensitivity=1.0).adjust_chunk_layout(sim)
    assert sim.layout.boxes(sim.grid) == layout.boxes(sim.grid)
    assert ChunkBalancer().make_initial_chunk_layout(sim).owners == [0]


def test_each_adjustment_goes_by_the_steps_since_the_last(monkeypatch: pytest.MonkeyPatch) -> None:
    spent = {"seconds": 0.0}
    monkeypatch.setattr(simulation_interface, "work_seconds", lambda sim: spent["seconds"])
    sim, told = simulation(), list[Timings]()

    class Listens(ChunkBalancer):
        adjusts = False

        def compute_new_chunk_layout(self, timing_measurements: Timings, *args: Any, **kwargs: Any) -> BinaryPartition:
            told.append(timing_measurements)
            return super().compute_new_chunk_layout(timing_measurements, *args, **kwargs)

        def should_adjust_chunk_layout(self, sim: fdtd.Simulation) -> bool:
            told.append(self.latest_timings(sim))
            return self.adjusts

    balancer = Listens()

    def ran(steps: int, seconds: float) -> list[tuple[int, float]]:
        sim.run(until=sim.time + steps * sim.grid.dt, progress="off")
        spent["seconds"] += seconds
        before = len(told)
        balancer.adjust_chunk_layout(sim)
        return [(one.steps, round(float(one.seconds[0]), 9)) for one in told[before:]]

    assert ran(10, 20.0) == [(10, 2.0)]
    assert ran(30, 120.0) == [(30, 4.0)]
    # Another balancer hears all there was.
    assert ChunkBalancer().latest_timings(sim).steps == 40
    balancer.adjusts = True
    assert ran(20, 20.0) == [(20, 1.0)] * 2
    # The clocks were started anew with the layout; more steps follow than were made before.
    spent["seconds"] = 0.0
    assert ran(90, 45.0) == [(90, 0.5)] * 2


def test_work_is_all_but_waiting_and_output() -> None:
    sim = simulation()
    sim.run(until=20 * sim.grid.dt, progress="off")
    times = sim.timer.row("cpu")
    rest = sum(times[phase] for phase in ("waiting", "output", "other"))
    assert simulation_interface.work_seconds(sim) == pytest.approx(sum(times.values()) - rest)
    assert simulation_interface.timings(sim).seconds == pytest.approx([simulation_interface.work_seconds(sim) / 20])


def test_repetitions_give_mean_and_noise() -> None:
    def run(*seconds: float) -> Measurement:
        ranks = tuple(RankRecord(i, {}, {"fused": s, "waiting": 5.0}) for i, s in enumerate(seconds))
        return Measurement("box", steps=10, size=2, ranks=ranks, layout=[("x", 0.0), 0, 1])

    found = simulation_interface.timings_of([run(1.0, 2.0), run(1.2, 2.0)])
    assert found.seconds == pytest.approx([0.11, 0.2])
    # Relative standard deviation of rank 0 is 0.1414 / 1.1, of rank 1 nothing; two ranks, two runs.
    assert found.noise == pytest.approx(math.sqrt((0.02 / 1.21) / 2 / 2))
    assert math.isnan(simulation_interface.timings_of([run(1.0, 2.0)]).noise)
    # A rank that owns nothing takes no time, which tells nothing of noise.
    assert simulation_interface.timings_of([run(1.0, 0.0), run(1.2, 0.0)]).noise == pytest.approx(
        math.sqrt(0.02 / 1.21 / 2)
    )


@pytest.mark.parametrize(
    ("now", "then", "doubt", "rebuild", "left", "adjust", "words"),
    [
        (1.0, 0.8, 0.1, 5.0, 100, True, "the 5 s of moving are earned back after 25 steps of the 100 still to go"),
        (1.0, 0.8, 0.1, 5.0, math.inf, True, "are earned back after 25 steps"),
        (1.0, 0.8, 0.1, math.nan, 100, True, "take 800 ms, which gains 20 s in the 100 steps to go; what moving"),
        (
            1.0,
            0.8,
            0.1,
            math.nan,
            math.inf,
            True,
            "take 800 ms; what moving itself takes isn't known and isn't counted",
        ),
        (1.0, 0.8, 0.1, 5.0, 24, False, "the 24 steps still to go would gain 4.8 s, and moving takes 5 s"),
        (1.0, 0.8, 0.2, 0.0, 1e9, False, "too close to call"),
        (1.0, 1.0, 0.0, 0.0, 1e9, False, "nothing better was found"),
    ],
)
def test_decisions_in_words(
    now: float, then: float, doubt: float, rebuild: float, left: float, adjust: bool, words: str
) -> None:
    decision = decide(now, then, doubt_s=doubt, rebuild_s=rebuild, steps_left=left)
    assert decision.adjust is adjust
    assert words in decision.why
