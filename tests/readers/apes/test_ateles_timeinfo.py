"""Ateles' timeinfo: timers over processes."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings

from evenly.errors import ReadError
from evenly.readers.apes.ateles_timeinfo import AtelesTimeinfoReader
from tests.readers.damage import check_reads_or_refuses, damaged


def timer(label: str, low: float, high: float, total: float) -> str:
    """Write a line as the program does: right-aligned label, three numbers of width 16."""
    return f"{label:>24} {low:16.6E} {high:16.6E} {total:16.6E}"


def timeinfo(ranks: int = 192, *timers: str) -> str:
    title = f" Timings for a run on {ranks:12d} processes"
    header = f"{'timer':>24} {'min':>16} {'max':>16} {'sum':>16}"
    return "\n".join([title, header, *(timers or (timer("simLoop", 9.5, 10.5, 10.0 * ranks),))]) + "\n"


def write(folder: Path, content: str | bytes, name: str = "timeinfo") -> Path:
    path = folder / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def test_the_slowest_process_is_what_others_wait_for(tmp_path: Path) -> None:
    path = write(
        tmp_path,
        timeinfo(
            192,
            timer("Check", 69.134785e-3, 222.711280e-3, 25.379602),
            timer("simLoop", 9.5, 10.5, 1920.0),
            timer("commState", 0.0, 0.5, 24.0),
        ),
    )
    reader = AtelesTimeinfoReader()
    assert reader.recognises(path)
    row = reader.read(path)[""].to_frame().iloc[0]
    assert (row["cores"], row["seconds"], row["rank_mean"], row["rank_min"]) == (192, 10.5, 10.0, 9.5)
    assert (row["Check"], row["commState"]) == (pytest.approx(0.22271128, rel=1e-6), 0.5)


def test_another_timer_can_be_the_solve_time(tmp_path: Path) -> None:
    path = write(tmp_path, timeinfo(2, timer("simLoop", 1, 2, 3), timer("DoComp", 0.5, 1.0, 1.5)))
    runs = AtelesTimeinfoReader(timer="DoComp").read(path)[""]
    assert runs.values.tolist() == [1.0]
    assert "simLoop" in runs.quantities


def test_details_in_a_file_beside(tmp_path: Path) -> None:
    content = timeinfo(2, "D               simLoop: timeinfo_simLoop.details", timer("init", 1, 1, 2))
    path = write(tmp_path, content + "U                 nonsense     .:!UNKNOWN!:.\n")
    details = (
        "Detailed timings for simLoop\n    min:  1.0E+00\n    max:  3.0E+00\n    sum:  4.0E+00\n\n      1:  1.0E+00\n"
    )
    write(tmp_path, details + "      2:  3.0E+00\n", "timeinfo_simLoop.details")
    row = AtelesTimeinfoReader().read(path)[""].to_frame().iloc[0]
    assert (row["seconds"], row["rank_mean"], row["init"]) == (3.0, 2.0, 1.0)


def test_several_runs_in_one_file(tmp_path: Path) -> None:
    path = write(tmp_path, timeinfo(4) + timeinfo(8))
    assert AtelesTimeinfoReader().read(path)[""].configurations["cores"].tolist() == [4, 8]


def test_a_number_that_did_not_fit_its_column(tmp_path: Path) -> None:
    overflow = f"{'output':>24} {'*' * 16} {'*' * 16} {'*' * 16}"
    path = write(tmp_path, timeinfo(2, timer("simLoop", 1, 2, 3), overflow))
    reader = AtelesTimeinfoReader()
    assert set(reader.read(path)[""].quantities) == {"seconds", "rank_mean", "rank_min"}
    assert reader.notes == ["timer 'output' is left out: its value did not fit its column"]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "the file is empty"),
        ("cores,seconds\n1,2\n", "line 1: 'Timings for a run on N processes' was expected"),
        (
            " Timings for a run on 4 processes\n",
            "line 1: there is no timer 'simLoop'; there are none: the file was cut",
        ),
        (timeinfo(4, timer("init", 1, 1, 4)), "line 1: there is no timer 'simLoop'; there are init"),
        (timeinfo(0), "the number of processes must be positive"),
        (timeinfo(4, "  simLoop 1.0 2.0"), "line 3: a timer with min, max and sum was expected"),
        (timeinfo(4, "  simLoop 1.0 x 4.0"), "line 3: a time in seconds was expected, got 'x'"),
        (timeinfo(4, timer("simLoop", 1, 2, 9)), "which 4 processes can't give together"),
        (timeinfo(4, timer("simLoop", 2, 1, 6)), "which 4 processes can't give together"),
        (timeinfo(4, timer("simLoop", 0, 0, 0)), "the timer 'simLoop' is zero"),
        (timeinfo(4, "D simLoop: gone.details"), "there is no timer 'simLoop'"),
    ],
)
def test_a_broken_file_says_where_and_why(tmp_path: Path, content: str, message: str) -> None:
    with pytest.raises(ReadError, match=message):
        AtelesTimeinfoReader().read(write(tmp_path, content))


def test_a_file_of_one_broken_byte_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "timeinfo"
    path.write_bytes(b"\x80")
    with pytest.raises(ReadError, match="no timings of a run"):
        AtelesTimeinfoReader().read(path)


def test_what_is_not_a_timeinfo(tmp_path: Path) -> None:
    reader = AtelesTimeinfoReader()
    assert not reader.recognises(tmp_path)
    assert not reader.recognises(tmp_path / "none")
    assert not reader.recognises(write(tmp_path, "Timings of something else\n"))


ORIGINAL = timeinfo(16, timer("init", 0.1, 0.2, 2.4), timer("simLoop", 9.5, 10.5, 160.0)).encode()


@settings(max_examples=300, deadline=None)
@given(content=damaged(ORIGINAL, "0123456789.E+-* DU:\n"))
def test_damage_gives_runs_or_a_read_error(tmp_path_factory: pytest.TempPathFactory, content: bytes) -> None:
    check_reads_or_refuses(AtelesTimeinfoReader(), tmp_path_factory.getbasetemp() / "damaged_timeinfo", content)
