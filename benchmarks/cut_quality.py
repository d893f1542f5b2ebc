"""Cuts of evenly beside general partitioners: METIS, k-d trees, equal volumes.

On the same weights: each cell is divided into blocks, some 64 per rank, whose weights are what its points are predicted
to take (without what only whole chunks have: calls, ghosts, presence of kinds). METIS (recursive bisection and k-way,
through pymetis) partitions the graph of blocks whose edges are weighted by the faces they share; all others cut the
same weights with planes. A rank's time is its weights plus its borders by the same cost model. METIS's parts are sets
of blocks, not boxes, so a program on boxes can't run them: they say what any cut could reach.

By the whole model: what the cost model predicts with everything that chunks have, which only boxes can be judged by;
evenly cuts for that, a k-d tree for the work in blocks as large as a sixteenth of a chunk.

usage: python benchmarks/cut_quality.py [--cells oled cmos …] [--ranks 4 16 64 256] [--cost FILE]
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from cut_cells import corner, costs, structure
from evenly.decomposition.cells.cell import NO_LAYERS, Cell
from evenly.decomposition.cells.survey import Survey
from evenly.decomposition.costs.cost_model import Coefficient, CostModel, program_named
from evenly.decomposition.costs.terms import BOUNDARY
from evenly.decomposition.partitioning.density import Density
from evenly.decomposition.partitioning.partition import partition
from evenly.decomposition.partitioning.predict import corners, times
from evenly.fdtd.cell.partition import BinaryPartition

try:
    import pymetis
except ImportError:
    pymetis = None

Array = Any
#: Terms per one of these are what points take.
POINTWISE = frozenset({"point", "node", "value", "value and frequency", "product"})
#: A term that is proportional to a count of the survey, of the same name.
WEIGHT = "nonlinear values"
#: Blocks of the weights per rank; 4096 in all at least.
BLOCKS = 64
CELLS: dict[str, Callable[[], Cell]] = {
    "oled": partial(structure, "oled", resolution=40.0),
    "cmos": partial(structure, "cmos", resolution=60.0),
    "tandem": partial(structure, "tandem", resolution=100.0),
    "random": partial(structure, "random", seed=3, points=1e6),
    "corner": corner,
}


@dataclass(frozen=True)
class Boxes:
    """One box per rank, from `low` up to, not including, `high`, each (ranks, 3)."""

    low: Array
    high: Array


@dataclass(frozen=True)
class Blocks:
    """The blocks of a cell as a graph: seconds of work (n,), and pairs (m,) with the faces they share."""

    seconds: Array
    first: Array
    second: Array
    faces: Array

    @classmethod
    def of(cls, cell: Cell, density: Density) -> Blocks:
        edges = density.survey.edges
        low = np.stack([g.ravel() for g in np.meshgrid(*(e[:-1] for e in edges), indexing="ij")], axis=1)
        high = np.stack([g.ravel() for g in np.meshgrid(*(e[1:] for e in edges), indexing="ij")], axis=1)
        number = np.arange(len(low)).reshape([len(e) - 1 for e in edges])
        pairs = []
        for axis in range(3):
            n = number.shape[axis]
            area = np.prod(high - low, axis=1) // (high - low)[:, axis]
            ends = [(np.arange(n - 1), np.arange(1, n))]
            if cell.periodic[axis] and n > 2 and not cell.grid.thin[axis]:
                ends.append((np.array([n - 1]), np.array([0])))
            for a, b in ends:
                one, other = (np.take(number, at, axis=axis).ravel() for at in (a, b))
                pairs.append((one, other, area[one]))
        return cls(density.work(low, high), *(np.concatenate(columns) for columns in zip(*pairs, strict=True)))

    def borders(self, part: Array, ranks: int) -> tuple[Array, Array]:
        """Return the faces and the other ranks that each part shares."""
        a, b = part[self.first], part[self.second]
        cut = a != b
        faces = np.bincount(a[cut], self.faces[cut], ranks) + np.bincount(b[cut], self.faces[cut], ranks)
        met = np.unique(np.r_[a[cut] * ranks + b[cut], b[cut] * ranks + a[cut]])
        return faces, np.bincount(met // ranks, minlength=ranks).astype(float)


@dataclass(frozen=True)
class Judged:
    """Per rank: seconds of work and of borders, and faces; CPU seconds of the cutting."""

    work: Array
    border: Array
    faces: Array
    taken_s: float

    @property
    def rank_s(self) -> Array:
        return self.work + self.border


# ---- cuts -------------------------------------------------------------------------------------------------------


def kd(cell: Cell, ranks: int, cut: Callable[[Array, Array, int, float], int]) -> Boxes:
    """Halve boxes across their longest axis, ranks n/2 and n - n/2, where `cut` says."""
    done, stack = [], [(np.zeros(3, dtype=np.int64), np.array(cell.grid.shape, dtype=np.int64), ranks)]
    while stack:
        low, high, n = stack.pop()
        if n == 1:
            done.append((low, high))
            continue
        axis = int(np.argmax(high - low))
        at = min(max(cut(low, high, axis, (n // 2) / n), low[axis] + 1), high[axis] - 1)
        upper, lower = low.copy(), high.copy()
        upper[axis] = lower[axis] = at
        stack += [(upper, high, n - n // 2), (low, lower, n // 2)]
    return Boxes(np.array([a for a, _ in done]), np.array([b for _, b in done]))


def by_points(low: Array, high: Array, axis: int, share: float) -> int:
    return round(float(low[axis] + share * (high[axis] - low[axis])))


def by_work(density: Density, low: Array, high: Array, axis: int, share: float) -> int:
    return int(density.cuts(low[None], high[None], np.array([axis]), np.array([share]))[0])


def metis(blocks: Blocks, ranks: int, *, recursive: bool) -> Array:
    """Return the part of each block."""
    weights = np.maximum(1, np.rint(blocks.seconds * (1e9 / blocks.seconds.sum()))).astype(int)
    a, b = np.r_[blocks.first, blocks.second], np.r_[blocks.second, blocks.first]
    order = np.lexsort((b, a))
    starts = np.r_[0, np.cumsum(np.bincount(a, minlength=len(weights)))]
    edges = np.r_[blocks.faces, blocks.faces][order].astype(int)
    graph = pymetis.CSRAdjacency(starts.tolist(), b[order].tolist())
    _, part = pymetis.part_graph(
        ranks, graph, vweights=weights.tolist(), eweights=edges.tolist(), recursive=recursive
    )  # fmt: skip
    return np.asarray(part)


# ---- judging ----------------------------------------------------------------------------------------------------


def weighted(cell: Cell, cost: CostModel, ranks: int) -> tuple[Cell, CostModel, Density]:
    """Return a cell that holds nothing but weights, the costs of those, and their density.

    Weights are written as a kind of point whose term is proportional to its number and to nothing else.
    """
    terms = program_named(cost.program).all_terms
    pointwise = {t.name for t in terms if t.per in POINTWISE}
    of_points = replace(cost, coefficients={n: c for n, c in cost.coefficients.items() if n in pointwise})
    density = Density.of(cell, of_points, BLOCKS * ranks // 16)
    survey = Survey(density.survey.edges, (WEIGHT,), density.survey.table * (1e9 / cell.parts))
    borders = {t.name: cost.coefficients[t.name] for t in BOUNDARY if t.name in cost.coefficients}
    only = replace(cost, coefficients={WEIGHT: Coefficient(1e-9), **borders})
    return replace(cell, survey=survey, transforms=(), pml=NO_LAYERS, absorber=NO_LAYERS), only, density


def judge_boxes(cell: Cell, cost: CostModel, boxes: Boxes, taken_s: float) -> Judged:
    ranks = len(boxes.low)
    found = times(cell, boxes.low, boxes.high, np.arange(ranks), ranks, cost)
    return Judged(found.work_s, found.border_s, found.faces, taken_s)


def judge_part(cell: Cell, cost: CostModel, blocks: Blocks, part: Array, ranks: int, taken_s: float) -> Judged:
    faces, neighbours = blocks.borders(part, ranks)
    work = np.bincount(part, blocks.seconds, ranks)
    return Judged(work, cost.border_seconds(cell, faces, neighbours), faces, taken_s)


def timed(work: Callable[[], Any]) -> tuple[Any, float]:
    begin = time.process_time()
    return work(), time.process_time() - begin


def by_boxes(cell: Cell, cost: CostModel, density: Density, ranks: int) -> dict[str, Judged]:
    """Return each cut into boxes as it is judged."""
    ways: dict[str, Callable[[], Boxes]] = {
        "evenly": lambda: Boxes(*corners(cell, partition(cell, ranks, cost).balanced.layout)),
        "equal volumes": lambda: Boxes(*corners(cell, BinaryPartition.equal(cell.grid, ranks))),
        "k-d by points": lambda: kd(cell, ranks, by_points),
        "k-d by work": lambda: kd(cell, ranks, partial(by_work, density)),
    }
    return {name: judge_boxes(cell, cost, *timed(way)) for name, way in ways.items()}


def compare(cell: Cell, cost: CostModel, ranks: int) -> tuple[dict[str, Judged], dict[str, Judged]]:
    """Return each cut on the same weights, and those into boxes by the whole model."""
    weights, only, density = weighted(cell, cost, ranks)
    blocks = Blocks.of(weights, density)
    found = by_boxes(weights, only, density, ranks)
    for name, recursive in {"METIS recursive": True, "METIS k-way": False}.items() if pymetis is not None else ():
        part, taken_s = timed(partial(metis, blocks, ranks, recursive=recursive))
        found[name] = judge_part(weights, only, blocks, part, ranks, taken_s)
    return found, by_boxes(cell, cost, Density.of(cell, cost, ranks), ranks)


def show(name: str, ranks: int, same: dict[str, Judged], whole: dict[str, Judged]) -> None:
    best, best_whole = same["evenly"].rank_s.max(), whole["evenly"].rank_s.max()
    for way, one in same.items():
        other = whole.get(way)
        predicted = "" if other is None else f"{imbalance(other.rank_s):>10.3f}{other.rank_s.max() / best_whole:>9.2f}"
        print(
            f"{name:<8}{ranks:>5}  {way:<16}{imbalance(one.work):>8.3f}{imbalance(one.rank_s):>10.3f}"
            f"{one.rank_s.max() / best:>9.2f}{one.faces.max():>12,.0f}{one.faces.sum() / 2:>12,.0f}"
            f"{one.taken_s:>8.2f}{predicted}",
            flush=True,
        )
    print()


def imbalance(values: Array) -> float:
    return float(values.max() / values.mean())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cells", nargs="+", choices=list(CELLS), default=list(CELLS))
    parser.add_argument("--ranks", nargs="+", type=int, default=[4, 16, 64, 256])
    parser.add_argument("--cost", type=Path, default=None)
    given = parser.parse_args()
    cost, about = costs(given.cost)
    partition(corner(16), 8, cost)  # compiles what is compiled
    print(about)
    if pymetis is None:
        print("METIS is left out: pymetis is not installed (pip install pymetis)")
    print(
        f"{'':<31}{'on the same weights: max/mean':>29}{'faces of a rank, of all':>23}{'':>8}{'by the whole model':>19}"
    )
    print(
        f"{'cell':<8}{'ranks':>5}  {'cut':<16}{'work':>8}{'+borders':>10}{'slowest':>9}{'most':>12}{'all':>12}"
        f"{'CPU s':>8}{'max/mean':>10}{'slowest':>9}"
    )
    for name in given.cells:
        cell = CELLS[name]()
        print(f"{name}: {' × '.join(map(str, cell.grid.shape))} points")
        for ranks in given.ranks:
            show(name, ranks, *compare(cell, cost, ranks))


if __name__ == "__main__":
    main()
