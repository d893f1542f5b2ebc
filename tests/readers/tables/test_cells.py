"""Tables: numbers, durations, states and points in time as people write them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from evenly.errors import ReadError
from evenly.readers.tables.clock_times import between
from evenly.readers.tables.states import states
from evenly.readers.tables.table import TableReader
from evenly.runs.runs import Runs


def read(folder: Path, content: str, **options: Any) -> tuple[Runs, TableReader]:
    path = folder / "runs.csv"
    path.write_text(content)
    reader = TableReader(**options)
    return reader.read(path)[""], reader


# ---- numbers ----------------------------------------------------------------------------------------------------


def test_thousands_suffixes_and_powers_of_ten(tmp_path: Path) -> None:
    content = 'cores,elements,level,seconds\n"1,024","1,000,000",1e3,8\n512,12k,2e3,4\n'
    runs, reader = read(tmp_path, content)
    assert runs.configurations.to_numpy().tolist() == [[1024, 1_000_000, 1000], [512, 12_000, 2000]]
    assert "'12k' in 'elements' is 12,000: write the number where 1024 was meant" in reader.notes


def test_indian_groups_of_digits_are_told(tmp_path: Path) -> None:
    runs, _ = read(tmp_path, 'n,time_ms\n"1,00,000","1,23,456"\n"12,34,567","9,876.5"\n"2,00,000","65,432"\n')
    assert runs.configurations["n"].tolist() == [100_000, 1_234_567, 200_000]
    assert runs.values.tolist() == pytest.approx([123.456, 9.8765, 65.432])


def test_commas_beside_sure_decimal_commas_are_decimal_ones(tmp_path: Path) -> None:
    runs, _ = read(tmp_path, "np;time [s];time/iter [s]\n4;200,4;2,004\n8;103,1;1,031\n")
    assert runs.to_frame()["time/iter"].tolist() == [2.004, 1.031]


def test_dots_beside_decimal_commas_are_asked_about(tmp_path: Path) -> None:
    content = "Kerne;Zellen;Laufzeit (s)\n1;50.020;120,5\n2;50.020;61,25\n2;70.020;81,25\n"
    with pytest.raises(ReadError, match=r"line 2: '50.020' in column 'Zellen' may be a thousand or a decimal point"):
        read(tmp_path, content)
    runs, _ = read(tmp_path, content, decimal=",")
    assert runs.configurations["Zellen"].tolist() == [50_020, 50_020, 70_020]
    np.testing.assert_allclose(runs.values, [120.5, 61.25, 81.25])
    runs, _ = read(tmp_path, content.replace("70.020", "1.070.020"))  # two groups tell it
    assert runs.configurations["Zellen"].tolist() == [50_020, 50_020, 1_070_020]


@pytest.mark.parametrize("word", ["NA", "-", "N/A", "oops"])
def test_a_stray_word_names_its_line(tmp_path: Path, word: str) -> None:
    with pytest.raises(ReadError, match=r"line 4: .*'mesh'"):
        read(tmp_path, f"cores,mesh,seconds\n1,100,8\n2,200,4\n4,{word},2\n")


@pytest.mark.parametrize(
    ("end", "kept", "said"),
    [
        ("8,15.1", 3, "may be cut off: its last number, 15.1, has fewer decimals"),
        ("8,15.125", 4, "the last line has no line end"),
    ],
)
def test_a_last_number_that_is_shorter_may_be_cut(tmp_path: Path, end: str, kept: int, said: str) -> None:
    content = f"cores,seconds\n1,100.125\n2,51.250\n4,27.500\n{end}"
    runs, reader = read(tmp_path, content)
    assert len(runs) == kept
    assert said in " ".join([*reader.notes, *(one.reason for one in reader.skipped)])


# ---- times ------------------------------------------------------------------------------------------------------


def test_durations_are_times(tmp_path: Path) -> None:
    runs, _ = read(tmp_path, "cores,Elapsed\n8,1-00:00:10\n16,12:00:05\n32,6:30:00\n")
    assert runs.values.tolist() == [86_410, 43_205, 23_400]
    runs, _ = read(tmp_path, "threads,runtime\n1,12.5 ms\n2,0.0068 s\n")
    np.testing.assert_allclose(runs.values, [0.0125, 0.0068])
    runs, _reader = read(tmp_path, "np,real,user,sys\n1,2m10.5s,2m9s,0m0.4s\n2,1m6.1s,2m11s,0m0.5s\n")
    assert runs.values.tolist() == [130.5, 66.1]
    assert runs.quantities == {"seconds": "s", "user": "s", "sys": "s"}


def test_two_fields_are_asked_about_unless_something_tells(tmp_path: Path) -> None:
    content = "cores,TIME\n8,12:30\n16,06:41\n"
    with pytest.raises(ReadError, match=r"line 2: '12:30' .* minutes and seconds or hours and minutes: .*--unit mm:ss"):
        read(tmp_path, content)
    assert read(tmp_path, content, unit="mm:ss")[0].values.tolist() == [750, 401]
    assert read(tmp_path, content, unit="hh:mm")[0].values.tolist() == [45_000, 24_060]
    for told in ("TIME [mm:ss]", "TIME (min)"):
        assert read(tmp_path, content.replace("TIME", told), parameters="cores")[0].values.tolist() == [750, 401]
    longer = read(tmp_path, content.replace("TIME", "time") + "4,1:02:10\n")[0]
    assert longer.values.tolist() == [750, 401, 3730]


def test_start_and_end_give_the_time(tmp_path: Path) -> None:
    content = "cores,Start,End\n8,2026-11-20T23:59:00,2026-11-21T00:10:30\n16,2026-11-20 11:00:00,2026-11-20 11:05:40\n"
    runs, reader = read(tmp_path, content)
    assert runs.values.tolist() == [690, 340]
    assert "no time zone is told" in reader.notes[0]
    runs, _ = read(tmp_path, "cores,start,end\n8,1763632800,1763633490.5\n16,1763632800,1763633140\n")
    assert runs.values.tolist() == [690.5, 340]
    # An elapsed time beside them wins.
    assert read(tmp_path, "cores,start,end,elapsed\n8,1763632800,1763633490,7\n")[0].values.tolist() == [7]


def test_points_in_time_of_different_kinds_give_nothing() -> None:
    assert between({"start": ["2026-11-20T10:00:00Z"], "end": ["2026-11-20T10:00:30"]}) is None
    zoned = between({"start": ["2026-11-20T10:00:00+01:00"], "end": ["2026-11-20T10:00:30Z"]})
    assert zoned is not None
    assert zoned.seconds.tolist() == [3630]
    late = between({"start": ["1763632800000", "1763632800000"], "end": ["1763632800500", "Unknown"]})
    assert late is not None
    np.testing.assert_array_equal(late.seconds, [0.5, np.nan])


def test_a_row_of_units_below_the_header(tmp_path: Path) -> None:
    runs, _ = read(
        tmp_path, "ranks,size,time,bandwidth\n-,B,us,MB/s\n2,1024,3.21,319.0\n4,4096,5.67,722.4\n8,9000,9.5,947.4\n"
    )
    assert runs.parameters == ["ranks", "size"]
    np.testing.assert_allclose(runs.values, [3.21e-6, 5.67e-6, 9.5e-6])


# ---- states -----------------------------------------------------------------------------------------------------


def test_a_run_beyond_its_limit_keeps_its_seconds(tmp_path: Path) -> None:
    runs, reader = read(
        tmp_path,
        "cores,State,Elapsed\n8,COMPLETED,01:00:00\n4,TIMEOUT,02:00:00\n2,DEADLINE,03:00:00\n"
        "16,CANCELLED by 12345,00:10:00\n32,NODE_FAIL,00:10:00\n32,OUT_OF_MEMORY,00:10:00\n"
        "64,RUNNING,00:10:00\n64,PENDING,00:00:00\n",
    )
    table = runs.to_frame()
    assert table["status"].tolist() == ["ok", "timed out", "timed out", "failed"]
    np.testing.assert_array_equal(table["seconds"], [3600, 7200, 10_800, np.nan])
    assert reader.notes[:4] == [
        "failed, so not learned from: 1 × OUT_OF_MEMORY ('State')",
        "timed out, so longer than their time: 1 × TIMEOUT, 1 × DEADLINE ('State')",
        "left out, since these jobs had not ended: 1 × RUNNING, 1 × PENDING ('State')",
        "left out, since nothing tells that the program failed: 1 × CANCELLED, 1 × NODE_FAIL ('State')",
    ]


def test_longer_than_in_the_cell_of_the_time(tmp_path: Path) -> None:
    table = read(tmp_path, "cores,size,seconds\n8,1,100\n8,4,> 300\n16,4,250\n")[0].to_frame()
    assert table["status"].tolist() == ["ok", "timed out", "ok"]
    assert table["seconds"].tolist() == [100, 300, 250]


@pytest.mark.parametrize(
    ("name", "cells", "expected"),
    [
        ("State", ["CD", "TO", "CA", "F", "R"], ["ok", "timed out", "lost", "failed", "running"]),
        ("ExitCode", ["0:0", "0:9", "1:0"], ["ok", "failed", "failed"]),
        ("rc", ["0", "137", "1"], ["ok", "failed", "failed"]),
        ("success", ["1", "0", "true"], ["ok", "failed", "ok"]),
        ("timed_out", ["False", "True"], ["ok", "timed out"]),
        ("job_state", ["C", "Q", "E"], ["ok", "running", "running"]),
        ("what became of it", ["COMPLETED", "OUT_OF_MEMORY"], ["ok", "failed"]),
        ("use_gpu", ["0", "1"], None),
        ("use_gpu", ["true", "false"], None),
        ("result", ["F", "R"], None),
    ],
)
def test_words_and_numbers_of_states(name: str, cells: list[str], expected: list[str] | None) -> None:
    assert states(name, cells) == expected


@pytest.mark.parametrize("cells", [["0", "1"], ["F", "R"]])
def test_states_of_two_meanings_are_asked_about(tmp_path: Path, cells: list[str]) -> None:
    with pytest.raises(ReadError, match=r"'status' .*: choose the rows that went well with where="):
        read(tmp_path, f"cores,seconds,status\n8,10,{cells[0]}\n16,5,{cells[1]}\n")


# ---- counts -----------------------------------------------------------------------------------------------------


def test_counts_in_words_name_what_they_count(tmp_path: Path) -> None:
    runs, reader = read(tmp_path, "resources,time_s\nserial,100\n2 cores,52\n4 cores,27\n")
    assert runs.configurations.to_dict("list") == {"cores": [1, 2, 4]}
    assert "'resources' is read as 'cores', 'serial' as 1" in reader.notes
    assert read(tmp_path, "size,time_s\n1 node,50\n2 nodes,25\n")[0].parameters == ["nodes"]


def test_nodes_and_cores_in_one_column_stay_labels(tmp_path: Path) -> None:
    runs, _ = read(tmp_path, "resources,time_s\n1 core,100\n2 cores,52\n1 node,5\n2 nodes,3\n")
    assert runs.configurations["resources"].tolist()[2:] == ["1 node", "2 nodes"]


def test_a_layout_of_processes_is_their_number(tmp_path: Path) -> None:
    runs, reader = read(tmp_path, "layout,time_s\n1x1x1,100\n1x2x1,52\n2x2x1,27\n")
    assert runs.configurations["layout"].tolist() == [1, 2, 4]
    assert "'layout' is read as the number of processes, 1x1x1 as 1" in reader.notes
    runs, _ = read(tmp_path, "layout,time_s\n1x1x1,100\n1x2x1,52\n2x1x1,57\n")
    assert runs.configurations["layout"].tolist() == ["1x1x1", "1x2x1", "2x1x1"]


def test_powers_are_numbers(tmp_path: Path) -> None:
    runs, _ = read(tmp_path, "grid,p,time_s\n64^3,2^0,10\n64^3,2^1,5.2\n128^3,2**2,22\n")
    assert runs.configurations.to_dict("list") == {"grid": [64**3, 64**3, 128**3], "p": [1, 2, 4]}
