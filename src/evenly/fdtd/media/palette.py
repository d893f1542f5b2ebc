"""The media of a structure as tables with one row per medium, for lookup at each grid point."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from evenly.fdtd.media.custom import ArrayMaterial, FunctionMaterial
from evenly.fdtd.media.materials import Medium, Pole, vacuum

__all__ = ["Palette", "palette"]

Array = NDArray[np.float64]
Side = Literal["electric", "magnetic"]


@dataclass(frozen=True)
class Palette:
    """Tables of m media for E, or for H.

    Attributes
    ----------
    medium : (objects,) of int
        Row of each object's medium.
    matrix, inverse : (m, 3, 3)
        ε∞ (μ∞) and its inverse; the identity for custom materials, whose values are in `custom`.
    custom : tuple of m
        The material if it is given point by point, else None.
    conductivity, chi2, chi3 : (m, 3)
        As in `Medium`.
    poles : dict of unit pole to (m, 3)
        Strengths; 0 where a medium lacks the pole.
    """

    medium: NDArray[np.intp]
    matrix: Array
    inverse: Array
    custom: tuple[FunctionMaterial | ArrayMaterial | None, ...]
    conductivity: Array
    chi2: Array
    chi3: Array
    poles: dict[Pole, Array]

    @cached_property
    def plain(self) -> bool:
        """Whether every medium has the instantaneous response of vacuum."""
        return bool(np.all(self.matrix == np.eye(3)) and not any(self.custom))

    @cached_property
    def extras(self) -> bool:
        """Whether any medium has poles, conductivity or nonlinear terms."""
        return bool(self.poles or np.any(self.conductivity) or np.any(self.chi2) or np.any(self.chi3))

    @cached_property
    def diagonal(self) -> NDArray[np.bool_]:
        """Whether each medium's matrix is diagonal, shape (m,)."""
        off = np.abs(self.matrix[:, [1, 2, 0], [2, 0, 1]])
        return np.asarray(off.max(axis=1) == 0)

    @cached_property
    def isotropic(self) -> NDArray[np.bool_]:
        """Whether each medium's matrix is a multiple of the identity, shape (m,)."""
        d = np.diagonal(self.matrix, axis1=1, axis2=2)
        return np.asarray(self.diagonal & (d[:, 0] == d[:, 1]) & (d[:, 0] == d[:, 2]))

    @cached_property
    def label(self) -> Array:
        """A number per medium, shape (m,), that grows with its response; its gradient gives a surface's normal."""
        label = np.trace(self.matrix, axis1=1, axis2=2)
        for strengths in self.poles.values():
            label = label + np.abs(strengths).sum(axis=1)
        return np.asarray(label + self.conductivity.sum(axis=1) + [4.0 if c else 0.0 for c in self.custom])


def palette(materials: Sequence[Any], side: Side) -> Palette:
    """Return the tables of the objects' materials.

    Examples
    --------
    >>> tables = palette([vacuum, Medium(epsilon=4), vacuum], "electric")
    >>> tables.medium.tolist(), tables.inverse[:, 0, 0].tolist()
    ([0, 1, 0], [1.0, 0.25])
    """
    rows: list[Any] = []
    medium = [_row(material, rows) for material in materials]
    media = [m if isinstance(m, Medium) else vacuum for m in rows]
    electric = side == "electric"
    custom = tuple(None if isinstance(m, Medium) or not electric else m for m in rows)
    matrix = np.array([m.epsilon_matrix if electric else m.mu_matrix for m in media])
    return Palette(
        np.array(medium, dtype=np.intp),
        matrix,
        np.array([_inverse(m) for m in matrix]),
        custom,
        np.array([m.electric_conductivity if electric else m.magnetic_conductivity for m in media]),
        np.array([m.chi2 if electric else (0.0,) * 3 for m in media]),
        np.array([m.chi3 if electric else (0.0,) * 3 for m in media]),
        _strengths([m.electric_poles if electric else m.magnetic_poles for m in media]),
    )


def _row(material: Any, rows: list[Any]) -> int:
    for i, known in enumerate(rows):
        if known is material or (isinstance(material, Medium) and known == material):
            return i
    rows.append(material)
    return len(rows) - 1


def _inverse(matrix: Array) -> Array:
    if np.count_nonzero(matrix - np.diag(np.diag(matrix))) == 0:
        return np.diag(1 / np.diag(matrix))
    inverse = np.linalg.inv(matrix)
    return np.asarray((inverse + inverse.T) / 2)


def _strengths(poles: Sequence[Sequence[Pole]]) -> dict[Pole, Array]:
    tables: dict[Pole, Array] = {}
    for i, of_medium in enumerate(poles):
        for pole in of_medium:
            tables.setdefault(pole.unit(), np.zeros((len(poles), 3)))[i] += pole.strength
    return {pole: table for pole, table in tables.items() if np.any(table)}
