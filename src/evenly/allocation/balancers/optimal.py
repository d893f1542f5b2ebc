"""The fastest assignment, exactly, for curves of any shape.

One of three methods finds it:

* dynamic programming on Pareto fronts (`evenly.allocation.balancers.pareto_fronts`);
* bisection on tables that are refined step by step, where models certify their shape and there are many counts
  (`evenly.allocation.balancers.coarse_to_fine`);
* branch and bound, where solvers occur several times (`evenly.allocation.balancers.branch_and_bound`).

Source: "Optimal core assignment for coupled simulations" (thesis), section 1.3, equation 1.6. The source finds the same
assignment by exhaustive search.
"""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from evenly.allocation.balancers.coarse_to_fine import can_zoom, zoom
from evenly.allocation.balancers.pareto_fronts import GroupFront, build
from evenly.allocation.problem.base import Balancer, Problem
from evenly.allocation.problem.curves import Front
from evenly.errors import InfeasibleError

__all__ = ["OptimalBalancer"]

Ints = NDArray[np.int64]


class OptimalBalancer(Balancer):
    """Minimises the time of a step; of equally fast assignments, it returns one with the fewest cores in total.

    Examples
    --------
    >>> from evenly.allocation.problem.curves import SolverCurve
    >>> from evenly.allocation.problem.layout import parse_layout
    >>> curves = {n: SolverCurve(n, lambda p, w=w: w / p, range(1, 13)) for n, w in (("a", 8.0), ("b", 4.0))}
    >>> OptimalBalancer().assign(Problem(parse_layout("max(a, b)"), curves, 12))
    {'a': 8, 'b': 4}
    """

    name: ClassVar[str] = "optimal"
    summary: ClassVar[str] = "the fastest assignment, exactly, for curves of any shape"

    def assign(self, problem: Problem) -> dict[str, int]:
        problem.fewest()
        if problem.layout.repeats:
            # Imported here, since loading the compiled kernels takes longer than solving most other problems.
            from evenly.allocation.balancers.branch_and_bound import solve

            return solve(problem)
        found = zoom(problem) if can_zoom(problem) else None
        if found is None:
            tree = self._tree(problem)
            found = tree.divide(tree.front.cores[-1:])
        return {name: int(found[name][0]) for name in problem.names}

    def assign_all(self, problem: Problem, totals: Ints) -> dict[str, Ints]:
        if problem.layout.repeats:
            return super().assign_all(problem, totals)
        asked = np.asarray(totals, dtype=np.int64)
        found = zoom(problem, asked) if can_zoom(problem) else None
        return self._tree(problem).divide(asked) if found is None else found

    def front(self, problem: Problem) -> Front | None:
        # Where models certify their shape, assigning some totals is faster than a table of all totals.
        return None if problem.layout.repeats or can_zoom(problem) else self._tree(problem).front

    def _tree(self, problem: Problem) -> GroupFront:
        problem.fewest()
        tree = build(problem.layout, problem.curves, problem.cores)
        if not len(tree.front.cores):
            raise InfeasibleError(
                f"no assignment of {problem.cores} cores has a finite time: the solvers' times are infinite on all "
                "counts that fit together: raise --cores",
                constraint="cores",
            )
        return tree
