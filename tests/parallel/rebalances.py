"""A run whose cost is all in a corner, rebalanced on the way on real ranks, by clocks that show planted times.

usage: rebalances.py REFERENCE.npz
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evenly import fdtd
from evenly.decomposition.cells.fdtd.cell import cell_of
from evenly.decomposition.costs.cost_model import Coefficient, CostModel
from evenly.decomposition.partitioning.predict import predict
from evenly.decomposition.rebalancing import CostBalancer, Rebalance, simulation_interface

STEPS, EVERY = 120, 30
# What the balancer believes, and what is true: polarisations cost half as much again, everything else less. Steps are
# as long as those of a larger cell, or moving wouldn't pay.
BELIEVED = {"points": 6e-6, "polarisations": 20e-6, "transforms": 1e-6}
TRUE = {"points": 5e-6, "polarisations": 30e-6, "transforms": 1e-6}


def simulation(layout: Any = None) -> fdtd.Simulation:
    """Return a cell with a block of many poles in a corner."""
    poles = [fdtd.LorentzPole(1.0 + 0.1 * n, 0.05, 0.1) for n in range(6)]
    corner = fdtd.Block(size=(0.8, 0.8, 0.8), center=(-1.2, -0.6, -0.6), material=fdtd.Medium(electric_poles=poles))
    source = fdtd.Source(fdtd.GaussianPulse(1.0, width=0.3), "Ez", center=(0.1, 0.05, 0))
    sim = fdtd.Simulation(
        cell=(4, 2.4, 2.4), resolution=24, geometry=[corner], sources=[source], layout=layout,
        boundaries=[fdtd.Periodic()], options=fdtd.Options(courant=0.4),
    )  # fmt: skip
    sim.add(fdtd.Flux(center=(0.8, 0, 0), size=(0, 2, 2), frequencies=[0.9, 1.1], direction="+x"))
    sim.add(fdtd.FieldRecorder("Ez", (0.5, 0.1, 0.2)))
    return sim


def results(sim: fdtd.Simulation) -> dict[str, NDArray[Any]]:
    """Return what a run is for."""
    flux, recorder = sim.monitors
    assert isinstance(flux, fdtd.Flux)
    assert isinstance(recorder, fdtd.FieldRecorder)
    return {"Ez": sim.field("Ez"), "Hx": sim.field("Hx"), "flux": flux.flux(), "samples": recorder.values()}


def cost(values: dict[str, float]) -> CostModel:
    """Return a cost model."""
    return CostModel("fdtd", {name: Coefficient(seconds) for name, seconds in values.items()}, share_error=0.05)


def main(path: str) -> None:
    sim = simulation()
    cell, ranks = cell_of(sim), sim.communicator.size
    imbalances: list[float] = []

    def planted(sim: fdtd.Simulation) -> float:
        found = predict(cell, sim.layout, ranks, cost(TRUE)).rank_s
        return float(found[sim.communicator.rank]) * sim.timed_steps

    simulation_interface.work_seconds = planted
    rebalance = Rebalance(CostBalancer(cost(BELIEVED), cell), every=EVERY)

    def watch(sim: fdtd.Simulation) -> None:
        imbalances.append(predict(cell, sim.layout, ranks, cost(TRUE)).imbalance)

    sim.run(
        until=STEPS * sim.grid.dt, progress="off",
        callbacks=[fdtd.at_beginning(watch), rebalance, fdtd.at_every(watch, steps=EVERY)],
    )  # fmt: skip
    found = results(sim)
    points = sim.communicator.allgather(sum(chunk.box.volume for chunk in sim.chunks))
    with np.load(Path(path)) as wanted:
        wrong = max(float(np.abs(found[n] - wanted[n]).max() / np.abs(wanted[n]).max()) for n in wanted.files)
    told = {
        "imbalances": imbalances, "wrong": wrong, "points": points, "why": [d.why for d in rebalance.decisions],
        "adjusted": [d.adjust for d in rebalance.decisions],
    }  # fmt: skip
    fdtd.master_print(json.dumps(told))


if __name__ == "__main__":
    main(*sys.argv[1:])
