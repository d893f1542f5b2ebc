"""A self-contained HTML page with texts, commands, tables and pictures; it needs no network and no scripts.

The page suits phones, printing and dark mode. All texts are escaped; the only markup is `backticks` for code. The
HTML templates for jinja2 are in the folder ``templates``.

>>> page = Page("Two ranks", sections=(Section("Cut", (Text("by `evenly partition`"), Command("evenly read"))),))
>>> "<code>evenly partition</code>" in page.html()
True
"""

from __future__ import annotations

import base64
import io
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from html import escape
from pathlib import Path
from typing import Literal

import matplotlib as mpl
from jinja2 import Environment, FileSystemLoader
from markupsafe import Markup
from matplotlib.figure import Figure
from rich.table import Table as RichTable
from rich.text import Text as RichText

from evenly.errors import InputError
from evenly.writing import replacing

__all__ = ["Command", "Fold", "Page", "Part", "Picture", "Remark", "Section", "Table", "Text"]

#: Bytes above which a picture is embedded as pixels instead of lines.
LARGEST_SVG = 300_000
#: CSS pixels per inch of a picture below which its letters become too small to read.
LEAST_SCALE = 60
_UNITS = "%|×|ns|µs|ms|s|min|h|B|KiB|MiB|GiB|TiB|ranks?"


class Part:
    """A part of a page. Law: `html` escapes each text of the part."""

    def html(self) -> str:
        """Return the part as HTML. The template's macro with the name of the class makes it."""
        return str(getattr(_TEMPLATES.get_template("parts.html").module, type(self).__name__.lower())(self)).strip()

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


@dataclass(frozen=True)
class Command(Part):
    """A command that a user can type. Its lines are not wrapped or changed.

    Examples
    --------
    >>> Command("evenly read <file>").html()
    '<pre><code><span>evenly read &lt;file&gt;</span></code></pre>'
    """

    text: str


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

    Examples
    --------
    >>> table = Table(["rank", "ms"], [["0", "4.1"]])
    >>> table.html().count("<td")
    1
    """

    header: Sequence[str]
    rows: Sequence[Sequence[str]]
    caption: str = ""
    words: Sequence[int] = (0,)

    @classmethod
    def of(cls, table: RichTable) -> Table:
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
        return cls(header, [list(row) for row in zip(*columns, strict=True)], _plain(table.caption or ""), words)


@dataclass(frozen=True)
class Picture(Part):
    """A figure embedded in the page: as SVG, or as PNG if the SVG is larger than `LARGEST_SVG` bytes.

    Parameters
    ----------
    figure : Figure
    alternative : str
        A description of the figure for readers who can't see it.
    """

    figure: Figure
    alternative: str

    @property
    def source(self) -> str:
        """Return the picture as a data URL."""
        kind, data = _drawn(self.figure)
        return f"data:image/{kind};base64,{base64.b64encode(data).decode('ascii')}"

    @property
    def style(self) -> str:
        """Return the width and the minimum width as CSS."""
        width = self.figure.get_figwidth()
        return f"width:{96 * width:.0f}px;min-width:{LEAST_SCALE * width:.0f}px"


@dataclass(frozen=True)
class Fold(Part):
    """Parts that are hidden until the reader opens them."""

    summary: str
    parts: Sequence[Part]


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
    """

    title: str
    lead: str = ""
    numbers: Mapping[str, str] = field(default_factory=dict)
    sections: Sequence[Section] = ()
    footer: str = ""

    def html(self) -> str:
        """Return the whole page."""
        return _TEMPLATES.get_template("page.html").render(page=self)

    def save(self, path: Path | str) -> Path:
        """Write the page to a file. An existing file is replaced when the new one is complete.

        Raises
        ------
        InputError
            If the file can't be written.
        """
        target = Path(path)
        try:
            target.parent.mkdir(parents=True, exist_ok=True)
            with replacing(target) as new:
                new.write_text(self.html(), encoding="utf-8")
        except OSError as error:
            reason = error.strerror or error
            raise InputError(f"the page can't be written to {target}: {reason}: choose another folder") from None
        return target


def _inline(text: str) -> Markup:
    # A number and its unit stay on one line.
    together = re.sub(rf"(?<=\d) (?=(?:{_UNITS})(?!\w))", "\N{NO-BREAK SPACE}", escape(text))
    return Markup(re.sub(r"`([^`]+)`", r"<code>\1</code>", together).replace("\n", "<br>"))  # noqa: S704 - escaped


def _options(line: str) -> Markup:
    # No line break after the dashes of an option.
    return Markup(re.sub(r"(?<!\S)-{1,2}\w[\w-]*", r"<i>\g<0></i>", escape(line)))  # noqa: S704 - escaped


def _plain(cell: object) -> str:
    return cell.plain if isinstance(cell, RichText) else str(cell)


def _drawn(figure: Figure) -> tuple[str, bytes]:
    """Return the format's name and the bytes of a picture."""
    lines = io.BytesIO()
    # No date and a fixed salt: the same picture gives the same page.
    with mpl.rc_context({"svg.hashsalt": "evenly"}):
        figure.savefig(lines, format="svg", metadata={"Date": None})
    if len(lines.getvalue()) <= LARGEST_SVG:
        return "svg+xml", lines.getvalue()
    pixels = io.BytesIO()
    figure.savefig(pixels, format="png", dpi=160)
    return "png", pixels.getvalue()


_FOLDER = FileSystemLoader(Path(__file__).with_name("templates"))
_TEMPLATES = Environment(loader=_FOLDER, autoescape=True, trim_blocks=True, lstrip_blocks=True)
_TEMPLATES.filters |= {"inline": _inline, "options": _options}
