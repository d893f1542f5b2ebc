"""Tables of the ranking of regions: which will take the time at a scale, with each law and its growth."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import pandas as pd
from rich.table import Table

from evenly.errors import InputError
from evenly.models.base import Model
from evenly.models.ranking import largest_measured, whole_of
from evenly.report.formatting import compact, percent, quantity
from evenly.report.tables.run import add_numbers, add_row, add_texts, new_table

__all__ = ["ranking_as_dict", "ranking_tables"]

#: Regions with a smaller share are counted, not listed, but for some that grow faster than expected.
_SMALL = 0.005
_MOST, _MOST_FASTER = 30, 10
_SHORT = {"can't be told": "?"}


def ranking_tables(ranking: pd.DataFrame, models: Mapping[str, Model], *, expect: str | None = None) -> Iterator[Table]:
    """Return one table per scale of a ranking (`evenly.ranking`).

    Examples
    --------
    >>> import evenly
    >>> runs = evenly.Runs.from_frame(
    ...     pd.DataFrame({"region": "main", "p": [1, 2, 4], "seconds": [8.0, 4, 2]}), ["region", "p"])
    >>> models = evenly.fit(runs, each="region")
    >>> [table.title for table in ranking_tables(evenly.ranking(models, {"p": [8, 16]}), models)]
    ['p = 8: 1 s in all', 'p = 16: 500 ms in all']
    """
    names = _scale_names(ranking, models)
    for scale, rows in ranking.groupby(names, sort=False):
        yield _table(dict(zip(names, scale, strict=True)), rows, models, expect)


def _scale_names(ranking: pd.DataFrame, models: Mapping[str, Model]) -> list[str]:
    columns = [str(name) for name in ranking.columns]
    return columns[1 : columns.index(_response(models)["name"])]


def _response(models: Mapping[str, Model]) -> dict[str, str]:
    return dict(next(iter(models.values())).response_)


def _table(scale: dict[str, Any], rows: pd.DataFrame, models: Mapping[str, Model], expect: str | None) -> Table:
    response = _response(models)
    name, unit = response["name"], response["unit"]
    each = str(rows.columns[0])
    shown = _shown(rows)
    total = quantity(float(rows[name].agg(whole_of(name))), unit)
    at = ", ".join(f"{key} = {compact(value) if _is_number(value) else value}" for key, value in scale.items())
    table = new_table(f"{at}: {total} in all", "\n".join(_below(rows, shown, models, expect)))
    add_texts(table, f"{each}\nits law")
    add_numbers(table, "share", f"{name}\n90 % interval", "growth", *([f"than\n{expect}"] if expect else []), "error")
    for row in shown.to_dict("records"):
        ends = f"{quantity(row['lower'], unit, 3)} – {quantity(row['upper'], unit, 3)}"
        verdict = [_SHORT.get(row["verdict"], row["verdict"])] if expect else []
        error = "–" if np.isnan(row["error"]) else percent(row["error"], 2)
        add_row(
            table, f"{row[each]}\n  {row['law']}", percent(row["share"], 2), f"{quantity(row[name], unit)}\n{ends}",
            f"× {compact(row['growth'], 3)}", *verdict, error,
        )  # fmt: skip
    return table


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float | np.number)


def _shown(rows: pd.DataFrame) -> pd.DataFrame:
    """Return the regions that take most of the time, and the largest of those that grow faster than expected."""
    large = (rows["share"] >= _SMALL).to_numpy() & (np.arange(len(rows)) < _MOST)
    if "verdict" in rows:
        faster = (rows["verdict"] == "faster").to_numpy() & ~large
        large |= faster & (np.cumsum(faster) <= _MOST_FASTER)
    return rows[large]


def _below(rows: pd.DataFrame, shown: pd.DataFrame, models: Mapping[str, Model], expect: str | None) -> list[str]:
    lines = []
    contained = whole_of(_response(models)["name"]) == "max"
    if (rest := len(rows) - len(shown)) and contained:
        lines.append(f"{rest} more (--json lists all)")
    elif rest:
        share = percent(1.0 - float(shown["share"].sum()), 2)
        lines.append(f"{rest} more with {share} of the sum together (--json lists all)")
    lines.append(
        "share: of the largest region; times include those of called regions, so shares overlap"
        if contained
        else "share: of the sum over all regions, so times must be exclusive of called regions"
    )
    lines.append(f"growth: since the largest values measured{_largest(models)}; else since the smallest")
    if expect:
        counts = rows["verdict"].value_counts().to_dict()
        told = ", ".join(f"{n} {verdict}" for verdict, n in counts.items())
        lines.append(f"growth than {expect}: {told}; faster: all credible laws grow faster; ?: these runs can't tell")
    return lines


def _largest(models: Mapping[str, Model]) -> str:
    try:
        largest = largest_measured(models)
    except InputError:  # labels have no largest one
        return ""
    return " (" + ", ".join(f"{name} = {compact(column.tolist()[0])}" for name, column in largest.items()) + ")"


def ranking_as_dict(ranking: pd.DataFrame, models: Mapping[str, Model], *, expect: str | None = None) -> dict[str, Any]:
    """Return a ranking as plain values for JSON.

    Examples
    --------
    >>> import evenly
    >>> runs = evenly.Runs.from_frame(
    ...     pd.DataFrame({"region": "main", "p": [1, 2, 4], "seconds": [8.0, 4, 2]}), ["region", "p"])
    >>> models = evenly.fit(runs, each="region")
    >>> ranking_as_dict(evenly.ranking(models), models)["each"]
    'region'
    """
    rows = ranking.astype(object).where(ranking.notna(), None).to_dict("records")
    return {"each": str(ranking.columns[0]), "expect": expect, "unit": _response(models)["unit"], "ranking": rows}
