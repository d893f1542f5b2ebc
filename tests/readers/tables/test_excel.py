"""Excel's files: which sheet and rows are the table, and what cells say."""

from __future__ import annotations

from datetime import datetime, time, timedelta
from pathlib import Path
from typing import Any

import openpyxl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from openpyxl.comments import Comment

from evenly.errors import ReadError
from evenly.readers.scanning import scan
from evenly.readers.tables.table import TableReader
from tests.readers.damage import check_reads_or_refuses

ROWS: list[list[Any]] = [["cores", "time (s)"], [8, 100.5], [16, 52], [32, 27.25]]


def book(path: Path, **sheets: list[list[Any]]) -> Path:
    made = openpyxl.Workbook()
    made.remove(made.worksheets[0])
    for name, rows in sheets.items():
        sheet = made.create_sheet(name)
        for row in rows:
            sheet.append(row)
    made.save(path)
    return path


def test_the_only_table_of_a_book(tmp_path: Path) -> None:
    titled = [["Scaling of our solver"], [], *ROWS]
    path = book(tmp_path / "runs.xlsx", Notes=[["measured in May"]], Runs=titled, Sheet3=[])
    runs = scan(path).runs[""]
    assert runs.parameters == ["cores"]
    assert list(runs.values) == [100.5, 52, 27.25]


def test_remarks_below_a_table_are_no_rows(tmp_path: Path) -> None:
    path = book(tmp_path / "runs.xlsx", Runs=[*ROWS, [], ["Measured in May"], ["on Levante"]])
    assert list(scan(path).runs[""].values) == [100.5, 52, 27.25]


def test_one_of_several_tables_is_asked_for(tmp_path: Path) -> None:
    path = book(tmp_path / "runs.xlsx", A=ROWS, B=[ROWS[0], [8, 9.0]])
    with pytest.raises(ReadError, match=r"the sheets A, B hold tables: choose one with sheet= \(-O sheet=A\)"):
        scan(path)
    assert list(scan(path, sheet="B").runs[""].values) == [9.0]
    with pytest.raises(ReadError, match="there is no sheet 'C': there are A, B"):
        scan(path, sheet="C")


@pytest.mark.parametrize(
    ("cell", "seconds"),
    [(timedelta(hours=1, minutes=2, seconds=3), 3723), (time(0, 12, 30), 750), ("1:02:03", 3723), (12.5, 12.5), (7, 7)],
)
def test_cells_of_times(tmp_path: Path, cell: Any, seconds: float) -> None:
    path = book(tmp_path / "runs.xlsx", A=[["cores", "wall time"], [8, cell]])
    assert scan(path).runs[""].values[0] == seconds


def test_starts_and_ends(tmp_path: Path) -> None:
    day = datetime(2026, 11, 25, 10)
    path = book(tmp_path / "runs.xlsx", A=[["cores", "start", "end"], [8, day, day + timedelta(minutes=5)]])
    assert scan(path).runs[""].values[0] == 300


def test_lines_are_rows_of_the_sheet(tmp_path: Path) -> None:
    path = book(tmp_path / "runs.xlsx", A=[["Title"], *ROWS, [64, "broken"]])
    with pytest.raises(ReadError, match=r"line 6: .*'broken'"):
        scan(path)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(at=st.floats(0, 1), length=st.integers(0, 40), filling=st.binary(max_size=8))
def test_damage_gives_runs_or_a_read_error(tmp_path: Path, at: float, length: int, filling: bytes) -> None:
    whole = book(tmp_path / "whole.xlsx", A=ROWS).read_bytes()
    start = int(at * len(whole))
    content = whole[:start] + filling + whole[start + length :]
    check_reads_or_refuses(TableReader(), tmp_path / "damaged.xlsx", content)


def test_times_typed_as_minutes_and_seconds_are_asked_about(tmp_path: Path) -> None:
    """Excel stores 23:30 as a time of day, half past eleven at night."""
    rows: list[list[Any]] = [["cores", "time"], [16, time(23, 30)], [32, time(12, 10)]]
    made = openpyxl.load_workbook(book(tmp_path / "x.xlsx", runs=rows))
    for row in (2, 3):
        made["runs"].cell(row, 2).number_format = "h:mm"
    made.save(tmp_path / "x.xlsx")
    with pytest.raises(ReadError, match="'23:30' in column 'time' may be minutes and seconds or hours and minutes"):
        scan(tmp_path / "x.xlsx")
    assert scan(tmp_path / "x.xlsx", unit="mm:ss").runs[""].values.tolist() == [1410, 730]


@pytest.mark.parametrize("shown", ['0.0" min"', '0.0\\ "min"', '#,##0.00" min";[Red]-0.00" min"'])
def test_a_unit_that_only_the_format_shows(tmp_path: Path, shown: str) -> None:
    made = openpyxl.load_workbook(book(tmp_path / "x.xlsx", runs=[["cores", "time"], [16, 23.5], [32, 12.25]]))
    for row in (2, 3):
        made["runs"].cell(row, 2).number_format = shown
    made.save(tmp_path / "x.xlsx")
    assert scan(tmp_path / "x.xlsx").runs[""].values.tolist() == [1410, 735]


@pytest.mark.parametrize("shown", ['0.0,"k"', '0" cores"', "0.00", "General", '0.0,,"M"'])
def test_other_formats_change_nothing(tmp_path: Path, shown: str) -> None:
    made = openpyxl.load_workbook(book(tmp_path / "x.xlsx", runs=[["cores", "time_s"], [16, 2300], [32, 1200]]))
    for row in (2, 3):
        for column in (1, 2):
            made["runs"].cell(row, column).number_format = shown
    made.save(tmp_path / "x.xlsx")
    assert scan(tmp_path / "x.xlsx").runs[""].values.tolist() == [2300, 1200]


def test_titles_of_two_tables_are_no_header(tmp_path: Path) -> None:
    rows: list[list[Any]] = [["Mesh A", None, None, "Mesh B", None], ["cores", "time_s", None, "cores", "time_s"]]
    rows += [[16, 408, None, 16, 816], [32, 208, None, 32, 416]]
    with pytest.raises(ReadError, match="several columns have none: is this row a title"):
        scan(book(tmp_path / "x.xlsx", runs=rows))


def hours(path: Path, *cells: Any, memory: Any = 12) -> Path:
    rows = [[48 * 2**at, cell, memory] for at, cell in enumerate(cells)]
    return book(path / "runs.xlsx", A=[["Kerne", "Laufzeit [h]", "Speicher [GB]"], *rows])


@pytest.mark.parametrize(("decimal", "first"), [(",", 2.599), (".", 2599)])
def test_a_comma_in_text_beside_numbers_is_asked_about(tmp_path: Path, decimal: str, first: float) -> None:
    path = hours(tmp_path, "2,599", "1,285", 0.733, 10.463)
    with pytest.raises(ReadError, match=r"line 2: '2,599' in column 'Laufzeit \[h\]' may be a thousand or a decimal c"):
        scan(path)
    found = scan(path, decimal=decimal, time="Laufzeit [h]").runs[""].values / 3600
    assert list(found[[0, 2, 3]]) == pytest.approx([first, 0.733, 10.463])  # the option is for text only


@pytest.mark.parametrize("sure", ["0,733", "12,5"])
def test_a_comma_that_a_cell_proves_decimal_is_so_in_the_column(tmp_path: Path, sure: str) -> None:
    path = hours(tmp_path, "2,599", sure, 10.559)
    found = scan(path, time="Laufzeit [h]").runs[""].values / 3600
    assert list(found) == pytest.approx([2.599, float(sure.replace(",", ".")), 10.559])


def test_decimal_commas_of_another_column_leave_numbers_as_they_are(tmp_path: Path) -> None:
    path = hours(tmp_path, 10.559, 4.786, "1,348", memory="12,5")
    assert list(scan(path).runs[""].values / 3600) == pytest.approx([10.559, 4.786, 1.348])


def _with_comments(path: Path, **comments: str) -> Path:
    made = openpyxl.load_workbook(path)
    for cell, text in comments.items():
        made.worksheets[0][cell].comment = Comment(text, "Ada")
    made.save(path)
    return path


def test_comments_on_values_are_remarks_on_their_rows(tmp_path: Path) -> None:
    path = _with_comments(book(tmp_path / "runs.xlsx", A=ROWS), B3="debug build", A3="on two racks")
    assert "remarks that were not used: 'on two racks; debug build'" in " ".join(scan(path).notes)
    _with_comments(path, B4="estimated")
    with pytest.raises(ReadError, match=r"'estimated' in column 'comment' says that this is no run to learn from"):
        scan(path)


@pytest.mark.parametrize("cell", ["A1", "B3"])
def test_comments_on_titles_and_headings_are_beside_the_table(tmp_path: Path, cell: str) -> None:
    path = _with_comments(book(tmp_path / "runs.xlsx", A=[["Scaling"], [], *ROWS]), **{cell: "sum of five runs"})
    with pytest.raises(ReadError, match="whether 'sum of five runs', beside the table"):
        scan(path)
    assert ": on two racks'" in " ".join(scan(_with_comments(path, **{cell: "on two racks"})).notes)


def test_texts_of_other_sheets_and_names_of_sheets_are_beside_the_table(tmp_path: Path) -> None:
    told = [["The sum of five runs."], ["Ask Ada."]]
    for sheets in ({"A": ROWS, "notes": told}, {"Read me": told, "A": ROWS}, {"sum of five runs": ROWS}):
        with pytest.raises(ReadError, match="whether 'sum of five runs', beside the table"):
            scan(book(tmp_path / "runs.xlsx", **sheets))
    path = book(tmp_path / "runs.xlsx", A=ROWS, B=ROWS, notes=[["on two racks"]])
    assert "'on two racks'" in " ".join(scan(path, sheet="A").notes)
    assert "'on two racks'" not in " ".join(scan(path, sheet="*").notes)


def test_a_merged_cell_holds_for_all_its_rows(tmp_path: Path) -> None:
    """Only the first row of each mesh had its name; real merges tell which rows they are of."""
    rows: list[list[Any]] = [
        ["Mesh", "Cores", "Time (s)"],
        ["fine", 8, 80],
        [None, 16, 44],
        ["coarse", 8, 10],
        [None, 16, 6],
    ]
    path = book(tmp_path / "runs.xlsx", Runs=rows)
    made = openpyxl.load_workbook(path)
    for area in ("A2:A3", "A4:A5"):
        made["Runs"].merge_cells(area)
    made.save(path)
    assert scan(path).runs[""].configurations["Mesh"].tolist() == ["fine", "fine", "coarse", "coarse"]


def test_a_name_that_is_merged_over_two_rows_is_no_value(tmp_path: Path) -> None:
    path = book(tmp_path / "runs.xlsx", Runs=[["cores", "time"], [None, "[min]"], [8, 80], [16, 44]])
    made = openpyxl.load_workbook(path)
    made["Runs"].merge_cells("A1:A2")
    made.save(path)
    assert list(scan(path).runs[""].values) == [4800, 2640]
