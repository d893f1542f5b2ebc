"""Random sampling of feasible configurations by a design; the implementation of `Space.sample`."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Protocol, get_args

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from evenly.errors import InfeasibleError, InputError
from evenly.space.constrained_walks import walk
from evenly.space.constraints import Constraint
from evenly.space.designs import Design, unit_points
from evenly.space.feasibility import obeys
from evenly.space.parameters import Integer, Parameter, Scale

__all__ = ["combinations", "draw", "sample", "shuffled"]

#: If a smaller share of the drawn points is feasible, drawing stops and another method is used.
_LEAST_SHARE = 1e-3
_MOST_LISTED = 50_000_000
_MOST_TRIED = 2_000_000


class Sampled(Protocol):
    """The interface of a space that `sample` requires."""

    parameters: dict[str, Parameter]
    rules: tuple[Constraint, ...]
    listed: pd.DataFrame | None

    def fix_inactive(self, table: pd.DataFrame) -> pd.DataFrame:
        """Return `table` with each conditional parameter set to its first value where it has no effect."""

    def enumerate(self) -> pd.DataFrame:
        """Return all feasible configurations."""


def sample(space: Sampled, n: int, design: Design, rng: np.random.Generator) -> pd.DataFrame:
    """Draw `n` feasible configurations by a design; see `Space.sample`.

    The method is rejection sampling: points of the design that break a rule are rejected, and further points are drawn.
    If too few are accepted, one of two other methods follows. With at most 50 million combinations, all feasible ones
    are listed, and the sample is drawn from the list. With more, random walks search for feasible configurations
    (`evenly.space.constrained_walks`).

    Parameters
    ----------
    space : Space
    n : int
    design : {"random", "uniform", "log-uniform", "sobol", "lhs"}
    rng : Generator

    Returns
    -------
    DataFrame (n, n_parameters)

    Raises
    ------
    InputError
        If the design is unknown, `n` is negative, or the space has no parameters.
    InfeasibleError
        If no feasible configuration can be found.
    """
    parameters, rules, listed = space.parameters, space.rules, space.listed is not None
    if design not in get_args(Design):
        raise InputError(f"design must be one of {', '.join(get_args(Design))}, but got {design!r}")
    if n < 0 or not parameters:
        raise InputError(f"a sample needs n >= 0 and at least one parameter, but got {n} and {len(parameters)}")
    scale: Scale | None = {"uniform": "linear", "log-uniform": "log"}.get(design)  # type: ignore[assignment]

    def accept(points: NDArray[np.float64]) -> pd.DataFrame:
        table = space.fix_inactive(_from_unit(parameters, points, scale))
        return table[obeys(parameters, rules, table)]

    names = [rule.name for rule in rules]
    listable = listed or combinations(parameters) <= _MOST_LISTED
    tried = 0
    # Rejection sampling: further points of the design replace those that break a rule.
    if not listed:
        blocks = unit_points(len(parameters), design, n, rng)
        patience = max(_MOST_TRIED, 2 * n / _LEAST_SHARE)
        table, tried = draw(blocks, accept, n, patience=patience, least_share=_LEAST_SHARE)
        # Rejection keeps the design's distribution; so walks are used only if rejection would need too many points.
        walks = not listable and len(table) * patience < n * tried
        found = (
            walk(parameters, rules, n, rng, start=table, fix_inactive=space.fix_inactive) if walks else table.head(0)
        )
        if not listable and not len(found):
            more, later = draw(blocks, accept, n - len(table), patience=patience - tried, least_share=0.0)
            table, tried = pd.concat([table, more], ignore_index=True), tried + later
        if len(table) >= n:
            return table.head(n)
    # Few enough combinations: draw from the list of all feasible ones, with the probabilities of the design.
    if listable:
        return _choose(space.enumerate(), {} if listed else parameters, n, scale, rng, names)
    found = pd.concat([table, found], ignore_index=True).drop_duplicates(ignore_index=True)
    if not len(found):
        raise InfeasibleError(
            f"{', '.join(names)} rejected all of {tried} points, and none that obeys was found by walking towards "
            "the rules: narrow the bounds of the parameters",
            constraint=names[0],
        )
    return found.iloc[shuffled(np.ones(len(found)), n, rng)].reset_index(drop=True)


def _from_unit(parameters: Mapping[str, Parameter], points: NDArray[np.float64], scale: Scale | None) -> pd.DataFrame:
    drawn = {name: kind.from_unit(points[:, i], scale) for i, (name, kind) in enumerate(parameters.items())}
    return pd.DataFrame({name: pd.Series(values, dtype=values.dtype) for name, values in drawn.items()})


def combinations(parameters: Mapping[str, Parameter]) -> float:
    """Return the number of combinations of values, feasible or not; infinity if a parameter is `Real`.

    Examples
    --------
    >>> combinations({"cores": Integer(1, 10**9), "threads": Integer(1, 8, step=7)})
    2000000000
    """
    sizes: list[float] = []
    for kind in parameters.values():
        values = () if isinstance(kind, Integer) else kind.values()
        sizes.append(len(kind) if isinstance(kind, Integer) else math.inf if values is None else len(values))
    return math.prod(sizes)


def _choose(
    table: pd.DataFrame,
    parameters: Mapping[str, Parameter],
    n: int,
    scale: Scale | None,
    rng: np.random.Generator,
    rules: Sequence[str],
) -> pd.DataFrame:
    """Draw `n` rows from a list of feasible configurations, with the probabilities of the design."""
    if not len(table):
        raise InfeasibleError(
            f"no configuration obeys {', '.join(rules) or 'the list, which is empty'}: loosen a rule",
            constraint=rules[0] if rules else "listed",
        )
    weights = np.ones(len(table))
    for name, kind in parameters.items():
        if isinstance(kind, Integer):
            weights *= kind.sampling_weights(table[name].to_numpy(), scale)
    return table.iloc[shuffled(weights, n, rng)].reset_index(drop=True)


def draw(
    blocks: Iterable[NDArray[np.float64]],
    accept: Callable[[NDArray[np.float64]], pd.DataFrame],
    n: int,
    *,
    patience: float,
    least_share: float,
) -> tuple[pd.DataFrame, int]:
    """Collect accepted points from blocks until there are `n`, or until too many points were rejected.

    Parameters
    ----------
    blocks : iterable of array (m, d)
        Blocks of points in the unit cube.
    accept : callable
        Takes a block of points and returns a table of the accepted ones.
    n : int
        The number of accepted points after which to stop.
    patience : float
        The number of points after which to stop in any case.
    least_share : float
        After 20,000 points, also stop if the accepted share is smaller than this.

    Returns
    -------
    DataFrame (n_accepted, d), int
        The accepted points, often more than `n`, and the number of points tried.

    Examples
    --------
    >>> blocks = iter([np.array([[0.1], [0.9]]), np.array([[0.2], [0.3]])])
    >>> draw(blocks, lambda x: pd.DataFrame(x[x < 0.5], columns=["x"]), 2, patience=100, least_share=0.0)
    (     x
    0  0.1
    1  0.2
    2  0.3, 4)
    """
    kept: list[pd.DataFrame] = []
    found = tried = 0
    for block in blocks:
        kept.append(accept(block))
        found += len(kept[-1])
        tried += len(block)
        if found >= n or tried >= patience or (tried >= 20_000 and found < least_share * tried):
            break
    full = [part for part in kept if len(part)]
    return pd.concat(full or kept[:1], ignore_index=True), tried


def shuffled(weights: NDArray[np.float64], n: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """Draw `n` positions by weight, without replacement until all positions were drawn; then start again.

    Examples
    --------
    >>> sorted(shuffled(np.ones(3), 6, np.random.default_rng(0)).tolist())
    [0, 0, 1, 1, 2, 2]
    """
    # Sorting by log weight plus Gumbel noise is weighted sampling without replacement (Efraimidis and Spirakis 2006).
    rounds = [np.argsort(-(np.log(weights) + rng.gumbel(size=len(weights)))) for _ in range(-(-n // len(weights)))]
    return np.concatenate([np.empty(0, dtype=np.int64), *rounds])[:n]
