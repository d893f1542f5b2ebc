"""Columns of a survey by medium, and how far the properties of a medium reach past an interface.

A grid point has three components of E, each half a spacing from the point's index along its own axis. Each component is
averaged over a box of one spacing around it (`evenly.fdtd.media.smoothing`). For components along a face, the media in
the box count; for the poles of the component across it, the position of the component counts.

Consider a face across an axis at index f. It lies between the points e - 1 and e whose middles are next to it:
e - 1/2 < f <= e + 1/2. A property of the medium on one side also counts at points on the other side:

- ε and the interface itself count at point e, and at e - 1 if f - floor(f) > 1/2;
- poles, σ and χ of the medium below the face count at point e; those of the medium above it don't reach down.

A surface at an angle with normal n meets 3/2 (|nx| + |ny| + |nz|) points per area, since the boxes of a point's
components span 3/2 spacings along each axis. This number is counted, one half on each side. It also meets
|nx| + |ny| + |nz| boxes of one spacing around nodes. The steps between samples have exactly this area, summed over
axes. If a medium is dispersive, boxes of two spacings count, twice as many: nodes there have sites
(`evenly.fdtd.media.sites`), one for each direction along the surface and one for each dispersive medium. One in two of
them also has a half site in each dispersive medium. The media's own poles don't act on the edges that sites do: per box
of two spacings, half of a point's components on each side of the surface, and half of one component more.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from evenly.decomposition.cells.fdtd.point_kinds import SIDES, Labels, component_kind, pole_kind, site_poles_kind
from evenly.fdtd.cell.grid import ELECTRIC, MAGNETIC

if TYPE_CHECKING:
    from evenly.fdtd.media.palette import Palette
    from evenly.fdtd.media.structure import Structure

__all__ = ["VALUES", "Column", "Faces", "columns_of"]

Array = NDArray[np.float64]
Flags = NDArray[np.bool_]
#: Kinds that a point may count more than once.
VALUES = ("polarised", "polarisations", "nonlinear values")


@dataclass(frozen=True)
class Column:
    """One kind of a survey: its amount per point in each medium, and its rule at interfaces.

    Parameters
    ----------
    name : str
        Name of the kind.
    amount : (media,)
        Amount of one point in each medium.
    rule : str
        How far the kind reaches past interfaces; see `Faces.reach`.
    mixed : float, (media, media), or None
        Amount of a point at an interface of two media, if it isn't that of one of them.
    unlike : (media, media) of bool, or None
        Pairs of media whose interface counts for this kind; with None, all pairs of different media.
    """

    name: str
    amount: Array
    rule: str
    mixed: float | Array | None = None
    unlike: Flags | None = None

    def beyond(self) -> Array:
        """Return the additional amount of a point of one medium (rows) that another medium (columns) reaches."""
        if self.mixed is None:
            return np.maximum(0.0, self.amount - self.amount[:, None])
        more = self.mixed - np.broadcast_to(self.amount[:, None], (len(self.amount),) * 2)
        unlike = ~np.eye(len(self.amount), dtype=bool) if self.unlike is None else self.unlike
        return np.asarray(more * unlike)


@dataclass(frozen=True)
class Faces:
    """Faces between different media, n of them.

    Attributes
    ----------
    axis : (n,) of int
        The axis across which each face lies.
    part : (n,)
        Fractional part of the grid index at which it lies.
    high : (n,) of bool
        Whether it is the high side of an object.
    flat : (n,) of bool
        Whether the object's surface is flat and perpendicular to the axis there.
    slanted : (n,) of bool
        Whether the surface makes off-diagonal elements.
    """

    axis: NDArray[np.intp]
    part: Array
    high: Flags
    flat: Flags
    slanted: Flags

    def reach(self, rule: str, *, subpixel: bool) -> tuple[Array, Array]:
        """Return how many planes of points an amount reaches past each face, above it and below it, each (n,).

        Parameters
        ----------
        rule : str
            "electric" or "magnetic" for poles, conductivities and χ; followed by 0, 1 or 2 for their values of one
            component; "instant" for ε and μ; "interface"; "nodes" or "nodes in absorbers" for off-diagonal elements;
            "sites", which aren't in absorbers.
        subpixel : bool
            Whether interfaces are averaged (subpixel smoothing).
        """
        above, below = (self._averaged if subpixel else self._plain)(rule)
        return np.asarray(above, dtype=np.float64), np.asarray(below, dtype=np.float64)

    def _averaged(self, rule: str) -> tuple[Any, Any]:
        if rule.startswith(("nodes", "sites")):
            reach = (1.0 if rule == "sites" else 0.5) * self.slanted
            return reach, reach
        # A point whose middle lies exactly on a face belongs to the object, on its high side as on its low side.
        on = self.high & (self.part == 0.5)
        if rule in ("instant", "interface"):
            return np.where(self.flat, ~on, 0.75), np.where(self.flat, (self.part > 0.5) | on, 0.75)
        # For a surface at an angle, the mean over all angles; the box of a component reaches out half a spacing.
        bent = 0.5 if rule[-1].isdigit() else 0.7
        along = self._along(rule)
        if rule.startswith("electric"):
            return np.where(self.flat, ~on & along, bent), np.where(self.flat, 0.0, bent)
        # If the face lies on a point, a component along it has a box that the face only touches.
        whole = not rule[-1].isdigit()
        early = (self.part <= 0.5) & ~on & ((self.part > 0) | whole | ~along)
        return np.where(self.flat, early, bent), np.where(self.flat, (self.part > 0.5) & along, bent)

    def _plain(self, rule: str) -> tuple[Any, Any]:
        """Return the reach without averaging: each component belongs to the medium in which it lies."""
        if rule.startswith(("nodes", "sites", "interface")):
            return 0.0 * self.part, 0.0 * self.part
        on = self.high & (self.part == 0.5)
        bent = 0.0 if rule[-1].isdigit() else 0.25
        return np.where(self.flat, (self.part <= 0.5) & ~on & self._along(rule), bent), np.where(self.flat, 0.0, bent)

    def _along(self, rule: str) -> Any:
        """Return whether the rule's component lies along each face, (n,); true for rules without a component."""
        return self.axis != int(rule[-1]) if rule[-1].isdigit() else np.ones(len(self.axis), dtype=bool)


def columns_of(structure: Structure, *, by_component: bool = False) -> list[Column]:
    """Return the columns of a survey to which a structure's media contribute."""
    columns: list[Column] = []
    for number, (side, tables) in enumerate(zip(SIDES, structure.palettes, strict=True)):
        poles = np.array(list(tables.poles.values())).reshape(len(tables.poles), len(tables.inverse), 3) != 0
        sited = _sited(tables) & structure.may_have_sites(number)
        columns += _of_side(side, tables, sited)
        columns += _of_sites(side, poles, sited, structure.grid.thin)
        polarised = _of_values("polarised", side, poles.any(axis=0))
        columns += polarised
        if by_component:
            names_of = ELECTRIC if side == "electric" else MAGNETIC
            columns += [replace(one, name=component_kind(n)) for one, n in zip(polarised, names_of, strict=True)]
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


def _sited(tables: Palette) -> Flags:
    """Return which pairs of media have sites at slanted surfaces between them, (media, media)."""
    scalar, dispersive = tables.scalar, tables.dispersive
    pairs = (scalar[:, None] & scalar) & (dispersive[:, None] | dispersive)
    return np.asarray(pairs & ~np.eye(len(scalar), dtype=bool))


def _of_sites(side: str, poles: Flags, sited: Flags, thin: Sequence[bool]) -> list[Column]:
    """Return the columns of sites between pairs of media, from poles (n_poles, media, 3): what they add and take."""
    if not sited.any():
        return []
    counted = np.asarray(poles[..., 0].sum(axis=0), dtype=np.float64)
    wide, own, acts = 3 - sum(thin), counted, np.where(counted > 0, 1.0, 0.0)
    # Along the surface, a site has the poles of both media; those across it and of half edges have those of their own.
    both = np.sum(poles[:, :, None, 0] | poles[:, None, :, 0], axis=0)
    sites, acting = (wide - 1 + 1.5 * (acts[:, None] + acts)), (wide - 1) * both + 1.5 * (own[:, None] + own)
    # What `Faces` says of poles at surfaces at an angle is taken back: that they reach out half a spacing.
    taken = [
        (name, -(wide + 0.5) * amount[:, None] - 0.5 * wide * np.maximum(0.0, amount - amount[:, None]))
        for name, amount in (("polarised", acts), ("polarisations", own))
    ]
    added = [(f"{side}_sites", sites), (site_poles_kind(side), acting), *taken]
    return [Column(name, np.zeros(len(own)), "sites", np.where(sited, amount, 0.0), sited) for name, amount in added]


def _of_side(side: str, tables: Palette, sited: Flags) -> list[Column]:
    triples = np.diagonal(tables.inverse, axis1=1, axis2=2)
    custom = np.array([one is not None for one in tables.custom])
    unlike = np.any(tables.inverse[:, None] != tables.inverse, axis=(2, 3)) | (custom[:, None] != custom)
    instant: Any = (np.any(triples != 1, axis=1) | custom).astype(np.float64)
    columns = [
        Column("dielectric" if side == "electric" else "magnetic", instant, "instant"),
        Column(f"{side}_conductivity", np.any(tables.conductivity != 0, axis=1).astype(np.float64), side),
        Column(f"{side}_anisotropic", (~tables.diagonal).astype(np.float64), "nodes", 1.0, unlike & ~sited),
        Column(f"{side}_anisotropic", np.zeros(len(sited)), "nodes in absorbers", 1.0, unlike & sited),
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
