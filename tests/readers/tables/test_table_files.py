"""Files that evenly or pandas wrote: runs files, Parquet, CSV."""

from __future__ import annotations

import csv
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import event, given, settings
from hypothesis import strategies as st
from openpyxl import Workbook

from evenly.errors import MissingExtraError, ReadError
from evenly.readers.scanning import scan
from evenly.readers.tables.table import TableReader
from evenly.runs.runs import Runs
from tests.readers.tables.test_table import read_one, write


def test_evenly_files_come_back_as_they_were(tmp_path: Path) -> None:
    frame = pd.DataFrame({"cores": [1, 2, 2], "kind": ["a", "b", "b"], "seconds": [3.0, 2.0, 1.0]})
    runs = Runs.from_frame(frame, ["cores", "kind"])
    for name in ("runs.csv", "runs.parquet"):
        runs.save(tmp_path / name)
        assert read_one(tmp_path / name) == runs


def test_parquet_of_others(tmp_path: Path) -> None:
    frame = pd.DataFrame({"cores": [1, 2], "wall_ms": [30.0, np.nan], "kind": ["a", "b"]})
    frame.to_parquet(tmp_path / "t.parquet")
    runs = read_one(tmp_path / "t.parquet")
    assert runs.parameters == ["cores", "kind"]
    assert len(runs.failed) == 1
    np.testing.assert_allclose(runs.ok.values, [0.03])
    with pytest.raises(ReadError, match="not a readable Parquet file"):
        TableReader().read(write(tmp_path, b"PAR1 no", "broken.parquet"))


@settings(max_examples=60, deadline=None)
@given(
    st.lists(
        st.tuples(st.integers(1, 10**6), st.floats(1e-9, 1e9), st.text("abcxyz é", min_size=1, max_size=5)),
        min_size=1,
        max_size=8,
    )
)
def test_what_was_written_is_what_is_read(
    tmp_path_factory: pytest.TempPathFactory, rows: list[tuple[int, float, str]]
) -> None:
    frame = pd.DataFrame(rows, columns=["cores", "seconds", "kind"])
    frame["kind"] = "k" + frame["kind"].str.strip()
    path = tmp_path_factory.getbasetemp() / "roundtrip.csv"
    frame.to_csv(path, index=False)
    # A label that differs in each row would name the row, and a time of nines would be asked about.
    runs = read_one(path, parameters="cores,kind", time="seconds")
    assert runs.parameters == ["cores", "kind"]
    pd.testing.assert_frame_equal(
        runs.configurations.astype({"kind": object}), frame[["cores", "kind"]].astype({"kind": object})
    )
    np.testing.assert_array_equal(runs.values, frame["seconds"])


def damaged_runs(folder: Path) -> bytes:
    frame = pd.DataFrame({"cores": [1, 2, 2], "kind": ["a", "b", "b"], "seconds": [3.0, 2.0, 1.0]})
    Runs.from_frame(frame, ["cores", "kind"]).save(folder / "original.csv")
    return (folder / "original.csv").read_bytes()


@settings(max_examples=200, deadline=None)
@given(
    cut=st.integers(0, 700),
    position=st.integers(16, 700),
    junk=st.one_of(st.binary(max_size=4), st.text('0123456789,{}[]":\n', max_size=4).map(str.encode)),
)
def test_damaged_runs_files(tmp_path_factory: pytest.TempPathFactory, cut: int, position: int, junk: bytes) -> None:
    original = damaged_runs(tmp_path_factory.getbasetemp())
    damaged = (original[:position] + junk + original[position + len(junk) :])[:cut]
    path = write(tmp_path_factory.getbasetemp(), damaged, "damaged_runs.csv")
    try:
        found = TableReader().read(path)
    except ReadError:
        event("refused")
    else:
        assert all(len(runs) for runs in found.values())


def test_parquet_with_an_index(tmp_path: Path) -> None:
    frame = pd.DataFrame({"cores": [1, 2], "seconds": [3.0, 2.0]}).set_index("cores")
    frame.to_parquet(tmp_path / "t.parquet")
    assert read_one(tmp_path / "t.parquet").configurations["cores"].tolist() == [1, 2]
    frame.iloc[:0].to_parquet(tmp_path / "empty.pq")
    assert TableReader().recognises(tmp_path / "empty.pq")
    with pytest.raises(ReadError, match="the table has no rows"):
        TableReader().read(tmp_path / "empty.pq")


def test_parquet_without_its_extra(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write(tmp_path, b"PAR1", "t.parquet")
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'evenly\[parquet\]'"):
        TableReader().read(path)


ALIGNED = "cores   time [s]   mesh\n1      100.0      fine\n2       52.0      fine\n4       27.0      fine\n"


@pytest.mark.parametrize(
    "text", [f"# Results\n\n```\n{ALIGNED}```\nas measured\n", f"Results\n\n{ALIGNED}\nBye  bye\n"]
)
def test_a_table_that_blanks_align_is_read_from_a_readme(tmp_path: Path, text: str) -> None:
    path = tmp_path / "README.md"
    path.write_text(text)
    assert scan(path).runs[""].values.tolist() == [100, 52, 27]
    path.write_text(f"{text}\n{ALIGNED}")
    with pytest.raises(ReadError, match="holds 2 tables"):
        scan(path)


@pytest.mark.parametrize("header", ["cores,time_s,,cores,time_s", "cores,time_s,,nodes,time", "n,time_s,,np,wall_s"])
def test_two_tables_side_by_side_are_refused(tmp_path: Path, header: str) -> None:
    path = tmp_path / "runs.csv"
    path.write_text(f"{header}\n1,100,,1,200\n2,52,,2,103\n")
    with pytest.raises(ReadError, match="an empty column parts two tables"):
        scan(path, time="time_s")
    book = Workbook()
    sheet = book.worksheets[0]
    for row in csv.reader(path.read_text().splitlines()):
        sheet.append([int(cell) if cell.isdigit() else cell or None for cell in row])
    book.save(tmp_path / "runs.xlsx")
    with pytest.raises(ReadError, match="an empty column parts two tables"):
        scan(tmp_path / "runs.xlsx", time="time_s")


def test_an_empty_column_within_a_table_is_none_between_two(tmp_path: Path) -> None:
    path = tmp_path / "runs.csv"
    path.write_text("cores,time_s,,mpi_time,comment\n1,100,,10,\n2,52,,8,\n")
    assert scan(path).runs[""].parameters == ["cores"]


def test_records_within_records_of_json(tmp_path: Path) -> None:
    path = tmp_path / "runs.json"
    path.write_text(
        '[{"mesh": "a", "runs": [{"cores": 1, "time_s": 9}, {"cores": 2, "time_s": 5}]},'
        ' {"mesh": "b", "runs": [{"cores": 1, "time_s": 19}, {"cores": 2, "time_s": 10}]}]'
    )
    runs = scan(path).runs[""]
    assert (runs.parameters, runs.values.tolist()) == (["mesh", "cores"], [9, 5, 19, 10])
    path.write_text('{"meta": {"host": "x"}, "mesh": "a", "cores": [1, 2], "time_s": [9, 5]}')
    assert scan(path).runs[""].values.tolist() == [9, 5]
    path.write_text('[{"cores": 1, "time_s": 9, "phases": [{"phase": "fft", "s": 3}, {"phase": "io", "s": 1}]}]')
    with pytest.raises(ReadError):
        scan(path)


def test_yaml_is_refused_by_name(tmp_path: Path) -> None:
    path = tmp_path / "runs.yaml"
    path.write_text("- {cores: 1, time_s: 9}\n- {cores: 2, time_s: 5}\n")
    with pytest.raises(ReadError, match="write YAML as JSON"):
        scan(path)


def test_a_page_is_refused_by_name(tmp_path: Path) -> None:
    path = tmp_path / "runs.html"
    path.write_text("<table><tr><th>cores</th><th>time_s</th></tr><tr><td>1</td><td>9</td></tr></table>\n")
    with pytest.raises(ReadError, match="save its table as CSV"):
        scan(path)


BOX = """                     Strong scaling
┌──────────┬─────────┬────────────┬────────────┬────────┐
│     size │   ranks │        min │     median │ allocs │
├──────────┼─────────┼────────────┼────────────┼────────┤
│ (64, 64) │  (1, 1) │    3.641 s │    3.686 s │   2336 │
│ (64, 64) │  (1, 2) │    1.917 s │    1.918 s │   2782 │
│ (64, 64) │  (2, 2) │ 952.029 ms │ 954.833 ms │   2822 │
│ (64, 64) │  (2, 4) │ 452.029 ms │ 464.833 ms │   2902 │
└──────────┴─────────┴────────────┴────────────┴────────┘
"""


@pytest.mark.parametrize("name", ["bench.txt", "README.md"])
def test_a_table_in_a_drawn_box(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    path.write_text(BOX, encoding="utf-8")
    found = scan(path)
    runs = found.runs[""]
    assert runs.parameters == ["ranks"]
    assert runs.configurations["ranks"].tolist() == [1, 2, 4, 8]
    np.testing.assert_allclose(runs.values, [3.686, 1.918, 0.954833, 0.464833])
    assert {one.name: one.role for one in found.columns}["min"] == "outcome"


def test_several_tables_of_json_are_refused_by_name(tmp_path: Path) -> None:
    """It was called a file in no known format."""
    path = tmp_path / "runs.json"
    records = "[" + ", ".join(f'{{"cores": {n}, "time_s": {96 / n}}}' for n in (8, 16, 32)) + "]"
    path.write_text(f'{{"coarse": {records}, "fine": {records}}}')
    with pytest.raises(
        ReadError, match=r'several tables \(coarse, fine\): write one list.*as in {"name": "coarse", …}'
    ):
        scan(path)
    path.write_text(f'{{"coarse": {records}, "machines": [{{"nodes": 2}}]}}')
    with pytest.raises(ReadError, match="in none of the formats"):
        scan(path)
