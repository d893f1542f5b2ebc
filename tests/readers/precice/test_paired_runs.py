"""Two runs of one participant beside one of the other: nothing tells which belong together, and that is said."""

from __future__ import annotations

from pathlib import Path

import pandas as pd

from evenly.readers import scan
from evenly.readers.precice.paired_runs import incomplete_runs, of_one_time, unpaired_runs, without_left_overs
from evenly.readers.precice.schemes import Coupling, Scheme
from evenly.readers.precice.window_steps import steps_per_window
from evenly.runs.runs import Runs
from tests.readers.precice.rank_files import write_rank_files


def _steps(made: dict[str, int]) -> Runs:
    """Return the steps of runs, of which each has a file."""
    rows = [
        {"cores": 2, "seconds": 1.0, "run": file, "source": file, "repetition": k}
        for file, n in made.items()
        for k in range(n)
    ]
    return Runs.from_frame(pd.DataFrame(rows), ["cores"])


def test_two_runs_beside_one_are_told() -> None:
    coupling = Coupling.of(("A", "B"), (Scheme("parallel", True, ("A", "B"), windows=20),))
    told = "1_1 holds 2 runs of A, 1 of B: which are of one run isn't known"
    alone = {"A": _steps({"/c/1_1/A": 60, "/c/1_1/A-again": 40}), "B": _steps({"/c/1_1/B": 60})}
    assert told in steps_per_window(coupling, alone).note
    beside = {
        "A": _steps({"/c/1_1/A": 60, "/c/1_1/A-again": 40, "/c/2_2/A": 60}),
        "B": _steps({"/c/1_1/B": 60, "/c/2_2/B": 60}),
    }
    window = steps_per_window(coupling, beside)
    assert told in window.note
    assert dict(window.counts) == {"A": 3.0, "B": 3.0}


def test_pairs_are_not_told() -> None:
    one_each = {"A": [Path("/c/1_1/A"), Path("/c/2_2/A")], "B": [Path("/c/1_1/B"), Path("/c/2_2/B")]}
    assert unpaired_runs(one_each, [Path("/c/1_1"), Path("/c/2_2")]) == ""
    repeated = {"A": [Path("/c/1/A.log")] * 3, "B": [Path("/c/1/B.log")] * 3}
    assert unpaired_runs(repeated, []) == ""
    assert unpaired_runs({"A": [Path("/c/A"), None], "B": [None]}, []) == ""


def test_runs_that_lack_a_participant_are_said() -> None:
    def files(*folders: str) -> list[Path | None]:
        return [Path("/case", folder) for folder in folders]

    lacking = {"F": files("1_1/f/p", "2_1/f/p", "4_2/f/p"), "S": files("1_1/s/p", "8_4/s/p")}
    assert incomplete_runs(lacking) == (
        "no files of F were found in 8_4; no files of S were found in 2_1, 4_2: the other runs are used"
    )
    assert incomplete_runs({"F": files("1_1/f", "2_1/f"), "S": files("1_1/s", "2_1/s")}) == ""
    assert incomplete_runs({"F": files("F-1", "F-2"), "S": files("S-1", "S-2")}) == ""
    assert incomplete_runs({"F": files("1_1/f", "1_1/f2", "1_1/f3"), "S": files("1_1/s")}) == ""
    assert incomplete_runs({}) == ""


def _begun(runs: dict[int, tuple[str, str]]) -> Runs:
    """Return runs on some numbers of cores, each of a folder and a start."""
    rows = [
        {"cores": cores, "seconds": 1.0, "run": f"{folder}-{cores}", "source": folder, "when": when, "repetition": k}
        for cores, (folder, when) in runs.items()
        for k in range(5)
    ]
    return Runs.from_frame(pd.DataFrame(rows), ["cores"])


def test_files_of_an_older_run_whose_partner_was_overwritten_are_left_out() -> None:
    """They were learned from without a word, though they were of a coarser mesh."""
    runs = {
        "A": _begun({
            4: ("/c/1/A/precice-profiling", "2025-07-22T13:48:06.208Z"),
            8: ("/c/2/A/precice-profiling", "2025-07-22T14:48:06.208Z"),
            6: ("/c/2/A/precice-profiling", "2025-06-22T14:48:06.208Z"),
        }),
        "B": _begun({
            2: ("/c/1/B/precice-profiling", "2025-07-22T13:48:06.208Z"),
            3: ("/c/2/B/precice-profiling", "2025-07-22T14:48:11.208Z"),
        }),
    }  # fmt: skip
    kept, notes = without_left_overs(runs)
    assert sorted(set(kept["A"].to_frame()["cores"])) == [4, 8]
    assert kept["B"] == runs["B"]
    assert len(notes) == 1
    assert notes[0].startswith("2/A/precice-profiling holds 2 runs of A, and there is 1 of B: by the time")
    assert notes[0].endswith("that on 6 cores (2025-06-22) ran with another one, and is left out")


def test_runs_that_all_have_their_partner_are_kept() -> None:
    runs = {
        name: _begun(
            {cores: (f"/c/{name}/precice-profiling", f"2025-07-2{cores}T13:48:06.208Z") for cores in (1, 2, 4)}
        )
        for name in ("A", "B")
    }
    assert without_left_overs(runs) == (runs, [])
    alone = {"A": runs["A"], "B": _begun({2: ("/d/B", "2025-07-22T13:48:06.208Z")})}
    assert without_left_overs(alone)[0]["B"] == alone["B"]


def test_participants_that_ran_at_other_times_are_left_out() -> None:
    """One participant's files were those of a day before: the plan followed them without a word."""
    runs = {
        "A": _begun({
            4: ("/c/4_2/A/precice-profiling", "2025-07-22T13:00:00Z"),
            8: ("/c/8_1/A/precice-profiling", "2025-07-22T14:00:00Z"),
        }),
        "B": _begun({
            2: ("/c/4_2/B/precice-profiling", "2025-07-22T13:05:00Z"),
            1: ("/c/8_1/B/precice-profiling", "2025-07-21T14:00:00Z"),
        }),
    }  # fmt: skip
    ended = {
        ("A", "/c/4_2/A/precice-profiling-4"): "2025-07-22T13:04:00Z",  # its node's clock lags behind
        ("B", "/c/4_2/B/precice-profiling-2"): "2025-07-22T13:09:00Z",
        ("A", "/c/8_1/A/precice-profiling-8"): "2025-07-22T15:00:00Z",
        ("B", "/c/8_1/B/precice-profiling-1"): "2025-07-21T15:00:00Z",
    }
    kept, notes = of_one_time(runs, ended)
    assert {name: sorted(set(one.to_frame()["cores"])) for name, one in kept.items()} == {"A": [4], "B": [2]}
    assert len(notes) == 1
    assert notes[0] == (
        "in 8_1, A began (2025-07-22 14:00) after B had ended (2025-07-21 15:00): these files are of different runs "
        "and left out. Keep each run in a folder of its own"
    )
    assert of_one_time(runs, {}) == (runs, [])


def test_where_all_would_be_left_out_the_clocks_may_differ() -> None:
    runs = {name: _begun({2: (f"/c/1/{name}", f"2025-07-22T{hour}:00:00Z")}) for name, hour in (("A", 13), ("B", 19))}
    kept, (note,) = of_one_time(runs, {(name, f"/c/1/{name}-2"): "2025-07-22T14:00:00Z" for name in "AB"})
    assert kept == runs
    assert "they may be of different runs; all are used" in note


def test_files_tell_when_their_runs_ended(tmp_path: Path) -> None:
    for size, late_s in ((1, 4), (2, 86400), (3, 0)):
        for name, began_s in (("A", 1_770_000_000), ("B", 1_770_000_000 + late_s)):
            write_rank_files(tmp_path / str(size) / name / "precice-profiling", name, size, began_s)
    found = scan(tmp_path)
    assert {name: sorted(set(one.to_frame()["cores"])) for name, one in found.runs.items()} == {
        "A": [1, 3],
        "B": [1, 3],
    }
    assert any(
        note.startswith("in 2, B began (2026-02-03 02:40) after A had ended (2026-02-02 02:40)") for note in found.notes
    )


def test_case_folders_of_different_days_are_told(tmp_path: Path) -> None:
    """Sorted logs of a day before were learned from without a word."""
    (tmp_path / "case.ini").write_text("[DEFAULT]\nd=1\n[A]\nevents=A\n[B]\nevents=B\n")
    for size, late_s in ((1, 4), (2, 86_400), (3, 0)):
        for name, began_s in (("A", 1_770_000_000), ("B", 1_770_000_000 + late_s)):
            write_rank_files(tmp_path / f"{size}_{size}" / name, name, size, began_s)
    found = scan(tmp_path)
    assert {name: sorted(set(one.to_frame()["cores"])) for name, one in found.runs.items()} == {
        "A": [1, 3],
        "B": [1, 3],
    }
    assert any(
        note.startswith("in 2_2, B began (2026-02-03 02:40) after A had ended (2026-02-02 02:40)")
        for note in found.notes
    )


def test_other_formats_that_tell_a_day_are_judged_alike(tmp_path: Path) -> None:
    for folder, day in (("1_1", 2), ("2_2", 5)):
        (tmp_path / folder).mkdir()
        for name, its in (("A", 2), ("B", day)):
            row = f"{folder[0]},{8 / int(folder[0])},2026-02-0{its}"
            (tmp_path / folder / f"{name}.csv").write_text(f"cores,seconds,date\n{row}\n")
    (tmp_path / "case.ini").write_text("[DEFAULT]\nd=1\n[A]\nevents=A.csv\n[B]\nevents=B.csv\n")
    found = scan(tmp_path)
    assert [len(one) for one in found.runs.values()] == [2, 2]
    told = [note for note in found.notes if "in 2_2, A is of 2026-02-02, B of 2026-02-05" in note]
    assert len(told) == 1
    assert "they may be of different runs; all are used" in told[0]
    assert not any("in 1_1" in note for note in found.notes)
