"""Flux of energy through planes and out of boxes, as a spectrum.

P(f) = Re ∫ conj(E(f)) x H(f) · n dA with the transforms of `evenly.fdtd.monitors.fourier`; integrated over all angular
frequencies 2πf it is the energy that passed. Only ratios of fluxes are free of the source's spectrum.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from evenly.fdtd.cell.grid import Grid
from evenly.fdtd.monitors.monitor import FourierMonitor, Region
from evenly.fdtd.monitors.planes import Pairing, faces, pairings

__all__ = ["Flux"]


class Flux(FourierMonitor):
    """Energy flux through a plane, or out of a box.

    Parameters
    ----------
    center, size : sequences of up to three floats
        In a. Size 0 along one axis along which the cell extends is a plane across it; without a 0 it is a box, all of
        whose faces count outwards. Along thin axes of the cell the plane counts as one unit long. A plane is moved to
        the nearest plane of E nodes.
    frequencies : sequence of floats
        In c/a.
    direction : str, optional
        The normal of a plane, ``"x"``, ``"-y"``…; by default up the axis across which the plane lies.
    weight : float
        Factor of the flux.
    every : int, optional
        Take every how many steps (see `FourierMonitor`).
    name : str
        How messages call it.

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
        return [region for pair in self._pairings(grid) for region in (pair.electric, pair.magnetic)]

    def flux(self) -> NDArray[np.float64]:
        """Return the flux, of shape (n_frequencies,), summed over all faces and ranks (all ranks must call)."""
        return np.asarray(sum(self.by_face().values(), np.zeros(len(self.frequencies))))

    def by_face(self) -> dict[str, NDArray[np.float64]]:
        """Return the flux along the normal of each face, like ``{"-x": …, "+x": …}`` (all ranks must call)."""
        pairs = self._pairings(self.stage.grid)
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

    def _pairings(self, grid: Grid) -> list[Pairing]:
        return pairings(grid, faces(grid, self.center, self.size, self.direction, self.label))
