"""Which regions of a program will take the time at a scale, and which grow faster than expected.

The models are those of ``evenly.fit(runs, each="region")``. A region's share is its part of the sum over all regions,
so times must be exclusive of called regions, as all readers of profiles give them. Of inclusive times, it is the part
of the largest region, which contains the others.
"""

from __future__ import annotations

import copy
from collections.abc import Mapping
from typing import Any, Literal

import numpy as np
import pandas as pd

from evenly.arguments import explained
from evenly.errors import InputError
from evenly.models.array_types import Floats
from evenly.models.base import Model
from evenly.models.pmnf.pmnf import PMNF
from evenly.space.configurations import as_table
from evenly.space.expressions import Expression
from evenly.space.parameters import Categorical
from evenly.space.space import Configurations

__all__ = ["Verdict", "largest_measured", "ranking", "whole_of"]

Verdict = Literal["faster", "not faster", "can't be told"]

#: Growth that differs by less is equal: measured values are rounded.
_ROUNDING = 1e-6


@explained
def ranking(
    models: Mapping[str, Model],
    at: Configurations | None = None,
    *,
    expect: str | None = None,
    level: float = 0.9,
) -> pd.DataFrame:
    """Rank regions by the time they take at a scale.

    Parameters
    ----------
    models : mapping of str to Model
        The model of each region, as ``evenly.fit(runs, each="region")`` returns them.
    at : dict of columns, list of dicts or DataFrame, optional
        The scales: a value for each parameter, ``{"ranks": [1024, 4096]}``. By default the largest measured values.
    expect : str, optional
        The growth that you expect, as an expression of the parameters: ``"1"``, ``"log(ranks)"``, ``"n / ranks"``.
    level : float
        Probability that the bounds of a time, and of its growth, cover.

    Returns
    -------
    DataFrame
        One row per scale and region, the region that takes longest first. Columns: the region (named as the column that
        `evenly.fit` was given), the scale, the predicted time with ``lower`` and ``upper``, ``share`` of the sum over
        all regions (of the largest for ``"inclusive"``),
        ``law``, ``error`` (mean absolute log error on left-out runs), and ``growth``, the factor from the
        largest measured values to the scale (from the smallest if the scale was measured), with ``growth_lower`` and
        ``growth_upper`` over all credible laws. With `expect`, also ``expected`` growth and ``verdict``: ``"faster"``
        only if all credible laws grow faster than expected, ``"not faster"`` if none does, else ``"can't be told"``.

    Raises
    ------
    InputError
        If there are no models, a parameter has no value, or `expect` can't be evaluated or isn't above zero.

    Examples
    --------
    >>> import evenly
    >>> p = np.array([4, 8, 16, 32, 64])
    >>> table = pd.DataFrame({"region": "solve", "ranks": p, "seconds": 100 / p})
    >>> table = pd.concat([table, pd.DataFrame({"region": "reduce", "ranks": p, "seconds": 0.01 * p})])
    >>> models = evenly.fit(evenly.Runs.from_frame(table, ["region", "ranks"]), each="region")
    >>> found = evenly.ranking(models, {"ranks": [1024]}, expect="log(ranks)")
    >>> found[["region", "seconds", "share", "verdict"]].round(3)
       region  seconds  share     verdict
    0  reduce   10.240  0.991      faster
    1   solve    0.098  0.009  not faster
    """
    if not models:
        raise InputError("there are no models to rank")
    asked = largest_measured(models) if at is None else as_table(at)
    each = next((str(m.training_["each"]) for m in models.values() if "each" in m.training_), "region")
    wanted = None if expect is None else Expression(expect)
    rows = [row for name, model in models.items() for row in _rows(each, name, model, asked, wanted, level)]
    table = pd.DataFrame(rows)
    response = next(iter(models.values())).response_["name"]
    table["share"] = table[response] / table.groupby("_scale")[response].transform(whole_of(response))
    table = table.sort_values(["_scale", response], ascending=[True, False], kind="stable").reset_index(drop=True)
    behind = [name for name in table.columns if name not in (each, *asked.columns, response, "lower", "upper", "share")]
    first = [each, *(n for n in asked.columns if n in table), response, "lower", "upper", "share"]
    return table[[*first, *(name for name in behind if name != "_scale")]]


def whole_of(response: str) -> Literal["sum", "max"]:
    """Return how the whole follows from the times of regions, by what was learned of them.

    Examples
    --------
    >>> whole_of("seconds"), whole_of("inclusive")
    ('sum', 'max')
    """
    return "max" if response == "inclusive" else "sum"


def largest_measured(models: Mapping[str, Model]) -> pd.DataFrame:
    """Return the largest measured values of all parameters, one row.

    Raises
    ------
    InputError
        If a parameter has labels, which have no largest one.

    Examples
    --------
    >>> import evenly
    >>> model = evenly.fit(evenly.Runs.from_frame(pd.DataFrame({"p": [1, 2, 4], "seconds": [4.0, 2, 1]}), ["p"]))
    >>> largest_measured({"solve": model})
       p
    0  4
    """
    found: dict[str, Any] = {}
    for model in models.values():
        for name, kind in model.space_.parameters.items():
            high = _ends(name, kind)[1]
            found[name] = max(found.get(name, high), high)
    return pd.DataFrame([found])


def _ends(name: str, kind: Any) -> tuple[Any, Any]:
    if isinstance(kind, Categorical):
        raise InputError(f"{name!r} has labels, so a scale needs one of them: give it with at=, as --at {name}=LABEL")
    options = getattr(kind, "options", None)
    return (options[0], options[-1]) if options is not None else (kind.low, kind.high)


def _rows(
    each: str, name: str, model: Model, asked: pd.DataFrame, wanted: Expression | None, level: float
) -> list[dict[str, Any]]:
    _check(name, model, asked)
    quiet = copy.copy(model)
    quiet._warned = True
    values = quiet.predict(asked)
    lower, upper = quiet.interval(asked, level)
    start = _start(model, asked)
    grown = values / quiet.predict(start)
    least, most = _growth(quiet, start, asked, level)
    law = getattr(model, "leading_", None) or getattr(model, "formula_", None)
    rows = []
    for k in range(len(asked)):
        scale = {column: asked[column].tolist()[k] for column in asked.columns}
        row = {
            "_scale": k, each: name, **scale, model.response_["name"]: values[k], "lower": lower[k], "upper": upper[k],
            "law": "" if law is None else str(law), "error": model.training_.get("left_out", {}).get("MLogQ", np.nan),
            "growth": grown[k], "growth_lower": least[k], "growth_upper": most[k],
        }  # fmt: skip
        if wanted is not None:
            expected = _expected(wanted, start.iloc[[k]], asked.iloc[[k]], model)
            row |= {"expected": expected, "verdict": _verdict(expected, least[k], most[k])}
        rows.append(row)
    return rows


def _check(name: str, model: Model, asked: pd.DataFrame) -> None:
    fixed = model.training_.get("constants", {})
    for column in asked.columns:
        if column in model.space_.names:
            continue
        if column not in fixed:
            raise InputError(
                f"{column!r} is no parameter of {name!r}: there are {', '.join([*model.space_.names, *fixed])}"
            )
        other = [value for value in asked[column].tolist() if value != fixed[column]]
        if other:
            raise InputError(f"{column} was {fixed[column]} in all runs, so nothing is known about {column}={other[0]}")
    missing = [parameter for parameter in model.space_.names if parameter not in asked]
    if missing:
        raise InputError(f"the scale needs a value for {missing[0]!r}: add it, as --at {missing[0]}=VALUE")


def _start(model: Model, asked: pd.DataFrame) -> pd.DataFrame:
    """Return where growth starts, (n, d): the asked values, within the measured range; else the smallest measured."""
    start = asked.copy()
    numeric = {n: _ends(n, k) for n, k in model.space_.parameters.items() if not isinstance(k, Categorical)}
    for name, (low, high) in numeric.items():
        start[name] = start[name].clip(low, high)
    inside = (start[list(numeric)] == asked[list(numeric)]).all(axis=1) if numeric else pd.Series([], dtype=bool)
    for name, (low, _) in numeric.items():
        start[name] = np.where(inside, low, start[name])
    return start


def _growth(model: Model, start: pd.DataFrame, end: pd.DataFrame, level: float) -> tuple[Floats, Floats]:
    if isinstance(model, PMNF):
        return model.growth(start, end, level)
    (first_low, first_high), (last_low, last_high) = model.interval(start, level), model.interval(end, level)
    return last_low / first_high, last_high / first_low


def _verdict(expected: float, least: float, most: float) -> Verdict:
    if least > expected * (1 + _ROUNDING):
        return "faster"
    return "not faster" if most <= expected * (1 + _ROUNDING) else "can't be told"


def _expected(wanted: Expression, start: pd.DataFrame, end: pd.DataFrame, model: Model) -> float:
    """Return the factor by which the expected time grows from one configuration to another."""
    fixed = model.training_.get("constants", {})
    rows = [{str(name): column.tolist()[0] for name, column in table.items()} for table in (start, end)]
    first, last = (float(wanted({**fixed, **row})) for row in rows)
    if not (np.isfinite(first) and np.isfinite(last) and first > 0 and last > 0):
        ends = f"{first:g} to {last:g}"
        raise InputError(f"the expected growth {wanted.text!r} must be above zero, but goes from {ends}")
    return last / first
