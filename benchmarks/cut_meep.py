"""Three ways of cutting Meep's cells, on real MPI ranks: evenly by points, by Meep's cost model, by evenly.

    python benchmarks/cut_meep.py
    python benchmarks/cut_meep.py --cells tall --ranks 3 --cost costs.json

CPU time per step of each rank, waiting left out (see `evenly.adapters.meep.timing.ranks`): the least over batches and
over runs, which take turns between the three ways, so that all see the same machine.
"""

from __future__ import annotations

import argparse
import json
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from evenly.adapters.meep.timing.ranks import MeepRun, Split, cell_of_run, time_ranks
from evenly.decomposition.costs.locations import find_cost
from evenly.decomposition.partitioning.partition import partition

CELLS = Path(__file__).parent / "meep_cells.py"
ROWS: Mapping[str, Sequence[int]] = {"oled": (8, 16), "cmos": (4, 8, 16), "tandem": (4, 8, 16), "tall": (3, 8)}
WAYS = ("even", "cost", "evenly")
Array = NDArray[np.float64]


def measured(run: MeepRun, ranks: int, layouts: Mapping[str, Path | Split], repeats: int) -> dict[str, Array]:
    """Return the least time of every rank for each way of cutting."""
    found: dict[str, list[Array]] = {way: [] for way in layouts}
    for _ in range(repeats):
        for way, layout in layouts.items():
            found[way].append(time_ranks(run, ranks, layout).seconds)
    return {way: np.min(times, axis=0) for way, times in found.items()}


def row(name: str, ranks: int, times: Mapping[str, Array], chosen: str, predicted: float) -> dict[str, object]:
    """Print a line of the table and return it."""
    spread = {way: seconds.max() / seconds.mean() for way, seconds in times.items()}
    slowest = {way: times[way].max() / times["even"].max() for way in WAYS}
    print(
        f"{name:7s} {ranks:3d}   {spread['even']:5.2f}   {spread['cost']:5.2f}   {spread['evenly']:5.2f}      "
        f"{slowest['cost']:5.2f}   {slowest['evenly']:5.2f}   {slowest['evenly'] / slowest['cost']:5.2f}      "
        f"{chosen} ({predicted:.2f})",
        flush=True,
    )
    return {
        "cell": name,
        "ranks": ranks,
        "seconds": {way: seconds.tolist() for way, seconds in times.items()},
        "chosen": chosen,
        "predicted_imbalance": predicted,
    }


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--cost", type=Path, help="a cost model (default: this machine's, or the shipped one)")
    parser.add_argument("--cells", nargs="+", choices=list(ROWS), default=list(ROWS))
    parser.add_argument("--ranks", nargs="+", type=int, help="instead of those of the table")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--json", type=Path, help="where to write the figures")
    options = parser.parse_args(arguments)
    found = find_cost("meep", options.cost)
    print(found.note, "\n")
    print("                   max/mean             slowest rank over that of the even split")
    print("cell   ranks  even    cost  evenly       cost  evenly   evenly/cost  evenly chose (predicted max/mean)")
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        for name in options.cells:
            run = MeepRun(CELLS, name, {})
            cell = cell_of_run(run)
            for ranks in options.ranks or ROWS[name]:
                plan = partition(cell, ranks, found.cost)
                layout = plan.save(Path(folder) / f"{name}-{ranks}.json")
                layouts: dict[str, Path | Split] = {"even": "even", "cost": "cost", "evenly": layout}
                times = measured(run, ranks, layouts, options.repeats)
                rows.append(row(name, ranks, times, plan.chosen, plan.imbalance))
    if options.json:
        options.json.write_text(json.dumps(rows, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
