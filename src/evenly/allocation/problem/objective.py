"""The objective of an allocation: the quantity to minimise, and constraints on time and cost."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from evenly.allocation.problem.curves import Front
from evenly.arguments import explained
from evenly.errors import InfeasibleError, InputError
from evenly.machine.machine import Machine

__all__ = ["Objective"]

_SECONDS_PER_HOUR = 3600.0


@explained
@dataclass(frozen=True)
class Objective:
    """The quantity to minimise, and constraints on time and cost.

    Parameters
    ----------
    minimise : {"time", "cost", "cores"}
        ``"time"``: seconds per step. ``"cost"``: core-hours per step, which are in proportion to money and energy at a
        fixed price and power per core. ``"cores"``: cores used in total.
    within : float, optional
        Only assignments at most this fraction slower than the fastest one: ``Objective("cost", within=0.05)`` is the
        cheapest total within 5 % of the fastest step.
    max_seconds : float, optional
        Longest allowed step, in seconds.
    max_core_hours : float, optional
        Largest allowed core-hours of a step.

    Examples
    --------
    >>> front = Front(np.array([1, 2, 4, 8]), np.array([8.0, 4.4, 2.5, 2.4]))
    >>> Objective("cost", within=0.1).choose(front)
    2
    >>> Objective("cores", max_seconds=5.0).choose(front)
    1
    >>> print(Objective("cost", within=0.1))
    the fewest core-hours, at most 10 % slower than the fastest step
    """

    minimise: Literal["time", "cost", "cores"] = "time"
    within: float | None = None
    max_seconds: float | None = None
    max_core_hours: float | None = None

    def __post_init__(self) -> None:
        if self.minimise not in ("time", "cost", "cores"):
            raise InputError(f"minimise must be 'time', 'cost' or 'cores', but got {self.minimise!r}")
        for name in ("within", "max_seconds", "max_core_hours"):
            value = getattr(self, name)
            if value is not None and not value >= 0:
                raise InputError(f"{name} must not be negative, but got {value!r}")
        if self.minimise == "time" and self.within is not None:
            share = f"{self.within:g}"
            raise InputError(
                "within says how much slower than the fastest step may be, which the fastest never uses: write "
                f"Objective('cost', within={share}) for the cheapest such assignment, Objective('cores', "
                f"within={share}) for the smallest, or leave it out"
            )

    @classmethod
    def of(cls, value: Objective | str) -> Objective:
        """Return `value` as an `Objective`; a word is the quantity to minimise."""
        return value if isinstance(value, Objective) else cls(value)  # type: ignore[arg-type]

    @property
    def is_fastest(self) -> bool:
        """Whether the objective is the fastest step, without constraints."""
        return self.minimise == "time" and self.max_core_hours is None and self.max_seconds is None

    def __str__(self) -> str:
        wanted = {"time": "the fastest step", "cost": "the fewest core-hours", "cores": "the fewest cores"}
        rules = [
            None if self.within is None else f"at most {100 * self.within:.4g} % slower than the fastest step",
            None if self.max_seconds is None else f"at most {self.max_seconds:g} s per step",
            None if self.max_core_hours is None else f"at most {self.max_core_hours:g} core-hours per step",
        ]
        return ", ".join([wanted[self.minimise], *(rule for rule in rules if rule)])

    def choose(self, front: Front, machine: Machine | None = None) -> int:
        """Return the index in `front` of the best total; of equal ones, the total with the fewest cores.

        Raises
        ------
        InfeasibleError
            If no total keeps to the constraints; the error's `constraint` names the violated one.
        """
        hours = core_hours(front.cores, front.seconds, machine)
        allowed = np.ones(len(hours), dtype=bool)
        for name, values in (("max_seconds", front.seconds), ("max_core_hours", hours)):
            at_most = getattr(self, name)
            if at_most is not None:
                allowed &= values <= at_most
                if not allowed.any():
                    raise _out_of_reach(name, at_most, front, hours)
        if self.within is not None:
            allowed &= front.seconds <= (1 + self.within) * front.seconds[allowed].min()
        wanted: dict[str, Any] = {"time": front.seconds, "cost": hours, "cores": front.cores}
        return int(np.argmin(np.where(allowed, wanted[self.minimise], np.inf)))


def core_hours(cores: Any, seconds: Any, machine: Machine | None = None) -> NDArray[np.float64]:
    """Return the core-hours (n,) of steps of `seconds` (n,) on `cores` (n,), as the machine bills them."""
    billed = cores if machine is None else machine.billed(cores)
    return np.asarray(billed * seconds / _SECONDS_PER_HOUR, dtype=np.float64)


def _out_of_reach(name: str, at_most: float, front: Front, hours: NDArray[np.float64]) -> InfeasibleError:
    if name == "max_seconds":
        got = f"the fastest takes {front.seconds[-1]:.6g} s on {front.cores[-1]} cores"
        remedy = "raise it, or raise --cores"
    else:
        k = int(np.argmin(hours))
        got = f"the cheapest uses {hours[k]:.6g} core-hours ({front.seconds[k]:.6g} s on {front.cores[k]} cores)"
        remedy = "raise it (or max_seconds)"
    return InfeasibleError(f"a step must keep to {name} = {at_most:g}, but {got}: {remedy}.", constraint=name)
