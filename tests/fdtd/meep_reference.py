"""The same slab and sphere in Meep: prints a JSON object of what it finds on the last line.

Runs under the Python that has Meep, without evenly: ``/usr/bin/python3 tests/fdtd/meep_reference.py slab 20 40``.
Lengths, frequencies and places must be those of test_beside_meep.py, which hands them over as JSON on standard input.
"""

from __future__ import annotations

import json
import sys
from typing import Any


def slab(mp: Any, case: dict[str, Any], resolution: int) -> dict[str, Any]:
    """Return reflected and transmitted share of a wave along z."""
    fluxes: list[list[list[float]]] = []
    incident: Any = None
    for epsilon in (1.0, case["epsilon"]):
        sim = mp.Simulation(
            cell_size=mp.Vector3(z=case["cell"]),
            resolution=resolution,
            dimensions=1,
            geometry=[
                mp.Block(size=mp.Vector3(mp.inf, mp.inf, case["thickness"]), material=mp.Medium(epsilon=epsilon))
            ],
            sources=[mp.Source(pulse(mp, case), mp.Ex, mp.Vector3(z=case["source"]))],
            boundary_layers=[mp.PML(case["pml"])],
        )
        planes = [
            sim.add_flux(case["frequencies"], mp.FluxRegion(mp.Vector3(z=z), direction=mp.Z), decimation_factor=1)
            for z in case["planes"]
        ]
        if incident is not None:
            sim.load_minus_flux_data(planes[0], incident)
        sim.run(until=case["until"])
        incident = sim.get_flux_data(planes[0])
        fluxes.append([mp.get_fluxes(plane) for plane in planes])
    empty, filled = fluxes
    return {
        "reflected": [-r / i for r, i in zip(filled[0], empty[0], strict=True)],
        "transmitted": [t / i for t, i in zip(filled[1], empty[1], strict=True)],
    }


def with_sphere(mp: Any, case: dict[str, Any], resolution: int, epsilon: float) -> Any:
    """Return a simulation of a plane wave Ex along z."""
    size = case["cell"]
    plane = {"center": mp.Vector3(z=case["source"]), "size": mp.Vector3(size, size, 0)}
    return mp.Simulation(
        cell_size=mp.Vector3(size, size, size),
        resolution=resolution,
        geometry=[mp.Sphere(radius=case["radius"], material=mp.Medium(epsilon=epsilon))],
        sources=[mp.Source(pulse(mp, case), mp.Ex, **plane)],
        boundary_layers=[mp.PML(case["pml"])],
        k_point=mp.Vector3(),
    )


def sphere(mp: Any, case: dict[str, Any], resolution: int) -> dict[str, Any]:
    """Return scattering efficiencies."""
    half, incident = case["box"] / 2, None
    intensity: list[float] = []
    for epsilon in (1.0, case["epsilon"]):
        sim = with_sphere(mp, case, resolution, epsilon)
        faces = [
            mp.FluxRegion(at(mp, axis, sign * half), size=wide(mp, axis, 2 * half), weight=sign)
            for axis in range(3)
            for sign in (-1, 1)
        ]
        box = sim.add_flux(case["frequencies"], *faces, decimation_factor=1)
        plane = sim.add_flux(case["frequencies"], mp.FluxRegion(mp.Vector3(), size=wide(mp, 2, 0.2)))
        if incident is not None:
            sim.load_minus_flux_data(box, incident)
        sim.run(until=case["until"])
        incident = sim.get_flux_data(box)
        intensity = intensity or [flux / 0.2**2 for flux in mp.get_fluxes(plane)]
    area = 3.141592653589793 * case["radius"] ** 2
    return {"scattered": [f / i / area for f, i in zip(mp.get_fluxes(box), intensity, strict=True)]}


def points(mp: Any, case: dict[str, Any], resolution: int) -> dict[str, Any]:
    """Return ε^-1 of Ex at some points."""
    sim = with_sphere(mp, case, resolution, case["epsilon"])
    sim.init_sim()
    places = [mp.vec(*(i / resolution for i in place)) for place in case["points"]]
    return {"inverse": [abs(sim.fields.get_chi1inv(mp.Ex, mp.X, place, 0.0)) for place in places]}


def pulse(mp: Any, case: dict[str, Any]) -> Any:
    """Return a pulse around the same frequency."""
    return mp.GaussianSource(case["frequency"], fwidth=case["fwidth"])


def at(mp: Any, axis: int, position: float) -> Any:
    """Return a point on an axis."""
    return mp.Vector3(*(position if a == axis else 0 for a in range(3)))


def wide(mp: Any, axis: int, size: float) -> Any:
    """Return the size of a square across an axis."""
    return mp.Vector3(*(0 if a == axis else size for a in range(3)))


def main() -> None:
    import meep as mp  # type: ignore[import-not-found, unused-ignore]

    mp.verbosity(0)
    cases = {"slab": slab, "sphere": sphere, "points": points}
    case = json.load(sys.stdin)
    print("\n" + json.dumps({r: cases[sys.argv[1]](mp, case, int(r)) for r in sys.argv[2:]}))  # noqa: T201


if __name__ == "__main__":
    main()
