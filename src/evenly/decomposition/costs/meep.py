"""The terms of Meep's work, and their amounts in the chunks of a cell.

Meep sweeps whole arrays. So most of a chunk's cost depends on which features are *present* in the chunk, not on the
number of points that have them: one nonlinear point makes every point of its chunk nonlinear. A pole that occurs
anywhere in the cell is kept, subtracted from D and copied over borders by every chunk, but only the chunks in which it
occurs drive it. Arrays reach one point beyond the upper sides of a chunk, at a periodic side into the next period. All
of this is done for each stepped component: in a plane, light of Ez has one component of E and two of H, light of Hz the
reverse. Every chunk also copies its borders row by row, also to chunks of the same rank. (`evenly calibrate meep`
measures these costs; ``benchmarks/cost_meep.py`` measures the errors of the predictions.)

>>> from evenly.decomposition.cells.cell import Cell
>>> from evenly.decomposition.cells.pieces import pieces_of
>>> from evenly.decomposition.cells.survey import Survey
>>> from evenly.fdtd.cell.grid import Grid
>>> edges = ((0, 1, 8), (0, 4), (0, 4))
>>> survey = Survey.of_blocks(edges, ("nonlinear",), np.array([16.0, 0.0]).reshape(2, 1, 1, 1))
>>> cell = Cell("meep", Grid((8, 4, 4), 1), survey, layers_apart=("pml",))
>>> halves = pieces_of(cell, [[0, 0, 0], [4, 0, 0]], [[4, 4, 4], [8, 4, 4]])
>>> names = [term.name for term in Meep.terms]
>>> Meep().amounts(halves)[:, names.index("nonlinear points")].tolist()
[64.0, 0.0]
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evenly.decomposition.cells.pieces import Pieces
from evenly.decomposition.costs.terms import Program, Term
from evenly.fdtd.cell.grid import ELECTRIC, MAGNETIC

__all__ = ["POLE_WORK", "Meep"]

Array = NDArray[np.float64]
Ints = NDArray[np.int64]
Flags = NDArray[np.bool_]
#: Mean share of the components whose arrays hold a feature that begins in the layer of points just above a chunk. It is
#: one of three components if the feature begins between a node and the middle of its edge, else all.
BEYOND = 2 / 3
#: Bytes of a leaf's chunks that a core's own caches still hold at the next step.
CACHE = 3e6
#: Bytes of a leaf's chunks above which the last cache no longer holds all; at three times as many, all come from
#: memory. Caches differ from machine to machine: both were chosen for a processor with 2 MB for each core.
LAST_CACHE = 40e6
#: Numbers that each stepped component holds for each point, and how many of them its loops read and write in a step.
#: Each component has loops of its own, so both components of H are read for each one of D.
HELD = {
    "electric": 3,  # E, D, 1/ε
    "magnetic": 1,  # H, which is B
    "apart": 2,  # B apart from H, 1/μ
    "any pole": 1,  # D without its polarisations
    "pole kept": 2,  # P at two time steps
    "pole driven": 1,  # the strength of the pole
    "conductive": 2,  # two factors of the losses
    "PML": 2,  # integrals of E and D
    "nonlinear": 1,  # χ
}
MOVED = {
    "electric": 8,  # of D: D twice, two of H; of E: E twice, D, 1/ε
    "magnetic": 4,  # B twice, two of E
    "apart": 3,  # H, B, 1/μ
    "any pole": 2,
    "pole kept": 1,  # P is subtracted from D
    "pole driven": 5,  # P at two time steps, one of them twice; E, the strength
    "conductive": 2,
    "PML": 6,
    "nonlinear": 1,
}
#: Bytes of a Fourier transformed value and frequency; each is read and written.
TRANSFORM = 16
#: How many times each kind of pole drives its points, by the kind's name: with the shipped costs, a step then takes as
#: many ns more per point as `benchmarks/meep_poles.py` prints (docs/benchmarks.md). Only this part of the work grows:
#: bytes count once, since computing takes most of the time.
POLE_WORK = {"Gyrotropic": 8.0, "Noisy": 40.0}
SIDES = ("electric", "magnetic")
COMPONENTS = {"electric": ELECTRIC, "magnetic": MAGNETIC}
OFF_DIAGONAL = ("off-diagonal xy", "off-diagonal xz", "off-diagonal yz")
#: The kind of the points at which a pole acts on a component, with the component's name.
POLARISED = "polarised {}"


class Meep(Program):
    """Meep 1.2x.

    The kinds of points that it uses in a survey are ``"magnetic"``, ``"electric_conductivity"``,
    ``"magnetic_conductivity"``, ``"nonlinear"``, ``"off-diagonal xy"`` (``xz``, ``yz``), ``"magnetic_anisotropic"``,
    ``"pole …"``, ``"pole magnetic …"`` and ``"polarised Ex"`` (…, ``"polarised Hz"``). Absorbers are taken from the
    cell, since Meep makes no separate chunks for them. The cell's traits ``"Ex"`` … ``"Hz"`` are 1 for the components
    that are stepped, else 0. Without them all are stepped. In cylindrical cells, the trait ``"cylindrical"`` is 1, and
    ``"turning"`` too if m isn't 0: their curls take more sweeps over all points (``step_db.cpp`` in Meep).
    """

    name = "meep"
    terms = (
        Term("points", about="curl of every component, in three dimensions"),
        Term("points of planes", about="the same in one and two dimensions"),
        Term("E points of planes", about="points of components of E there, which are computed from D"),
        Term("points around", about="points of cylindrical cells, whose curls have sums over r"),
        Term("turning points", about="points of cylindrical cells with an m other than 0"),
        Term("rows", "row", "rows of points along the last axis: where loops begin"),
        Term("processes", "process", "what is done whatever a process holds; one for every leaf of a layout"),
        Term("chunks", "chunk", "chunks, those of PMLs included"),
        Term("neighbour chunks", "pair", "chunks that share a face, an edge or a corner"),
        Term("far neighbours", "pair", "those in leaves that a core's own caches don't hold"),
        Term("faces copied", "face", "faces of points between chunks, across the first axes"),
        Term("row ends copied", "face", "faces of points between chunks, across the last axis"),
        Term("far row ends", "face", "those in leaves that a core's own caches don't hold"),
        Term("own faces", "face", "faces of points that a chunk copies from itself, over periodic sides"),
        Term("faces of B", "face", "faces between chunks of which one keeps B apart from H"),
        Term("PML 1d points"),
        Term("PML 2d points"),
        Term("PML 3d points"),
        Term("magnetic points", about="points of chunks with a permeability"),
        Term("off-diagonal points", about="points of chunks times pairs of axes that some permittivity couples"),
        Term("conductive points", about="points of chunks with a conductivity or an absorber, of E and of H"),
        Term("nonlinear points", about="points of chunks with χ2 or χ3"),
        Term("polarised points", about="points of all chunks where the cell has a pole"),
        Term("poles kept", about="points of all chunks times poles of the cell"),
        Term("poles driven", about="points of chunks times the poles in them"),
        Term("pole faces", "face", "faces of points between chunks times poles of the cell"),
        Term("own pole faces", "face", "faces that a chunk copies from itself times poles of the cell"),
        Term("pole neighbours", "pair", "neighbouring chunks where the cell has a pole"),
        Term("transforms", "transform", "monitor regions in the chunk times components, per step"),
        Term("transformed values", "value", "values that are Fourier transformed"),
        Term("transformed products", "product", "those times their frequencies"),
        Term("uncached bytes", "byte", "bytes that a step reads and writes beyond what a core's own caches hold"),
        Term("memory bytes", "byte", "those that the last cache doesn't hold"),
    )

    def amounts(self, pieces: Pieces) -> Array:
        """Return how much of each term each piece has, (n, terms)."""
        return self._amounts(_Chunks(pieces))

    def spread_amounts(self, pieces: Pieces) -> Array:
        return self._amounts(_Chunks(pieces, reach=0))

    def _amounts(self, chunks: _Chunks) -> Array:
        pieces, volume, faces = chunks.pieces, chunks.volume, chunks.faces
        kept, in_layers = chunks.kept_poles, pieces.pml.sum(axis=1)
        processes = np.zeros(len(volume))
        processes[np.unique(pieces.box, return_index=True)[1]] = 1.0
        neighbours = chunks.neighbours()
        keeps_b = chunks.present("magnetic") | pieces.pml.any(axis=1)
        planes = volume * (not chunks.thick.all())
        held, moved = chunks.bytes()
        # A process steps all of its chunks before it returns to the first, so the caches must hold all of them.
        of_leaf = np.maximum(1.0, np.bincount(pieces.box, held)[pieces.box])
        uncached = np.maximum(0, 1 - CACHE / of_leaf)
        # These amounts are multiplied by the share of the components that are stepped.
        per_component: dict[str, Any] = {
            "points": volume * chunks.thick.all(),
            "points of planes": planes,
            "points around": planes * pieces.cell.traits.get("cylindrical", 0.0),
            "turning points": planes * pieces.cell.traits.get("turning", 0.0),
            "rows": volume / np.maximum(1, pieces.shape[:, chunks.last]),
            "faces copied": faces.sum(axis=1) - faces[:, chunks.last],
            "row ends copied": faces[:, chunks.last],
            "far row ends": faces[:, chunks.last] * uncached,
            "own faces": chunks.own_faces,
            "faces of B": chunks.copied.sum(axis=1) * keeps_b,
            **{f"PML {n}d points": volume * (in_layers == n) for n in (1, 2, 3)},
        }
        # These depend on the stepped components of E, or of H, alone.
        per_side: dict[str, Any] = {
            "E points of planes": planes * chunks.stepped["electric"],
            "magnetic points": volume * chunks.share("magnetic") * chunks.stepped["magnetic"],
            "off-diagonal points": volume * chunks.off_diagonal(),
            "conductive points": volume * chunks.conductive(),
            "nonlinear points": volume * chunks.share("nonlinear") * chunks.squares,
            "polarised points": chunks.arrays * sum(chunks.stepped[side] for side in SIDES if chunks.poles[side]),
            "poles kept": chunks.arrays * kept,
            "poles driven": volume * chunks.driven(_work),
            "pole faces": faces.sum(axis=1) * kept,
            "own pole faces": chunks.own_faces * kept,
        }
        values, products = pieces.transforms
        once = {
            "processes": processes,
            "chunks": np.ones_like(volume),
            "neighbour chunks": neighbours,
            "far neighbours": neighbours * uncached,
            "pole neighbours": neighbours * bool(kept),
            "transforms": chunks.regions(),
            "transformed values": values,
            "transformed products": products,
            "uncached bytes": moved * uncached,
            "memory bytes": moved * np.clip((of_leaf / LAST_CACHE - 1) / 2, 0, 1),
        }
        # A piece of no points has nothing.
        there = (volume > 0).astype(float)
        parts = there * pieces.cell.parts
        share = sum(chunks.stepped.values()) / len(SIDES)
        columns = {name: column * (parts * share) for name, column in per_component.items()}
        columns |= {name: column * parts for name, column in per_side.items()}
        columns |= {name: column * there for name, column in once.items()}
        return np.stack([columns[term.name] for term in self.terms], axis=1)


@dataclass(frozen=True)
class _Chunks:
    """Pieces as Meep steps them; a chunk's arrays reach `reach` points beyond its upper sides."""

    pieces: Pieces
    reach: int = 1

    @property
    def volume(self) -> Array:
        return self.pieces.volume

    @cached_property
    def stepped_axes(self) -> dict[str, tuple[int, ...]]:
        """Axes of the components of E and of H that are stepped."""
        traits = self.pieces.cell.traits
        return {
            side: tuple(axis for axis, name in enumerate(names) if traits.get(name, 1.0))
            for side, names in COMPONENTS.items()
        }

    @property
    def stepped(self) -> dict[str, float]:
        """Share of the three components of E and of H that are stepped."""
        return {side: len(axes) / 3 for side, axes in self.stepped_axes.items()}

    @property
    def thick(self) -> Flags:
        return ~np.asarray(self.pieces.cell.grid.thin)

    @property
    def last(self) -> int:
        """The axis along which points are contiguous in memory."""
        return int(np.flatnonzero(self.thick)[-1]) if self.thick.any() else 2

    @property
    def squares(self) -> float:
        """Work of a nonlinear medium for the stepped components of E, relative to three.

        A component needs |D|² at its points. About half of its work are the means of the other components there.
        """
        count = len(self.stepped_axes["electric"])
        return count * (1 + (count - 1) / 2) / 6

    @cached_property
    def held(self) -> Array:
        """Points of each kind in each chunk's arrays, (n, kinds).

        At the high side of a periodic cell, arrays reach into the next period. Its points are those of the low side.
        """
        cell = self.pieces.cell
        low, high = self.pieces.low, np.minimum(self.pieces.high + self.reach, cell.grid.shape)
        found = cell.survey.counts(low, high)
        beyond = (self.pieces.high + self.reach > cell.grid.shape) & np.asarray(cell.periodic) & self.thick
        for axes in _subsets(np.flatnonzero(beyond.any(axis=0)).tolist()):
            there = np.flatnonzero(beyond[:, axes].all(axis=1))
            image_low, image_high = low[there], high[there]
            image_low[:, axes], image_high[:, axes] = 0, self.reach
            found[there] += cell.survey.counts(image_low, image_high)
        return found

    def present(self, kind: str) -> Flags:
        """Return whether each chunk's arrays have any point of a kind, (n,)."""
        return np.asarray(self.pieces.cell.column(self.held, kind) > 0.5)

    def share(self, kind: str) -> Array:
        """Return the share of the components for which a kind is present in each chunk's arrays, (n,)."""
        inside = self.pieces.count(kind) > 0.5
        return np.where(inside, 1.0, BEYOND * self.present(kind))

    @cached_property
    def sides(self) -> Ints:
        """Number of sides along each axis at which points are copied from a chunk, (n, 3)."""
        cell, low, high = self.pieces.cell, self.pieces.low, self.pieces.high
        inside = (low > 0).astype(np.int64) + (high < np.asarray(cell.grid.shape))
        # A chunk that spans a periodic axis copies from itself.
        return np.asarray(np.where(cell.periodic, 2, inside) * self.thick)

    @cached_property
    def spans(self) -> Flags:
        """Whether a chunk is its own neighbour along each axis, (n, 3)."""
        return np.asarray((self.pieces.shape == np.asarray(self.pieces.cell.grid.shape)) & (self.sides == 2))

    @cached_property
    def copied(self) -> Array:
        """Faces of points across each axis that are copied, (n, 3)."""
        return np.asarray(self.sides * (self.volume[:, None] / np.maximum(1, self.pieces.shape)))

    @property
    def faces(self) -> Array:
        """Faces of points across each axis that are copied to other chunks, (n, 3)."""
        return np.asarray(self.copied * ~self.spans)

    @property
    def own_faces(self) -> Array:
        """Faces of points that a chunk copies from itself, (n,)."""
        return np.asarray((self.copied * self.spans).sum(axis=1))

    @cached_property
    def poles(self) -> dict[str, tuple[str, ...]]:
        """Kinds of the poles of E and of H that occur anywhere in the cell."""
        totals = self.pieces.cell.survey.totals
        found = [kind for kind, points in totals.items() if kind.startswith("pole ") and points > 0.5]
        magnetic = tuple(kind for kind in found if kind.startswith("pole magnetic "))
        return {"electric": tuple(kind for kind in found if kind not in magnetic), "magnetic": magnetic}

    @property
    def kept_poles(self) -> float:
        """Number of poles that every chunk keeps; a pole counts by its share of three components that are stepped."""
        return sum(len(self.poles[side]) * self.stepped[side] for side in SIDES)

    def driven(self, work: Callable[[str], float] = lambda _kind: 1.0) -> Array:
        """Return the number of poles that act in each chunk's arrays, counted by components as `kept_poles`, (n,).

        `work` returns how often a pole counts.
        """
        found = np.zeros(len(self.volume))
        for side in (side for side in SIDES if self.poles[side]):
            kinds = [POLARISED.format(COMPONENTS[side][axis]) for axis in self.stepped_axes[side]]
            if set(kinds) <= set(self.pieces.cell.survey.kinds):
                acting = sum((self.present(kind) for kind in kinds), np.zeros(len(found))) / 3
                found += acting * sum(work(pole) * self.present(pole) for pole in self.poles[side])
            else:
                # If components aren't known, a mean over them counts.
                found += self.stepped[side] * sum(work(pole) * self.share(pole) for pole in self.poles[side])
        return found

    @property
    def arrays(self) -> Array:
        """Points of each chunk's arrays, (n,)."""
        return np.asarray(np.prod(self.pieces.shape + self.reach * self.thick, axis=1), dtype=np.float64)

    def neighbours(self) -> Array:
        """Return the number of neighbours of each chunk, as if all chunks formed a regular lattice, (n,)."""
        shape, whole = self.pieces.shape, np.asarray(self.pieces.cell.grid.shape)
        # If there are only two chunks along a periodic axis, the neighbours on both sides are the same chunk.
        twice = np.asarray(self.pieces.cell.periodic) & (2 * shape >= whole) & self.thick
        around = np.prod(1 + np.where(self.spans, 0, np.where(twice, 1, self.sides)), axis=1) - 1
        return np.asarray(around + self.spans.any(axis=1), dtype=np.float64)

    def off_diagonal(self) -> Array:
        """Return the number of pairs of axes that each chunk's permittivity or permeability couples, (n,)."""
        pairs = {side: [kind for kind in OFF_DIAGONAL if self._steps(side, kind[-2:])] for side in SIDES}
        known = any(kind in self.pieces.cell.survey.kinds for kind in OFF_DIAGONAL)
        # If the coupled pairs aren't known, all count.
        electric = [self.share(kind if known else "electric_anisotropic") for kind in pairs["electric"]]
        magnetic = [self.share("magnetic_anisotropic") for _ in pairs["magnetic"]]
        return np.asarray(np.sum([np.zeros(len(self.volume)), *electric, *magnetic], axis=0))

    def _steps(self, side: str, pair: str) -> bool:
        """Return whether both components of a pair of axes, such as "xy", are stepped."""
        return {"xyz".index(axis) for axis in pair} <= set(self.stepped_axes[side])

    def conductive(self) -> Array:
        """Return the number of fields (of E and H) with a conductivity in each chunk, by media or absorbers, (n,).

        A field counts by its share of three components that are stepped.
        """
        return np.asarray(np.sum([self.losses(side) * self.stepped[side] for side in SIDES], axis=0))

    def losses(self, side: str) -> Array:
        """Return the share of the components of E, or of H, with a conductivity in each chunk, (n,)."""
        shape = np.asarray(self.pieces.cell.grid.shape)
        low, high = np.asarray(self.pieces.cell.absorber).T
        ends = (self.pieces.low < low) | ((self.pieces.high >= shape - high) & (high > 0))
        return np.asarray(np.maximum(self.share(f"{side}_conductivity"), ends.any(axis=1)))

    def bytes(self) -> tuple[Array, Array]:
        """Return the bytes that each chunk holds, and those that a step reads and writes there, each (n,)."""
        in_pml = np.asarray(self.pieces.pml.any(axis=1), dtype=np.float64)
        none = np.zeros(len(in_pml))
        # Components with each feature, by what they hold and move of it.
        counts = dict.fromkeys(HELD, none) | {"pole driven": 3 * self.driven()}
        counts["nonlinear"] = len(self.stepped_axes["electric"]) * self.share("nonlinear")
        for side, axes in self.stepped_axes.items():
            found = {
                side: none + 1,
                "any pole": none + bool(self.poles[side]),
                "pole kept": none + len(self.poles[side]),
                "conductive": self.losses(side),
                "PML": in_pml,
                **({"apart": np.maximum(self.share("magnetic"), in_pml)} if side == "magnetic" else {}),
            }
            counts |= {name: counts[name] + len(axes) * share for name, share in found.items()}
        each = 8.0 * self.pieces.cell.parts * self.arrays
        held, moved = (each * sum(kinds[name] * count for name, count in counts.items()) for kinds in (HELD, MOVED))
        products = TRANSFORM * self.pieces.transforms[1]
        return np.asarray(held + products), np.asarray(moved + 2 * products)

    def regions(self) -> Array:
        """Return the number of components that each chunk transforms, summed over regions, (n,)."""
        found = np.zeros(len(self.volume))
        for transform in self.pieces.cell.transforms:
            across = np.minimum(self.pieces.high, transform.high) - np.maximum(self.pieces.low, transform.low)
            found += np.all(across > 0, axis=1) * transform.values
        return found


def _work(kind: str) -> float:
    """Return how many times a pole's work a kind of pole drives its points.

    Examples
    --------
    >>> _work("pole magnetic Gyrotropic 1 (0.1)"), _work("pole Lorentz 1 (0.1)")
    (8.0, 1.0)
    """
    return next((work for name, work in POLE_WORK.items() if f" {name} " in kind), 1.0)


def _subsets(axes: Sequence[int]) -> list[list[int]]:
    """Return all sets of axes but the empty one.

    Examples
    --------
    >>> _subsets([0, 2])
    [[0], [2], [0, 2]]
    """
    return [list(some) for n in range(1, len(axes) + 1) for some in itertools.combinations(axes, n)]
