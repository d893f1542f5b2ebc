"""A text with several tables: one is chosen by its number or its heading."""

from __future__ import annotations

from pathlib import Path

import pytest

from evenly.errors import ReadError
from evenly.readers import scan

STRONG = "| Cores | Time (s) |\n|---|---|\n| 1 | 8 |\n| 2 | 4 |\n| 4 | 2 |\n"
WEAK = "| Cores | Work | Time (ms) |\n|---|---|---|\n| 1 | 100 | 3000 |\n| 2 | 200 | 3100 |\n| 4 | 400 | 3300 |\n"


@pytest.fixture
def readme(tmp_path: Path) -> Path:
    path = tmp_path / "README.md"
    path.write_text(
        f"# Code\n\nRun it.\n\n## Strong scaling\n\nMeasured in May.\n\n{STRONG}\n## Weak scaling\n{WEAK}\n"
    )
    return path


def test_the_refusal_lists_them(readme: Path) -> None:
    with pytest.raises(ReadError) as refused:
        scan(readme)
    said = str(refused.value)
    assert "2 tables: 1, line 9, below 'Strong scaling' (Cores, Time (s)); " in said
    assert "2, line 16, below 'Weak scaling' (Cores, Work, Time (ms))" in said
    assert "(-O table=1 or -O 'table=Strong scaling'), which holds for all files" in said


@pytest.mark.parametrize("table", [2, "2", "Weak scaling", "weak"])
def test_one_is_chosen(readme: Path, table: int | str) -> None:
    found = scan(readme, table=table)
    assert found.runs[""].values == pytest.approx([3.0, 3.1, 3.3])
    assert "table 2 of 2, at line 16" in " ".join(found.notes)
    assert list(scan(readme, table="strong").runs[""].values) == [8, 4, 2]


@pytest.mark.parametrize("table", [3, 0, "scaling", "Speedup"])
def test_another_one_is_asked_about(readme: Path, table: int | str) -> None:
    with pytest.raises(ReadError, match="names none, or several, of them: choose one by its number or its heading"):
        scan(readme, table=table)


def test_words_above_all_tables_count_and_names_in_another_table_dont(tmp_path: Path) -> None:
    path, plain = tmp_path / "notes.md", STRONG.replace("Time (s)", "Time")
    path.write_text(f"Times in ms.\n\n{plain}\nAgain:\n\n{plain}\n")
    with pytest.raises(ReadError, match="--unit ms"):
        scan(path, table=2)
    path.write_text(f"{WEAK}\nAgain:\n\n{plain}\n")
    assert list(scan(path, table=2).runs[""].values) == [8, 4, 2]


def test_tables_that_blanks_part(tmp_path: Path) -> None:
    path = tmp_path / "runs.md"
    rows = "1       90.1\n2       46.2\n4       24.0\n"
    path.write_text(f"On A:\n\ncores   time [s]\n{rows}\nOn B:\n\ncores   time [s]\n{rows.replace('90.1', '80.1')}\n")
    with pytest.raises(ReadError, match=r"below 'On A' \(cores, time \[s\]\)"):
        scan(path)
    assert scan(path, table="On B").runs[""].values[0] == 80.1


HEADS = {
    ".md": "| Cores | Time (s) |\n|---|---|\n",
    ".org": "| Cores | Time (s) |\n|-------+----------|\n",
    ".tex": "\\begin{tabular}{rr}\n\\hline\nCores & Time (s) \\\\\n\\hline\n",
}


def _rows(suffix: str, *cores: int) -> str:
    row = "{} & {} \\\\\n" if suffix == ".tex" else "| {} | {} |\n"
    return "".join(row.format(p, 80 / p) for p in cores)


def _divided(tmp_path: Path, suffix: str, between: str) -> Path:
    path = tmp_path / f"runs{suffix}"
    end = "\\hline\n\\end{tabular}\n" if suffix == ".tex" else ""
    path.write_text(f"{HEADS[suffix]}{_rows(suffix, 1, 2, 4)}{between}{_rows(suffix, 8, 16)}{end}")
    return path


@pytest.mark.parametrize(
    ("suffix", "between"),
    [
        *((".md", text) for text in ("\n", "<!-- two racks -->\n", "\nOn two racks:\n\n", "|---|---|\n")),
        *((".org", text) for text in ("\n", "# on two racks\n", "|---+---|\n")),
        *((".tex", text) for text in ("\\hline\n", "\\midrule\n", "\\addlinespace\n", "\n", "% two racks\n")),
    ],
)
def test_rows_behind_a_line_between_belong_to_the_table(tmp_path: Path, suffix: str, between: str) -> None:
    path, is_text = _divided(tmp_path, suffix, between), "two racks" in between
    found = scan(path, parameters="Cores")
    assert len(found.runs[""]) == 5
    assert ("two racks" in " ".join(found.notes)) == is_text
    if is_text:
        with pytest.raises(ReadError, match=r"rows stand below '.*two racks.*--parameters Cores"):
            scan(path)
    else:
        assert len(scan(path).runs[""]) == 5


def test_rows_behind_a_line_between_columns_that_blanks_part(tmp_path: Path) -> None:
    path = tmp_path / "runs.md"
    path.write_text("cores   time [s]\n1       90.1\n2       46.2\n4       24.0\n\nocean:\n\n8       12.5\n")
    with pytest.raises(ReadError, match=r"line 6: rows stand below 'ocean:' \(line 6\)"):
        scan(path)
    assert len(scan(path, parameters="cores").runs[""]) == 4


def test_a_title_over_all_columns_of_latex_parts_rows_as_in_other_tables(tmp_path: Path) -> None:
    with pytest.raises(ReadError, match=r"rows stand below 'two racks' \(line 8\)"):
        scan(_divided(tmp_path, ".tex", "\\multicolumn{2}{l}{\\emph{two racks}} \\\\\n"))


def test_rows_of_another_width_behind_a_table_are_asked_about(tmp_path: Path) -> None:
    path = tmp_path / "runs.md"
    path.write_text(f"{STRONG}\n| 8 | 100 | 1.1 |\n")
    with pytest.raises(ReadError, match="the header has 2 columns, but this row has 3"):
        scan(path)
    path.write_text(f"{STRONG}\n| Cores | Time (ms) |\n| 8 | 1100 |\n")
    with pytest.raises(ReadError, match="a second table begins here"):
        scan(path)


@pytest.mark.parametrize("command", ["sout", "st", "cancel"])
def test_cells_of_latex_that_are_struck_out_are_asked_about(tmp_path: Path, command: str) -> None:
    path = tmp_path / "runs.tex"
    path.write_text(f"{HEADS['.tex']}{_rows('.tex', 1, 2, 4)}8 & \\{command}{{\\num{{10}}}} \\\\\n\\end{{tabular}}\n")
    with pytest.raises(ReadError, match="but got '~~10~~'"):
        scan(path)
    path.write_text(
        path.read_text()
        .replace(f"\\{command}{{\\num{{10}}}}", "$\\tilde{10}$")
        .replace("1 & 80.0 \\\\", "1 & 80.0 \\\\ % guessed")
    )
    said = " ".join(scan(path).notes)
    assert "numbers with ~ (about) are taken as they stand" in said
    assert "'guessed (line 5)'" in said


def test_commands_of_latex_are_no_text_beside_the_table(tmp_path: Path) -> None:
    path = tmp_path / "runs.tex"
    head = "\\begin{table}[htb]\n\\centering\n\\caption{Scaling on \\emph{two} racks}\\label{tab:scaling of it}\n"
    path.write_text(f"{head}{HEADS['.tex']}{_rows('.tex', 1, 2, 4)}\\end{{tabular}}\n\\end{{table}}\n")
    assert scan(path).notes[-1].endswith("which was not used: 'Scaling on two racks'")


@pytest.mark.parametrize(
    "table",
    [
        "=====  ========\nCores  Time (s)\n=====  ========\n    1  8.0\n    2  4.0\n    4  2.0\n=====  ========\n",
        "+-+----+\n".join(["", "|n|wall|\n+=+====+\n|1|8   |\n", "|2|4   |\n", "|4|2   |\n", ""]),
    ],
)
def test_tables_of_restructured_text(tmp_path: Path, table: str) -> None:
    path = tmp_path / "runs.rst"
    path.write_text(f"Scaling\n=======\n\nThe runs of May.\n\n{table}\nOn two racks.\n")
    found = scan(path)
    assert list(found.runs[""].values) == [8, 4, 2]
    assert found.notes[-1].endswith("which was not used: 'The runs of May.', 'On two racks.'")
    path.write_text(f"{table}\n{table}")
    with pytest.raises(ReadError, match="the text holds 2 tables"):
        scan(path)


@pytest.mark.parametrize(
    ("headings", "options"),
    [
        (("n = 5", "n = 6"), "(-O table=1), which holds for all files; if each is of a solver"),
        (("2", "1"), "(-O table=1), which holds for all files; if each is of a solver"),
        (("Strong", "strong"), "(-O table=1), which holds for all files; if each is of a solver"),
        (("Strong", "n = 5"), "(-O table=1 or -O table=Strong), which holds for all files; if each is of a solver"),
    ],
)
def test_a_heading_is_proposed_only_where_it_can_be_typed(
    tmp_path: Path, headings: tuple[str, str], options: str
) -> None:
    path = tmp_path / "a.md"
    path.write_text("\n".join(f"# {heading}\n\n{STRONG}" for heading in headings))
    with pytest.raises(ReadError) as refused:
        scan(path)
    assert options in str(refused.value)


def test_all_tables_are_proposed_as_solvers_only_where_each_has_a_name(tmp_path: Path) -> None:
    path = tmp_path / "a.md"
    path.write_text("\n".join(f"# {heading}\n\n{STRONG}" for heading in ("atm", "ocn", "ocn")))
    with pytest.raises(ReadError) as refused:
        scan(path)
    assert "table=*" not in str(refused.value)
