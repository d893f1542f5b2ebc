"""Sorting loose logs into a case folder."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from evenly.errors import InputError, ReadError
from evenly.readers import scan
from evenly.readers.case_sorting import sort_into_case


def timeinfo(cores: int, seconds: float = 1.0) -> str:
    return f" Timings for a run on {cores} processes\n simLoop {seconds:.6E} {seconds:.6E} {seconds * cores:.6E}\n"


def write(path: Path, content: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(content)
    return path


@pytest.fixture
def loose(tmp_path: Path) -> Path:
    folder = tmp_path / "logs"
    for number, (inner, outer) in enumerate([(150, 74), (170, 110), (150, 74)]):
        write(folder / f"timeinfo_inner_{number}", timeinfo(inner, 0.453 + number))
        write(folder / f"timeinfo_outer_{number}", timeinfo(outer, 0.418 + number))
    return folder


def files(folder: Path) -> dict[str, str]:
    return {str(p.relative_to(folder)): p.read_text() for p in sorted(folder.rglob("*")) if p.is_file()}


def test_logs_are_paired_by_name_and_sorted_by_cores(loose: Path, tmp_path: Path) -> None:
    before = files(loose)
    plan = sort_into_case(loose, tmp_path / "case")
    assert plan.done
    assert plan.skipped == ()
    case = files(tmp_path / "case")
    assert set(case) == {
        "case.ini", "150_74/inner.log", "150_74/outer.log", "150_74_2/inner.log", "150_74_2/outer.log",
        "170_110/inner.log", "170_110/outer.log",
    }  # fmt: skip
    assert case["150_74/inner.log"] == before["timeinfo_inner_0"]
    assert case["150_74_2/outer.log"] == before["timeinfo_outer_2"]
    assert case["case.ini"] == "[DEFAULT]\nd=1\n\n[inner]\ntimeinfo=inner.log\n\n[outer]\ntimeinfo=outer.log\n"
    assert files(loose) == before


def test_what_was_sorted_is_read(loose: Path, tmp_path: Path) -> None:
    sort_into_case(loose, tmp_path / "case", solvers=["outer", "inner"])
    assert (tmp_path / "case" / "110_170").is_dir()
    found = scan(tmp_path / "case")
    assert list(found.runs) == ["outer", "inner"]
    assert sorted(found.runs["inner"].values) == [0.453, 1.453, 2.453]
    assert found.skipped == ()


def test_a_dry_run_writes_nothing(loose: Path, tmp_path: Path) -> None:
    plan = sort_into_case(loose, tmp_path / "case", dry_run=True)
    assert not plan.done
    assert len(plan.placements) == 6
    assert not (tmp_path / "case").exists()


def test_sorting_again_adds_only_what_is_new(loose: Path, tmp_path: Path) -> None:
    case = loose / "case"
    sort_into_case(loose, case)
    before = files(case)
    assert sort_into_case(loose, case).placements == ()
    write(loose / "timeinfo_inner_9", timeinfo(200))
    write(loose / "timeinfo_outer_9", timeinfo(136))
    plan = sort_into_case(loose, case, how="link")
    assert [p.target.parent.name for p in plan.placements] == ["200_136", "200_136"]
    assert plan.case_ini == ""
    after = files(case)
    assert before.items() <= after.items()
    assert (case / "200_136" / "inner.log").samefile(loose / "timeinfo_inner_9")


def test_nothing_is_overwritten(loose: Path, tmp_path: Path) -> None:
    write(tmp_path / "case" / "case.ini", "[DEFAULT]\nd=2\n[other]\nevents=x\n")
    with pytest.raises(InputError, match="is there already and describes another case"):
        sort_into_case(loose, tmp_path / "case")
    foreign = write(tmp_path / "case2" / "150_74" / "inner.log", "mine")
    sort_into_case(loose, tmp_path / "case2")
    assert foreign.read_text() == "mine"
    assert (tmp_path / "case2" / "150_74_3" / "inner.log").exists()


def test_logs_without_a_partner_are_named(loose: Path, tmp_path: Path) -> None:
    lonely = write(loose / "timeinfo_outer_7", timeinfo(99))
    write(loose / "timeinfo_broken_1", " Timings for a run on 4 processes\n")
    plan = sort_into_case(loose, tmp_path / "case", dry_run=True)
    reasons = {entry.path: entry.reason for entry in plan.skipped}
    assert reasons[lonely].startswith("no one log of inner belongs to this one of outer")


def test_logs_that_lie_together_are_one_run(tmp_path: Path) -> None:
    for number, (a, b) in enumerate([(4, 2), (8, 4)]):
        write(tmp_path / f"run{number}" / "timeinfo_a_first", timeinfo(a))
        write(tmp_path / f"run{number}" / "timeinfo_b_second", timeinfo(b))
    plan = sort_into_case(tmp_path, tmp_path / "case")
    assert {p.target.parent.name for p in plan.placements} == {"4_2", "8_4"}


@pytest.mark.parametrize(
    ("options", "message"),
    [({"how": "move"}, "how must be one of copy, link"), ({"solvers": ["inner", "ice"]}, "there is no log of 'ice'")],
)
def test_wrong_questions(loose: Path, tmp_path: Path, options: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        sort_into_case(loose, tmp_path / "case", **options)


def test_nothing_to_sort(tmp_path: Path) -> None:
    write(tmp_path / "a" / "notes.md", "nothing")
    with pytest.raises(ReadError, match="no measurement found"):
        sort_into_case(tmp_path / "a", tmp_path / "case")
    write(tmp_path / "b" / "timeinfo_inner", timeinfo(4))
    write(tmp_path / "b" / "more" / "timeinfo_outer", timeinfo(4))
    with pytest.raises(InputError, match="no measurement has a log of each solver"):
        sort_into_case(tmp_path / "b", tmp_path / "case")


def test_real_event_logs(samples: Path, tmp_path: Path) -> None:
    plan = sort_into_case(samples / "precice-v1", tmp_path / "v1")
    assert sorted(p.target.name for p in plan.placements) == ["precice-Fluid-events.log", "precice-Solid-events.log"]
    sort_into_case(samples / "precice-v3" / "parallel-explicit", tmp_path / "v3")
    direct, sorted_ = scan(samples / "precice-v3" / "parallel-explicit"), scan(tmp_path / "v3")
    for name in ("Inner", "Outer"):
        np.testing.assert_array_equal(np.sort(direct.runs[name].values), np.sort(sorted_.runs[name].values))
    assert sort_into_case(samples / "precice-v3" / "parallel-explicit", tmp_path / "v3").placements == ()


def test_the_source_may_be_a_list_of_files(loose: Path, tmp_path: Path) -> None:
    chosen: list[Path | str] = [loose / "timeinfo_inner_0", str(loose / "timeinfo_outer_0")]
    plan = sort_into_case(chosen, tmp_path / "case")
    assert {p.target.parent.name for p in plan.placements} == {"150_74"}
    shutil.rmtree(tmp_path / "case")


def test_logs_that_cannot_be_placed(loose: Path, samples: Path, tmp_path: Path) -> None:
    several = write(loose / "timeinfo_inner_several", timeinfo(4) + timeinfo(8))
    nameless = write(loose / "odd" / "timeinfo", timeinfo(4))
    table = write(loose / "sizes.csv", "cores,size,seconds\n4,2,1\n")
    broken = write(loose / "timeinfo_outer_b", " Timings for a run on 4 processes\n simLoop 1 1 9\n")
    both = loose / "profiling.db"
    shutil.copy(samples / "precice-v3" / "parallel-explicit" / "2_2" / "profiling.db", both)
    chosen = sorted(p for p in loose.rglob("*") if p.is_file())
    plan = sort_into_case(chosen, tmp_path / "case", solvers=["inner", "outer"], dry_run=True)
    reasons = {entry.path: entry.reason for entry in plan.skipped}
    assert reasons[several] == "it holds runs on 4, 8 cores; a folder is one measurement"
    assert reasons[nameless].startswith("neither the log nor its name tells the solver")
    assert reasons[table] == "a log of one run tells its cores, but this has cores, size"
    assert "which 4 processes can't give together" in reasons[broken]
    assert reasons[both].startswith("it holds several solvers (Inner, Outer)")
    assert len(plan.placements) == 6


def test_logs_of_two_kinds_are_sorted_apart(tmp_path: Path) -> None:
    for number, suffix in enumerate(("", ".log")):
        write(tmp_path / f"run{number}" / f"timeinfo_a{suffix}", timeinfo(4 + number))
        write(tmp_path / f"run{number}" / "timeinfo_b", timeinfo(2))
    with pytest.raises(InputError, match=r"logs of a must be of one kind, but there are none, \.log: sort them apart"):
        sort_into_case(tmp_path, tmp_path / "case")


def test_a_link_falls_back_to_a_copy(loose: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(source: Path, target: Path) -> None:
        raise OSError(18, "Invalid cross-device link")

    monkeypatch.setattr("os.link", refuse)
    sort_into_case(loose, tmp_path / "case", how="link")
    copied = tmp_path / "case" / "170_110" / "inner.log"
    assert copied.read_text() == (loose / "timeinfo_inner_1").read_text()
    assert not copied.samefile(loose / "timeinfo_inner_1")


def test_the_coupling_beside_the_logs_comes_along(samples: Path, tmp_path: Path) -> None:
    shutil.copytree(samples / "precice-v3" / "serial-implicit", tmp_path / "runs")
    plan = sort_into_case(tmp_path / "runs", tmp_path / "case")
    assert plan.coupling is not None
    assert (tmp_path / "case" / "precice-config.xml").is_file()
    assert scan(tmp_path / "case").layout == "3 * sum(Inner, Outer)"
    again = sort_into_case(tmp_path / "runs", tmp_path / "case")
    assert again.coupling is None
    assert any("nothing is new" in note for note in again.notes)


def test_the_coupling_is_found_beside_the_given_folders(samples: Path, tmp_path: Path) -> None:
    shutil.copytree(samples / "precice-v3" / "serial-implicit" / "2_2", tmp_path / "run")
    plan = sort_into_case([tmp_path / "run" / "Inner", tmp_path / "run" / "Outer"], tmp_path / "case", dry_run=True)
    assert plan.coupling is not None
    assert plan.coupling.source == tmp_path / "run" / "precice-config.xml"


def test_couplings_that_differ_are_left_and_told(samples: Path, tmp_path: Path) -> None:
    for name in ("serial-implicit", "serial-explicit"):
        shutil.copytree(samples / "precice-v3" / name / "2_2", tmp_path / "runs" / name)
    plan = sort_into_case(tmp_path / "runs", tmp_path / "case")
    assert plan.coupling is None
    assert any("different couplings" in note for note in plan.notes)
    one = sort_into_case(tmp_path / "runs" / "serial-implicit", tmp_path / "one")
    assert one.coupling is not None
    other = sort_into_case(tmp_path / "runs" / "serial-explicit", tmp_path / "one", dry_run=True)
    assert any("left as it is" in note for note in other.notes)


def test_a_lonely_log_is_told_which_others_lack(tmp_path: Path) -> None:
    for name, cores in (("a", 2), ("b", 2), ("c", 4)):
        write(tmp_path / name / f"timeinfo_{name}_{10 * cores + ord(name)}", timeinfo(cores))
    with pytest.raises(InputError, match="no one log of b, c belongs to this one of a"):
        sort_into_case([tmp_path / name for name in "abc"], tmp_path / "case")


def test_logs_of_iterations_come_along(loose: Path, tmp_path: Path) -> None:
    """Without them, the time windows of an implicit scheme were those of the configuration."""
    for number in range(3):
        for solver in ("inner", "outer"):
            folder = loose / f"run{number}" / solver
            folder.mkdir(parents=True)
            (loose / f"timeinfo_{solver}_{number}").rename(folder / f"timeinfo_{solver}")
            write(folder / f"precice-{solver}-iterations.log", f"TimeWindow Iterations\n1 {number + 2}\n")
    sort_into_case(loose, tmp_path / "case")
    case = files(tmp_path / "case")
    logs = {name for name in case if name.endswith("-iterations.log")}
    assert len(logs) == 6
    assert case["170_110/precice-outer-iterations.log"].endswith("1 3\n")
    again = sort_into_case(loose, tmp_path / "case")
    assert again.placements == ()


def rank_file(folder: Path, solver: str, start_s: int) -> None:
    """A file of one rank of preCICE 3, of three steps."""
    folder.mkdir(parents=True)
    meta = {"name": solver, "rank": 0, "size": 1, "unix_us": str(start_s * 10**6), "tinit": "", "compression": False}
    at, lines = 0, [json.dumps(meta), "N1:solver.advance", "N2:advance"]
    for _ in range(3):
        lines += [f"B1:{at}", f"E1:{at + 700 + ord(solver[0]) + start_s % 89}", f"B2:{at + 1000}", f"E2:{at + 1050}"]
        at += 1050
    (folder / f"{solver}-0-1.txt").write_text("\n".join([*lines, f"B1:{at}", f"E1:{at + 4}", ""]))


def test_folders_of_other_names_in_one_are_a_run(tmp_path: Path) -> None:
    """As preCICE's tutorials have them; the message told to put them into one folder, in which they were."""
    for run in range(3):
        for solver, folder in (("Fluid", "fluid-openfoam"), ("Solid", "solid-calculix")):
            rank_file(tmp_path / "loose" / f"run{run}" / folder / "precice-profiling", solver, 7_000_000 + run)
    plan = sort_into_case(tmp_path / "loose", tmp_path / "case")
    assert len(plan.placements) == 6
    assert "evenly reads these folders as they are, too" in plan.notes[0]
    assert sorted(scan(tmp_path / "case").runs) == ["Fluid", "Solid"]


@pytest.mark.parametrize(("apart_s", "pairs"), [(3600, 3), (20, 0)])
def test_participants_that_began_together_are_a_run(tmp_path: Path, apart_s: int, pairs: int) -> None:
    for run in range(3):
        for solver, late in (("Fluid", 0), ("Solid", 5)):
            folder = tmp_path / "loose" / f"{solver}-{16 + late}-of{run}" / "precice-profiling"
            rank_file(folder, solver, 7_000_000 + apart_s * run + late)
    if not pairs:  # whose partner is whose is open
        with pytest.raises(InputError, match="put the logs of a run in one folder"):
            sort_into_case(tmp_path / "loose", tmp_path / "case")
        return
    plan = sort_into_case(tmp_path / "loose", tmp_path / "case")
    told = [placement.source.parent.name[-1] for placement in plan.placements]
    assert told == ["0", "0", "1", "1", "2", "2"]
    assert plan.notes[0].startswith("the logs of 3 measurements are told by their start times")


def test_timing_files_of_all_solvers_need_no_sorting(tmp_path: Path) -> None:
    for run in (1, 2):
        rows = [f"{solver},{8 * run},{solver_s / run}" for solver, solver_s in (("atm", 9), ("ocn", 4))]
        (tmp_path / f"timing{run}.csv").write_text("\n".join(["component,cores,seconds", *rows, ""]))
    with pytest.raises(ReadError, match=r"each of 2 files holds all solvers of a run, .* so nothing has to be sorted"):
        sort_into_case(tmp_path, tmp_path / "case")
