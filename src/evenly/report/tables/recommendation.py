"""Tables of recommended numbers of cores: time, efficiency and core-hours of each, with their intervals."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
from rich.table import Table

from evenly.core_counts.goal import Choice, reason_of
from evenly.core_counts.recommendation import Recommendation
from evenly.report.formatting import compact, in_unit, percent, quantity, time_limit, value_text
from evenly.report.tables.model import TimeFormat
from evenly.report.tables.run import add_numbers, add_row, new_table
from evenly.runs.durations import format_hms

__all__ = ["choice_lines", "limit_lines", "question_lines", "recommendation_table"]

_DAY_S = 86_400.0
#: Efficiencies are written with so many digits: 104 % is shown as 100 %.
_DIGITS = 2


def recommendation_table(found: Recommendation, *, times: TimeFormat = "unit") -> Table:
    """Return a table with a row per number of cores. An arrow marks the recommended number, a star extrapolations.

    Parameters
    ----------
    found : Recommendation
    times : {"unit", "hms"}
        How times are written: as numbers in one unit, or as ``HH:MM:SS``.
    """
    curve = found.curve
    starred = bool(curve["extrapolated"].any())
    is_first = not starred and bool(np.isclose(curve["efficiency"].iloc[0], 1.0))
    caption = f"used: efficiency against the {'first row' if is_first else 'fewest measured cores'}"
    if any(map(_is_above_1, curve["efficiency"])):
        does = "each core does more than there"
        sure = _surely_above_1(curve)
        caption += f"; above 100 %: {f'{does}, as where its data fit into caches' if sure else f'by the model, {does}'}"
    title = "" if found.steps == 1 else f"{value_text(found.steps)} steps"
    parts = list(curve.columns[1 : curve.columns.get_loc("step_s")])
    others = [name for name in parts if curve[name].nunique() > 1 or not _is_one(found.at.get(name))]
    joined = len(others) > 1  # several columns would leave no room for the others
    told = [
        f"{percent(found.level)}: intervals; {caption}",
        *([f"at: {', '.join(others)}"] if joined else []),
        *(["* outside what was measured"] if starred else []),
        *(
            ["✗ all runs on so many cores failed; where none was made, all on the nearest counts did"]
            if "failed" in curve
            else []
        ),
    ]
    table = new_table(title, "\n".join(told))
    priced = [found.machine.currency] if "money" in curve else []
    factor, unit = found.time_unit
    within = percent(found.level)
    hms = times == "hms"
    written: Callable[[float, int], str] = lambda s, n: _clock(s) if hms else in_unit(s, factor, n)  # noqa: E731
    add_numbers(
        table,
        "cores",
        *(["at"] if joined else others),
        "time" if hms else f"time {unit}",
        within,
        "used",
        "core-h",
        within,
        *priced,
    )
    for row in curve.to_dict("records"):
        beyond = ("*" if row["extrapolated"] else " ") if starred else ""
        add_row(
            table,
            f"{'→ ' if row['cores'] == found.cores else ''}{int(row['cores'])}{' ✗' if row.get('failed') else ''}",
            *([", ".join(value_text(row[name]) for name in others)] if others else []),
            f"{written(row['run_s'], 4)}{beyond}",
            f"{written(row['run_lower_s'], 3)} … {written(row['run_upper_s'], 3)}",
            percent(row["efficiency"], _DIGITS),
            compact(row["core_hours"], 3),
            f"{compact(row['core_hours_lower'], 3)} … {compact(row['core_hours_upper'], 3)}",
            *([compact(row["money"], 3)] if priced else []),
        )
    return table


def _is_one(given: Any) -> bool:
    """Tell whether one value was given."""
    return given is not None and (not isinstance(given, list | tuple) or len(given) == 1)


def _surely_above_1(curve: pd.DataFrame) -> bool:
    """Tell whether some measured count has an efficiency above 1 at the lower end of its interval, too.

    The time on the fewest cores, to which it is compared, is taken to be as unsure as that on these.
    """
    unsure = np.exp(np.sqrt(2) * np.log(curve["run_upper_s"] / curve["run_s"]))
    sure = curve["efficiency"][curve["measured"] & (curve["efficiency"] > unsure)]
    return any(map(_is_above_1, sure))


def _is_above_1(efficiency: float) -> bool:
    """Tell whether an efficiency is written as more than 100 %."""
    return float(f"{efficiency:.{_DIGITS}g}") > 1


def _clock(seconds: float) -> str:
    """Write a time as ``HH:MM:SS``, and from a day on as ``D-HH:MM``, which Slurm reads, too.

    Examples
    --------
    >>> _clock(3723.4), _clock(90_000.0)
    ('01:02:03', '1-01:00')
    """
    return format_hms(seconds) if seconds < _DAY_S else format_hms(round(seconds / 60) * 60)[:-3]


def question_lines(found: Recommendation) -> list[str]:
    """Return what was asked, in one line: the steps, the values of the other parameters, and the goal."""
    goal = found.goal
    asked = [f"{value_text(found.steps)} steps"] if found.steps != 1 else []
    asked += [f"{name} = {_listed(value)}" for name, value in found.at.items()]
    if goal is not None:
        asked += [f"within {quantity(goal.deadline_s)}"] if goal.deadline_s else []
        asked += [f"for at most {compact(goal.core_hours)} core-hours"] if goal.core_hours else []
        asked += [f"for at most {compact(goal.money)} {found.machine.currency}"] if goal.money else []
        asked += [f"with an efficiency of {percent(goal.efficiency)} or more"] if goal.efficiency else []
    return [f"Asked: {', '.join(asked)}."] if asked else []


def _listed(value: Any) -> str:
    return ", ".join(map(value_text, value)) if isinstance(value, list | tuple) else value_text(value)


def choice_lines(choice: Choice, noun: str, level: float) -> list[str]:
    """Return the recommended count, where more stop paying if the reason doesn't say so, and the runner-up.

    Parameters
    ----------
    choice : Choice
    noun : str
        What is counted: ``"cores"`` or ``"ranks"``.
    level : float
        The probability of the interval of the knee.
    """
    knee = choice.knee
    if knee.is_last and knee.is_first:
        pays = f"where more {noun} stop paying isn't told by one number: ask for several, as 1..{4 * knee.count}"
    elif knee.is_last:
        pays = f"more {noun} still pay at {knee.count}, the largest number {knee.among}"
    else:
        between = f"between {knee.lower} and {knee.upper}" if knee.lower < knee.upper else f"at {knee.count}"
        pays = f"more {noun} stop paying at {knee.count} ({percent(level)}: {between})"
    many = noun if choice.count != 1 else noun.removesuffix("s")
    told = knee.is_last and not knee.is_first and choice.why.startswith(reason_of(knee))
    lines = [f"recommended: {choice.count} {many}, {choice.why}", "" if told else pays, f"runner-up: {choice.trade}"]
    return [line for line in lines if line]


def limit_lines(found: Recommendation) -> list[str]:
    """Return the time limits to ask for on the recommended count and on the runner-up, in one line if asked for."""
    if found.limit is None:
        return []
    enough = dict(zip(found.curve["cores"], found.curve["limit_s"], strict=True))
    limits = {n: float(enough[n]) for n in (found.cores, found.runner_up) if n is not None}
    told = [f"{time_limit(limit) if np.isfinite(limit) else 'not known'} on {n}" for n, limit in limits.items()]
    unknown = "" if np.isfinite(list(limits.values())).all() else "; too many runs were stopped at their limit"
    return [f"time limit, enough in {percent(found.limit)}: {', '.join(told)} cores{unknown}"]
