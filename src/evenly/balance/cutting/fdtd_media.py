"""What the media of a structure bring into a survey, per medium, and how far it reaches past an interface.

A grid point has three components of E, half a spacing from its index along one axis each, and each is averaged over
the box of one spacing around it. So what fills a half space counts at points beyond its face. A face across an axis at
index f (a fraction), with e = ceil(f - 1/2) the first index whose box's middle lies above it, makes

========================  =======================  =====================================
at the points             of index e               of index e - 1, if f - floor(f) > 1/2
========================  =======================  =====================================
ε, interface              both media               both media
poles, σ, χ               both media               the medium below only
========================  =======================  =====================================

as `evenly.fdtd.media.smoothing` averages. A surface at an angle meets 3/2 (|nx| + |ny| + |nz|) points per area (their
components' boxes span 3/2 spacings along each axis), and that many is what is counted, one half on each side; and one
box of one spacing around each node, |nx| + |ny| + |nz|. Steps between samples have just this area, summed over axes.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from evenly.balance.cutting.fdtd_kinds import SIDES, Labels, pole_kind

if TYPE_CHECKING:
    from evenly.fdtd.media.palette import Palette
    from evenly.fdtd.media.structure import Structure

__all__ = ["Column", "Reach", "columns_of", "reach_of"]

Array = NDArray[np.float64]
Flags = NDArray[np.bool_]


@dataclass(frozen=True)
class Column:
    """One kind of a survey.

    Parameters
    ----------
    name : str
    amount : (media,)
        Of one point in each medium.
    rule : str
        How it goes on past interfaces: a name of `reach_of`, or "".
    mixed : float or None
        What a point at an interface has, where that doesn't depend on the media.
    unlike : (media, media) of bool, or None
        Which media differ in what matters at an interface; those of another amount where left out.
    """

    name: str
    amount: Array
    rule: str = ""
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
class Reach:
    """How many planes of points past a face an amount goes on, above it and below it.

    Parameters
    ----------
    above, below : (n,)
        Per face.
    """

    above: Array
    below: Array


def reach_of(rule: str, part: Array, flat: Flags, slanted: Flags, *, subpixel: bool) -> Reach:
    """Return how far amounts reach past faces.

    Parameters
    ----------
    rule : str
        "electric", "electric values", "magnetic", "magnetic values": what poles, conductivities and χ do, by point and
        by component; "instant": ε and μ; "interface"; "nodes": off-diagonal elements.
    part : (n,)
        Fraction of the index at which each face lies.
    flat : (n,) of bool
        Whether the face is across an axis.
    slanted : (n,) of bool
        Whether it makes off-diagonal elements.
    subpixel : bool
        Whether interfaces are averaged.
    """
    above, below = _averaged(rule, part, flat, slanted) if subpixel else _plain(rule, part, flat)
    return Reach(np.asarray(above, dtype=np.float64), np.asarray(below, dtype=np.float64))


def _averaged(rule: str, part: Array, flat: Flags, slanted: Flags) -> tuple[Any, Any]:
    late = part > 0.5
    if rule == "nodes":
        return 0.5 * slanted, 0.5 * slanted
    if rule in ("instant", "interface"):
        return np.where(flat, 1.0, 0.75), np.where(flat, late, 0.75)
    # Of a surface at an angle (the mean over all angles); components' own boxes reach half a spacing out.
    share, bent = (2 / 3, 0.5) if rule.endswith("values") else (1.0, 0.65)
    if rule.startswith("electric"):
        return np.where(flat, share, bent), np.where(flat, 0.0, bent)
    early = (part > 0) & (part <= 0.5)
    return np.where(flat, share * early, bent), np.where(flat, share * late, bent)


def _plain(rule: str, part: Array, flat: Flags) -> tuple[Any, Any]:
    """Return the same without averaging: components are of the medium that they lie in."""
    if rule in ("nodes", "interface"):
        return 0.0 * part, 0.0 * part
    share, bent = (2 / 3, 0.0) if rule.endswith("values") else (1.0, 0.25)
    return np.where(flat, share * (part <= 0.5), bent), np.where(flat, 0.0, bent)


def columns_of(structure: Structure) -> list[Column]:
    """Return the kinds that a structure's media can make."""
    columns: list[Column] = []
    values: dict[str, Array] = {}
    for side, tables in zip(SIDES, structure.palettes, strict=True):
        columns += _of_side(side, tables)
        poles = np.array(list(tables.poles.values())).reshape(len(tables.poles), len(tables.inverse), 3) != 0
        values[f"{side} polarised"] = np.asarray(poles.any(axis=0).sum(axis=1), dtype=np.float64)
        values[f"{side} polarisations"] = np.asarray(poles.sum(axis=(0, 2)), dtype=np.float64)
        names: dict[str, Array] = {}
        for pole, one in zip(tables.poles, poles, strict=True):
            name = pole_kind(pole, side)
            names[name] = names.get(name, 0.0) + one.any(axis=1).astype(np.float64)
        columns += [Column(name, amount, side) for name, amount in names.items()]
    for what in ("polarised", "polarisations"):
        columns += [Column(what, values[f"{side} {what}"], f"{side} values") for side in SIDES]
    electric = structure.palettes[0]
    bent = (electric.chi2 != 0) | (electric.chi3 != 0)
    columns.append(Column("nonlinear", bent.any(axis=1).astype(np.float64), "electric"))
    columns.append(Column("nonlinear values", bent.sum(axis=1).astype(np.float64), "electric values"))
    active = any(not tables.plain or tables.extras for tables in structure.palettes)
    media = len(electric.inverse)
    columns.append(Column("interface", np.zeros(media), "interface", 1.0 if active and structure.subpixel else None))
    return [one for one in columns if one.beyond().any() or one.amount.any()]


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
