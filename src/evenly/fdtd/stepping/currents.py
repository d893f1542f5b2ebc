"""A source's share of one chunk: what its current changes the field by, step by step."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evenly.fdtd.cell.box import Box

__all__ = ["Current"]

Array = NDArray[Any]


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
    pulse : callable
        ``pulse(time)`` is the complex amplitude.
    fields : one or two (nx, ny, nz)
        Views of the chunk's real and imaginary field on the box.
    """

    component: str
    box: Box
    bare: Array
    weights: Array
    pulse: Callable[[float], complex]
    fields: Sequence[Array]

    def change(self, amplitude: complex, part: int, *, bare: bool = False) -> Array:
        """Return what a part (0: real, 1: imaginary) of the field, or of its increment (`bare`), loses."""
        real, imag = self.bare if bare else self.weights
        if part == 0:
            return np.asarray(amplitude.real * real - amplitude.imag * imag)
        return np.asarray(amplitude.real * imag + amplitude.imag * real)
