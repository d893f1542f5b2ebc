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
from typing import TYPE_CHECKING, Any

from evenly.arguments import explained
from evenly.fdtd.fields import Fields, Options
from evenly.fdtd.ranks.calls import collective
from evenly.fdtd.running.compilation import prepare
from evenly.showing import drawn_chunks

if TYPE_CHECKING:
    from pathlib import Path

    from matplotlib.figure import Figure

    from evenly.fdtd.cell.partition import BinaryPartition
    from evenly.fdtd.counting.counts import Counts
    from evenly.fdtd.measurement.measurement import Measurement
    from evenly.fdtd.monitors.monitor import FourierMonitor
    from evenly.fdtd.monitors.probes import Place
    from evenly.fdtd.monitors.stored_energy import StoredEnergy
    from evenly.fdtd.running.callbacks import Callback
    from evenly.fdtd.running.progress import ProgressChoice
    from evenly.fdtd.running.run_control import Outcome, Until

__all__ = ["Options", "Simulation"]


@explained
class Simulation(Fields):
    """Maxwell's equations on a grid: the fields of a cell, their runs, and what is counted, measured and kept of them.

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

    Attributes
    ----------
    outcome : Outcome or None
        How the last run ended.
    """

    before_stepping = (prepare,)
    outcome: Outcome | None = None

    @explained
    @collective("until", "after_sources")
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

    @explained
    @collective("layout")
    def relayout(self, layout: BinaryPartition | Sequence[Any]) -> float:
        """Go on with another layout, now or during a run, and return the seconds it took; see `running.relayout`."""
        from evenly.fdtd.running.relayout import relayout

        return relayout(self, layout)

    @explained
    def visualize_chunks(self, *, ranks: int | None = None) -> Figure:
        """Return a picture of the chunks, coloured by rank: ``sim.visualize_chunks().savefig("chunks.png")``.

        Nothing is allocated, and other ranks needn't call. `ranks` are those of the job by default, or those that the
        layout is for if there is only one. See `evenly.report.plots.partition.plot_layout`.
        """
        figure: Figure = drawn_chunks(self, ranks)
        return figure

    @explained
    @collective("path")
    def save(self, path: Path | str, *, extra: Any = None) -> None:
        """Write a checkpoint to a folder, each rank its own part; see `evenly.fdtd.storage.checkpoint.save`."""
        from evenly.fdtd.storage.checkpoint import save

        save(self, path, extra=extra)

    @explained
    @collective("path")
    def load(self, path: Path | str) -> Any:
        """Go on from a checkpoint and return its `extra`; see `evenly.fdtd.storage.checkpoint_loading.load`."""
        from evenly.fdtd.storage.checkpoint_loading import load

        return load(self, path)

    @explained
    @collective("component", "point")
    def get_field_point(self, component: str, point: Place) -> float | complex:
        """Return a component at a point, on every rank; see `evenly.fdtd.monitors.probes.field_point`."""
        from evenly.fdtd.monitors.probes import field_point

        return field_point(self, component, point)

    @explained
    @collective("components", "center", "size")
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

    @explained
    @collective("component", "center", "size")
    def max_abs_field(self, component: str, center: Place | None = None, size: Place | None = None) -> float:
        """Return the largest magnitude of a component in a region; see `evenly.fdtd.monitors.probes.max_abs_field`."""
        from evenly.fdtd.monitors.probes import max_abs_field

        return max_abs_field(self, component, center, size)

    @explained
    @collective("center", "size")
    def stored_energy(self, center: Place | None = None, size: Place | None = None) -> StoredEnergy:
        """Return the fields' energy in a region; see `evenly.fdtd.monitors.stored_energy.stored_energy`."""
        from evenly.fdtd.monitors.stored_energy import stored_energy

        return stored_energy(self, center, size)

    @collective()
    def counts(self, monitors: Iterable[FourierMonitor] = ()) -> Counts:
        """Return the points of each kind of the whole cell, with these monitors too; all ranks must ask.

        Nothing is allocated. See `evenly.fdtd.counting.chunk_counts` for tables by chunk and rank, on any number of
        ranks.
        """
        from evenly.fdtd.counting.chunk_counts import cell_counts, tallies

        return cell_counts(tallies(self, monitors=monitors))

    @collective("options")
    def chunk_counts(self, **options: Any) -> list[dict[str, Any]]:
        """Return the points of each kind of every chunk; see `evenly.fdtd.counting.chunk_counts.chunk_counts`."""
        from evenly.fdtd.counting.chunk_counts import chunk_counts

        return chunk_counts(self, **options)

    @collective("options")
    def rank_counts(self, **options: Any) -> list[dict[str, Any]]:
        """Return the points of each kind of every rank; see `evenly.fdtd.counting.chunk_counts.rank_counts`."""
        from evenly.fdtd.counting.chunk_counts import rank_counts

        return rank_counts(self, **options)

    @collective("options")
    def estimated_bytes(self, **options: Any) -> list[int]:
        """Return the bytes that each rank's arrays will take; see `evenly.fdtd.counting.memory.rank_bytes`."""
        from evenly.fdtd.counting.memory import rank_bytes

        return rank_bytes(self, **options)

    @collective()
    def measurement(self, **about: Any) -> Measurement:
        """Return what stepping took so far; see `scaling.measure.measure` for name, parameters, repetition."""
        from evenly.fdtd.measurement.measure import measure

        return measure(self, **about)

    @explained
    @collective("path", "components", "options")
    def write(self, path: Path | str, components: Sequence[str] = ("Ex", "Ey", "Ez"), **options: Any) -> Path:
        """Write fields and media to an HDF5 file, each rank its own part; see `evenly.fdtd.storage.output.write`."""
        from evenly.fdtd.storage.output import write

        return write(self, path, components, **options)
