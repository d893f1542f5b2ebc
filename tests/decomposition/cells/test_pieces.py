"""Pieces of boxes tile them and are those that the simulation makes; their faces are those counted one by one."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evenly.decomposition.cells.cell import Cell, Transform
from evenly.decomposition.cells.pieces import outer_faces, pieces_of
from evenly.decomposition.cells.survey import Survey
from evenly.fdtd import PML, Absorber, BinaryPartition, Periodic, Simulation
from evenly.fdtd.cell.grid import Grid


def blank(shape: tuple[int, int, int], thin: tuple[bool, bool, bool] = (False,) * 3, **given: Any) -> Cell:
    """Return a cell of so many points with one kind, all over."""
    size = [0.0 if t else n / 10 for n, t in zip(shape, thin, strict=True)]
    survey = Survey.of_blocks([(0, n) for n in shape], ("all",), np.full((1, 1, 1, 1), float(math.prod(shape))))
    return Cell("fdtd", Grid((size[0], size[1], size[2]), 10), survey, **given)


def faces_one_by_one(cell: Cell, low: Any, high: Any) -> int:
    shape = np.array(cell.grid.shape)
    inside = np.zeros(shape, dtype=bool)
    inside[tuple(slice(a, b) for a, b in zip(low, high, strict=True))] = True
    faces = 0
    for axis in range(3):
        if cell.grid.thin[axis]:
            continue
        for index in np.argwhere(inside):
            for step in (-1, 1):
                other = index.copy()
                other[axis] += step
                if cell.periodic[axis]:
                    other[axis] %= shape[axis]
                faces += bool(0 <= other[axis] < shape[axis]) and not inside[tuple(other)]
    return faces


@given(st.data())
@settings(max_examples=60, deadline=None)
def test_outer_faces(data: st.DataObject) -> None:
    thin = data.draw(st.sampled_from([(False, False, False), (False, True, False), (True, True, False)]))
    shape = [1 if t else data.draw(st.integers(1, 5)) for t in thin]
    cell = blank((shape[0], shape[1], shape[2]), thin, periodic=data.draw(st.tuples(*[st.booleans()] * 3)))
    low = [data.draw(st.integers(0, n - 1)) for n in shape]
    high = [data.draw(st.integers(a + 1, n)) for a, n in zip(low, shape, strict=True)]
    assert outer_faces(cell, np.array([low]), np.array([high])).tolist() == [faces_one_by_one(cell, low, high)]


@st.composite
def layered(draw: st.DrawFn) -> tuple[Cell, Any, Any]:
    shape = draw(st.tuples(*[st.integers(2, 12)] * 3))
    depths: dict[str, list[tuple[int, int]]] = {"pml": [], "absorber": []}
    for n in shape:
        low = draw(st.integers(0, n))
        high = draw(st.integers(0, n - low))
        kinds = draw(st.tuples(st.sampled_from(["pml", "absorber"]), st.sampled_from(["pml", "absorber"])))
        for kind, found in depths.items():
            found.append((low if kinds[0] == kind else 0, high if kinds[1] == kind else 0))
    apart = draw(st.sampled_from([("pml", "absorber"), ("pml",), ()]))
    cell = blank(shape, pml=tuple(depths["pml"]), absorber=tuple(depths["absorber"]), layers_apart=apart)
    ends = [sorted((draw(st.integers(0, n - 1)), draw(st.integers(0, n - 1)))) for n in shape]
    return cell, [a for a, _ in ends], [b + 1 for _, b in ends]


@given(layered())
def test_pieces_tile_boxes(case: tuple[Cell, Any, Any]) -> None:
    cell, low, high = case
    pieces = pieces_of(cell, [low, low], [high, high])
    for box in (0, 1):
        painted = np.zeros(cell.grid.shape, dtype=int)
        for a, b in zip(pieces.low[pieces.box == box], pieces.high[pieces.box == box], strict=True):
            assert np.all(a < b)
            painted[tuple(slice(i, j) for i, j in zip(a, b, strict=True))] += 1
        expected = np.zeros_like(painted)
        expected[tuple(slice(i, j) for i, j in zip(low, high, strict=True))] = 1
        assert np.array_equal(painted, expected)
    assert pieces.sums(pieces.volume, 2).tolist() == [math.prod(np.subtract(high, low))] * 2
    assert np.allclose(pieces.count("all"), pieces.volume)


@given(layered())
def test_pieces_know_their_layers(case: tuple[Cell, Any, Any]) -> None:
    cell, low, high = case
    pieces = pieces_of(cell, [low], [high])
    for kind, flags in (("pml", pieces.pml), ("absorber", pieces.absorber)):
        for axis, (below, above) in enumerate(getattr(cell, kind)):
            n = cell.grid.shape[axis]
            inside = (pieces.high[:, axis] <= below) | (pieces.low[:, axis] >= n - above)
            expected = inside if kind in cell.layers_apart else np.zeros(len(inside), dtype=bool)
            assert flags[:, axis].tolist() == expected.tolist()


@pytest.mark.parametrize(
    "boundaries",
    [
        [],
        [PML(0.3), Absorber(0.2, "y", "low")][:1],
        [PML(0.3, "x"), Absorber(0.4, "y", "low"), PML(0.2, "y", "high"), Periodic("z")],
        [PML(0.6, "x"), Absorber(0.5, "z")],
    ],
)
@pytest.mark.parametrize("size", [(2, 1.4, 1), (2, 1.4, 0)])
def test_pieces_are_the_chunks_of_a_layout(boundaries: list[Any], size: tuple[float, float, float]) -> None:
    if size[2] == 0:
        boundaries = [b for b in boundaries if getattr(b, "axis", None) != "z"]
    layout = BinaryPartition([("x", -0.8), 0, [("y", 0.25), [("x", 0.5), 1, 2], 3]])
    sim = Simulation(cell=size, resolution=10, boundaries=boundaries, layout=layout)
    x, y, z = sim.grid.shape
    cell = blank((x, y, z), sim.grid.thin, pml=sim.layers.pml, absorber=sim.layers.absorber)
    whole = {(c.box.lo, c.box.hi, c.pml, c.absorber, c.leaf) for c in layout.chunks(sim.grid, sim.layers, 4)}
    leaves = layout.chunks(sim.grid, Simulation(cell=size, resolution=10).layers, 4)
    pieces = pieces_of(cell, [c.box.lo for c in leaves], [c.box.hi for c in leaves])
    found = {
        (tuple(a), tuple(b), tuple(p), tuple(q), leaves[box].leaf)
        for a, b, p, q, box in zip(
            pieces.low.tolist(),
            pieces.high.tolist(),
            pieces.pml.tolist(),
            pieces.absorber.tolist(),
            pieces.box,
            strict=True,
        )
    }
    assert found == whole


def test_transforms() -> None:
    transforms = (Transform((0, 0, 2), (10, 8, 3), 0.5, 10), Transform((2, 2, 2), (4, 4, 4), 3, 1))
    cell = blank((10, 8, 6), transforms=transforms, complex_fields=True)
    values, products = pieces_of(cell, [[0, 0, 0], [3, 3, 0]], [[10, 8, 2], [10, 8, 6]]).transforms
    # 35 points of the plane times 1/2, and 2 of the little box times 3, two numbers each.
    assert values.tolist() == [0, 2 * (17.5 + 6)]
    assert products.tolist() == [0, 2 * (175 + 6)]


def test_sums() -> None:
    cell = blank((10, 8, 6), pml=((2, 2), (0, 0), (0, 0)))
    pieces = pieces_of(cell, [[0, 0, 0], [5, 0, 0]], [[5, 8, 6], [10, 8, 6]])
    both = np.stack([pieces.volume, np.ones(4)], axis=1)
    assert pieces.sums(both, 3).tolist() == [[240, 2], [240, 2], [0, 0]]
