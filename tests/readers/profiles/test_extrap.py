"""Extra-P's input formats: right answers from its own example files, units, and damage."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings

from evenly.errors import ReadError
from evenly.readers import scan
from evenly.readers.profiles.extrap_json import ExtrapJsonReader
from evenly.readers.profiles.extrap_lines import ExtrapLinesReader
from evenly.readers.profiles.extrap_text import ExtrapTextReader
from evenly.readers.profiles.talpas import TalpasReader
from evenly.runs.runs import Runs
from tests.readers.damage import check_reads_or_refuses, damaged

TEXT = """\
# a comment
PARAMETER p n
POINTS (4 10) (8 10)
METRIC time
REGION main->solve
DATA 8.0 8.2
DATA 4.0 4.1
METRIC bytes sent
REGION main->solve
DATA 100 100
DATA 200 0
"""
POINTS = [[4, 10], [8, 10]]


def write(folder: Path, text: str, name: str = "profile.txt") -> Path:
    path = folder / name
    path.write_text(text)
    return path


def only(path: Path, **options: str) -> Runs:
    found = scan(path, **options).runs
    assert list(found) == [""]
    return found[""]


def test_text_gives_regions_times_metrics_and_keeps_repetitions(tmp_path: Path) -> None:
    runs = only(write(tmp_path, TEXT), unit="ms")
    assert runs.parameters == ["region", "p", "n"]
    assert runs.quantities == {"seconds": "s", "bytes sent": "B"}
    np.testing.assert_allclose(runs.values, [0.008, 0.0082, 0.004, 0.0041])
    assert runs.to_frame()["bytes sent"].tolist() == [100, 100, 200, 0]
    assert runs.to_frame()["repetition"].tolist() == [0, 1, 0, 1]


@pytest.mark.parametrize(
    ("name", "kind", "rows", "parameters", "first"),
    [
        ("text_one_parameter_1.txt", "extrap-text", 30, ["x"], 82.00848518948744),
        ("text_one_parameter_2.txt", "extrap-text", 375, ["x"], 82.00848518948744),
        ("text_two_parameter_1.txt", "extrap-text", 125, ["x", "y"], 1.007912824061828),
        ("text_three_parameter_1.txt", "extrap-text", 625, ["x", "y", "z"], None),
        ("text_strong_scaling_one_parameter_6.txt", "extrap-text", 89, ["p"], 4.1),
        ("input_experiments_SP_experiment2.txt", "extrap-text", 89, ["p"], 4.1),
        ("input_input_data_1p.txt", "extrap-text", 25, ["x"], 82.00848518948744),
        ("json_input_1.JSON", "extrap-json", 25, ["x"], 3.5),
        ("json_new_input1.json", "extrap-json", 25, ["x"], 3.5),
        ("json_new_input2.json", "extrap-json", 50, ["x", "y"], 3.5),
        ("jsonlines_input_1.jsonl", "extrap-lines", 125, ["x", "y"], 48663.50675180765),
        ("jsonlines_test1.jsonl", "extrap-lines", 125, ["x", "y"], 2.0),
        ("talpas_talpas_1.txt", "talpas", 25, ["x"], 82.00848518948744),
    ],
)
def test_extra_ps_own_files(
    strangers: Path, name: str, kind: str, rows: int, parameters: list[str], first: float | None
) -> None:
    path = strangers / "3-profiles" / "extrap-tests" / name
    found = scan(path)
    runs = found.runs[""]
    assert [form for _, form in found.sources] == [kind]
    assert len(runs) == rows
    assert runs.parameters == ["region", *parameters]
    if first is not None:
        assert runs.values[0] == first


def test_what_is_no_time_stays_a_number_and_that_is_said(strangers: Path) -> None:
    folder = strangers / "3-profiles" / "extrap-tests"
    found = scan(folder / "text_two_parameter_1.txt")
    assert found.runs[""].quantities == {"metr": "1"}
    assert any("'metr' stays a number without unit" in note for note in found.notes)
    seconds = only(folder / "text_two_parameter_1.txt", time="metr", unit="us")
    np.testing.assert_allclose(seconds.values[0], 1.007912824061828e-6)
    assert only(folder / "json_new_input2.json").quantities == {"seconds": "s", "visits": "1"}


def test_the_unit_of_time_is_assumed_aloud(tmp_path: Path) -> None:
    assert any("'time' is taken as seconds" in note for note in scan(write(tmp_path, TEXT)).notes)
    assert not any("is taken as" in note for note in scan(write(tmp_path, TEXT), unit="s").notes)


def test_two_times_are_asked_about(tmp_path: Path) -> None:
    path = write(tmp_path, TEXT.replace("bytes sent", "wall time"))
    with pytest.raises(ReadError, match=r"several times \(time, wall time\).*--time"):
        ExtrapTextReader().read(path)
    assert ExtrapTextReader(time="time").read(path)[""].quantities == {"seconds": "s", "wall time": "1"}


def test_a_metric_without_a_name_is_no_time(tmp_path: Path) -> None:
    path = tmp_path / "profile.txt"
    path.write_text("PARAMETER p\nPOINTS (4) (8)\nREGION solve\nDATA 8.0\nDATA 4.0\n")
    assert only(path).quantities == {"value": "1"}
    assert only(path, time="", unit="ms").values.tolist() == [0.008, 0.004]


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (TEXT.replace("DATA 200 0\n", ""), "1 DATA lines, but there are 2 points: the file seems to be cut off"),
        (TEXT.replace("DATA 4.0 4.1\n", ""), "cut off"),
        (TEXT.replace("DATA 200 0", "DATA 200 0\nDATA 1"), "more DATA lines than the 2 points"),
        (TEXT.replace("4.1", "4.x"), "a number was expected"),
        (TEXT.replace("(8 10)", "(8)"), "each point needs 2 values"),
        (TEXT.replace("REGION", "REGOIN"), "REGOIN"),
        (TEXT.replace("4.1", "-4.1"), "zero or more"),
        ("PARAMETER p\nPOINTS 4\n", "no measured value"),
    ],
)
def test_broken_text_is_refused(tmp_path: Path, text: str, reason: str) -> None:
    with pytest.raises(ReadError, match=reason):
        ExtrapTextReader().read(write(tmp_path, text))


def json_new() -> str:
    points = [{"point": point, "values": [8.0, 8.2]} for point in POINTS]
    return json.dumps({"parameters": ["p", "n"], "measurements": {"main->solve": {"time": points}}})


def json_old() -> str:
    pairs = [
        {"id": k, "parameter_value_pairs": [
            {"parameter_id": 7, "parameter_value": p}, {"parameter_id": 9, "parameter_value": n}]}
        for k, (p, n) in enumerate(POINTS)
    ]  # fmt: skip
    measured = [
        {"coordinate_id": k, "callpath_id": 3, "metric_id": 5, "value": value} for k in (0, 1) for value in (8.0, 8.2)
    ]
    return json.dumps({
        "callpaths": [{"id": 3, "name": "main->solve"}], "coordinates": pairs, "measurements": measured,
        "metrics": [{"id": 5, "name": "time"}], "parameters": [{"id": 7, "name": "p"}, {"id": 9, "name": "n"}],
    })  # fmt: skip


def lines_of(parameters: str, separator: str) -> str:
    rows = [
        {parameters: {"p": p, "n": n}, "metric": "time", "callpath": "main->solve", "value": value}
        for p, n in POINTS
        for value in (8.0, 8.2)
    ]
    return "".join(json.dumps(row, separators=(separator, ":")) + "\n" for row in rows)


READERS = {
    "new.json": (ExtrapJsonReader, json_new()),
    "old.json": (ExtrapJsonReader, json_old()),
    "profile.jsonl": (ExtrapLinesReader, lines_of("params", ",")),
    "talpas.txt": (TalpasReader, lines_of("parameters", ";")),
}


@pytest.mark.parametrize("name", READERS)
def test_all_formats_hold_the_same(tmp_path: Path, name: str) -> None:
    kind, text = READERS[name]
    path = write(tmp_path, text, name)
    assert [form for _, form in scan(path).sources] == [kind.name]
    runs = only(path)
    assert runs.configurations.drop_duplicates().to_numpy().tolist() == [["main->solve", 4, 10], ["main->solve", 8, 10]]
    assert runs.values.tolist() == [8.0, 8.2, 8.0, 8.2]


@pytest.mark.parametrize("name", READERS)
def test_a_file_cut_off_inside_a_line_is_refused(tmp_path: Path, name: str) -> None:
    kind, text = READERS[name]
    with pytest.raises(ReadError, match=r"cut off|broken"):
        kind().read(write(tmp_path, text[:-6], name))


@settings(max_examples=30)
@given(content=damaged(TEXT.encode(), "PARMETGION0123456789. ()"))
def test_damaged_text_is_read_or_refused(content: bytes, tmp_path_factory: pytest.TempPathFactory) -> None:
    check_reads_or_refuses(
        ExtrapTextReader(), tmp_path_factory.getbasetemp() / "profile.txt", content, may_lack_times=True
    )


@pytest.mark.parametrize("name", READERS)
def test_damaged_json_is_read_or_refused(name: str, tmp_path_factory: pytest.TempPathFactory) -> None:
    kind, text = READERS[name]

    @settings(max_examples=30)
    @given(content=damaged(text.encode(), '{}[]":;,0123456789.truenl'))
    def check(content: bytes) -> None:
        check_reads_or_refuses(kind(), tmp_path_factory.getbasetemp() / name, content)

    check()
