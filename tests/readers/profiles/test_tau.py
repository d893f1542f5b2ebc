"""TAU profiles: microseconds, the slowest rank, and sets of files that aren't whole."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings

from evenly.errors import ReadError
from evenly.readers import scan
from evenly.readers.profiles.tau import TauReader
from tests.readers.damage import check_reads_or_refuses, damaged


def profile(solve_us: int, command: str = "./lbm in.params", metric: str = "TIME") -> str:
    return (
        f"3 templated_functions_MULTI_{metric}\n"
        "# Name Calls Subrs Excl Incl ProfileCalls # <metadata><attribute><name>Command Line</name>"
        f"<value>{command}</value></attribute></metadata>\n"
        f'".TAU application" 1 1 50 {solve_us + 50} 0 GROUP="TAU_USER" \n'
        f'"solve()  " 4 0 {solve_us} {solve_us} 0 GROUP="TAU_DEFAULT" \n'
        f'".TAU application => solve()" 4 0 {solve_us} {solve_us} 0 GROUP="TAU_CALLPATH | TAU_DEFAULT" \n'
        "0 aggregates\n0 userevents\n"
    )


def write(folder: Path, *times_us: int, command: str = "./lbm in.params") -> Path:
    folder.mkdir()
    for rank, time in enumerate(times_us):
        (folder / f"profile.{rank}.0.0").write_text(profile(time, command))
    return folder


def test_the_slowest_rank_in_microseconds_and_call_paths_count_once(tmp_path: Path) -> None:
    found = scan(write(tmp_path / "run", 1_000_000, 3_000_000))
    table = found.runs["lbm"].to_frame().set_index("region")
    assert table.index.tolist() == [".TAU application", "solve()"]
    solve = table.loc[["solve()"], ["ranks", "seconds", "inclusive", "calls"]]
    assert solve.to_numpy().tolist() == [[2, 3.0, 3.0, 8]]
    assert table.loc[".TAU application", "inclusive"] == pytest.approx(3.00005)
    assert any("ranks = 2: the number of files" in note for note in found.notes)
    mean = scan(tmp_path / "run", over="mean").runs["lbm"].to_frame().set_index("region")
    assert mean.loc["solve()", "seconds"] == 2.0


def test_parameters_in_the_folders_name(tmp_path: Path) -> None:
    for n in (128, 256):
        for r in (1, 2):
            write(tmp_path / f"lbm.p2n{n}.r{r}", 1000 * n, 1000 * n, command=f"./lbm {n}")
    runs = scan(tmp_path).runs["lbm"]
    assert runs.parameters == ["region", "p", "n"]
    assert sorted(runs.where("region == 'solve()'").to_frame()["repetition"]) == [1, 1, 2, 2]


def test_the_file_of_one_rank_is_not_a_run_on_one_rank(tmp_path: Path) -> None:
    write(tmp_path / "run", 1000, 3000)
    for name in ("profile.0.0.0", "profile.1.0.0"):
        with pytest.raises(ReadError, match="one rank or thread of several: give the folder"):
            scan(tmp_path / "run" / name)
    (tmp_path / "run" / "profile.0.0.0").unlink()
    with pytest.raises(ReadError, match="give the folder"):
        scan(tmp_path / "run" / "profile.1.0.0")
    write(tmp_path / "alone", 1000)
    assert scan(tmp_path / "alone" / "profile.0.0.0").runs["lbm"].to_frame()["ranks"].tolist() == [1, 1]


def test_runs_with_other_arguments_are_no_repetitions(tmp_path: Path) -> None:
    write(tmp_path / "small", 1000, command="./lbm small.in")
    write(tmp_path / "large", 9000, command="./lbm large.in")
    found = scan(tmp_path)
    assert len(found.runs["lbm"]) == 2
    assert "with the same parameters (ranks=1): name what was varied" in found.lost[0].reason


def test_a_missing_rank_is_refused(tmp_path: Path) -> None:
    folder = write(tmp_path / "run", 1, 2, 3)
    (folder / "profile.1.0.0").unlink()
    with pytest.raises(ReadError, match=r"profile\.1\.0\.0 is missing"):
        TauReader().read(folder)


def test_what_is_no_time_is_refused(tmp_path: Path) -> None:
    (tmp_path / "profile.0.0.0").write_text(profile(5, metric="PAPI_FP_OPS"))
    with pytest.raises(ReadError, match="PAPI_FP_OPS, which is not a time"):
        TauReader().read(tmp_path)


def test_eight_ranks_of_tau2(strangers: Path) -> None:
    runs = scan(strangers / "3-profiles" / "tau2-examples").runs["xmain"]
    table = runs.to_frame().set_index("region")
    assert set(table["ranks"]) == {8}
    assert len(table) == 27
    # The largest of 8 values near 62.5 s.
    assert table["inclusive"].max() == pytest.approx(62.6, abs=0.1)
    assert table["inclusive"].idxmax() == ".TAU application"


@pytest.mark.parametrize(
    ("size", "seconds"), [("128x128", 105.867394), ("128x256", 213.681599), ("256x256", 858.635691)]
)
def test_a_serial_run_alone(strangers: Path, size: str, seconds: float) -> None:
    runs = scan(strangers / "3-profiles" / "tau-lbm-bristol" / f"0initial_{size}_profile.0.0.0").runs["d2q9-bgk"]
    row = runs.to_frame().set_index("region").loc[".TAU application"]
    assert (row["inclusive"], row["ranks"]) == (pytest.approx(seconds), 1)


def test_serial_runs_of_other_sizes_are_not_mixed(strangers: Path) -> None:
    found = scan(strangers / "3-profiles" / "tau-lbm-bristol")
    assert len(found.lost) == 2
    assert len(found.runs["d2q9-bgk"].to_frame()["run"].unique()) == 1


@settings(max_examples=40)
@given(content=damaged(profile(1000).encode(), '"0123456789 GROUP=_'))
def test_damaged_profiles_are_read_or_refused(content: bytes, tmp_path_factory: pytest.TempPathFactory) -> None:
    check_reads_or_refuses(TauReader(), tmp_path_factory.getbasetemp() / "profile.0.0.0", content)


def test_cut_off_is_refused(strangers: Path, tmp_path: Path) -> None:
    whole = (strangers / "3-profiles" / "tau2-examples" / "profile.3.0.0").read_text()
    for lines in (1, 2, 10, 28):
        path = tmp_path / "profile.0.0.0"
        path.write_text("\n".join(whole.splitlines()[:lines]) + "\n")
        with pytest.raises(ReadError):
            TauReader().read(path)
    shutil.copy(strangers / "3-profiles" / "tau2-examples" / "profile.3.0.0", path)
    (runs,) = TauReader().read(path).values()
    assert np.isfinite(runs.values).all()
