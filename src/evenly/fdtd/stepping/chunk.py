"""A box of the cell with its fields, stepped on its own except for one layer of ghost points around it.

What a chunk holds depends on what is in it: a vacuum chunk has six arrays and nothing else. Layers, conductivity,
poles, off-diagonal media and nonlinearity bring their own arrays only where they are, point by point where that
pays (see `coefficients`).

Order of one step of Yee's scheme (K. S. Yee, IEEE Trans. Antennas Propag. 14, 302 (1966)), with E at n·dt and H at
(n + ½)·dt (`Stepper` drives it over all chunks):

1. What acts on E by increments: polarisations, currents, off-diagonal media.
2. `sweep("early")`: E at the faces that other ranks wait for; `sweep("main")`: the rest of E, and H as far as it can
   follow.
3. Nonlinear media, which need all of E. Then E's ghosts are exchanged.
4. The same as 1 for magnetic media. 5. `sweep("late")`: the rest of H. Then H's ghosts are exchanged.

The sweep computes E ← a E + c curl H and H ← a H - c curl E with a = (1 - s)/(1 + s), c = (dt/dx)/(ε (1 + s)) and
s = σ dt/2, per component (A. Taflove and S. C. Hagness, Computational Electrodynamics, 3rd ed., ch. 3); H has μ and
σ* in their places.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from evenly.fdtd.cell.box import Box
from evenly.fdtd.cell.grid import COMPONENTS
from evenly.fdtd.stepping.builder import CoefficientsBuilder
from evenly.fdtd.stepping.coefficients import FieldCoefficients
from evenly.fdtd.stepping.components import Pair, coupled, coupled_by_sites
from evenly.fdtd.stepping.currents import Current
from evenly.fdtd.stepping.frame import Frame, memory_order
from evenly.fdtd.stepping.kernels.anisotropy import apply_nodes
from evenly.fdtd.stepping.kernels.arguments import ABOVE_ROW, CLOSED, E_STEPPED, OPEN, WRAPPED
from evenly.fdtd.stepping.kernels.curl import find_curl
from evenly.fdtd.stepping.kernels.nonlinear import share_intensity, solve_nonlinear
from evenly.fdtd.stepping.kernels.poles import advance_poles
from evenly.fdtd.stepping.kernels.sites import apply_sites, take_off
from evenly.fdtd.stepping.memory import zeros

if TYPE_CHECKING:
    from evenly.fdtd.cell.boundaries import Layers
    from evenly.fdtd.media.structure import Structure

__all__ = ["INCREMENTS", "Chunk"]

Array = NDArray[Any]
SLAB_POINTS = 1_000_000
# What the increments of E and H are called.
INCREMENTS = {"E": "G", "H": "K"}
#: Points by which a row may be widened: they take as long as a row of its own (3.3 against 420 ns).
WIDENED = 128


class Chunk:
    """Fields and media of one box.

    Parameters
    ----------
    index : int
        Number of the chunk in the cell's layout.
    box : Box
        The points it owns.
    structure : Structure
        What is where.
    layers : Layers
        What the cell's sides are.
    layered : three bools
        Whether the chunk lies in a perfectly matched layer along x, y, z.
    parts : int
        1 for real fields, 2 for complex ones.
    dtype
        float64 or float32.
    fused : bool
        Sweep E and H together where the physics allows it.
    """

    def __init__(
        self,
        index: int,
        box: Box,
        structure: Structure,
        layers: Layers,
        layered: Sequence[bool],
        *,
        parts: int = 1,
        dtype: Any = np.float64,
        fused: bool = True,
    ) -> None:
        self.index, self.box, self.parts, self.dtype = index, box, parts, np.dtype(dtype)
        self.grid, self.layers = structure.grid, layers
        self.layered = tuple(layered)
        x, y, z = (0 if thin else 1 for thin in self.grid.thin)
        #: The box with its ghost points.
        self.reach = box.grow((x, y, z))
        order = memory_order(box, structure, layers, self.layered)
        self.frame = Frame(box, order, ((x, y, z)[order[0]], (x, y, z)[order[1]], (x, y, z)[order[2]]))
        self._allocate()
        self._build(structure)
        # H can follow E in the same sweep unless something has to happen to E or to H's increments in between.
        h = self.media["H"]
        self.separate = not fused or bool(h.poles or h.nodes or h.sites or self.media["E"].nonlinear or h.nonlinear)
        self.currents: list[Current] = []
        # Along which axes (user order) the neighbour below is on another rank and waits for E; the stepper knows.
        self.remote_faces = (False, False, False)
        # Where increments of E and of H are kept; per part the three components, once somebody needs them.
        self._increments: dict[str, list[tuple[Array, Array, Array]]] = {"E": [], "H": []}
        self.increment_boxes: dict[str, list[Box]] = {"E": [], "H": []}
        for name, medium in self.media.items():
            for touched in medium.touched:
                self.provide_increments(name, touched.grow((x, y, z)) & box)
        self.choose(COMPONENTS, "EH")

    # -- what others see ------------------------------------------------------------------------------------------

    def view(self, component: str, part: int, box: Box) -> Array:
        """Return a view of a field component, axes x, y, z. After writing into it, call `Stepper.refresh`.

        Parameters
        ----------
        component : str
            ``"Ex"`` … ``"Hz"``, or ``"Gx"`` …, ``"Kx"`` … for the increments of E and H where they are kept.
        part : int
            0: real, 1: imaginary.
        box : Box
            Global indices, at most one ghost layer out of the chunk.
        """
        axis = self.frame.order.index("xyz".index(component[1]))
        kind = component[0]
        held = self.fields[kind] if kind in "EH" else self._increments["E" if kind == "G" else "H"]
        return self.frame.view(held[part][axis], box)

    @property
    def couplings(self) -> list[Pair]:
        """Pairs of components that the off-diagonal elements of the chunk's media couple."""
        found = []
        for name, medium in self.media.items():
            if medium.nodes:
                there = np.any(medium.nodes.elements, axis=1)
                found += coupled(name, [bool(there[self.frame.order.index(axis)]) for axis in range(3)])
            if medium.sites:
                found += coupled_by_sites(name, self.grid.thin)
        return found

    @property
    def nbytes(self) -> int:
        """Bytes of all arrays."""
        return sum(array.nbytes for array in self.arrays().values())

    def arrays(self) -> dict[str, Array]:
        """Return everything that takes memory, by name, in memory order; what isn't needed has length 1."""
        found: dict[str, Array] = {}
        for name, medium in self.media.items():
            for part in range(self.parts):
                for axis in range(3):
                    found[f"{name}{axis}.{part}"] = self.fields[name][part][axis]
                found[f"psi.{name}.{part}"] = self._psi[name][part]
            for axis in range(3):
                found[f"c.{name}{axis}"], found[f"a.{name}{axis}"] = medium.c[axis], medium.a[axis]
            found |= {f"{name}.{what}": array for what, array in medium.extra_arrays()}
            for part, three in enumerate(self._increments[name]):
                found |= {f"increment.{name}{axis}.{part}": three[axis] for axis in range(3)}
        return found

    # -- building -------------------------------------------------------------------------------------------------

    def _allocate(self) -> None:
        size = self.frame.size
        self.fields = {
            name: [tuple(zeros(size, self.dtype) for _ in range(3)) for _ in range(self.parts)] for name in "EH"
        }
        # The convolutional layer's ψ (J. A. Roden and S. D. Gedney, Microw. Opt. Technol. Lett. 27, 334 (2000)): six,
        # two per derivative; those of derivatives outside layers have no room of their own.
        held = np.repeat([bool(self.layered[u]) for u in self.frame.order], 2)
        self._psi_offsets = (np.cumsum(held) - held) * size
        room = max(1, int(held.sum()) * size)
        self._psi = {name: [zeros(room, self.dtype) for _ in range(self.parts)] for name in "EH"}

    def _build(self, structure: Structure) -> None:
        builders = {name: CoefficientsBuilder(name, self.frame, self.grid, self.parts, self.dtype) for name in "EH"}
        for slab in self.box.slabs(self.frame.order[0], SLAB_POINTS):
            sample = structure.sample(slab)
            builders["E"].add(slab, sample.electric)
            builders["H"].add(slab, sample.magnetic)
        self.media: dict[str, FieldCoefficients] = {name: builder.finish() for name, builder in builders.items()}
        profiles = {name: self._profile(name) for name in "EH"}
        # What the kernels of the curl read of a field's medium, per part.
        self._kernel_media: dict[str, list[tuple[Any, ...]]] = {
            name: [(m.c, m.a, m.scalar, psi, self._psi_offsets, profiles[name]) for psi in self._psi[name]]
            for name, m in self.media.items()
        }
        self._flags = self._make_flags()
        self._shape = np.array(self.frame.shape, np.int64)

    def _profile(self, name: str) -> tuple[Array, Array, Array]:
        """Return b, a, 1/κ along each axis in memory order, ghosts included."""
        profiles = []
        for user, ghost in zip(self.frame.order, self.frame.ghosts, strict=True):
            if not self.layered[user]:
                profiles.append(np.zeros((3, 1), self.dtype))
                continue
            k = self.layers.coefficients(user, name, self.box.lo[user] - ghost, self.box.hi[user] + ghost)
            profiles.append(np.stack([k.b, k.a, k.inverse_kappa]).astype(self.dtype))
        return profiles[0], profiles[1], profiles[2]

    def _make_flags(self) -> NDArray[np.int64]:
        """Return what `kernels.arguments` names the places of."""
        walls = [
            1 if self.layers.kinds[u] == "metal" and not self.grid.thin[u] and self.box.lo[u] == 0 else 0
            for u in self.frame.order
        ]
        last = self.frame.order[2]
        at_end = self.box.hi[last] == self.grid.shape[last]
        above = OPEN
        if self.layers.kinds[last] == "metal" and at_end:
            above = CLOSED
        elif at_end and self.box.lo[last] == 0 and self.layers.phases[last] == 1:
            above = WRAPPED
        thin = [int(self.grid.thin[u]) for u in self.frame.order]
        modes = [self.media["E"].mode, self.media["H"].mode]
        layered = [int(self.layered[u]) for u in self.frame.order]
        return np.array([*modes, *layered, above, *walls, *thin[:2], *[1] * 6], np.int64)

    def choose(self, stepped: Collection[str], mixed: Collection[str]) -> None:
        """Step these components from now on; the others must be zero (see `components`).

        Parameters
        ----------
        stepped : collection of str
            ``"Ex"`` … ``"Hz"``.
        mixed : collection of "E", "H"
            Fields of which off-diagonal elements couple some of these components; the increments of the others aren't
            needed.
        """
        self.stepped = {name: [f"{name}{'xyz'[u]}" in stepped for u in self.frame.order] for name in "EH"}
        self.mixed = mixed
        self._flags[E_STEPPED:] = [*self.stepped["E"], *self.stepped["H"]]

    def fed(self, name: str) -> bool:
        """Return whether increments of E or H are kept because off-diagonal elements need them."""
        return name in self.mixed and bool(self.increment_boxes[name])

    def provide_increments(self, name: str, box: Box) -> None:
        """Keep the increments of ``"E"`` or ``"H"`` on `box` from now on: own nodes or a neighbour's need them.

        Where little is missing, all points of its rows are kept: then many rows are one run of `find_curl`.
        """
        if box.empty:
            return
        along = self.frame.order[2]
        if self.box.shape[along] - box.shape[along] <= WIDENED:
            low, high = list(box.lo), list(box.hi)
            low[along], high[along] = self.box.lo[along], self.box.hi[along]
            box = Box((low[0], low[1], low[2]), (high[0], high[1], high[2]))
        while len(self._increments[name]) < self.parts:
            x, y, z = (zeros(self.frame.size, self.dtype) for _ in range(3))
            self._increments[name].append((x, y, z))
        fresh = [box]
        for known in self.increment_boxes[name]:
            fresh = [part for piece in fresh for part in piece.without(known)]
        self.increment_boxes[name] += fresh

    def add_current(self, component: str, box: Box, weights: Array, pulse: Any) -> None:
        """Add a source's share: `weights` (nx, ny, nz) on `box`, which lies in the chunk."""
        name, user = component[0], "xyz".index(component[1])
        axis, medium = self.frame.order.index(user), self.media[name]
        # The update subtracts c J. A current that acts before the sweep, which then multiplies the field with a, has to
        # subtract (c/a) J; that of H in a fused sweep acts after it.
        if name == "E" or self.separate:
            full: Any = medium.response(axis)
        else:
            full = medium.c[axis] if medium.c[axis].size > 1 else float(medium.scalar[axis])
        response = full if isinstance(full, float) else self.frame.view(full, box)
        bare = np.array(weights) / self.grid.resolution
        for other in (a for a in range(3) if name == "E" and a != user and self.layers.kinds[a] == "metal"):
            if box.lo[other] == 0 and not self.grid.thin[other]:
                # A wall holds E along it at zero whatever flows there.
                bare[tuple(0 if a == other else slice(None) for a in range(3))] = 0
        both = np.stack([np.real(bare), np.imag(bare)])
        fields = [self.view(component, part, box) for part in range(self.parts)]
        self.currents.append(Current(component, box, both, both * response, pulse, fields))

    # -- one step -------------------------------------------------------------------------------------------------

    def start_increments(self, name: str) -> None:
        """Set the increments of E (before it is swept) to curl H, or those of H to -curl E, where they are kept."""
        other, sign = ("H", -1) if name == "E" else ("E", 1)
        for part, medium in enumerate(self._kernel_media[name] if self.fed(name) else ()):
            for box in self.increment_boxes[name]:
                target, source = self._increments[name][part], self.fields[other][part]
                find_curl(target, source, medium, self._shape, self.frame.local(box), self._flags, sign)

    def advance_poles(self, name: str) -> None:
        """Advance the polarisations that E or H drives, and take what they gained from the field.

        P(n+1) = c0 P(n) - c1 P(n-1) + c2 σ E(n) per pole and point: the auxiliary differential equation, with
        central differences (see `builder.pole_factors` and `kernels.poles`).
        """
        rate = self.dtype.type(1 / self.grid.courant)
        none = np.zeros(1, self.dtype)
        feed = self.fed(name)
        for group in self.media[name].poles:
            for part in range(self.parts if self.stepped[name][group.component] else 0):
                increment = self._increments[name][part][group.component] if feed else none
                field = self.fields[name][part][group.component]
                now, before = group.now[part], group.before[part]
                advance_poles(
                    field, increment, group.runs, now, before, group.factors, group.strengths, group.weights, rate, feed
                )
                # The kernel wrote P(n+1) over P(n-1).
                group.now[part], group.before[part] = before, now

    def feed(self, name: str, step: int) -> None:
        """Take the currents of E or H off the increments that off-diagonal elements see."""
        for current in (c for c in self.currents if c.component[0] == name) if self.fed(name) else ():
            if amplitude := current.pulse.at(step):
                for part in range(self.parts):
                    into = self.view(INCREMENTS[name] + current.component[1], part, current.box)
                    into -= current.change(amplitude, part)

    def couple(self, name: str) -> None:
        """Add what acts at nodes (centres) on several components; the increments' ghosts must be valid."""
        self._apply_nodes(name)
        self._apply_sites(name)

    def _apply_nodes(self, name: str) -> None:
        """Add what off-diagonal elements make of the increments."""
        nodes = self.media[name].nodes
        if nodes is None or name not in self.mixed:
            return
        # From a node to the other edge of each axis: one point on for E, one back for H, nowhere along thin axes.
        strides = [self.frame.shape[1] * self.frame.shape[2], self.frame.shape[2], 1]
        reach = 1 if name == "E" else -1
        strides = [reach * s if g else 0 for s, g in zip(strides, self.frame.ghosts, strict=True)]
        own, factor = self.frame.local(self.box), self.dtype.type(self.grid.courant)
        for part in range(self.parts):
            field, increments = self.fields[name][part], self._increments[name][part]
            apply_nodes(
                field, increments, nodes.runs, nodes.elements, nodes.edge_factors, factor, np.array(strides), own
            )

    def _apply_sites(self, name: str) -> None:
        """Let sites act at slanted surfaces of dispersive media (see `media.sites`)."""
        sites = self.media[name].sites
        if sites is None or name not in self.mixed:
            return
        factor, none = self.dtype.type(self.grid.courant), np.zeros(1, self.dtype)
        for part, field in enumerate(sites.fields):
            F, G, kept = self.fields[name][part], self._increments[name][part], field.copy()
            for group in sites.poles:
                now, before = group.now[part], group.before[part]
                advance_poles(
                    field, none, group.runs, now, before, group.factors, group.strengths, group.weights, factor, False
                )
                group.now[part], group.before[part] = before, now
            starts, components, places, weights, own = sites.edges.arrays()
            apply_sites(F, G, field, kept, starts, components, places, weights, own, sites.factors, factor)
            for f, g, (points, shares) in zip(F, G, sites.shares, strict=True):
                take_off(f, g, points, shares)

    def share_intensity(self, *, repeated: bool) -> None:
        """Average the squares of E's components where others' points need them; their ghosts must be valid."""
        strides = (self.frame.shape[1] * self.frame.shape[2], self.frame.shape[2], 1)
        steps = [s if g else 0 for s, g in zip(strides, self.frame.ghosts, strict=True)]
        for points in self.media["E"].nonlinear:
            a, b, c = points.component, (points.component + 1) % 3, (points.component + 2) % 3
            for part in range(self.parts if points.shares and self.stepped["E"][a] else 0):
                field, now, before = self.fields["E"][part], points.now[part], points.before[part]
                share_intensity(field[b], field[c], points.runs, now, before, steps[a], steps[b], steps[c], repeated)

    def solve_nonlinear(self, *, repeated: bool) -> None:
        """Turn the linear E of the sweep into the one that the nonlinear D asks for."""
        for points in self.media["E"].nonlinear:
            there = self.stepped["E"][points.component] and (points.shares or not repeated)
            for part in range(self.parts if there else 0):
                field, now, before = self.fields["E"][part][points.component], points.now[part], points.before[part]
                constants = points.epsilon, points.chi2, points.chi3
                solve_nonlinear(field, points.runs, *constants, now, before, points.kept[part], repeated)

    def boxes(self, stage: Literal["early", "main", "late"]) -> list[Array]:
        """Return what is swept at a stage of the step: per sweep a box for E and one for H, (4, 3) ints.

        Parameters
        ----------
        stage : str
            ``"early"``: E where other ranks wait for it. ``"main"``: the rest of E, and of H all that doesn't wait for
            E's ghosts. ``"late"``: the rest of H.
        """
        return self._plan[stage]

    def swept(self, part: int) -> tuple[list[Array], NDArray[np.int64]]:
        """Return what the sweep of a part needs, as `kernels.walk` takes it: arrays, and shape, offsets of ψ, flags."""
        arrays = [*self.fields["E"][part], *self.fields["H"][part]]
        for name in "EH":
            c, a, scalar, psi, _, profiles = self._kernel_media[name][part]
            arrays += [*c, *a, scalar, psi, *profiles]
        return arrays, np.concatenate([self._shape, self._psi_offsets, self._flags])

    @cached_property
    def _plan(self) -> dict[str, list[Array]]:
        # E is updated once everywhere: on the faces that other ranks wait for, then on the rest.
        rest, early, inner = self.box, [], self._inner()
        for axis in range(3):
            if self.remote_faces[axis] and not self.separate:
                face, rest = rest.split(axis, rest.lo[axis] + 1)
                early.append(self._pair(face, None))
        # H follows inside `inner` in E's sweep, and on the shell around it once E's ghosts have come.
        late = [self.box] if self.separate else self.box.without(inner)
        main = self._pair(rest, None if self.separate else inner)
        return {"early": early, "main": [main], "late": [self._pair(None, box) for box in late]}

    def _pair(self, e: Box | None, h: Box | None) -> Array:
        nothing = np.zeros((2, 3), np.int64)
        return np.concatenate([nothing if box is None or box.empty else self.frame.local(box) for box in (e, h)])

    def _inner(self) -> Box:
        """Return the points whose H needs no E from beyond the chunk, or only what never changes."""
        # curl E at point i needs E at i + 1: the last layer waits, unless a wall or the row's own beginning is there.
        box, last = self.box, self.frame.order[2]
        for axis in range(3):
            walled = self.layers.kinds[axis] == "metal" and box.hi[axis] == self.grid.shape[axis]
            if not (walled or self.grid.thin[axis] or (axis == last and self._flags[ABOVE_ROW] != OPEN)):
                box = box.replace(axis, box.lo[axis], box.hi[axis] - 1)
        return box
