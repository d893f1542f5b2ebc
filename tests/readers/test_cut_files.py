"""Files that were cut off: refused, said to be cut, or read as the whole file is."""

from __future__ import annotations

import random
import shutil
from collections.abc import Sequence
from pathlib import Path

import pandas as pd
import pytest

from evenly.errors import EvenlyError, ReadError
from evenly.readers import scan
from evenly.readers.apes.seeder_header import read_mesh_header
from evenly.readers.precice.config import read_iterations
from evenly.runs.runs import Runs

CUTS = 40
#: What a row of a table, or a line of a log that grows, doesn't tell: that more should follow.
LINE_END = b"\r\n"
#: Of `samples`, and of `strangers`: all files of each format. Logs of programs have such a test of their own.
WHOLE = {
    "samples": ["c*/*", "ec-earth/*", "seeder/*", "precice-v1/*", "precice-v2/*/*", "precice-v3/*/1_1/**/*"],
    "strangers": [
        "1-slurm/*/*", "2-coupled/bsc-auto-lb/*", "2-coupled/c*/*", "2-coupled/e3sm*/*", "2-coupled/ufs-regression/*",
        "2-coupled/precice-own/s*/1_1/**/*", "3-profiles/extrap-tests/*", "3-profiles/extrap-tests/*/*x1000*/*",
        "3-profiles/t*/*", "5-benchtools/[ghjopr]*/*", "cesm/*", "ec-earth/*",
    ],
}  # fmt: skip


def told(path: Path) -> tuple[dict[str, str], list[str], int]:
    """Return what a file gives, as text by solver, what is said of it, and how much of it is left out."""
    found = scan(path)
    tables = {name: runs.to_frame().drop(columns="source").to_csv() for name, runs in found.runs.items()}
    return tables, [*map(str, found.skipped), *found.notes], len(found.lost)


@pytest.mark.slow
@pytest.mark.parametrize(("folder", "pattern"), [(name, one) for name, patterns in WHOLE.items() for one in patterns])
def test_no_cut_goes_unnoticed(request: pytest.FixtureRequest, tmp_path: Path, folder: str, pattern: str) -> None:
    root: Path = request.getfixturevalue(folder)
    files = [path for path in sorted(root.glob(pattern)) if path.is_file()]
    assert files
    for number, file in enumerate(files):
        copy = tmp_path / str(number) / file.parent.name / file.name
        copy.parent.mkdir(parents=True)
        _check_cuts(copy, file.read_bytes(), random.Random(file.relative_to(root).as_posix()))


def _check_cuts(path: Path, content: bytes, chosen: random.Random) -> None:
    path.write_bytes(content)
    try:
        whole, _, lost = told(path)
    except EvenlyError:
        return
    for cut in chosen.sample(range(1, len(content)), min(CUTS, len(content) - 1)):
        if content[cut - 1 : cut] in LINE_END:
            continue
        path.write_bytes(content[:cut])
        try:
            tables, said, left_out = told(path)
        except EvenlyError:
            continue
        noticed = left_out > lost or any("cut off" in text for text in said)
        assert tables == whole or noticed, (path.name, content[:cut][-80:])


CESM = """\
---------------- CCSM TIMING PROFILE ---------------------
  stop option : ndays, stop_n = 5
  run length  : 5 days (4 for ocean)

  component       comp_pes    root_pe   tasks  x threads (stride)
  ---------        ------     -------   ------   ------  ------
  atm = cam        32          0        32     x 1       (1     )
  ocn = pop2       8           32       8      x 1       (1     )

    TOT Run Time:     832.260 seconds      166.452 seconds/mday         1.42 myears/wday
    ATM Run Time:     581.950 seconds      116.390 seconds/mday         2.03 myears/wday
    OCN Run Time:     665.570 seconds      133.114 seconds/mday         1.78 myears/wday
"""


def test_a_component_without_its_time_is_told(tmp_path: Path) -> None:
    path = tmp_path / "timing"
    path.write_text(CESM)
    assert list(scan(path).runs) == ["atm", "ocn"]
    path.write_text(CESM[: CESM.index("133.114")])
    found = scan(path)
    assert list(found.runs) == ["atm"]
    assert [entry.reason for entry in found.lost] == [
        "OCN has cores (comp_pes) but no 'Run Time' line: the file seems to be cut off"
    ]


def seconds_and_words(folder: Path, text: str) -> tuple[list[float], Sequence[object], str]:
    path = folder / "runs.csv"
    path.write_text(text)
    found = scan(path)
    return found.runs[""].values.tolist(), found.lost, " ".join(found.notes)


def test_a_row_that_is_cut_is_left_out_and_told(tmp_path: Path) -> None:
    seconds, lost, _ = seconds_and_words(tmp_path, "cores,seconds,mesh\n8,2.5,a\n16,1.")
    assert seconds == [2.5]
    assert "line 3: the file seems to be cut off in its last line, which has 2 of 3 values" in str(lost[0])
    seconds, lost, _ = seconds_and_words(tmp_path, "cores,seconds\n8,2.5\n16,")
    assert (seconds, len(lost)) == ([2.5], 1)


def test_a_last_value_may_be_cut_where_the_line_has_no_end(tmp_path: Path) -> None:
    seconds, lost, notes = seconds_and_words(tmp_path, "cores,seconds\n8,2.5\n16,1.2")
    assert (seconds, lost) == ([2.5, 1.2], ())
    assert "the last line has no line end" in notes
    assert "line end" not in seconds_and_words(tmp_path, "cores,seconds\n8,2.5\n16,1.2\n")[2]


def test_an_empty_last_cell_is_no_cut_where_others_are_empty(tmp_path: Path) -> None:
    seconds, lost, _ = seconds_and_words(tmp_path, "cores,seconds,machine\n8,2.5,\n16,1.2,")
    assert (seconds, lost) == ([2.5, 1.2], ())


def test_a_table_of_one_row_that_is_cut_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ReadError, match="line 2: the file seems to be cut off in its last line, which has 1 of 2"):
        seconds_and_words(tmp_path, "cores,seconds\n8")


def test_a_mesh_header_that_ends_within_a_number_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "header.lua"
    path.write_text(" version = 1\n nElems = 51")
    with pytest.raises(ReadError, match="line 2: the file ends within nElems"):
        read_mesh_header(path)
    path.write_text(" version = 1\n nElems = 512\n minLev")
    assert read_mesh_header(path).elements == 512


def test_iterations_that_may_be_cut_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "precice-Fluid-iterations.log"
    path.write_text("TimeWindow  Iterations\n1 6\n2 1")
    with pytest.raises(ReadError, match="line 3: the last line is not whole"):
        read_iterations(path)


def test_the_last_line_of_precices_own_logs_has_no_line_end(tmp_path: Path) -> None:
    path = tmp_path / "precice-Fluid-iterations.log"
    path.write_text(
        "  TimeWindow  TotalIterations  Iterations  Convergence  \n     1     3     3     0\n     2     6     3     0"
    )
    assert read_iterations(path).tolist() == [3, 3]
    path.write_text(
        "  TimeWindow  TotalIterations  Iterations  Convergence  \n     1     3     3     0\n     2     6     3"
    )
    with pytest.raises(ReadError, match="line 3: the last line is not whole"):
        read_iterations(path)


def test_a_case_that_may_be_cut_is_told(tmp_path: Path) -> None:
    (tmp_path / "case.ini").write_text("[DEFAULT]\nd=2\n[Inner]\ntimeinfo=times\nadditional=more.ini")
    (tmp_path / "4").mkdir()
    (tmp_path / "4" / "times").write_text(" Timings for a run on 4 processes\n simLoop 2.0 2.0 8.0")
    (tmp_path / "4" / "more.ini").write_text("[DEFAULT]\nclock=260")
    notes = [note for note in scan(tmp_path).notes if "no line end" in note]
    assert sorted(Path(note.partition(":")[0]).name for note in notes) == ["case.ini", "more.ini", "times"]


@pytest.mark.parametrize("suffix", [".csv", ".parquet"])
def test_saved_runs_know_how_many_there_are(tmp_path: Path, suffix: str) -> None:
    if suffix == ".parquet":
        pytest.importorskip("pyarrow")
    path = tmp_path / f"runs{suffix}"
    runs = Runs.from_frame(pd.DataFrame({"cores": [1, 2, 4], "seconds": [8.0, 4.0, 2.0]}), ["cores"])
    runs.save(path)
    assert Runs.load(path) == runs
    if suffix == ".csv":
        path.write_text("".join(path.read_text().splitlines(keepends=True)[:-1]))
        with pytest.raises(ReadError, match="the header says that there are 3 rows, but there are 2"):
            Runs.load(path)


@pytest.mark.parametrize("case", ["serial-implicit/2_2", "parallel-explicit/8_4"])
def test_a_rank_file_that_was_cut_is_the_same_run_as_its_database(samples: Path, tmp_path: Path, case: str) -> None:
    source = samples / "precice-v3" / case
    whole = {name: len(runs) for name, runs in scan(source).runs.items()}
    chosen = random.Random(case)
    for attempt in range(5):
        copy = tmp_path / str(attempt)
        shutil.copytree(source, copy, copy_function=shutil.copyfile)
        file = chosen.choice(sorted(copy.rglob("*.txt")))
        file.write_bytes(file.read_bytes()[: chosen.randrange(1, file.stat().st_size)])
        assert {name: len(runs) for name, runs in scan(copy).runs.items()} == whole
