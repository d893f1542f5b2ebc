"""Texts that are known but not read: the message says what to give instead."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from evenly.errors import ReadError
from evenly.readers import scan
from evenly.readers.jobs.job_files import read_jobs

QSTAT = "Job Id: 330412.pbs01\n    Job_Name = wing\n    resources_used.walltime = 01:00:00\n"
SHORT = "Job id            Name             User              Time Use S Queue\n----------------  ----\n"
TRACE = "\nJob: 330412.pbs01\n\n03/02/2026 07:13:05  S    enqueuing into workq, state 1 hop 1\n"
BACCT = "\nAccounting information about jobs that are:\n  - submitted by users ada,\n"


@pytest.mark.parametrize("text", [QSTAT, SHORT, TRACE, BACCT])
def test_what_schedulers_print_for_people(tmp_path: Path, text: str) -> None:
    told = "what bacct prints is not read" if text == BACCT else "PBS's accounting log"
    path = tmp_path / "jobs.txt"
    path.write_text(text)
    with pytest.raises(ReadError, match=told) as error:
        scan(path)
    assert "--format table" not in str(error.value)
    with pytest.raises(ReadError, match=told):
        read_jobs(path, format="pbs")
    with pytest.raises(ReadError, match=told):
        scan(path, format="table")


@pytest.mark.parametrize("cut", [{"max_rows": 4}, {"max_cols": 4, "max_rows": 30}])
def test_a_print_of_pandas_that_is_cut(tmp_path: Path, cut: dict[str, Any]) -> None:
    table = pd.DataFrame({"a": range(20), "b": 1.5, "c": 2.5, "d": 3.5, "e": 4.5, "walltime_h": 0.5})
    path = tmp_path / "runs.txt"
    path.write_text(f"{table.to_string(**cut)}\n")
    with pytest.raises(ReadError, match="pandas left out rows or columns where it printed dots"):
        scan(path)


def test_of_a_store_its_table_is_proposed(tmp_path: Path) -> None:
    (tmp_path / "s.db").write_bytes(b"SQLite format 3\0" + bytes(100))
    with pytest.raises(ReadError, match=r"evenly runs list \S*s.db --save s.runs.csv"):
        scan(tmp_path / "s.db")


def test_the_header_of_a_mesh_tells_elements_and_no_times(tmp_path: Path) -> None:
    path = tmp_path / "header.lua"
    path.write_text(" nElems = 512\n minLevel = 3\n maxLevel = 3\n property = {\n  { nElems = 8 }\n }\n")
    told = r"header.lua is the header of a mesh of Seeder. It tells the elements, 512, .* level 3 has, and no times"
    with pytest.raises(ReadError, match=told) as error:
        scan(path)
    assert "mesh_header=" in str(error.value)
    with pytest.raises(ReadError, match=told):
        scan(tmp_path)
    path.write_text("nElems = 512\nbinary_name = 'restart.lsb'\n")
    with pytest.raises(ReadError) as other:
        scan(path)
    assert "mesh of Seeder" not in str(other.value)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("mo_timer\n\n  Timer report, ranks 0-127\n total  128\n", "ICON's timer report is not read"),
        ("  \n  Processing OASIS LUCIA log files\n", "its 'Calculations', without the waiting"),
        ("Region      PETs   PEs    Count   Mean (s)    Min (s)\n", "its PETs are the cores"),
    ],
)
def test_reports_of_coupled_models_are_to_be_copied_into_a_table(tmp_path: Path, text: str, told: str) -> None:
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "report.txt").write_text(text)
    for path in (tmp_path, tmp_path / "a" / "report.txt"):
        with pytest.raises(ReadError, match=re.escape(told)):
            scan(path)
