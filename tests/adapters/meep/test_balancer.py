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


def test_without_costs_it_is_meeps_algorithm(inside: Inside) -> None:
    found = inside("by_volumes")
    (ours, left, _), (theirs, theirs_left, _) = found["ours"], found["theirs"]
    assert ours == [theirs[0], pytest.approx(theirs[1])]
    assert left[0] == [theirs_left[0][0], pytest.approx(theirs_left[0][1])]


def test_each_run_is_told_once(inside: Inside) -> None:
    # Whole sums would hide a process that became slow, and count early runs again with every decision.
    assert inside("runs_in_a_row", 1e-3, 2e-3, 1e-3) == [[40, pytest.approx(s)] for s in (1e-3, 2e-3, 1e-3)]


def test_waiting_is_not_work(inside: Inside) -> None:
    found = inside("clocks", ranks=3)
    # The first works 20 times 20 ms beside its steps, while the others spin in MPI.
    first, *others = found["worked"]
    assert first >= 0.4
    assert all(0 < one < first - 0.2 for one in others)
    assert sum(found["worked"]) < found["spent"]
