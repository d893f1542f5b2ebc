"""One HTML page that holds everything it shows: texts, commands, tables, pictures; no network, no script.

It reads well on a phone, on paper and where the reader prefers dark pages. Whatever is given is text: it is escaped,
and only `backticks` mean something, namely code.

>>> page = Page("Two ranks", sections=(Section("Cut", (Text("by `evenly partition`"), Command("evenly read"))),))
>>> "<code>evenly partition</code>" in page.html()
True
"""

from __future__ import annotations

import base64
import io
import re
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from html import escape
from pathlib import Path
from typing import Literal

import matplotlib as mpl
from matplotlib.figure import Figure
from rich.table import Table as RichTable
from rich.text import Text as RichText

from evenly.errors import InputError

__all__ = ["Command", "Fold", "Page", "Part", "Picture", "Remark", "Section", "Table", "Text"]

#: Bytes above which a picture is embedded as pixels instead of lines.
LARGEST_SVG = 300_000
#: CSS pixels per inch of a picture below which its letters become too small to read.
LEAST_SCALE = 60
_UNITS = "%|×|ns|µs|ms|s|min|h|B|KiB|MiB|GiB|TiB|ranks?"


class Part(ABC):
    """Something on a page. Law: `html` escapes every text that it was given."""

    @abstractmethod
    def html(self) -> str:
        """Return it as HTML."""


@dataclass(frozen=True)
class Text(Part):
    """A paragraph.

    Examples
    --------
    >>> Text("a < b, says `f(x)`").html()
    '<p>a &lt; b, says <code>f(x)</code></p>'
    """

    text: str

    def html(self) -> str:
        return f"<p>{_inline(self.text)}</p>"


@dataclass(frozen=True)
class Remark(Part):
    """A paragraph that stands out: a finding, or something that went wrong.

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

    def html(self) -> str:
        return f'<p class="remark {self.kind}">{_inline(self.text)}</p>'


@dataclass(frozen=True)
class Command(Part):
    """What a user would type, lines as they are.

    Examples
    --------
    >>> Command("evenly read <file>").html()
    '<pre><code><span>evenly read &lt;file&gt;</span></code></pre>'
    """

    text: str

    def html(self) -> str:
        # An option isn't broken after its dashes.
        lines = [re.sub(r"(?<!\S)-{1,2}\w[\w-]*", r"<i>\g<0></i>", escape(line)) for line in self.text.splitlines()]
        inside = "".join(f"<span>{line}</span>" for line in lines)
        return f"<pre><code>{inside}</code></pre>"


@dataclass(frozen=True)
class Table(Part):
    """A table.

    Parameters
    ----------
    header : sequence of str
    rows : sequence of sequences of str
    caption : str
        Below it.
    words : sequence of int
        Columns that hold words and stand on the left; the others hold numbers and stand on the right.

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
        """Return a table of the terminal as one of a page.

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

    def html(self) -> str:
        head = "".join(f'<th scope="col"{self._side(n)}>{_inline(text)}</th>' for n, text in enumerate(self.header))
        body = "".join(f"<tr>{self._cells(row)}</tr>" for row in self.rows)
        caption = f"<p class=caption>{_inline(self.caption)}</p>" if self.caption else ""
        top = f"<thead><tr>{head}</tr></thead>" if any(self.header) else ""
        table = f"<table>{top}<tbody>{body}</tbody></table>"
        return f'<div class=wide tabindex=0 role=region aria-label="table">{table}</div>{caption}'

    def _cells(self, row: Sequence[str]) -> str:
        first, *others = row
        cells = [f'<th scope="row"{self._side(0)}>{_inline(first)}</th>']
        return "".join(cells + [f"<td{self._side(n)}>{_inline(text)}</td>" for n, text in enumerate(others, 1)])

    def _side(self, column: int) -> str:
        return " class=word" if column in self.words else ""


@dataclass(frozen=True)
class Picture(Part):
    """A figure, embedded: as lines, or as pixels where those are fewer bytes.

    Parameters
    ----------
    figure : Figure
    alternative : str
        What it shows, for those who can't see it.
    """

    figure: Figure
    alternative: str

    def html(self) -> str:
        kind, data = _drawn(self.figure)
        source = f"data:image/{kind};base64,{base64.b64encode(data).decode('ascii')}"
        width = self.figure.get_figwidth()
        style = f"width:{96 * width:.0f}px;min-width:{LEAST_SCALE * width:.0f}px"
        image = f'<img src="{source}" alt="{escape(self.alternative)}" style="{style}">'
        return f"<figure class=wide>{image}</figure>"


@dataclass(frozen=True)
class Fold(Part):
    """Parts that are shown once the reader asks for them."""

    summary: str
    parts: Sequence[Part]

    def html(self) -> str:
        inside = "\n".join(part.html() for part in self.parts)
        return f"<details><summary>{_inline(self.summary)}</summary>{inside}</details>"


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
        """Name by which links find it."""
        return re.sub(r"[^a-z0-9]+", "-", self.title.lower()).strip("-") or "section"

    def html(self) -> str:
        """Return it as HTML."""
        inside = "\n".join(part.html() for part in self.parts)
        return f'<section id="{self.anchor}"><h2>{_inline(self.title)}</h2>\n{inside}\n</section>'


@dataclass(frozen=True)
class Page:
    """A page.

    Parameters
    ----------
    title : str
    lead : str
        One paragraph below the title.
    numbers : mapping of str to str
        What was found, by what it is; shown large.
    sections : sequence of Section
        Numbered, and listed at the top where there are several.
    footer : str
    """

    title: str
    lead: str = ""
    numbers: Mapping[str, str] = field(default_factory=dict)
    sections: Sequence[Section] = ()
    footer: str = ""

    def html(self) -> str:
        """Return the whole page."""
        links = "".join(f'<li><a href="#{one.anchor}">{_inline(one.title)}</a></li>' for one in self.sections)
        contents = f"<nav aria-label=Contents><ol>{links}</ol></nav>" if len(self.sections) > 1 else ""
        cards = "".join(f"<div><dt>{_inline(k)}</dt><dd>{_inline(v)}</dd></div>" for k, v in self.numbers.items())
        body = [
            f"<header><h1>{_inline(self.title)}</h1>",
            f"<p class=lead>{_inline(self.lead)}</p>" if self.lead else "",
            f"<dl>{cards}</dl>" if cards else "",
            f"{contents}</header><main>",
            *(section.html() for section in self.sections),
            "</main>",
            f"<footer><p>{_inline(self.footer)}</p></footer>" if self.footer else "",
        ]
        return _FRAME.format(
            title=escape(self.title.replace("`", "")), style=_STYLE, body="\n".join(filter(None, body))
        )

    def save(self, path: Path | str) -> Path:
        """Write the page; an existing file is replaced once the new one is complete.

        Raises
        ------
        InputError
            If it can't be written.
        """
        target = Path(path)
        partial = target.with_name(f".{target.name}.part")
        try:
            target.parent.mkdir(parents=True, exist_ok=True)
            partial.write_text(self.html(), encoding="utf-8")
            partial.replace(target)
        except OSError as error:
            reason = error.strerror or error
            raise InputError(f"the page can't be written to {target}: {reason}: choose another folder") from None
        return target


def _inline(text: str) -> str:
    # A number and its unit stay on one line.
    together = re.sub(rf"(?<=\d) (?=(?:{_UNITS})(?!\w))", "\N{NO-BREAK SPACE}", escape(text))
    return re.sub(r"`([^`]+)`", r"<code>\1</code>", together).replace("\n", "<br>")


def _plain(cell: object) -> str:
    return cell.plain if isinstance(cell, RichText) else RichText.from_markup(str(cell)).plain


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


_FRAME = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="generator" content="evenly">
<title>{title}</title>
<style>{style}</style>
</head>
<body>
{body}
</body>
</html>
"""

# Colours meet a contrast of 4.5 to 1 on their grounds. Pictures are drawn on white, so they keep a light card on dark
# pages; what is wider than the screen scrolls by itself.
_STYLE = """
:root{--ground:#fcfcfb;--card:#f3f4f6;--ink:#1d2228;--soft:#59616b;--line:#dcdfe4;--accent:#005b92;--code:#eef1f4;
--good:#e6f2ec;--good-edge:#00805c;--warn:#fdf3dc;--warn-edge:#b07400;--bad:#fbe9e4;--bad-edge:#b8401a}
@media (prefers-color-scheme:dark){:root{--ground:#15181c;--card:#1f242a;--ink:#e8eaed;--soft:#a3abb5;--line:#343b44;
--accent:#7cc0ee;--code:#232a31;--good:#16302a;--good-edge:#3fbf96;--warn:#352b14;--warn-edge:#e0a53a;--bad:#3a2119;
--bad-edge:#f08a63}}
*{box-sizing:border-box}
html{-webkit-text-size-adjust:100%;scroll-behavior:smooth}
body{margin:0 auto;max-width:54rem;padding:2rem 1.1rem 4rem;background:var(--ground);color:var(--ink);
font:1rem/1.6 system-ui,-apple-system,"Segoe UI",Roboto,"Helvetica Neue",Arial,sans-serif}
h1{font-size:clamp(1.6rem,5vw,2.3rem);line-height:1.2;letter-spacing:-.015em;margin:.5rem 0 .8rem}
h2{font-size:1.3rem;line-height:1.3;margin:0 0 .8rem}
p{margin:.7rem 0;overflow-wrap:break-word}
.lead{font-size:1.1rem;color:var(--soft);max-width:44rem}
a{color:var(--accent)}
dl{display:grid;grid-template-columns:repeat(auto-fit,minmax(11rem,1fr));gap:.7rem;margin:1.4rem 0}
dl div{background:var(--card);border:1px solid var(--line);border-radius:.6rem;padding:.7rem .9rem}
dt{font-size:.84rem;line-height:1.35;color:var(--soft)}
dd{margin:.2rem 0 0;font-size:1.35rem;font-weight:650;line-height:1.3;font-variant-numeric:tabular-nums}
nav ol{margin:1.2rem 0;padding-left:1.4rem;columns:2 16rem;column-gap:2rem}
nav li{break-inside:avoid}
main{counter-reset:part}
section{border-top:1px solid var(--line);margin-top:2.2rem;padding-top:1.6rem}
section>h2::before{counter-increment:part;content:counter(part) ". ";color:var(--soft)}
code{font:.9em/1.5 ui-monospace,SFMono-Regular,Menlo,Consolas,"DejaVu Sans Mono",monospace;background:var(--code);
padding:.1em .3em;border-radius:.3em;overflow-wrap:anywhere}
pre{background:var(--code);border:1px solid var(--line);border-radius:.5rem;padding:.75rem .9rem;margin:1rem 0}
pre code{background:none;padding:0;white-space:pre-wrap}
pre i{font-style:normal;white-space:nowrap}
pre span{display:block;padding-left:1.6em;text-indent:-1.6em}
.wide{overflow-x:auto;margin:1rem 0;-webkit-overflow-scrolling:touch}
table{border-collapse:collapse;font-size:.92rem;font-variant-numeric:tabular-nums}
th,td{text-align:right;padding:.32rem .65rem;border-bottom:1px solid var(--line);white-space:nowrap}
th.word,td.word{text-align:left}
thead th{white-space:normal;color:var(--soft);font-weight:600;vertical-align:bottom}
tbody th{font-weight:600}
th:first-child{padding-left:.1rem}
.caption{font-size:.87rem;color:var(--soft);margin-top:-.4rem}
figure{background:#fff;border:1px solid var(--line);border-radius:.6rem;padding:.7rem}
img{display:block;height:auto;max-width:100%;margin:0 auto}
@media (max-width:32rem){table{font-size:.84rem}th,td{padding:.3rem .42rem}figure{padding:.4rem}}
@media (prefers-color-scheme:dark){figure{filter:brightness(.9)}}
.remark{border-left:.28rem solid var(--good-edge);background:var(--good);padding:.6rem .9rem;border-radius:.3rem}
.remark.warning{border-color:var(--warn-edge);background:var(--warn)}
.remark.failure{border-color:var(--bad-edge);background:var(--bad)}
.remark code{background:none;padding:0}
details{margin:1rem 0}
summary{cursor:pointer;color:var(--accent);font-weight:600}
footer{border-top:1px solid var(--line);margin-top:2.5rem;color:var(--soft);font-size:.88rem}
@media print{:root{--ground:#fff;--card:#fff;--ink:#000;--soft:#444;--line:#bbb;--code:#fff;--good:#fff;--warn:#fff;
--bad:#fff;--accent:#000}body{max-width:none;padding:0;font-size:10pt}nav{display:none}
figure,table,pre,.remark,dl{break-inside:avoid}h2{break-after:avoid}figure{border:0;padding:0;filter:none}
.wide{overflow:visible}img{min-width:0!important}}
"""
