"""Steps in a time window: iterations, substeps, runs that ended early, and what is said where it isn't known."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from evenly.readers.precice.config import Coupling, Scheme
from evenly.readers.precice.iteration_logs import Log, iterations_in_window, read_logs
from evenly.readers.precice.window_steps import WindowSteps, own_work, steps_per_window, substeps
from evenly.readers.scanning import scan
from evenly.runs.runs import Runs


def runs_of(steps: int, *, runs: int = 2) -> Runs:
    """Two runs of so many steps, of which readers drop the first, the warm-up."""
    rows = [(2, 1.0, f"r{run}", step) for run in range(runs) for step in range(1, steps)]
    return Runs.from_frame(pd.DataFrame(rows, columns=["cores", "seconds", "run", "repetition"]), ["cores"])


def logged(windows: int, iterations: int) -> Log:
    return Log(Path("precice-F-iterations.log"), windows, iterations)


def one(kind: str = "parallel", *, implicit: bool = True, windows: int | None = 20) -> Coupling:
    scheme = Scheme(kind, implicit, ("F", "S"), windows=windows, flows=(("F", "S"), ("S", "F")))  # type: ignore[arg-type]
    return Coupling.of(("F", "S"), (scheme,))


def partitioned(windows: int) -> Coupling:
    """Two fluids that iterate, and a solid that waits for them."""
    inner = Scheme("serial", True, ("A", "B"), windows=windows, flows=(("A", "B"), ("B", "A")))
    outer = Scheme("serial", False, ("A", "S"), windows=windows, flows=(("A", "S"), ("S", "A")))
    return Coupling.of(("A", "B", "S"), (inner, outer))


@pytest.mark.parametrize(
    ("coupling", "steps", "log", "layout", "said"),
    [
        # That the runs made all windows is an assumption.
        (one(), (60, 60), None, "3 * max(F, S)", "3 steps of F in a time window, if the runs made all of the conf"),
        (one(windows=60), (60, 60), None, "max(F, S)", "1 step of F in a time window, if the runs made all of the"),
        (one(), (60, 240), None, "3 * max(F, 4 * S)", "if the runs made all"),
        (one(implicit=False), (100, 20), None, "max(5 * F, S)", ""),
        (one(implicit=False), (20, 20), None, "max(F, S)", ""),
        # Iterations differ between windows, or the runs ended early: what was assumed is said.
        (one(), (87, 87), None, "4.35 * max(F, S)", "if the runs made all of the configuration's"),
        # The windows that preCICE logged count more than a configuration that was changed.
        (one(windows=40), (60, 240), logged(20, 60), "3 * max(F, 4 * S)", "20 time windows were logged and 40 stand"),
        (one(windows=None), (60, 60), logged(20, 60), "3 * max(F, S)", ""),
        # Substeps are whole where iterations aren't.
        (one(windows=25), (62, 248), logged(25, 62), "2.48 * max(F, 4 * S)", ""),
        # Logs of other runs.
        (one(), (60, 240), logged(50, 150), "3 * max(F, 4 * S)", "150 iterations, but a run has only 60 steps of F"),
        (one(windows=None), (60, 60), logged(50, 150), "max(F, S)", "the logs of iterations aren't used"),
        # Runs that ended early, and no log.
        (one(windows=100), (60, 240), None, "max(F, 4 * S)", "100 time windows stand in the configuration"),
        (one(windows=None), (60, 240), None, "max(F, 4 * S)", "one step of F"),
        (one(windows=None), (60, 60), None, "max(F, S)", ""),
        # An explicit scheme makes whole numbers of steps in a window, so these ended after 7 of 10 windows.
        (one(implicit=False, windows=10), (14, 28), None, "max(F, 2 * S)", "no multiple of 10 time windows"),
    ],
)
def test_factors_of_the_layout(
    coupling: Coupling, steps: tuple[int, int], log: Log | None, layout: str, said: str
) -> None:
    found = steps_per_window(coupling, {"F": runs_of(steps[0]), "S": runs_of(steps[1])}, [log] if log else [])
    assert coupling.expression(found.counts) == layout
    assert said in found.note
    assert bool(said) == bool(found.note)


@pytest.mark.parametrize("windows", [15, 30, 45, 100])
def test_a_run_that_ended_early_tells_its_windows_by_who_iterates_not(windows: int) -> None:
    coupling = partitioned(windows)
    found = steps_per_window(coupling, {"A": runs_of(90), "B": runs_of(90), "S": runs_of(15)})
    assert coupling.expression(found.counts) == "sum(6 * sum(A, B), S)"
    assert (found.note == "") == (windows == 15)


def test_unknown_iterations_are_said() -> None:
    whole = Runs.from_frame(pd.DataFrame({"cores": [2], "seconds": [9.0], "run": ["r"]}), ["cores"])
    found = steps_per_window(partitioned(15), {"A": whole, "B": whole, "S": whole})
    assert found.counts == {}
    assert "not all files tell how many steps there were" in found.note
    found = steps_per_window(partitioned(15), dict.fromkeys("ABS", runs_of(15)), [logged(16, 15)])
    assert (found.counts, "16 time windows were logged" in found.note) == ({}, True)
    alike = Coupling.of(("A", "B", "S"), [Scheme(s.kind, s.implicit, s.participants) for s in partitioned(9).schemes])
    assert "counts one iteration" in steps_per_window(alike, dict.fromkeys("ABS", runs_of(15))).note


def test_repeated_runs_of_a_table_are_no_steps(tmp_path: Path, samples: Path) -> None:
    config = samples / "precice-v3" / "parallel-explicit" / "2_2" / "precice-config.xml"
    (tmp_path / "precice-config.xml").write_text(config.read_text())
    for name, repeats in (("Inner", 5), ("Outer", 2)):
        rows = "".join(f"{p},{10 / p + 0.1 * r}\n" for p in (1, 2, 4) for r in range(repeats))
        (tmp_path / f"{name}.csv").write_text(f"cores,seconds\n{rows}")
    found = scan(tmp_path)
    assert found.layout == "max(Inner, Outer)"
    assert any("taken to make one step" in note for note in found.notes)


def test_logs_of_iterations_are_read_and_damaged_ones_told(tmp_path: Path) -> None:
    good, bad, other = (tmp_path / name for name in ("precice-F-iterations.log", "precice-S-iterations.log", "x.log"))
    good.write_text("TimeWindow TotalIterations Iterations Convergence\n1 6 6 1\n2 9 3 1\n")
    bad.write_text("TimeWindow TotalIterations Iterations Convergence\n1 6")
    other.write_text("nothing")
    found, used, damaged = read_logs([good, bad, other])
    assert found == [Log(good, 2, 9)]
    assert used == [good, bad]
    assert [entry.path for entry in damaged] == [bad]


def test_substeps_of_real_runs(strangers: Path) -> None:
    folder = strangers / "2-coupled" / "precice-own"
    assert scan(folder / "sub").layout == "3 * max(Fluid, 4 * Solid)"
    assert scan(folder / "serial").layout == "3 * sum(Fluid, Solid)"


def summary_of(steps: int, seconds: float) -> str:
    """A summary of preCICE 2 of a run with so many steps of so long."""
    total, mean = round(1000 * seconds * steps), round(1000 * seconds)
    return (
        "Run finished at Thu Sep 10 13:02:15 2020\nGlobal runtime       = 1000ms / 1s\nNumber of processors = 4\n"
        "# Rank: 0\n\nEvent | Count | Total[ms] | Max[ms] | Min[ms] |\n---\n"
        f"advance | {steps} | {10 * steps} | 10 | 10 |\n"
        f"solver.advance | {steps + 1} | {total} | {mean} | 0 |\n"
    )


@pytest.mark.parametrize(("log", "layout"), [(True, "2.48 * sum(F, 4 * S)"), (False, "2 * sum(F, 4 * S)")])
def test_counts_in_summaries_are_steps(tmp_path: Path, log: bool, layout: str) -> None:
    """One step in a window was taken of each: the predicted step was that much too short."""
    windows = 25 if log else 31
    (tmp_path / "precice-config.xml").write_text(
        '<precice-configuration><participant name="F"/><participant name="S"/><coupling-scheme:serial-implicit>'
        f'<participants first="F" second="S"/><max-time-windows value="{windows}"/>'
        "</coupling-scheme:serial-implicit></precice-configuration>"
    )
    for name, steps, seconds in (("F", 62, 0.2), ("S", 248, 0.05)):
        (tmp_path / f"precice-{name}-events-summary.log").write_text(summary_of(steps, seconds))
        if log:
            rows = "".join(f"{w} 0 {3 if w <= 12 else 2} 1\n" for w in range(1, 26))
            head = "TimeWindow TotalIterations Iterations Convergence\n"
            (tmp_path / f"precice-{name}-iterations.log").write_text(head + rows)
    found = scan(tmp_path)
    assert found.layout == layout
    assert not found.unknown
    assert any("if the runs made all of the configuration's" in note for note in found.notes) != log
    assert found.runs["S"].to_frame()["seconds"].tolist() == [0.05]


def of_lengths(*steps: int) -> Runs:
    """Runs of these lengths on the same cores, which began alike: a reader gives them one name."""
    rows = [(2, 1.0, "r", f"case-{n}", step) for n, count in enumerate(steps) for step in range(1, count)]
    return Runs.from_frame(pd.DataFrame(rows, columns=["cores", "seconds", "run", "source", "repetition"]), ["cores"])


def test_runs_of_different_lengths_are_no_substeps() -> None:
    """In each run, both made as many steps, though some of the solid's began alike."""
    found = steps_per_window(one(windows=None), {"F": runs_of(20, runs=1), "S": of_lengths(10, 20, 20)})
    assert found.counts == {}
    assert "S made 10 to 20" in found.note
    both = {"F": of_lengths(30, 60), "S": of_lengths(30, 60, 60)}
    found = steps_per_window(one(windows=None), both, [logged(15, 45)])
    assert found.counts == {}
    assert "the logs of iterations aren't used: their folders don't tell of which runs they are" in found.note


def in_folders(participant: str, steps: dict[str, int]) -> Runs:
    """One run of these steps in each folder."""
    rows = [
        (2, 1.0, f"r{run}", f"/case/{run}/{participant}/precice-profiling", n)
        for run in steps
        for n in range(1, steps[run])
    ]
    return Runs.from_frame(pd.DataFrame(rows, columns=["cores", "seconds", "run", "source", "repetition"]), ["cores"])


def each(**steps: tuple[int, int]) -> dict[str, Runs]:
    return {name: in_folders(name, {run: both[at] for run, both in steps.items()}) for at, name in enumerate("FS")}


@pytest.mark.parametrize(
    ("coupling", "runs", "logs", "layout", "said"),
    [
        # Runs of different lengths, of which two ended early: in each, S makes four steps for one of F.
        (one(windows=None), each(a=(60, 240), b=(30, 120), c=(90, 360)), {}, "max(F, 4 * S)", "one step of F"),
        # Medians would say 60 to 240 and 60 to 120.
        (one(implicit=False, windows=None), each(a=(60, 60), b=(20, 20), c=(20, 20)), {}, "max(F, S)", ""),
        # Each run has its log: one ended early.
        (
            one(windows=20),
            each(a=(60, 240), b=(30, 120)),
            {"a": (20, 60), "b": (10, 30)},
            "3 * max(F, 4 * S)",
            "10 time",
        ),
        (
            one(windows=None),
            each(a=(60, 60), b=(50, 50)),
            {"a": (20, 60), "b": (10, 50)},
            "3 * max(F, S)",
            "3 steps of F in a and 5 in b",
        ),
        (
            one(windows=None),
            each(a=(20, 40), b=(20, 80)),
            {},
            "max(F, 2 * S)",
            "S makes 2 times .* in a and 4 times in b",
        ),
    ],
)
def test_steps_are_compared_within_each_run(
    coupling: Coupling, runs: dict[str, Runs], logs: dict[str, tuple[int, int]], layout: str, said: str
) -> None:
    beside = [Log(Path(f"/case/{run}/F/precice-F-iterations.log"), *told) for run, told in logs.items()]
    found = steps_per_window(coupling, runs, beside)
    assert coupling.expression(found.counts) == layout
    assert re.search(said, found.note)
    assert bool(said) == bool(found.note)


@pytest.mark.parametrize(
    ("cut", "layout", "said"),
    [
        # b ended early: the others made all windows of the configuration.
        ((), "3 * max(F, 4 * S)", "1.5 steps of F in a time window|in b and 3 in"),
        (("b",), "3 * max(F, 4 * S)", "^3 steps of F in a time window, if"),  # the whole run alone tells
        (("a", "b"), "max(F, 4 * S)", "they were cut off"),
    ],
)
def test_runs_that_were_cut_off_do_not_tell_their_windows(cut: tuple[str, ...], layout: str, said: str) -> None:
    files = [Path(f"/case/{run}/F/precice-profiling") for run in cut]
    runs = each(a=(60, 240), b=(30, 120), c=(60, 240)) if len(cut) < 2 else each(a=(60, 240), b=(30, 120))
    found = steps_per_window(one(windows=20), runs, cut=files)
    assert coupling_of(found, one(windows=20)) == layout
    assert re.search(said, found.note)
    assert bool(said) == bool(found.note)


def test_a_run_that_was_cut_off_does_not_contradict_the_others() -> None:
    runs = each(a=(60, 60), b=(60, 18), c=(60, 60))
    beside = [Log(Path(f"/case/{run}/F/precice-F-iterations.log"), 20, 60) for run in "abc"]
    assert "runs contradict each other" in steps_per_window(one(), runs, beside).note
    cut = [Path("/case/b/S/precice-profiling")]
    found = steps_per_window(one(), runs, beside, cut=cut)
    assert (coupling_of(found, one()), found.note) == ("3 * max(F, S)", "")
    # Runs that all were cut off are all that tells.
    alone = steps_per_window(one(), each(b=(60, 60)), beside[1:2], cut=cut)
    assert coupling_of(alone, one()) == "3 * max(F, S)"
    assert substeps(each(a=(60, 240), b=(60, 30)), cut) == {"F": 1, "S": 4}


def coupling_of(found: WindowSteps, coupling: Coupling) -> str:
    return str(coupling.expression(found.counts))


def test_each_run_has_its_own_configuration() -> None:
    runs = each(a=(60, 240), b=(30, 120), c=(18, 72))
    written = {Path(f"/case/{run}/precice-config.xml"): windows for run, windows in (("a", 20), ("b", 10), ("c", 6))}
    found = steps_per_window(one(windows=20), runs, written=written)
    assert coupling_of(found, one(windows=20)) == "3 * max(F, 4 * S)"
    assert found.note.startswith("3 steps of F in a time window, if the runs made all")
    assert ";" not in found.note
    # One configuration above them all, and runs that ended early.
    found = steps_per_window(one(windows=20), runs, written={Path("/case/precice-config.xml"): 20})
    assert coupling_of(found, one(windows=20)) == "3 * max(F, 4 * S)"
    assert "0.9 steps of F" in found.note or "since the others may have ended early" in found.note


def test_substeps_need_no_configuration() -> None:
    assert substeps(each(a=(60, 240), b=(30, 120))) == {"F": 1, "S": 4}
    assert substeps(each(a=(60, 60), b=(30, 30))) == {}
    assert substeps(each(a=(20, 40), b=(20, 80))) == {}  # runs contradict each other


def test_work_of_precice_itself_is_said() -> None:
    table = pd.DataFrame({"cores": [2, 2], "seconds": [5.0, 5.0], "coupling": [9.0, 9.0], "waiting": [6.0, 6.0]})
    units = {"coupling": "s", "waiting": "s", "solving": "s"}

    def told(frame: pd.DataFrame) -> str:
        return own_work(Runs.from_frame(frame, ["cores"], quantities={k: v for k, v in units.items() if k in frame}))

    assert told(table).startswith("3 s of preCICE's call in a step may be its own work or waiting")
    assert told(table.assign(waiting=8.9)) == ""
    assert told(table.assign(solving=2.0)).startswith("preCICE's own work in a step, as mapping, takes 3 s")
    assert "isn't part of a step" in told(table[["cores", "seconds", "coupling"]])


def test_logs_beside_the_folder_that_both_participants_share_are_of_its_run(tmp_path: Path) -> None:
    """Both participants were started in one folder, so that their files lie in one ``precice-profiling``."""
    rows: dict[str, list[tuple[Any, ...]]] = {"F": [], "S": []}
    logs = []
    for run, windows in (("a", 20), ("b", 10)):
        folder = str(tmp_path / run / "precice-profiling")
        for name, of_solver in rows.items():
            of_solver += [(2, 1.0, f"{run}{name}", folder, step) for step in range(1, 3 * windows)]
            logs.append(Log(tmp_path / run / f"precice-{name}-iterations.log", windows, 3 * windows))
    names = ["cores", "seconds", "run", "source", "repetition"]
    made = {name: Runs.from_frame(pd.DataFrame(its, columns=names), ["cores"]) for name, its in rows.items()}
    found = steps_per_window(one(windows=60), made, logs)
    assert coupling_of(found, one(windows=60)) == "3 * max(F, S)"


def test_logs_tell_iterations_without_a_configuration() -> None:
    logs = [logged(20, 60), logged(20, 64)]
    assert iterations_in_window(each(a=(62, 248)), logs) == 3.1
    assert iterations_in_window(each(a=(40, 40)), logs) is None  # the logs of other runs
    assert iterations_in_window(each(a=(62, 62)), []) is None


def test_runs_of_other_participants_than_the_configuration_says_have_no_steps() -> None:
    assert steps_per_window(one(), {"Other": runs_of(20), "Third": runs_of(20)}) == WindowSteps({})
