"""How far predicted costs of Meep's ranks are off, on cells that the cost model hasn't seen.

    python benchmarks/cost_meep.py                     # the shipped or the calibrated model, all cells
    python benchmarks/cost_meep.py --cost costs.json --cells oled --ranks 2 4

Each cell runs on real MPI ranks, cut by Meep evenly and by Meep's cost; each rank's CPU time per step is taken without
what it waits within MPI, the least over batches and repeats. A rank's share of the sum is compared with what evenly,
Meep's own cost model and counting grid points make of it. One process that steps the same chunks, which waits for
nobody, tells how far the whole time is off (at the pace of a small vacuum cell beside it), and how much more the ranks
take together: where they are more than cores, each finds its caches cold and its core shared.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from evenly.adapters.meep.timing.ranks import MeepRun, RankTimes, Split, cell_of_run, time_ranks
from evenly.adapters.meep.timing.rehearsals import pace_of
from evenly.decomposition.calibration.fitting import share_errors
from evenly.decomposition.cells.cell import Cell
from evenly.decomposition.cells.pieces import pieces_of
from evenly.decomposition.costs.cost_model import CostModel, program_named
from evenly.decomposition.costs.locations import find_cost
from evenly.decomposition.partitioning.neighbours import owners_borders, touching

CELLS = Path(__file__).parent / "meep_cells.py"
NAMES = ("oled", "cmos", "tandem", "tall", "foil_across", "foil_within", "foil_apart", "backed", "ring", "ring_around")
RANKS = (2, 4, 8, 16)
Array = NDArray[np.float64]


def best_of(run: MeepRun, ranks: int, layout: Path | Split, repeats: int) -> tuple[RankTimes, Array]:
    """Return the least time of each rank over several runs, and how far the shares of one half are off the other's."""
    runs = [time_ranks(run, ranks, layout) for _ in range(repeats)]
    seconds = np.array([one.seconds for one in runs])
    first = runs[0]
    halves = [part.min(axis=0) for part in (seconds[::2], seconds[1::2]) if len(part)]
    noise = share_errors(halves[0], halves[-1])
    return RankTimes(seconds.min(axis=0), first.waiting, first.meep_cost, first.low, first.high, first.owners), noise


def predicted(cost: CostModel, cell: Cell, times: RankTimes) -> Array:
    """Return the seconds that the model gives each rank for the chunks that it has."""
    joined = [p and not t for p, t in zip(cell.periodic, cell.grid.thin, strict=True)]
    borders = touching(times.low, times.high, cell.grid.shape, (joined[0], joined[1], joined[2]))
    faces, neighbours = owners_borders(borders, times.owners, len(times.seconds))
    return np.asarray(by_process(cost, cell, times, times.owners) + cost.border_seconds(cell, faces, neighbours))


def by_process(cost: CostModel, cell: Cell, times: RankTimes, owners: NDArray[np.int64]) -> Array:
    """Return the seconds that the model gives each process for chunks that belong to it, borders apart."""
    program = program_named("meep")
    pieces = pieces_of(cell, times.low, times.high)
    # What is there still at the next step depends on all that a process holds.
    pieces = replace(pieces, box=owners[pieces.box])
    amounts = program.amounts(pieces)
    amounts[:, [term.name for term in program.terms].index("processes")] = 0.0
    work = amounts @ cost.vector[: len(program.terms)]
    return np.asarray(np.bincount(pieces.box, work, owners.max() + 1) + per_process(cost))


def per_process(cost: CostModel) -> float:
    """Return the seconds per step of a process that holds nothing."""
    return cost.coefficients["processes"].seconds if "processes" in cost.coefficients else 0.0


def at_pace(times: RankTimes, cost: CostModel) -> float:
    """Return the seconds of one process at the pace at which the model was measured: that of its small vacuum cell."""
    return float(times.seconds[0] * pace_of(cost) / (times.pace or np.nan))


def voxels(times: RankTimes) -> Array:
    """Return the grid points of each rank."""
    points = np.prod(times.high - times.low, axis=1).astype(float)
    return np.asarray(np.bincount(times.owners, points, len(times.seconds)))


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--cost", type=Path, help="a cost model (default: this machine's, or the shipped one)")
    parser.add_argument("--cells", nargs="+", choices=NAMES, default=NAMES)
    parser.add_argument("--ranks", nargs="+", type=int, default=RANKS)
    parser.add_argument("--repeats", type=int, default=2)
    parser.add_argument("--keep", type=Path, help="where to write the cost model with these errors of it")
    parser.add_argument("--json", type=Path, help="where to write the figures")
    options = parser.parse_args(arguments)
    found = find_cost("meep", options.cost)
    print(found.note, "\n")
    print(
        "share error of a rank, mean (largest)            evenly     Meep's cost          voxels    "
        "one half of the runs against the other   total  sum/one process"
    )
    rows = [row for name in options.cells for row in rows_of(name, options, found.cost)]
    share, most, total = report(rows)
    if options.keep:
        replace(found.cost, share_error=share, share_error_p90=most, time_error=total).save(options.keep)
    if options.json:
        options.json.write_text(json.dumps(rows, indent=1) + "\n", encoding="utf-8")


def rows_of(name: str, options: argparse.Namespace, cost: CostModel) -> list[dict[str, object]]:
    """Measure a cell on all numbers of ranks and print a line for each."""
    run = MeepRun(CELLS, name, {})
    cell = cell_of_run(run)
    rows: list[dict[str, object]] = []
    ways: tuple[Split, Split] = ("even", "cost")
    for ranks in options.ranks:
        for way in ways:
            times, noise = best_of(run, ranks, way, options.repeats)
            alone = at_pace(time_ranks(run, ranks, way, one_process=True), cost)
            guess = predicted(cost, cell, times)
            whole = by_process(cost, cell, times, np.zeros_like(times.owners)).sum()
            errors = {
                "evenly": share_errors(times.seconds, guess),
                "meep": share_errors(times.seconds, times.meep_cost),
                "voxels": share_errors(times.seconds, voxels(times)),
            }
            total = whole / alone - 1
            figures = "   ".join(f"{100 * e.mean():5.1f} % ({100 * e.max():3.0f})" for e in errors.values())
            ratio = times.seconds.sum() / alone
            figures += f"   {100 * noise.mean():5.1f} % ({100 * noise.max():3.0f})"
            line = f"{name:11s} {ranks:2d} ranks, {way:5s} split {figures}  {100 * total:+4.0f} %  {ratio:5.2f}"
            print(line, flush=True)
            rows.append(
                {
                    "cell": name,
                    "ranks": ranks,
                    "split": way,
                    "measured": times.seconds.tolist(),
                    "predicted": guess.tolist(),
                    "meep_cost": times.meep_cost.tolist(),
                    "voxels": voxels(times).tolist(),
                    "one_process": alone,
                    "low": times.low.tolist(),
                    "high": times.high.tolist(),
                    "owners": times.owners.tolist(),
                    "total_error": total,
                    "noise_errors": noise.tolist(),
                    **{f"{who}_errors": e.tolist() for who, e in errors.items()},
                }
            )
    return rows


def report(rows: Sequence[dict[str, object]]) -> tuple[float, float, float]:
    """Print what all rows say together; return the errors of evenly's model: of shares, nine of ten, of the time."""
    print()
    for who in ("evenly", "meep", "voxels", "noise"):
        errors = np.concatenate([np.array(row[f"{who}_errors"]) for row in rows])
        print(
            f"share error by {who:7s} mean {100 * errors.mean():5.1f} %, p90 {100 * np.percentile(errors, 90):5.1f} %"
        )
    totals = np.abs(np.array([row["total_error"] for row in rows], dtype=float))
    print(f"time of a step, one process: mean error {100 * totals.mean():.1f} %, largest {100 * totals.max():.1f} %")
    shares = np.concatenate([np.array(row["evenly_errors"]) for row in rows])
    return float(shares.mean()), float(np.percentile(shares, 90)), float(totals.mean())


if __name__ == "__main__":
    main()
