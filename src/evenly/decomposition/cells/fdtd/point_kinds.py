"""The kinds of grid points that the survey of a simulation counts.

They are the kinds of `evenly.fdtd.counting.counts.Counts`, each pole, and further kinds that the work of a chunk
depends on:

``"polarised"``, ``"polarisations"``
    Pairs of a point and a component at which a pole acts, and these pairs times the poles there: a chunk updates
    polarisations component by component. Where sites act, they have the poles.
``"polarised Ex"`` …
    Points at which a pole acts on one component; only where they are asked for (`by_component`).
``"nonlinear values"``
    Pairs of a point and a component with χ2 or χ3.
``"electric site polarisations"``, ``"magnetic site polarisations"``
    Sites (see `evenly.fdtd.media.sites`) times the poles there.
``"electric label"``, ``"magnetic label"``, and ``"… label squared"``
    Sums of a label, a number that is the same for points with the same instantaneous response, and of its square.
    `varied` tells by them whether a chunk needs coefficients point by point.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable
from functools import reduce
from operator import or_
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from evenly.decomposition.cells.pieces import Pieces
from evenly.fdtd.cell.grid import COMPONENTS
from evenly.fdtd.counting.chunk_counts import pole_name
from evenly.fdtd.counting.counts import masks, site_numbers

if TYPE_CHECKING:
    from evenly.fdtd.cell.box import Box
    from evenly.fdtd.media.materials import Pole
    from evenly.fdtd.media.palette import Palette
    from evenly.fdtd.media.structure import Response, Sample, Structure

__all__ = ["MASKS", "SIDES", "Labels", "PointKinds", "component_kind", "pole_kind", "site_poles_kind", "varied"]

Digit = Any  # int, or an array of ints of a box's shape.
SIDES = ("electric", "magnetic")
#: Kinds of `Counts` that depend on the media, in the order of a survey.
MASKS = (
    "dielectric",
    "magnetic",
    "electric_conductivity",
    "magnetic_conductivity",
    "electric_anisotropic",
    "magnetic_anisotropic",
    "electric_sites",
    "magnetic_sites",
    "nonlinear",
    "interface",
)


def pole_kind(pole: Pole, side: str) -> str:
    """Return the name of the kind of a pole's points in a survey.

    Examples
    --------
    >>> from evenly.fdtd.media.materials import LorentzPole
    >>> pole_kind(LorentzPole(0.5, 0.1), "magnetic")
    'pole magnetic Lorentz 0.5 (0.1)'
    """
    return f"pole {'magnetic ' if side == 'magnetic' else ''}{pole_name(pole)}"


def component_kind(component: str) -> str:
    """Return the name of the kind of the points at which a pole acts on a component.

    Examples
    --------
    >>> component_kind("Ex")
    'polarised Ex'
    """
    return f"polarised {component}"


def site_poles_kind(side: str) -> str:
    """Return the name of the kind of the poles at sites.

    Examples
    --------
    >>> site_poles_kind("electric")
    'electric site polarisations'
    """
    return f"{side} site polarisations"


def varied(pieces: Pieces, side: str = "electric") -> NDArray[np.bool_]:
    """Return whether the instantaneous response differs between points of each piece, (n,).

    Parameters
    ----------
    pieces : Pieces
        Pieces of a cell that was made by `cell_of`.
    side : "electric" or "magnetic"
    """
    first, second = pieces.count(f"{side} label"), pieces.count(f"{side} label squared")
    # For whole numbers l, n Σl² - (Σl)² is 0 if all are the same, and at least n - 1 if two differ.
    return np.asarray(pieces.volume * second - first * first > 0.5 * (pieces.volume - 1) * (pieces.volume > 1))


class Labels:
    """Labels (numbers) of the instantaneous responses of a palette's media.

    Parameters
    ----------
    tables : Palette

    Attributes
    ----------
    of_medium : (media,) of int
        Label of each medium; `mixed` for materials given point by point.
    mixed : int
        Label of points of no single medium. If there are materials given point by point, such points get `mixed` and
        `mixed` + 1 in turns.
    one : bool
        Whether all points share one response.
    """

    def __init__(self, tables: Palette) -> None:
        triples = np.diagonal(tables.inverse, axis1=1, axis2=2)
        self.fixed = not any(tables.custom)
        fixed = np.array([custom is None for custom in tables.custom])
        self._keys = np.unique(_key(*triples[fixed].T)) if fixed.any() else np.zeros(1)
        self.mixed = len(self._keys)
        found = np.searchsorted(self._keys, _key(*triples.T))
        self.of_medium = np.where(fixed, found, self.mixed).astype(np.int64)
        self.one = self.mixed == 1 and self.fixed

    def at(self, response: Response, box: Box) -> Digit:
        """Return the label of each point of a box."""
        key = _key(*response.inverse)
        place = np.minimum(np.searchsorted(self._keys, key), self.mixed - 1)
        known = self._keys[place] == key
        if np.all(known):
            return place
        if self.fixed:
            return np.where(known, place, self.mixed)
        x, y, z = np.ogrid[tuple(slice(a, b) for a, b in zip(box.lo, box.hi, strict=True))]
        return np.where(known, place, self.mixed + (x + y + z) % 2)


class PointKinds:
    """Computes the kinds of every point of a structure, as small whole numbers.

    Parameters
    ----------
    structure : Structure
    by_component : bool
        Whether the points with a pole are also counted for each component alone.

    Attributes
    ----------
    limits : dict of str to int
        Name of each kind, and one past its largest value at a point.
    """

    def __init__(self, structure: Structure, *, by_component: bool = False) -> None:
        self.structure = structure
        self.limits: dict[str, int] = dict.fromkeys(MASKS, 2)
        self.labels: dict[str, Labels] = {}
        values = 0
        for number, (side, tables) in enumerate(zip(SIDES, structure.palettes, strict=True)):
            for pole in tables.poles:
                name = pole_kind(pole, side)
                self.limits[name] = self.limits.get(name, 1) + 1
                values += 3
            if structure.may_have_sites(number):
                # Three directions, halves of three edges, and the parts of all media.
                most = 6 + len(tables.inverse)
                self.limits |= {f"{side}_sites": most + 1, site_poles_kind(side): most * len(tables.poles) + 1}
            labels = Labels(tables)
            if not labels.one:
                self.labels[side] = labels
                self.limits[f"{side} label"] = labels.mixed + 2
        if values:
            self.limits |= {"polarised": 7, "polarisations": values + 1}
            self.limits |= dict.fromkeys(map(component_kind, COMPONENTS), 2) if by_component else {}
        self.limits["nonlinear values"] = 4

    def of(self, sample: Sample) -> dict[str, Digit]:
        """Return the value of each kind at the points of a sample; a kind that is left out is 0 everywhere."""
        found = masks(self.structure, sample)
        digits: dict[str, Digit] = {name: found[name] for name in MASKS}
        # For each side and component: where each pole acts. A pole's strength is an array, a number, or None.
        acting: list[list[Any]] = []
        for side, response in zip(SIDES, (sample.electric, sample.magnetic), strict=True):
            of_poles: Any = found[f"{side}_poles"]
            for pole, mask in of_poles.items():
                name = pole_kind(pole, side)
                digits[name] = _total([digits.get(name, 0), mask])
            apart = [True] * 3 if response.sites is None else [ends == 0 for ends in response.sites.ends]
            strengths = response.poles.values()
            acting += [[(v[a] != 0) & apart[a] for v in strengths if v[a] is not None] for a in range(3)]
            digits[site_poles_kind(side)] = site_numbers(response, sample.box, poles=True)
            if side in self.labels:
                digits[f"{side} label"] = self.labels[side].at(response, sample.box)
        polarised = [reduce(or_, masks_of_one, False) for masks_of_one in acting]
        digits["polarised"] = _total(polarised)
        digits |= dict(zip(map(component_kind, COMPONENTS), polarised, strict=True))
        digits["polarisations"] = _total(itertools.chain.from_iterable(acting))
        chis = [chi for chi in (sample.electric.chi2, sample.electric.chi3) if chi is not None]
        digits["nonlinear values"] = _total(reduce(or_, (chi[axis] != 0 for chi in chis), False) for axis in range(3))
        return {name: value for name, value in digits.items() if name in self.limits}


def _key(x: Any, y: Any, z: Any) -> Any:
    # One number encodes three, by weights that no ratio of permittivities is equal to.
    return np.asarray(x) + np.asarray(y) * 1.7320508075688772 + np.asarray(z) * 3.605551275463989


def _total(masks: Iterable[Any]) -> Digit:
    """Return how many of the masks are true at each point; a scalar mask counts at all points."""
    return sum((np.asarray(mask, np.int64) for mask in masks), start=0)
