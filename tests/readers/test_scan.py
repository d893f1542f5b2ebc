"""evenly.read: walking, recognising, putting together, and saying what was left out."""

from __future__ import annotations

import os
import shutil
import warnings
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pandas as pd
import pytest

from evenly.errors import InputError, ReadError, SkippedFilesWarning
from evenly.readers import Measurements, Reader, format_names, option_names, read, readers, registry, scan
from evenly.readers.merging import Part, merge
from evenly.runs.runs import Runs

GOOD = "cores,seconds\n2,1.5\n4,0.75\n"


def write(path: Path, content: str = GOOD) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(content)
    return path


def test_one_file_gives_runs(tmp_path: Path) -> None:
    found = read(write(tmp_path / "runs.csv"))
    assert isinstance(found, Runs)
    assert len(found) == 2


def test_files_that_name_no_solver_are_told_by_their_own_name(tmp_path: Path) -> None:
    write(tmp_path / "ocean.csv")
    write(tmp_path / "ice.csv")
    found = scan(tmp_path)
    assert list(found.runs) == ["ice", "ocean"]
    assert found.notes[-1] == "files that name no solver are taken as solvers of their own: ice, ocean"


def test_numbered_files_are_parts_of_one_table(tmp_path: Path) -> None:
    write(tmp_path / "run-1.csv")
    write(tmp_path / "run-2.csv", "cores,seconds\n8,0.5\n")
    found = read(tmp_path)
    assert isinstance(found, Runs)
    assert found.configurations["cores"].tolist() == [2, 4, 8]


@pytest.mark.parametrize("names", [("7.4.1-lumi.csv", "7.4.1-puhti.csv"), ("qe.lumi.csv", "qe.puhti.csv")])
def test_names_of_tables_end_at_their_suffix(tmp_path: Path, names: tuple[str, str]) -> None:
    for slower, name in zip((1.0, 1.15), names, strict=True):
        rows = "".join(f"{p},{slower * 800 / p}\n" for p in (8, 16, 32, 64))
        (tmp_path / name).write_text(f"cores,time_s\n{rows}")
    assert list(scan(tmp_path).runs) == [name.removesuffix(".csv") for name in names]


def test_a_broken_file_does_not_stop_the_others(tmp_path: Path) -> None:
    write(tmp_path / "good.csv")
    write(tmp_path / "bad.csv", "cores,seconds\n2,x\n")
    write(tmp_path / "empty.csv", "")
    write(tmp_path / "notes.md", "# nothing to measure")
    with pytest.warns(
        SkippedFilesWarning, match=r"2 left out:\n.*bad\.csv, line 2: the time.*\n.*empty\.csv: the file"
    ) as log:
        found = read(tmp_path)
    assert len(log) == 1
    assert log[0].filename == __file__
    assert isinstance(found, Runs)
    assert scan(tmp_path).unknown == (tmp_path / "notes.md",)


def test_a_single_broken_file_is_its_own_error(tmp_path: Path) -> None:
    path = write(tmp_path / "bad.csv", "cores,seconds\n2,x\n")
    with pytest.raises(ReadError, match="line 2: the time") as caught:
        read(path)
    assert (caught.value.path, caught.value.line) == (path, 2)


def test_nothing_readable_lists_the_reasons(tmp_path: Path) -> None:
    write(tmp_path / "a.csv", "")
    write(tmp_path / "b.csv", "cores\n1\n")
    with pytest.raises(
        ReadError, match=r"no measurement could be read:\n.*a\.csv: the file is empty\n.*b\.csv: no column"
    ):
        read(tmp_path)


def test_nothing_known_lists_the_formats(tmp_path: Path) -> None:
    with pytest.raises(ReadError, match="the folder is empty"):
        read(tmp_path)
    path = write(tmp_path / "story.md", "Once upon a time")
    with pytest.raises(ReadError, match="in none of the formats that evenly reads"):
        read(path)
    with pytest.raises(ReadError, match=r"no measurement found \(1 file looked at"):
        read(tmp_path)
    with pytest.raises(ReadError, match="there is no such file or folder"):
        read(tmp_path / "none")
    with pytest.raises(InputError, match="at least one path"):
        read([])


def test_a_format_can_be_forced(tmp_path: Path) -> None:
    path = write(tmp_path / "story.md")
    found = read(path, format="table")
    assert isinstance(found, Runs)
    with pytest.raises(InputError, match=r"format must be one of .*, but got 'xml'"):
        read(path, format="xml")
    write(tmp_path / "runs.csv")
    with pytest.raises(ReadError, match="no measurement found"):
        read(tmp_path, format="cesm-timing")


def test_options_go_to_the_readers_that_take_them(tmp_path: Path) -> None:
    path = write(tmp_path / "runs.csv", "cores,wall\n2,1500\n")
    found = read(path, time="wall", unit="ms")
    assert isinstance(found, Runs)
    assert found.values.tolist() == [1.5]
    with pytest.raises(
        InputError,
        match=r"no reader takes the option 'tme' \(did you mean 'time'\?\): there are .*table: parameters, time, unit",
    ):
        read(path, tme="wall")
    with pytest.raises(InputError, match="no reader takes the option 'per'"):
        read(path, format="table", per="run")


def test_several_paths(tmp_path: Path) -> None:
    first, second = write(tmp_path / "a" / "ocean.csv"), write(tmp_path / "b" / "ice.csv")
    assert list(scan([first, str(second), first]).runs) == ["ocean", "ice"]


def test_wildcards_and_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(tmp_path / "a" / "ocean.csv")
    write(tmp_path / "b" / "ice.csv")
    write(tmp_path / "b" / "odd[1].csv")
    assert list(scan(str(tmp_path / "**" / "*c*.csv")).runs) == ["ocean", "ice"]
    assert len(read(tmp_path / "b" / "odd[1].csv")) == 2
    monkeypatch.setenv("HOME", str(tmp_path))
    assert len(read("~/a")) == 2
    with pytest.raises(ReadError, match="there is no such file"):
        read(tmp_path / "*.tsv")


def test_links_and_loops_are_read_once(tmp_path: Path) -> None:
    write(tmp_path / "real" / "runs.csv")
    (tmp_path / "real" / "again").symlink_to(tmp_path, target_is_directory=True)
    (tmp_path / "alias").symlink_to(tmp_path / "real", target_is_directory=True)
    (tmp_path / "copy.csv").symlink_to(tmp_path / "real" / "runs.csv")
    (tmp_path / "nowhere.csv").symlink_to(tmp_path / "none")
    found = scan(tmp_path)
    assert [path for path, _ in found.sources] == [tmp_path / "real" / "runs.csv"]
    assert found.skipped == ()


def test_a_folder_that_cannot_be_opened_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(tmp_path / "runs.csv")
    write(tmp_path / "secret" / "more.csv")
    plain = os.scandir

    def scandir(path: Any) -> Any:
        if Path(path).name == "secret":
            raise PermissionError(13, "Permission denied")
        return plain(path)

    monkeypatch.setattr(os, "scandir", scandir)
    with pytest.warns(SkippedFilesWarning, match="secret: the folder can't be opened: Permission denied"):
        assert len(read(tmp_path)) == 2


def test_pipes_and_hidden_files_are_left_alone(tmp_path: Path) -> None:
    write(tmp_path / "runs.csv")
    write(tmp_path / ".hidden" / "old.csv")
    os.mkfifo(tmp_path / "pipe.csv")
    found = scan(tmp_path)
    assert len(found.sources) == 1
    assert found.unknown == ()


def test_a_pipe_that_is_named_is_refused_and_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.csv")
    with pytest.raises(ReadError, match="is a pipe or a device"):
        scan(tmp_path / "pipe.csv")


def test_a_copy_is_counted_once(tmp_path: Path) -> None:
    write(tmp_path / "runs.csv")
    write(tmp_path / "backup" / "runs.csv")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert len(read(tmp_path)) == 2
    (skipped,) = scan(tmp_path).skipped
    assert skipped.benign
    assert "same runs as" in skipped.reason


def test_files_with_other_parameters_are_named(tmp_path: Path) -> None:
    for number in (1, 2):
        write(tmp_path / f"r{number}.csv", f"domain,cores,seconds\na,{number},1.5\n")
    odd = write(tmp_path / "s.csv", "domain,nodes,seconds\na,2,1.5\n")
    with pytest.warns(SkippedFilesWarning, match=r"s\.csv: its parameters are nodes, but those of .*r1\.csv are cores"):
        found = read(tmp_path)
    assert isinstance(found, Runs)
    assert len(found) == 2
    assert scan(tmp_path).lost[0].path == odd


def test_files_of_one_name_that_hold_different_things(tmp_path: Path) -> None:
    write(tmp_path / "gemm" / "times.csv", "m,n,seconds\n1,2,3\n")
    write(tmp_path / "bcast" / "times.csv", "nodes,seconds\n2,3\n")
    assert sorted(scan(tmp_path).runs) == ["bcast/times", "gemm/times"]


# ---- the coupling beside the measurements -----------------------------------------------------------------------


def test_the_coupling_is_found_beside_the_runs(samples: Path) -> None:
    found = scan(samples / "precice-v3" / "parallel-explicit")
    assert found.coupling.layout == "max(Inner, Outer)"
    assert {name: len(runs.configurations.drop_duplicates()) for name, runs in found.runs.items()} == {
        "Inner": 4,
        "Outer": 3,
    }
    assert found.unknown == ()
    assert all(entry.benign for entry in found.skipped)


def test_the_merged_database_repeats_the_rank_files(samples: Path) -> None:
    folder = samples / "precice-v3" / "parallel-explicit" / "2_2"
    both = scan(folder).runs
    ranks = scan([folder / "Inner", folder / "Outer"]).runs
    assert {name: len(runs) for name, runs in both.items()} == {name: len(runs) for name, runs in ranks.items()}
    np.testing.assert_array_equal(both["Inner"].values, ranks["Inner"].values)


def test_summaries_do_not_count_beside_their_steps(samples: Path) -> None:
    found = scan(samples / "precice-v2" / "heated-plate")
    assert sorted(entry.path.name for entry in found.skipped) == [
        "precice-Calculix-events-summary.log",
        "precice-OpenFOAM-events-summary.log",
    ]
    assert all(entry.benign for entry in found.skipped)


def test_couplings_that_differ_are_not_taken(samples: Path) -> None:
    found = scan([samples / "precice-v3" / "parallel-explicit", samples / "precice-v3" / "serial-explicit"])
    assert found.coupling is None
    assert "name different couplings" in found.notes[-1]


def test_a_broken_configuration_is_named(tmp_path: Path) -> None:
    write(tmp_path / "runs.csv")
    config = write(tmp_path / "precice-config.xml", "<precice-configuration><participant")
    with pytest.warns(SkippedFilesWarning, match=r"precice-config\.xml"):
        assert len(read(tmp_path)) == 2
    assert [entry.path for entry in scan(tmp_path).lost] == [config]
    other = write(tmp_path / "other.xml", "<data/>")
    assert other in scan(tmp_path).unknown


def test_all_samples_together(samples: Path) -> None:
    found = scan(samples)
    assert {"atm", "ocn", "Inner", "Outer", "Fluid", "seeder", "NEMO_HR_scalability_ece3"} <= set(found.runs)
    assert {entry.path.name for entry in found.lost} == {
        "cice_craig2012.csv", "ATMIFS_ts.csv", "oceanx_ts.csv", "sdr_timing.res", "table_5_1_5_2_5_3.csv",
    }  # fmt: skip


# ---- plug-ins ---------------------------------------------------------------------------------------------------


class FailingReader(Reader):
    """Breaks every promise."""

    name: ClassVar[str] = "failing"
    summary: ClassVar[str] = "fails"

    def __init__(self, *, flavour: str = "") -> None:
        self.flavour = flavour

    def recognises(self, path: Path) -> bool:
        if path.suffix == ".odd":
            raise RuntimeError("never raise")
        return path.suffix == ".fail"

    def read(self, path: Path) -> dict[str, Runs]:
        raise ZeroDivisionError("a mistake of the reader")


class _Entry:
    def __init__(self, name: str, loaded: Any) -> None:
        self.name = name
        self.value = name
        self._loaded = loaded

    def load(self) -> Any:
        if isinstance(self._loaded, Exception):
            raise self._loaded
        return self._loaded


@pytest.fixture
def plugins(monkeypatch: pytest.MonkeyPatch) -> Any:
    entries = [
        *entry_points(group=registry.GROUP),
        _Entry("failing", FailingReader),
        _Entry("gone", ModuleNotFoundError("no module")),
        _Entry("wrong", dict),
    ]
    monkeypatch.setattr(registry, "entry_points", lambda group: entries)
    registry._load.cache_clear()
    yield
    registry._load.cache_clear()


@pytest.mark.usefixtures("plugins")
def test_a_failing_plugin_harms_only_its_own_files(tmp_path: Path) -> None:
    write(tmp_path / "runs.csv")
    write(tmp_path / "x.fail", "x")
    write(tmp_path / "x.odd", "x")
    with pytest.warns(
        SkippedFilesWarning, match="the reader 'failing' failed: ZeroDivisionError: a mistake of the reader"
    ):
        assert len(read(tmp_path, flavour="any")) == 2
    assert registry.load_failures() == {"gone": "ModuleNotFoundError: no module", "wrong": "wrong is not a Reader"}
    with pytest.raises(InputError, match=r"'gone' failed to load: ModuleNotFoundError"):
        read(tmp_path, format="gone")


def test_every_shipped_reader_loads() -> None:
    assert registry.load_failures() == {}
    assert format_names()[-1] == "table"
    assert [reader.name for reader in readers()] == format_names()
    assert all(reader.summary for reader in readers())
    assert "time" in option_names(registry.reader_class("table"))


# ---- putting together -------------------------------------------------------------------------------------------


def part(path: str, **columns: Any) -> Part:
    frame = pd.DataFrame(columns)
    parameters = [str(name) for name in frame if name not in ("seconds", "run", "repetition", "status")]
    return Part("a", Runs.from_frame(frame, parameters), Path(path), "test")


def test_rows_that_agree_are_dropped_and_others_kept() -> None:
    first = part("x", cores=[2, 4], seconds=[1.0, 0.5], run=["r", "r"])
    second = part("y", cores=[2, 4, 8], seconds=[1.001, 0.9, 0.2], run=["r", "r", "r"])
    runs, _, skipped = merge([first, second])
    assert runs["a"].values.tolist() == [1.0, 0.5, 0.9, 0.2]
    assert [str(entry) for entry in skipped] == ["y: 1 of 3 rows: same runs as x"]


@pytest.mark.parametrize("first", [0, 1])
def test_a_run_that_one_file_holds_whole_and_another_in_part_counts_once(first: int) -> None:
    some = part("x", cores=[2, 2, 2], seconds=[1.0, 0.5, 0.7], run=["r", "r", "other"], repetition=[1, 2, 1])
    whole = part("y", cores=[2, 2, 2], seconds=[1.001, 0.5, 0.9], run=["r"] * 3, repetition=[1, 2, 3])
    runs, _, skipped = merge([some, whole] if first == 0 else [whole, some])
    assert sorted(runs["a"].values.tolist()) == [0.5, 0.7, 0.9, 1.001]
    assert [str(entry) for entry in skipped] == ["x: holds the begin of runs that are whole in y, which counts"]


def test_the_merged_database_stands_for_a_rank_file_that_was_cut_off(samples: Path, tmp_path: Path) -> None:
    case = shutil.copytree(samples / "precice-v3" / "serial-implicit" / "2_2", tmp_path / "2_2")
    intact = scan(case)
    ranks = case / "Outer" / "precice-profiling" / "Outer-1-2.txt"
    ranks.chmod(0o644)
    ranks.write_bytes(ranks.read_bytes()[: ranks.stat().st_size // 2])
    found = scan(case)
    assert any(said.endswith("whole in " + str(case / "profiling.db") + ", which counts") for said in found.notes)
    assert {*found.runs["Outer"].to_frame()["source"]} == {str(case / "profiling.db")}
    assert (len(found.runs["Outer"]), found.layout) == (len(intact.runs["Outer"]), intact.layout)
    assert not [said for said in found.notes if "2 runs" in said or "ended early" in said]


def test_failed_runs_are_repeated_too() -> None:
    lost = {"cores": [2], "seconds": [np.nan], "run": ["r"], "status": ["failed"]}
    runs, _, skipped = merge([part("x", **lost), part("y", **lost)])
    assert len(runs["a"]) == 1
    assert len(skipped) == 1


def test_a_summary_outside_its_steps_is_another_run() -> None:
    steps = part("x", cores=[2] * 3, seconds=[1.0, 1.1, 0.9], run=["r"] * 3, repetition=[1, 2, 3])
    inside = part("y", cores=[2], seconds=[1.05], run=["r"])
    outside = part("z", cores=[2], seconds=[3.0], run=["r"])
    runs, _, skipped = merge([inside, steps, outside])
    assert sorted(runs["a"].values.tolist()) == [0.9, 1.0, 1.1, 3.0]
    assert [str(entry) for entry in skipped] == ["y: sums up runs whose steps are in x"]


def test_measurements_tell_what_is_lost() -> None:
    found = Measurements(
        {}, skipped=(registry.Skipped(Path("a"), "x", benign=True), registry.Skipped(Path("b"), "y", 3))
    )
    assert [str(entry) for entry in found.lost] == ["b, line 3: y"]


def test_the_layout_counts_measured_iterations(samples: Path) -> None:
    # 60 steps in 20 time windows; the explicit schemes have no factor.
    assert scan(samples / "precice-v3" / "serial-implicit").layout == "3 * sum(Inner, Outer)"
    assert scan(samples / "precice-v3" / "serial-explicit").layout == "sum(Inner, Outer)"
    assert scan(samples / "cesm").layout is None


def test_files_of_one_name_are_repetitions_and_not_the_same_runs(tmp_path: Path) -> None:
    for folder, seconds in (("run1", (10.0, 5.0)), ("run2", (10.02, 5.01))):
        (tmp_path / folder).mkdir()
        rows = "".join(f"{cores},{value}\n" for cores, value in zip((1, 2), seconds, strict=True))
        (tmp_path / folder / "timing.csv").write_text(f"cores,seconds\n{rows}")
    found = scan(tmp_path)
    (runs,) = found.runs.values()
    assert len(runs) == 4
    assert runs.to_frame()["run"].nunique() == 4
    assert len(runs.steps()) == 1
    assert not found.skipped
    twice = scan([tmp_path / "run1", tmp_path / "run1" / "timing.csv"])
    assert [len(runs) for runs in twice.runs.values()] == [2]
