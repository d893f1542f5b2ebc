"""Calibrations end, continue after an interruption, and run nothing twice: with made-up times on a made-up clock."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import textwrap
from pathlib import Path

import numpy as np
import pytest

from evenly.decomposition.calibration.calibration import MOST_REPEATS, Progress, calibrate
from evenly.decomposition.calibration.designs import Design, Timed, Timing, interleaved
from evenly.decomposition.calibration.timing_store import TimingStore
from evenly.errors import InputError, ReadError

ABOUT = {"program": "fdtd", "machine": "this one"}
DESIGNS = [Design(group, str(n), {"n": n}) for group in ("vacuum", "poles", "layers") for n in (1, 2, 3, 4)]


class Lab:
    """Makes up times with some noise, and a clock on which each run takes a second."""

    def __init__(self, noise: float = 0.0) -> None:
        self.random = np.random.default_rng(0)
        self.noise, self.now, self.ran = noise, 0.0, list[str]()

    def run(self, design: Design) -> Timing:
        self.now += 1.0
        self.ran.append(design.group)
        n = float(design.settings["n"])
        return Timing((n * 1e-3 * (1 + self.noise * abs(self.random.normal())),), ({"points": n},))

    def clock(self) -> float:
        return self.now


def _store(folder: Path) -> TimingStore:
    return TimingStore(folder / "timings.jsonl", ABOUT)


def test_quiet_runs_are_repeated_three_times(tmp_path: Path) -> None:
    lab = Lab()
    timed = calibrate(DESIGNS, lab.run, _store(tmp_path), budget_s=1e6, clock=lab.clock)
    assert [one.repeats for one in timed] == [3] * len(DESIGNS)
    assert [one.design for one in timed] == DESIGNS
    assert timed[3].seconds.tolist() == [4e-3]


def test_noisy_runs_are_repeated_until_tight_or_hopeless(tmp_path: Path) -> None:
    lab = Lab(noise=0.05)
    timed = calibrate(DESIGNS, lab.run, _store(tmp_path), budget_s=1e6, tightness=0.03, clock=lab.clock)
    assert all(one.tightness <= 0.03 or one.repeats == MOST_REPEATS for one in timed)
    assert max(one.repeats for one in timed) > 3


def test_the_budget_ends_it_with_all_features_covered(tmp_path: Path) -> None:
    lab = Lab()
    told: list[Progress] = []
    timed = calibrate(DESIGNS, lab.run, _store(tmp_path), budget_s=6, clock=lab.clock, progress=told.append)
    assert len(lab.ran) == 6
    assert {one.design.group for one in timed} == {"vacuum", "poles", "layers"}
    # Of each feature the smallest and the largest.
    assert [one.design.name for one in timed] == ["1", "4"] * 3
    assert told[-1].fraction == 1.0
    assert told[-1].now == ""
    assert [p.fraction for p in told] == sorted(p.fraction for p in told)


def test_repeats_go_round(tmp_path: Path) -> None:
    lab = Lab()
    timed = calibrate(DESIGNS, lab.run, _store(tmp_path), budget_s=15, clock=lab.clock)
    assert sorted(one.repeats for one in timed) == [1] * 9 + [2] * 3


def test_it_goes_on_where_it_was_and_runs_nothing_twice(tmp_path: Path) -> None:
    first, second = Lab(), Lab()
    calibrate(DESIGNS, first.run, _store(tmp_path), budget_s=7, clock=first.clock)
    timed = calibrate(DESIGNS, second.run, _store(tmp_path), budget_s=12, clock=second.clock)
    # Twelve seconds in all, seven of them before.
    assert len(second.ran) == 5
    assert [one.repeats for one in timed] == [1] * 12
    third = Lab()
    calibrate(DESIGNS, third.run, _store(tmp_path), budget_s=12, clock=third.clock)
    assert third.ran == []


def test_a_killed_process_loses_one_run(tmp_path: Path) -> None:
    script = f"""
        import os, signal
        from pathlib import Path
        from evenly.decomposition.calibration.calibration import calibrate
        from evenly.decomposition.calibration.designs import Timing
        from evenly.decomposition.calibration.timing_store import TimingStore
        from tests.decomposition.calibration.test_calibration import ABOUT, DESIGNS
        ran = []
        def run(design):
            ran.append(design)
            if len(ran) == 5:
                os.kill(os.getpid(), signal.SIGKILL)
            return Timing((1e-3,), ({{"points": 1.0}},))
        calibrate(DESIGNS, run, TimingStore(Path({str(tmp_path / "timings.jsonl")!r}), ABOUT), budget_s=1e6)
    """
    killed = subprocess.run([sys.executable, "-c", textwrap.dedent(script)], check=False, cwd=Path.cwd())
    assert killed.returncode == -signal.SIGKILL
    lab = Lab()
    timed = calibrate(DESIGNS, lab.run, _store(tmp_path), budget_s=1e6, clock=lab.clock)
    assert len(lab.ran) == 3 * len(DESIGNS) - 4
    assert [one.repeats for one in timed] == [3] * len(DESIGNS)


def test_a_torn_last_line_is_left_out(tmp_path: Path) -> None:
    store = _store(tmp_path)
    for design in DESIGNS[:2]:
        store.add(design, Timing((1.0,), ({"points": 1.0},)), 0.5)
    whole = store.path.read_bytes()
    for end in range(1, len(whole)):
        store.path.write_bytes(whole[:end])
        again = _store(tmp_path)
        known = sum(again.timed(design) is not None for design in DESIGNS)
        assert known == max(0, whole[:end].count(b"\n") - 1)
        again.add(DESIGNS[3], Timing((2.0,), ({"points": 1.0},)), 0.5)
        assert _store(tmp_path).timed(DESIGNS[3]) is not None
        store.path.unlink()


@pytest.mark.parametrize(
    "line", ["nonsense", "[]", '{"design": "x"}', '{"design": "x", "seconds": [0], "amounts": [{}]}']
)
def test_a_damaged_store_is_named(tmp_path: Path, line: str) -> None:
    store = _store(tmp_path)
    store.add(DESIGNS[0], Timing((1.0,), ({"points": 1.0},)), 0.5)
    with store.path.open("a") as file:
        file.write(line + "\n")
    with pytest.raises(ReadError, match=r"line 3: .*delete the file"):
        _store(tmp_path)


def test_timings_of_another_machine_are_not_gone_on_with(tmp_path: Path) -> None:
    _store(tmp_path).add(DESIGNS[0], Timing((1.0,), ({"points": 1.0},)), 0.5)
    with pytest.raises(InputError, match="another machine"):
        TimingStore(tmp_path / "timings.jsonl", {**ABOUT, "machine": "that one"})


def test_times_are_compared_at_one_pace(tmp_path: Path) -> None:
    store = _store(tmp_path)
    for slow in (1.0, 2.0, 1.5):
        store.add(DESIGNS[0], Timing((3.0 * slow,), ({"points": 1.0},), pace=0.1 * slow), 0.5)
    timed = _store(tmp_path).timed(DESIGNS[0])
    assert timed is not None
    assert np.allclose(timed.runs, 4.5)
    assert store.pace == pytest.approx(0.15)
    assert 0.1 < store.pace_spread < np.log(2.0) / 2
    slower = TimingStore(store.path, ABOUT, pace=0.3).timed(DESIGNS[0])
    assert slower is not None
    assert np.allclose(slower.runs, 9.0)


def test_what_makes_no_sense_is_refused(tmp_path: Path) -> None:
    lab = Lab()
    for designs, budget_s, tightness in (([], 1.0, 0.1), (DESIGNS, 0.0, 0.1), (DESIGNS, 1.0, float("nan"))):
        with pytest.raises(InputError, match="budget and a tightness above 0"):
            calibrate(designs, lab.run, _store(tmp_path), budget_s=budget_s, tightness=tightness)


def test_intervals_of_medians_cover() -> None:
    # Laplace noise would be covered better, normal noise is what the factor is for: 95 %, less for few repeats.
    random = np.random.default_rng(2)
    covered = []
    for _ in range(400):
        runs = tuple((float(value),) for value in random.normal(1, 0.03, 15))
        one = Timed(DESIGNS[0], ({},), runs)
        covered.append(abs(one.seconds[0] - 1) <= one.spread[0])
    assert np.mean(covered) > 0.85


def test_designs_take_turns_and_keep_all() -> None:
    order = interleaved(DESIGNS)
    assert sorted(d.key for d in order) == sorted(d.key for d in DESIGNS)
    assert [d.group for d in order[:3]] == ["vacuum", "poles", "layers"]


def test_the_store_is_lines_of_json(tmp_path: Path) -> None:
    store = _store(tmp_path)
    store.add(DESIGNS[0], Timing((1.0,), ({"points": 1.0},)), 0.5)
    header, row = map(json.loads, store.path.read_text().splitlines())
    assert header["about"] == ABOUT
    assert row["seconds"] == [1.0]
    assert os.access(store.path, os.R_OK)
