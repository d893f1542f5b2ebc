"""Whether runs tell how long one size of the problem takes on other numbers of cores; those of weak scaling don't."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from evenly.core_counts.goal import time_words
from evenly.errors import InputError, option_text
from evenly.models.base import Model
from evenly.runs.cores import Cores
from evenly.runs.count_names import kind_of
from evenly.runs.durations import common_unit
from evenly.runs.weak_scaling import factors_of, is_per_worker
from evenly.space.parameters import Categorical
from evenly.space.ranges import ends

__all__ = ["check_one_size", "check_varied", "doubt_one_size", "measured_range", "only_cores_varied", "refuse_grown"]

#: A time that falls by less, over so many times the cores, may be that of runs in which each core has the same work.
_FALLS, _SPAN = 0.8, 8
#: Times of weak scaling rise by less, those that count on from the start of a job by more.
_RISES = 1.5


def check_varied(model: Model, what: Cores) -> None:
    """Refuse runs that were all made on one number of cores: they don't tell what other numbers would bring.

    Raises
    ------
    InputError
        If no parameter of the cores varied, or their product never did, as of ranks and threads that fill a node.

    Examples
    --------
    >>> import evenly, pandas as pd
    >>> table = pd.DataFrame({"ranks": [4, 8, 16], "threads": [24, 12, 6], "seconds": [2.0, 2.1, 2.3]})
    >>> model = evenly.fit(evenly.Runs.from_frame(table, ["ranks", "threads"]), method="log-quadratic")
    >>> check_varied(model, Cores("ranks * threads"))
    Traceback (most recent call last):
    evenly.errors.InputError: all runs were made with ranks * threads = 96, so other numbers of cores can't ...
    """
    low_high = [ends(model.space_.parameters[name]) for name in what.names if name in model.space_.parameters]
    told = ""
    if low_high and all(low == high for low, high in low_high):
        told = ", ".join(f"{name} = {low:g}" for name, (low, _) in zip(what.names, low_high, strict=True))
    for first, others in model.training_.get("weak_scaling", {}).items():
        for other, pairs in others.items():
            if {first, other} == set(what.names):
                made = what.of(pd.DataFrame(pairs, columns=[first, other]), len(pairs))
                told = f"{what.text} = {made[0]:g}" if len(np.unique(made)) == 1 else told
    if told:
        raise InputError(
            f"all runs were made with {told}, so other numbers of cores can't be compared: measure a second"
        )


def measured_range(model: Model, what: Cores) -> range:
    """Return all counts of cores between those of the smallest and of the largest measured values.

    Examples
    --------
    >>> import evenly, pandas as pd
    >>> table = pd.DataFrame({"nodes": [1, 2, 4], "seconds": [9.0, 5.0, 3.0]})
    >>> model = evenly.fit(evenly.Runs.from_frame(table, ["nodes"]), method="power-law")
    >>> measured_range(model, Cores("nodes * 48"))
    range(48, 193)
    """
    bounds = {name: ends(model.space_.parameters[name]) for name in what.names if name in model.space_.parameters}
    made = what.of({name: np.array(both) for name, both in bounds.items()}, 2)
    return range(int(made[0]), int(made[1]) + 1) if np.isfinite(made).all() and made[1] > made[0] else range(0)


def only_cores_varied(model: Model, what: Cores) -> bool:
    """Tell whether no number but the cores was varied, and nobody said that all runs did the same work together.

    Examples
    --------
    >>> import evenly, pandas as pd
    >>> table = pd.DataFrame({"cores": [1, 2, 2], "n": [8, 8, 9], "seconds": [9.0, 5.0, 6.0]})
    >>> model = evenly.fit(evenly.Runs.from_frame(table, ["cores", "n"]), method="power-law")
    >>> only_cores_varied(model, Cores("cores"))
    False
    """
    others = [name for name in model.space_.names if name not in what.names and not kind_of(name)]
    kinds = [model.space_.parameters[name] for name in others]
    sizes = [kind for kind in kinds if not isinstance(kind, Categorical) and np.ptp(ends(kind)) > 0]
    return not sizes and not model.training_.get("same_work")


def doubt_one_size(model: Model, cores: NDArray[np.int64], seconds: NDArray[np.float64]) -> str:
    """Return a sentence where more cores bring nothing, as where each has the same work; "" where they do.

    Parameters
    ----------
    model : Model
        One of which `only_cores_varied`.
    cores : (n,)
        Measured counts, ascending.
    seconds : (n,)
        Their predicted times.

    Raises
    ------
    InputError
        If a command took the parameters by itself, so that nobody said that all runs were of one size.

    Examples
    --------
    >>> import evenly, pandas as pd
    >>> table = pd.DataFrame({"cores": [1, 4, 16, 64], "seconds": [93.0, 96.0, 98.0, 99.0]})
    >>> model = evenly.fit(evenly.Runs.from_frame(table, ["cores"]), method="power-law")
    >>> print(doubt_one_size(model, table["cores"].to_numpy(), table["seconds"].to_numpy()))
    more cores don't shorten the time (93 s on 1, 99 s on 64), as where each core has the same work (weak scaling)
    """
    if not len(cores) or cores[-1] < _SPAN * cores[0] or seconds.min() < _FALLS * seconds[0]:
        return ""
    unit = common_unit(seconds, seconds[0])
    said = (
        f"more cores don't shorten the time ({time_words(seconds[0], unit)} on {cores[0]}, "
        f"{time_words(seconds[-1], unit)} on {cores[-1]}), as where each core has the same work (weak scaling)"
    )
    if not model.training_.get("work_is_open"):
        return said
    clock = " If the times count on from the start of a job, give their differences."
    raise InputError(
        f"{said}: then these runs don't tell how long one size takes on other numbers of cores."
        f"{clock if seconds[-1] > _RISES * seconds[0] else ''} If all runs did the "
        f"same work together, say so: {option_text('--parameters', ','.join(model.space_.names))}"
    )


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
    refuse_grown(model.space_.names, model.training_.get("weak_scaling", {}), what, model.training_)


def refuse_grown(
    names: Sequence[str], weak: Mapping[str, Iterable[str]], what: Cores, training: Mapping[str, Any]
) -> None:
    """Refuse runs in which more cores did more work, as `check_one_size` does for a model of them.

    Parameters
    ----------
    names : sequence of str
        The parameters.
    weak : mapping of str to names
        The sizes that grew with each count, see `evenly.runs.weak_scaling.weak_scaling`.
    what : Cores
    training : mapping
        What else a model notes on the runs that it learned from.

    Examples
    --------
    >>> refuse_grown(["cores", "cells"], {"cores": ["cells"]}, Cores("cores"), {})
    Traceback (most recent call last):
    evenly.errors.InputError: cells grew with cores in all runs (weak scaling): these runs don't tell ...
    """
    grown = [
        size for workers, sizes in weak.items()
        if set(factors_of(workers, names)) & set(what.names)
        for size in sizes if size in names and size not in what.names and not kind_of(size)
    ]  # fmt: skip
    each = [name for name in (*names, *training.get("per_worker", ())) if is_per_worker(name)]
    if training.get("same_work"):
        each = []
    if not grown and not each:
        return
    why = (
        f"{' and '.join(grown)} grew with {what.text} in all runs"
        if grown
        else f"{' and '.join(each)} says how much each of {what.text} has to do, so that more of them do more work"
    )
    same = option_text("--parameters", ",".join(names))
    others = option_text("--parameters", ",".join(name for name in names if name not in grown))
    raise InputError(
        f"{why} (weak scaling): these runs don't tell how long one size takes on other numbers of cores, so none is "
        "recommended. Measure one size on several counts; `evenly predict --at` answers for sizes that grow alike"
        + (f". If {' and '.join(grown)} came out of the runs, learn without: {others}" if grown else "")
        + (f". If all do the same work together on any number of cores: {same}" if each else "")
    )
