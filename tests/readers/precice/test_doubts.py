"""Runs that contradict the configuration: they took turns or not, and repeated time windows or not."""

from __future__ import annotations

from pathlib import Path

import pytest

from evenly.readers.precice.doubts import other_scheme, runs_that_iterated, settled
from evenly.readers.precice.iteration_logs import Log
from evenly.readers.precice.schemes import Coupling, Scheme
from evenly.runs.runs import Runs
from tests.readers.precice.test_exchanges import coupling, waiting_runs


@pytest.mark.parametrize("implicit", [False, True])
def test_the_other_scheme_than_that_of_the_runs_is_asked_about(implicit: bool) -> None:
    solving, steps = {"F": 0.02, "S": 0.015}, {"F": 1, "S": 1}
    for ran, written, way in (("serial", "parallel", "took turns"), ("parallel", "serial", "ran side by side")):
        runs = waiting_runs(ran, solving, steps)
        told = other_scheme(coupling(written, implicit=implicit), runs, steps)
        as_run = coupling(ran, implicit=implicit).expression(steps)
        assert way in told
        assert f"--layout '{as_run}' that they do as in the runs" in told
        assert other_scheme(coupling(ran, implicit=implicit), runs, steps) == ""


def test_runs_that_fit_neither_scheme_or_both_are_not_asked_about() -> None:
    steps = {"F": 1, "S": 1}
    light = waiting_runs("serial", {"F": 0.02, "S": 0.001}, steps)  # turns or not, it takes about as long
    assert other_scheme(coupling("parallel"), light, steps) == ""
    slow = waiting_runs("serial", {"F": 0.02, "S": 0.015}, steps)
    late = {
        name: Runs.from_frame(
            one.to_frame().assign(coupling=0.05), ["cores"], quantities={"coupling": "s", "waiting": "s"}
        )
        for name, one in slow.items()
    }
    assert other_scheme(coupling("parallel"), late, steps) == ""
    assert other_scheme(coupling("parallel"), {"F": slow["F"]}, steps) == ""


def logs(windows: int, iterations: int) -> list[Log]:
    return [Log(Path(f"/case/{run}/F/precice-F-iterations.log"), windows, iterations) for run in range(2)]


@pytest.mark.parametrize(("substeps", "as_run"), [({"F": 1, "S": 1}, "3 * max(F, S)"),
                                                  ({"F": 1, "S": 4}, "3 * max(F, 4 * S)"),
                                                  ({"F": 2, "S": 4}, "6 * max(F, 2 * S)")])  # fmt: skip
def test_an_explicit_scheme_of_runs_that_iterated_is_asked_about(substeps: dict[str, int], as_run: str) -> None:
    """The step told was one iteration, where the configuration was changed to an explicit scheme after the runs."""
    runs = waiting_runs("parallel", {"F": 0.02, "S": 0.015}, substeps)  # 24 exchanges of data
    written = coupling("parallel", windows=8)
    told, unused = runs_that_iterated(written, runs, substeps, logs(8, 24))
    assert "24 iterations of 8 windows" in told
    assert f"--layout '{as_run}' that they are as the runs" in told
    assert f"--layout '{written.expression(substeps)}' that they are as the configuration says" in told
    assert unused == ""


def test_the_layout_of_runs_that_iterated_is_that_in_which_they_did() -> None:
    runs = waiting_runs("serial", {"F": 0.02, "S": 0.015}, {"F": 1, "S": 1})
    told, _ = runs_that_iterated(coupling("parallel", windows=8), runs, {"F": 1, "S": 1}, logs(8, 24))
    assert "--layout '3 * sum(F, S)' that they are as the runs" in told


@pytest.mark.parametrize(("log", "said"), [((8, 31), True), ((8, 8), False), ((5, 7), True), ((24, 24), False)])
def test_logs_of_other_runs_beside_an_explicit_scheme_ask_nothing(log: tuple[int, int], said: bool) -> None:
    runs = waiting_runs("parallel", {"F": 0.02, "S": 0.015}, {"F": 1, "S": 1})
    told, unused = runs_that_iterated(coupling("parallel"), runs, {"F": 1, "S": 1}, logs(*log))
    assert (told, "aren't used" in unused) == ("", said)
    assert runs_that_iterated(coupling("parallel", implicit=True), runs, {}, logs(8, 24)) == ("", "")
    assert runs_that_iterated(coupling("parallel"), runs, {}, []) == ("", "")


def test_of_several_schemes_it_is_open_which_iterated() -> None:
    schemes = [Scheme("serial", False, pair, windows=8) for pair in (("F", "S"), ("F", "W"))]
    runs = waiting_runs("serial", {"F": 0.02, "S": 0.015, "W": 0.01}, {"F": 1, "S": 1, "W": 1})
    told, _ = runs_that_iterated(Coupling.of(("F", "S", "W"), schemes), runs, {}, logs(8, 24))
    assert "Say of the coming runs with --layout" in told
    assert "that they are as the runs" not in told


@pytest.mark.parametrize("ran", ["serial", "parallel"])
def test_the_steps_settle_which_of_two_configurations_the_runs_had(ran: str) -> None:
    written = {Path(f"/case/{kind}.xml"): coupling(kind) for kind in ("serial", "parallel")}
    found, said = settled(written, waiting_runs(ran, {"F": 0.02, "S": 0.015}, {"F": 1, "S": 1}), [])
    other = "parallel" if ran == "serial" else "serial"
    assert found is written[Path(f"/case/{ran}.xml")]
    assert said.endswith(f"{ran}.xml counts, not {other}.xml")
    light = waiting_runs(ran, {"F": 0.02, "S": 0.001}, {"F": 1, "S": 1})  # turns or not, it takes about as long
    assert settled(written, light, []) == (None, "")
    iterating = {Path("/case/i.xml"): coupling(ran, implicit=True), Path("/case/e.xml"): coupling(ran)}
    assert settled(iterating, waiting_runs(ran, {"F": 0.02, "S": 0.015}, {"F": 1, "S": 1}), []) == (None, "")
