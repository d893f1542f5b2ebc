"""Scaling studies of planted times: every number of the figures is known beforehand."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import pytest

from evenly.errors import InputError, ReadError
from evenly.fdtd.measurement.measurement import Measurement, RankRecord
from evenly.fdtd.scaling.study import ScalingStudy, Statistic


def run(ranks: int, repetition: int = 0, slow: float = 1.0, cores: int = 64, **keywords: Any) -> Measurement:
    """16/P s of stepping, 4/P of transforms on the first half of the ranks, 0.5·P of communication; `slow` times."""
    records = []
    for rank in range(ranks):
        holds = rank < max(1, ranks // 2)
        wall = {"fused": 12 / ranks, "poles": 4 / ranks, "fourier": 4 / ranks if holds else 1e-6}
        wall |= {"boundary copies": 0.1 * ranks, "send/receive": 0.1 * ranks, "waiting": 0.3 * ranks}
        wall = {phase: slow * seconds for phase, seconds in wall.items()}
        records.append(RankRecord(rank, wall, wall, counts={"fourier": 10 * holds}))
    given = {"name": "box", "parameters": {"resolution": 20.0}, "steps": 100, "points": 10_000, **keywords}
    return Measurement(size=ranks, ranks=tuple(records), cores=cores, repetition=repetition, **given)


def test_run_time_speedup_and_ratio() -> None:
    study = ScalingStudy(tuple(run(p) for p in (8, 1, 2, 4)))
    assert [point.ranks for point in study.points] == [1, 2, 4, 8]
    times = {1: 20.5, 2: 11.0, 4: 7.0, 8: 6.5}
    for point in study.points:
        assert point.run_s.mean == pytest.approx(times[point.ranks])
        assert point.step_s.mean == pytest.approx(times[point.ranks] / 100)
        assert point.speedup == pytest.approx(20.5 / times[point.ranks])
        assert point.efficiency == pytest.approx(point.speedup / point.ranks)
        mean_computation = 16 / point.ranks + (4 if point.ranks == 1 else 2) / point.ranks
        assert point.computation_s.mean == pytest.approx(mean_computation, rel=1e-5)
        assert point.ratio.mean == pytest.approx(0.5 * point.ranks / mean_computation, rel=1e-5)
    assert study.fastest.ranks == 8
    # 0.5 P = 18/P at P = 6, and both follow power laws between 4 and 8.
    assert study.crossover == pytest.approx(6.0, rel=1e-5)
    assert study.clock_label == "wall time"


def test_rates_over_ranks_and_repeats_without_ranks_that_have_no_transforms() -> None:
    study = ScalingStudy((run(4), run(4, 1, slow=2.0)))
    (point,) = study.points
    assert point.stepping_rate.count == 8
    assert point.stepping_rate.mean == pytest.approx((1 / 4 + 1 / 8) / 2)
    assert point.stepping_rate.deviation == pytest.approx(math.sqrt(8 * 0.0625**2 / 7))
    assert point.fourier_rate.count == 4
    assert point.fourier_rate.mean == pytest.approx((1.0 + 0.5) / 2)
    assert point.run_s.mean == pytest.approx((7 + 14) / 2)
    assert point.run_s.error == pytest.approx(point.run_s.deviation / math.sqrt(2))


def test_each_rank_over_repeats() -> None:
    study = ScalingStudy((run(4), run(4, 1, slow=3.0), run(1)))
    times = study.per_rank(4)
    assert [one.rank for one in times] == [0, 1, 2, 3]
    assert times[0].stepping.mean == pytest.approx(8.0)
    assert times[0].fourier.mean == pytest.approx(2.0)
    assert times[3].fourier.mean == pytest.approx(0.0, abs=1e-5)
    assert times[2].waiting.mean == pytest.approx(2.4)
    assert times[2].waiting.deviation == pytest.approx(2.4 / math.sqrt(2))
    assert times[1].copies.mean == times[1].sending.mean == pytest.approx(0.8)
    with pytest.raises(InputError, match="The study has runs on 1, 4 ranks, but got 3"):
        study.per_rank(3)


def test_more_ranks_than_cores_anywhere_make_all_times_cpu_times() -> None:
    study = ScalingStudy((run(1, cores=2), run(4, cores=2)))
    assert study.clock == "cpu"
    assert study.clock_label == "CPU time (up to 4 ranks on 2 cores)"
    one, four = study.points
    # Without waiting; rank 3 has no transforms and so waits a second for the others.
    assert one.run_s.mean == pytest.approx(20.2)
    assert four.run_s.mean == pytest.approx(5.8)
    assert study.per_rank(4)[3].waiting.mean == pytest.approx(1.0, rel=1e-5)


def test_without_a_crossover_there_is_none() -> None:
    assert ScalingStudy((run(1), run(2))).crossover is None
    assert ScalingStudy((run(8),)).crossover == 8.0


def test_runs_that_failed_are_kept_apart() -> None:
    lost = Measurement("box", size=16, status="failed", message="rank 3: no memory")
    study = ScalingStudy((run(1), lost))
    assert study.ranks == [1]
    assert study.failed == (lost,)
    with pytest.raises(InputError, match="needs a run that went well, but got none: rank 3: no memory"):
        ScalingStudy((lost,))


@pytest.mark.parametrize(
    ("keywords", "message"),
    [
        ({"steps": 50}, r"must have the same steps, but got 100 \(on 1 ranks\) and 50 \(on 2\)"),
        ({"parameters": {"resolution": 40.0}}, "must have the same parameters"),
        ({"name": "ball"}, "must have the same name"),
    ],
)
def test_runs_of_different_things_are_no_study(keywords: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        ScalingStudy((run(1), run(2, **keywords)))


def test_round_trip_through_a_folder(tmp_path: Path) -> None:
    study = ScalingStudy(tuple(run(p, k) for k in (0, 1) for p in (1, 2)))
    study.save(tmp_path)
    assert ScalingStudy.load(tmp_path).points == study.points
    run(2, 5, name="ball").save(tmp_path / "ball")
    with pytest.raises(ReadError, match="must have the same name"):
        ScalingStudy.load(tmp_path)
    with pytest.raises(ReadError, match="there are no measurement files"):
        ScalingStudy.load(tmp_path / "none")


def test_rows_are_plain_numbers() -> None:
    rows = ScalingStudy((run(1), run(2))).rows()
    assert rows[1]["ranks"] == 2
    assert rows[1]["run_s"] == pytest.approx(11.0)
    assert rows[1]["run_s_deviation"] == 0.0


def test_a_statistic_of_nothing_is_nan() -> None:
    none = Statistic.of([])
    assert math.isnan(none.mean)
    assert math.isnan(none.error)
    assert Statistic.of([2.0]) == Statistic(2.0, 0.0, 1)
