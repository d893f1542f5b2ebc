"""An example: a simulation with its monitors, and the normalised spectra that follow from them.

>>> from evenly.fdtd.structures import build
>>> example = build("oled", resolution=20)
>>> sorted(example.monitors), example.curves_are
(['emitted', 'outflow'], 'share of the emitted power')
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field, fields
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from evenly.errors import InputError
from evenly.fdtd.media.materials import Medium
from evenly.fdtd.monitors.monitor import FourierMonitor
from evenly.fdtd.sources.pulses import GaussianPulse

__all__ = ["Curves", "Example", "Incident", "Look", "Recipe", "band", "pulse_for"]

Array = NDArray[np.float64]
Curves = dict[str, Array]
# Upper limit of the number of frequencies; a larger number is certainly a mistake.
MOST_FREQUENCIES = 10_000


@dataclass(frozen=True)
class Look:
    """The slice and the field component that pictures show.

    Parameters
    ----------
    across : letter
        The axis normal to the slice.
    at : float
        Position of the slice along this axis, in a.
    component : str
        The field component to draw.
    """

    across: str = "y"
    at: float = 0.0
    component: str = "Ex"


@dataclass(frozen=True)
class Incident:
    """The incident plane wave along z, to which spectra are normalised; computed cheaply in a one-dimensional cell.

    Parameters
    ----------
    material : Medium
        The medium from which the wave comes.
    subtracted : sequence of str
        Names of the monitors from which the transforms of the incident wave are subtracted.
    area : float
        Cross-section of the cell normal to z.
    """

    material: Medium
    subtracted: tuple[str, ...]
    area: float


@dataclass(frozen=True)
class Example:
    """A simulation that is ready to run.

    Attributes
    ----------
    name : str
        Name of the structure.
    simulation : mapping
        Keywords of `evenly.fdtd.Simulation`; ``layout`` and ``options`` may be added.
    monitors : mapping of str to monitor
        Monitors to add to the simulation. They belong to one simulation, so build a new example for another one.
    until : float
        Time when the fields should have left the cell, in a/c. It is safer to run until the fields have decayed.
    frequencies : array (n_frequencies,)
        Frequencies of the spectra, in c/a.
    curves : callable
        ``curves(monitors, incident power)`` returns the normalised spectra by name, shape (n_frequencies,) each; all
        ranks must call it. None if the example has no spectra.
    curves_are : str
        The quantity of the spectra, for an axis label.
    incident : Incident or None
        The incident plane wave, if the spectra are relative to one.
    parameters : mapping
        All parameters, defaults included.
    look : Look
        The slice that pictures show.
    unit : str
        The unit of length a.
    """

    name: str
    simulation: Mapping[str, Any]
    monitors: Mapping[str, FourierMonitor]
    until: float
    frequencies: Array
    curves: Callable[[Mapping[str, FourierMonitor], Array], Curves] | None = None
    curves_are: str = ""
    incident: Incident | None = None
    parameters: Mapping[str, Any] = field(default_factory=dict)
    look: Look = field(default_factory=Look)
    unit: str = "µm"


@dataclass(frozen=True, kw_only=True)
class Recipe(ABC):
    """The parameters of a structure, from which an example is built; lengths are in µm.

    Invariants: `example` returns a new example each time, allocates nothing large, and depends only on the parameters.

    Parameters
    ----------
    resolution : float
        Grid points per µm.
    frequencies : int
        Number of frequencies of the monitors.

    Raises
    ------
    InputError
        If a parameter is out of range; the message names structure, parameter and rule.
    """

    name: ClassVar[str] = ""
    summary: ClassVar[str] = ""
    may_be_zero: ClassVar[frozenset[str]] = frozenset()

    resolution: float = 20.0
    frequencies: int = 21

    def __post_init__(self) -> None:
        for f in fields(self):
            value = getattr(self, f.name)
            if isinstance(f.default, bool) or not isinstance(f.default, (int, float)):
                continue
            self._check_number(f.name, value, whole=isinstance(f.default, int))
        if self.frequencies < 1 or self.frequencies > MOST_FREQUENCIES:
            raise self.wrong("frequencies", f"must be from 1 to {MOST_FREQUENCIES}")

    def _check_number(self, name: str, value: object, *, whole: bool) -> None:
        zero = name in self.may_be_zero
        known = isinstance(value, (int, float, np.integer, np.floating)) and not isinstance(value, bool)
        number = float(value) if known else np.nan  # type: ignore[arg-type]
        if not (0 <= number < np.inf) or (number == 0 and not zero) or (whole and number != int(number)):
            kind = "a whole number" if whole else "a finite number"
            raise self.wrong(name, f"must be {kind}, {'0 or more' if zero else 'above 0'}")

    def wrong(self, parameter: str, rule: str) -> InputError:
        """Return the error for an invalid parameter; it names structure, parameter, rule and value."""
        return InputError(f"`{parameter}` of the structure {self.name!r} {rule}, but got {getattr(self, parameter)!r}.")

    def nodes(self, length: float) -> int:
        """Return a length in grid points, rounded."""
        if not length * self.resolution < 2**31:
            raise InputError(
                f"`resolution` gives 2^31 points or more along a length of {length:g}: lower {self.resolution!r}"
            )
        return round(length * self.resolution)

    def whole(self, length: float) -> float:
        """Return the nearest length that is a whole number of grid points, at least one."""
        return max(1, self.nodes(length)) / self.resolution

    def as_parameters(self) -> dict[str, Any]:
        """Return the parameters by name."""
        return asdict(self)

    @abstractmethod
    def example(self) -> Example:
        """Return the example."""


def band(shortest: float, longest: float, n: int) -> Array:
    """Return `n` evenly spaced frequencies in c/a that cover a range of wavelengths in a; the middle one for n = 1.

    Examples
    --------
    >>> band(0.5, 1.0, 3).tolist()
    [1.0, 1.5, 2.0]
    """
    low, high = 1 / longest, 1 / shortest
    return np.linspace(low, high, n) if n > 1 else np.array([(low + high) / 2])


def pulse_for(shortest: float, longest: float) -> GaussianPulse:
    """Return a pulse whose spectrum covers a range of wavelengths: its envelope is at least 14 % of the peak there.

    Examples
    --------
    >>> pulse = pulse_for(0.4, 0.8)
    >>> bool(abs(pulse.spectrum([1.25])[0]) > 0.08 * abs(pulse.spectrum([1.875])[0]))
    True
    """
    low, high = 1 / longest, 1 / shortest
    middle, half = (low + high) / 2, (high - low) / 2
    # The envelope exp(-(2π width Δf)²/2) is exp(-2) at the ends. For narrow bands the pulse is shorter than necessary.
    return GaussianPulse(middle, fwidth=max(np.pi * half, middle / 2))
