"""Spectrum of the energy flux through planes and out of boxes.

P(f) = Re ∫ conj(E(f)) x H(f) · n dA with the transforms of `evenly.fdtd.monitors.fourier`. Integrated over all angular
frequencies 2πf, it is the energy that passed. P(f) contains the spectrum of the source; ratios of fluxes don't.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from evenly.arguments import explained
from evenly.fdtd.cell.grid import Grid
from evenly.fdtd.monitors.monitor import FourierMonitor, Region
from evenly.fdtd.monitors.planes import Pairing, pairings

__all__ = ["Flux"]


@explained
class Flux(FourierMonitor):
    """Energy flux through a plane, or out of a box.

    Parameters
    ----------
    center, size : sequences of up to three floats
        In a. With size 0 along one axis that isn't thin, the region is a plane normal to this axis. With no size 0 it
        is a box, and the flux out of all its faces is summed. Along thin axes of the cell, the length counts as 1 a.
        A plane is moved to the nearest plane of E nodes.
    frequencies : sequence of floats
        In c/a.
    direction : str, optional
        The normal of a plane, ``"x"``, ``"-y"``…; by default in the positive direction of its axis.
    weight : float
        Factor of the flux.
    every : int, optional
        Sampling interval in steps (see `FourierMonitor`).
    name : str
        Name for messages.

    Examples
    --------
    >>> monitor = Flux((0, 0, 0.5), (1, 1, 0), [0.9, 1.0, 1.1])
    >>> monitor.component_points(Grid((2.0, 2.0, 2.0), 10))
    528
    """

    kind = "flux monitor"

    def __init__(
        self,
        center: Sequence[float],
        size: Sequence[float],
        frequencies: ArrayLike,
        *,
        direction: str | None = None,
        weight: float = 1.0,
        every: int | None = None,
        name: str = "",
    ) -> None:
        super().__init__(frequencies, every=every, name=name)
        self.center, self.size, self.direction, self.weight = center, size, direction, weight

    def regions(self, grid: Grid) -> list[Region]:
        pairs = pairings(grid, self.center, self.size, self.direction, self.label)
        return [region for pair in pairs for region in (pair.electric, pair.magnetic)]

    def flux(self) -> NDArray[np.float64]:
        """Return the flux, of shape (n_frequencies,), summed over all faces and ranks (all ranks must call)."""
        return np.asarray(sum(self.by_face().values(), np.zeros(len(self.frequencies))))

    def by_face(self) -> dict[str, NDArray[np.float64]]:
        """Return the flux along the normal of each face, like ``{"-x": …, "+x": …}`` (all ranks must call)."""
        pairs = pairings(self.stage.grid, self.center, self.size, self.direction, self.label)
        names = list(dict.fromkeys(pair.face.name for pair in pairs))
        mine = np.zeros((len(names), len(self.frequencies)))
        for pair in pairs:
            mine[names.index(pair.face.name)] += self._through(pair)
        total = np.asarray(self.stage.communicator.allreduce(mine))
        return {name: self.weight * row for name, row in zip(names, total, strict=True)}

    def _through(self, pair: Pairing) -> NDArray[np.float64]:
        total = np.zeros(len(self.frequencies))
        for e, h in zip(self._local[pair.electric.key], self._local[pair.magnetic.key], strict=True):
            product = e.patch.values().conj() * h.patch.values()
            total += pair.sign * np.einsum("fxyz,xyz->f", product.real, pair.weights[e.inside])
        return total
