"""Tables of LaTeX (``tabular`` and its relatives) as lines with bars, as Markdown has them."""

from __future__ import annotations

import re
from collections.abc import Sequence

__all__ = ["latex_as_bars"]

_BEGIN = re.compile(r"\\begin\{(tabular\w*\*?|longtable|array)\}")
_END = re.compile(r"\\end\{(tabular|longtable|array)")
_RULE = re.compile(
    r"\\(?:hline|toprule|midrule|bottomrule|specialrule(?:\{[^{}]*\})*|(?:cline|cmidrule|morecmidrules|hhline)\b"
    r"(?:\[[^\]]*\])?(?:\([^)]*\))?(?:\{[^{}]*\})?)(?![a-zA-Z])(?:\[[^\]]*\])?"
)
#: Commands around text that is a cell: ``\textbf{cores}``, ``\num{128}``, ``\multicolumn{1}{c}{time}``.
_AROUND = re.compile(r"\\(?:multirow(?:\[[^\]]*\])?\{[^{}]*\}\{[^{}]*\}|[a-zA-Z]+)\{([^{}]*)\}")
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
    for line in lines:
        if _BEGIN.search(line):
            inside, begun, ruled = True, False, False
            over.clear()
        if inside and _END.search(line) is not None:
            found.append("|---|---|" if begun and not ruled else "")  # one rule tells that it is a table
            inside = False
            continue
        text = re.sub(r"(?<!\\)%.*", "", line)
        for mark, plain in _UNMARKED.items():
            text = text.replace(mark, plain)
        if not inside or _BEGIN.search(line) or "&" not in text:
            rule = inside and begun and not ruled and _RULE.search(text) is not None
            ruled |= rule
            found.append("|---|---|" if rule else "")
            continue
        begun = True
        text = _RULE.sub("", _END_OF_ROW.sub("", text))
        text = _OVER.sub(lambda cell: cell[2] + " &" * (int(cell[1]) - 1), text)
        spans = [int(match[1]) if (match := _DOWN.search(cell)) else 1 for cell in text.split("&")]
        while (bare := _AROUND.sub(r"\1", text)) != text:
            text = bare
        cells = [re.sub(r"[{}]", "", cell).strip() for cell in text.split("&")]
        cells = _filled(cells, spans, over)
        found.append(f"| {' | '.join(cells)} |")
    return found


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
