"""Steps of a time window, counted between exchanges of data."""

from __future__ import annotations

import pandas as pd
import pytest

from evenly.readers.precice.schemes import Coupling, Scheme
from evenly.readers.precice.window_steps import steps_per_window
from evenly.runs.runs import Runs


def coupling(kind: str, *, implicit: bool = False, windows: int | None = 24) -> Coupling:
    scheme = Scheme(kind, implicit, ("F", "S"), windows=windows, flows=(("F", "S"), ("S", "F")))  # type: ignore[arg-type]
    return Coupling.of(("F", "S"), (scheme,))


def waiting_runs(kind: str, solving: dict[str, float], substeps: dict[str, int], windows: int = 24) -> dict[str, Runs]:
    """Steps of two runs in which each participant waits at the end of a window only, as its scheme makes it."""
    work = {name: solving[name] * substeps[name] for name in solving}
    whole = sum(work.values()) if kind == "serial" else max(work.values())
    found = {}
    for name, seconds in solving.items():
        rows = [
            (2, seconds, wait, wait, f"{name}{run}", f"/case/{run}/{name}/precice-profiling", step)
            for run in range(2)
            for step in range(1, windows * substeps[name])
            for wait in [whole - work[name] + 1e-4 if step % substeps[name] == substeps[name] - 1 else 0.0]
        ]
        names = ["cores", "seconds", "coupling", "waiting", "run", "source", "repetition"]
        frame = pd.DataFrame(rows, columns=names)
        found[name] = Runs.from_frame(frame, ["cores"], quantities={"coupling": "s", "waiting": "s"})
    return found


@pytest.mark.parametrize("written", [8, 12, 48, 2400])
@pytest.mark.parametrize("substeps", [{"F": 1, "S": 1}, {"F": 1, "S": 4}, {"F": 2, "S": 3}])
def test_a_number_of_windows_that_was_changed_later_changes_no_layout(written: int, substeps: dict[str, int]) -> None:
    """The number of windows made substeps of it: 12 windows for 24 doubled the predicted step, without a word."""
    runs = waiting_runs("parallel", {"F": 0.02, "S": 0.01}, substeps)
    steps = steps_per_window(coupling("parallel", windows=written), runs)
    assert dict(steps.counts) == substeps
    assert steps.note == (
        f"{written} time windows stand in the configuration, but the runs exchanged data 24 times: the steps between "
        "these are counted"
    )
    assert steps_per_window(coupling("parallel"), runs).note == ""


def test_a_participant_that_never_waits_tells_no_windows() -> None:
    runs = waiting_runs("parallel", {"F": 0.02, "S": 0.01}, {"F": 1, "S": 1})
    table = runs["F"].to_frame().assign(waiting=0.0)
    runs["F"] = Runs.from_frame(table, ["cores"], quantities={"coupling": "s", "waiting": "s"})
    assert dict(steps_per_window(coupling("parallel", windows=12), runs).counts) == {"F": 2, "S": 2}


def test_participants_of_a_run_that_exchanged_data_unequally_often_are_named() -> None:
    """Solid's file held half of the windows, and nothing said so."""
    runs = waiting_runs("parallel", {"F": 0.02, "S": 0.01}, {"F": 1, "S": 4})
    table = runs["S"].to_frame()
    late = table["source"].str.contains("/case/1/") & (table["repetition"] >= 4 * 12)
    runs["S"] = Runs.from_frame(table[~late], ["cores"], quantities={"coupling": "s", "waiting": "s"})
    steps = steps_per_window(coupling("parallel"), runs)
    assert dict(steps.counts) == {"F": 1, "S": 4}
    assert steps.note == "in 1, F exchanged data 24 times and S 12 times: a file may be cut off, or of another run"
