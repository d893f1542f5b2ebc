"""The media of a structure as tables with one row per medium, for lookup at each grid point."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
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
    plain : bool
        Whether every medium has the instantaneous response of vacuum.
    extras : bool
        Whether any medium has poles, conductivity or nonlinear terms.
    diagonal, isotropic : (m,) of bool
        Whether each medium's matrix is diagonal, or a multiple of the identity.
    dispersive, scalar : (m,) of bool
        Whether each medium has poles; whether its whole response is a number that only poles and ε∞ make.
    label : (m,)
        A number per medium that grows with its response; its gradient gives a surface's normal.
    """

    medium: NDArray[np.intp]
    matrix: Array
    inverse: Array
    custom: tuple[FunctionMaterial | ArrayMaterial | None, ...]
    conductivity: Array
    chi2: Array
    chi3: Array
    poles: dict[Pole, Array]
    plain: bool
    extras: bool
    diagonal: NDArray[np.bool_]
    isotropic: NDArray[np.bool_]
    dispersive: NDArray[np.bool_]
    scalar: NDArray[np.bool_]
    label: Array


def palette(materials: Sequence[Any], side: Side) -> Palette:
    """Return the tables of the objects' materials.

    Examples
    --------
    >>> tables = palette([vacuum, Medium(epsilon=4), vacuum], "electric")
    >>> tables.medium.tolist(), tables.inverse[:, 0, 0].tolist()
    ([0, 1, 0], [1.0, 0.25])
    """
    rows: list[Any] = []
    medium = np.array([_row(material, rows) for material in materials], dtype=np.intp)
    media = [m if isinstance(m, Medium) else vacuum for m in rows]
    electric = side == "electric"
    custom = tuple(None if isinstance(m, Medium) or not electric else m for m in rows)
    matrix = np.array([m.epsilon_matrix if electric else m.mu_matrix for m in media])
    conductivity = np.array([m.electric_conductivity if electric else m.magnetic_conductivity for m in media])
    chi2, chi3 = (np.array([getattr(m, x) if electric else (0.0,) * 3 for m in media]) for x in ("chi2", "chi3"))
    poles = _strengths([m.electric_poles if electric else m.magnetic_poles for m in media])
    x, y, z = np.diagonal(matrix, axis1=1, axis2=2).T
    diagonal = np.abs(matrix[:, [1, 2, 0], [2, 0, 1]]).max(axis=1) == 0
    label = np.trace(matrix, axis1=1, axis2=2)
    dispersive, scalar = np.zeros(len(rows), dtype=bool), diagonal & (x == y) & (x == z)
    scalar &= ~np.any(conductivity != 0, axis=1) & ~np.any(chi2 != 0, axis=1) & ~np.any(chi3 != 0, axis=1)
    scalar &= [not c for c in custom]
    for strengths in poles.values():
        label = label + np.abs(strengths).sum(axis=1)
        dispersive |= np.any(strengths != 0, axis=1)
        scalar &= np.all(strengths == strengths[:, :1], axis=1)
    return Palette(
        medium=medium,
        matrix=matrix,
        inverse=np.array([_inverse(m) for m in matrix]),
        custom=custom,
        conductivity=conductivity,
        chi2=chi2,
        chi3=chi3,
        poles=poles,
        plain=bool(np.all(matrix == np.eye(3)) and not any(custom)),
        extras=bool(poles or np.any(conductivity) or np.any(chi2) or np.any(chi3)),
        diagonal=diagonal,
        isotropic=diagonal & (x == y) & (x == z),
        dispersive=dispersive,
        scalar=scalar,
        label=label + conductivity.sum(axis=1) + [4.0 if c else 0.0 for c in custom],
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
