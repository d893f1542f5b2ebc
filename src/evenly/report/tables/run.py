"""Tables of runs, for the terminal and as plain values for JSON."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from rich import box
from rich.table import Table
from rich.text import Text

from evenly.report.formatting import compact, count_text, interval, percent, plain, span

if TYPE_CHECKING:
    import pandas as pd

    from evenly.runs.runs import Runs

__all__ = [
    "SkippedFile", "add_numbers", "add_row", "add_texts", "count_runs", "new_table", "runs_as_dict", "runs_table",
    "skipped_table",
]  # fmt: skip

_MOST_LABELS = 4
#: From so many repetitions on, two digits leave the width to the names.
_MANY = 10_000


class SkippedFile(Protocol):
    """A file that `evenly.readers.scan` left out, and the reason."""

    @property
    def path(self) -> Path: ...
    @property
    def reason(self) -> str: ...
    @property
    def line(self) -> int | None: ...


def new_table(title: str = "", caption: str = "") -> Table:
    """Return an empty table in the style of all others."""
    return Table(
        title=title or None,
        caption=caption or None,
        box=box.SIMPLE_HEAD,
        title_justify="left",
        caption_justify="left",
        title_style="bold",
        header_style="bold",
        pad_edge=False,
        padding=(0, 1),
    )


def add_texts(table: Table, *headings: str) -> None:
    """Add columns of text. Text that is too long for one line continues on the next line."""
    for heading in headings:
        table.add_column(heading, overflow="fold")


def add_numbers(table: Table, *headings: str) -> None:
    """Add columns of numbers. Numbers are aligned right and never wrapped."""
    for heading in headings:
        table.add_column(heading, justify="right", no_wrap=True)


def add_row(table: Table, *cells: str) -> None:
    """Add a row of plain text. Brackets in names are not read as markup."""
    table.add_row(*(Text(cell) for cell in cells))


def runs_table(
    runs: Mapping[str, Runs],
    *,
    sources: Sequence[tuple[Path, str]] = (),
    title: str = "",
    details: bool = False,
) -> Table:
    """Return a table of the measured runs, with a row per solver.

    Parameters
    ----------
    runs : mapping of str to Runs
        The runs of each solver.
    sources : sequence of (Path, str), optional
        The files and their formats. The number of files of each format is below the table.
    title : str, optional
        The title above the table.
    details : bool
        Whether to show all quantities. By default, the table shows the response and the number of other quantities.

    Returns
    -------
    rich.table.Table

    Examples
    --------
    >>> import pandas as pd
    >>> from evenly.runs.runs import Runs
    >>> runs = Runs.from_frame(pd.DataFrame({"cores": [1, 1, 2], "ms": [80, 82, 41]}), ["cores"], "ms", unit="ms")
    >>> runs_table({"inner": runs}).row_count
    1
    """
    table = new_table(title, _sources(sources))
    add_texts(table, "solver")
    add_numbers(table, "runs")
    add_texts(table, "configs")
    table.add_column("measured", no_wrap=True)
    add_numbers(table, "repeats", "spread")
    for solver, one in runs.items():
        facts = _facts(one)
        lost = facts["failed"] - facts["timed_out"]
        made = count_runs(one)
        rows = "\n".join([
            count_text(made), *([f"{count_text(len(one))} values"] if made < len(one) else []),
            *([f"{count_text(lost)} failed"] if lost else []),
            *([f"{count_text(facts['timed_out'])} timed out"] if facts["timed_out"] else []),
        ])  # fmt: skip
        fewest, most = facts["fewest_repetitions"], facts["most_repetitions"]
        repeats = span(fewest, most, 2 if most >= _MANY else 4)
        spread = "–" if facts["typical_spread"] is None else percent(facts["typical_spread"], 2)
        add_row(
            table, solver or "(all)", rows, _configurations(facts), _measured(one, details=details), repeats, spread
        )
    return table


def count_runs(runs: Runs) -> int:
    """Return how many runs were made, of which each may have several rows, such as its steps.

    Examples
    --------
    >>> import pandas as pd
    >>> from evenly.runs.runs import Runs
    >>> steps = pd.DataFrame({"cores": [1, 1, 2], "seconds": [8, 8, 4], "run": ["a", "a", "b"]})
    >>> count_runs(Runs.from_frame(steps, ["cores"]))
    2
    """
    names = runs.to_frame()["run"]
    return int(names.nunique()) if names.astype(bool).all() else len(runs)


def skipped_table(skipped: Iterable[SkippedFile], *, title: str = "Left out") -> Table:
    """Return a table of the files that were left out, and the reasons.

    Examples
    --------
    >>> from evenly.errors import ReadError
    >>> skipped_table([ReadError("run.log", "the file is empty")]).row_count
    1
    """
    table = new_table(title)
    table.add_column("file", overflow="fold", ratio=2)
    add_numbers(table, "line")
    table.add_column("reason", overflow="fold", ratio=3)
    for entry in skipped:
        add_row(table, str(entry.path), "" if entry.line is None else str(entry.line), entry.reason)
    return table


def runs_as_dict(
    runs: Mapping[str, Runs],
    *,
    sources: Sequence[tuple[Path, str]] = (),
    skipped: Iterable[SkippedFile] = (),
) -> dict[str, Any]:
    """Return the contents of `runs_table` and `skipped_table` as plain values for JSON.

    Examples
    --------
    >>> import pandas as pd
    >>> from evenly.runs.runs import Runs
    >>> runs = Runs.from_frame(pd.DataFrame({"cores": [1, 1, 2], "ms": [80, 82, 41]}), ["cores"], "ms", unit="ms")
    >>> runs_as_dict({"inner": runs})["solvers"]["inner"]["quantities"]["seconds"]
    {'unit': 's', 'smallest': 0.041, 'largest': 0.082}
    """
    return {
        "solvers": {solver: _facts(one) for solver, one in runs.items()},
        "sources": [{"path": str(path), "format": name} for path, name in sources],
        "skipped": [{"path": str(e.path), "line": e.line, "reason": e.reason} for e in skipped],
    }


def _facts(runs: Runs) -> dict[str, Any]:
    good = runs.ok
    condensed = good.aggregate() if len(good) else None
    counts = [0] if condensed is None else condensed["count"]
    table = good.to_frame()
    return {
        "rows": len(runs),
        "failed": len(runs) - len(good),
        "timed_out": int((runs.to_frame()["status"] == "timed out").sum()),
        "configurations": 0 if condensed is None else len(condensed),
        "parameters": {name: _range(table[name], runs.space.parameters[name].unit) for name in runs.parameters},
        "response": runs.response,
        "quantities": {name: _extremes(table[name], unit) for name, unit in runs.quantities.items()},
        "fewest_repetitions": int(min(counts)),
        "most_repetitions": int(max(counts)),
        "typical_spread": _spread(condensed, runs.response),
        "machines": sorted({str(name) for name in table["machine"] if name}),
    }


def _range(column: pd.Series[Any], unit: str) -> dict[str, Any]:
    from pandas.api.types import is_numeric_dtype

    values = column.unique()
    if not len(values):
        return {"unit": unit, "values": 0}
    if is_numeric_dtype(column):
        return {
            "unit": unit, "values": len(values), "smallest": plain(column.min()), "largest": plain(column.max()),
        }  # fmt: skip
    return {"unit": unit, "values": len(values), "labels": sorted(map(str, values))}


def _extremes(column: pd.Series[Any], unit: str) -> dict[str, Any]:
    known = column.dropna()
    if not len(known):
        return {"unit": unit, "smallest": None, "largest": None}
    return {"unit": unit, "smallest": plain(known.min()), "largest": plain(known.max())}


def _spread(condensed: pd.DataFrame | None, response: str) -> float | None:
    """Return the median relative standard deviation of repeated configurations; None if none is repeated."""
    if condensed is None:
        return None
    repeated = condensed[(condensed["count"] > 1) & (condensed[response] > 0)]
    return float((repeated["spread"] / repeated[response]).median()) if len(repeated) else None


def _configurations(facts: Mapping[str, Any]) -> str:
    lines = [count_text(facts["configurations"])]
    for name, known in facts["parameters"].items():
        unit = f" {known['unit']}" if known["unit"] and known["unit"] != name else ""
        if "smallest" in known:
            lines.append(f"{name} {span(known['smallest'], known['largest'])}{unit}")
        elif "labels" in known:
            rest = len(known["labels"]) - _MOST_LABELS
            more = f", {rest} more" if rest > 0 else ""
            lines.append(f"{name}: {', '.join(known['labels'][:_MOST_LABELS])}{more}")
    return f"{lines[0]} of {lines[1]}" if len(lines) == 2 else "\n".join(lines)


def _measured(runs: Runs, *, details: bool) -> str:
    lines = []
    shown = runs.quantities if details else {runs.response: runs.quantities[runs.response]}
    for name, unit in shown.items():
        known = runs.ok.to_frame()[name].dropna()
        if len(known):
            text = interval(float(known.min()), float(known.max()), unit)
            lines.append(text if name == "seconds" else f"{name} {text}")
    others = len(runs.quantities) - len(shown)
    return "\n".join(
        [*(lines or ["nothing"]), *([f"and {others} more quantit{'y' if others == 1 else 'ies'}"] if others else [])]
    )


def _sources(sources: Sequence[tuple[Path, str]]) -> str:
    if not sources:
        return ""
    counts = Counter(name for _, name in sources).most_common()
    return "read from " + ", ".join(f"{compact(n)} × {name}" for name, n in counts)
