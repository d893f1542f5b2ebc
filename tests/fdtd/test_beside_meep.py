"""The same problems in Meep, where it is installed: both go to the same limit, and agree better than that before it.

Meep is found under the system's Python (Debian: python3-meep-mpi-default, openmpi-bin, python3-mpi4py,
python3-matplotlib, python3-scipy), or the one that the environment variable EVENLY_MEEP_PYTHON names.
"""

from __future__ import annotations

import functools
import json
import math
import os
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from evenly.fdtd import (
    PML,
    Block,
    Box,
    Flux,
    GaussianPulse,
    Grid,
    Medium,
    Periodic,
    Simulation,
    Source,
    Sphere,
    Structure,
)
from tests.fdtd.physics.mie import Mie

Array = NDArray[Any]
PYTHON = os.environ.get("EVENLY_MEEP_PYTHON", "/usr/bin/python3")
SCRIPT = Path(__file__).with_name("meep_reference.py")
ENVIRONMENT = {
    **os.environ,
    "OMP_NUM_THREADS": "1",
    "OMPI_ALLOW_RUN_AS_ROOT": "1",
    "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
}

SLAB: dict[str, Any] = {
    "cell": 4.0,
    "pml": 1.0,
    "epsilon": 4.0,
    "thickness": 0.5,
    "source": -0.9,
    "planes": [-0.6, 0.6],
    "frequency": 1.0,
    "fwidth": 1.5,
    "frequencies": [0.8, 0.9, 1.0, 1.1, 1.2],
    "until": 40.0,
}
SPHERE: dict[str, Any] = {
    "cell": 2.6,
    "pml": 0.6,
    "epsilon": 2.25,
    "radius": 0.5,
    "source": -0.7,
    "box": 1.2,
    "frequency": 0.7,
    "fwidth": 1.5,
    "frequencies": [0.4, 0.7, 1.0],
    "until": 25.0,
    # Of Ex, in grid spacings from the centre, around the surface at 10 of them.
    "points": [
        [4.5, 0, 2],
        [4.5, 2, 0],
        [2.5, 4, 1],
        [0.5, 0, 5],
        [-3.5, -4, 0],
        [1.5, 3, 4],
        [0.5, 1, 1],
        [9.5, 0, 0],
    ],
}


@functools.cache
def trouble() -> str:
    """Return why Meep can't be run here; nothing if it can."""
    try:
        done = subprocess.run(
            [PYTHON, "-c", "import meep"], capture_output=True, text=True, env=ENVIRONMENT, timeout=120, check=False
        )
    except OSError as error:
        return str(error)
    return "" if done.returncode == 0 else (done.stderr.strip().splitlines() or ["no message"])[-1]


def meep(kind: str, case: dict[str, Any], *resolutions: int) -> list[dict[str, Array]]:
    """Return what Meep finds at each resolution, or skip the test where there is no Meep."""
    if trouble():
        text = f"no Meep to compare with: `{PYTHON} -c 'import meep'` says {trouble()!r}"
        if os.environ.get("EVENLY_NEEDS_MEEP") == "1":
            pytest.fail(text, pytrace=False)
        pytest.skip(text)
    done = subprocess.run(
        [PYTHON, str(SCRIPT), kind, *map(str, resolutions)],
        input=json.dumps(case),
        capture_output=True,
        text=True,
        env=ENVIRONMENT,
        timeout=500,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    line = next(line for line in reversed(done.stdout.splitlines()) if line.startswith("{"))
    return [{key: np.array(values) for key, values in json.loads(line)[str(r)].items()} for r in resolutions]


def slab(resolution: int) -> dict[str, Array]:
    """Return reflected and transmitted share of a wave along z."""
    pulse = GaussianPulse(SLAB["frequency"], fwidth=2.0)
    runs = []
    for epsilon in (1.0, SLAB["epsilon"]):
        sim = Simulation(
            cell=(0, 0, SLAB["cell"]),
            resolution=resolution,
            geometry=[Block(size=(1, 1, SLAB["thickness"]), material=Medium(epsilon=epsilon))],
            sources=[Source(pulse, "Ex", (0, 0, SLAB["source"]))],
            boundaries=[PML(SLAB["pml"])],
        )
        runs.append([sim.add(Flux((0, 0, z), (0, 0, 0), SLAB["frequencies"])) for z in SLAB["planes"]])
        sim.run(until=SLAB["until"])
    (incident, _), (before, behind) = runs
    before.add(incident.data(), -1.0)
    return {"reflected": -before.flux() / incident.flux(), "transmitted": behind.flux() / incident.flux()}


def test_a_slab_reflects_and_transmits_as_in_meep() -> None:
    coarse, fine = meep("slab", SLAB, 20, 40)
    wavelengths = np.array(SLAB["frequencies"]) * math.sqrt(SLAB["epsilon"]) * SLAB["thickness"]
    # At normal incidence R = F sin²/(1 + F sin²), F = (n - 1/n)²/4 for a slab of index n.
    finesse = (math.sqrt(SLAB["epsilon"]) - 1 / math.sqrt(SLAB["epsilon"])) ** 2 / 4
    passed = 1 / (1 + finesse * np.sin(2 * np.pi * wavelengths) ** 2)
    for resolution, theirs in ((20, coarse), (40, fine)):
        ours = slab(resolution)
        # In one dimension both are the same scheme, and the slab's ends lie on grid points, where both take the mean
        # of ε. What differs is what the layers reflect, a few 1e-5 of the amplitude at 20 points per a.
        np.testing.assert_allclose(
            ours["transmitted"], theirs["transmitted"], rtol=0, atol=1e-4 * (20 / resolution) ** 2
        )
        np.testing.assert_allclose(ours["reflected"], theirs["reflected"], rtol=0, atol=1e-4 * (20 / resolution) ** 2)
        wrong = np.abs(ours["transmitted"] - passed).max()
        # Phases through the slab are wrong by 2π n f d (2π n f dx)²/24, at most 0.2 at 20 points per a.
        assert wrong < 0.08 * (20 / resolution) ** 2


def sphere(resolution: int) -> Array:
    """Return scattering efficiencies."""
    pulse, size = GaussianPulse(SPHERE["frequency"], fwidth=2.0), SPHERE["cell"]
    runs = []
    for epsilon in (1.0, SPHERE["epsilon"]):
        sim = Simulation(
            cell=(size, size, size),
            resolution=resolution,
            geometry=[Sphere(radius=SPHERE["radius"], material=Medium(epsilon=epsilon))],
            sources=[Source(pulse, "Ex", (0, 0, SPHERE["source"]), size=(size, size, 0))],
            boundaries=[PML(SPHERE["pml"]), Periodic("xy")],
        )
        around = sim.add(Flux((0, 0, 0), (SPHERE["box"],) * 3, SPHERE["frequencies"]))
        runs.append((around, sim.add(Flux((0, 0, 0), (0.2, 0.2, 0), SPHERE["frequencies"]))))
        sim.run(until=SPHERE["until"])
    (incident, plane), (around, _) = runs
    around.add(incident.data(), -1.0)
    return np.asarray(around.flux() / plane.flux() * 0.2**2 / (np.pi * SPHERE["radius"] ** 2))


@pytest.mark.slow
def test_a_sphere_scatters_as_in_meep() -> None:
    coarse, fine = meep("sphere", SPHERE, 10, 15)
    index = math.sqrt(SPHERE["epsilon"])
    theory = np.array([Mie(index, 2 * math.pi * f * SPHERE["radius"]).scattering for f in SPHERE["frequencies"]])
    apart = []
    for resolution, theirs in ((10, coarse), (15, fine)):
        ours = sphere(resolution)
        apart.append(float(np.abs(ours / theirs["scattered"] - 1).max()))
        # Both have the grid's dispersion and hence errors of the same size; the averages at the surface differ.
        wrong = max(np.abs(found / theory - 1).max() for found in (ours, theirs["scattered"]))
        assert apart[-1] < 0.5 * wrong
    assert apart[1] < 0.01
    # Both are of second order, so is what they are apart: (2/3)² = 0.44.
    assert apart[1] < 0.55 * apart[0]


def test_points_at_a_surface_respond_as_in_meep() -> None:
    (theirs,) = meep("points", SPHERE, 10)
    grid = Grid((SPHERE["cell"],) * 3, 10)
    ball = Sphere(radius=SPHERE["radius"], material=Medium(epsilon=SPHERE["epsilon"]))
    structure = Structure(grid, [ball])
    ours = []
    for place in SPHERE["points"]:
        index = [round(grid.index(i / 10, a, "Ex")) for a, i in enumerate(place)]
        x, y, z = index
        value: Any = structure.sample(Box((x, y, z), (x + 1, y + 1, z + 1))).electric.inverse[0]
        ours.append(float(np.ravel(value)[0]))
    # Meep integrates over the pixel to 1e-4 and evenly takes the surface in it for a flat one, which leaves out what
    # the curvature (a tenth of the spacing at 5 spacings' radius) changes beyond its mean depth.
    np.testing.assert_allclose(ours, theirs["inverse"], rtol=0, atol=5e-3)
    assert ours[-2:] == [1 / SPHERE["epsilon"], 1.0]
