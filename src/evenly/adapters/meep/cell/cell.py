"""The cell of a Meep simulation, from the simulation object, before any time step or allocation of fields.

This module runs in Meep's own Python; `evenly.adapters.meep.cell.scripts` does so for a whole script. Besides Meep it
needs numpy there.

Meep stores the cell on a grid whose centre need not be the origin (``geometry_center``, or an odd number of points). It
splits off chunks for PML that are one point deeper than the layer. It allocates every susceptibility in every chunk.
Absorbers are conductivities and do not make chunks of their own.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from evenly.adapters.meep.cell.couplings import coarser, has_leaning_surfaces, with_couplings
from evenly.adapters.meep.cell.geometry import media_of, structure_of
from evenly.adapters.meep.cell.media import couples_z, poles_of
from evenly.adapters.meep.cell.monitors import transforms_of
from evenly.adapters.meep.grid import directions, grid_of, is_cylindrical, volume_of
from evenly.adapters.meep.layers import check_layers, depths
from evenly.adapters.meep.symmetry import kept_axes
from evenly.decomposition.cells.cell import NO_LAYERS, Cell
from evenly.decomposition.cells.survey import Survey
from evenly.errors import EvenlyWarning
from evenly.fdtd.cell.boundaries import Layers
from evenly.fdtd.cell.grid import ELECTRIC, MAGNETIC, Grid
from evenly.fdtd.media.structure import Structure

__all__ = ["BLOCKS", "NO_SOURCES", "POINTS", "active_components", "cell_of"]

NO_SOURCES = (
    "there is no source at the first step, so fields of both polarisations are counted: if later sources excite only "
    "one, a step takes about half as long"
)
#: Largest cell whose every point is sampled.
POINTS = 2_000_000
#: Most blocks of a survey.
BLOCKS = 2_000_000


def cell_of(sim: Any, *, points: int = POINTS, blocks: int = BLOCKS, name: str = "cell") -> Cell:
    """Return the cell of a simulation; add all monitors before, since they are part of the work.

    Parameters
    ----------
    sim : meep.Simulation
        The simulation; it is not changed.
    points : int
        Up to this number of points, every point of the cell is sampled; larger cells are surveyed object by object.
    blocks : int
        Largest number of blocks of the survey.
    name : str
        Name of the cell in tables.

    Raises
    ------
    InputError
        If the simulation has objects or materials that evenly doesn't know, or PMLs that Meep refuses.
    """
    check_layers(sim)
    grid, origin = grid_of(sim)
    periodic = _periodic(sim)
    pml, absorber = (depths(sim, grid, kind) for kind in ("PML", "Absorber"))
    kinds = ["periodic" if wrapped or thin else "metal" for wrapped, thin in zip(periodic, grid.thin, strict=True)]
    # The structure is made without absorbers, because their conductivity does not belong to a medium.
    layers = Layers(grid, (kinds[0], kinds[1], kinds[2]), pml, NO_LAYERS)
    structure = structure_of(sim, grid, origin, layers)
    rough = partial(_rough, sim, structure)
    active = active_components(sim, structure if grid.box.volume <= points else rough())
    return Cell(
        "meep",
        grid,
        _survey(structure, points, blocks, rough),
        periodic,
        pml,
        absorber,
        layers_apart=("pml",),
        transforms=transforms_of(sim, grid, origin, active),
        complex_fields=not sim.using_real_fields() or (is_cylindrical(sim) and sim.m != 0),
        name=name,
        traits=_traits(sim, structure, active),
        center=origin,
    )


def active_components(sim: Any, structure: Structure) -> tuple[str, ...]:
    """Return the components of E and H that Meep steps: in a plane, those that it has, or will have at the first step.

    These are the ones that sources excite and media couple with them.

    Parameters
    ----------
    sim : meep.Simulation
    structure : Structure
        Its structure, whose grid may be coarser.
    """
    everything = (*ELECTRIC, *MAGNETIC)
    if is_cylindrical(sim) or structure.grid.dimensions == 3:
        return everything
    if sim.dimensions == 1:
        return ("Ex", "Hy")
    if found := _allocated(sim, everything):
        return found
    if not sim.sources:
        warnings.warn(EvenlyWarning(NO_SOURCES), stacklevel=2)
    wanted = {name for source in sim.sources for name in _excited(source)}
    across, within = ("Ez", "Hx", "Hy"), ("Ex", "Ey", "Hz")
    mixed = sim.force_all_components or sim.special_kz or "" in wanted or not wanted
    mixed = mixed or couples_z(sim, media_of(sim, structure)) or has_leaning_surfaces(structure)
    names = [*(across if mixed or wanted & set(across) else ()), *(within if mixed or wanted & set(within) else ())]
    return tuple(name for name in everything if name in names)


def _allocated(sim: Any, names: Sequence[str]) -> tuple[str, ...]:
    """Return the components for which Meep has allocated fields, also those that a script has initialised."""
    import meep

    return () if sim.fields is None else tuple(n for n in names if sim.fields.have_component(getattr(meep, n)))


def _periodic(sim: Any) -> tuple[bool, bool, bool]:
    """Return whether opposite sides along x, y, z of the part of the cell that Meep keeps are neighbours.

    Without a k_point, they are where the cell is one point wide (``fields::fields`` in Meep's fields.cpp).
    """
    volume, symmetry = volume_of(sim)
    halved, across = kept_axes(volume, symmetry), directions(sim)
    x, y, z = (
        axis not in halved and (bool(sim.k_point) or (axis in across and volume.num_direction(across[axis]) == 1))
        for axis in range(3)
    )
    return x and not is_cylindrical(sim), y, z


def _excited(source: Any) -> tuple[str, ...]:
    """Return components of a plane that a source excites, one of each parity; "" if they aren't known."""
    import meep as mp

    if isinstance(source, mp.EigenModeSource) and not _name(source.component):
        across, within = bool(source.eig_parity & mp.ODD_Z), bool(source.eig_parity & mp.EVEN_Z)
    elif isinstance(source, mp.GaussianBeamSource):
        e = source.beam_E0
        across, within = e.z != 0, e.x != 0 or e.y != 0
    else:
        return (_name(source.component),)
    return ("Ez" if across else "Hz",) if across != within else ("",)


def _name(component: Any) -> str:
    """Return the name of a source's component, or "" for all components."""
    code = int(component)
    if not 0 <= code < 10:
        return ""
    return "EH"[code // 5] + {0: "x", 1: "y", 4: "z"}.get(code % 5, "z")


def _survey(structure: Structure, points: int, blocks: int, rough: Callable[[], Structure]) -> Survey:
    from evenly.decomposition.cells.fdtd.exact_survey import exact_survey
    from evenly.decomposition.cells.fdtd.object_survey import object_survey

    if structure.grid.box.volume <= points:
        return with_couplings(exact_survey(structure, blocks=blocks, by_component=True), structure)
    return with_couplings(object_survey(structure, blocks=blocks, by_component=True), structure, rough)


def _rough(sim: Any, structure: Structure) -> Structure:
    """Return a structure on a coarser grid."""
    grid, (x, y, z) = structure.grid, structure.layers.kinds
    fewer = Grid(grid.size, coarser(grid.resolution, grid.box.volume, grid.dimensions))
    return structure_of(sim, fewer, grid_of(sim)[1], Layers(fewer, (x, y, z), NO_LAYERS, NO_LAYERS))


def _around(sim: Any) -> dict[str, float]:
    """Return the traits of a cylindrical cell: Meep steps more at its points, and still more if m isn't 0."""
    return {"cylindrical": 1.0, "turning": float(sim.m != 0)}


def _traits(sim: Any, structure: Structure, active: tuple[str, ...]) -> dict[str, float]:
    electric, magnetic = poles_of(media_of(sim, structure))
    return {
        "electric poles": float(electric),
        "magnetic poles": float(magnetic),
        **{name: float(name in active) for name in (*ELECTRIC, *MAGNETIC)},
        **(_around(sim) if is_cylindrical(sim) else {}),
    }
