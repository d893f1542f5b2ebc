"""The cell of a simulation of `evenly.fdtd`, made without allocating its fields.

>>> from evenly.fdtd import Block, Medium, PML, Simulation
>>> film = Block(size=(9, 9, 0.5), material=Medium(index=2))
>>> cell = cell_of(Simulation(cell=(2, 2, 2), resolution=10, geometry=[film], boundaries=[PML(0.3)]))
>>> cell.pml[0], cell.survey.totals["dielectric"], cell.survey.kinds[:2]
((3, 3), 2400.0, ('dielectric', 'interface'))
>>> cell.survey.counts([[0, 0, 0]], [[4, 4, 10]])[0, :2].round(9).tolist()
[48.0, 16.0]
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable
from typing import TYPE_CHECKING, Any

import numpy as np

from evenly.decomposition.cells.cell import Cell, Transform
from evenly.decomposition.cells.fdtd.exact_survey import exact_survey
from evenly.decomposition.cells.fdtd.object_survey import object_survey
from evenly.decomposition.cells.survey import Survey
from evenly.errors import InputError
from evenly.fdtd.cell.grid import ELECTRIC
from evenly.fdtd.cell.mirrors import reduced
from evenly.fdtd.stepping.components import face_components, predicted

if TYPE_CHECKING:
    from evenly.fdtd.cell.boundaries import Layers, Points
    from evenly.fdtd.monitors.monitor import FourierMonitor
    from evenly.fdtd.simulation import Simulation

__all__ = ["BLOCKS", "POINTS", "bare_cell", "cell_from", "cell_of"]

#: Most points of a cell for the exact survey, which samples every point.
POINTS = 1_000_000
#: Most blocks of a survey.
BLOCKS = 2_000_000


def cell_from(simulation: Any) -> Cell:
    """Return the cell of a simulation of `evenly.fdtd`; a cell is returned unchanged.

    Raises
    ------
    InputError
        If the argument is neither.
    """
    if isinstance(simulation, Cell):
        return simulation
    # Imported late: Meep's process may have no other package than numpy, and the simulation needs more.
    from evenly.fdtd.simulation import Simulation

    if isinstance(simulation, Simulation):
        return cell_of(simulation)
    raise InputError(
        f"`cell` must be a Cell or a simulation of evenly.fdtd, but got {type(simulation).__name__}: for one of Meep "
        "use evenly.adapters.meep.cell_of(simulation) in Meep's Python."
    )


def bare_cell(sim: Simulation) -> Cell:
    """Return the cell of a simulation without a survey of its media: for pictures.

    Examples
    --------
    >>> from evenly.fdtd import PML, Simulation
    >>> bare_cell(Simulation(cell=(2, 2, 0), resolution=10, boundaries=[PML(0.3)])).pml[1]
    (3, 3)
    """
    layers = sim.layers
    survey = Survey.of_blocks([(0, n) for n in layers.kept.shape], (), np.zeros((1, 1, 1, 0)))
    pml, absorber = (_kept_depths(layers, depths) for depths in (layers.pml, layers.absorber))
    return Cell("fdtd", reduced(sim.grid, layers.kept), survey, _periodic(layers), pml, absorber)


def cell_of(
    sim: Simulation,
    monitors: Iterable[FourierMonitor] = (),
    *,
    points: int = POINTS,
    blocks: int = BLOCKS,
    name: str = "cell",
) -> Cell:
    """Return the cell of a simulation; its fields aren't allocated.

    Parameters
    ----------
    sim : Simulation
    monitors : iterable of FourierMonitor
        Monitors in addition to those of the simulation.
    points : int
        Most points of a cell for which every point is sampled, with exact counts. Larger cells are surveyed object by
        object.
    blocks : int
        Most blocks of the survey.
    name : str
        Name of the cell in tables.
    """
    layers = sim.layers
    survey = exact_survey if layers.kept.volume <= points else object_survey
    stepped, mixed = predicted(sim.structure, (source.component for source in sim.sources))
    return Cell(
        "fdtd",
        reduced(sim.grid, layers.kept),
        survey(sim.structure, blocks=blocks),
        _periodic(layers),
        _kept_depths(layers, layers.pml),
        _kept_depths(layers, layers.absorber),
        transforms=_transforms(sim, monitors, stepped),
        complex_fields=layers.complex_fields,
        name=name,
        traits={
            "float bytes": 8.0 if sim.options.precision == "float64" else 4.0,
            "threads": float(sim.options.threads),
            "components": float(len(stepped)),
            "electric components": float(len(stepped & set(ELECTRIC))),
            "face components": face_components(stepped, sim.grid.thin),
            "electric increments": float("E" in mixed),
            "magnetic increments": float("H" in mixed),
        },
    )


def _periodic(layers: Layers) -> tuple[bool, bool, bool]:
    """Return whether opposite sides of the kept part are neighbours; beyond a mirror, fields are its own points'."""
    x, y, z = (kind == "periodic" and not sign for kind, sign in zip(layers.kinds, layers.mirrors, strict=True))
    return x, y, z


def _kept_depths(layers: Layers, depths: Points) -> Points:
    """Return the thickness of layers, 0 at sides that aren't kept."""
    x, y, z = (
        (low if layers.kept.lo[axis] == 0 else 0, high if layers.kept.hi[axis] == layers.grid.shape[axis] else 0)
        for axis, (low, high) in enumerate(depths)
    )
    return x, y, z


def _transforms(sim: Simulation, monitors: Iterable[FourierMonitor], stepped: Collection[str]) -> tuple[Transform, ...]:
    """Return the Fourier transforms; components with the same box and number of frequencies make one `Transform`."""
    from evenly.fdtd.monitors.monitor import FourierMonitor, kept_boxes

    x, y, z = (-low for low in sim.layers.kept.lo)
    found: dict[Any, float] = defaultdict(float)
    for monitor in (*(one for one in sim.monitors if isinstance(one, FourierMonitor)), *monitors):
        for _, box in kept_boxes(sim, [one for one in monitor.regions(sim.grid) if one.component in stepped]):
            box = box.shift((x, y, z))
            found[box.lo, box.hi, len(monitor.frequencies)] += 1 / monitor.sampling(sim)
    return tuple(Transform(low, high, values, n) for (low, high, n), values in found.items())
