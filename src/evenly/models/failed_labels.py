"""Labels of which no run ended well: models know nothing of them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pandas as pd

from evenly.errors import InputError
from evenly.runs.outcomes import Outcomes
from evenly.space.parameters import Categorical
from evenly.space.space import Space

__all__ = ["refuse_failed_labels"]


def refuse_failed_labels(asked: pd.DataFrame, space: Space, outcomes: Mapping[str, Any]) -> None:
    """Refuse labels that were run, but never to a good end.

    Parameters
    ----------
    asked : DataFrame (n, n_parameters)
    space : Space
        The parameters, with the labels that were learned from.
    outcomes : mapping
        What `Outcomes.to_state` has written.

    Raises
    ------
    InputError
        With the labels whose times are known.

    Examples
    --------
    >>> went = {"configurations": {"solver": ["cg", "lu"]}, "failed": [False, True], "whole": True}
    >>> refuse_failed_labels(pd.DataFrame({"solver": ["lu"]}), Space(solver=Categorical("cg")), went)
    Traceback (most recent call last):
    evenly.errors.InputError: no run with solver = lu ended well, so its times aren't known: ask for one of cg
    """
    known = Outcomes.from_state(outcomes)
    for name, kind in space.parameters.items():
        if not isinstance(kind, Categorical) or name not in known.configurations:
            continue
        failed = set(map(str, known.configurations.loc[known.failed, name])) - set(map(str, kind.options))
        for label in asked[name].unique():
            if str(label) in failed:
                raise InputError(
                    f"no run with {name} = {label} ended well, so its times aren't known: ask for one of "
                    f"{', '.join(map(str, kind.options))}"
                )
