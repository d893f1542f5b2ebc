"""What is the same in all rows, or stands in JSON outside the rows, is asked about or said."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from evenly.errors import ReadError
from evenly.readers import scan

CORES = (8, 16, 32, 64)
SUM = "Each time is the sum of five runs."


def _notes(path: Path, text: str) -> list[str]:
    path.write_text(text)
    return [note.removeprefix(f"{path}: ") for note in scan(path).notes]


def _table(tmp_path: Path, names: str, cells: str) -> list[str]:
    rows = "".join(f"{p},{800 / p},{cells}\n" for p in CORES)
    return _notes(tmp_path / "runs.csv", f"cores,time_s,{names}\n{rows}")


@pytest.mark.parametrize("name", ["comment", "Bemerkung", "timer", "how"])
def test_a_sentence_in_all_rows_is_as_one_beside_the_table(tmp_path: Path, name: str) -> None:
    with pytest.raises(
        ReadError, match="whether 'sum of five runs', beside the table, tells that 'time_s' is the time"
    ):
        _table(tmp_path, name, "sum of five runs")
    said = f"text beside the table, which was not used: '{name}: times ten to be read'"
    assert said in _table(tmp_path, name, "times ten to be read")


def test_a_remark_of_one_word_in_all_rows_is_quoted(tmp_path: Path) -> None:
    assert "text beside the table, which was not used: 'Bemerkung: geschätzt'" in _table(
        tmp_path, "Bemerkung", "geschätzt"
    )


def test_numbers_and_labels_in_all_rows_are_said(tmp_path: Path) -> None:
    found = _table(tmp_path, "n_runs,members,SMT,grid,machine,threads", "5,10,on,512,hawk,1")
    assert "the same in all rows, not used: n_runs = 5, members = 10, SMT = on" in found
    assert not [note for note in _table(tmp_path, "grid,machine,compiler", "512,hawk,gcc 12") if "same in all" in note]


def test_what_is_the_same_in_one_solver_or_one_file_alone_is_said_so(tmp_path: Path) -> None:
    for name, column in (("atm", ""), ("ocn", ",calls")):
        rows = "".join(f"{p},{800 / p}{',4' if column else ''}\n" for p in CORES)
        (tmp_path / f"{name}.csv").write_text(f"cores,time_s{column}\n{rows}")
    assert "the same in all rows, not used: calls = 4 (ocn)" in scan(tmp_path).notes
    (tmp_path / "atm.csv").write_text((tmp_path / "ocn.csv").read_text().replace(",4\n", ",2\n"))
    assert not [note for note in scan(tmp_path).notes if "same in all" in note]


def test_fewer_cores_than_nodes_are_asked_about(tmp_path: Path) -> None:
    path = tmp_path / "runs.csv"
    path.write_text("cores,nodes,time_s\n" + "".join(f"{p},4,{800 / p}\n" for p in (2, 4, 8, 16)))
    with pytest.raises(ReadError, match=r"line 2: 2 cores can't fill 4 nodes: .* call it 'cores_per_node'; if not"):
        scan(path)
    assert scan(path, parameters="cores").runs[""].parameters == ["cores"]
    path.write_text(path.read_text().replace("nodes", "mesh nodes"))
    scan(path)


RECORDS = [{"cores": p, "time_s": 800 / p} for p in CORES]
COLUMNS: dict[str, Any] = {"cores": [*CORES], "time_s": [800 / p for p in CORES]}
SPLIT = {"columns": [*COLUMNS], "index": [0, 1, 2, 3], "data": [[one["cores"], one["time_s"]] for one in RECORDS]}


@pytest.mark.parametrize(
    "found",
    [
        {"note": SUM, "runs": RECORDS},
        {"meta": {"how": {"note": SUM}}, "runs": RECORDS},
        {"runs": RECORDS, "remark": SUM},
        {"sum_of_5_runs": RECORDS},
        {"schema": {"fields": [{"name": "time_s", "description": SUM}]}, "data": RECORDS},
        {"runs": RECORDS, "meta": {"notes": ["by Ada", SUM]}},
        COLUMNS | {"note": SUM},
        SPLIT | {"title": SUM},
        [one | {"_comment": SUM} for one in RECORDS],
    ],
)
def test_texts_of_json_outside_the_rows_are_beside_the_table(tmp_path: Path, found: Any) -> None:
    path = tmp_path / "runs.json"
    with pytest.raises(ReadError, match=r"whether 'sum of (five|5) runs', beside the table, tells"):
        _notes(path, json.dumps(found))
    other = json.dumps(found).replace("sum of five", "like of five").replace("sum_of_5_runs", "of_two_racks")
    assert any(
        "text beside the table" in note and ("like of" in note or "racks" in note) for note in _notes(path, other)
    )


def test_numbers_and_units_of_json_outside_the_rows(tmp_path: Path) -> None:
    path = tmp_path / "runs.json"
    found = {"meta": {"n_runs": 5, "machine": "hawk", "version": "1.2"}, "repeats_added": 5, "runs": RECORDS}
    notes = _notes(path, json.dumps(found))
    assert "the same in all rows, not used: repeats_added = 5" in notes
    assert "text beside the table, which was not used: 'meta n_runs: 5'" in notes
    times = [{"cores": p, "time": 80 / p} for p in CORES]
    with pytest.raises(ReadError, match="--unit min"):
        _notes(path, json.dumps({"units": {"time": "min"}, "runs": times}))


def test_words_in_place_of_dates_are_quoted_and_frequent_remarks_come_first(tmp_path: Path) -> None:
    path = tmp_path / "runs.csv"
    days = ["2024-05-01", "2024-05-02", "planned", "planned"]
    rows = "".join(f"{p},{800 / p},{day}\n" for p, day in zip(CORES, days, strict=True))
    assert "remarks that were not used: 'planned'" in _notes(path, f"cores,time_s,date\n{rows}")
    cells = ["ok", "quiet", "night", "day", "rerun", "theory", "theory"]
    rows = "".join(f"{p},{800 / p},{cell}\n" for p, cell in zip((8, 12, 16, 24, 32, 48, 64), cells, strict=True))
    assert "remarks that were not used: 'theory', 'ok', 'quiet', 'night' and 2 more" in _notes(
        path, f"cores,time_s,remark\n{rows}"
    )


def test_lines_about_counts_come_first_and_long_ones_lose_their_middle(tmp_path: Path) -> None:
    path = tmp_path / "runs.csv"
    rows = "".join(f"{p},{800 / p}\n" for p in CORES)
    lines = "".join(f"# day {n} of the campaign\n" for n in range(1, 7)) + "# beyond 32 it is the line\n"
    said = _notes(path, f"{lines}cores,time_s\n{rows}")[-1]
    assert said.startswith("text beside the table, which was not used: 'beyond 32 it is the line', 'day 1 of")
    long = f"# Made {'in the spring campaign on a quiet machine ' * 9}and five runs were added\n"
    said = _notes(path, f"{long}cores,time_s\n{rows}")[-1]
    assert " … " in said
    assert said.endswith("and five runs were added'")
