"""A self-contained HTML page with texts, commands, tables and pictures; it needs no network.

The page suits phones, printing and dark mode. All texts are escaped; the only markup is `backticks` for code. The
HTML templates for jinja2 are in the folder ``templates``. A page is written as Markdown, too.

>>> page = Page("Two ranks", sections=(Section("Cut", (Text("by `evenly partition`"), Command("evenly read"))),))
>>> "<code>evenly partition</code>" in page.html()
True
"""

from __future__ import annotations

import base64
import io
import re
from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from html import escape
from pathlib import Path
from typing import Any, Literal

import matplotlib as mpl
from jinja2 import Environment, FileSystemLoader
from markupsafe import Markup
from matplotlib.colors import to_hex
from matplotlib.figure import Figure
from rich.table import Table as RichTable
from rich.text import Text as RichText

from evenly.errors import InputError
from evenly.report.plots.style import FAINT, GREY, INK, ON_DARK, ON_LIGHT, PALETTE
from evenly.writing import replacing

__all__ = ["Command", "Fold", "Page", "Part", "Picture", "Remark", "Section", "Table", "Text", "as_image"]

#: Bytes above which a picture is embedded as pixels instead of lines.
LARGEST_SVG = 300_000
#: CSS pixels per inch of a picture below which its letters become too small to read.
LEAST_SCALE = 50
#: Letters above which a line in a cell of a table is broken.
LONG_CELL = 24
#: What begins the first cell of the row that is recommended.
CHOSEN = "→ "
#: Colours of figures, and the variables of the page that take their place.
_COLOURS = {
    "#ffffff": "paper", "#000000": "ink", INK.lower(): "ink", GREY.lower(): "soft", FAINT.lower(): "line",
    "#f1f1f1": "wash", "#dadada": "line", "#d0d0d0": "line", "#b0b0b0": "soft",
    **{colour.lower(): f"c{n}" for n, colour in enumerate(PALETTE)},
}  # fmt: skip
_FIXED = tuple(colour.lower() for colour in (ON_DARK, ON_LIGHT))
_SCRIPT = Path(__file__).with_name("templates") / "page.js"
#: Marks of mathematics in texts of matplotlib.
_SIGNS = re.compile(r"[\\${}]")
_PAPER = "#ffffff"
_UNITS = "%|×|ns|µs|ms|s|min|h|B|KiB|MiB|GiB|TiB|ranks?"


class Part:
    """A part of a page. Law: `html` escapes each text of the part."""

    @property
    def moves(self) -> bool:
        """Whether the part needs the page's script."""
        return False

    def html(self) -> str:
        """Return the part as HTML. The template's macro with the name of the class makes it."""
        return str(getattr(_TEMPLATES.get_template("parts.html").module, type(self).__name__.lower())(self)).strip()

    @abstractmethod
    def markdown(self) -> str:
        """Return the part as Markdown."""

    def __html__(self) -> str:
        # jinja2 calls this method, and does not escape the result a second time.
        return self.html()


@dataclass(frozen=True)
class Text(Part):
    """A paragraph.

    Examples
    --------
    >>> Text("a < b, says `f(x)`").html()
    '<p>a &lt; b, says <code>f(x)</code></p>'
    """

    text: str

    def markdown(self) -> str:
        return self.text


@dataclass(frozen=True)
class Remark(Part):
    """A highlighted paragraph: a finding, a warning or a failure.

    Parameters
    ----------
    text : str
    kind : "finding", "warning" or "failure"

    Examples
    --------
    >>> Remark("no MPI here", "failure").html()
    '<p class="remark failure">no MPI here</p>'
    """

    text: str
    kind: Literal["finding", "warning", "failure"] = "finding"

    def markdown(self) -> str:
        return f"**{self.text}**"


@dataclass(frozen=True)
class Command(Part):
    """A command that a user can type. Its lines are not wrapped or changed.

    Examples
    --------
    >>> Command("evenly read <file>").html()
    '<pre><code><span>evenly read &lt;file&gt;</span></code></pre>'
    """

    text: str

    def markdown(self) -> str:
        return f"```sh\n{self.text}\n```"


@dataclass(frozen=True)
class Table(Part):
    """A table.

    Parameters
    ----------
    header : sequence of str
    rows : sequence of sequences of str
    caption : str
        A text below the table.
    words : sequence of int
        Indices of the columns with words, which are aligned left. All others hold numbers, and are aligned right.
    copied : bool
        Whether a button copies the table, for a spreadsheet.

    Examples
    --------
    >>> table = Table(["rank", "ms"], [["0", "4.1"]])
    >>> table.html().count("<td")
    1
    >>> print(table.markdown())
    | rank | ms |
    |---|---:|
    | 0 | 4.1 |
    """

    header: Sequence[str]
    rows: Sequence[Sequence[str]]
    caption: str = ""
    words: Sequence[int] = (0,)
    copied: bool = False

    @property
    def moves(self) -> bool:
        return self.copied

    @property
    def label(self) -> str:
        """The name of the table for readers who can't see it."""
        named = [text for text in self.header if text] or [row[0] for row in self.rows[:4]]
        return " ".join(f"table of {', '.join(dict.fromkeys(named))}".split())

    def look(self, column: int, text: str) -> Markup:
        """Return the classes of a cell."""
        is_long = any(len(line) > LONG_CELL for line in text.split("\n"))
        classes = [*(["word"] if column in self.words else []), *(["long"] if is_long else [])]
        return Markup(' class="{}"').format(" ".join(classes)) if classes else Markup()

    def is_chosen(self, row: Sequence[str]) -> bool:
        """Return whether a row is the recommended one."""
        return row[0].startswith(CHOSEN)

    @classmethod
    def of(cls, table: RichTable, *, copied: bool = False) -> Table:
        """Convert a table for the terminal to a table for a page.

        Examples
        --------
        >>> terminal = RichTable("rank", "ms", caption="predicted")
        >>> terminal.add_row("0", "4.1")
        >>> Table.of(terminal).rows, Table.of(terminal).caption
        ([['0', '4.1']], 'predicted')
        """
        columns = [[_plain(cell) for cell in column.cells] for column in table.columns]
        words = [n for n, column in enumerate(table.columns) if column.justify != "right"]
        header = [_plain(column.header) for column in table.columns]
        return cls(
            header, [list(row) for row in zip(*columns, strict=True)], _plain(table.caption or ""), words, copied
        )

    def markdown(self) -> str:
        rule = "|".join("---" if n in self.words else "---:" for n in range(len(self.header)))
        rows = [f"| {' | '.join(map(_cell, row))} |" for row in (self.header, *self.rows)]
        return "\n".join([rows[0], f"|{rule}|", *rows[1:], *([f"\n{self.caption}"] if self.caption else [])])


@dataclass(frozen=True)
class Picture(Part):
    """A figure embedded in the page: as SVG whose colours follow dark mode, or as PNG if that is too large.

    Parameters
    ----------
    figure : Figure
    alternative : str
        A description of the figure for readers who can't see it.
    """

    figure: Figure
    alternative: str

    @property
    def title(self) -> str:
        """What is written above the figure: its finding, then the titles of its panels."""
        above = self.figure.texts[0] if self.figure.texts and self.figure.texts[0].get_text() else None
        titles = [*([above.get_text()] if above else []), *_panel_titles(self.figure)]
        return _SIGNS.sub("", ". ".join(" ".join(title.split()) for title in dict.fromkeys(titles)))

    @property
    def told(self) -> str:
        """The whole description of the figure."""
        return f"{self.title}. {self.alternative}" if self.title else self.alternative

    @property
    def drawn(self) -> Markup:
        """The picture as an element of the page."""
        lines = _lines(self.figure)
        if len(lines) <= LARGEST_SVG:
            return Markup(_adapting(lines, self.told, self._style))  # noqa: S704 - made by matplotlib
        return as_image(self.figure, self.told, self._style)

    @property
    def _style(self) -> str:
        width = self.figure.get_figwidth()
        return f"width:{96 * width:.0f}px;min-width:{LEAST_SCALE * width:.0f}px"

    def markdown(self) -> str:
        return f"*{self.alternative}*"


@dataclass(frozen=True)
class Fold(Part):
    """Parts that are hidden until the reader opens them."""

    summary: str
    parts: Sequence[Part]

    @property
    def moves(self) -> bool:
        return any(part.moves for part in self.parts)

    def markdown(self) -> str:
        return "\n\n".join([f"**{self.summary}**", *(part.markdown() for part in self.parts)])


@dataclass(frozen=True)
class Section:
    """Parts below a heading.

    Parameters
    ----------
    title : str
    parts : sequence of Part
    """

    title: str
    parts: Sequence[Part] = ()

    @property
    def anchor(self) -> str:
        """The name of the section in links."""
        return re.sub(r"[^a-z0-9]+", "-", self.title.lower()).strip("-") or "section"


@dataclass(frozen=True)
class Page:
    """A page.

    Parameters
    ----------
    title : str
    lead : str
        One paragraph below the title.
    numbers : mapping of str to str
        The main results, shown large: from the name of a result to its value.
    sections : sequence of Section
        The sections are numbered. A list at the top links to them if there are several.
    footer : str
    data : mapping
        The results as plain values, for JSON. They don't stand on the page.
    """

    title: str
    lead: str = ""
    numbers: Mapping[str, str] = field(default_factory=dict)
    sections: Sequence[Section] = ()
    footer: str = ""
    data: Mapping[str, Any] = field(default_factory=dict)

    @property
    def script(self) -> Markup:
        """The script of the parts that move; empty if there are none."""
        moving = any(part.moves for section in self.sections for part in section.parts)
        return Markup(_SCRIPT.read_text(encoding="utf-8") if moving else "")  # noqa: S704 - evenly's own

    def markdown(self) -> str:
        """Return the page as Markdown, without pictures."""
        found = [f"# {self.title}", *([self.lead] if self.lead else [])]
        if self.numbers:
            found.append("\n".join(f"- {name}: {value}" for name, value in self.numbers.items()))
        for section in self.sections:
            found += [f"## {section.title}", *(part.markdown() for part in section.parts)]
        return "\n\n".join([*found, *([self.footer] if self.footer else [])]) + "\n"

    def _repr_html_(self) -> str:
        """Return the page for a notebook, in a frame of its own so that its style stays there."""
        return f'<iframe srcdoc="{escape(self.html())}" style="width:100%;height:45rem;border:0"></iframe>'

    def html(self) -> str:
        """Return the whole page."""
        return _TEMPLATES.get_template("page.html").render(page=self)

    def save(self, path: Path | str) -> Path:
        """Write the page to a file, as Markdown if its name ends in ``.md``.

        An existing file is replaced when the new one is complete.

        Raises
        ------
        InputError
            If the file can't be written.
        """
        target = Path(path)
        try:
            target.parent.mkdir(parents=True, exist_ok=True)
            with replacing(target) as new:
                new.write_text(self.markdown() if target.suffix == ".md" else self.html(), encoding="utf-8")
        except OSError as error:
            reason = error.strerror or error
            raise InputError(f"the page can't be written to {target}: {reason}: choose another folder") from None
        return target


def as_image(figure: Figure, alternative: str, style: str = "max-width:100%") -> Markup:
    """Return a figure as an element of any page, of pixels, with a description for readers who can't see it."""
    pixels = io.BytesIO()
    figure.savefig(pixels, format="png", dpi=160)
    source = f"data:image/png;base64,{base64.b64encode(pixels.getvalue()).decode('ascii')}"
    return Markup('<img src="{}" alt="{}" style="{}">').format(source, alternative, style)


def _inline(text: str) -> Markup:
    # A number and its unit stay on one line.
    together = re.sub(rf"(?<=\d) (?=(?:{_UNITS})(?!\w))", "\N{NO-BREAK SPACE}", escape(text))
    return Markup(re.sub(r"`([^`]+)`", r"<code>\1</code>", together).replace("\n", "<br>"))  # noqa: S704 - escaped


def _breakable(html: Markup) -> Markup:
    # A long name breaks behind its underscores; several words break between them.
    is_name = len(html) > LONG_CELL and not re.search(r"\s", html)
    return Markup(re.sub(r"(?<=\w)_(?=\w)", "_<wbr>", html)) if is_name else html  # noqa: S704 - escaped


def _options(line: str) -> Markup:
    # No line break after the dashes of an option.
    return Markup(re.sub(r"(?<!\S)-{1,2}\w[\w-]*", r"<i>\g<0></i>", escape(line)))  # noqa: S704 - escaped


def _plain(cell: object) -> str:
    return cell.plain if isinstance(cell, RichText) else str(cell)


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", "<br>")


def _lines(figure: Figure) -> str:
    """Return a figure as SVG."""
    lines = io.BytesIO()
    # The grounds of panels are left to the page, whose shades at the edges of a wide figure would lie behind them.
    grounds = [
        axes.patch for axes in figure.axes if axes.patch.get_visible() and to_hex(axes.get_facecolor()) == _PAPER
    ]
    for ground in grounds:
        ground.set_visible(False)
    # No date and a fixed salt: the same picture gives the same page.
    with mpl.rc_context({"svg.hashsalt": "evenly"}):
        figure.savefig(lines, format="svg", metadata={"Date": None}, facecolor="none")
    for ground in grounds:
        ground.set_visible(True)
    return lines.getvalue().decode("utf-8")


def _panel_titles(figure: Figure) -> list[str]:
    titles = [axes.get_title(loc) for axes in figure.axes for loc in ("left", "center", "right")]
    return [title for title in titles if title]


def _adapting(svg: str, alternative: str, style: str) -> str:
    """Return an SVG as an element whose colours are those of the page, light or dark.

    A picture with other colours than evenly's own, as of a map, stays as it is: a light card.

    Examples
    --------
    >>> _adapting('<?xml?><svg width="9pt" viewBox="0 0 9 9"><g id="axes_1" style="fill: #ffffff"/></svg>', "a", "b")
    '<svg role="img" aria-label="a" style="b" viewBox="0 0 9 9"><g style="fill: var(--paper)"/></svg>'
    """
    body = svg[svg.index("<svg") :]
    body = re.sub(r"<metadata>.*?</metadata>", "", body, count=1, flags=re.DOTALL)
    body = re.sub(r' (?:width|height)="[\d.]+pt"', "", body, count=2)
    body = re.sub(r'<g id="(?:best|plan)"', "<g data-chosen", body)
    body = re.sub(r'<g id="[\w.-]+"', "<g", body)  # several pictures on a page would share these names
    card = ' class="card"'
    if set(re.findall("#[0-9a-f]{6}", body)) <= {*_COLOURS, *_FIXED}:
        body, card = re.sub("|".join(_COLOURS), lambda found: f"var(--{_COLOURS[found[0]]})", body), ""
    return body.replace("<svg", f'<svg role="img" aria-label="{escape(alternative)}" style="{style}"{card}', 1).strip()


_FOLDER = FileSystemLoader(Path(__file__).with_name("templates"))
_TEMPLATES = Environment(loader=_FOLDER, autoescape=True, trim_blocks=True, lstrip_blocks=True)
_TEMPLATES.filters |= {"inline": _inline, "breakable": _breakable, "options": _options}
