"""Timing files of CESM and E3SM."""

from __future__ import annotations

import gzip
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings

from evenly.errors import ReadError
from evenly.readers import scan
from evenly.readers.cesm_timing import CesmTimingReader
from tests.readers.damage import check_reads_or_refuses, damaged

HEAD = """\
---------------- TIMING PROFILE ---------------------
Case        : b.e20
LID         : 42.chadmin1
Machine     : cheyenne
Curr Date   : Thu May  7 12:42:27 2018
grid        : f09_g17
run_length  : 10 days (9 for ocean)

component       comp_pes    root_pe   tasks  x threads instances (stride)
---------        ------     -------   ------   ------  ---------  ------
atm = cam        64        0        16   x 4       1      (1     )
ocn = pop        24        16       24   x 1       1      (1     )
esp = sesp       1           0        1      x 1       1      (1     )

pe count for cost estimate : 128

"""
TIMES = """\
TOT Run Time:     100.000 seconds       10.000 seconds/mday        23.67 myears/wday
ATM Run Time:      80.000 seconds        8.000 seconds/mday        29.59 myears/wday
OCN Run Time:      50.123 seconds        5.012 seconds/mday        47.23 myears/wday
ESP Run Time:       0.000 seconds        0.000 seconds/mday         0.00 myears/wday
CPL COMM Time:     17.674 seconds        1.767 seconds/mday       133.93 myears/wday
"""


def write(folder: Path, content: str | bytes, name: str = "cesm_timing.case") -> Path:
    path = folder / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def test_a_whole_cheyenne_run(samples: Path) -> None:
    path = samples / "cesm" / "cesm_timing.b.e20.BHIST.f09_g17.cheyenne.txt"
    reader = CesmTimingReader(total=True)
    assert reader.recognises(path)
    found = reader.read(path)
    cores = {name: int(runs.configurations["cores"].iloc[0]) for name, runs in found.items()}
    assert cores == {"cpl": 3456, "atm": 3456, "lnd": 2592, "ice": 864, "ocn": 768, "rof": 2592, "glc": 3456,
                     "wav": 96, "total": 4320}  # fmt: skip
    np.testing.assert_allclose(found["ice"].values, [389.173 / 365])
    np.testing.assert_allclose(found["total"].values, [8.085], atol=5e-4)
    row = found["ocn"].to_frame().iloc[0]
    assert row["run_seconds"] == 2169.399
    assert row["machine"] == "cheyenne"
    assert row["when"] == "2018-05-17T12:42:27"
    assert row["run"] == "b.e20.BHIST.f09_g17.20thC.297_02 9459679.chadmin1.180517-114852"
    assert reader.notes == ["components that did not run are left out: esp"]


def test_two_runs_of_one_case(samples: Path) -> None:
    first, second = (CesmTimingReader().read(samples / "cesm" / name) for name in ("timing_1", "timing_2"))
    assert set(first) == {"cpl", "atm", "lnd", "ice", "ocn", "rof"}
    assert first["ice"].to_frame()[["cores", "seconds"]].iloc[0].tolist() == [2, 4.5316]
    assert second["ice"].to_frame()[["cores", "seconds"]].iloc[0].tolist() == [4, 2.5715]


def test_tasks_threads_and_fields_on_request(tmp_path: Path) -> None:
    path = write(tmp_path, gzip.compress((HEAD + TIMES).encode()), "cesm_timing.case.gz")
    reader = CesmTimingReader(threads=True, fields="grid")
    assert reader.recognises(path)
    found = reader.read(path)
    assert found["atm"].parameters == ["cores", "tasks", "threads", "grid"]
    assert found["atm"].configurations.iloc[0].tolist() == [64, 16, 4, "f09_g17"]
    assert found["atm"].to_frame()["when"].iloc[0] == "2018-05-07T12:42:27"


def test_seconds_per_simulated_year(tmp_path: Path) -> None:
    per_year = TIMES.replace("8.000 seconds/mday", "2920.000 seconds/myear")
    assert CesmTimingReader().read(write(tmp_path, HEAD + per_year))["atm"].values.tolist() == [8.0]


def test_files_of_different_grids_are_noted(samples: Path) -> None:
    note = "its grid or compset is not that of"
    assert sum(note in line for line in scan(samples / "cesm").notes) == 1
    found = scan(samples / "cesm", fields="grid,compset")
    assert not any(note in line for line in found.notes)
    assert found.runs["ice"].parameters == ["cores", "grid", "compset"]


def test_a_file_of_several_runs_gives_all_of_them(tmp_path: Path) -> None:
    """Files that were put together, as `cat` does: a run that is there twice counts once."""
    second = (HEAD + TIMES).replace("42.chadmin1", "43.chadmin1").replace("16   x 4", "32   x 4").replace("64 ", "128 ")
    faster = second.replace("80.000 seconds        8.000", "45.000 seconds        4.500")
    path = write(tmp_path, HEAD + TIMES + "---- DRIVER TIMING FLOWCHART ----\n" + faster + HEAD + TIMES)
    reader = CesmTimingReader(total=True)
    found = reader.read(path)
    table = found["atm"].to_frame()
    assert table["cores"].tolist() == [64, 128]
    assert table["seconds"].tolist() == [8.0, 4.5]
    assert table["run"].tolist() == ["b.e20 42.chadmin1", "b.e20 43.chadmin1"]
    assert len(found["total"]) == len(reader.placed) == 2
    assert [(one.line, one.benign) for one in reader.skipped] == [(44, True)]
    assert reader.notes == ["components that did not run are left out: esp"]


def test_a_damaged_run_among_others_is_named(tmp_path: Path) -> None:
    reader = CesmTimingReader()
    found = reader.read(write(tmp_path, HEAD + TIMES + HEAD + (HEAD + TIMES).replace("42.chad", "43.chad")))
    assert found["atm"].values.tolist() == [8.0, 8.0]
    assert [(one.line, one.benign) for one in reader.skipped] == [(22, False)]
    assert "no 'Run Time' lines" in reader.skipped[0].reason


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "the file is empty"),
        (HEAD, "there are no 'Run Time' lines"),
        (TIMES, "there is no table of components"),
        (HEAD.replace("run_length", "length") + TIMES, "run_length .* is missing or zero"),
        (HEAD.replace("10 days", "0 days") + TIMES, "run_length .* is missing or zero"),
        (HEAD + TIMES.replace("80.000", "8o.000"), "line 18: a number, zero or more, was expected, got '8o.000'"),
        (
            HEAD + TIMES.replace("80.000", "90.000"),
            "line 18: ATM took 90 s for 10 days, which is not the 8 s for a day",
        ),
        (HEAD.replace("ocn = pop", "ice = pop") + TIMES, "line 19: OCN has a run time but no comp_pes"),
        (HEAD.replace("64 ", "0 ") + TIMES, "line 11: component 'atm' must have at least one core"),
        (HEAD.replace("16   x 4", "32   x 4") + TIMES, "'atm' has 64 comp_pes, but 32 tasks x 4 threads are 128"),
        (HEAD + TIMES.splitlines()[0] + "\n", "no component has a run time above zero"),
    ],
)
def test_a_broken_file_says_where_and_why(tmp_path: Path, content: str, message: str) -> None:
    with pytest.raises(ReadError, match=message):
        CesmTimingReader().read(write(tmp_path, content))


ORIGINAL = (HEAD + TIMES).encode()


@settings(max_examples=300, deadline=None)
@given(content=damaged(ORIGINAL, "0123456789.:=x \n"))
def test_damage_gives_runs_or_a_read_error(tmp_path_factory: pytest.TempPathFactory, content: bytes) -> None:
    check_reads_or_refuses(
        CesmTimingReader(total=True, threads=True, fields=["grid"]),
        tmp_path_factory.getbasetemp() / "damaged_cesm",
        content,
    )
