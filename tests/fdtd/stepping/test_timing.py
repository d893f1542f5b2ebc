"""Every moment belongs to exactly one phase, whatever is nested in what."""

from __future__ import annotations

import threading
import time
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evenly.errors import InputError
from evenly.fdtd.stepping import timing
from evenly.fdtd.stepping.timing import PHASES, PhaseTimer


class Clock:
    """A clock that moves only when told to."""

    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clocks(monkeypatch: pytest.MonkeyPatch) -> tuple[Clock, Clock]:
    wall, cpu = Clock(), Clock()
    monkeypatch.setattr(timing, "perf_counter", wall)
    monkeypatch.setattr(timing, "thread_time", cpu)
    return wall, cpu


def test_waiting_inside_a_sweep_is_not_stepping(clocks: tuple[Clock, Clock]) -> None:
    wall, cpu = clocks
    timer = PhaseTimer()
    wall.now += 5
    timer.start("fused")
    wall.now, cpu.now = wall.now + 1, cpu.now + 1
    timer.start("waiting")
    wall.now, cpu.now = wall.now + 10, cpu.now + 0.25
    timer.stop()
    wall.now, cpu.now = wall.now + 2, cpu.now + 2
    timer.stop()
    wall.now += 7
    assert timer.row("wall") == {**dict.fromkeys(PHASES, 0.0), "fused": 3.0, "waiting": 10.0}
    assert timer.row("cpu") == {**dict.fromkeys(PHASES, 0.0), "fused": 3.0, "waiting": 0.25}
    assert timer.total() == 13.0
    assert timer.total("cpu") == 3.25


def test_what_a_compiled_call_took_is_shared_out(clocks: tuple[Clock, Clock]) -> None:
    wall, cpu = clocks
    timer = PhaseTimer()
    shares = np.zeros(len(PHASES))
    shares[PHASES.index("fused")], shares[PHASES.index("magnetic")] = 0.6, 0.2
    with timer("other"):
        wall.now, cpu.now = wall.now + 8, cpu.now + 4
        timer.share(shares)
        wall.now, cpu.now = wall.now + 1, cpu.now + 1
    nothing = dict.fromkeys(PHASES, 0.0)
    assert timer.row("wall") == pytest.approx({**nothing, "fused": 6, "magnetic": 2, "other": 1})
    assert timer.row("cpu") == pytest.approx({**nothing, "fused": 3, "magnetic": 1, "other": 1})
    assert not shares.any()
    shares[PHASES.index("fused")] = 0.1
    timer.start("other")
    wall.now, cpu.now = wall.now + 3, cpu.now + 2
    timer.stop(shares)
    assert (timer.seconds("fused"), timer.seconds("fused", "cpu")) == pytest.approx((9, 5))
    assert timer.seconds("other") == pytest.approx(1)
    assert timer.running is None


def test_an_error_inside_a_phase_leaves_no_clock_running(clocks: tuple[Clock, Clock]) -> None:
    wall, _ = clocks
    timer = PhaseTimer()

    def fail() -> None:
        with timer("output"):
            timer.start("waiting")
            wall.now += 1
            raise OSError("disk full")

    with pytest.raises(OSError, match="disk full"):
        fail()
    wall.now += 100
    timer.start("fused")
    timer.stop()
    assert timer.total() == timer.seconds("waiting") == 1.0
    assert timer.running is None


ACTIONS = st.lists(
    st.tuples(st.sampled_from(["start", "switch", "stop"]), st.sampled_from(PHASES), st.integers(0, 9)), max_size=60
)


@given(ACTIONS)
@settings(max_examples=200, deadline=None)
def test_any_sequence_charges_each_moment_to_the_innermost_phase(actions: list[tuple[str, str, int]]) -> None:
    wall, cpu = Clock(), Clock()
    expected: dict[str, float] = dict.fromkeys(PHASES, 0.0)
    stack: list[str] = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(timing, "perf_counter", wall)
        patch.setattr(timing, "thread_time", cpu)
        timer = PhaseTimer()
        for action, phase, ticks in [*actions, *[("stop", "", 0)] * len(actions)]:
            if action == "start":
                timer.start(phase)
                stack.append(phase)
            elif not stack:
                continue
            elif action == "switch":
                timer.switch(phase)
                stack[-1] = phase
            else:
                timer.stop()
                stack.pop()
            assert timer.running == (stack[-1] if stack else None)
            if stack:
                expected[stack[-1]] += ticks
            wall.now += ticks
            cpu.now += 2 * ticks
    # Whole ticks add up without rounding.
    assert timer.row() == expected
    assert timer.row("cpu") == {phase: 2 * seconds for phase, seconds in expected.items()}


def test_real_clocks_tell_sleeping_from_working() -> None:
    timer = PhaseTimer()
    with timer("waiting"):
        time.sleep(0.2)
    with timer("fused"):
        end = time.thread_time() + 0.1
        while time.thread_time() < end:
            pass
    assert timer.seconds("waiting") >= 0.2
    assert timer.seconds("waiting", "cpu") < 0.1
    assert timer.seconds("fused", "cpu") >= 0.1
    assert timer.seconds("fused") >= timer.seconds("fused", "cpu") * 0.99


def test_other_threads_add_their_cpu_time() -> None:
    timer = PhaseTimer()
    spent: list[float] = []

    def work() -> None:
        begin = time.thread_time()
        while time.thread_time() < begin + 0.05:
            pass
        spent.append(time.thread_time() - begin)

    with timer("fused"):
        threads = [threading.Thread(target=work) for _ in range(2)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    before = timer.seconds("fused", "cpu")
    for seconds in spent:
        timer.add_cpu("fused", seconds)
    assert before < 0.05
    assert timer.seconds("fused", "cpu") == pytest.approx(before + sum(spent))
    assert sum(spent) >= 0.1


def test_a_reset_forgets_and_goes_on(clocks: tuple[Clock, Clock]) -> None:
    wall, _ = clocks
    timer = PhaseTimer()
    timer.start("fused")
    wall.now += 3
    timer.reset()
    wall.now += 4
    timer.stop()
    assert timer.row() == {**dict.fromkeys(PHASES, 0.0), "fused": 4.0}


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda t: t.start("stepping"), "A phase is one of 'fused', .*, but got 'stepping'"),
        (lambda t: t.switch("stepping"), "A phase is one of"),
        (lambda t: t.switch("fused"), r"No phase is running: start\('fused'\) first"),
        (lambda t: t.stop(), "`stop` must follow a `start`"),
        (lambda t: t.seconds("stepping"), "A phase is one of"),
        (lambda t: t.add_cpu("stepping", 1.0), "A phase is one of"),
        (lambda t: t.add_cpu("fused", -1.0), "at least 0, but got -1.0"),
        (lambda t: t.add_cpu("fused", float("nan")), "at least 0, but got nan"),
        (lambda t: t.seconds("fused", "sun"), '`clock` must be "wall" or "cpu", but got \'sun\''),
    ],
)
def test_misuse_is_named(call: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        call(PhaseTimer())
