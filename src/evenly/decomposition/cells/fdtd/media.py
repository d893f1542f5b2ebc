"""What the media of a structure bring into a survey, per medium, and how far it reaches past an interface.

A grid point has three components of E, half a spacing from its index along one axis each, and each is averaged over
the box of one spacing around it (`evenly.fdtd.media.smoothing`): components along the face by what is in their box,
poles of the one across it by where it lies. A face across an axis at index f lies between the points e - 1 and e whose
middles are next to it, e - 1/2 < f <= e + 1/2, and what fills one side counts on the other too:

- ε and the interface itself at point e, and at e - 1 if f - floor(f) > 1/2;
- poles, σ and χ that are below the face at point e; those above it don't reach down.

A surface at an angle meets 3/2 (|nx| + |ny| + |nz|) points per area (their components' boxes span 3/2 spacings along
each axis), and that many is what is counted, one half on each side; and one box of one spacing around each node,
|nx| + |ny| + |nz|. Steps between samples have just this area, summed over axes.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from evenly.decomposition.cells.fdtd.point_kinds import SIDES, Labels, pole_kind

if TYPE_CHECKING:
    from evenly.fdtd.media.palette import Palette
    from evenly.fdtd.media.structure import Structure

__all__ = ["VALUES", "Column", "Faces", "columns_of"]

Array = NDArray[np.float64]
Flags = NDArray[np.bool_]
#: Kinds of which a point may have more than one.
VALUES = ("polarised", "polarisations", "nonlinear values")


@dataclass(frozen=True)
class Column:
    """One kind of a survey.

    Parameters
    ----------
    name : str
    amount : (media,)
        Of one point in each medium.
    rule : str
        How it reaches past interfaces, see `Faces.reach`.
    mixed : float or None
        What a point at an interface has, where that doesn't depend on the media.
    unlike : (media, media) of bool, or None
        Which media differ in what matters at an interface; those of another amount where left out.
    """

    name: str
    amount: Array
    rule: str
    mixed: float | None = None
    unlike: Flags | None = None

    def beyond(self) -> Array:
        """Return how much more a point of one medium (rows) has where another (columns) reaches it."""
        if self.mixed is None:
            return np.maximum(0.0, self.amount - self.amount[:, None])
        more = np.broadcast_to((self.mixed - self.amount)[:, None], (len(self.amount),) * 2)
        unlike = ~np.eye(len(self.amount), dtype=bool) if self.unlike is None else self.unlike
        return np.asarray(more * unlike)


@dataclass(frozen=True)
class Faces:
    """Where media meet, n faces.

    Attributes
    ----------
    axis : (n,) of int
        Across which axis.
    part : (n,)
        Fraction of the index at which it lies.
    high : (n,) of bool
        Whether it is an object's high side.
    flat : (n,) of bool
        Whether all of it lies across the axis, at this index.
    slanted : (n,) of bool
        Whether it makes off-diagonal elements.
    """

    axis: NDArray[np.intp]
    part: Array
    high: Flags
    flat: Flags
    slanted: Flags

    def reach(self, rule: str, *, subpixel: bool) -> tuple[Array, Array]:
        """Return how many planes of points an amount reaches past each face, above it and below it.

        Parameters
        ----------
        rule : str
            "electric", "magnetic": what poles, conductivities and χ do; followed by 0, 1 or 2, what they do to the
            values of one component; "instant": ε and μ; "interface"; "nodes": off-diagonal elements.
        subpixel : bool
            Whether interfaces are averaged.
        """
        above, below = (self._averaged if subpixel else self._plain)(rule)
        return np.asarray(above, dtype=np.float64), np.asarray(below, dtype=np.float64)

    def _averaged(self, rule: str) -> tuple[Any, Any]:
        if rule == "nodes":
            return 0.5 * self.slanted, 0.5 * self.slanted
        # A point whose middle is on a high side belongs to the object, on a low side too.
        on = self.high & (self.part == 0.5)
        if rule in ("instant", "interface"):
            return np.where(self.flat, ~on, 0.75), np.where(self.flat, (self.part > 0.5) | on, 0.75)
        # Of a surface at an angle (the mean over all angles); components' own boxes reach half a spacing out.
        bent = 0.5 if rule[-1].isdigit() else 0.7
        along = self._along(rule)
        if rule.startswith("electric"):
            return np.where(self.flat, ~on & along, bent), np.where(self.flat, 0.0, bent)
        # On a point lies only what is across the face: a component along it has a box that the face touches.
        whole = not rule[-1].isdigit()
        early = (self.part <= 0.5) & ~on & ((self.part > 0) | whole | ~along)
        return np.where(self.flat, early, bent), np.where(self.flat, (self.part > 0.5) & along, bent)

    def _plain(self, rule: str) -> tuple[Any, Any]:
        """Return the same without averaging: components are of the medium that they lie in."""
        if rule in ("nodes", "interface"):
            return 0.0 * self.part, 0.0 * self.part
        on = self.high & (self.part == 0.5)
        bent = 0.0 if rule[-1].isdigit() else 0.25
        return np.where(self.flat, (self.part <= 0.5) & ~on & self._along(rule), bent), np.where(self.flat, 0.0, bent)

    def _along(self, rule: str) -> Any:
        """Whether the component of a rule, if it is of one, lies along the face."""
        return self.axis != int(rule[-1]) if rule[-1].isdigit() else np.ones(len(self.axis), dtype=bool)


def columns_of(structure: Structure) -> list[Column]:
    """Return the kinds that a structure's media can make."""
    columns: list[Column] = []
    for side, tables in zip(SIDES, structure.palettes, strict=True):
        columns += _of_side(side, tables)
        poles = np.array(list(tables.poles.values())).reshape(len(tables.poles), len(tables.inverse), 3) != 0
        columns += _of_values("polarised", side, poles.any(axis=0))
        columns += _of_values("polarisations", side, poles.sum(axis=0))
        names: dict[str, Any] = {}
        for pole, one in zip(tables.poles, poles, strict=True):
            name = pole_kind(pole, side)
            names[name] = names.get(name, 0.0) + one.any(axis=1).astype(np.float64)
        columns += [Column(name, amount, side) for name, amount in names.items()]
    electric = structure.palettes[0]
    bent = (electric.chi2 != 0) | (electric.chi3 != 0)
    columns.append(Column("nonlinear", bent.any(axis=1).astype(np.float64), "electric"))
    columns += _of_values("nonlinear values", "electric", bent)
    active = any(not tables.plain or tables.extras for tables in structure.palettes)
    media = len(electric.inverse)
    columns.append(Column("interface", np.zeros(media), "interface", 1.0 if active and structure.subpixel else None))
    return [one for one in columns if one.beyond().any() or one.amount.any()]


def _of_values(name: str, side: str, amounts: NDArray[Any]) -> list[Column]:
    """Return the columns of a kind that is counted component by component, (media, 3)."""
    return [Column(name, amounts[:, axis].astype(np.float64), f"{side} {axis}") for axis in range(3)]


def _of_side(side: str, tables: Palette) -> list[Column]:
    triples = np.diagonal(tables.inverse, axis1=1, axis2=2)
    custom = np.array([one is not None for one in tables.custom])
    unlike = np.any(tables.inverse[:, None] != tables.inverse, axis=(2, 3)) | (custom[:, None] != custom)
    instant: Any = (np.any(triples != 1, axis=1) | custom).astype(np.float64)
    columns = [
        Column("dielectric" if side == "electric" else "magnetic", instant, "instant"),
        Column(f"{side}_conductivity", np.any(tables.conductivity != 0, axis=1).astype(np.float64), side),
        Column(f"{side}_anisotropic", (~tables.diagonal).astype(np.float64), "nodes", 1.0, unlike),
    ]
    labels = Labels(tables)
    if not labels.one:
        mixed = float(labels.mixed)
        first = labels.of_medium + 0.5 * custom
        second = np.where(custom, (mixed**2 + (mixed + 1) ** 2) / 2, labels.of_medium.astype(np.float64) ** 2)
        columns += [
            Column(f"{side} label", first, "instant", mixed, unlike),
            Column(f"{side} label squared", second, "instant", mixed**2, unlike),
        ]
    return columns
