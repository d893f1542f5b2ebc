"""A program with planted costs, and cells whose work is known."""

from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np
import pytest
from numpy.typing import NDArray

from evenly.decomposition.cells.cell import Cell
from evenly.decomposition.cells.pieces import Pieces
from evenly.decomposition.cells.survey import Survey
from evenly.decomposition.costs import cost_model
from evenly.decomposition.costs.cost_model import Coefficient, CostModel
from evenly.decomposition.costs.terms import Program, Term
from evenly.fdtd.cell.grid import Grid

Array = NDArray[np.float64]


class Planted(Program):
    """Points, heavy points, points of chunks in which there is anything heavy, PML points, chunks."""

    name = "planted"
    terms = (Term("points"), Term("heavy"), Term("present"), Term("layer"), Term("chunks", "chunk"))

    def amounts(self, pieces: Pieces) -> Array:
        heavy = pieces.count("dielectric")
        present = pieces.volume * (heavy > 0.5)
        layer = pieces.volume * pieces.pml.any(axis=1)
        return np.stack([pieces.volume, heavy, present, layer, np.ones_like(heavy)], axis=1)


@contextmanager
def planted(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Make the program known while the test runs."""
    known = cost_model.program_named
    monkeypatch.setattr(cost_model, "program_named", lambda name: Planted() if name == "planted" else known(name))
    yield
    monkeypatch.setattr(cost_model, "program_named", known)


def cost(share_error: float = 0.01, **seconds: float) -> CostModel:
    """Return a cost model; names with underscores for blanks."""
    coefficients = {name.replace("_", " "): Coefficient(value) for name, value in seconds.items()}
    return CostModel("planted", coefficients, share_error=share_error)


def cell(
    shape: tuple[int, int, int],
    heavy: list[tuple[tuple[int, int, int], tuple[int, int, int]]] = [],  # noqa: B006 - never changed
    *,
    pml: int = 0,
    periodic: tuple[bool, bool, bool] = (False, False, False),
) -> Cell:
    """Return a cell of so many points (1 makes an axis thin) with heavy boxes, each block a point."""
    mask = np.zeros(shape)
    for low, high in heavy:
        mask[tuple(slice(a, b) for a, b in zip(low, high, strict=True))] = 1
    edges = [np.arange(n + 1) for n in shape]
    x, y, z = (0.0 if n == 1 else float(n) for n in shape)
    depths = tuple((pml, pml) if n > 1 else (0, 0) for n in shape)
    survey = Survey.of_blocks(edges, ("dielectric",), mask[..., None])
    return Cell("planted", Grid((x, y, z), 1), survey, periodic, pml=(depths[0], depths[1], depths[2]))


def brute_force_work(cell: Cell, low: Array, high: Array) -> tuple[float, float]:
    """Return points and heavy points of a box by looking at each."""
    mask = np.diff(np.diff(np.diff(cell.survey.table[..., 0], axis=0), axis=1), axis=2)
    part = mask[tuple(slice(int(a), int(b)) for a, b in zip(low, high, strict=True))]
    return float(part.size), float(part.sum())
