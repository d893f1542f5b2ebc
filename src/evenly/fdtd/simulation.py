"""A simulation: a cell, what is in it, and its fields, stepped in time on as many ranks as there are.

>>> from evenly.fdtd.cell.boundaries import PML
>>> from evenly.fdtd.sources.pulses import GaussianPulse
>>> from evenly.fdtd.sources.source import Source
>>> source = Source(GaussianPulse(frequency=1.0, fwidth=0.5), "Ez", center=(0, 0, 0))
>>> sim = Simulation(cell=(4, 4, 0), resolution=10, sources=[source], boundaries=[PML(1.0)])
>>> sim.run(until=2.0)
>>> sim.step_count, round(sim.time, 12)
(40, 2.0)
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, Any, Literal, TypeVar

import numpy as np

from evenly.errors import InputError
from evenly.fdtd.cell.boundaries import Boundary, Layers, resolve
from evenly.fdtd.cell.box import Box
from evenly.fdtd.cell.cutting import ChunkBox, split_for_threads
from evenly.fdtd.cell.grid import Grid, Vector, vector
from evenly.fdtd.cell.partition import BinaryPartition
from evenly.fdtd.media.geometry import GeometricObject, Material
from evenly.fdtd.media.materials import vacuum
from evenly.fdtd.media.stability import safe_courant
from evenly.fdtd.media.structure import Structure
from evenly.fdtd.ranks.parallel import current
from evenly.fdtd.sources.source import Source, phases
from evenly.fdtd.stepping.timing import Clock, PhaseTimer

if TYPE_CHECKING:
    from pathlib import Path

    from evenly.fdtd.counting.counts import Counts
    from evenly.fdtd.measurement.measurement import Measurement
    from evenly.fdtd.monitors.monitor import FourierMonitor
    from evenly.fdtd.monitors.probes import Place
    from evenly.fdtd.monitors.recorder import FieldRecorder
    from evenly.fdtd.monitors.stored_energy import StoredEnergy
    from evenly.fdtd.ranks.communicators import Communicator
    from evenly.fdtd.running.callbacks import Callback
    from evenly.fdtd.running.conditions import Condition
    from evenly.fdtd.running.progress import ProgressChoice
    from evenly.fdtd.running.run_control import Outcome, Until
    from evenly.fdtd.stepping.chunk import Chunk
    from evenly.fdtd.stepping.stepper import Stepper

__all__ = ["Options", "Simulation"]

M = TypeVar("M", bound="FourierMonitor | FieldRecorder")


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


class Simulation:
    """Maxwell's equations on a grid.

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
    layout : BinaryPartition or nested lists, optional
        How the cell is cut; into equal volumes, one for each rank, when left out.
    options : Options
    communicator : Communicator, optional
        The ranks that share the cell; all of this process's group when left out.

    Raises
    ------
    InputError
        If something breaks a rule; the message names it.
    """

    def __init__(
        self,
        *,
        cell: Sequence[float] | float,
        resolution: float,
        geometry: Sequence[GeometricObject] = (),
        material: Material = vacuum,
        sources: Sequence[Source] = (),
        boundaries: Iterable[Boundary] = (),
        layout: BinaryPartition | Sequence[Any] | None = None,
        options: Options | None = None,
        communicator: Communicator | None = None,
    ) -> None:
        # First of all, so that a mistake on any rank ends the whole job.
        self.communicator = communicator or current()
        self.options = options or Options()
        if isinstance(geometry, GeometricObject) or isinstance(sources, Source):
            raise InputError("`geometry` and `sources` must be lists, but got a single object: put it in brackets.")
        self.grid = self._make_grid(
            vector(cell, "cell"), resolution, [material, *(getattr(o, "material", None) for o in geometry)]
        )
        self.layers: Layers = resolve(boundaries, self.grid)
        self.structure = Structure(self.grid, geometry, material, subpixel=self.options.subpixel, layers=self.layers)
        if layout is None:
            layout = BinaryPartition.equal(self.grid, self.communicator.size)
        self.layout = layout if isinstance(layout, BinaryPartition) else BinaryPartition(layout)
        self.layout.validate(self.grid)
        self.sources = list(sources)
        for source in self.sources:
            source.check(self.grid)
        self.timer = PhaseTimer()
        self.step_count = self.timed_steps = 0
        self.monitors: list[FourierMonitor | FieldRecorder] = []
        self.decimation = self.options.decimation
        self.outcome: Outcome | None = None
        self.conditions: list[Condition] = []
        self.resumed: dict[str, Any] = {}
        self._check_fields()

    def _make_grid(self, size: Vector, resolution: float, materials: list[Any]) -> Grid:
        if self.options.courant is not None:
            return Grid(size, resolution, self.options.courant)
        usual = Grid(size, resolution)
        return replace(usual, courant=safe_courant(usual, materials))

    # -- what it is -----------------------------------------------------------------------------------------------

    @property
    def time(self) -> float:
        """Time of E in a/c."""
        return self.step_count * self.grid.dt

    @property
    def parts(self) -> int:
        """2 for complex fields, which a Bloch phase makes; 1 for real ones."""
        return 2 if self.layers.complex_fields else 1

    @cached_property
    def is_linear(self) -> bool:
        """Whether no medium is nonlinear."""
        return not any(table.any() for p in self.structure.palettes for table in (p.chi2, p.chi3))

    @cached_property
    def chunk_boxes(self) -> list[ChunkBox]:
        """All chunks of the cell, absorbing layers split off, in the order of the layout's leaves."""
        chunks = self.layout.chunks(self.grid, self.layers, self.communicator.size)
        return split_for_threads(chunks, self.options.threads) if self.options.threads > 1 else chunks

    def _check_fields(self) -> None:
        if self.parts == 2 and not self.is_linear:
            raise InputError(
                "A nonlinear medium needs real fields, but Bloch's `k` makes them complex: choose k so that the phase "
                "over the cell is 1 or -1, or leave chi2 and chi3 out."
            )

    # -- stepping -------------------------------------------------------------------------------------------------

    @cached_property
    def chunks(self) -> list[Chunk]:
        """The chunks of this rank; made when first asked for."""
        from evenly.fdtd.stepping.chunk import Chunk

        setting: dict[str, Any] = {
            "parts": self.parts,
            "dtype": np.dtype(self.options.precision),
            "fused": self.options.fused,
        }
        chunks = [
            Chunk(index, part.box, self.structure, self.layers, part.pml, **setting)
            for index, part in enumerate(self.chunk_boxes)
            if part.owner == self.communicator.rank
        ]
        self._add_currents(chunks)
        return chunks

    @cached_property
    def stepper(self) -> Stepper:
        """Steps this rank's chunks; collective when first asked for."""
        from evenly.fdtd.running.compilation import prepare
        from evenly.fdtd.stepping.stepper import Stepper

        prepare(self)
        with self.timer("other"):
            stepper = Stepper(
                self.chunk_boxes, self.chunks, self.layers, self.communicator, self.timer, self.options.threads
            )
            stepper.watch(patch for monitor in self.monitors for patch in monitor.patches)
        return stepper

    def _add_currents(self, chunks: Sequence[Chunk]) -> None:
        for source in self.sources:
            # All patches of a source ask for the same two times in a step, one for E and one for H.
            amplitude = lru_cache(maxsize=2)(source.pulse.amplitude)
            for chunk in chunks:
                for patch in source.patches(self.grid, chunk.box, phases(self.layers)):
                    chunk.add_current(patch.component, patch.box, patch.weights, amplitude)

    def add(self, monitor: M) -> M:
        """Attach a monitor from now on and return it.

        Raises
        ------
        InputError
            If it does not fit the cell.
        """
        monitor.bind(self)
        self.monitors.append(monitor)
        self.stepper.watch(patch for each in self.monitors for patch in each.patches)
        return monitor

    def step(self) -> None:
        """Advance E and H by one time step."""
        self.stepper.step(self.step_count, self.grid.dt)
        self.step_count += 1
        self.timed_steps += 1

    def run(
        self,
        *,
        until: Until | None = None,
        after_sources: float | None = None,
        callbacks: Sequence[Callback | Callable[[Simulation], Any]] = (),
        progress: ProgressChoice = "auto",
    ) -> None:
        """Step until a time or a condition, whichever comes first; `outcome` then says which.

        Times are in a/c, counted from the simulation's beginning, `after_sources` from the end of the last source. See
        `evenly.fdtd.running.run_control.run`.
        """
        from evenly.fdtd.running.run_control import run

        self.outcome = run(self, until=until, after_sources=after_sources, callbacks=callbacks, show=progress)

    def relayout(self, layout: BinaryPartition | Sequence[Any]) -> float:
        """Go on with another layout, now or during a run, and return the seconds it took; see `running.relayout`."""
        from evenly.fdtd.running.relayout import relayout

        return relayout(self, layout)

    def save(self, path: Path | str, *, extra: Any = None) -> None:
        """Write a checkpoint to a folder, each rank its own part; see `evenly.fdtd.storage.checkpoint.save`."""
        from evenly.fdtd.storage.checkpoint import save

        save(self, path, extra=extra)

    def load(self, path: Path | str) -> Any:
        """Go on from a checkpoint and return its `extra`; see `evenly.fdtd.storage.checkpoint_loading.load`."""
        from evenly.fdtd.storage.checkpoint_loading import load

        return load(self, path)

    # -- looking at the fields ------------------------------------------------------------------------------------

    def field(self, component: str, box: Box | None = None) -> np.ndarray[Any, Any]:
        """Return a component on a box as one array on every rank: for small cells and tests."""
        box = box or self.grid.box
        self.stepper.settle()
        pieces = [
            (box & c.box, [c.view(component, part, box & c.box).copy() for part in range(self.parts)])
            for c in self.chunks
            if not (box & c.box).empty
        ]
        result = np.zeros(box.shape, np.complex128 if self.parts == 2 else self.options.precision)
        for there, parts in (piece for rank in self.communicator.allgather(pieces) for piece in rank):
            result[there.slices(box.lo)] = parts[0] if len(parts) == 1 else parts[0] + 1j * parts[1]
        return result

    def get_field_point(self, component: str, point: Place) -> float | complex:
        """Return a component at a point, on every rank; see `evenly.fdtd.monitors.probes.field_point`."""
        from evenly.fdtd.monitors.probes import field_point

        return field_point(self, component, point)

    def integrate(
        self,
        function: Callable[..., Any],
        components: Sequence[str],
        center: Place | None = None,
        size: Place | None = None,
    ) -> float | complex:
        """Return the integral of ``function(x, y, z, *fields)``; see `evenly.fdtd.monitors.probes.integrate`."""
        from evenly.fdtd.monitors.probes import integrate

        return integrate(self, function, components, center, size)

    def max_abs_field(self, component: str, center: Place | None = None, size: Place | None = None) -> float:
        """Return the largest magnitude of a component in a region; see `evenly.fdtd.monitors.probes.max_abs_field`."""
        from evenly.fdtd.monitors.probes import max_abs_field

        return max_abs_field(self, component, center, size)

    def stored_energy(self, center: Place | None = None, size: Place | None = None) -> StoredEnergy:
        """Return the fields' energy in a region; see `evenly.fdtd.monitors.stored_energy.stored_energy`."""
        from evenly.fdtd.monitors.stored_energy import stored_energy

        return stored_energy(self, center, size)

    # -- what it holds and what it took ---------------------------------------------------------------------------

    def counts(self, monitors: Iterable[FourierMonitor] = ()) -> Counts:
        """Return the points of each kind of the whole cell, with these monitors too; all ranks must ask.

        Nothing is allocated. See `evenly.fdtd.counting.chunk_counts` for tables by chunk and rank, on any number of
        ranks.
        """
        from evenly.fdtd.counting.chunk_counts import cell_counts, tallies

        return cell_counts(tallies(self, monitors=monitors))

    def chunk_counts(self, **options: Any) -> list[dict[str, Any]]:
        """Return the points of each kind of every chunk; see `evenly.fdtd.counting.chunk_counts.chunk_counts`."""
        from evenly.fdtd.counting.chunk_counts import chunk_counts

        return chunk_counts(self, **options)

    def rank_counts(self, **options: Any) -> list[dict[str, Any]]:
        """Return the points of each kind of every rank; see `evenly.fdtd.counting.chunk_counts.rank_counts`."""
        from evenly.fdtd.counting.chunk_counts import rank_counts

        return rank_counts(self, **options)

    def estimated_bytes(self, **options: Any) -> list[int]:
        """Return the bytes that each rank's arrays will take; see `evenly.fdtd.counting.memory.rank_bytes`."""
        from evenly.fdtd.counting.memory import rank_bytes

        return rank_bytes(self, **options)

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

    def measurement(self, **about: Any) -> Measurement:
        """Return what stepping took so far; see `scaling.measure.measure` for name, parameters, repetition."""
        from evenly.fdtd.measurement.measure import measure

        return measure(self, **about)

    def write(self, path: Path | str, components: Sequence[str] = ("Ex", "Ey", "Ez"), **options: Any) -> Path:
        """Write fields and media to an HDF5 file, each rank its own part; see `evenly.fdtd.storage.output.write`."""
        from evenly.fdtd.storage.output import write

        return write(self, path, components, **options)
