"""Two dimensions: how fast one polarisation is, and predicted beside measured seconds of cells not calibrated on.

Cells with one source are stepped beside the same cells with sources of both polarisations, in turns, in one process.
Times are CPU seconds of a step over those of the pace (a fixed piece of work that is timed in between, see
`evenly.decomposition.calibration.fdtd_runs`), so the load of the machine matters little. The prediction is that of the
shipped costs, over their own pace.

usage: python benchmarks/fdtd_two_dimensions.py [--repeats 3]
"""

from __future__ import annotations

import argparse
from typing import Any

import numpy as np

from evenly import fdtd
from evenly.decomposition.calibration.fdtd_runs import amounts_of, paced_seconds
from evenly.decomposition.costs.cost_model import CostModel, program_named
from evenly.decomposition.costs.locations import shipped_file

GLASS = fdtd.Medium(epsilon=2.2)
LORENTZ = fdtd.Medium(epsilon=2, electric_poles=[fdtd.LorentzPole(0.1, 0.01, 1.0)])


def cells() -> dict[str, dict[str, Any]]:
    """Return the cells by name, lengths in grid points."""
    layer = [fdtd.PML(12)]
    return {
        "1000², vacuum": {"cell": (1000, 1000, 0)},
        "300², vacuum": {"cell": (300, 300, 0)},
        "1000², layers": {"cell": (1000, 1000, 0), "boundaries": layer},
        "500², disc of glass, layers": {"cell": (500, 500, 0), "boundaries": layer, "geometry": [_disc(150)]},
        "500², Lorentz square, layers": {"cell": (500, 500, 0), "boundaries": layer, "geometry": [_square(250)]},
        "160², layers": {"cell": (160, 160, 0), "boundaries": layer},
    }


def _disc(radius: float) -> fdtd.Cylinder:
    return fdtd.Cylinder(radius=radius, height=np.inf, material=GLASS)


def _square(edge: float) -> fdtd.Block:
    return fdtd.Block(size=(edge, edge, np.inf), material=LORENTZ)


def simulate(given: dict[str, Any], components: str) -> fdtd.Simulation:
    """Return a cell with a source of each component, "Ez" or "Ez Hz", that has ended before its fields are noise."""
    pulse = fdtd.CustomPulse(lambda t: 0.0 * t, start=0.0, end=1.0, fwidth=0.1, frequency=0.1)
    sources = [fdtd.Source(pulse, name, center=(0, 0, 0)) for name in components.split()]
    return fdtd.Simulation(resolution=1, sources=sources, **given)


def predicted(sim: fdtd.Simulation, cost: CostModel) -> float:
    """Return the predicted seconds of a step over those of the pace."""
    names = [term.name for term in program_named("fdtd").all_terms]
    amounts = amounts_of(sim, 1, ())[0]
    return float(np.dot([amounts.get(name, 0.0) for name in names], cost.vector)) / cost.pace_s


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeats", type=int, default=3)
    repeats, cost = parser.parse_args().repeats, CostModel.load(shipped_file("fdtd"))
    print(f"{'cell':30} {'source':7} {'paces':>7} {'predicted/measured':>19} {'faster than both':>17}")
    for name, given in cells().items():
        sims = {components: simulate(given, components) for components in ("Ez Hz", "Ez", "Hz")}
        rounds = [[paced_seconds(sim)[0] for sim in sims.values()] for _ in range(repeats)]
        both = np.array(rounds)[:, 0]
        for (components, sim), taken in zip(sims.items(), np.array(rounds).T, strict=True):
            measured = float(np.median(taken))
            error = predicted(sim, cost) / measured
            print(f"{name:30} {components:7} {measured:7.3f} {error:19.2f} {np.median(both / taken):17.2f}", flush=True)


if __name__ == "__main__":
    main()
