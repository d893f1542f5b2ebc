"""Cores in proportion to the size of each solver's domain: common practice.

Source: thesis, section 1.2: "scaling the number of ranks with the size of the respective domain".
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

import numpy as np

from evenly.allocation.problem.base import Balancer, Problem
from evenly.allocation.problem.core_usage import Footprint
from evenly.allocation.problem.limits import index_at_most
from evenly.errors import InputError

__all__ = ["ProportionalBalancer"]


class ProportionalBalancer(Balancer):
    """Divides cores in proportion to degrees of freedom wherever the layout splits them; shared cores go to all parts.

    Each solver's share is rounded down to a count that the solver may get, but not below its smallest count.

    Examples
    --------
    >>> from evenly.allocation.problem.curves import SolverCurve
    >>> from evenly.allocation.problem.layout import parse_layout
    >>> curves = {n: SolverCurve(n, lambda p: 1 / p, range(1, 101)) for n in ("a", "b")}
    >>> problem = Problem(parse_layout("max(a, b)"), curves, 100, degrees_of_freedom={"a": 3e6, "b": 1e6})
    >>> ProportionalBalancer().assign(problem)
    {'a': 75, 'b': 25}
    """

    name: ClassVar[str] = "proportional"
    summary: ClassVar[str] = "cores in proportion to degrees of freedom, the usual practice"

    def assign(self, problem: Problem) -> dict[str, int]:
        missing = [name for name in problem.names if name not in problem.degrees_of_freedom]
        if missing:
            raise InputError(
                "cores in proportion to degrees of freedom need these for every solver, but "
                f"{', '.join(map(repr, missing))} has none: give degrees_of_freedom"
            )
        fewest = problem.fewest()
        shares = _shares(problem.footprint, problem.cores, problem.degrees_of_freedom, fewest)
        counts = {name: problem.curves[name].counts for name in problem.names}
        return {name: int(row[index_at_most(row, shares[name])]) for name, row in counts.items()}


def _shares(node: Footprint, cores: int, sizes: Mapping[str, float], fewest: Mapping[str, int]) -> dict[str, int]:
    if node.kind == "solver":
        return {node.name: cores}
    pools = [cores] * len(node.parts)
    if node.kind == "split":
        weights = np.array([sum(sizes[name] for name in part.names()) for part in node.parts], dtype=np.float64)
        pools = split(cores, weights, [int(part.cores(fewest)) for part in node.parts])
    return {
        name: share
        for part, pool in zip(node.parts, pools, strict=True)
        for name, share in _shares(part, pool, sizes, fewest).items()
    }


def split(cores: int, weights: np.ndarray[tuple[int], np.dtype[np.float64]], fewest: list[int]) -> list[int]:
    """Divide whole cores in proportion to `weights` (n,), each at least `fewest` (n,), by the largest remainder method.

    Examples
    --------
    >>> split(10, np.array([1.0, 1.0, 8.0]), [1, 3, 1])
    [1, 3, 6]
    """
    # Quotas: parts with a share below their minimum get this minimum, and the others divide the remaining cores.
    held = np.zeros(len(weights), dtype=bool)
    least = np.asarray(fewest)
    while True:
        free = cores - int(least[held].sum())
        ideal = np.where(held, least, free * weights / max(weights[~held].sum(), 1e-300))
        below = ~held & (ideal < least)
        if not below.any():
            break
        held |= below
    # Round the quotas down, then give one more core to each of the parts with the largest remainders.
    whole = np.floor(ideal).astype(np.int64)
    order = np.argsort(-(ideal - whole), kind="stable")
    order = order[~held[order]]
    whole[order[: cores - int(whole.sum())]] += 1
    return [int(share) for share in whole]
