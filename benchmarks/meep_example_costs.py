"""Meep's own example scripts on 4 and 8 ranks: cut evenly and by cost by Meep, and by evenly; times and predictions.

``python benchmarks/meep_example_costs.py EXAMPLES [--python PYTHON] [--only NAME,NAME] [--points 1e5]`` takes the
folder ``python/examples`` of Meep's sources, and the first simulation of each script whose cell has at least so many
points. None of these cells was used for evenly's costs of Meep.

The time is the CPU time per step of the slowest rank. Ranks are timed one after the other (`lone_ranks`), each as on
a core of its own; with ``--together`` at once, without their waiting in MPI. The layouts step in turns. Each rank's
time is the least of the odd rounds, and of the even ones: two measurements, which stand in the table beside each other.
On one rank, the whole step is measured. Predictions are compared at the pace of a small vacuum cell beside the steps,
which was also measured with evenly's costs.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import tempfile
import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cost_meep import predicted
from evenly.adapters.meep.cell.cell import NO_SOURCES
from evenly.adapters.meep.cell.interpreter import environment, find_python, package_folder
from evenly.adapters.meep.cell.scripts import cell_of_script
from evenly.adapters.meep.timing.mpi_waiting import VARIABLE, _mpi_of, build_waiting
from evenly.adapters.meep.timing.ranks import RankTimes
from evenly.adapters.meep.timing.rehearsals import pace_of
from evenly.decomposition.cells.cell import Cell
from evenly.decomposition.costs.cost_model import CostModel
from evenly.decomposition.costs.locations import find_cost
from evenly.decomposition.partitioning.partition import partition
from evenly.errors import EvenlyError
from lone_ranks import build_lone_ranks
from meep_examples import ARGUMENTS, MPI

TIMER = Path(__file__).resolve().parent / "meep_example_timer.py"
Array = NDArray[np.float64]
Row = dict[str, Any]


def times_of(script: Path, layouts: Mapping[int, Mapping[str, str]], given: argparse.Namespace) -> dict[int, list[Row]]:
    """Return what each rank of a script measured for each layout, by the number of ranks."""
    request = {
        "script": [str(script), *ARGUMENTS.get(script.stem, ())], "rounds": given.rounds, "batch_s": given.batch_s,
    }  # fmt: skip
    with tempfile.TemporaryDirectory() as text, package_folder() as package:
        folder = Path(text)

        def start(before: Sequence[str], some: Mapping[int, Any], library: Path, played: str, **more: str) -> None:
            about = {**request, "layouts": some, "library": played}
            (folder / "request.json").write_text(json.dumps(about), encoding="utf-8")
            command = [*before, "env", f"LD_PRELOAD={library}", given.python, str(TIMER), str(folder)]
            _finished(command, os.environ | environment(package, **MPI, MPLBACKEND="Agg", **more), given.limit)

        if given.together:
            library = build_waiting(folder, Path(given.python))
            for ranks, some in layouts.items():
                launch = [str(shutil.which("mpirun")), "--oversubscribe", "-n", str(ranks)] if ranks > 1 else []
                start(launch, {ranks: some}, library, "", **{VARIABLE: str(library)})
        else:
            library = build_lone_ranks(folder, _mpi_of(Path(given.python)))
            start([], layouts, library, str(library))
        return {
            ranks: [json.loads((folder / f"rank{rank}of{ranks}.json").read_text("utf-8")) for rank in range(ranks)]
            for ranks in layouts
        }


def _finished(command: Sequence[str], variables: Mapping[str, str], limit: float) -> None:
    try:
        done = subprocess.run(command, env=variables, capture_output=True, text=True, timeout=limit, check=False)
    except subprocess.TimeoutExpired:
        raise TimeoutError(f"it took longer than {limit:g} s") from None
    if done.returncode:
        said = [line for line in (done.stdout + done.stderr).splitlines() if "Error" in line or "meep:" in line]
        raise RuntimeError((said or ["it failed"])[-1][:150])


def halves(told: Sequence[Row], way: str, pace: float) -> list[tuple[Array, Array]]:
    """Return each rank's seconds per step in the odd and in the even rounds, as measured and at the model's pace."""
    seconds, paces = (np.array([one[way][name] for one in told]) for name in ("seconds", "paces"))
    parts = (slice(None, None, 2), slice(1, None, 2))
    found = [(seconds[:, part].min(axis=1), paces[:, part].min(axis=1)) for part in parts]
    return [(work, work / beside * pace) for work, beside in found]


def guessed(cost: CostModel, cell: Cell, told: Row, ranks: int) -> float:
    """Return the predicted seconds per step of the slowest rank on the chunks that Meep made."""
    low, high, owners = (np.array(told[name], dtype=np.int64) for name in ("low", "high", "owners"))
    none = np.zeros(ranks)
    return float(predicted(cost, cell, RankTimes(none, none, none, low, high, owners)).max())


def rows_of(script: Path, cell: Cell, cost: CostModel, given: argparse.Namespace) -> list[Row]:
    """Measure a script on all numbers of ranks, and print a line for each layout."""
    layouts: dict[int, dict[str, str]] = {}
    with tempfile.TemporaryDirectory() as folder:
        for ranks in given.ranks:
            layouts[ranks] = {"even": "even"} if ranks == 1 else {"even": "even", "cost": "cost"}
            plan = partition(cell, ranks, cost)
            if plan.chosen != "even" and ranks > 1:
                layouts[ranks]["evenly"] = str(plan.save(Path(folder) / f"{ranks}.json"))
        found = times_of(script, layouts, given)
    return [row for ranks, told in found.items() for row in lines_of(script, cell, told, cost, given)]


def lines_of(script: Path, cell: Cell, told: Sequence[Row], cost: CostModel, given: argparse.Namespace) -> list[Row]:
    """Print a line for each layout of what ranks measured, and return it."""
    ranks = len(told)
    rows, base = [], [part[0].max() for part in halves(told, "even", pace_of(cost))]
    for way in told[0]:
        both, guess = halves(told, way, pace_of(cost)), guessed(cost, cell, told[0][way], ranks)
        slowest = [part[0].max() for part in both]
        ratios = [ours / usual for ours, usual in zip(slowest, base, strict=True)]
        off = [guess / part[1].max() for part in both]
        spread = [float(part[0].max() / part[0].mean()) for part in both]
        print(
            f"| {script.stem} | {cell.grid.box.volume:,} | {ranks} | {way} | {1e3 * slowest[0]:.2f}, "
            f"{1e3 * slowest[1]:.2f} | {spread[0]:.2f}, {spread[1]:.2f} | {ratios[0]:.2f}, {ratios[1]:.2f} | "
            f"{off[0]:.2f}, {off[1]:.2f} |",
            flush=True,
        )
        row = {"script": script.stem, "ranks": ranks, "way": way, "slowest": slowest, "ratios": ratios, "off": off}
        rows.append(row)
    if given.json:
        with given.json.open("a", encoding="utf-8") as file:
            file.writelines(json.dumps(row) + "\n" for row in rows)
    return rows


def report(rows: Sequence[Row]) -> None:
    """Print what all rows say together."""
    for way in ("cost", "evenly"):
        found = np.array([row["ratios"] for row in rows if row["way"] == way])
        if len(found):
            mean, most = np.exp(np.log(found).mean()), found.min(axis=1).max()
            print(f"{way}: {mean:.2f} of the even split (geometric mean of {len(found)}), at most {most:.2f}")
            both = np.abs(np.log(found[:, 0] / found[:, 1]))
            print(f"  one measurement over the other: mean {np.exp(both.mean()):.2f}, most {np.exp(both.max()):.2f}")
    for whole in (True, False):
        off = np.array([row["off"] for row in rows if (row["ranks"] == 1) is whole])
        if len(off):
            print(
                f"predicted over measured, {'whole step' if whole else 'slowest rank'}: {off.min():.2f} to "
                f"{off.max():.2f}, geometric mean {np.exp(np.log(off).mean()):.2f}"
            )
    if rows:
        apart = np.abs(np.array([np.mean(row["off"]) for row in rows]) - 1)
        within = ", ".join(f"{np.mean(apart <= share):.0%} within {share:.0%}" for share in (0.25, 0.15))
        print(f"predictions of {len({row['script'] for row in rows})} cells, {len(rows)} cuts: {within}")


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("examples", type=Path)
    parser.add_argument("--python")
    parser.add_argument("--only", default="")
    parser.add_argument("--points", type=float, default=1e5)
    parser.add_argument("--most", type=float, default=3e6, help="larger cells are left out")
    parser.add_argument("--ranks", nargs="+", type=int, default=[4, 8, 1])
    parser.add_argument("--rounds", type=int, default=30)
    parser.add_argument(
        "--batch-s",
        type=float,
        default=0.003,
        help="CPU seconds of a batch of steps; short, so that no other program comes in between",
    )
    parser.add_argument("--limit", type=float, default=600.0, help="most seconds of a script")
    parser.add_argument("--together", action="store_true", help="time all ranks at once, on the cores that there are")
    parser.add_argument("--json", type=Path, help="where to add the figures; the summary is of all that are there")
    given = parser.parse_args()
    given.python, cost = str(find_python(given.python)), find_cost("meep", None)
    print(cost.note, "\n")
    print("| script | points | ranks | cut | slowest rank, ms | max/mean | of the even split | predicted/measured |")
    print("|---|---|---|---|---|---|---|---|", flush=True)
    rows: list[Row] = []
    with tempfile.TemporaryDirectory() as text:
        copy = shutil.copytree(given.examples, Path(text) / "examples")
        for script in sorted([*copy.glob("*.py"), *copy.glob("*/*.py")]):
            if "mpb" in script.read_text(encoding="utf-8") or (given.only and script.stem not in given.only.split(",")):
                continue
            rows += measured(script, cost.cost, given)
    if given.json and given.json.exists():
        rows = [json.loads(line) for line in given.json.read_text(encoding="utf-8").splitlines()]
    report(rows)


def measured(script: Path, cost: CostModel, given: argparse.Namespace) -> list[Row]:
    """Return the rows of a script; none if its cell is too small or too large."""
    rows: list[Row] = []
    os.chdir(script.parent)
    try:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            cell = cell_of_script(script, ARGUMENTS.get(script.stem, ()), max(given.ranks), given.python)
        if any(NO_SOURCES in str(warning.message) for warning in caught):
            raise RuntimeError("it has no source at its first step, so Meep steps no fields")
        if given.points <= cell.grid.box.volume <= given.most:
            rows = rows_of(script, cell, cost, given)
    except (EvenlyError, RuntimeError, TimeoutError) as error:
        print(f"| {script.stem} | {str(error).splitlines()[-1][:120]} |", flush=True)
    return rows


if __name__ == "__main__":
    main()
