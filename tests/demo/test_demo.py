"""The loop: what is said follows from the numbers, a stage that fails leaves the others."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest

from evenly.decomposition.cells.fdtd.cell import cell_of
from evenly.decomposition.costs.cost_model import Coefficient, CostModel
from evenly.decomposition.forecasting.features import workload_of
from evenly.demo import loop, stages
from evenly.demo.comparing import comparison, gain_sentence, ranks_sentence, steps_sentence
from evenly.demo.extent import NORMAL, QUICK
from evenly.demo.findings import BALANCED, EVEN, ONE, Compared, Findings
from evenly.demo.narration import page_of
from evenly.demo.stages import Told
from evenly.errors import InputError
from evenly.fdtd import Simulation
from evenly.fdtd.measurement.measurement import Measurement, RankRecord
from evenly.report.html_page import Remark

COST = CostModel("fdtd", {"points": Coefficient(3e-9)})


@contextmanager
def silent(_text: str) -> Iterator[Told]:
    yield lambda _fraction: None


def run_of(*seconds: float) -> Measurement:
    """One step in which each rank works so long by both clocks, and waits for the slowest."""
    most = max(seconds)
    clocks = [{"fused": own, "waiting": most - own} for own in seconds]
    ranks = tuple(RankRecord(n, clock, clock, points=10) for n, clock in enumerate(clocks))
    return Measurement("box", steps=1, size=len(ranks), ranks=ranks, cores=2)


def compared(ranks: int, step: float, low: float, high: float, *runs: Measurement) -> Compared:
    cell = cell_of(Simulation(cell=(4, 2, 2), resolution=10), (), name="box")
    predicted = {"step_s": step, "lower_s": low, "upper_s": high}
    return Compared(workload_of(cell, ranks, COST), predicted, runs)


def findings(folder: Path, **given: object) -> Findings:
    return dataclasses.replace(Findings(folder, QUICK, 2), **given)  # type: ignore[arg-type]


@pytest.mark.parametrize(("measured", "side", "words"), [
    (1.05, "inside", "1.05 times the prediction; the runs and the predicted interval agree"),
    (1.0, "inside", "as predicted; the runs"),
    (1.4, "above", "1.4 times the prediction; every run was slower"),
    (0.5, "below", "0.5 times the prediction; every run was faster"),
])  # fmt: skip
def test_where_a_measurement_lies_is_said(measured: float, side: str, words: str) -> None:
    one = compared(2, 1.0, 0.9, 1.1, run_of(measured, 0.3))
    assert one.side == side
    assert words in steps_sentence(EVEN, one)


def test_medians_over_runs_are_compared() -> None:
    one = compared(2, 1.0, 0.9, 1.1, run_of(1.0, 0.5), run_of(9.0, 0.5), run_of(1.2, 0.6))
    assert one.measured_s == 1.2
    np.testing.assert_allclose(one.busy_s("cpu"), [1.2, 0.5])
    np.testing.assert_allclose(one.whole_s(), [1.2, 1.2])


@pytest.mark.parametrize(("even", "balanced", "words"), [
    ((2.0, 2.2, 2.1), (1.0, 1.1, 1.05), "So the cut pays here, more than predicted."),
    ((1.2, 1.3, 1.45), (1.0, 1.1, 1.2), "So the cut pays here, as much as predicted."),
    ((1.05, 1.06, 1.05), (1.0, 1.01, 1.0), "So the cut pays here, less than predicted."),
    ((1.0, 1.1), (2.0, 2.2), "did not pay"),
    # A slow phase of the machine hits both of a pair.
    ((1.2, 2.4, 3.7), (1.0, 2.0, 3.0), "So the cut pays here, as much as predicted."),
    ((1.0, 1.5), (1.2, 1.2), "can't tell which cut is faster: for a gain as predicted, it takes about 7 pairs"),
    ((1.3,), (1.2,), "can't tell how sure"),
])  # fmt: skip
def test_a_gain_is_claimed_only_where_the_runs_show_it(
    even: tuple[float, ...], balanced: tuple[float, ...], words: str
) -> None:
    one = compared(2, 1.2, 0.9, 1.4, *map(run_of, even))
    other = compared(2, 1.0, 0.9, 1.1, *map(run_of, balanced))
    assert words in gain_sentence(one, other)


def test_a_speedup_has_students_interval() -> None:
    slow, fast = (compared(1, 1.0, 0.9, 1.1, *map(run_of, times)) for times in ((2.0, 4.0), (1.0, 1.0)))
    measured = fast.speedup_over(slow)
    # Logarithms log 2 and log 4: mean 1.5 log 2, standard error log 2 / 2; t at 95 % is 6.3138.
    np.testing.assert_allclose(measured[:3], 2 ** (1.5 + np.array([0, -1, 1]) * 6.3138 / 2), rtol=1e-4)


def test_what_others_took_of_the_cores_does_not_count() -> None:
    halved = [RankRecord(n, {"fused": 2.0}, {"fused": 1.0}, points=10) for n in range(2)]
    run = Measurement("box", steps=1, size=2, ranks=tuple(halved), cores=2)
    one = compared(2, 1.0, 0.9, 1.1, run)
    clocks = sorted([run.step_s("wall"), run.step_s("cpu")])
    assert clocks == [1.0, 2.0]
    assert (one.paced_s, one.side) == ([1.0], "inside")


def test_reasons_for_a_difference_are_told_where_they_were_measured(tmp_path: Path) -> None:
    one = compared(2, 1.0, 0.9, 1.1, run_of(1.0, 1.0), run_of(1.0, 1.0))
    both = {EVEN: one, BALANCED: one}
    texts = " ".join(part.text for part in comparison(findings(tmp_path, compared=both)) if isinstance(part, Remark))
    assert "something else used" not in texts
    assert "fixed piece of work" not in texts
    slow = findings(tmp_path, compared=both, cost=dataclasses.replace(COST, pace_s=1.0), paces=[1.4, 1.5, 1.6])
    assert slow.slowdown == 1.5
    texts = " ".join(part.text for part in comparison(slow) if isinstance(part, Remark))
    assert "took 1.5 times the CPU time" in texts
    assert "the ratios take into account" in texts


def test_runs_are_judged_at_the_pace_of_the_calibration() -> None:
    slow = compared(2, 1.0, 0.9, 1.1, run_of(1.5, 0.3), run_of(1.7, 0.3))
    assert slow.side == "above"
    same = dataclasses.replace(slow, paces=(1.5, 1.7))
    assert same.side == "inside"
    assert "1 s at the pace of the calibration on cores of its own: as predicted" in steps_sentence(ONE, same)
    # The runs scatter around the interval: they agree with it.
    assert compared(2, 1.0, 0.95, 1.05, run_of(0.9, 0.3), run_of(1.2, 0.3), run_of(1.3, 0.3)).side == "inside"


@pytest.mark.parametrize(("one", "two", "words"), [
    ((1.0, 1.1), (1.5, 1.6), "So one rank is faster here"),
    ((1.0, 1.4), (1.1, 1.2), "can't tell"),
    ((2.0, 2.1), (1.1, 1.2), "times as fast as one"),
])  # fmt: skip
def test_one_rank_beside_two_is_said(one: tuple[float, ...], two: tuple[float, ...], words: str) -> None:
    alone, both = compared(1, 2.0, 1.8, 2.2, *map(run_of, one)), compared(2, 1.0, 0.9, 1.1, *map(run_of, two))
    said = ranks_sentence(alone, both)
    assert words in said
    assert "2 ranks were predicted to be 2 times as fast" in said
    assert ("one rank is faster" in said) == (both.speedup_over(alone).high < 1)


def test_a_disturbed_run_is_made_again_and_the_page_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def clocked(wall: float) -> Measurement:
        rank = RankRecord(0, {"fused": wall}, {"fused": 1.0}, points=10)
        return Measurement("box", steps=1, size=1, ranks=(rank,), cores=2)

    walls = iter([1.0, 1.6, 1.02, 1.3, 1.5])
    monkeypatch.setattr(stages, "_run", lambda *_: clocked(next(walls)))
    found = findings(tmp_path, compared={ONE: compared(1, 1.0, 0.9, 1.1)}, extent=dataclasses.replace(QUICK, repeats=3))
    stages.run(found, lambda _fraction: None)
    assert found.compared[ONE].steps_s == [1.0, 1.02, 1.3]
    assert len(list((tmp_path / "runs").glob("disturbed-*"))) == 2
    assert "2 runs, whose own work took 1.6 times, 1.5 times as much wall time" in page_of(found).html()


def test_a_stage_that_fails_leaves_the_others_and_says_why(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(_found: Findings, _told: Told) -> None:
        raise ZeroDivisionError("by <zero>")

    def refused(_found: Findings, _told: Told) -> None:
        raise InputError("no such `thing`")

    monkeypatch.setitem(stages.STAGES, "calibrate", ("calibrating", refused))
    monkeypatch.setitem(stages.STAGES, "machine", ("measuring", broken))
    found = loop.run_loop(tmp_path, silent, extent=QUICK, stages=("calibrate", "machine", "cut"))
    assert set(found.failures) == {"calibrate", "machine"}
    assert "ZeroDivisionError" in (tmp_path / "machine-error.txt").read_text(encoding="utf-8")
    assert found.plan is not None
    html = page_of(found).html()
    assert "Not all went well: &quot;Measure what grid points take here&quot; and" in html
    assert "This stage failed: no such <code>thing</code>" in html
    assert "ZeroDivisionError: by &lt;zero&gt;" in html
    assert "Nothing ran, so nothing can be compared" in html
    assert "the costs that came with evenly" in html


def test_without_ranks_one_runs_and_the_page_says_why(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(loop, "why_no_ranks", lambda _cores: "there is no MPI")
    monkeypatch.setattr(loop, "available_cores", lambda: 1)
    found = loop.run_loop(tmp_path, silent, extent=QUICK, stages=("cut", "predict", "run"))
    assert found.failures == {}
    assert list(found.compared) == [ONE]
    assert len(found.compared[ONE].runs) == QUICK.repeats
    html = page_of(found).html()
    assert "Several ranks can&#x27;t run here: there is no MPI" in html
    assert "shipped <code>two-cores</code>" in html


def test_a_folder_that_cannot_be_made_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("", encoding="utf-8")
    with pytest.raises(InputError, match="name another folder"):
        loop.run_loop(tmp_path / "file" / "demo", silent)


def test_parameters_are_shown_as_they_are_typed() -> None:
    assert NORMAL.typed == "--resolution 40 --set lens=0.9"
