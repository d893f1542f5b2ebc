from __future__ import annotations

import math
from itertools import product
from typing import Any

import numpy as np
import pytest
from scipy.sparse import coo_matrix, csr_matrix
from scipy.sparse.linalg import eigsh

from evenly.errors import InputError
from evenly.fdtd.cell.boundaries import PML, Absorber, Periodic, resolve
from evenly.fdtd.cell.box import Box
from evenly.fdtd.cell.grid import Grid
from evenly.fdtd.counting.counts import count, shared_faces
from evenly.fdtd.media.geometry import Block, Sphere
from evenly.fdtd.media.materials import DrudePole, LorentzPole, Medium
from evenly.fdtd.media.structure import Response, Structure
from tests.fdtd.scenes import scene

WIDE = math.inf
GRID = Grid((1.6, 1.2, 1.4), 10, courant=0.3)


def parts(box: Box) -> list[Box]:
    return [p for q in box.split(0, 5) for r in q.split(1, 7) for p in r.split(2, 3)]


def everything(response: Response, box: Box) -> dict[str, Any]:
    """All per-point arrays of a response, floats spread out."""
    zeros = (0.0, 0.0, 0.0)
    found: dict[str, Any] = {"inverse": response.inverse, "sigma": response.conductivity or zeros}
    found |= {"chi2": response.chi2 or zeros, "chi3": response.chi3 or zeros}
    found |= {str(pole): tuple(0.0 if v is None else v for v in s) for pole, s in response.poles.items()}
    return {name: [np.broadcast_to(v, box.shape) for v in values] for name, values in found.items()}


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("subpixel", [True, False])
def test_a_box_is_made_of_exactly_what_its_parts_are(seed: int, subpixel: bool) -> None:
    layers = resolve([Periodic("x"), Absorber(0.3, "y"), PML(0.2, "z")], GRID)
    structure = Structure(GRID, scene(seed), layers=layers, subpixel=subpixel)
    whole = structure.sample(GRID.box)
    for part in parts(GRID.box):
        piece, at = structure.sample(part), part.slices((0, 0, 0))
        for all_of, some in ((whole.electric, piece.electric), (whole.magnetic, piece.magnetic)):
            large, small = everything(all_of, GRID.box), everything(some, part)
            for name, values in large.items():
                for axis in range(3):
                    mine = small[name][axis] if name in small else np.zeros(part.shape)
                    assert np.array_equal(values[axis][at], mine)
            nodes = tuple(slice(s.start, s.stop + 1) for s in at)
            for axis in range(3):
                theirs = 0.0 if all_of.off_diagonal is None else all_of.off_diagonal[axis][nodes]
                assert np.array_equal(theirs, theirs * 0 if some.off_diagonal is None else some.off_diagonal[axis])
        assert np.array_equal(
            np.broadcast_to(whole.interface, GRID.shape)[at], np.broadcast_to(piece.interface, part.shape)
        )


@pytest.mark.parametrize("seed", range(3))
def test_counts_of_a_box_are_the_sums_over_its_parts(seed: int) -> None:
    layers = resolve([Periodic("x"), Absorber(0.3, "y"), PML(0.2, "z")], GRID)
    structure = Structure(GRID, scene(seed), layers=layers)
    patches = [("Ex", Box((2, 2, 2), (9, 9, 3)), 50), ("Hy", GRID.box, 7)]
    whole, cells = count(structure, GRID.box, fourier=patches).as_dict(), parts(GRID.box)
    each = [count(structure, cell, fourier=patches, chunks=cells).as_dict() for cell in cells]
    for name, value in whole.items():
        if name not in ("surface", "neighbours"):
            assert value == sum(c[name] for c in each), name
    for cell, counts in zip(cells, each, strict=True):
        touching = [shared_faces(cell, other, layers) for other in cells if other != cell]
        assert counts["surface"] == sum(touching)
        assert counts["neighbours"] == sum(t > 0 for t in touching)
    assert whole["interface"] > 0


def test_points_in_overlapping_layers_are_told_apart() -> None:
    grid = Grid((2, 2, 2), 10)
    counts = count(Structure(grid, layers=resolve([PML(0.3)], grid)), grid.box)
    assert (counts.pml_1d, counts.pml_2d, counts.pml_3d) == (6 * 3 * 14**2, 12 * 9 * 14, 8 * 27)


def test_hidden_objects_do_not_count() -> None:
    grid = Grid((2, 2, 2), 10)
    inner = Block(size=(1, 1, 1), material=Medium(epsilon=3, electric_poles=[LorentzPole(0.5)]))
    cover = Block(size=(1.2, 1.2, 1.2), material=Medium(epsilon=2))
    assert count(Structure(grid, [inner]), grid.box).poles > 900
    hidden, bare = (count(Structure(grid, things), grid.box) for things in ([inner, cover], [cover]))
    assert hidden == bare


def test_later_objects_hide_earlier_ones() -> None:
    grid = Grid((2, 2, 2), 10)
    ball, block = Sphere(radius=0.8, material=Medium(epsilon=4)), Block(size=(1, 1, 1), material=Medium(epsilon=2))
    middle = Box((9, 9, 9), (10, 10, 10))
    for things, expected in (([ball, block], 0.5), ([block, ball], 0.25)):
        assert Structure(grid, things).sample(middle).electric.inverse == (expected,) * 3


def test_uniform_boxes_hold_numbers_only() -> None:
    grid = Grid((4, 4, 4), 10)
    glass = Medium(index=1.5, electric_conductivity=0.1, electric_poles=[LorentzPole(0.5, 0.1, 2.0)])
    structure = Structure(grid, [Block(size=(2, 2, 2), material=glass)])
    outside, inside = structure.sample(Box((0, 0, 0), (9, 40, 40))), structure.sample(Box((12, 12, 12), (20, 20, 20)))
    assert outside.electric == Response((1.0, 1.0, 1.0))
    assert outside.magnetic == inside.magnetic == Response((1.0, 1.0, 1.0))
    assert inside.electric.inverse == (1 / 2.25,) * 3
    assert inside.electric.conductivity == (0.1,) * 3
    assert inside.electric.poles == {LorentzPole(0.5, 0.1): (2.0,) * 3}
    assert inside.interface is False


def test_a_metal_over_vacuum_needs_no_array_for_its_instantaneous_part() -> None:
    metal = Medium(electric_poles=[DrudePole(1.0)])
    electric = Structure(GRID, [Sphere(radius=0.4, material=metal)]).sample(GRID.box).electric
    assert electric.inverse == (1.0, 1.0, 1.0)
    assert electric.off_diagonal is None
    assert isinstance(electric.poles[DrudePole(1.0)][0], np.ndarray)


def test_touching_blocks_of_one_medium_leave_no_seam() -> None:
    grid = Grid((4, 4, 4), 10)
    glass = Medium(epsilon=3)
    left, right = (Block(size=(WIDE, WIDE, 2.03), center=(0, 0, z), material=glass) for z in (-1, 1.03))
    sample = Structure(grid, [left, right]).sample(Box((5, 5, 5), (35, 35, 35)))
    assert sample.electric.inverse == (1 / 3,) * 3


@pytest.mark.parametrize("shift", [0.0, 0.013, 0.05, 0.0871])
def test_flat_faces_across_an_axis_give_exact_diagonal_averages(shift: float) -> None:
    """D across the face is continuous: 1/ε is averaged; E along it is: ε is averaged."""
    grid = Grid((1, 1, 4), 10)
    film = Block(size=(WIDE, WIDE, 1.0), center=(0, 0, shift), material=Medium(epsilon=5))
    electric = Structure(grid, [film], Medium(epsilon=2)).sample(grid.box).electric
    assert electric.off_diagonal is None
    for axis, half in ((0, 0.0), (2, 0.5)):
        z = -2 + (np.arange(40) + half) * 0.1
        share = np.clip((np.minimum(z + 0.05, shift + 0.5) - np.maximum(z - 0.05, shift - 0.5)) / 0.1, 0, 1)
        exact = share / 5 + (1 - share) / 2 if axis == 2 else 1 / (5 * share + 2 * (1 - share))
        assert np.allclose(np.broadcast_to(electric.inverse[axis], grid.shape)[5, 5], exact, rtol=1e-7)


def test_thin_films_in_one_box_are_averaged_exactly() -> None:
    grid = Grid((0, 0, 2), 10)
    films = [
        Block(size=(WIDE, WIDE, 0.01), center=(0, 0, z), material=Medium(epsilon=e))
        for z, e in ((-0.01, 2.0), (0.0, 3.0), (0.01, 4.0))
    ]
    electric = Structure(grid, films).sample(grid.box).electric
    assert np.asarray(electric.inverse[0])[0, 0, 10] == pytest.approx(1 / (0.7 + 0.2 + 0.3 + 0.4), rel=1e-9)


@pytest.mark.parametrize("angle", [0.2, math.pi / 4, 1.1])
def test_a_tilted_flat_interface_follows_the_formula(angle: float) -> None:
    """ε^-1 = P <1/ε> + (1 - P) / <ε> with the projection P on the normal; shares from a fine lattice of points."""
    grid = Grid((1, 1, 0), 10)
    n = np.array([math.cos(angle), math.sin(angle), 0.0])
    half_space = Block(
        size=(8, 8, WIDE), center=-4 * n, axes=(n, (-n[1], n[0], 0), (0, 0, 1)), material=Medium(epsilon=4)
    )
    electric = Structure(grid, [half_space]).sample(grid.box).electric
    assert electric.off_diagonal is not None
    cells = (np.arange(200) + 0.5) / 2000 - 0.05
    for i, j in ((5, 5), (6, 4), (4, 6)):
        for axis, offset in ((0, (0.5, 0.0)), (1, (0.0, 0.5)), (2, (0.0, 0.0))):
            x, y = (-0.5 + (k + o) * 0.1 + cells for k, o in zip((i, j), offset, strict=True))
            share = np.mean(n[0] * x[:, None] + n[1] * y <= 0)
            mean, inverse = 4 * share + 1 - share, share / 4 + 1 - share
            got = np.broadcast_to(electric.inverse[axis], grid.shape)[i, j, 0]
            assert got == pytest.approx(n[axis] ** 2 * inverse + (1 - n[axis] ** 2) / mean, abs=4e-3)
            if axis == 2:
                exact = (inverse - 1 / mean) * n[0] * n[1]
                assert electric.off_diagonal[2][i, j, 0] == pytest.approx(exact, abs=4e-3)


def test_a_box_inside_an_anisotropic_medium_has_its_inverse() -> None:
    medium = Medium(epsilon=(2, 3, 4), epsilon_off_diagonal=(0.3, 0.2, 0.1))
    electric = Structure(Grid((1, 1, 1), 10), material=medium).sample(Box((2, 2, 2), (5, 5, 5))).electric
    inverse = np.linalg.inv(medium.epsilon_matrix)
    assert electric.inverse == pytest.approx(tuple(np.diag(inverse)))
    assert electric.off_diagonal is not None
    assert [float(v[0, 0, 0]) for v in electric.off_diagonal] == pytest.approx(
        [inverse[1, 2], inverse[2, 0], inverse[0, 1]]
    )
    assert electric.off_diagonal[0].shape == (4, 4, 4)


def test_an_anisotropic_film_at_an_angle_keeps_what_is_continuous() -> None:
    """Kottke's average of a laminate is the exact homogenised medium: checked against its defining conditions."""
    a = np.array([[3.0, 0.4, 0.2], [0.4, 4.0, 0.1], [0.2, 0.1, 2.0]])
    n = np.array([1.0, 2.0, 0.0]) / math.sqrt(5)
    medium = Medium(epsilon=tuple(np.diag(a)), epsilon_off_diagonal=(0.4, 0.2, 0.1))
    axes = (n, (-n[1], n[0], 0.0), (0.0, 0.0, 1.0))
    # The face passes through a node, whose box it halves.
    half_space = Block(size=(8, 8, WIDE), center=-4 * n, axes=axes, material=medium)
    grid = Grid((1, 1, 1), 10, courant=0.3)
    electric = Structure(grid, [half_space]).sample(Box((5, 5, 5), (6, 6, 6))).electric
    exact = np.zeros((3, 3))
    for k, d in enumerate(np.eye(3)):
        # E = ε_i^-1 D_i in each half; D along n and E across it are shared: unknowns are the two D.
        tangents = [np.array(axes[1]), np.array(axes[2])]
        rows = [np.r_[n, -n], *(np.r_[np.linalg.inv(a) @ t, -t] for t in tangents)]
        rows += list(np.hstack([np.eye(3) / 2, np.eye(3) / 2]))
        both = np.linalg.solve(np.array(rows), np.r_[0, 0, 0, d])
        exact[:, k] = (np.linalg.inv(a) @ both[:3] + both[3:]) / 2
    assert electric.off_diagonal is not None
    assert electric.off_diagonal[2][0, 0, 0] == pytest.approx(exact[0, 1], rel=1e-9)
    assert electric.off_diagonal[0][0, 0, 0] == pytest.approx(exact[1, 2], rel=1e-9)


def operator(structure: Structure, magnetic: bool) -> csr_matrix:
    """The whole ε^-1 of a periodic cell: the diagonal on the edges, the rest on the nodes between them."""
    grid = structure.grid
    sample = structure.sample(grid.box)
    response = sample.magnetic if magnetic else sample.electric
    n = grid.shape
    number = np.arange(3 * math.prod(n)).reshape(3, *n)
    diagonal = np.concatenate([np.broadcast_to(v, n).ravel() for v in response.inverse])
    rows, columns, values = [number.ravel()], [number.ravel()], [diagonal]
    assert response.off_diagonal is not None
    own = tuple(slice(1, None) if magnetic else slice(None, -1) for _ in n)
    for (a, b), off in zip(((1, 2), (2, 0), (0, 1)), response.off_diagonal, strict=True):
        for up, side in product((0, 1), (0, 1)):
            # Around a node E's edges are at i-1 and i; around a centre H's faces are at i and i+1.
            first = np.roll(number[a], up if not magnetic else -up, axis=a)
            second = np.roll(number[b], side if not magnetic else -side, axis=b)
            for left, right in ((first, second), (second, first)):
                rows.append(left.ravel())
                columns.append(right.ravel())
                values.append(off[own].ravel() / 4)
    size = number.size
    return coo_matrix((np.concatenate(values), (np.concatenate(rows), np.concatenate(columns))), (size, size)).tocsr()


@pytest.mark.parametrize("seed", range(4))
def test_the_whole_operator_stays_positive_definite(seed: int) -> None:
    grid = Grid((1.2, 1.2, 1.2), 10, courant=0.3)
    layers = resolve([Periodic()], grid)
    strong = Medium(index=4)
    things = [*scene(seed, 10, 1.2), Sphere(radius=0.4, material=strong), Sphere(radius=0.25)]
    matrix = operator(Structure(grid, things, layers=layers), magnetic=False)
    assert abs(matrix - matrix.T).max() < 1e-12
    smallest = eigsh(matrix, 1, sigma=0, which="LM", return_eigenvectors=False)[0]
    largest = eigsh(matrix, 1, which="LA", return_eigenvectors=False)[0]
    assert smallest > 0
    assert largest < 1.25


def test_the_magnetic_operator_is_the_electric_ones_dual() -> None:
    grid = Grid((1.2, 1.2, 1.2), 10, courant=0.3)
    layers = resolve([Periodic()], grid)
    ball = Sphere(radius=0.4, center=(0.02, 0.01, 0), material=Medium(mu=12))
    matrix = operator(Structure(grid, [ball], layers=layers), magnetic=True)
    assert eigsh(matrix, 1, sigma=0, which="LM", return_eigenvectors=False)[0] > 0
    # The centres' lattice is the nodes' half a point on in each direction, the faces' the edges'.
    moved = Sphere(radius=0.4, center=(-0.03, -0.04, -0.05), material=Medium(epsilon=12))
    electric = operator(Structure(grid, [moved], layers=layers), magnetic=False)
    assert eigsh(matrix, 3, which="LA", return_eigenvectors=False) == pytest.approx(
        eigsh(electric, 3, which="LA", return_eigenvectors=False), rel=1e-6
    )


def test_a_wide_film_reaches_over_the_cells_borders() -> None:
    grid = Grid((2, 2, 2), 10)
    film = Block(size=(2, 2, 1), material=Medium(epsilon=2))
    for layers in (resolve([Periodic("xy")], grid), resolve([PML(0.2)], grid)):
        electric = Structure(grid, [film], layers=layers).sample(Box((0, 0, 8), (20, 20, 12))).electric
        assert electric.inverse == (0.5,) * 3


def test_a_periodic_border_that_only_one_side_touches_is_an_interface() -> None:
    grid = Grid((2, 2, 2), 10)
    block = Block(size=(1, WIDE, WIDE), center=(-0.5, 0, 0), material=Medium(epsilon=3))
    sample = Structure(grid, [block], layers=resolve([Periodic()], grid)).sample(grid.box)
    assert np.asarray(sample.electric.inverse[1])[[0, 10], 5, 5].tolist() == pytest.approx([0.5, 0.5])


def test_poles_along_a_face_are_averaged() -> None:
    grid = Grid((0, 0, 2), 10)
    metal = Medium(electric_poles=[LorentzPole(0.5, 0.1, 2.0)], electric_conductivity=0.4)
    film = Block(size=(WIDE, WIDE, 1.05), center=(0, 0, 0.0), material=metal)
    electric = Structure(grid, [film]).sample(grid.box).electric
    strength = np.asarray(electric.poles[LorentzPole(0.5, 0.1)][0])[0, 0]
    assert strength.sum() * grid.dx == pytest.approx(2 * 1.05)
    assert electric.conductivity is not None
    assert np.asarray(electric.conductivity[1]).sum() * grid.dx == pytest.approx(0.4 * 1.05)


def test_what_is_no_object_is_refused() -> None:
    with pytest.raises(InputError, match="`geometry` must hold objects"):
        Structure(GRID, [Medium()])  # type: ignore[list-item]
