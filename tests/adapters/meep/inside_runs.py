"""What tests of balancers ask Meep itself; these functions run in its Python and return plain values."""

from __future__ import annotations

import math
import sys
import time
from pathlib import Path
from typing import Any

import meep as mp
import numpy as np
from meep.chunk_balancer import AbstractChunkBalancer as Abstract

sys.path.insert(0, str(Path(__file__).parent))


from evenly.adapters.meep.balancing.balancer import ChunkBalancer, apply_layout
from evenly.adapters.meep.balancing.measuring import beginning_s, forget, latest_timings_of, timings_of, watch
from evenly.adapters.meep.collectives import gathered, of_first, slowest
from evenly.adapters.meep.layouts import from_meep, layout
from evenly.decomposition.costs.cost_model import Coefficient, CostModel
from evenly.decomposition.rebalancing.cost_balancer import CostBalancer
from evenly.decomposition.rebalancing.measured_times import Timings
from evenly.decomposition.rebalancing.noise import Windows
from evenly.errors import InputError
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
        latest = vars(sim)["_evenly_measured"].latest
        real, latest.seconds = latest.seconds, seconds[mp.my_rank()] * latest.steps
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


def _lopsided(balancer: Any, change: Any) -> Any:
    """Return a simulation whose first process has three quarters of the cell and was told to take three times as long.

    `change` is called with it.
    """
    sim, _ = _small(chunk_layout=layout(BinaryPartition([("x", 1.0), 0, min(1, mp.count_processors() - 1)])))
    sim.run(until=1)
    latest = vars(sim)["_evenly_measured"].latest
    latest.seconds = (3e-3 if mp.my_rank() == 0 else 1e-3) * latest.steps
    change(sim)
    return sim


def documented(sensitivity: float) -> dict[str, Any]:
    """Return what Meep's documented call makes of a lopsided layout, and what it would without a bound."""
    cost = CostModel("meep", {"points of planes": Coefficient(2e-8)}, share_error=0.05)
    balancer, other = ChunkBalancer(cost, steps_left=1e9), ChunkBalancer(cost, steps_left=1e9)
    sim = _lopsided(balancer, lambda sim: balancer.adjust_chunk_layout(sim, sensitivity=sensitivity))
    assert balancer.decision is not None
    why, best = balancer.decision.why, []
    _lopsided(other, lambda sim: best.append(_cut_of(other.decide(sim).layout)))
    refused = ""
    try:
        _lopsided(other, lambda sim: other.adjust_chunk_layout(sim, sensitivity=1.5))
    except InputError as error:
        refused = str(error)
    _lopsided(other, lambda sim: other.adjust_chunk_layout(sim, sensitivity=0))
    assert other.decision is not None
    cut = from_meep(sim.chunk_layout).to_list()[0][1]
    return {"cut": cut, "best": best[0], "why": why, "kept": other.decision.why, "refused": refused}


def _cut_of(found: BinaryPartition | None) -> float:
    return math.nan if found is None else float(found.to_list()[0][1])


def assumed() -> dict[str, Any]:
    """Return the reasons for and against a change that takes 100 s, where the steps to go are and aren't known."""
    cost = CostModel("meep", {"points of planes": Coefficient(2e-8)}, share_error=0.05)
    why, start = [], 0.0
    for left in (10**6, None):
        balancer = ChunkBalancer(cost, steps_left=left)
        sim, _ = _small(chunk_layout=layout(BinaryPartition([("x", 1.0), 0, 1])))
        sim.run(until=1)
        start = beginning_s(sim)
        balancer._rebuild_s = 100.0
        # Two processes in one: the search is what counts here.
        told = Timings([3e-3, 1e-3], steps=100)
        vars(sim)["_evenly_told"], vars(sim)["_evenly_measured"].latest = told, Windows()
        why.append(balancer.decide(sim).why)
    return {"told": why[0], "assumed": why[1], "start": start}


def runs_in_a_row(*seconds: float) -> list[list[float]]:
    """Return steps and seconds of each run that a balancer was told of, which is asked twice after each."""
    sim, _ = _small()
    watch()
    told = []
    for each in seconds:
        sim.run(until=1)
        latest = vars(sim)["_evenly_measured"].latest
        latest.seconds = each * latest.steps
        one, other = latest_timings_of(sim), latest_timings_of(sim)
        assert one is other
        told.append([one.steps, float(one.seconds[0])])
    return told


def timed_steps() -> dict[str, Any]:
    """Return what was measured of runs of 40 steps: anew, on the same layout, begun anew, and on another layout."""
    watch()
    sim, _ = _small(chunk_layout=layout(BinaryPartition([("x", 1.0), 0, 1])))
    steps, noises = [], []
    for change in (None, None, sim.reset_meep, lambda: apply_layout(sim, BinaryPartition([("x", 0.5), 0, 1]))):
        if change is not None:
            change()
        sim.run(until=1)
        noises.append(latest_timings_of(sim).noise)
        steps.append(timings_of(sim).steps)
    sim.reset_meep()
    return {"steps": steps, "noises": noises, "kept": from_meep(sim.chunk_layout).to_list()}


def shared() -> dict[str, Any]:
    """Return what processes are told: values of the first one, and its mistakes."""
    asked: list[int] = []

    def value() -> list[Any]:
        asked.append(mp.my_rank())
        return [mp.my_rank(), 0.1, float("inf"), "grün", None, -5e-324]

    def mistake() -> None:
        raise InputError("no such thing")

    told = of_first(value)
    message = ""
    try:
        of_first(mistake)
    except InputError as error:
        message = str(error)
    alike = mp.and_to_all(told == [0, 0.1, float("inf"), "grün", None, -5e-324] and message == "no such thing")
    group = mp.divide_parallel_processes(2)
    # The first process of the second group is another one.
    own = of_first(lambda: group) == group
    mp.end_divide_parallel()
    return {
        "alike": bool(alike),
        "asked": mp.sum_to_all(float(len(asked))),
        "gathered": gathered(float(mp.my_rank() ** 2)).tolist(),
        "slowest": slowest(float(mp.my_rank())),
        "groups apart": bool(mp.and_to_all(own)),
    }


def searched() -> dict[str, Any]:
    """Return how many processes searched for a layout, and how many layouts they then had, when all were told to."""
    count = [0]
    usual = CostBalancer.decide

    def counted(*given: Any, **more: Any) -> Any:
        count[0] += 1
        return usual(*given, **more)

    CostBalancer.decide = counted  # type: ignore[method-assign]
    balancer = ChunkBalancer(CostModel("meep", {"points of planes": Coefficient(2e-8)}, share_error=0.05))
    sim, _ = _small(chunk_layout=layout(BinaryPartition([("x", 1.0), 0, [("y", 0.0), 1, 2]])))
    sim.run(until=1)
    latest = vars(sim)["_evenly_measured"].latest
    # What a process thinks of its own counts for nothing but its own time.
    latest.seconds = (3.0 if mp.my_rank() == 0 else 1.0) * 1e-3 * latest.steps
    balancer.adjust_chunk_layout(sim)
    cuts = from_meep(sim.chunk_layout).to_list()
    return {
        "searches": mp.sum_to_all(float(count[0])),
        "cuts": gathered(cuts[0][1]).tolist(),
        "adjusted": gathered(float(balancer.decision is not None and balancer.decision.adjust)).tolist(),
    }


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


def loaded(sizes: list[float]) -> dict[str, Any]:
    """Load the data of a monitor into simulations whose cells are as long as said, with and without a layout."""
    cut = layout([["x", -0.5], 0, 1])

    def ran(length: float, chunks: Any) -> tuple[Any, Any]:
        pulse = mp.Source(mp.GaussianSource(1, fwidth=0.4), mp.Ez, V(-1))
        more = {} if chunks is None else {"chunk_layout": chunks}
        sim = mp.Simulation(V(length, 3), 20, sources=[pulse], boundary_layers=[mp.PML(0.5)], **more)
        monitor = sim.add_flux(1, 0.3, 4, mp.FluxRegion(V(1.2), V(0, 1.5)))
        sim.run(until=1)
        return sim, monitor

    def accepted(length: float, chunks: Any, data: Any) -> bool:
        sim, monitor = ran(length, chunks)
        try:
            sim.load_minus_flux_data(monitor, data)
        except InputError:
            return False
        return True

    first, second = sizes
    taken = {kind: sim.get_flux_data(monitor) for kind, (sim, monitor) in
             {"cut": ran(first, cut), "own": ran(first, None)}.items()}  # fmt: skip
    return {
        "same": accepted(first, cut, taken["cut"]), "without": accepted(first, None, taken["own"]),
        "one cut": accepted(first, cut, taken["own"]), "other cell": accepted(second, None, taken["cut"]),
    }  # fmt: skip
