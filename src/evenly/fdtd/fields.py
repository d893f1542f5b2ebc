"""The fields of a cell: how the cell is cut into chunks, what is in them, and their steps in time.

`Simulation` adds runs, files, counts and measurements. Whatever reads or steps fields needs no more than `Fields`.

>>> fields = Fields(cell=(1.0, 0, 0), resolution=10)
>>> fields.step()
>>> fields.step_count, round(fields.time, 12), fields.field("Ez").shape
(1, 0.05, (10, 1, 1))
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from evenly.arguments import explained
from evenly.errors import InputError
from evenly.fdtd.alike import check_built, check_monitor
from evenly.fdtd.cell.boundaries import Boundary, Layers, resolve
from evenly.fdtd.cell.box import Box
from evenly.fdtd.cell.cutting import ChunkBox, split_for_threads
from evenly.fdtd.cell.extents import check_inside
from evenly.fdtd.cell.grid import COMPONENTS, Grid, vector
from evenly.fdtd.cell.mirrors import Mirror, check_planes
from evenly.fdtd.cell.partition import BinaryPartition
from evenly.fdtd.media.custom import as_material
from evenly.fdtd.media.geometry import GeometricObject, Material
from evenly.fdtd.media.materials import vacuum
from evenly.fdtd.media.stability import safe_courant
from evenly.fdtd.media.structure import Structure
from evenly.fdtd.media.symmetry import check_structure
from evenly.fdtd.ranks.calls import collective
from evenly.fdtd.ranks.parallel import current
from evenly.fdtd.sources.source import Source
from evenly.fdtd.sources.symmetry import check_sources
from evenly.fdtd.stepping.timing import Clock, PhaseTimer
from evenly.memory import check_room

if TYPE_CHECKING:
    from evenly.fdtd.ranks.communicators import Communicator
    from evenly.fdtd.stepping.chunk import Chunk
    from evenly.fdtd.stepping.program import Patch
    from evenly.fdtd.stepping.stepper import Stepper

__all__ = ["EndCondition", "Fields", "Monitor", "Options"]


class Monitor(Protocol):
    """What is recorded after every step: a set of Fourier transforms, or a time series at a point."""

    @property
    def label(self) -> str:
        """How messages call the monitor."""

    @property
    def frequencies(self) -> NDArray[np.float64]:
        """Those of its Fourier transforms, (n_frequencies,), in c/a."""

    @property
    def patches(self) -> Sequence[Patch]:
        """What records after every step on this rank."""

    def regions(self, grid: Grid, /) -> Sequence[Any]:
        """Return the boxes that are transformed."""

    def bind(self, stage: Any, /) -> None:
        """Find the monitor's points in the chunks of this rank."""

    def flush(self) -> None:
        """Add the samples that are kept in buffers to the transforms."""


class EndCondition(Protocol):
    """What ends a run, as checkpoints and rebalancing see it."""

    def progress(self, sim: Any, /) -> float | None:
        """Estimate the share of the run that is done, 0 to 1; None where nothing is known."""

    def state(self) -> dict[str, Any]:
        """Return what a checkpoint must keep, as JSON takes it."""


M = TypeVar("M", bound=Monitor)


@explained
@dataclass(frozen=True)
class Options:
    """How a simulation computes; the defaults are right for most.

    Parameters
    ----------
    courant : float, optional
        Time step times resolution; 0.5, or less where the poles of a medium ask for less, when left out.
    precision : "float64" or "float32"
        Of the fields. float32 needs half the memory and time, and keeps about 6 digits.
    threads : int
        Threads of a rank. More than the cores that the rank was given slow it down.
    subpixel : bool
        Average media at interfaces, which makes results converge faster with resolution.
    fused : bool
        Update E and H in one sweep where the physics allows it. Without it the timer tells E and H apart, at the
        price of speed.
    decimation : int, optional
        Fourier monitors take at most every how many steps; left out, as few as the bands of sources and monitor allow,
        which is never exceeded. What a monitor says itself (`every`) counts.
    """

    courant: float | None = None
    precision: Literal["float64", "float32"] = "float64"
    threads: int = 1
    subpixel: bool = True
    fused: bool = True
    decimation: int | None = None

    def __post_init__(self) -> None:
        if self.precision not in ("float64", "float32"):
            raise InputError(f'`precision` must be "float64" or "float32", but got {self.precision!r}.')
        for name, given in (
            ("threads", self.threads),
            ("decimation", 1 if self.decimation is None else self.decimation),
        ):
            if isinstance(given, bool) or given not in range(1, 100_000):
                raise InputError(f"`{name}` must be a whole number of at least 1, but got {given!r}.")


class Fields:
    """Electric and magnetic fields on a Yee grid, cut into chunks that ranks share.

    Nothing large is allocated before the first step or the first look at the fields, so that a cell of any size can
    be described, counted and cut on a small machine.

    Parameters
    ----------
    cell : up to three floats
        Edge lengths x, y, z in a; 0 (or left out) where nothing varies.
    resolution : float
        Grid points per a.
    geometry : sequence of objects
        Later ones hide earlier ones.
    material : Medium, or a function of position
        What is where no object is.
    sources : sequence of Source
    boundaries : sequence of PML, Absorber, Periodic, Bloch, Metal
        Sides that none names are metal walls.
    symmetries : sequence of Mirror
        Those of structure and sources. Only one side of each plane is stored and stepped.
    layout : BinaryPartition or nested lists, optional
        How the cell is cut; into chunks of equal volume when left out.
    num_chunks : int, optional
        Number of these chunks; one for each rank when left out, and at least that.
    options : Options
    communicator : Communicator, optional
        The ranks that share the cell; all of this process's group when left out.

    Raises
    ------
    InputError
        If something breaks a rule; the message names it.
    """

    # Called with the fields before their first step, on all ranks: `Simulation` compiles kernels ahead.
    before_stepping: ClassVar[Sequence[Callable[[Any], None]]] = ()

    def __init__(
        self,
        *,
        cell: Sequence[float] | float,
        resolution: float,
        geometry: Sequence[GeometricObject] = (),
        material: Material = vacuum,
        sources: Sequence[Source] = (),
        boundaries: Iterable[Boundary] = (),
        symmetries: Iterable[Mirror] = (),
        layout: BinaryPartition | Sequence[Any] | None = None,
        num_chunks: int | None = None,
        options: Options | None = None,
        communicator: Communicator | None = None,
    ) -> None:
        # First of all, so that a mistake on any rank ends the whole job.
        self.communicator = communicator or current()
        self.options = options or Options()
        if isinstance(geometry, GeometricObject) or isinstance(sources, Source):
            raise InputError("`geometry` and `sources` must be lists, but got a single object: put it in brackets.")
        if self.options.courant is not None:
            self.grid = Grid(vector(cell, "cell"), resolution, self.options.courant)
        else:
            usual, materials = Grid(vector(cell, "cell"), resolution), [getattr(o, "material", None) for o in geometry]
            materials.append(as_material(material, "the background"))
            self.grid = replace(usual, courant=safe_courant(usual, materials))
        self.layers: Layers = resolve(boundaries, self.grid, symmetries)
        self.structure = Structure(self.grid, geometry, material, subpixel=self.options.subpixel, layers=self.layers)
        if layout is None:
            layout = self._equal_chunks(num_chunks)
        elif num_chunks is not None:
            raise InputError("`num_chunks` is for a cell without a `layout`, which says what the chunks are: give one.")
        self.layout = layout if isinstance(layout, BinaryPartition) else BinaryPartition(layout)
        self.layout.boxes(self.grid, self.layers.kept)
        self.is_linear = not any(table.any() for p in self.structure.palettes for table in (p.chi2, p.chi3))
        # Complex fields, which a Bloch phase makes, have two parts.
        self.parts = 2 if self.layers.complex_fields else 1
        self.sources = list(sources)
        for source in self.sources:
            check_inside(self.grid, source.center, source.size, source.label)
        self.timer = PhaseTimer()
        self.step_count = self.timed_steps = 0
        self.monitors: list[Monitor] = []
        self.decimation = self.options.decimation
        self.conditions: Sequence[EndCondition] = ()
        self.resumed: dict[str, Any] = {}
        if self.parts == 2 and not self.is_linear:
            raise InputError(
                "A nonlinear medium needs real fields, but Bloch's `k` makes them complex: choose k so that the phase "
                "over the cell is 1 or -1, or leave chi2 and chi3 out."
            )

    def _equal_chunks(self, chunks: int | None) -> BinaryPartition:
        """Return a layout of chunks of equal volume, at least one for each rank."""
        if chunks is not None and (isinstance(chunks, bool) or chunks not in range(1, 10_000_000)):
            raise InputError(f"`num_chunks` must be a whole number of at least 1, but got {chunks!r}.")
        ranks = self.communicator.size
        return BinaryPartition.equal(self.grid, max(chunks or 1, ranks), self.layers.kept, ranks=ranks)

    # -- what it is -----------------------------------------------------------------------------------------------

    @property
    def time(self) -> float:
        """Time of E in a/c."""
        return self.step_count * self.grid.dt

    @cached_property
    def chunk_boxes(self) -> list[ChunkBox]:
        """All chunks of the cell, absorbing layers split off, in the order of the layout's leaves."""
        return self.boxes_on(self.communicator.size)

    def boxes_on(self, ranks: int) -> list[ChunkBox]:
        """Return the chunks that the cell would have on so many ranks."""
        chunks = self.layout.chunks(self.grid, self.layers, ranks)
        check_planes(self.grid, self.layers.kinds, self.layers.mirrors, [chunk.box for chunk in chunks])
        return split_for_threads(chunks, self.options.threads) if self.options.threads > 1 else chunks

    # -- stepping -------------------------------------------------------------------------------------------------

    @cached_property
    def chunks(self) -> list[Chunk]:
        """The chunks of this rank; made when first asked for."""
        from evenly.fdtd.stepping.chunk import Chunk
        from evenly.fdtd.stepping.currents import Amplitudes

        precision, fused = np.dtype(self.options.precision), self.options.fused
        points = sum(at.box.volume for at in self.chunk_boxes if at.owner == self.communicator.rank)
        shape = " x ".join(map(str, self.layers.kept.shape))
        check_room(
            f"the fields of a grid of {shape} points ({points:,} of them on this rank)",
            6.0 * points * self.parts * precision.itemsize,
            "lower the resolution, make the cell smaller, or use more ranks on more nodes",
        )
        chunks = [
            Chunk(n, at.box, self.structure, self.layers, at.pml, parts=self.parts, dtype=precision, fused=fused)
            for n, at in enumerate(self.chunk_boxes)
            if at.owner == self.communicator.rank
        ]
        for chunk in chunks:
            check_structure(self.structure, chunk.box)
            check_sources(self.sources, self.grid, self.layers, chunk.box)
        for source in self.sources:
            amplitudes = Amplitudes(source.pulse, source.component[0], self.grid.dt)
            for chunk in chunks:
                for patch in source.patches(self.grid, chunk.box, self.layers.phases):
                    chunk.add_current(patch.component, patch.box, patch.weights, amplitudes)
        return chunks

    @cached_property
    def stepper(self) -> Stepper:
        """Steps this rank's chunks; collective when first asked for."""
        from evenly.fdtd.stepping.stepper import Stepper

        check_built(self)
        for prepare in self.before_stepping:
            prepare(self)
        with self.timer("other"):
            stepper = Stepper(
                self.chunk_boxes, self.chunks, self.layers, self.communicator, self.timer, self.options.threads,
                [source.component for source in self.sources],
            )  # fmt: skip
            stepper.watch(patch for monitor in self.monitors for patch in monitor.patches)
        return stepper

    @explained
    @collective("monitor")
    def add(self, monitor: M) -> M:
        """Attach a monitor from now on and return it.

        Raises
        ------
        InputError
            If it does not fit the cell.
        """
        if not hasattr(monitor, "bind"):
            raise InputError(f"`add` takes a monitor such as Flux or FieldRecorder, but got {monitor!r}.")
        check_monitor(self, monitor)
        monitor.bind(self)
        self.monitors.append(monitor)
        self.stepper.watch(patch for each in self.monitors for patch in each.patches)
        return monitor

    def step(self) -> None:
        """Advance E and H by one time step."""
        self.advance(1)

    def advance(self, steps: int) -> None:
        """Advance E and H by as many time steps as nobody has to look at in between (`Stepper.free_steps`)."""
        self.stepper.step(self.step_count, steps)
        self.step_count += steps
        self.timed_steps += steps

    # -- looking at the fields, and at the clocks -------------------------------------------------------------------

    @explained
    @collective("component", "box")
    def field(self, component: str, box: Box | None = None) -> np.ndarray[Any, Any]:
        """Return a component on a box as one array on every rank: for small cells and tests."""
        if component not in COMPONENTS:
            raise InputError(f"A component must be one of {', '.join(COMPONENTS)}, but got {component!r}.")
        box = box or self.grid.box
        self.stepper.settle()
        pieces = []
        for image, chunk in itertools.product(self.layers.images(component), self.chunks):
            seen = box & image.turned(chunk.box & image.kept)
            if not seen.empty:
                views = [chunk.view(component, part, image.turned(seen)) for part in range(self.parts)]
                pieces.append((seen, [image.factor * image.flipped(view) for view in views]))
        result = np.zeros(box.shape, np.complex128 if self.parts == 2 else self.options.precision)
        for there, parts in (piece for rank in self.communicator.allgather(pieces) for piece in rank):
            result[there.slices(box.lo)] = parts[0] if len(parts) == 1 else parts[0] + 1j * parts[1]
        return result

    def mean_time_spent_on(self, phases: str | Sequence[str], clock: Clock = "wall") -> float:
        """Return the mean over ranks of the seconds spent on a phase, or several (see `timing.PHASES`)."""
        return self.timer.mean_time_spent_on(phases, self.communicator, clock)

    def time_table(self) -> list[dict[str, Any]]:
        """Return the wall and CPU seconds of every rank and phase, one row each; all ranks must ask."""
        return self.timer.table(self.communicator)

    def reset_timing(self) -> None:
        """Start the clocks anew, after steps that shouldn't count: the first compile, others warm caches."""
        self.timer.reset()
        self.timed_steps = 0
