"""The interface of balancers: a balancer maps a `Problem` to an assignment of cores.

A `Problem` holds all inputs of the decision: the layout, each solver's curve, and the number of available cores.
"""

from __future__ import annotations

import dataclasses
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from evenly.allocation.problem.core_usage import Footprint, footprint_of
from evenly.allocation.problem.curves import Front, SolverCurve
from evenly.allocation.problem.layout import Layout
from evenly.allocation.problem.limits import index_at_most
from evenly.errors import InfeasibleError, InputError

__all__ = ["Balancer", "Problem"]

Ints = NDArray[np.int64]


@dataclass(frozen=True)
class Problem:
    """An allocation problem: cores are to be divided among coupled solvers.

    Parameters
    ----------
    layout : Layout
        How the solvers wait for each other and share cores.
    curves : mapping of str to SolverCurve
        Time against cores of each solver, with the core counts that the solver may get.
    cores : int
        Total number of available cores.
    degrees_of_freedom : mapping of str to float
        Size of each solver's domain; may be empty.
    """

    layout: Layout
    curves: Mapping[str, SolverCurve]
    cores: int
    degrees_of_freedom: Mapping[str, float] = field(default_factory=dict)

    @property
    def names(self) -> tuple[str, ...]:
        """The solvers' names."""
        return self.layout.names

    @cached_property
    def footprint(self) -> Footprint:
        """Tree that says which solvers share cores; it computes the cores that an assignment uses in total."""
        return footprint_of(self.layout)

    def used(self, cores: Mapping[str, Any]) -> Any:
        """Return the cores that an assignment uses in total (numbers, or integer arrays of one shape)."""
        return self.footprint.cores(cores)

    def times(self, cores: Mapping[str, Any]) -> dict[str, Any]:
        """Return each solver's seconds (n,) for its counts (n,); floats for whole numbers."""
        return {
            name: self.curves[name].seconds(cores[name])
            if np.ndim(cores[name])
            else self.curves[name].on(int(cores[name]))
            for name in self.names
        }

    def seconds(self, cores: Mapping[str, Any]) -> Any:
        """Return the time of one step for an assignment, or an array (n,) for arrays of counts."""
        value = self.layout.seconds(self.times(cores))
        return value if np.ndim(value) else float(value)

    def fewest(self) -> dict[str, int]:
        """Return the assignment in which each solver has its smallest allowed count.

        Raises
        ------
        InfeasibleError
            If this assignment needs more cores than are available.
        """
        smallest = {name: int(self.curves[name].counts[0]) for name in self.names}
        needed = self.used(smallest)
        if needed > self.cores:
            raise self._too_few(smallest, needed)
        return smallest

    def with_cores(self, cores: int) -> Problem:
        """Return the same problem with another total."""
        return dataclasses.replace(self, cores=int(cores))

    def allows(self, cores: Mapping[str, int]) -> bool:
        """Tell whether each solver has a count that it may get and the total stays within the available cores."""
        counts = {name: self.curves[name].counts for name in self.names}
        allowed = all(
            int(row[index_at_most(row, int(cores[name]))]) == int(cores[name]) for name, row in counts.items()
        )
        return allowed and bool(self.used(cores) <= self.cores)

    def _too_few(self, smallest: Mapping[str, int], needed: int) -> InfeasibleError:
        least, remedy = f"the number of solvers ({needed})", "raise --cores"
        if needed != len(self.names):
            listed = ", ".join(f"{name} {count}" for name, count in smallest.items())
            least = f"what the solvers need together ({needed}: {listed})"
            remedy = "raise --cores or lower the solvers' minimum"
        return InfeasibleError(f"`cores` must be at least {least}, but got {self.cores}: {remedy}.", constraint="cores")


class Balancer(ABC):
    """Assigns cores to solvers.

    A balancer is a class with a `name`, a one-line `summary` and the method `assign`. An entry point in the group
    ``evenly.balancers`` makes it available to `evenly.allocate`.

    ``tests/allocation/contract.py`` checks these rules for every balancer:

    * an assignment names every solver of the problem and no other, each with one of the counts it may get;
    * an assignment never uses more cores than are available;
    * the same problem gives the same assignment, and the problem is not changed;
    * where no assignment exists, `assign` raises `InfeasibleError`;
    * no assignment is faster than that of the balancer ``optimal``.
    """

    #: Name of the balancer in ``evenly.allocate(…, balancer=…)``.
    name: ClassVar[str]
    #: One line for lists of balancers.
    summary: ClassVar[str]

    @abstractmethod
    def assign(self, problem: Problem) -> dict[str, int]:
        """Return cores per solver.

        Raises
        ------
        InfeasibleError
            If no assignment keeps to the limits and the available cores.
        """

    def assign_all(self, problem: Problem, totals: Ints) -> dict[str, Ints]:
        """Return the assignments (n,) per solver that `assign` finds for `totals` (n,), at most the problem's."""
        found = [self.assign(problem.with_cores(total)) for total in totals]
        return {name: np.array([cores[name] for cores in found], dtype=np.int64) for name in problem.names}

    def front(self, problem: Problem) -> Front | None:  # noqa: ARG002 - for those that know it
        """Return the best time for every total up to the problem's; None where the balancer can't give it."""
        return None


def check_names(what: str, given: Mapping[str, Any], solvers: Mapping[str, Any]) -> None:
    """Raise `InputError` for a name in `given` that is no solver; `what` is the argument's name in the message."""
    for name in given:
        if name not in solvers:
            raise InputError(f"{what} names {name!r}, but the solvers are {', '.join(solvers)}")
