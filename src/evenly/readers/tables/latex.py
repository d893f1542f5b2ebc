"""Tables of LaTeX (``tabular`` and its relatives) as lines with bars, as Markdown has them."""

from __future__ import annotations

import re
from collections.abc import Sequence

__all__ = ["latex_as_bars"]

_BEGIN = re.compile(r"\\begin\{(tabular\w*\*?|longtable|array)\}")
_END = re.compile(r"\\end\{(tabular|longtable|array)")
_RULE = re.compile(r"\\(hline|midrule|cline|cmidrule)\b")
#: Commands around text that is a cell: ``\textbf{cores}``, ``\num{128}``, ``\multicolumn{1}{c}{time}``.
_AROUND = re.compile(r"\\(?:multirow\{[^{}]*\}\{[^{}]*\}|[a-zA-Z]+)\{([^{}]*)\}")
#: A cell over several columns; the formats of columns may hold braces of their own.
_OVER = re.compile(r"\\multicolumn\{(\d+)\}\{(?:[^{}]|\{[^{}]*\})*\}\{((?:[^{}]|\{[^{}]*\})*)\}")
_END_OF_ROW = re.compile(r"\\\\(\[[^\]]*\])?|\\tabularnewline")
_UNMARKED = {
    r"\%": "%", r"\_": "_", r"\&": "and", r"\#": "#", r"\,": "", r"\pm": "±", r"\times": "x", "~": " ", "$": "",
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
    for line in lines:
        if _BEGIN.search(line):
            inside, begun, ruled = True, False, False
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
        text = re.sub(r"\\(?:hline|toprule|midrule|bottomrule)\b", "", _END_OF_ROW.sub("", text))
        text = _OVER.sub(lambda cell: cell[2] + " &" * (int(cell[1]) - 1), text)
        while (bare := _AROUND.sub(r"\1", text)) != text:
            text = bare
        cells = [re.sub(r"[{}]", "", cell).strip() for cell in text.split("&")]
        found.append(f"| {' | '.join(cells)} |")
    return found
