"""What a checkpoint must agree on with the simulation that loads it, and what to say where they differ."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from evenly.errors import ReadError
from evenly.fdtd.cell.box import Box
from evenly.fdtd.monitors.monitor import FourierMonitor
from evenly.fdtd.stepping.chunk_state import packed_points

if TYPE_CHECKING:
    from evenly.fdtd.fields import Fields
    from evenly.fdtd.stepping.chunk import Chunk

__all__ = ["check_same", "description", "media_digest", "remember", "remembered"]

Array = NDArray[Any]
_LONGEST = 300
_SLAB_POINTS = 250_000
_digests: WeakKeyDictionary[Fields, str] = WeakKeyDictionary()
_last: WeakKeyDictionary[Fields, dict[Path, str]] = WeakKeyDictionary()


def remember(sim: Fields, folder: Path, data: str) -> None:
    """Keep in mind the data folder that this simulation last wrote or read in the folder of a checkpoint."""
    _last.setdefault(sim, {})[folder.resolve()] = data


def remembered(sim: Fields, folder: Path) -> str | None:
    """Return the data folder that this simulation last wrote or read there; None if it did neither."""
    return _last.get(sim, {}).get(folder.resolve())


def description(sim: Fields) -> dict[str, Any]:
    """Return what must be the same when a checkpoint is loaded, as JSON gives it back (all ranks must call).

    Examples
    --------
    >>> from evenly.fdtd.simulation import Simulation
    >>> description(Simulation(cell=(1, 0, 0), resolution=10))["simulation"]["cell"]
    [1.0, 0.0, 0.0]
    """
    return {
        "simulation": _settings(sim),
        "media": media_digest(sim),
        "objects": _objects(sim),
        "monitors": [_monitor(monitor) for monitor in sim.monitors],
    }


def _settings(sim: Fields) -> dict[str, Any]:
    grid, layers = sim.grid, sim.layers
    return {
        "cell": list(grid.size),
        "resolution": float(grid.resolution),
        "courant": float(grid.courant),
        "precision": sim.options.precision,
        "sides": list(layers.kinds),
        "PML points": [list(pair) for pair in layers.pml],
        "absorber points": [list(pair) for pair in layers.absorber],
        "layers": sorted(f"{axis} {side}: {layer!r}" for (axis, side), layer in layers.made.items()),
        "Bloch vector": list(layers.bloch),
        "mirrors": list(layers.mirrors),
    }


def _objects(sim: Fields) -> list[str]:
    # Functions are told by name: their addresses differ from run to run.
    return [re.sub(r" at 0x[0-9a-f]+", "", repr(thing))[:_LONGEST] for thing in sim.structure.objects]


def _monitor(monitor: Any) -> dict[str, Any]:
    regions = [[r.key, r.component, list(r.box.lo), list(r.box.hi), r.average] for r in _regions(monitor)]
    return {"kind": monitor.label, "frequencies": [float(f) for f in monitor.frequencies], "regions": regions}


def _regions(monitor: Any) -> list[Any]:
    return list(monitor.regions(monitor.stage.grid)) if isinstance(monitor, FourierMonitor) else []


def check_same(sim: Fields, folder: Path, manifest: dict[str, Any]) -> None:
    """Check that a checkpoint is that of the same simulation (all ranks must call).

    Raises
    ------
    ReadError
        On all ranks, saying what differs.
    """
    here = description(sim)
    saved, numbers = manifest["simulation"], here["simulation"]
    differ = [f"{name} {saved.get(name)!r} but here {own!r}" for name, own in numbers.items() if saved.get(name) != own]
    if not differ and manifest["media"] != here["media"]:
        differ = _differing_objects(manifest["objects"], here["objects"])
    if not differ and manifest["monitors"] != here["monitors"]:
        differ = _differing_monitors(manifest["monitors"], here["monitors"])
    if differ:
        raise ReadError(
            folder, f"the checkpoint is that of another simulation, with {'; '.join(differ)}: load it into the same one"
        )


def _differing_objects(saved: list[str], here: list[str]) -> list[str]:
    for n, (one, other) in enumerate(zip(saved, here, strict=False)):
        if one != other:
            return [f"object {n} {one} but here {other}" if n else f"background {one} but here {other}"]
    if len(saved) != len(here):
        return [f"{len(saved) - 1} objects but here {len(here) - 1}"]
    return ["media of other values at some points, by a function or an array, though the objects look the same"]


def _differing_monitors(saved: list[Any], here: list[Any]) -> list[str]:
    if len(saved) != len(here):
        listed = ", ".join(one["kind"] for one in saved) or "none"
        return [f"{len(saved)} monitors ({listed}) but here {len(here)} (add the same before loading)"]
    n = next(n for n, (one, other) in enumerate(zip(saved, here, strict=True)) if one != other)
    return [f"monitor {n}, {saved[n]['kind']}, of other frequencies or another place than {here[n]['kind']} here"]


def media_digest(sim: Fields) -> str:
    """Return a number for all that the cell's points are made of, the same for every layout (all ranks must call).

    It is a sum over points and quantities of a hash of place and value, so that it doesn't depend on their order.

    Examples
    --------
    >>> from evenly.fdtd.simulation import Simulation
    >>> one, other = (Simulation(cell=(size, 0, 0), resolution=10) for size in (1, 2))
    >>> media_digest(one) == media_digest(one), media_digest(one) == media_digest(other)
    (True, False)
    """
    if sim not in _digests:
        mine = sum(_of_chunk(chunk) for chunk in sim.chunks)
        _digests[sim] = f"{sum(sim.communicator.allgather(mine)) % 2**64:016x}"
    return _digests[sim]


def _of_chunk(chunk: Chunk) -> int:
    total = 0
    for name, medium in chunk.media.items():
        for axis, user in enumerate(chunk.frame.order):
            salt = 10 * "EH".index(name) + user
            for slab in chunk.box.slabs(0, _SLAB_POINTS):
                where = _numbers(chunk, *np.ogrid[slab.slices((0, 0, 0))])
                c: Any = medium.c[axis] if medium.c[axis].size > 1 else medium.scalar[axis]
                total += _mixed(where, _at(chunk, c, slab), salt)
                a = medium.a[axis] if medium.a[axis].size > 1 else np.ones((), medium.a[axis].dtype)
                total += _mixed(where, _at(chunk, a, slab), salt + 100)
        total += sum(_mixed(*one) for one in _extras(chunk, name))
    return total


def _extras(chunk: Chunk, name: str) -> Iterator[tuple[Array, Array, int]]:
    medium, side = chunk.media[name], 10 * "EH".index(name)
    for group in medium.poles:
        user = chunk.frame.order[group.component]
        places = packed_points(chunk, group.runs)
        where = _numbers(chunk, *places.T)
        for factors, strengths in zip(group.factors, group.strengths, strict=True):
            yield where, strengths * factors[2], side + user + 200
    for points in medium.nonlinear:
        places = packed_points(chunk, points.runs)
        where = _numbers(chunk, *places.T)
        yield where, np.broadcast_to(points.chi2, len(places)), side + 300
        yield where, np.broadcast_to(points.chi3, len(places)), side + 400
    if medium.sites:
        own = np.all((medium.sites.place >= chunk.box.lo) & (medium.sites.place < chunk.box.hi), axis=1)
        where = _numbers(chunk, *medium.sites.place[own].T)
        yield where, (medium.sites.factors * (1 + medium.sites.kind)).sum(axis=0)[own], side + 600
    if medium.nodes:
        places = packed_points(chunk, medium.nodes.runs)
        # Nodes at a border are known to both chunks: that in whose box they are counts them.
        own = np.all((places >= chunk.box.lo) & (places < chunk.box.hi), axis=1)
        where = _numbers(chunk, *places[own].T)
        for axis, elements in enumerate(medium.nodes.elements):
            yield where, elements[own], side + chunk.frame.order[axis] + 500


def _at(chunk: Chunk, values: Any, box: Box) -> Array:
    return np.asarray(chunk.frame.view(values, box) if np.ndim(values) else values)


def _numbers(chunk: Chunk, x: Array, y: Array, z: Array) -> Array:
    """Return the number in the cell of each point, from its indices along the axes."""
    _, ny, nz = chunk.grid.shape
    return np.asarray((x * ny + y) * nz + z, np.uint64)


def _mixed(where: Array, values: Array, salt: int) -> int:
    """Return Σ hash(place, value) modulo 2^64, by the finaliser of SplitMix64."""
    bits = np.ascontiguousarray(values, np.float64).view(np.uint64).reshape(np.shape(values))
    hashed = where * np.uint64(0x9E3779B97F4A7C15) + np.uint64(salt)
    hashed = (hashed ^ (hashed >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9) ^ bits
    hashed = (hashed ^ (hashed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return int(np.sum(hashed ^ (hashed >> np.uint64(31)), dtype=np.uint64))
