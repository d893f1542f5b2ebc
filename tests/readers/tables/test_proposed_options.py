"""Every option that a question about a table proposes is taken when it is typed, whatever the columns are called."""

from __future__ import annotations

import csv
import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import pytest

from evenly.errors import ReadError
from evenly.readers.scanning import scan

ODD = (
    "mesh", "a,b", "a, b", "a=b", "a*b", "% peak", "#n", "[x]", "(y) z", "--flag", "`tick`", "it's", 'say "hi"',
    "größe µ", "$HOME", "a;b", "x|y", "and", "K ligands", "a\\b", "1st", "x  y", "§", "a:b", "{x}", "<n>", "C++", "a~b",
    "!x", "None",
)  # fmt: skip
P = (1, 2, 4, 8, 16, 32)
T = (100.3, 52.1, 27.7, 15.9, 9.8, 7.1)
_WORD = re.compile(
    r"""(?P<option>--time|--where|--parameters|-O) (?P<value>(?:'[^']*'|"(?:\\.|[^"\\])*"|[^\s'")(;])+)"""
)


def _questions(name: str) -> dict[str, Mapping[str, Sequence[object]]]:
    """Return tables with a column of an odd name that evenly asks about."""
    thrice = {"time_s": [*T, *(3 * t for t in T)]}
    return {
        "side by side": {"p": P, f"1 {name}": T, f"10 {name}": [10 * t for t in T], f"90 {name}": [90 * t for t in T]},
        "letters": {"p": P, f"{name} A": T, f"{name} B": [1.01 * t for t in T]},
        "mark": {"p": P * 2, f"{name} time": [*T, *T[:5], 1e30]},
        "word": {name: [1, 2, 4, 8, "oops", 32], "cores": P, "time_s": T},
        "remark": {name: P, "comment": ["", "", "", 'it\'s "bad", `x` crashed', "", ""], "time_s": [*T[:3], 2, *T[4:]]},
        "choice": {name: P * 2, "user": ["ann"] * 6 + ["bob"] * 6, **thrice},
        "mean": {name: P, "run": [1, 2, 3, 4, 5, "mean"], "time_s": T},
        "origin": {name: P, "source": ["a"] * 3 + ["b"] * 3, "time_s": T},
        "thousands": {name: P, "time_s": ["1,024", "1,012", "1,000", "1,001", "1,090", "1,011"]},
    }


def _proposed(message: str) -> Iterator[tuple[str, str]]:
    for match in _WORD.finditer(message):
        (value,) = shlex.split(match["value"])
        option, _, text = value.partition("=")
        yield (option, text) if match["option"] == "-O" else (match["option"][2:], value)


def _question(path: Path) -> str:
    try:
        scan(path)
    except ReadError as asked:
        return str(asked)
    return ""


@pytest.mark.parametrize("name", ODD)
def test_what_is_proposed_is_taken(tmp_path: Path, name: str) -> None:
    found = []
    for table in _questions(name).values():
        path = tmp_path / "runs.csv"
        with path.open("w", newline="") as file:
            csv.writer(file).writerows([table, *zip(*table.values(), strict=True)])
        proposed = list(_proposed(_question(path)))
        for option, value in proposed:
            scan(path, **{option: value})
        found += proposed
    assert len(found) > 5


def test_a_second_condition_holds_the_first_one(tmp_path: Path) -> None:
    path = tmp_path / "runs.csv"
    rows = zip((1, 2, 4, "oops", 16, 32), (*range(1, 6), "mean"), T, strict=True)
    path.write_text("mesh,run,time_s\n" + "".join(f"{m},{n},{t}\n" for m, n, t in rows))
    (first,) = [value for option, value in _proposed(_question(path)) if option == "where"]
    with pytest.raises(ReadError) as asked:
        scan(path, where=first)
    (both,) = [value for option, value in _proposed(str(asked.value)) if option == "where"]
    assert both == f'({first}) and mesh != "oops"'
    assert len(scan(path, where=both).runs[""]) == 4
