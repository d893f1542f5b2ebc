"""Which field components exist: those that sources drive, and those that the curl and media make of them.

In two dimensions, Maxwell's equations fall into two sets that know nothing of each other: Ez, Hx, Hy and Hz, Ex, Ey if
nothing varies along z (A. Taflove and S. C. Hagness, Computational Electrodynamics, 3rd ed., ch. 3). In one dimension
they fall into Ex, Hy and Ey, Hx. Off-diagonal elements of ε or μ may join the sets. A component that nothing drives
stays zero, so it needn't be stepped.
"""

from __future__ import annotations

import itertools
from collections.abc import Collection, Iterable, Sequence
from typing import TYPE_CHECKING

from evenly.fdtd.cell.grid import COMPONENTS

if TYPE_CHECKING:
    from evenly.fdtd.media.structure import Structure

__all__ = ["Pair", "coupled", "coupled_by_sites", "face_components", "predicted", "reached"]

#: Two components of E, or of H, that off-diagonal elements of a medium couple.
Pair = tuple[str, str]
_AXES = "xyz"
_SLAB = 250_000


def reached(driven: Iterable[str], thin: Sequence[bool], pairs: Iterable[Pair] = ()) -> frozenset[str]:
    """Return the components that differ from zero sooner or later.

    Parameters
    ----------
    driven : iterable of str
        Components with currents or initial values. If there are none, the answer is all six: fields may be set later.
    thin : three bools
        Axes along which nothing varies.
    pairs : iterable of two components
        What media couple.

    Examples
    --------
    >>> sorted(reached(["Ez"], (False, False, True)))
    ['Ez', 'Hx', 'Hy']
    >>> sorted(reached(["Ez"], (False, False, True), [("Ex", "Ez")])) == sorted(COMPONENTS)
    True
    """
    found = set(driven) or set(COMPONENTS)
    links = [*_curls(thin), *pairs]
    while more := {name for link in links if found & set(link) for name in link} - found:
        found |= more
    return frozenset(found)


def predicted(structure: Structure, driven: Iterable[str]) -> tuple[frozenset[str], frozenset[str]]:
    """Return the components that a cell will step, and the fields whose off-diagonal elements couple some of them.

    Nothing is allocated. The media are sampled only where it isn't clear without them.

    Parameters
    ----------
    structure : Structure
    driven : iterable of str
        Components with currents.

    Examples
    --------
    >>> from evenly.fdtd.cell.grid import Grid
    >>> from evenly.fdtd.media.materials import Medium
    >>> from evenly.fdtd.media.structure import Structure
    >>> crystal = Medium(epsilon=2, epsilon_off_diagonal=(0.1, 0, 0))  # xy
    >>> structure = Structure(Grid((1, 1, 0), 10), material=crystal)
    >>> [sorted(found) for found in predicted(structure, ["Ez"])], sorted(predicted(structure, ["Hz"])[1])
    ([['Ez', 'Hx', 'Hy'], []], ['E'])
    """
    driven, thin = set(driven), structure.grid.thin
    if len(reached(driven, thin)) == len(COMPONENTS):
        return frozenset(COMPONENTS), frozenset("EH")
    box, pairs = structure.grid.box, set[Pair]()
    longest = max(range(3), key=lambda axis: box.shape[axis])
    for slab in box.slabs(longest, _SLAB):
        sample = structure.sample(slab)
        for name, response in (("E", sample.electric), ("H", sample.magnetic)):
            if response.off_diagonal is not None:
                pairs |= set(coupled(name, [bool(values.any()) for values in response.off_diagonal]))
            if response.sites is not None:
                pairs |= set(coupled_by_sites(name, thin))
    found = reached(driven, thin, pairs)
    return found, frozenset(a[0] for a, _ in pairs if a in found)


def coupled(name: str, elements: Iterable[bool]) -> list[Pair]:
    """Return the pairs that a medium couples.

    Parameters
    ----------
    name : "E" or "H"
    elements : three bools
        Whether elements yz, zx, xy of 1/ε (1/μ) differ from zero anywhere.

    Examples
    --------
    >>> coupled("H", [False, False, True])
    [('Hx', 'Hy')]
    """
    pairs = (("y", "z"), ("z", "x"), ("x", "y"))
    return [(name + a, name + b) for there, (a, b) in zip(elements, pairs, strict=True) if there]


def coupled_by_sites(name: str, thin: Sequence[bool]) -> list[Pair]:
    """Return the pairs that slanted surfaces of dispersive media couple (see `evenly.fdtd.media.sites`).

    Examples
    --------
    >>> coupled_by_sites("E", (False, False, True))
    [('Ex', 'Ey')]
    """
    return coupled(name, [not (thin[(axis + 1) % 3] or thin[(axis + 2) % 3]) for axis in range(3)])


def face_components(stepped: Collection[str], thin: Sequence[bool]) -> float:
    """Return how many components of E, and of H, lie along a face between two chunks: 2 if all are stepped.

    Examples
    --------
    >>> face_components(["Ez", "Hx", "Hy"], (False, False, True))
    1.0
    """
    axes = [axis for axis, one in zip(_AXES, thin, strict=True) if not one]
    return sum(name[1] != axis for name in stepped for axis in axes) / (2 * len(axes)) if axes else 2.0


def _curls(thin: Sequence[bool]) -> list[Pair]:
    """Return the components of E and H that derivatives along the axes, thin ones left out, couple."""
    turns = itertools.permutations(range(3), 2)
    return [(f"E{_AXES[a]}", f"H{_AXES[b]}") for a, b in turns if not thin[3 - a - b]]
