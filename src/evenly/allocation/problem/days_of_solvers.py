"""Models whose times are of different simulated days: all are made those of one step, or asked about."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import Any

from evenly.errors import EvenlyWarning
from evenly.runs.step_days import days_of_step, said_of_days

__all__ = ["factors_of_one_step"]


def factors_of_one_step(solvers: Mapping[str, Any], asked: float | None) -> tuple[dict[str, float], float | None]:
    """Return by what each solver's times are multiplied, so that all are of one step, and the days that it simulates.

    Fitted models keep the days that their times are of (`evenly.Runs.days`); functions and tables don't tell them.

    Raises
    ------
    InputError
        As `evenly.runs.step_days.days_of_step`.

    Warns
    -----
    EvenlyWarning
        Whose times were changed, or don't tell what they are of.

    Examples
    --------
    >>> factors_of_one_step({"a": abs, "b": abs}, 1.0)
    ({'a': 1.0, 'b': 1.0}, 1.0)
    """
    own = {name: (getattr(one, "training_", None) or {}).get("days") for name, one in solvers.items()}
    told = {name: (days,) for name, days in own.items()}
    step = days_of_step(told, asked)
    if step is None:
        return dict.fromkeys(solvers, 1.0), None
    if len(set(own.values())) > 1:
        warnings.warn("; ".join(said_of_days(told, step)), EvenlyWarning, stacklevel=4)
    return {name: step / (step if days is None else days) for name, days in own.items()}, step
