"""Labels that no run has, such as a new case, machine or compiler: the mean over the known labels stands for them.

A new label is taken for one more draw from where the known ones came from. Its log time is the mean of what is
predicted with each of L known labels. All count alike: how often a label ran doesn't tell how like it another one is.
One more of L normally distributed values lies within ``t · s · sqrt(1 + 1/L)`` of their mean, where s is their standard
deviation, and t a quantile of Student's distribution with L - 1 degrees of freedom [Student, The probable error of a
mean, 1908]. This spread and the errors of single runs are independent, so that their squares add up.

Two labels, as `mpi` and `serial`, tell nothing about a third. A label that is written nearly like a known one is a slip
rather than a new one: both are refused.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Collection, Mapping, Sequence
from difflib import SequenceMatcher
from typing import Any

import numpy as np
import pandas as pd

from evenly.errors import InputError, did_you_mean
from evenly.models.array_types import Flags, Floats
from evenly.models.uncertainty.conformal import student

__all__ = ["FEWEST", "bounds_over_labels", "check_unseen", "logs_over_labels", "slip", "unseen_rows"]

#: Fewer known labels don't tell how much labels differ.
FEWEST = 3
#: At most so many labels, or combinations of labels, are averaged.
_MOST = 128
#: So many known labels are listed in a message.
_LISTED = 12


def unseen_rows(labels: Mapping[str, Sequence[Any]], table: pd.DataFrame) -> dict[str, Flags]:
    """Return for each parameter which configurations (n, d) have none of its known labels, (n,).

    Parameters without such configurations are omitted.

    Examples
    --------
    >>> unseen_rows({"case": ["a", "b"]}, pd.DataFrame({"case": ["b", "c"]}))
    {'case': array([False,  True])}
    """
    found = {name: pd.Index(its, dtype=object).get_indexer(pd.Index(table[name])) < 0 for name, its in labels.items()}
    return {name: missing for name, missing in found.items() if missing.any()}


def slip(label: Any, known: Sequence[Any]) -> str:
    """Return the hint `` (did you mean …?)`` if a label is written nearly like a known one, else "".

    Labels that differ in numbers only are different labels. So are those that differ as the known ones do.

    Examples
    --------
    >>> slip("intle", ["gnu", "intel", "cray"]), slip("gnu", ["GNU", "Intel"])
    (" (did you mean 'intel'?)", " (did you mean 'GNU'?)")
    >>> slip("gcc-14", ["gcc-12", "clang-15"]), slip("mesh_c", ["mesh_a", "mesh_b"]), slip("fuji", ["gnu", "intel"])
    ('', '', '')
    """
    texts = {_without_numbers(one): str(one) for one in known}
    asked = _without_numbers(label)
    if str(label).casefold() in {str(one).casefold() for one in known}:
        return did_you_mean(str(label), map(str, known))
    if asked in texts or not (hint := did_you_mean(asked, texts)):
        return ""
    near = max(texts, key=lambda text: _likeness(asked, text))
    among_known = max((_likeness(near, other) for other in texts if other != near), default=0.0)
    return hint.replace(repr(near), repr(texts[near])) if _likeness(asked, near) > among_known else ""


def _without_numbers(label: Any) -> str:
    return re.sub(r"\d+", "#", str(label)).casefold()


def _likeness(one: str, other: str) -> float:
    return SequenceMatcher(None, other, one).ratio()


def check_unseen(name: str, label: Any, known: Sequence[Any], policy: str, failed: Collection[str] = ()) -> None:
    """Refuse a label that no run has, where the mean over the known ones can't, or shall not, stand for it.

    Parameters
    ----------
    name : str
        The parameter.
    label : object
    known : sequence of labels
    policy : {"ask", "mean", "refuse"}
        See `evenly.models.base.Model.unseen`.
    failed : collection of str
        Labels that were run, but never to a good end.

    Raises
    ------
    InputError
        If the policy refuses it, fewer than `FEWEST` labels are known, all its runs failed, or it may be a slip and the
        policy asks.

    Examples
    --------
    >>> check_unseen("solver", "lu", ["cg"], "ask", failed=["lu"])
    Traceback (most recent call last):
    evenly.errors.InputError: no run with solver = lu ended well, so its times aren't known: ask for one of cg
    """
    if str(label) in failed:
        raise InputError(
            f"no run with {name} = {label} ended well, so its times aren't known: ask for one of "
            f"{', '.join(map(str, known))}"
        )
    hint = slip(label, known)
    if policy != "refuse" and len(known) >= FEWEST and (policy == "mean" or not hint):
        return
    listed = ", ".join(map(str, known[:_LISTED]))
    more = f", … ({len(known)} in all)" if len(known) > _LISTED else ""
    must = f"{name!r} must be one of {listed}{more}, which were measured, but got {label!r}{hint}"
    if policy != "refuse" and len(known) < FEWEST:
        raise InputError(
            f"{must}: ask for one of these, or measure {label!r}. A mean can stand for a new label (--unseen mean) if "
            f"{FEWEST} or more were measured, as {'one tells' if len(known) == 1 else 'two tell'} nothing about another"
        )
    way_out = "; if it is another one: --unseen mean (model.unseen = 'mean')" if policy == "ask" else ""
    raise InputError(must + way_out)


def logs_over_labels(
    predict: Callable[[pd.DataFrame], Floats], labels: Mapping[str, Sequence[Any]], table: pd.DataFrame
) -> Floats:
    """Return the logarithms of what `predict` tells of configurations (n, d), (n,); of unseen labels, their mean.

    Examples
    --------
    >>> asked = pd.DataFrame({"case": ["a", "b", "new"]})
    >>> seconds = {"a": 1.0, "b": 4.0}
    >>> np.exp(logs_over_labels(lambda x: x["case"].map(seconds).to_numpy(), {"case": ["a", "b"]}, asked))
    array([1., 4., 2.])
    """

    def told(known: pd.DataFrame) -> Floats:
        return np.log(predict(known))[None]

    return np.asarray(_each(told, labels, table, lambda found, _: np.mean(found, axis=0))[0])


def bounds_over_labels(
    predict: Callable[[pd.DataFrame], Floats],
    interval: Callable[[pd.DataFrame], tuple[Floats, Floats]],
    labels: Mapping[str, Sequence[Any]],
    table: pd.DataFrame,
    level: float,
) -> tuple[Floats, Floats]:
    """Return bounds for configurations (n, d), (n,) each; of unseen labels, with the spread between labels."""

    def told(known: pd.DataFrame) -> Floats:
        return np.log([*interval(known), predict(known)])

    def widened(found: Floats, count: int) -> Floats:
        low, high, logs = np.moveaxis(found, 1, 0)
        spread = between(logs, count, level)
        centre = logs.mean(axis=0)
        below, above = (np.sqrt(np.mean((side - logs) ** 2, axis=0)) for side in (low, high))
        return np.array([centre - np.hypot(below, spread), centre + np.hypot(above, spread), centre])

    low, high, _ = np.exp(_each(told, labels, table, widened))
    return low, high


def between(logs: Floats, count: int, level: float) -> Floats:
    """Return how far one more label may lie from the mean of `count` others, (n,), given logs (k, n) with known ones.

    Examples
    --------
    >>> between(np.array([[0.0], [1.0], [2.0]]), 3, 0.9).round(2)  # 2.92 · 1 · sqrt(4 / 3)
    array([3.37])
    """
    if count < 2:
        return np.zeros(logs.shape[1])
    deviation = np.std(logs, axis=0) * np.sqrt(count / (count - 1))
    return np.asarray(student(count - 1, level) * np.sqrt(1 + 1 / count) * deviation)


def _each(
    told: Callable[[pd.DataFrame], Floats],
    labels: Mapping[str, Sequence[Any]],
    table: pd.DataFrame,
    combined: Callable[[Floats, int], Floats],
) -> Floats:
    """Return what is told (m, n) of configurations (n, d); of unseen labels, what is told (k, m, n) of known, combined.

    `combined` also gets the number of labels of the parameter that has the fewest.
    """
    missing = unseen_rows(labels, table)
    if not missing:
        return told(table)
    new = np.any(list(missing.values()), axis=0)
    sizes = [len(labels[name]) for name in missing]
    ways = np.arange(math.prod(sizes))
    if len(ways) > _MOST:
        ways = np.sort(np.random.default_rng(0).choice(ways, _MOST, replace=False))
    rest = table[new].reset_index(drop=True)
    found = []
    for way in zip(*np.unravel_index(ways, sizes), strict=True):
        one = rest.copy()
        for (name, its), place in zip(missing.items(), way, strict=True):
            column = one[name].to_numpy(dtype=object).copy()
            column[its[new]] = labels[name][place]
            one[name] = pd.Series(column, dtype=object)
        found.append(told(one))
    result = np.empty((len(found[0]), len(table)))
    result[:, new] = combined(np.array(found), min(len(ways), *sizes))
    if not new.all():
        result[:, ~new] = told(table[~new].reset_index(drop=True))
    return result
