"""Runs that stop, are saved, and go on elsewhere; run as a script on several ranks.

usage: checkpoints.py save FOLDER SCENE LAYOUT
       checkpoints.py load FOLDER SCENE LAYOUT REFERENCE.npz
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evenly import fdtd
from evenly.fdtd.cell.grid import COMPONENTS
from evenly.fdtd.monitors.monitor import FourierMonitor
from tests.parallel.everything import SCENES, layouts

# Neither is a multiple of the 16 steps that Fourier monitors keep back.
HALF, WHOLE = 21, 45


def simulation(scene: str, layout: Any = None, **options: Any) -> fdtd.Simulation:
    """Return a simulation with all kinds of monitors, nothing stepped."""
    setup = SCENES[scene]
    pulse = fdtd.GaussianPulse(frequency=1.0, fwidth=0.8)
    wide = [float(size > 0) for size in (*setup["cell"], 0, 0)[:3]]
    sources = [
        fdtd.Source(pulse, "Ex", center=(0.13 * wide[0], 0, -0.11), size=(0.5 * wide[0], 0, 0)),
        fdtd.Source(pulse, "Hy", center=(0.13 * wide[0], 0, -0.31), amplitude=0.3 - 0.4j),
    ]
    sim = fdtd.Simulation(
        **setup, resolution=10, sources=sources, layout=layout, options=fdtd.Options(courant=0.45, **options)
    )
    plane = (0.8 * wide[0], 0.8 * wide[1], 0)
    volume = (0.5 * wide[0], 0.5 * wide[1], 0.6)
    sim.add(fdtd.Flux(center=(0, 0, 0.05), size=plane, frequencies=[0.8, 1.1], direction="+z"))
    sim.add(fdtd.DftFields(["Ex", "Hz"], (0, 0, 0), volume, [0.9], every=2))
    sim.add(fdtd.FieldRecorder("Ey", (0.11 * wide[0], 0.07 * wide[1], -0.12)))
    return sim


def results(sim: fdtd.Simulation) -> dict[str, NDArray[Any]]:
    """Return all fields, transforms and samples."""
    found: dict[str, NDArray[Any]] = {component: sim.field(component) for component in COMPONENTS}
    for n, monitor in enumerate(sim.monitors):
        if isinstance(monitor, FourierMonitor):
            found |= {f"{n}.{key}": values for key, values in monitor.data().arrays.items()}
        else:
            assert isinstance(monitor, fdtd.FieldRecorder)
            found |= {f"{n}.times": monitor.times, f"{n}.values": monitor.values()}
    return found


def steps(sim: fdtd.Simulation, until: int) -> None:
    """Step to a step."""
    sim.run(until=until * sim.grid.dt, progress="off")


def main(what: str, folder: str, scene: str, number: str, reference: str = "") -> None:
    sim = simulation(scene, layouts(SCENES[scene]["cell"])[int(number)])
    if what == "save":
        steps(sim, HALF)
        sim.save(folder, extra={"scene": scene})
        return
    extra = sim.load(folder)
    steps(sim, WHOLE)
    found = results(sim)
    with np.load(Path(reference)) as wanted:
        different = [name for name in wanted.files if not np.array_equal(wanted[name], found[name])]
    fdtd.master_print(extra, different)


if __name__ == "__main__":
    main(*sys.argv[1:])
