"""How well the random cells that a forecast is trained on overlap the structures it is asked about.

    python benchmarks/random_cells.py
    python benchmarks/random_cells.py --cells 2000 --rows 200 --picture docs/random-cells-overlap.png

Draws training settings and, over a range of sizes, resolutions, frequencies, layers' thickness and ranks, the three
structures. For each structure and input it prints the share of rows between the 1 % and the 99 % quantile of the random
cells, then the distance to their fifth nearest cell over that between random cells (1: as near as they are to each
other), and how many lie outside. Nothing is stepped.
"""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from evenly.decomposition.cells.cell import Cell
from evenly.decomposition.cells.fdtd.cell import cell_of
from evenly.decomposition.forecasting.features import shares_of
from evenly.decomposition.forecasting.rehearsal import Setting
from evenly.decomposition.forecasting.training_data import POINTS, POINTS_PER_RANK, RANKS, training_settings
from evenly.decomposition.forecasting.training_overlap import BOUNDED, Overlap
from evenly.errors import InputError
from evenly.fdtd.simulation import Simulation
from evenly.fdtd.structures import build

#: What of each structure is drawn, evenly in the logarithm; lengths in µm.
LAYERS = {"pml": (0.25, 1.0), "absorber": (0.25, 1.0)}
STRUCTURES: Mapping[str, Mapping[str, tuple[float, float]]] = {
    "oled": {"resolution": (20, 80), "size": (1.0, 6.0), "frequencies": (5, 50), **LAYERS},
    "cmos": {"resolution": (20, 100), "size": (0.9, 4.0), "frequencies": (5, 50), **LAYERS},
    "tandem": {"resolution": (30, 120), "size": (0.4, 3.0), "frequencies": (5, 50), "pml": (0.25, 1.0),
               "absorber": (0.1, 0.5)},
}  # fmt: skip
#: Largest cell that is surveyed point by point.
SURVEYED = 200_000


def surveyed(setting: Setting) -> dict[str, float]:
    """Return the inputs of a setting."""
    example = build(setting.structure, **setting.parameters)
    sim = Simulation(**{**example.simulation, "sources": ()})
    cell: Cell = cell_of(sim, list(example.monitors.values()), points=SURVEYED)
    return {"points": float(cell.grid.box.volume), "ranks": float(setting.ranks), **shares_of(cell)}


def random_cells(count: int, seed: int) -> tuple[pd.DataFrame, int]:
    """Return the inputs of training settings, and how many can't be built."""
    rows, unfit = [], 0
    for setting in training_settings(count, seed=seed):
        try:
            rows.append(surveyed(setting))
        except InputError:
            unfit += 1
    return pd.DataFrame(rows), unfit


def drawn(name: str, random: np.random.Generator) -> Iterator[dict[str, float]]:
    """Draw one structure after the other on numbers of ranks; those of another size than random cells are left out."""
    while True:
        parameters: dict[str, Any] = {key: _log_uniform(random, *ends) for key, ends in STRUCTURES[name].items()}
        parameters["frequencies"] = round(parameters["frequencies"])
        example = build(name, **parameters).simulation
        points = float(np.prod(np.round(np.array(example["cell"]) * example["resolution"])))
        ranks = round(_log_uniform(random, 1, RANKS))
        if POINTS[0] <= points <= POINTS[1] and POINTS_PER_RANK[0] <= points / ranks <= POINTS_PER_RANK[1]:
            yield surveyed(Setting(name, parameters, ranks))


def _log_uniform(random: np.random.Generator, low: float, high: float) -> float:
    return float(np.exp(random.uniform(np.log(low), np.log(high))))


def told(overlap: Overlap, asked: Mapping[str, pd.DataFrame]) -> None:
    """Print coverage and distances."""
    print(f"\n{'between the 1 % and 99 % quantile':34s}" + "".join(f"{name:>9s}" for name in asked))
    shares = {name: overlap.coverage(table) for name, table in asked.items()}
    for column in BOUNDED:
        print(f"{column:34s}" + "".join(f"{share[column]:9.1%}" for share in shares.values()))
    distances = {name: overlap.distance(table) for name, table in asked.items()}
    for label, figure in (
        ("median distance", lambda d: f"{np.median(d):9.2f}"),
        ("largest distance", lambda d: f"{d.max():9.2f}"),
        ("distance at most 2", lambda d: f"{(d <= 2).mean():9.1%}"),
    ):
        print(f"{label:34s}" + "".join(figure(d) for d in distances.values()))
    outside = {name: overlap.outside(table) for name, table in asked.items()}
    print(f"{'outside':34s}" + "".join(f"{np.mean([bool(n) for n in o]):9.1%}" for o in outside.values()))
    for name, found in outside.items():
        if any(found):
            counted = Counter(" and ".join(names) for names in found if names).most_common(3)
            print(f"  {name} outside in: " + "; ".join(f"{what} ({n})" for what, n in counted))


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--cells", type=int, default=1000, help="training settings")
    parser.add_argument("--rows", type=int, default=100, help="of each structure")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--picture", type=Path, help="where to draw it")
    options = parser.parse_args(arguments)
    training, unfit = random_cells(options.cells, options.seed)
    print(f"{options.cells} random cells, {unfit} of which can't be built ({unfit / options.cells:.1%})")
    print(training[[c for c in BOUNDED if c in training]].quantile([0, 0.01, 0.5, 0.99, 1]).T.round(4).to_string())
    overlap = Overlap.learn(training)
    # Other random cells, to see what the figures of the structures could be at best.
    asked = {"random": random_cells(options.rows, options.seed + 1)[0]}
    for name in STRUCTURES:
        rows = drawn(name, np.random.default_rng([options.seed, len(asked)]))
        asked[name] = pd.DataFrame([next(rows) for _ in range(options.rows)])
    told(overlap, asked)
    if options.picture:
        del asked["random"]
        print(drawn_to(options.picture, training, asked, overlap))


def drawn_to(path: Path, training: pd.DataFrame, asked: Mapping[str, pd.DataFrame], overlap: Overlap) -> Path:
    """Draw the picture; as .png with few colours, which takes a third of the bytes."""
    from PIL import Image

    from evenly.report.plots.overlap import plot_overlap
    from evenly.report.plots.style import save_figure

    save_figure(plot_overlap(training, asked, overlap), path)
    if path.suffix == ".png":
        with Image.open(path) as picture:
            picture.convert("RGB").quantize(64, dither=Image.Dither.NONE).save(path, optimize=True)
    return path


if __name__ == "__main__":
    main()
