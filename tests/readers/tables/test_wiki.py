"""Tables of MediaWiki."""

from __future__ import annotations

from pathlib import Path

import pytest

from evenly.readers import scan

ROWS = ((8, 91.0), (16, 47.5), (32, 24.9))


@pytest.mark.parametrize("name", ["runs.wiki", "runs.md"])
def test_a_row_on_one_line_or_several(tmp_path: Path, name: str) -> None:
    one = "\n".join(f"|-\n| {cores} || {seconds}" for cores, seconds in ROWS)
    several = "\n".join(f'|-\n| align="right" | {cores}\n| {seconds}' for cores, seconds in ROWS)
    for rows in (one, several):
        head = '== Wing ==\nOn Levante.\n{| class="wikitable"\n|+ Strong scaling\n! cores !! time (s)'
        (tmp_path / name).write_text(f"{head}\n{rows}\n|}}\nby Ada\n")
        runs = scan(tmp_path / name).runs[""]
        assert runs.parameters == ["cores"]
        assert runs.values.tolist() == [seconds for _, seconds in ROWS]
        (tmp_path / "runs.txt").write_text((tmp_path / name).read_text())
        assert len(scan(tmp_path / "runs.txt", format="table").runs[""]) == len(ROWS)


def test_a_unit_in_its_caption_counts(tmp_path: Path) -> None:
    rows = "\n".join(f"|-\n| {cores} || {minutes}" for cores, minutes in ROWS)
    (tmp_path / "runs.wiki").write_text(
        f"{{|\n|+ Wall times of 3000 iterations, in minutes\n|-\n! cores !! time (min)\n{rows}\n|}}\n"
    )
    assert scan(tmp_path / "runs.wiki").runs[""].values.tolist() == [60 * minutes for _, minutes in ROWS]
