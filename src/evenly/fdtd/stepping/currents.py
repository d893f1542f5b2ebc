"""A source's share of one chunk: what its current changes the field by, step by step."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from evenly.fdtd.cell.box import Box
from evenly.fdtd.stepping.kernels.arguments import BLOCK

if TYPE_CHECKING:
    from evenly.fdtd.sources.pulses import Pulse

__all__ = ["Amplitudes", "Current"]

Array = NDArray[Any]


class Amplitudes:
    """A pulse's amplitude at each step: currents of E flow at half steps, those of H at whole ones.

    Parameters
    ----------
    pulse : Pulse
    field : "E" or "H"
    dt : float
        Time step, in a/c.

    Examples
    --------
    >>> from evenly.fdtd.sources.pulses import CustomPulse
    >>> Amplitudes(CustomPulse(lambda time: 2 * time), "E", 0.5).at(7)
    (7.5+0j)
    """

    def __init__(self, pulse: Pulse, field: str, dt: float) -> None:
        self._dt, self._later = dt, 0.5 if field == "E" else 1.0
        # A function is asked once per time, though increments want to know its value, too.
        self._amplitude: Any = pulse.amplitude if pulse.is_formula else lru_cache(maxsize=2)(pulse.amplitude)
        #: Whether a whole block is known at once. A function that isn't evenly's own is asked step by step, in order.
        self.ahead = pulse.is_formula
        self._row, self._block = np.zeros((BLOCK, 2)), -1

    def find(self, step: int, steps: int) -> Array:
        """Return the amplitudes of the block that some steps lie in; those of the others count only if `ahead`.

        Parameters
        ----------
        step, steps : int
            First step, and how many.

        Returns
        -------
        row : (BLOCK, 2)
            Real and imaginary part per step of the block.
        """
        block, at = divmod(step, BLOCK)
        if self.ahead and block != self._block:
            values = self._amplitude((np.arange(block * BLOCK, (block + 1) * BLOCK) + self._later) * self._dt)
            self._row[:, 0], self._row[:, 1] = values.real, values.imag
        for n in range(0 if self.ahead else steps):
            value = complex(self._amplitude((step + n + self._later) * self._dt))
            self._row[at + n] = value.real, value.imag
        self._block = block
        return self._row

    def at(self, step: int) -> complex:
        """Return the amplitude of one step."""
        return complex(*self.find(step, 1)[step % BLOCK])


@dataclass(frozen=True)
class Current:
    """A source's share of one chunk: J in ∂E/∂t = (curl H - J)/ε, or K in ∂H/∂t = -(curl E + K)/μ.

    Attributes
    ----------
    component : str
    box : Box
        Where it flows, inside the chunk.
    bare : (2, nx, ny, nz)
        Real and imaginary part of the current density times the grid spacing.
    weights : (2, nx, ny, nz)
        The same times the field's response: what a current of amplitude 1 takes off the field in a step.
    pulse : Amplitudes
    fields : one or two (nx, ny, nz)
        Views of the chunk's real and imaginary field on the box.
    """

    component: str
    box: Box
    bare: Array
    weights: Array
    pulse: Amplitudes
    fields: Sequence[Array]

    def change(self, amplitude: complex, part: int) -> Array:
        """Return what a part (0: real, 1: imaginary) of the field's increment loses."""
        real, imag = self.bare
        if part == 0:
            return np.asarray(amplitude.real * real - amplitude.imag * imag)
        return np.asarray(amplitude.real * imag + amplitude.imag * real)
