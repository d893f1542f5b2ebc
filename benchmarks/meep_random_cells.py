"""How far a predicted step of Meep is off in random cells, on one process.

    python benchmarks/meep_random_cells.py                     # the shipped or the calibrated costs
    python benchmarks/meep_random_cells.py --cost costs.json --cells 40 --seed 3

Cells are those of `evenly.adapters.meep.timing.random_cells`: silicon and a dielectric with up to six poles each,
between a PML and an absorber, with a flux plane. None of them is a design of the calibration. Times are medians of the
repeats, at the pace of a small vacuum cell beside each; *repeats* is the largest time over the smallest, which no
prediction can better.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from evenly.adapters.meep.cell.interpreter import find_python
from evenly.adapters.meep.timing.calibrate import MeepWorker
from evenly.adapters.meep.timing.random_cells import design_of, random_settings
from evenly.decomposition.calibration.designs import Design
from evenly.decomposition.costs.cost_model import program_named
from evenly.decomposition.costs.locations import find_cost


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--cost", type=Path, help="a cost model (default: this machine's, or the shipped one)")
    parser.add_argument("--cells", type=int, default=30)
    parser.add_argument("--seed", type=int, default=2611)
    parser.add_argument("--points", type=float, nargs=2, default=(2e4, 1e6), metavar=("LEAST", "MOST"))
    parser.add_argument("--repeats", type=int, default=3)
    options = parser.parse_args(arguments)
    found = find_cost("meep", options.cost)
    cost, names = found.cost, [term.name for term in program_named("meep").all_terms]
    print(found.note, "\n")
    drawn = random_settings(options.cells, seed=options.seed, points=tuple(options.points), ranks=(1,))
    designs = [Design("random", str(n), design_of(one.parameters), "cell") for n, one in enumerate(drawn)]
    with MeepWorker(find_python()) as worker:
        # All cells once, then all again: what disturbs the machine for a while disturbs no cell alone.
        runs = [[worker.run(design) for design in designs] for _ in range(options.repeats)]
    print("   points   measured, ms  predicted, ms  ratio  repeats")
    ratios = []
    for design, *timings in zip(designs, *runs, strict=True):
        seconds = np.array([one.seconds[0] * cost.pace_s / (one.pace or np.nan) for one in timings])
        amounts = timings[0].amounts[0]
        predicted = float(np.array([amounts.get(name, 0.0) for name in names]) @ cost.vector)
        ratios.append(float(np.median(seconds)) / predicted)
        points, repeats = int(np.prod(design.settings["points"])), seconds.max() / seconds.min()
        measured, expected = np.median(seconds) * 1e3, predicted * 1e3
        print(f"{points:9,d}  {measured:13.2f}  {expected:13.2f}  {ratios[-1]:5.2f}  {repeats:7.2f}", flush=True)
    logs, errors = np.log(ratios), np.abs(1 / np.array(ratios) - 1)
    half = cost.half_width(0.9)
    mean, least, most = np.exp(logs.mean()), min(ratios), max(ratios)
    print(f"\nmeasured over predicted: geometric mean {mean:.2f}, from {least:.2f} to {most:.2f}")
    print(f"error: mean {errors.mean():.1%}, nine of ten below {np.percentile(errors, 90):.1%}")
    print(f"within the interval of 90 % (factor {np.exp(half):.2f}): {np.mean(np.abs(logs) <= half):.0%}")


if __name__ == "__main__":
    main()
