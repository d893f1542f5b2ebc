"""Lines of text between the rows of a table: rows below different ones may be runs of different kinds."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import openpyxl
import pandas as pd
import pytest

from evenly.errors import ReadError
from evenly.readers.scanning import scan
from evenly.readers.tables.headings import without_titles

SMALL = [(16, 400.3), (32, 203.1), (64, 104.9), (128, 54.8)]
LARGE = [(256, 119.6), (512, 70.2), (1024, 44.7)]
NEW = "\n"
PAIRS = [
    ("1M cells", "4M cells"),
    ("n = 1000", "n = 4000"),
    ("coarse", "fine"),
    ("v1.2", "v1.3"),
    ("512^3", "1024^3"),
    ("mesh: coarse", "mesh: fine"),
]


def _csv(rows: Sequence[tuple[float, ...]]) -> str:
    return "".join(f"{','.join(map(str, row))}\n" for row in rows)


def _bars(rows: Sequence[tuple[float, ...]]) -> str:
    return "".join(f"| {p} | {s} |\n" for p, s in rows)


def _tex(rows: Sequence[tuple[float, ...]]) -> str:
    return "".join(f"{p} & {s} \\\\\n" for p, s in rows)


def _write(folder: Path, name: str, text: str) -> Path:
    (folder / name).write_text(text)
    return folder / name


def _refused(path: Path, *quoted: str) -> str:
    """Check that rows below lines are asked about, that all are quoted, and that naming the parameters answers."""
    with pytest.raises(ReadError, match="rows stand below") as caught:
        scan(path)
    found = scan(path, parameters=["cores"])
    assert len(found.runs[""]) == len(SMALL) + len(LARGE)
    for text in quoted:
        assert f"'{text}' (line " in str(caught.value)
        assert text in " ".join(found.notes)
    return str(caught.value)


@pytest.mark.parametrize("pair", PAIRS)
def test_rows_below_comments_of_their_own_are_asked_about(tmp_path: Path, pair: tuple[str, str]) -> None:
    small, large = pair
    rows = f"cores,time_s\n# {small}\n{_csv(SMALL)}# {large}\n{_csv(LARGE)}"
    said = _refused(_write(tmp_path, "runs.csv", rows), small, large)
    assert f"'cores, time_s, kind' above '256, 119.6, {large}'" in said
    assert "--parameters cores" in said
    above = f"# {small}\ncores,time_s\n{_csv(SMALL)}\n# {large}\ncores,time_s\n{_csv(LARGE)}"
    _refused(_write(tmp_path, "above.csv", above), small, large)


@pytest.mark.parametrize("pair", PAIRS)
def test_the_column_that_is_asked_for_answers(tmp_path: Path, pair: tuple[str, str]) -> None:
    rows = "".join(f"{p},{s},{kind}\n" for kind, of in zip(pair, (SMALL, LARGE), strict=True) for p, s in of)
    assert "kind" in scan(_write(tmp_path, "runs.csv", f"cores,time_s,kind\n{rows}")).runs[""].parameters


def test_headings_in_texts_are_asked_about(tmp_path: Path) -> None:
    names = "| cores | time_s |\n|---|---|\n"
    text = f"# Scaling\n\n### 1M\n\n{names}{_bars(SMALL)}\n### 4M\n\n{_bars(LARGE)}"
    _refused(_write(tmp_path, "runs.md", text), "1M", "4M")
    _refused(_write(tmp_path, "runs.org", f"** mesh 1M\n{names}{_bars(SMALL)}** mesh 4M\n{_bars(LARGE)}"), "mesh 4M")
    blank = f"{names}| **coarse** | |\n{_bars(SMALL)}| **fine** | |\n{_bars(LARGE)}"
    _refused(_write(tmp_path, "titles.md", blank), "coarse", "fine")
    begin, end = "\\begin{tabular}{rr}\ncores & time_s \\\\\n\\midrule\n", "\\bottomrule\n\\end{tabular}\n"
    tex = f"{begin}{_tex(SMALL)}\\midrule % 8M cells\n{_tex(LARGE)}{end}"
    _refused(_write(tmp_path, "comment.tex", tex), "8M cells")
    titles = ["\\multicolumn{2}{c}{mesh 1M} \\\\\n\\cmidrule(lr){1-2}\n", "\\multicolumn{2}{c}{mesh 4M} \\\\\n"]
    tex = f"{begin}{titles[0]}{_tex(SMALL)}\\midrule\n{titles[1]}{_tex(LARGE)}{end}"
    said = _refused(_write(tmp_path, "titles.tex", tex), "mesh 1M", "mesh 4M")
    assert "--where" not in said


@pytest.mark.parametrize("title", ["mesh {},", "mesh {0},mesh {0}"])
def test_rows_of_titles_in_delimited_text_are_asked_about(tmp_path: Path, title: str) -> None:
    small, large = title.format("1M"), title.format("4M")
    text = f"cores,time_s\n{small}\n{_csv(SMALL)}{large}\n{_csv(LARGE)}"
    _refused(_write(tmp_path, "runs.csv", text), "mesh 1M", "mesh 4M")


def test_titles_between_columns_that_blanks_part_are_asked_about(tmp_path: Path) -> None:
    small, large = (_csv(rows).replace(",", " ") for rows in (SMALL, LARGE))
    text = f"cores time_s\ncoarse mesh\n{small}fine mesh\n{large}"
    _refused(_write(tmp_path, "runs.txt", text), "coarse mesh", "fine mesh")


def test_words_and_a_number_between_columns_that_blanks_part_may_be_a_title(tmp_path: Path) -> None:
    path = _write(tmp_path, "runs.txt", f"cores time_s\nmesh 64\n{_csv(SMALL).replace(',', ' ')}")
    with pytest.raises(ReadError, match=r"got 'mesh': .*; if it tells what the rows below it are, give that a column"):
        scan(path)


@pytest.mark.parametrize("row", [["serial", "800"], ["count", "s"], ["serial", "13:20"]])
def test_rows_with_values_or_units_are_no_titles(row: list[str]) -> None:
    cells = pd.DataFrame([row, ["16", "400.3"]], columns=["cores", "time"], dtype=object)
    assert without_titles(cells, np.array([2, 3]), " ")[2] == {}


def test_a_title_across_the_columns_of_restructuredtext_is_asked_about(tmp_path: Path) -> None:
    rule, rows = "=====  ========\n", ["".join(f"{p:<5}  {s}\n" for p, s in of) for of in (SMALL, LARGE)]
    text = f"{rule}cores  time_s\n{rule}{rows[0]}---------------\n**4M cells**\n---------------\n{rows[1]}{rule}"
    _refused(_write(tmp_path, "runs.rst", text), "4M cells")


def test_rows_of_titles_in_a_sheet_are_asked_about(tmp_path: Path) -> None:
    book = openpyxl.Workbook()
    sheet: Any = book.active
    for row in (("cores", "time_s"), ("mesh 1M",), *SMALL, ("mesh 4M",), *LARGE):
        sheet.append(row)
    book.save(tmp_path / "runs.xlsx")
    assert "--where" not in _refused(tmp_path / "runs.xlsx", "mesh 1M", "mesh 4M")
    sheet.delete_rows(2)
    sheet.insert_rows(1)
    sheet["A1"] = "mesh 1M"
    book.save(tmp_path / "above.xlsx")
    _refused(tmp_path / "above.xlsx", "mesh 1M", "mesh 4M")


@pytest.mark.parametrize(
    "text",
    [
        f"# Wing, run by Ada\ncores,time_s\n{_csv(SMALL)}{_csv(LARGE)}",
        f"cores,time_s\n# 1M cells\n{_csv(SMALL)}{_csv(LARGE)}# end of June\n",
        f"cores,time_s\n{_csv(SMALL)}cores,time_s\n{_csv(LARGE)}",
        f"# cores,time_s\n{_csv(SMALL)}# cores,time_s\n{_csv(LARGE)}",
        f"cores,time_s\n# 1M cells\n{_csv(SMALL)}# 1M cells\n{_csv(LARGE)}",
        f"# 1M cells\ncores,time_s\n{_csv(SMALL)}\n# 1M cells\ncores,time_s\n{_csv(LARGE)}",
        f"cores,time_s\n{_csv(SMALL)}# 200,80.2\n{_csv(LARGE)}",
        f"cores,time_s\n{_csv(SMALL)}# 200,failed\n{_csv(LARGE)}",
        f"cores,time_s\n{_csv(SMALL)}# ---------\n{_csv(LARGE)}",
        "remark,cores,time_s\n" + "".join(f",{p},{s}\n" for p, s in [*SMALL, *LARGE[:-1]]) + '"one\ntwo",1024,44.7\n',
    ],
)
def test_other_lines_part_no_rows(tmp_path: Path, text: str) -> None:
    assert len(scan(_write(tmp_path, "runs.csv", text)).runs[""]) == len(SMALL) + len(LARGE)


@pytest.mark.parametrize(
    "text",
    [
        "cores,time_s\n# 16 cores\n16,400\n16,401\n# 32 cores\n32,203\n32,204\n",
        "mesh,cores,time_s\n# 1M cells\na,16,400\na,32,201\n# 4M cells\nb,64,412\nb,128,209\n",
        "component,cores,time_s\n# ocean\nocn,16,400\nocn,32,201\n# atmosphere\natm,64,412\natm,128,209\n",
        "component,cores,time_s\n# x\nocn,16,400\nocn,32,201\n# y\natm,64,412\natm,128,209\n# x\nice,8,12\nice,16,7\n",
        "cores,time_s\n# Monday\n16,400\n32,201\n64,103\n# Tuesday\n16,404\n32,199\n64,102\n128,54\n",
    ],
)
def test_what_columns_tell_and_runs_that_agree_arent_asked_about(tmp_path: Path, text: str) -> None:
    found = scan(_write(tmp_path, "runs.csv", text))
    assert sum(map(len, found.runs.values())) == text.count("\n") - text.count("#") - 1
    assert (
        any("text above rows of the table, which was not used" in note for note in found.notes) or "# 16 cores" in text
    )


def test_counts_that_change_with_a_line_tell_nothing(tmp_path: Path) -> None:
    text = "ranks,threads,time_s\n# 1M cells\n4,4,400\n8,4,203\n# 4M cells\n16,8,219\n32,8,118\n"
    with pytest.raises(ReadError, match=r"rows stand below .*--parameters ranks,threads"):
        scan(_write(tmp_path, "runs.csv", text))
    text = "n,time_s\n# v1.2\n1000,40\n1000,41\n# v1.3\n2000,75\n2000,76\n"
    with pytest.raises(ReadError, match=r"rows stand below .*--parameters n"):
        scan(_write(tmp_path, "sizes.csv", text))


def test_repeated_runs_side_by_side_below_lines_are_asked_about(tmp_path: Path) -> None:
    text = "cores,run1_s,run2_s\n# 1M cells\n16,400,401\n32,203,202\n# 4M cells\n64,412,413\n128,209,208\n"
    path = _write(tmp_path, "runs.csv", text)
    with pytest.raises(ReadError, match=r"rows stand below .*--parameters cores"):
        scan(path)
    assert len(scan(path, parameters=["cores"]).runs[""]) == 8


def test_rows_that_a_condition_leaves_are_below_one_line(tmp_path: Path) -> None:
    path = _write(tmp_path, "runs.csv", f"cores,time_s\n# 1M cells\n{_csv(SMALL)}# 4M cells\n{_csv(LARGE)}")
    assert len(scan(path, where="cores < 200").runs[""]) == len(SMALL)
