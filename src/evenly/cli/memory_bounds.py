"""Memory bounds from measurements: per rank, per node, or for all ranks together."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from evenly.cli.console import loss, note
from evenly.cli.run_input import Learned
from evenly.errors import InputError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from evenly.allocation.plan import Plan
    from evenly.allocation.problem.limits import Bound
    from evenly.core_counts.by_cores import ByCores

__all__ = ["MemoryIs", "memory_bounds", "tell_shared_nodes"]

MemoryIs = Literal["per-rank", "per-node", "total"]
_WORDS = {"per-rank": "each rank (core)", "per-node": "each node", "total": "all ranks of a solver together"}


def memory_bounds(
    learned: Learned,
    quantity: str,
    measured: MemoryIs,
    at: dict[str, Any],
    cores_per_node: int | None,
    cores_are: dict[str, str],
) -> dict[str, Bound]:
    """Return a bound on the memory of a node for each solver.

    Parameters
    ----------
    learned : Learned
        With the runs in which the memory was measured.
    quantity : str
        Its name.
    measured : {"per-rank", "per-node", "total"}
        What one measured value is the memory of.
    at : dict
        Values of the parameters other than the cores: of all solvers, and, in mappings, of one.
    cores_per_node : int, optional
        Of the machine.
    cores_are : dict of str to str
        What the cores are, for each solver.

    Raises
    ------
    InputError
        If it was not measured, or it is not known how many cores a node has.
    """
    from evenly.allocation.allocate import values_at
    from evenly.allocation.problem.limits import Bound
    from evenly.core_counts.by_cores import by_cores
    from evenly.models.fitting import fit
    from evenly.runs.cores import constants

    _check(learned, quantity)
    if cores_per_node is None:
        raise InputError("--memory is a bound per node: say with --cores-per-node how many cores a node has")
    others = " or ".join(word for word in _WORDS if word != measured)
    note(f"memory of a node: {quantity} is taken as that of {_WORDS[measured]} (otherwise: --memory-is {others})")
    if len(learned.runs) > 1:
        apart = f"--multiple {cores_per_node} gives each nodes of its own"
        note(f"memory of a node: each solver is compared by itself, as if none shared a node; {apart}")
    own = values_at(at, learned.runs)
    models = {
        name: by_cores(fit(runs, response=quantity), cores_are[name], at=own[name])
        for name, runs in learned.runs.items()
    }
    return {
        name: Bound(
            _PerRank(model, measured, {**constants(model.space_, but=model.cores.names), **own[name]}, cores_per_node)
        )
        for name, model in models.items()
    }


def tell_shared_nodes(plan: Plan) -> None:
    """Say it where solvers that share a node need more memory together than it has, if placed one after the other."""
    from evenly.allocation.shared_nodes import fullest_node

    node = fullest_node(plan)
    if node is not None and node.amount > node.limit:
        listed = " and ".join(f"{count} cores of {name}" for name, count in node.ranks.items())
        loss(
            f"memory of a node: {listed} share a node, and need {node.amount / 2**30:.3g} of {node.limit / 2**30:.3g} "
            f"GiB together: --multiple {plan.machine.cores_per_node} gives each solver nodes of its own"
        )


def _check(learned: Learned, quantity: str) -> None:
    if not learned.runs:
        raise InputError("--memory needs measured runs, not a saved model: give the measurements' folder")
    missing = [name for name, runs in learned.runs.items() if quantity not in runs.quantities]
    if missing:
        have = ", ".join(learned.runs[missing[0]].quantities)
        raise InputError(
            f"--memory needs the quantity {quantity!r} of {missing[0]!r}, but only {have} was measured: name its "
            f"column with --quantity {quantity}=GiB, or choose another with --memory-quantity"
        )


@dataclass(frozen=True)
class _PerRank:
    """The memory of one rank, in bytes, on any number of cores."""

    model: ByCores
    measured: MemoryIs
    at: dict[str, Any]
    cores_per_node: int

    def __call__(self, cores: NDArray[np.int64]) -> NDArray[np.float64]:
        import numpy as np

        from evenly.allocation.problem.curves import call

        counts = np.atleast_1d(np.asarray(cores))
        values: NDArray[np.float64] = call(self.model, counts, self.at)
        if self.measured == "total":
            return values / counts
        return values / np.minimum(counts, self.cores_per_node) if self.measured == "per-node" else values
