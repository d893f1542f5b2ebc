"""Whether runs tell how long one size of the problem takes on other numbers of cores; those of weak scaling don't."""

from __future__ import annotations

from evenly.errors import InputError
from evenly.models.base import Model
from evenly.runs.cores import Cores
from evenly.runs.weak_scaling import is_per_worker

__all__ = ["check_one_size"]


def check_one_size(model: Model, what: Cores) -> None:
    """Refuse a model of runs in which more cores did more work.

    Raises
    ------
    InputError
        If a size grew with the cores in all runs, or a parameter is a size for each core.

    Examples
    --------
    >>> import evenly, pandas as pd
    >>> table = pd.DataFrame({"cores": [1, 4, 16], "cells": [10, 40, 160], "seconds": [2.0, 2.1, 2.3]})
    >>> model = evenly.fit(evenly.Runs.from_frame(table, ["cores", "cells"]), method="log-quadratic")
    >>> check_one_size(model, Cores("cores"))
    Traceback (most recent call last):
    evenly.errors.InputError: cells grew with cores in all runs (weak scaling): these runs don't tell ...
    """
    names = model.space_.names
    grown = [
        size for workers, sizes in model.training_.get("weak_scaling", {}).items() if workers in what.names
        for size in sizes if size in names and size not in what.names
    ]  # fmt: skip
    each = [name for name in (*names, *model.training_.get("per_worker", ())) if is_per_worker(name)]
    if not grown and not each:
        return
    why = (
        f"{' and '.join(grown)} grew with {what.text} in all runs"
        if grown
        else f"{' and '.join(each)} says how much each of {what.text} has to do, so that more of them do more work"
    )
    raise InputError(
        f"{why} (weak scaling): these runs don't tell how long one size takes on other numbers of cores, so none is "
        "recommended. Measure one size on several counts; `evenly predict --at` answers for sizes that grow alike"
        + (f". If {' and '.join(grown)} came out of the runs: --parameters with the others" if grown else "")
    )
