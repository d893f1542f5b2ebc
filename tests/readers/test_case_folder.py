"""Case folders, as the appendix of the source describes them."""

from __future__ import annotations

import shutil
import warnings
from pathlib import Path

import numpy as np
import pytest
from hypothesis import event, given, settings
from hypothesis import strategies as st

from evenly.errors import InputError, ReadError, SkippedFilesWarning
from evenly.readers import read, scan
from evenly.readers.case_folder import CaseFolderReader

#: Table 5.1 and 5.2 of the source: cores and median milliseconds.
INNER = {150: 453, 170: 379, 200: 305}
OUTER = {74: 418, 110: 281, 136: 220}

COUPLED = "[DEFAULT]\nd=1\n\n[Inner]\ntimeinfo=inner.log\n\n[Outer]\ntimeinfo=outer.log\n"
MONOLITHIC = "[DEFAULT]\nd=3\nmesh_header=header.lua\nadditional=params.ini\n\n[Inner]\ntimeinfo=timeinfo_inner\n"


def timeinfo(cores: int, seconds: float) -> str:
    total = f"{cores * seconds:.6E}"
    return f" Timings for a run on {cores:12d} processes\n  simLoop  {seconds:.6E}  {seconds:.6E}  {total}\n"


def write(path: Path, content: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(content)
    return path


@pytest.fixture
def coupled(tmp_path: Path) -> Path:
    """Figure A.1a: two solvers, one parameter."""
    case = tmp_path / "case"
    write(case / "case.ini", COUPLED)
    for (inner, inner_ms), (outer, outer_ms) in zip(INNER.items(), OUTER.items(), strict=True):
        write(case / f"{inner}_{outer}" / "inner.log", timeinfo(inner, inner_ms / 1e3))
        write(case / f"{inner}_{outer}" / "outer.log", timeinfo(outer, outer_ms / 1e3))
    return case


@pytest.fixture
def monolithic(tmp_path: Path) -> Path:
    """Figure A.1b: one solver, further parameters."""
    case = tmp_path / "case"
    write(case / "case.ini", MONOLITHIC)
    for system, clock in (("supermuc", "2600"), ("hazelhen", "2500.5")):
        folder = case / f"4_4_{system}"
        write(folder / "timeinfo_inner", timeinfo(4, 2.0))
        write(folder / "header.lua", f"nElems = {8**4}\nproperty = {{\n  nElems = 1\n}}\n")
        write(folder / "params.ini", f"[DEFAULT]\nclock_rate={clock}\n")
    return case


def test_two_solvers_one_parameter(coupled: Path) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = read(coupled)
    assert isinstance(found, dict)
    assert list(found) == ["Inner", "Outer"]
    assert dict(zip(found["Inner"].configurations["cores"], found["Inner"].values, strict=True)) == {
        cores: ms / 1e3 for cores, ms in INNER.items()
    }
    assert found["Outer"].repetitions({"cores": 110}).tolist() == [0.281]
    assert found["Inner"].to_frame()["run"].tolist() == ["150_74", "170_110", "200_136"]


def test_the_ini_file_itself_is_the_case(coupled: Path) -> None:
    assert read(coupled / "case.ini") == read(coupled)


def test_one_solver_with_size_and_hardware(monolithic: Path) -> None:
    reader = CaseFolderReader()
    runs = reader.read(monolithic)["Inner"]
    assert runs.parameters == ["cores", "level", "clock_rate"]
    assert runs.configurations.sort_values("clock_rate").to_numpy().tolist() == [[4, 4.0, 2500.5], [4, 4.0, 2600.0]]
    assert reader.notes == []


def test_words_and_values_of_one_solver(monolithic: Path) -> None:
    for folder in sorted(monolithic.glob("4_*")):
        write(folder / "params.ini", f"[DEFAULT]\nsystem={folder.name[4:]}\n[inner]\nnodes=2\n")
    reader = CaseFolderReader()
    runs = reader.read(monolithic)["Inner"]
    assert sorted(runs.parameters) == ["cores", "level", "nodes", "system"]
    assert runs.space.parameters["system"].kind == "categorical"
    assert reader.notes == ["case.ini says d=3, but 4 parameters are read: cores, level, nodes, system"]


def test_too_few_parameters_are_an_error(monolithic: Path) -> None:
    write(monolithic / "case.ini", MONOLITHIC.replace("additional=params.ini\n", ""))
    with pytest.raises(ReadError, match=r"says d=3 parameters, but the files give only cores, level"):
        read(monolithic)


def test_a_log_in_the_wrong_folder_is_left_out(coupled: Path) -> None:
    write(coupled / "170_110" / "outer.log", timeinfo(111, 0.3))
    with pytest.warns(SkippedFilesWarning, match="says 110 cores for Outer, but the log is of a run on 111"):
        found = read(coupled)
    assert isinstance(found, dict)
    assert {name: len(runs) for name, runs in found.items()} == {"Inner": 3, "Outer": 2}


def test_repeated_measurements_and_other_folders(coupled: Path) -> None:
    shutil.copytree(coupled / "150_74", coupled / "150_74_again")
    write(coupled / "plots" / "figure.svg", "<svg/>")
    found = scan(coupled)
    assert len(found.runs["Inner"]) == 4
    assert found.skipped == ()
    shutil.copytree(coupled / "150_74", coupled / "first try")
    (skipped,) = scan(coupled).lost[:1]
    assert "the folder must be named after the solvers' cores, as p1_p2, but is 'first try'" in skipped.reason


def test_what_is_missing_in_one_measurement(coupled: Path) -> None:
    (coupled / "150_74" / "inner.log").unlink()
    write(coupled / "170_110" / "inner.log", "")
    found = scan(coupled)
    assert {name: len(runs) for name, runs in found.runs.items()} == {"Inner": 1, "Outer": 3}
    reasons = sorted(entry.reason for entry in found.lost)
    assert reasons == ["the file is empty", "the file that case.ini names for Inner is missing"]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "the file is empty"),
        ("[DEFAULT]\nd=1\n", "there must be a section for each solver"),
        ("d=1\n", "line 1: not a valid ini file"),
        ("[Inner]\nevents=a\n[Inner]\nevents=a\n", "line 3: not a valid ini file"),
        ("[Inner]\nevents=a\n[inner]\nevents=a\n", "sections must differ by more than capitals"),
        ("[Inner]\n", r"\[Inner\] must name one log, with either events= or timeinfo=, but has 0"),
        ("[Inner]\nevents=a\ntimeinfo=b\n", "must name one log.* but has 2"),
        ("[Inner]\nevent=a\n", "has the entry 'event', but only additional, d, events"),
        ("[Inner]\nevents=a\nd=two\n", "d= must be the number of parameters, from 1 to 99, but got 'two'"),
        ("[Inner]\nevents=../a\n", "files are named as seen from the measurement's folder"),
    ],
)
def test_a_broken_case_says_what_is_wrong(coupled: Path, content: str, message: str) -> None:
    write(coupled / "case.ini", content)
    with pytest.raises(ReadError, match=message) as caught:
        read(coupled)
    assert caught.value.path == coupled / "case.ini"


def test_defaults_and_interpolation(coupled: Path) -> None:
    write(
        coupled / "case.ini", "[DEFAULT]\nevents=100%.log\n[Inner]\ntimeinfo=inner.log\n[Outer]\ntimeinfo=outer.log\n"
    )
    assert set(scan(coupled).runs) == {"Inner", "Outer"}


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("[DEFAULT]\n", "there are no entries under"),
        ("[DEFAULT]\nclock_rate=\n", "clock_rate has no value"),
        ("[DEFAULT]\nclock_rate=nan\n", "clock_rate must be a finite number or a word"),
        ("[DEFAULT]\ncores=4\n", "'cores' is given twice"),
    ],
)
def test_broken_parameters(monolithic: Path, content: str, message: str) -> None:
    write(monolithic / "4_4_supermuc" / "params.ini", content)
    with pytest.warns(SkippedFilesWarning, match=message):
        read(monolithic)


def test_options_reach_the_logs(coupled: Path) -> None:
    with pytest.raises(ReadError, match="there is no timer 'DoComp'"):
        read(coupled, timer="DoComp")
    assert len(scan(coupled, format="case-folder", timer="simLoop").runs) == 2
    with pytest.raises(InputError, match="no reader takes the option 'tmer'"):
        read(coupled, tmer="DoComp")


def test_a_log_of_several_core_counts_is_no_measurement(coupled: Path) -> None:
    write(coupled / "150_74" / "inner.log", timeinfo(150, 0.4) + timeinfo(160, 0.4))
    assert "but the log is of a run on 150 and 160" in str(scan(coupled).lost[0])


# ---- with real logs ---------------------------------------------------------------------------------------------


def test_events_of_precice_1(samples: Path, tmp_path: Path) -> None:
    write(tmp_path / "case.ini", "[DEFAULT]\nd=1\n[FLUID]\nevents=inner.log\n[Solid]\nevents=outer.log\n")
    (tmp_path / "1_1").mkdir()
    for name, target in (("Fluid", "inner"), ("Solid", "outer")):
        shutil.copy(samples / "precice-v1" / f"precice-{name}-events.log", tmp_path / "1_1" / f"{target}.log")
    found = scan(tmp_path)
    assert list(found.runs) == ["FLUID", "Solid"]
    assert found.skipped == ()
    direct = scan(samples / "precice-v1" / "precice-Fluid-events.log").runs["Fluid"]
    np.testing.assert_array_equal(found.runs["FLUID"].values, direct.values)


def test_events_in_a_database_of_both_solvers(samples: Path, tmp_path: Path) -> None:
    write(tmp_path / "case.ini", "[DEFAULT]\nd=1\nevents=profiling.db\n[inner]\n[outer]\n")
    for folder in ("2_2", "4_2", "8_4"):
        (tmp_path / folder).mkdir()
        shutil.copy(samples / "precice-v3" / "parallel-explicit" / folder / "profiling.db", tmp_path / folder)
    shutil.copy(samples / "precice-v3" / "parallel-explicit" / "2_2" / "precice-config.xml", tmp_path)
    found = scan(tmp_path)
    assert {name: sorted(set(r.configurations["cores"])) for name, r in found.runs.items()} == {
        "inner": [2, 4, 8],
        "outer": [2, 4],
    }
    assert found.coupling.layout == "max(Inner, Outer)"
    assert found.lost == ()


def test_events_in_a_folder(samples: Path, tmp_path: Path) -> None:
    write(tmp_path / "case.ini", "[DEFAULT]\nd=1\n[Inner]\nevents=Inner\n[Outer]\nevents=Outer/precice-profiling\n")
    shutil.copytree(samples / "precice-v3" / "parallel-explicit" / "4_2", tmp_path / "4_2")
    shutil.copytree(samples / "precice-v3" / "parallel-explicit" / "4_4", tmp_path / "4_2_wrong")
    found = scan(tmp_path)
    assert {name: sorted(set(r.configurations["cores"])) for name, r in found.runs.items()} == {
        "Inner": [4],
        "Outer": [2],
    }
    assert "says 2 cores for Outer, but the log is of a run on 4" in found.lost[0].reason


ORIGINAL = MONOLITHIC.encode()


@settings(max_examples=100, deadline=None)
@given(
    name=st.sampled_from(["case.ini", "4/params.ini", "4/header.lua", "4/timeinfo_inner"]),
    cut=st.integers(0, 200),
    position=st.integers(0, 100),
    junk=st.one_of(st.binary(max_size=6), st.text("0123456789=[]{}.\n", max_size=6).map(str.encode)),
)
def test_damage_gives_runs_or_a_read_error(
    tmp_path_factory: pytest.TempPathFactory, name: str, cut: int, position: int, junk: bytes
) -> None:
    case = tmp_path_factory.getbasetemp() / "damaged_case"
    write(case / "case.ini", MONOLITHIC)
    write(case / "4" / "timeinfo_inner", timeinfo(4, 2.0))
    write(case / "4" / "header.lua", "nElems = 512\n")
    write(case / "4" / "params.ini", "[DEFAULT]\nclock_rate=2600\n")
    content = (case / name).read_bytes()
    (case / name).write_bytes((content[:position] + junk + content[position + len(junk) :])[:cut])
    reader = CaseFolderReader()
    assert reader.recognises(case)
    try:
        found = reader.read(case)
    except ReadError:
        event("refused")
    else:
        assert all(np.all(runs.values > 0) for runs in found.values())
