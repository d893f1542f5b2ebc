"""Pages: everything escaped, tags balanced, nothing from elsewhere."""

from __future__ import annotations

import base64
import re
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.table import Table as RichTable

from evenly.errors import InputError
from evenly.report.html_page import Command, Fold, Page, Part, Picture, Remark, Section, Table, Text
from evenly.report.plots.style import PALETTE, new_figure, set_title

_ALONE = {"meta", "img", "br", "wbr"}  # svg closes its own


class _Checker(HTMLParser):
    """Collects what is shown, and fails on tags that don't match."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.seen: set[str] = set()
        self.shown = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen.add(tag)
        if tag not in _ALONE:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.shown += data


def checked(html: str) -> _Checker:
    checker = _Checker()
    checker.feed(html)
    checker.close()
    assert checker.open == []
    return checker


def whole(*parts: Part) -> Page:
    return Page("A page", "Its lead", {"found": "4.1 ms"}, [Section("One", parts), Section("Two & three")], "by evenly")


def drawn(points: int) -> Picture:
    figure = new_figure(3, 2)
    figure.subplots().plot(np.random.default_rng(0).uniform(size=points), "o", color=PALETTE[0])
    return Picture(figure, 'a "quoted" picture')


def test_a_page_is_balanced_and_needs_nothing_from_elsewhere() -> None:
    table = Table(["rank", "ms"], [["0", "4.1"], ["1", "3.9"]], "predicted")
    html = whole(
        Text("t"), Remark("r", "failure"), Command("evenly read x"), table, drawn(3), Fold("more", [table])
    ).html()
    checker = checked(html)
    assert {"table", "pre", "svg", "details", "nav", "dl"} <= checker.seen
    assert not {"script", "link", "iframe"} & checker.seen
    assert not re.findall(r'(?:src|href)=(?!"(?:data:|#))', html)
    assert not re.findall(r"url\((?!#)", html)
    assert "prefers-color-scheme:dark" in html
    assert "width=device-width" in html
    assert 'href="#two-three"' in html
    assert 'id="two-three"' in html


@given(st.text(st.characters(exclude_characters="`\r", exclude_categories=["Cs", "Cc"])))
def test_whatever_is_given_is_text(text: str) -> None:
    for part in (Text(text), Remark(text), Table([text], [[text]], text), Fold(text, []), Command(text)):
        checker = checked(part.html())
        assert checker.seen <= {"p", "div", "table", "thead", "tbody", "tr", "th", "td", "details", "summary", "pre",
                                "code", "span", "i", "wbr"}  # fmt: skip
        assert "".join(text.split()) in "".join(checker.shown.split())


def test_markup_of_a_user_is_shown_not_obeyed() -> None:
    checker = checked(whole(Text("<script>alert(1)</script>"), Command("a <b> & c")).html())
    assert "script" not in checker.seen
    assert "<script>alert(1)</script>" in checker.shown
    assert "a <b> & c" in checker.shown


def test_a_number_keeps_its_unit_and_an_option_its_dashes() -> None:
    assert "4.1\N{NO-BREAK SPACE}ms and 3\N{NO-BREAK SPACE}%, 5 minutes" in Text("4.1 ms and 3 %, 5 minutes").html()
    html = Command("evenly fdtd run cmos --set a-b=-1 -n 2").html()
    assert html.count("<i>") == 2
    assert checked(html).shown == "evenly fdtd run cmos --set a-b=-1 -n 2"


def test_small_pictures_are_lines_and_large_ones_pixels() -> None:
    small, large = drawn(5).html(), drawn(20_000).html()
    assert 'aria-label="a &quot;quoted&quot; picture"' in small
    assert "var(--c0)" in small  # colours follow the page
    assert 'alt="a &#34;quoted&#34; picture"' in large
    data = re.search(r"data:image/png;base64,([^\"]+)", large)
    assert data is not None
    assert base64.b64decode(data[1]).startswith(b"\x89PNG")
    assert drawn(5).html() == small


def test_tables_of_the_terminal_keep_words_left_and_numbers_right() -> None:
    terminal = RichTable(caption="in [ms]")
    terminal.add_column("solver")
    terminal.add_column("time", justify="right")
    terminal.add_row("inner [x]", "4")
    table = Table.of(terminal)
    assert (table.header, table.words, table.caption) == (["solver", "time"], [0], "in [ms]")
    assert "<td>4</td>" in table.html()
    assert "<thead>" not in Table(["", ""], [["a", "1"]]).html()


def test_tables_and_pictures_tell_what_they_are() -> None:
    """Each scroll region was called "table", and a picture told its axes, not its finding."""
    table = Table(
        ["cores", "time\ns", "90 %", "90 %"], [["→ 4", "1.5", "1 … 2", "3 … 4"], ["8", "1", "1 … 2", "3 … 4"]]
    )
    assert 'aria-label="table of cores, time s, 90 %"' in table.html()
    assert table.html().count("<tr class=chosen>") == 1
    assert Table(["", ""], [["solver", "1"], ["mesh", "2"]]).label == "table of solver, mesh"
    figure = new_figure(3, 2)
    set_title(figure, "8 cores take 2 s", "falls as cores$^{-0.97}$")
    figure.subplots().set_title("of the ocean")
    html = Picture(figure, "time against cores").html()
    assert 'aria-label="8 cores take 2 s. of the ocean"' in html
    assert 'aria-label="8 cores take 2 s. of the ocean. time against cores"' in html


def test_grounds_of_a_picture_are_left_to_the_page() -> None:
    """White panels would hide the shade at the edge of a picture wider than the screen."""
    figure = new_figure(3, 2)
    axes = figure.subplots()
    axes.plot([1, 2], color=PALETTE[0])
    (mark,) = axes.plot([2], [2], "*", color=PALETTE[1], gid="best")
    html = Picture(figure, "a curve").html()
    assert "var(--paper)" not in html
    assert html.count("data-chosen") == 1
    assert axes.patch.get_visible()
    assert mark.get_gid() == "best"


def test_long_names_in_tables_break_behind_underscores() -> None:
    html = Table(["mesh"], [["a_very_long_name_of_a_fine_mesh"], ["a_short_one"]]).html()
    assert "very_<wbr>long" in html
    assert "a_short_one" in html
    assert "<wbr>" not in Table(["meshes"], [["one of a_coarse_mesh, a_fine_mesh"]]).html()


def test_saving_replaces_the_page_or_says_why_not(tmp_path: Path) -> None:
    page = whole(Text("first"))
    path = page.save(tmp_path / "new" / "index.html")
    assert whole(Text("second")).save(path).read_text(encoding="utf-8").count("second") == 1
    assert [file.name for file in path.parent.iterdir()] == ["index.html"]
    (tmp_path / "file").write_text("", encoding="utf-8")
    with pytest.raises(InputError, match="can't be written"):
        page.save(tmp_path / "file" / "index.html")


def test_a_picture_of_other_colours_stays_a_light_card() -> None:
    figure = new_figure(3, 2)
    figure.subplots().plot([1, 2], color="#123456")
    html = Picture(figure, "a map").html()
    assert 'class="card"' in html
    assert "var(--" not in html


def test_markdown_holds_everything_but_pictures() -> None:
    table = Table(["rank", "ms"], [["0|1", "4.1"]], "predicted")
    text = whole(
        Text("t"), Remark("r"), Command("evenly read x"), table, drawn(3), Fold("more", [Text("in it")])
    ).markdown()
    for found in ("# A page", "Its lead", "- found: 4.1 ms", "## One", "**r**", "```sh\nevenly read x\n```",
                  "| 0\\|1 | 4.1 |", "in it", "by evenly"):  # fmt: skip
        assert found in text
    assert "svg" not in text
