"""What stands above a table: titles, and comments before and behind the one that names the columns."""

from __future__ import annotations

from pathlib import Path

import pytest

from evenly.errors import ReadError
from evenly.readers.scanning import scan
from evenly.runs.runs import Runs

ROWS = "16,52.1\n32,28.9\n64,16.4\n256,7.4\n"


def _read(folder: Path, text: str, name: str = "runs.csv", **options: str) -> Runs:
    path = folder / name
    path.write_text(text)
    return scan(path, **options).runs[""]


@pytest.mark.parametrize(
    "title",
    [
        "Wing",  # read as 'Wing cores' and 'Wing time_s' once
        "Scaling of the wing",
        "Wing, June 2026",
        "Results of the wing, of June, as measured",
        "Wing\n\nJune 2026",
        "June",
        "Run 12 of 2026",
    ],
)
def test_a_title_names_no_column(tmp_path: Path, title: str) -> None:
    for text in (f"{title}\ncores,time_s\n{ROWS}", f"{title}\ncores time_s\n{ROWS}".replace(",", " ")):
        runs = _read(tmp_path, text)
        assert runs.parameters == ["cores"]
        assert runs.values.tolist() == [52.1, 28.9, 16.4, 7.4]


def test_a_unit_in_a_title_is_asked_about(tmp_path: Path) -> None:
    for title in ("Times are in minutes", "Results of the wing, times in minutes"):
        text = f"{title}\ncores,time\n{ROWS}"
        with pytest.raises(ReadError, match="--unit min"):
            _read(tmp_path, text)
        assert _read(tmp_path, text, unit="min").values[0] == pytest.approx(52.1 * 60)


def test_a_row_of_groups_above_the_names_is_no_title(tmp_path: Path) -> None:
    runs = _read(tmp_path, "wing,,duct\ncores,time [s],mesh\n16,52.1,4\n32,28.9,4\n64,16.4,8\n")
    assert set(runs.parameters) == {"wing cores", "duct mesh"}


def test_a_second_table_below_its_title_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ReadError, match="line 9: a second table begins above"):
        _read(tmp_path, f"Small\ncores,time_s\n{ROWS}\nLarge\ncores,time_s\n{ROWS}")


@pytest.mark.parametrize("remark", ["Source: own measurements", "Measured by Ada, in June"])
def test_words_below_a_table_are_no_row(tmp_path: Path, remark: str) -> None:
    assert len(_read(tmp_path, f"cores,time_s\n{ROWS}\n{remark}\n")) == len(ROWS.strip().splitlines())


def test_words_between_blanks_below_a_table_may_hold_numbers(tmp_path: Path) -> None:
    rows = ROWS.replace(",", " ")
    assert len(_read(tmp_path, f"cores time_s\n{rows}\nwith 2 threads per rank\n")) == len(ROWS.strip().splitlines())


def test_units_below_a_table_are_asked_about(tmp_path: Path) -> None:
    with pytest.raises(ReadError, match="times in minutes"):
        _read(tmp_path, f"cores,time_s\n{ROWS}\nAll times in minutes.\n")


def test_what_is_no_row_may_become_a_remark(tmp_path: Path) -> None:
    with pytest.raises(ReadError, match="begin the line with # if it is a remark"):
        _read(tmp_path, f"cores,time_s\nSource: own measurements\n{ROWS}\n")


@pytest.mark.parametrize(
    "header",
    [
        "# cores time[s]\n# machine: hawk",
        "# cores time[s]\n# -----------",
        "# of June\n# cores time[s]\n# measured twice\n# machine: hawk",
        "! cores time[s]",
        "# cores time[s]",
        "# 1:cores 2:time[s]",
        "# [1]=cores [2]=time[s]",
    ],
)
def test_comments_behind_that_with_the_names(tmp_path: Path, header: str) -> None:
    runs = _read(tmp_path, f"{header}\n{ROWS}".replace(",", " "), "runs.dat")
    assert runs.parameters == ["cores"]
    assert runs.values.tolist() == [52.1, 28.9, 16.4, 7.4]


def test_a_numbered_speed_up_is_an_outcome(tmp_path: Path) -> None:
    rows = "16 53.31 1.00\n32 29.04 1.86\n64 16.97 3.27\n256 7.22 7.32\n"
    assert _read(tmp_path, f"# 1:cores 2:time[s] 3:speedup\n{rows}", "runs.dat").parameters == ["cores"]


@pytest.mark.parametrize(
    "above", ["", "# EPYC 7763, two of them\n#\n", "# ranks   wall clock (ms)\n" + "# 8  9\n" * 12]
)
def test_names_in_a_comment_may_hold_blanks(tmp_path: Path, above: str) -> None:
    rows = "".join(f"{p}          {10_000 // p}\n" for p in (1, 2, 4, 8))
    runs = _read(tmp_path, f"{above}# ranks       wall clock (ms)\n{rows}", "runs.txt")
    assert runs.parameters == ["ranks"]
    assert runs.values.tolist() == [10.0, 5.0, 2.5, 1.25]


@pytest.mark.parametrize("title", ["times in s", "Messung vom 3. März alle Zeiten in s", "all times in s"])
@pytest.mark.parametrize("mark", [",", ";", "\t"])
def test_a_title_of_several_words_above_repeated_runs_parts_no_cells(tmp_path: Path, title: str, mark: str) -> None:
    rows = "cores,run 1,run 2,run 3\n8,1552.5,1583.5,1537.0\n16,795.8,811.7,787.9\n32,395.2,403.1,391.2\n"
    path = tmp_path / "runs.csv"
    path.write_text(f"{title}\n{rows.replace(',', mark)}")
    assert len(scan(path, unit="s").runs[""]) == 9


@pytest.mark.parametrize("command", ["> print(d)", "> d", "> d[order(d$cores), ]"])
def test_commands_around_what_r_printed_are_left_out(tmp_path: Path, command: str) -> None:
    rows = "  cores    time_s\n1    10  1806.595\n2    20   945.582\n3    40   485.790\n"
    assert _read(tmp_path, f"{command}\n{rows}> \n", "d.txt").values.tolist() == [1806.595, 945.582, 485.79]


@pytest.mark.parametrize("line", ["4M cells", "10 runs", "runs: 10", "8 threads", "v1.3", "n = 4000"])
def test_a_word_and_a_number_beside_a_table_are_quoted(tmp_path: Path, line: str) -> None:
    (tmp_path / "runs.csv").write_text(f"# {line}\ncores,time_s\n{ROWS}")
    assert any(line in note for note in scan(tmp_path / "runs.csv").notes)
