"""Checkpoints: a simulation's whole state in a folder, to go on later, also on another number of ranks or layout.

>>> import tempfile
>>> from evenly.fdtd.simulation import Simulation
>>> def simulation():
...     return Simulation(cell=(1.0, 0, 0), resolution=10)
>>> with tempfile.TemporaryDirectory() as folder:
...     first = simulation()
...     first.run(until=2.0, callbacks=[Checkpoints(f"{folder}/state", time=1.0)])
...     second = simulation()
...     nothing = second.load(f"{folder}/state")
...     second.step_count == first.step_count
True

A run that goes on gives the same fields and transforms, to the last bit, as one that never stopped. Kept are fields,
what layers, polarisations and nonlinear media remember, sums and buffers of Fourier monitors, recorders' samples, the
time, and what the conditions of a run have seen. Not kept is what the script makes anew: cell, media, sources, monitors
(add the same ones, in the same order, before loading), and clocks. Random generators are yours; `extra` takes their
state: ``sim.save(path, extra=rng.bit_generator.state)``.
"""

from __future__ import annotations

from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from evenly.arguments import explained
from evenly.errors import InputError
from evenly.fdtd.monitors.monitor import FourierMonitor
from evenly.fdtd.ranks.launch_output import tell_supervisor
from evenly.fdtd.running.callbacks import Callback, at_every
from evenly.fdtd.stepping.chunk_state import dense_arrays, packed_arrays, place_box, state_bytes
from evenly.fdtd.storage.checkpoint_files import PartWriter, part_name, together
from evenly.fdtd.storage.checkpoint_folder import FORMAT, VERSION, check_place, commit, discard_unnamed, new_data
from evenly.fdtd.storage.checkpoint_manifest import description, remember, remembered

if TYPE_CHECKING:
    from evenly.fdtd.fields import Fields
    from evenly.fdtd.stepping.chunk import Chunk

__all__ = ["Checkpoints", "check", "save"]

Array = NDArray[Any]
_CLOCK_STEPS = 32


def save(sim: Fields, path: Path | str, *, extra: Any = None) -> None:
    """Write a checkpoint; each rank writes its own part (all ranks must call).

    Parameters
    ----------
    sim : Fields
    path : Path or str
        A folder: a new one, or an older checkpoint, which is replaced when the new one is complete.
    extra : anything that JSON takes
        Given back by `load`; the master's counts.

    Raises
    ------
    InputError
        The place can't be written to or is too full; an older checkpoint there is left as it was.

    Examples
    --------
    >>> import tempfile
    >>> from evenly.fdtd.simulation import Simulation
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save(Simulation(cell=(1, 0, 0), resolution=10), folder, extra={"seed": 1})
    ...     Simulation(cell=(1, 0, 0), resolution=10).load(folder)
    {'seed': 1}
    """
    folder, communicator = Path(path), sim.communicator
    sim.stepper.settle()
    with sim.timer("output"):
        check(sim, folder)
        first, doing = communicator.rank == 0, f"Saving to {folder}"
        made = together(communicator, lambda: new_data(folder, sim.step_count) if first else None, doing)
        data = communicator.bcast(made)
        try:
            recorders: Any = {n: m for n, m in enumerate(sim.monitors) if not isinstance(m, FourierMonitor)}
            states = {n: recorder.state() for n, recorder in recorders.items()}
            tables = together(communicator, lambda: _write_part(sim, folder / data, states), doing)
            manifest = _manifest(sim, data, communicator.allgather(tables), extra)
            together(communicator, lambda: commit(folder, manifest) if first else None, doing)
        except BaseException:
            if first and not discard_unnamed(folder, data):
                remember(sim, folder, data)
            raise
    remember(sim, folder, data)
    if first:
        tell_supervisor(checkpoint=str(folder.resolve()), step=sim.step_count)


def check(sim: Fields, path: Path | str) -> None:
    """Check that a checkpoint can be written to a folder now (all ranks must call).

    Raises
    ------
    InputError
        The place is something else, can't be written to, or is too full, or another job saves there.

    Examples
    --------
    >>> import tempfile
    >>> from evenly.fdtd.simulation import Simulation
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     check(Simulation(cell=(1, 0, 0), resolution=10), folder)
    """
    mine = sum(state_bytes(chunk) for chunk in sim.chunks)
    patches = [part.patch for m in sim.monitors if isinstance(m, FourierMonitor) for part in m.parts()]
    mine += sum(patch.component_points * 16 * (len(patch.phases.frequencies) + 8) for patch in patches)
    needed = float(sim.communicator.allreduce(float(mine)))
    folder, first = Path(path), sim.communicator.rank == 0
    together(
        sim.communicator, lambda: check_place(folder, needed, remembered(sim, folder)) if first else None,
        f"Saving to {path}",
    )  # fmt: skip


def _write_part(sim: Fields, folder: Path, states: dict[int, dict[str, Array]]) -> dict[str, Any]:
    """Write this rank's arrays and return what is in them, in the order of the manifest."""
    table: dict[str, Any] = {"chunks": [], "patches": []}
    with PartWriter(folder / part_name(sim.communicator.rank)) as part:
        for chunk in sim.chunks:
            table["chunks"].append(_write_chunk(part, chunk))
        for n, monitor in enumerate(sim.monitors):
            if isinstance(monitor, FourierMonitor):
                for p, local in enumerate(monitor.parts()):
                    for name, values in local.patch.state().items():
                        part.write(f"monitor{n}/{p}/{name}", values)
                    table["patches"].append([n, p, local.region.key, local.patch.box.lo, local.patch.box.hi])
            elif sim.communicator.rank == 0:
                for name, values in states[n].items():
                    part.write(f"monitor{n}/{name}", values)
    return table


def _write_chunk(part: PartWriter, chunk: Chunk) -> dict[str, Any]:
    dense, packed = dense_arrays(chunk), packed_arrays(chunk)
    for n, values in enumerate(dense.values()):
        part.write(f"chunk{chunk.index}/dense{n}", values)
    for n, group in enumerate(packed):
        box = place_box(group.arrays, chunk.box)
        flat = np.ravel_multi_index(tuple((group.points - box.lo).T), box.shape)
        part.write(f"chunk{chunk.index}/points{n}", flat.astype(np.uint32 if chunk.box.volume < 2**32 else np.uint64))
        for k, values in enumerate(group.arrays.values()):
            part.write(f"chunk{chunk.index}/packed{n}.{k}", values)
    return {
        "index": chunk.index, "lo": chunk.box.lo, "hi": chunk.box.hi, "dense": list(dense),
        "packed": [list(group.arrays) for group in packed],
    }  # fmt: skip


def _manifest(sim: Fields, data: str, tables: list[dict[str, Any]], extra: Any) -> dict[str, Any]:
    return {
        "format": FORMAT,
        "version": VERSION,
        "data": data,
        "step": sim.step_count,
        "time": sim.time,
        **description(sim),
        "conditions": {repr(condition): condition.state() for condition in sim.conditions},
        "extra": extra,
        "ranks": tables,
    }


@explained
class Checkpoints(Callback):
    """Saves a checkpoint now and then during a run, in one folder; whether that can be is checked before the run.

    Parameters
    ----------
    path : Path or str
        The folder.
    steps, time, seconds : optional
        Every so many steps, so much time in a/c, or so many seconds of the master's clock. Give one of them.

    Raises
    ------
    InputError
        None or several are given, or not a positive one; before the run: the folder can't be written to.

    Examples
    --------
    >>> Checkpoints("state", seconds=1800).path.name
    'state'
    """

    def __init__(
        self, path: Path | str, *, steps: int | None = None, time: float | None = None, seconds: float | None = None
    ) -> None:
        given = [value for value in (steps, time, seconds) if value is not None]
        if len(given) != 1 or not given[0] > 0:
            raise InputError(
                "Checkpoints needs one of `steps`, `time` and `seconds`, and a positive one, but got "
                f"steps={steps!r}, time={time!r}, seconds={seconds!r}."
            )
        self.path, self.seconds = Path(path), seconds
        self._every = None if seconds is not None else at_every(self.act, steps=steps, time=time)
        self._last = perf_counter()

    def begin(self, sim: Fields) -> None:
        check(sim, self.path)
        self._last = perf_counter()

    def due(self, sim: Fields) -> bool:
        if self._every is not None:
            return self._every.due(sim)
        if sim.step_count % _CLOCK_STEPS or self.seconds is None:
            return False
        return bool(sim.communicator.bcast(perf_counter() - self._last >= self.seconds))

    def act(self, sim: Fields) -> None:
        save(sim, self.path)
        self._last = perf_counter()

    def end(self, sim: Fields) -> None:
        """The last state isn't saved: say `sim.save` if it is wanted."""
