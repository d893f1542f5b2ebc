"""A source's share of one chunk: what its current changes the field by, step by step."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from evenly.fdtd.cell.box import Box

__all__ = ["Current"]

Array = NDArray[Any]


class Current:
    """A source's share of one chunk.

    Parameters
    ----------
    component : str
    box : Box
        Where it flows, inside the chunk.
    bare : (nx, ny, nz), real or complex
        Current density times the grid spacing.
    response : float or (nx, ny, nz)
        What a current changes the field by.
    pulse : callable
        ``pulse(time)`` is the complex amplitude.
    """

    def __init__(self, component: str, box: Box, bare: Array, response: Any, pulse: Any) -> None:
        self.component, self.box, self.pulse = component, box, pulse
        self._bare = np.stack([np.real(bare), np.imag(bare)])
        self._weights = self._bare * response

    def amplitude(self, time: float) -> complex:
        """Return the pulse at `time`."""
        return complex(self.pulse(time))

    def change(self, amplitude: complex, part: int, *, bare: bool = False) -> Array:
        """Return what a part (0: real, 1: imaginary) of the field, or of its increment (`bare`), loses."""
        real, imag = self._bare if bare else self._weights
        if part == 0:
            return np.asarray(amplitude.real * real - amplitude.imag * imag)
        return np.asarray(amplitude.real * imag + amplitude.imag * real)
