"""The balancer in Meep: it decides by CPU times, and a simulation keeps its monitors."""

from __future__ import annotations

import pytest

from tests.adapters.meep.conftest import Inside


def test_monitors_survive_and_spectra_are_right(inside: Inside) -> None:
    found = inside("adjusted", [0.4, -0.6], ranks=2)
    assert found["changed"] == [[0.0, True], [0.0, True]]
    # Chunks are stepped in another order, so sums round otherwise.
    assert found["adjusted"] == pytest.approx(found["plain"], rel=1e-9)
    assert min(abs(flux) for flux in found["plain"]) > 0


def test_cuts_follow_what_was_measured(inside: Inside) -> None:
    found = inside("balanced", [3e-3, 1e-3], [2e-3, 2e-3], ranks=2)
    assert found["is Meep's"]
    assert found["monitored"]
    axis, at = found["cuts"][0]
    # The first process has three quarters of the cell and takes three times as long: both get half.
    assert axis == "x"
    assert at == pytest.approx(0.0, abs=0.3)
    assert found["why"][0].startswith("worth it")
    assert found["cuts"][1] == found["cuts"][0]
    assert not found["why"][1].startswith("worth it")
    assert sorted(found["initial"][1:]) == [0, 1]


def test_the_call_of_meeps_documentation_gets_our_decision_bounded_by_its_sensitivity(inside: Inside) -> None:
    found = inside("documented", 0.4, ranks=2)
    # The first process has three quarters of the cell and takes three times as long. The best cut is at 0.
    assert found["cut"] == pytest.approx(1.0 + 0.4 * (found["best"] - 1.0), abs=0.05)
    assert abs(found["best"]) < 0.3
    assert found["why"].startswith("worth it")
    assert found["kept"].startswith("nothing better was found")
    assert "between 0" in found["refused"]


def test_steps_still_to_go_are_assumed_and_said(inside: Inside) -> None:
    found = inside("assumed")
    # A gain of 1 ms a step is worth 100 s of moving in a million steps, but not in as many as are assumed.
    assert found["told"].startswith("worth it")
    assert found["assumed"].startswith("not worth it")
    assert "10000 steps to go are assumed" in found["assumed"]
    assert 0 < found["start"] < 60


def test_without_costs_it_is_meeps_algorithm(inside: Inside) -> None:
    found = inside("by_volumes")
    (ours, left, _), (theirs, theirs_left, _) = found["ours"], found["theirs"]
    assert ours == [theirs[0], pytest.approx(theirs[1])]
    assert left[0] == [theirs_left[0][0], pytest.approx(theirs_left[0][1])]


def test_each_run_is_told_once(inside: Inside) -> None:
    # Whole sums would hide a process that became slow, and count early runs again with every decision.
    # The first step connects the chunks, so it is left out.
    told = inside("runs_in_a_row", 1e-3, 2e-3, 1e-3)
    assert told == [[39, pytest.approx(1e-3)], [40, pytest.approx(2e-3)], [40, pytest.approx(1e-3)]]


def test_a_measurement_is_one_of_a_layout_and_knows_its_noise(inside: Inside) -> None:
    found = inside("timed_steps", ranks=2)
    # A simulation that begins anew on its layout adds to what was measured on it, but for steps that connect chunks.
    assert found["steps"] == [39, 79, 118, 39]
    assert all(0 < noise < 1 for noise in found["noises"])
    # Where the simulation begins anew by itself, as in an optimization, the better layout stays.
    assert found["kept"] == [["x", 0.5], 0, 1]


def test_the_first_process_decides_for_its_group(inside: Inside) -> None:
    found = inside("shared", ranks=4)
    assert found["alike"]
    assert found["asked"] == 1
    assert found["gathered"] == [0, 1, 4, 9]
    assert found["slowest"] == 3
    assert found["groups apart"]


def test_one_process_searches_and_all_get_its_layout(inside: Inside) -> None:
    found = inside("searched", ranks=3)
    assert found["searches"] == 1
    assert len(set(found["cuts"])) == 1
    assert found["cuts"][0] < 0.8
    assert found["adjusted"] == [1.0] * 3


def test_waiting_is_not_work(inside: Inside) -> None:
    found = inside("clocks", ranks=3)
    # The first works 20 times 20 ms beside its steps, while the others spin in MPI.
    first, *others = found["worked"]
    assert first >= 0.4
    assert all(0 < one < first - 0.2 for one in others)
    assert sum(found["worked"]) < found["spent"]
