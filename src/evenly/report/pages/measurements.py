"""What stands on a page about measurements: what was run, what failed, and what a campaign still lacks."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import pandas as pd

from evenly.campaign import Campaign
from evenly.readers.confounding import unlike_runs
from evenly.report.formatting import compact, count_text, value_text
from evenly.report.html_page import Fold, Part, Remark, Section, Table, Text
from evenly.report.pages.chapter import Chapter
from evenly.report.slices import never_ended
from evenly.report.tables.run import count_runs, runs_as_dict, runs_table
from evenly.runs.runs import Runs

__all__ = ["campaign", "measured"]

#: Configurations that are named.
_MOST_UNLIKE = 5
#: Rows of the tables of runs.
_MOST_ROWS = 200


def measured(runs: Mapping[str, Runs]) -> Chapter:
    """Tell what was measured: how many runs, of which configurations, how much repeated runs differ, what failed."""
    parts: list[Part] = [Table.of(runs_table(runs))]
    for name, one in runs.items():
        whose = f"{name}: " if len(runs) > 1 else ""
        parts += [Text(f"{whose}{text}") for text in _coverage(one)]
        parts += _failures(one, whose)
        parts += _unlike(one, whose)
    parts += [Fold(f"all runs{f' of {name}' if len(runs) > 1 else ''}", _all_runs(one)) for name, one in runs.items()]
    count = sum(map(count_runs, runs.values()))
    return Chapter(
        [Section("What was measured", parts)], {"runs": count_text(count)}, {"runs": runs_as_dict(runs)["solvers"]}
    )


def _failures(runs: Runs, whose: str) -> Iterator[Part]:
    """Tell which runs did not end well, and on which configurations none did."""
    failed = runs.failed.to_frame()
    if not len(failed):
        return
    kinds = failed["status"].value_counts()
    told = ", ".join(f"{count} {kind}" for kind, count in kinds.items())
    yield Remark(
        f"{whose}{count_text(len(failed))} of {count_text(len(runs))} runs did not end well: {told}", "warning"
    )
    never = {tuple(one) for one in never_ended(runs).itertuples(index=False)}
    groups = failed.groupby([*runs.parameters, "status"], sort=True, observed=True, dropna=False).size()
    rows = [
        [*map(_cell, key[:-1]), str(key[-1]), str(count), "none" if tuple(key[:-1]) in never else "some"]
        for key, count in groups.items()
        if isinstance(key, tuple)
    ]
    more = f"the first {_MOST_ROWS} of {len(rows)} configurations" if len(rows) > _MOST_ROWS else ""
    header = [*runs.parameters, "ended as", "runs", "others ended well"]
    words = (len(header) - 3, len(header) - 1)
    yield Fold(f"{whose}runs that did not end well", [Table(header, rows[:_MOST_ROWS], more, words=words)])


def _unlike(runs: Runs, whose: str) -> Iterator[Part]:
    """Tell which repeated runs differ by a factor above 2."""
    found = list(unlike_runs(runs))
    if not found:
        return
    more = f"; and {len(found) - _MOST_UNLIKE} more" if len(found) > _MOST_UNLIKE else ""
    told = "; ".join(found[:_MOST_UNLIKE])
    yield Remark(f"{whose}Repeated runs differ by a factor above 2 at {told}{more}", "warning")


def _coverage(runs: Runs) -> Iterator[str]:
    """Tell which combinations of values were measured, and where the largest gap is."""
    table = runs.ok.configurations.drop_duplicates()
    if not len(table):
        return
    counts = {name: table[name].nunique() for name in runs.parameters}
    varied = [name for name, count in counts.items() if count > 1]
    if len(varied) > 1:
        every = int(np.prod([float(counts[name]) for name in varied]))
        if every < 1e9:
            shape = " × ".join(f"{counts[name]} of {name}" for name in varied)
            made = f"{count_text(len(table))} of {count_text(every)}"
            yield f"{made} combinations of these values were measured ({shape})."
    for name in varied:
        values = np.unique(table[name]) if pd.api.types.is_numeric_dtype(table[name]) else np.array([])
        if len(values) > 2 and values[0] > 0:
            gaps = values[1:] / values[:-1]
            widest = int(np.argmax(gaps))
            if gaps[widest] > 4 and gaps[widest] > 2 * np.median(gaps):
                low, high = value_text(values[widest]), value_text(values[widest + 1])
                yield f"Nothing was measured between {name} = {low} and {high}."


def _all_runs(runs: Runs) -> list[Part]:
    table = runs.aggregate() if len(runs.ok) else runs.to_frame()[runs.parameters]
    shown = table.head(_MOST_ROWS)
    shown = shown.assign(spread=shown["spread"].where(shown["count"] > 1)) if "spread" in shown else shown
    columns = [name for name in (*runs.parameters, runs.response, "count", "spread") if name in shown]
    rows = [[_cell(value) for value in row] for row in shown[columns].itertuples(index=False)]
    more = f"the first {_MOST_ROWS} of {len(table)} configurations" if len(table) > len(shown) else ""
    unit = runs.quantities.get(runs.response, "")
    named = {
        runs.response: f"median {runs.response} [{unit}]",
        "count": "runs" if count_runs(runs) == len(runs) else "values",
        "spread": f"deviation [{unit}]",
    }
    return [Table([named.get(name, name) for name in columns], rows, more, words=(), copied=True)]


def _cell(value: Any) -> str:
    return value if isinstance(value, str) else compact(float(value), 6) if np.isreal(value) else str(value)


def campaign(done: Campaign) -> Chapter:
    """Tell what a campaign has measured, what failed and why, and what is still to be run."""
    from evenly.report.tables.campaign import campaign_as_dict, campaign_table, failed_table

    records, known = done.store.records(), done.configurations
    missing = sum(done.missing.values())
    parts: list[Part] = [Table.of(campaign_table(known, records), copied=True)]
    if any(record.status != "ok" for record in records):
        parts.append(Fold("failed runs", [Table.of(failed_table(known, records))]))
    if missing:
        parts.append(Remark(f"{missing} runs are still to be made: `evenly measure` goes on with them", "warning"))
    return Chapter(
        [Section(f"The campaign {done.study.name}", parts)], {"runs of the campaign": count_text(len(records))},
        {"campaign": campaign_as_dict(known, records)},
    )  # fmt: skip
