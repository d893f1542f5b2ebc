"""What tests of balancers ask Meep itself; these functions run in its Python and return plain values."""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import Any

import meep as mp
import numpy as np
from meep.chunk_balancer import AbstractChunkBalancer as Abstract

sys.path.insert(0, str(Path(__file__).parent))


from evenly.adapters.meep.balancer import ChunkBalancer, apply_layout
from evenly.adapters.meep.layouts import from_meep, layout
from evenly.adapters.meep.measuring import forget, latest_timings_of, timings_of, watch
from evenly.balance.cost.model import Coefficient, CostModel
from evenly.fdtd.cell.partition import BinaryPartition

V = mp.Vector3


def _small(**more: Any) -> tuple[Any, Any]:
    pulse = mp.Source(mp.GaussianSource(1, fwidth=0.4), mp.Ez, V(-1))
    slab = mp.Block(V(0.6, mp.inf, mp.inf), center=V(0.3), material=mp.Medium(index=2))
    about = {"sources": [pulse], "geometry": [slab], "boundary_layers": [mp.PML(0.5)], **more}
    sim = mp.Simulation(V(4, 3), 20, **about)
    return sim, sim.add_flux(1, 0.3, 4, mp.FluxRegion(V(1.2), V(0, 1.5)))


def adjusted(positions: list[float]) -> dict[str, Any]:
    """Return spectra of a run as it is, and of one that was given other layouts before, with the same monitor."""
    sim, monitor = _small()
    sim.run(until_after_sources=10)
    plain = mp.get_fluxes(monitor)
    sim, monitor = _small()
    chunks, changed = [], []
    for at in positions:
        sim.run(until=5)
        apply_layout(sim, BinaryPartition([("x", at), 0, 1]))
        changed.append([float(sim.fields.t), sim.dft_objects == [monitor]])
        chunks.append(len(sim.structure.get_chunk_volumes()))
    sim.run(until_after_sources=10)
    return {"plain": plain, "adjusted": mp.get_fluxes(monitor), "changed": changed, "chunks": chunks}


def balanced(*rounds: list[float]) -> dict[str, Any]:
    """Return what a balancer makes of a simulation whose two processes were told to have worked so long, each round."""
    cost = CostModel("meep", {"points of planes": Coefficient(2e-8)}, share_error=0.05)
    balancer = ChunkBalancer(cost)
    initial = from_meep(balancer.make_initial_chunk_layout(_small()[0]))
    sim, monitor = _small(chunk_layout=layout(BinaryPartition([("x", 1.0), 0, 1])))
    cuts, whys = [], []
    for seconds in rounds:
        sim.run(until=1)
        record = vars(sim)["_evenly_measured"]
        real, record.seconds = record.seconds, seconds[mp.my_rank()] * record.steps
        assert real > 0
        balancer.adjust_chunk_layout(sim)
        assert balancer.decision is not None
        cuts.append(from_meep(sim.chunk_layout).to_list()[0])
        whys.append(balancer.decision.why)
    return {
        "is Meep's": isinstance(balancer, Abstract),
        "initial": initial.to_list(),
        "cuts": cuts,
        "why": whys,
        "monitored": sim.dft_objects == [monitor],
    }


def runs_in_a_row(*seconds: float) -> list[list[float]]:
    """Return steps and seconds of each run that a balancer was told of, which is asked twice after each."""
    sim, _ = _small()
    watch()
    told = []
    for each in seconds:
        before = vars(sim).get("_evenly_measured")
        steps, whole = (before.steps, before.seconds) if before else (0, 0.0)
        sim.run(until=1)
        record = vars(sim)["_evenly_measured"]
        record.seconds = whole + each * (record.steps - steps)
        one, other = latest_timings_of(sim), latest_timings_of(sim)
        assert one is other
        told.append([one.steps, float(one.seconds[0])])
    return told


def by_volumes() -> Any:
    """Return the layout that the balancer makes of timings of Meep's own kind, as the document's algorithm does."""
    from meep.chunk_balancer import ChunkBalancer as Theirs
    from meep.timing_measurements import MeepTimingMeasurements

    sim, _ = _small(chunk_layout=layout([("x", 0.5), [("y", -0.5), 0, 1], 2]))
    sim.init_sim()
    names = ["time_stepping", "boundaries_copying", "field_output", "fourier_transform", "mpb"]
    names.append("near_to_farfield_transform")
    table = {name: [0.0] * 3 for name in names} | {"time_stepping": [4.0, 1.0, 2.0]}
    told = MeepTimingMeasurements(table, 1.0, 10, [], [], [], [])
    owners = np.array([_leaf_of(volume) for volume in sim.structure.get_chunk_volumes()])
    given = (told, sim.chunk_layout, sim.structure.get_chunk_volumes(), owners)
    ours = ChunkBalancer().compute_new_chunk_layout(*given, sensitivity=0.4)
    theirs = Theirs().compute_new_chunk_layout(*given, sensitivity=0.4)
    return {"ours": from_meep(ours).to_list(), "theirs": from_meep(theirs).to_list()}


def _leaf_of(volume: Any) -> int:
    middle = volume.center()
    return 2 if middle.x() > 0.5 else int(middle.y() > -0.5)


def clocks() -> dict[str, float]:
    """Return the seconds that processes worked and took in all, while the others wait for the first one's callback."""
    watch()
    sim, _ = _small()
    sim.run(until=1)

    def busy(_sim: Any) -> None:
        end = time.process_time() + (0.02 if mp.am_master() else 0.0)
        while time.process_time() < end:
            pass

    forget(sim)
    begin = time.process_time()
    sim.run(mp.at_every(1, busy), until=20)
    spent = mp.sum_to_all(time.process_time() - begin)
    timed = timings_of(sim)
    return {"spent": spent, "worked": (timed.seconds * timed.steps).tolist()}


def file_round_trip(path: str) -> Any:
    """Return a file's layout after it went through Meep's kind."""
    return from_meep(layout(path)).to_list()
