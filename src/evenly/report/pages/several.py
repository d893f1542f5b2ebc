"""What stands on a page about several programs for which no plan was made: their times side by side."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from evenly.errors import InputError
from evenly.models.base import Model
from evenly.report.formatting import common_prefix, in_unit
from evenly.report.html_page import Part, Section, Table, Text
from evenly.report.pages.chapter import Chapter
from evenly.report.slices import quietly
from evenly.runs.cores import find_cores
from evenly.runs.runs import Runs

__all__ = ["several"]

#: Rows and columns of the table.
_MOST_COUNTS, _MOST_SOLVERS = 12, 8


def several(learned: Mapping[str, Model], runs: Mapping[str, Runs]) -> Chapter:
    """Tell how long each program takes on the same cores, where that is all that varies, and how to get a plan."""
    parts: list[Part] = [
        Text("If they are coupled, `--cores N` (`evenly.allocate`) tells how many of N cores each of them gets.")
    ]
    if all(map(_has_only_cores, learned.values())) and (counts := _measured_counts(learned, runs)):
        parts.append(_times(learned, counts))
    return Chapter([Section("The programs side by side", parts)])


def _has_only_cores(model: Model) -> bool:
    """Tell whether the time of a program depends on its cores only, and they are one parameter."""
    try:
        is_cores = len(model.space_) == 1 and find_cores(model.space_).is_one_parameter
    except InputError:
        return False
    return is_cores and bool(model.response_["name"] == "seconds")


def _measured_counts(learned: Mapping[str, Model], runs: Mapping[str, Runs]) -> list[int]:
    """Return counts on which some program was measured, at most a dozen of them."""
    columns = [runs[name].ok.configurations[model.space_.names[0]] for name, model in learned.items() if name in runs]
    known = np.unique(np.concatenate([column.to_numpy() for column in columns])) if columns else np.array([])
    if len(known) > _MOST_COUNTS:
        known = known[np.unique(np.linspace(0, len(known) - 1, _MOST_COUNTS).round().astype(int))]
    return [int(count) for count in known]


def _times(learned: Mapping[str, Model], counts: list[int]) -> Table:
    """Return the predicted times of each program on the same counts. A star marks extrapolations."""
    shown = dict(list(learned.items())[:_MOST_SOLVERS])
    asked = {name: [{model.space_.names[0]: count} for count in counts] for name, model in shown.items()}
    seconds = {name: quietly(model).predict(asked[name]) for name, model in shown.items()}
    beyond = {name: model.extrapolates(asked[name]) for name, model in shown.items()}
    factor, unit = common_prefix(np.concatenate(list(seconds.values())))
    rows = [
        [str(count), *(f"{in_unit(seconds[name][row], factor)}{'*' * bool(beyond[name][row])}" for name in shown)]
        for row, count in enumerate(counts)
    ]
    caption = "predicted times" + ("; * outside what was measured" if any(map(np.any, beyond.values())) else "")
    more = f"; the first {len(shown)} of {len(learned)}" if len(learned) > len(shown) else ""
    return Table(["cores", *(f"{name} {unit}" for name in shown)], rows, caption + more, words=(), copied=True)
