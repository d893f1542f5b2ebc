"""The Standard Workload Format."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings

from evenly.errors import ReadError
from evenly.readers import scan
from evenly.readers.jobs.job_files import read_jobs
from evenly.readers.jobs.swf import SwfReader
from tests.readers.damage import check_reads_or_refuses, damaged

TEXT = """\
; Version: 2.2
; UnixStartTime: 1000
1  0 10  60  4 59.5 2048 4 3600 4096 1 7 2 -1 1 -1 -1 -1
2  5 10 3600 -1 -1 -1 8 3600 -1 1 7 2 -1 1 -1 -1 -1
3  9 -1 -1 -1 -1 -1 8 -1 -1 5 7 2 -1 1 -1 -1 -1
; a remark
4  9 1 50 2 -1 -1 2 -1 -1 -1 -1 2 3 1 -1 -1 -1
"""


def write(folder: Path, text: str) -> Path:
    path = folder / "site.swf"
    path.write_text(text)
    return path


def test_fields(tmp_path: Path) -> None:
    jobs = read_jobs(write(tmp_path, TEXT))
    table = jobs.table
    assert table["state"].tolist() == ["COMPLETED", "TIMEOUT", "CANCELLED", "COMPLETED"]
    np.testing.assert_array_equal(table["cores"], [4, 8, 8, 2])
    np.testing.assert_array_equal(table["elapsed_s"], [60, 3600, np.nan, 50])
    np.testing.assert_array_equal(table["limit_s"], [3600, 3600, np.nan, np.nan])
    np.testing.assert_array_equal(table["submit"], [1000, 1005, 1009, 1009])
    np.testing.assert_array_equal(table["end"], [1070, 4615, np.nan, 1060])
    np.testing.assert_array_equal(table["peak_memory"], [4 * 2048 * 1024.0, np.nan, np.nan, np.nan])
    assert table["user"].tolist() == ["7", "7", "7", ""]
    told = " ".join(jobs.notes)
    assert all(word in told for word in ("asked for count", "taken as completed", "stopped at their limit"))


def test_a_real_workload(strangers: Path) -> None:
    found = scan(strangers / "1-slurm" / "swf-hpc2n" / "hpc2n.swf")
    frame = found.runs[""].to_frame()
    assert len(frame) == 3170
    assert frame[["cores", "seconds", "status"]].iloc[0].tolist() == [30, 31405, "ok"]
    assert found.runs[""].parameters == ["cores"]
    assert frame["cores"].max() <= 240
    assert any("its header tells of 527371 jobs, but there are 3170" in note for note in found.notes)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("1 0 10 60 4 59.5 2048 4 3600 4096 1 7 2 -1 1 -1 -1 -1 7 7\n", "18 numbers, but there are 20"),
        (TEXT.rstrip()[:-20], r"line 7: a job has 18 numbers, but there are 1\d: the file may be cut off"),
        (TEXT.replace("3600 4096", "36oo 4096"), "line 3: a number was expected, but got '36oo'"),
        ("; Version: 2.2\n; UnixStartTime: 0\n", "there are no jobs"),
    ],
)
def test_what_is_refused(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(ReadError, match=message):
        scan(write(tmp_path, text))


@settings(max_examples=100, deadline=None)
@given(content=damaged(TEXT.encode(), "0123456789.;-x \n"))
def test_damage_gives_runs_or_a_read_error(tmp_path_factory: pytest.TempPathFactory, content: bytes) -> None:
    check_reads_or_refuses(SwfReader(), tmp_path_factory.getbasetemp() / "damaged.swf", content)
