"""Random walks that find feasible configurations where rules reject nearly all random ones.

This is a stochastic local search with many walks in parallel. A walk accepts a step unless the step increases the sum
of `evenly.space.rule_distances` over all rules, the walk's distance. A step does one of four things: it changes some
parameters independently, exchanges the values of two, or changes two so that their product or their sum is constant,
as rules such as ``px * py * pz == ranks`` require. Every ten steps, the walks with the largest distances restart from
walks with smaller distances [Aldous and Vazirani, "Go with the winners" algorithms, 1994].
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from evenly.space.constraints import Constraint
from evenly.space.parameters import Categorical, Integer, Parameter, Real
from evenly.space.ranges import ends

__all__ = ["neighbours", "random_table", "walk"]

Floats = NDArray[np.float64]
#: The smallest and largest number of parallel walks, and the largest number of steps of each.
_WALKS, _STEPS = (256, 4096), 400
#: The search stops after this many steps without a new feasible configuration.
_HOPELESS = 120
#: The smallest number of steps, so that the results do not all lie near the first feasible configurations.
_LEAST_STEPS = 10
#: The largest standard deviation of a change of one number, as a share of its range.
_WIDEST = 0.1
#: Standard deviations are drawn log-uniformly over this many powers of ten, as rules may allow only a narrow interval.
_DECADES = 4.0
#: Factors by which one number is multiplied and another is divided.
_RATIOS = np.array([2.0, 3.0, 5.0, 1.5, 1.25])


def walk(
    parameters: Mapping[str, Parameter],
    rules: Sequence[Constraint],
    n: int,
    rng: np.random.Generator,
    *,
    start: pd.DataFrame | None = None,
    fix_inactive: Callable[[pd.DataFrame], pd.DataFrame] = lambda table: table,
) -> pd.DataFrame:
    """Search for configurations that obey all rules; the result is not a uniform sample of them.

    Parameters
    ----------
    parameters : mapping of str to Parameter
    rules : sequence of Constraint
    n : int
        The number of configurations at which the search stops.
    rng : Generator
    start : DataFrame (m, n_parameters), optional
        Configurations from which walks start, feasible or not; random ones are added.
    fix_inactive : callable
        Sets conditional parameters to their fixed value where they have no effect; see `Space.fix_inactive`.

    Returns
    -------
    DataFrame (k, n_parameters)
        Distinct feasible configurations, k <= n.

    Examples
    --------
    >>> kinds = {name: Integer(1, 1024) for name in ("x", "y", "z")}
    >>> found = walk(kinds, [Constraint("x * y * z == 1024")], 10, np.random.default_rng(0))
    >>> len(found), set(found.prod(axis=1))
    (10, {1024})
    """
    size = int(np.clip(n, *_WALKS))
    # Starting points: up to half of the walks from `start`, the others random.
    now = fix_inactive(random_table(parameters, size, rng))
    if start is not None and len(start):
        now = pd.concat([start.iloc[rng.permutation(len(start))[: size // 2]], now], ignore_index=True).head(size)
    distances = _distances(rules, now)
    found, known, last = [now[distances == 0]], 0, 0
    for step in range(_STEPS):
        # Accept a step that does not increase the distance. Walks thus move freely among feasible points.
        tried = fix_inactive(_stepped(parameters, now, rng))
        distance = _distances(rules, tried)
        taken = distance <= distances
        found.append(tried[distance == 0])
        now = tried.where(pd.Series(taken), now).astype(now.dtypes)
        distances = np.where(taken, distance, distances)
        if step % 10 == 9:
            found = [pd.concat(found, ignore_index=True).drop_duplicates(ignore_index=True)]
            if len(found[0]) > known:
                known, last = len(found[0]), step
            if (known >= n and step >= _LEAST_STEPS) or step - last >= _HOPELESS:
                break
            now, distances = _restarted(now, distances, rng)
    table: pd.DataFrame = pd.concat(found, ignore_index=True).drop_duplicates(ignore_index=True)
    return table.iloc[rng.permutation(len(table))[:n]].reset_index(drop=True)


def _distances(rules: Sequence[Constraint], table: pd.DataFrame) -> Floats:
    return np.asarray(sum((rule.distance(table) for rule in rules), np.zeros(len(table))))


def random_table(parameters: Mapping[str, Parameter], n: int, rng: np.random.Generator) -> pd.DataFrame:
    """Return `n` random configurations, shape (n, n_parameters), ignoring all rules."""
    return pd.DataFrame({name: kind.from_unit(rng.random(n)) for name, kind in parameters.items()})


def _restarted(now: pd.DataFrame, distances: Floats, rng: np.random.Generator) -> tuple[pd.DataFrame, Floats]:
    """Move infeasible walks of the quarter with the largest distances to random walks of the half with the smallest."""
    order = np.argsort(distances, kind="stable")
    far = order[-len(order) // 4 :]
    far = far[distances[far] > 0]
    rows = np.arange(len(now))
    rows[far] = rng.choice(order[: len(order) // 2], len(far))
    return now.iloc[rows].reset_index(drop=True), distances[rows]


def _stepped(parameters: Mapping[str, Parameter], now: pd.DataFrame, rng: np.random.Generator) -> pd.DataFrame:
    """Return a neighbour of each configuration, shape (n, n_parameters), feasible or not."""
    columns = {name: column.to_numpy() for name, column in now.items()}
    numeric = [name for name, kind in parameters.items() if not isinstance(kind, Categorical)]
    together = rng.random(len(now)) < (0.5 if len(numeric) > 1 else 0.0)
    often = min(1.0, 1.5 / len(parameters))
    changed: dict[str, Any] = {}
    # Half of the walks (all if fewer than two parameters are numeric): each parameter changes with probability
    # 1.5 / n_parameters. The new value is a random one in 30 % of the cases, else a neighbour.
    for name, kind in parameters.items():
        here = ~together & (rng.random(len(now)) < often)
        anywhere = rng.random(len(now)) < 0.3
        fresh = np.where(anywhere, kind.from_unit(rng.random(len(now))), neighbours(kind, now[name], rng))
        changed[name] = np.where(here, fresh, columns[name])
    # The other half of the walks: two numbers of each configuration change together.
    if len(numeric) > 1:
        _change_pairs(parameters, numeric, changed, np.flatnonzero(together), rng)
    return pd.DataFrame({name: pd.Series(values, dtype=now[name].dtype) for name, values in changed.items()})


def _change_pairs(
    parameters: Mapping[str, Parameter],
    numeric: Sequence[str],
    changed: dict[str, Any],
    rows: NDArray[np.int64],
    rng: np.random.Generator,
) -> None:
    """Exchange two numbers of each row, or change them so that their product or sum is constant; within the ranges."""
    # In each row, a and b are the numbers in two different random columns, `one` and `other`.
    numbers = np.column_stack([changed[name][rows] for name in numeric]).astype(np.float64)
    lines = np.arange(len(rows))
    one = rng.integers(len(numeric), size=len(rows))
    other = (one + rng.integers(1, len(numeric), size=len(rows))) % len(numeric)
    a, b = numbers[lines, one], numbers[lines, other]
    # 0: exchange. 1: (a r, b / r), whose product is constant. 2: (a + s, b - s), whose sum is constant.
    how, ratio = rng.integers(3, size=len(rows)), rng.choice(_RATIOS, len(rows))
    steps = np.array([_step(parameters[name]) for name in numeric])
    shift = np.maximum(steps[one], steps[other]) * rng.integers(1, 4, size=len(rows))
    x, y = (
        np.select([how == 0, how == 1], [b, a * ratio], a + shift),
        np.select([how == 0, how == 1], [a, b / ratio], b - shift),
    )
    # A pair with a new value outside its range stays unchanged.
    low, high = np.array([ends(parameters[name]) for name in numeric], dtype=np.float64).T
    inside = (x >= low[one]) & (x <= high[one]) & (y >= low[other]) & (y <= high[other])
    numbers[lines, one], numbers[lines, other] = np.where(inside, x, a), np.where(inside, y, b)
    for k, name in enumerate(numeric):
        changed[name] = changed[name].copy()
        changed[name][rows] = _nearest(parameters[name], numbers[:, k])


def _step(kind: Parameter) -> float:
    if isinstance(kind, Integer):
        return float(kind.step)
    values = kind.values()
    if values is None:
        assert isinstance(kind, Real)  # noqa: S101 - no other kind has no values
        return _WIDEST * float(kind.high - kind.low) / 2
    return float(np.diff(np.sort(values)).min()) if len(values) > 1 else 0.0


def _nearest(kind: Parameter, x: Floats) -> NDArray[Any]:
    """Return for each number in `x` the nearest allowed value of a numeric parameter."""
    if isinstance(kind, Integer):
        steps = np.clip(np.round((x - kind.low) / kind.step), 0, len(kind) - 1)
        return np.asarray(kind.low + kind.step * steps, dtype=np.int64)
    if isinstance(kind, Real):
        return np.clip(x, kind.low, kind.high)
    values = np.sort(np.asarray(kind.values()))
    after = np.clip(np.searchsorted(values, x), 1, max(1, len(values) - 1))
    before = np.maximum(after - 1, 0)
    after = np.minimum(after, len(values) - 1)
    return np.asarray(np.where(x - values[before] < values[after] - x, values[before], values[after]))


def neighbours(kind: Parameter, column: pd.Series[Any], rng: np.random.Generator) -> NDArray[Any]:
    """Return for each value of a parameter a random value near it, shape (n,); for labels, any random label.

    Examples
    --------
    >>> neighbours(Integer(1, 3), pd.Series([2, 2, 2]), np.random.default_rng(1)).tolist()
    [3, 3, 1]
    """
    if isinstance(kind, Categorical):
        return kind.from_unit(rng.random(len(column)))
    if isinstance(kind, Integer | Real) and (isinstance(kind, Real) or len(kind) > 64):
        low, high = (float(v) for v in (kind.low, kind.high))
        log = kind.scale == "log"
        x = column.to_numpy(dtype=np.float64)
        bounds = (np.log(low), np.log(high)) if log else (low, high)
        wide = _WIDEST * 10.0 ** -rng.uniform(0, _DECADES, len(x)) * (bounds[1] - bounds[0])
        moved = (np.log(x) if log else x) + rng.normal(0, 1, len(x)) * wide
        # Reflect at the bounds: with clipping, many values would accumulate there.
        moved = np.where(moved < bounds[0], 2 * bounds[0] - moved, moved)
        moved = np.where(moved > bounds[1], 2 * bounds[1] - moved, moved)
        return _nearest(kind, np.clip(np.exp(moved) if log else moved, low, high))
    values = np.sort(np.asarray(kind.values()))
    at = np.searchsorted(values, column.to_numpy()) + rng.choice([-2, -1, 1, 2], len(column), p=[0.2, 0.3, 0.3, 0.2])
    return np.asarray(values[np.clip(at, 0, len(values) - 1)])
