"""Which low-rank form of a tensor predicts best: canonical polyadic, tensor train or Tucker.

    python benchmarks/tensor_forms.py DATA

All three are fitted to the same residuals of a log-quadratic law, with hat functions along each parameter, by
alternating ridge regressions; the grid, the rank and the ridge are those that predict a fifth of the training runs
best. `cpr` is evenly's: canonical polyadic, with the posterior of its factors. Figures are MLogQ on the test file.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Callable, Sequence
from functools import reduce
from itertools import product
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from evenly.errors import ExtrapolationWarning
from evenly.metrics import mlogq
from evenly.models.completion.cpr import CPR
from evenly.models.inputs.coding import Coding
from models_data import Case, load

Floats = NDArray[np.float64]
Form = Callable[[list[Floats], Floats, int, float], Callable[[list[Floats]], Floats]]
SWEEPS, CELLS, RIDGES = 20, (6, 10, 16), (1e-5, 1e-4, 1e-3)
#: No residual is believed beyond so many standard deviations.
MOST = 6.0


def hats(x: Floats, cells: int) -> Floats:
    """Return the hat functions of `cells` points in [-1, 1] at x, (n, cells)."""
    place = (np.clip(x, -1, 1) + 1) / 2 * (cells - 1)
    below = np.clip(place.astype(int), 0, cells - 2)
    found, rows = np.zeros((len(x), cells)), np.arange(len(x))
    found[rows, below], found[rows, below + 1] = below + 1 - place, place - below
    return found


def ridge(design: Floats, y: Floats, weight: float) -> Floats:
    gram = design.T @ design + weight * len(y) * np.eye(design.shape[1])
    return np.asarray(np.linalg.solve(gram, design.T @ y))


def times(a: Floats, b: Floats) -> Floats:
    """Products of all columns of a with all of b, row by row."""
    return np.asarray((a[:, :, None] * b[:, None, :]).reshape(len(a), -1))


def canonical(basis: list[Floats], y: Floats, rank: int, weight: float) -> Callable[[list[Floats]], Floats]:
    rng = np.random.default_rng(1)
    factors = [rng.normal(1, 0.3, (h.shape[1], rank)) / rank ** (1 / len(basis)) for h in basis]
    for _ in range(SWEEPS):
        for j, h in enumerate(basis):
            others = np.prod([b @ u for k, (b, u) in enumerate(zip(basis, factors, strict=True)) if k != j], axis=0)
            factors[j] = ridge(times(h, others), y, weight).reshape(-1, rank)
    return lambda asked: np.prod([h @ u for h, u in zip(asked, factors, strict=True)], axis=0).sum(axis=1)


def train(basis: list[Floats], y: Floats, rank: int, weight: float) -> Callable[[list[Floats]], Floats]:
    rng, last = np.random.default_rng(1), len(basis) - 1
    ends = [1, *[rank] * last, 1]
    cores = [rng.normal(0, rank**-0.5, (a, h.shape[1], b))
             for a, h, b in zip(ends, basis, ends[1:], strict=False)]  # fmt: skip

    def through(parts: list[Floats], some: list[Floats], begin: Floats, order: str) -> Floats:
        for h, core in zip(some, parts, strict=True):
            begin = np.einsum(order, begin, np.einsum("ni,aib->nab", h, core, optimize=True))
        return begin

    one = np.ones((len(y), 1))
    for _ in range(SWEEPS):
        for j, h in enumerate(basis):
            left = through(cores[:j], basis[:j], one, "na,nab->nb")
            right = through(cores[:j:-1], basis[:j:-1], one, "nb,nab->na")
            cores[j] = ridge(times(times(left, h), right), y, weight).reshape(cores[j].shape)
    return lambda asked: through(cores, asked, np.ones((len(asked[0]), 1)), "na,nab->nb")[:, 0]


def tucker(basis: list[Floats], y: Floats, rank: int, weight: float) -> Callable[[list[Floats]], Floats]:
    rng, d = np.random.default_rng(1), len(basis)
    factors = [np.linalg.qr(rng.normal(size=(h.shape[1], rank)))[0] for h in basis]
    for _ in range(SWEEPS):
        parts = [h @ u for h, u in zip(basis, factors, strict=True)]
        core = ridge(reduce(times, parts), y, weight).reshape((rank,) * d)
        for j, h in enumerate(basis):
            parts = [b @ u for k, (b, u) in enumerate(zip(basis, factors, strict=True)) if k != j]
            others = reduce(times, parts) @ np.moveaxis(core, j, 0).reshape(rank, -1).T
            factors[j] = np.linalg.qr(ridge(times(h, others), y, weight).reshape(-1, rank))[0]
    core = ridge(reduce(times, [h @ u for h, u in zip(basis, factors, strict=True)]), y, weight)
    return lambda asked: reduce(times, [h @ u for h, u in zip(asked, factors, strict=True)]) @ core


FORMS: dict[str, tuple[Form, Sequence[int]]] = {
    "canonical": (canonical, (1, 2, 4, 8, 16)), "train": (train, (2, 3, 4, 6)), "Tucker": (tucker, (2, 3, 4, 6)),
}  # fmt: skip


def error_of(form: Form, ranks: Sequence[int], case: Case) -> float:
    """Choose on a fifth of the training runs, learn from all of them and ask for the test runs."""
    (table, seconds), (asked, truth) = case.of(case.train), case.of(case.test)
    coding = Coding.learn(case.space.frame(table), case.space)
    x, there = (coding.inputs(case.space.frame(t)).numbers for t in (table, asked))
    law = ridge(squares(x), np.log(seconds), 1e-6)
    left = np.log(seconds) - squares(x) @ law
    scale = float(np.std(left))
    out = np.random.default_rng(0).random(len(left)) < 0.2

    def tried(options: tuple[int, int, float]) -> float:
        cells, rank, weight = options
        basis = [hats(column, cells) for column in x.T]
        made = form([h[~out] for h in basis], left[~out] / scale, rank, weight)([h[out] for h in basis])
        return float(np.mean(np.abs(np.clip(made, -MOST, MOST) - left[out] / scale)))

    cells, rank, weight = min(product(CELLS, ranks, RIDGES), key=tried)
    learned = form([hats(column, cells) for column in x.T], left / scale, rank, weight)
    made = np.clip(learned([hats(column, cells) for column in there.T]), -MOST, MOST)
    return mlogq(truth, np.exp(squares(there) @ law + scale * made))


def squares(x: Floats) -> Floats:
    """1, the columns, their squares and products."""
    pairs = [x[:, i] * x[:, j] for i in range(x.shape[1]) for j in range(i, x.shape[1])]
    return np.column_stack([np.ones(len(x)), x, *pairs])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path, help="where gemm-train.csv and the others are")
    folder = parser.parse_args().folder
    warnings.simplefilter("ignore", ExtrapolationWarning)
    print(f"{'data':6s} {'runs':>6s} " + " ".join(f"{name:>10s}" for name in (*FORMS, "cpr")))
    for name in ("bcast", "gemm"):
        for size in (256, 1_024, 4_096):
            case = load(folder, name).sample(size, 0)
            errors = [error_of(form, ranks, case) for form, ranks in FORMS.values()]
            (table, seconds), (asked, truth) = case.of(case.train), case.of(case.test)
            errors.append(mlogq(truth, CPR().fit(table, seconds, space=case.space).predict(asked)))
            print(f"{name:6s} {size:6d} " + " ".join(f"{error:10.3f}" for error in errors), flush=True)


if __name__ == "__main__":
    main()
