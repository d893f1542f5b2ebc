"""What a checkpoint must agree on with the simulation that loads it, and what to say where they differ."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

from evenly.errors import ReadError
from evenly.fdtd.monitors.monitor import FourierMonitor
from evenly.fdtd.stepping.chunk_state import media_digest

if TYPE_CHECKING:
    from evenly.fdtd.simulation import Simulation

__all__ = ["check_same", "description"]

_LONGEST = 300


def description(sim: Simulation) -> dict[str, Any]:
    """Return what must be the same when a checkpoint is loaded, as JSON gives it back (all ranks must call).

    Examples
    --------
    >>> from evenly.fdtd.simulation import Simulation
    >>> description(Simulation(cell=(1, 0, 0), resolution=10))["simulation"]["cell"]
    [1.0, 0.0, 0.0]
    """
    return {
        "simulation": _numbers(sim),
        "media": media_digest(sim),
        "objects": _objects(sim),
        "monitors": [_monitor(monitor) for monitor in sim.monitors],
    }


def _numbers(sim: Simulation) -> dict[str, Any]:
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
    }


def _objects(sim: Simulation) -> list[str]:
    # Functions are told by name: their addresses differ from run to run.
    return [re.sub(r" at 0x[0-9a-f]+", "", repr(thing))[:_LONGEST] for thing in sim.structure.objects]


def _monitor(monitor: Any) -> dict[str, Any]:
    regions = [[r.key, r.component, list(r.box.lo), list(r.box.hi), r.average] for r in _regions(monitor)]
    return {"kind": monitor.label, "frequencies": [float(f) for f in monitor.frequencies], "regions": regions}


def _regions(monitor: Any) -> list[Any]:
    return list(monitor.regions(monitor.stage.grid)) if isinstance(monitor, FourierMonitor) else []


def check_same(sim: Simulation, folder: Path, manifest: dict[str, Any]) -> None:
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
