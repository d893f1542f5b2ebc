"""Results as HTML for a notebook: the tables that the commands print."""

from __future__ import annotations

from collections.abc import Iterator
from html import escape
from typing import Any

from evenly.allocation.plan import Plan
from evenly.core_counts.recommendation import Recommendation
from evenly.decomposition.forecasting.forecast import Forecast
from evenly.decomposition.partitioning.plan import CutPlan
from evenly.models.base import Model
from evenly.report.html_page import Part, Table, Text
from evenly.runs.runs import Runs
from evenly.tuning.result import Result
from evenly.tuning.sensitivity import Sensitivity

__all__ = ["html_of"]

_STYLE = (
    "<style>.evenly table{border-collapse:collapse}.evenly th,.evenly td{text-align:right;padding:.2rem .6rem}"
    ".evenly .word{text-align:left}.evenly .caption{opacity:.75;font-size:.9em}</style>"
)


def html_of(thing: Any) -> str:
    """Return a result as HTML that can stand in any page.

    Examples
    --------
    >>> import evenly, pandas as pd
    >>> runs = evenly.Runs.from_frame(pd.DataFrame({"cores": [1, 2, 4], "seconds": [8.0, 4.0, 2.0]}), ["cores"])
    >>> "3 of cores 1 … 4" in html_of(runs)
    True
    """
    parts = "".join(part.html() for part in _parts(thing))
    return f'<div class="evenly">{_STYLE}{parts or f"<pre>{escape(repr(thing))}</pre>"}</div>'


def _parts(thing: Any) -> Iterator[Part]:
    from evenly.report.tables import forecast, model, partition, plan, recommendation, run, tuning

    match thing:
        case Runs() if len(thing):
            yield Table.of(run.runs_table({"": thing}))
        case Model() if hasattr(thing, "space_"):
            yield Table.of(model.models_table({"": thing}))
        case Plan():
            yield Table.of(plan.plan_table(thing))
            if thing.versus or thing.runner_up:
                yield Table.of(plan.comparison_table(thing))
        case CutPlan():
            yield Text(partition.cuts_headline(thing))
            yield Text(partition.answer(thing))
            yield Table.of(partition.cuts_table(thing))
        case Forecast():
            yield Text(forecast.forecast_headline(thing))
            yield Table.of(forecast.forecast_table(thing))
        case Recommendation():
            yield from map(Text, recommendation.choice_lines(thing.choice, "cores", thing.level))
            yield Table.of(recommendation.recommendation_table(thing))
        case Result():
            yield Text(tuning.found_text(thing))
            yield Table.of(tuning.tasks_table(thing) if thing.task_names else tuning.alike_table(thing))
        case Sensitivity():
            yield Table.of(tuning.sensitivity_table(thing))
