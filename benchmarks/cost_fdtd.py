"""How far the cost model of `evenly.fdtd` is off on cells that it was not calibrated with.

    python benchmarks/cost_fdtd.py                      # costs as `evenly partition` finds them
    python benchmarks/cost_fdtd.py --cost mine.json --budget 600
    python benchmarks/cost_fdtd.py --mpi                # beside real ranks

Each structure is cut into as many chunks as there are ranks, evenly and at random places, and every rank's CPU time per
step is measured (waiting and sources left out) and predicted. A share is a rank's part of all ranks' time.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evenly.decomposition.calibration.calibration import calibrate
from evenly.decomposition.calibration.designs import Design, Timed
from evenly.decomposition.calibration.fdtd_runs import built, run_design
from evenly.decomposition.calibration.fitting import HeldOut
from evenly.decomposition.calibration.timing_store import TimingStore
from evenly.decomposition.costs.cost_model import CostModel, program_named
from evenly.decomposition.costs.locations import find_cost
from evenly.fdtd.simulation import Simulation

Array = NDArray[np.float64]
STRUCTURES: dict[str, tuple[str, dict[str, Any]]] = {
    "oled": ("oled", {"resolution": 25, "size": 1.6}),
    "cmos": ("cmos", {"resolution": 30}),
    "tandem": ("tandem", {"resolution": 50}),
    "random 1": ("random", {"seed": 1, "points": 1.5e5}),
    "random 2": ("random", {"seed": 2, "points": 2e5}),
    "random 3": ("random", {"seed": 3, "points": 2.5e5}),
}


def designs(ranks: list[int], cuts: list[str]) -> Iterator[Design]:
    """Yield the cells, cut."""
    for name, (structure, parameters) in STRUCTURES.items():
        for n in ranks:
            settings = {"structure": structure, "parameters": parameters, "ranks": n}
            if "even" in cuts:
                yield Design(name, f"{n} even", settings, "cell")
            if "uneven" in cuts:
                yield Design(name, f"{n} uneven", {**settings, "layout": uneven(settings, n)}, "cell")


def uneven(settings: dict[str, Any], ranks: int) -> Any:
    """Return a layout that halves the ranks, with cuts between a third and two thirds of the longest axis."""
    keywords, _ = built(settings)
    grid, random = Simulation(**keywords).grid, np.random.default_rng(ranks)

    def cut(low: list[int], high: list[int], owners: range) -> Any:
        if len(owners) == 1:
            return owners[0]
        axis = int(np.argmax(np.subtract(high, low)))
        at = low[axis] + round((high[axis] - low[axis]) * float(random.uniform(1 / 3, 2 / 3)))
        middle = len(owners) // 2
        below, above = list(high), list(low)
        below[axis] = above[axis] = at
        position = grid.origin[axis] + at * grid.dx
        return [["xyz"[axis], position], cut(low, below, owners[:middle]), cut(above, high, owners[middle:])]

    return cut([0, 0, 0], list(grid.shape), range(ranks))


def predicted(timed: list[Timed], cost: CostModel) -> list[HeldOut]:
    names = [term.name for term in program_named("fdtd").all_terms]
    return [
        HeldOut(one.design.group, one.design.name, one.design.key, one.seconds, one.matrix(names) @ cost.vector)
        for one in timed
    ]


def table(found: list[HeldOut]) -> None:
    print(f"\n{'cell':10s} {'ranks, cut':12s} {'share: mean':>12s} {'p90':>7s} {'time':>8s} {'max/mean':>9s} predicted")
    for one in found:
        shares = 100 * one.share_errors
        time = 100 * (one.predicted.sum() / one.measured.sum() - 1)
        imbalance = [v.max() / v.mean() for v in (one.measured, one.predicted)]
        row = (
            f"{one.group:10s} {one.name:12s} {shares.mean():10.1f} % {np.percentile(shares, 90):5.1f} % {time:+6.1f} %"
        )
        print(f"{row} {imbalance[0]:9.2f} {imbalance[1]:9.2f}")
    shares = 100 * np.concatenate([one.share_errors for one in found])
    times = 100 * np.array([one.time_error for one in found])
    print(f"all ranks: share mean {shares.mean():.1f} %, p90 {np.percentile(shares, 90):.1f} %", end="; ")
    print(f"time of a step mean {times.mean():.1f} %, largest {times.max():.1f} %")


def repeatability(timed: list[Timed]) -> None:
    """Print how far one half of the repeats would predict the other: no model can do better."""
    shares: list[float] = []
    for one in timed:
        if one.repeats >= 2:
            runs = np.array(one.runs)
            first, second = np.median(runs[::2], axis=0), np.median(runs[1::2], axis=0)
            shares += (np.abs((first / first.sum()) / (second / second.sum()) - 1) * 100).tolist()
    if shares:
        print(f"one half of the repeats beside the other: share mean {np.mean(shares):.1f} %, ", end="")
        print(f"p90 {np.percentile(shares, 90):.1f} %")


def beside_mpi(timed: list[Timed]) -> None:
    """Print shares of ranks stepped alone beside those of real MPI ranks."""
    print(f"\n{'cell':10s} {'ranks, cut':12s} share of ranks stepped alone off from MPI's: mean, p90")
    for one in timed:
        seconds = mpi_seconds(one.design)
        off = np.abs((one.seconds / one.seconds.sum()) / (seconds / seconds.sum()) - 1) * 100
        times = 100 * (one.seconds.sum() / seconds.sum() - 1)
        where = f"{one.design.group:10s} {one.design.name:12s}"
        print(f"{where} {off.mean():5.1f} %, {np.percentile(off, 90):5.1f} %; all time {times:+.1f} %", flush=True)


def mpi_seconds(design: Design, steps: int = 96) -> Array:
    """Return the CPU seconds of a step of each real rank, without waiting, sources and sending."""
    settings = design.settings
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "evenly", "fdtd", "run", settings["structure"], "--save", folder]
        command += ["--ranks", str(settings["ranks"]), "--steps", str(steps), "--quiet"]
        for name, value in settings["parameters"].items():
            command += ["--set", f"{name}={value}"]
        if settings.get("layout") is not None:
            layout = Path(folder, "layout.json")
            from evenly.fdtd.cell.partition import BinaryPartition

            BinaryPartition(settings["layout"]).save(layout)
            command += ["--chunks", str(layout)]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        data = json.loads(next(Path(folder).glob("*.fdtd.json")).read_text())
    left_out = ("waiting", "sources", "send/receive", "output")
    times = [sum(s for phase, s in rank["cpu"].items() if phase not in left_out) for rank in data["ranks"]]
    return np.array(times) / data["steps"]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--cost", help="file with costs (default: as `evenly partition` finds them)")
    parser.add_argument("--ranks", default="2,4,8,16")
    parser.add_argument("--cuts", default="even,uneven")
    parser.add_argument("--budget", type=float, default=300.0, help="wall seconds for runs")
    parser.add_argument("--store", help="file that keeps the timings, to go on with")
    parser.add_argument("--mpi", action="store_true", help="compare with real ranks, too")
    options = parser.parse_args()
    found = find_cost("fdtd", options.cost)
    print(found.note)
    with tempfile.TemporaryDirectory() as folder:
        about = {"benchmark": "cost_fdtd", "terms": [term.name for term in program_named("fdtd").all_terms]}
        # Times are those at the pace of the calibration: other programs on the machine slow both alike.
        pace = None if np.isnan(found.cost.pace_s) or found.source == "shipped" else found.cost.pace_s
        store = TimingStore(Path(options.store or f"{folder}/timings.jsonl"), about, pace=pace)
        wanted = list(designs([int(n) for n in options.ranks.split(",")], options.cuts.split(",")))
        timed = calibrate(wanted, run_design, store, budget_s=options.budget)
    if len(timed) < len(wanted):
        print(f"{len(timed)} of {len(wanted)} cells were timed: raise --budget")
    table(predicted(timed, found.cost))
    repeatability(timed)
    if options.mpi:
        beside_mpi(timed)


if __name__ == "__main__":
    main()
