"""Cores of coupled runs whose table counts ranks: what makes the cores of a solver's own runs makes theirs, too."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from evenly.cli.console import note
from evenly.errors import InputError
from evenly.runs.count_names import kind_of_parameter

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from evenly.core_counts.by_cores import ByCores
    from evenly.core_counts.fastest_way import FastestWay
    from evenly.runs.cores import Cores

    Floats = NDArray[np.float64]

__all__ = ["CoresOfCounts", "rule_of_model", "rule_of_text"]


@dataclass(frozen=True)
class CoresOfCounts:
    """What makes the cores of a solver, as ``ranks * threads``.

    Parameters
    ----------
    cores : Cores
        The expression.
    counted : str
        The parameter that a plan varies, as ``ranks``.
    fixed : mapping of str to value
        The others of the expression whose values are known.
    """

    cores: Cores
    counted: str
    fixed: Mapping[str, Any] = field(default_factory=dict)

    @property
    def kind(self) -> str:
        """What it counts, as ``"ranks"``."""
        return kind_of_parameter(self.counted)

    def of(self, solver: str, column: str, counts: Floats, threads: Mapping[str, Floats]) -> Floats:
        """Return the cores, (n_runs,), of a solver with so many ranks, and say how they are made.

        Parameters
        ----------
        solver, column : str
            The solver, and the column of its counts.
        counts : array (n_runs,)
            Its numbers.
        threads : mapping of str to array (n_runs,)
            The column with the threads of each rank; empty if there is none.

        Raises
        ------
        InputError
            If the threads of a rank are open, or make no whole number of cores.

        Examples
        --------
        >>> import numpy as np
        >>> rule_of_text("ntasks * 2").of("atm", "atm_ranks", np.array([8.0, 16.0]), {}).tolist()
        [16.0, 32.0]
        """
        import numpy as np

        values: dict[str, Any] = {self.counted: counts}
        said = []
        for name in self.cores.names:
            if name == self.counted:
                continue
            if threads and kind_of_parameter(name) == "per rank":
                own, values[name] = next(iter(threads.items()))
                said.append(f"{own} for {name}")
            elif name in self.fixed:
                values[name] = self.fixed[name]
                said.append(f"{self.fixed[name]} for {name}, as in the plan")
            else:
                raise InputError(
                    f"the cores of {solver} are {self.cores.text}, and the table of --coupled has {column}, but not "
                    f"{name}: add it in a column {solver}_{name}; or write the cores of each run, in {solver}_cores"
                )
        found = self.cores.of(values, len(counts))
        if not np.isfinite(found).all():
            first = counts[np.isnan(found)][0]
            raise InputError(
                f"{column} is {first:g} in the table of --coupled, for which {self.cores.text} is no whole number of "
                f"cores: write the cores of each run, in {solver}_cores"
            )
        listed = ", ".join([f"{column} for {self.counted}", *said])
        note(f"in --coupled, the cores of {solver} are {self.cores.text}: {listed}")
        return found


def rule_of_model(model: ByCores | FastestWay) -> CoresOfCounts:
    """Return what makes the cores of a solver that is learned; threads that a plan decides are open."""
    from evenly.core_counts.by_cores import ByCores

    if isinstance(model, ByCores):
        return CoresOfCounts(model.cores, model.varied, model.fixed)
    fixed = {name: value for name, value in model.fixed.items() if name != model.decided}
    return CoresOfCounts(model.each[0].cores, model.each[0].varied, fixed)


def rule_of_text(cores_are: str | None) -> CoresOfCounts | None:
    """Return what makes the cores of each solver, if an expression is made of one number of ranks, and of threads.

    Examples
    --------
    >>> rule_of_text("nodes * 48"), rule_of_text("ranks * threads").counted
    (None, 'ranks')
    """
    from evenly.runs.cores import Cores

    if cores_are is None:
        return None
    cores = Cores(cores_are)
    kinds = {name: kind_of_parameter(name) for name in cores.names}
    ranks = [name for name, kind in kinds.items() if kind == "ranks"]
    if len(ranks) != 1 or not set(kinds.values()) <= {"ranks", "per rank"}:
        return None
    return CoresOfCounts(cores, ranks[0])
