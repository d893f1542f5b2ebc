"""Tables of LaTeX (``tabular`` and its relatives) as lines with bars, as Markdown has them."""

from __future__ import annotations

import re
from collections.abc import Sequence

__all__ = ["comment_behind", "latex_as_bars", "latex_as_text"]

_BEGIN = re.compile(r"\\begin\{(tabular\w*\*?|longtable|array)\}")
_END = re.compile(r"\\end\{(tabular|longtable|array)")
_RULE = re.compile(
    r"\\(?:hline|toprule|midrule|bottomrule|specialrule(?:\{[^{}]*\})*|(?:cline|cmidrule|morecmidrules|hhline)\b"
    r"(?:\[[^\]]*\])?(?:\([^)]*\))?(?:\{[^{}]*\})?)(?![a-zA-Z])(?:\[[^\]]*\])?"
)
#: Commands around text that is a cell: ``\textbf{cores}``, ``\num{128}``, ``\multicolumn{1}{c}{time}``.
_AROUND = re.compile(r"\\(?:multirow(?:\[[^\]]*\])?\{[^{}]*\}\{[^{}]*\}|(?P<command>[a-zA-Z]+))\s*\{(?P<text>[^{}]*)\}")
#: Commands that doubt their text, and what stands for them in other formats: it is struck out, or about so much.
_DOUBTS = {
    **dict.fromkeys(("sout", "xout", "st", "cancel", "bcancel", "xcancel"), "~~{}~~"),
    **dict.fromkeys(("tilde", "widetilde"), "~{}"),
}
#: What is no text: environments with their arguments, and commands whose arguments are names or lengths.
_NO_TEXT = re.compile(
    r"\\(?:begin|end)\{[^{}]*\}(?:\[[^\]]*\]|\{(?:[^{}]|\{[^{}]*\})*\})*"
    r"|\\(?:setlength|addlinespace)(?:\[[^\]]*\]|\{[^{}]*\})*"
    r"|\\(?:label|\w*ref|cite\w*|documentclass|usepackage|\w*color|[hv]space)\*?(?:\[[^\]]*\])?\{[^{}]*\}"
)
#: A cell over several columns; the formats of columns may hold braces of their own.
_OVER = re.compile(r"\\multicolumn\{(\d+)\}\{(?:[^{}]|\{[^{}]*\})*\}\{((?:[^{}]|\{[^{}]*\})*)\}")
#: A cell over several rows.
_DOWN = re.compile(r"\\multirow(?:\[[^\]]*\])?\{(\d+)\}")
_END_OF_ROW = re.compile(r"\\\\(\[[^\]]*\])?|\\tabularnewline")
_UNMARKED = {
    r"\%": "%", r"\_": "_", r"\&": "and", r"\#": "#", r"\,": "", r"\pm": "±", r"\times": "x", "~": " ", "$": "",
    r"\milli\second": "ms", r"\micro\second": "us", r"\second": "s", r"\minute": "min", r"\hour": "h",
}  # fmt: skip


def latex_as_bars(lines: Sequence[str]) -> list[str]:
    r"""Return the rows of tables with bars between their cells, rules as those of Markdown, and other lines empty.

    Examples
    --------
    >>> latex_as_bars([r"\begin{tabular}{rr}", r"{Cores} & \textbf{Time (s)} \\", r"\midrule", r"8 & 653.8 \\"])
    ['', '| Cores | Time (s) |', '|---|---|', '| 8 | 653.8 |']
    """
    inside = begun = ruled = False  # in a table, behind its first row, behind the rule below that
    found: list[str] = []
    over: dict[int, tuple[str, int]] = {}  # the cells over several rows: column → text, and for how many rows still
    titles: dict[int, str] = {}  # the cells over all columns behind the header, until a row follows
    for line in lines:
        if _BEGIN.search(line):
            inside, begun, ruled = True, False, False
            over.clear()
            titles.clear()
        if inside and _END.search(line) is not None:
            found.append("|---|---|" if begun and not ruled else "")  # one rule tells that it is a table
            inside = False
            continue
        text = _plain(re.sub(r"(?<!\\)%.*", "", line))
        if not inside or _BEGIN.search(line) or "&" not in text:
            rule = inside and begun and not ruled and _RULE.search(text) is not None
            ruled |= rule
            if ruled and (over_all := _OVER.search(text)) is not None:
                titles[len(found)] = _bare(over_all[2])
            found.append("|---|---|" if rule else "")
            continue
        begun = True
        text = _RULE.sub("", _END_OF_ROW.sub("", text))
        text = _OVER.sub(lambda cell: cell[2] + " &" * (int(cell[1]) - 1), text)
        spans = [int(match[1]) if (match := _DOWN.search(cell)) else 1 for cell in text.split("&")]
        cells = _filled([cell.strip() for cell in _bare(text).split("&")], spans, over)
        for place, title in titles.items():
            found[place] = f"| {title} {'| ' * len(cells)}".rstrip()
        titles.clear()
        found.append(f"| {' | '.join(cells)} |")
    return found


def comment_behind(row: str) -> str:
    r"""Return the comment behind a row; "" if there is none.

    Examples
    --------
    >>> comment_behind(r"64 & 9.1 \\ % two racks"), comment_behind(r"64 & 50\% \\")
    ('two racks', '')
    """
    return re.split(r"(?<!\\)%", f"{row} %")[1].strip()


def latex_as_text(lines: Sequence[str]) -> list[str]:
    r"""Return lines without the commands in them: what a reader of the page sees, and the comments.

    Examples
    --------
    >>> latex_as_text([r"\begin{table}[htb]", r"\caption{Each for \emph{10 days}} \label{tab:x}", r"% by Ada"])
    ['', 'Each for 10 days', '% by Ada']
    """
    bare = (_bare(_NO_TEXT.sub("", _RULE.sub("", _plain(line)))) for line in lines)
    return [re.sub(r"\\[a-zA-Z]+\*?|\\\\(\[[^\]]*\])?", "", line).strip() for line in bare]


def _plain(text: str) -> str:
    """Return text with plain characters in place of the commands for them."""
    for mark, plain in _UNMARKED.items():
        text = text.replace(mark, plain)
    return text


def _bare(text: str) -> str:
    """Return the text that commands stand around, without them, but with marks of those that doubt it."""
    while (bare := _AROUND.sub(lambda one: _DOUBTS.get(one["command"] or "", "{}").format(one["text"]), text)) != text:
        text = bare
    return re.sub(r"[{}]", "", text)


def _filled(cells: list[str], spans: Sequence[int], over: dict[int, tuple[str, int]]) -> list[str]:
    r"""Return a row of values with the cells that ``\multirow`` above spans; `over` is brought up to date.

    Examples
    --------
    >>> over = {}
    >>> _filled(["4M", "16"], [2, 1], over), _filled(["", "32"], [1, 1], over), _filled(["", "8"], [1, 1], over)
    (['4M', '16'], ['4M', '32'], ['', '8'])
    """
    are_values = any(cell[:1].isdigit() for cell, span in zip(cells, spans, strict=False) if span == 1)
    for place, (cell, span) in enumerate(zip(cells, spans, strict=False)):
        text, left = over.pop(place, ("", 0))
        if not cell and left:
            cells[place] = text
            over[place] = (text, left - 1)
        elif span > 1 and are_values:
            over[place] = (cell, span - 1)
    return cells
