"""Mirror symmetries: which points are kept and where they are seen, and what is refused."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import pytest

from evenly import fdtd
from evenly.errors import InputError
from evenly.fdtd.cell.boundaries import resolve
from evenly.fdtd.cell.grid import COMPONENTS, OFFSETS, Grid
from evenly.fdtd.cell.mirrors import Mirror, fold, folded

GRID = Grid((1.0, 0.8, 0.6), 10)
PULSE = fdtd.GaussianPulse(1.0, fwidth=0.5)


def _sim(**given: Any) -> fdtd.Simulation:
    usual: dict[str, Any] = {"cell": (2, 1, 0), "resolution": 10, "symmetries": [Mirror("x")]}
    return fdtd.Simulation(**(usual | given))


def _step(**given: Any) -> None:
    _sim(**given).step()


@pytest.mark.parametrize("sides", [[], [fdtd.Periodic("xz")], [fdtd.Periodic("xyz")]])
@pytest.mark.parametrize("axes", ["x", "xy", "xyz"])
@pytest.mark.parametrize("component", COMPONENTS)
def test_every_point_is_seen_once(sides: list[Any], axes: str, component: str) -> None:
    layers = resolve(sides, GRID, [Mirror(axis) for axis in axes])
    seen = np.zeros(GRID.shape, int)
    for image in layers.images(component):
        assert layers.kept.covers(image.kept)
        assert image.turned(image.seen) == image.kept
        seen[image.seen.slices((0, 0, 0))] += 1
    expected = np.ones_like(seen)
    # Node 0 between walls is the only one that isn't the image of a kept point; E along the wall is 0 there.
    for axis, letter in enumerate("xyz"):
        if letter in axes and layers.kinds[axis] == "metal" and OFFSETS[component][axis] == 0:
            expected[(slice(None),) * axis + (0,)] = 0
    assert np.array_equal(seen, expected)


def test_a_point_and_weights_are_folded_alike() -> None:
    layers = resolve([fdtd.Periodic("x")], GRID, [Mirror("x", phase=-1), Mirror("y")])
    found = layers.images("Ez")
    weights = [np.random.default_rng(axis).random(n) for axis, n in enumerate(GRID.shape)]
    along = [folded(one, axis, found) for axis, one in enumerate(weights)]
    expected = np.zeros(GRID.shape)
    for index in itertools.product(*map(range, GRID.shape)):
        if kept := fold(found, (index[0], index[1], index[2])):
            expected[kept[0]] += np.prod([w[i] for w, i in zip(weights, index, strict=True)])
    assert np.einsum("x,y,z->xyz", *along) == pytest.approx(expected, rel=1e-12)


def test_what_is_stored_and_counted_is_the_kept_part() -> None:
    sim = _sim(symmetries=[Mirror("x"), Mirror("y")], boundaries=[fdtd.Periodic("y")])
    assert sim.layers.kept.shape == (10, 6, 1)
    assert sim.counts().volume == sum(chunk.box.volume for chunk in sim.chunks) == 60
    (told,) = sim.estimated_bytes()
    assert told == pytest.approx(sum(chunk.nbytes for chunk in sim.chunks), rel=0.1)
    monitor = fdtd.DftFields(["Ez"], (0, 0, 0), (2, 1, 0), [1.0])
    rows = sim.chunk_counts(monitors=[monitor])
    assert sum(row["fourier"] for row in rows) == 60
    sim.add(monitor)
    assert sum(patch.box.volume for patch in monitor.patches) == 60


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (
            {"cell": (2.1, 1, 0)},
            "an even number of grid points along x, .* has 21: make its size 2 or 2.2",
        ),
        ({"symmetries": [Mirror("z")]}, "no size along z: leave it out"),
        ({"symmetries": [Mirror("x"), Mirror("x", -1)]}, "two mirrors across x: keep one"),
        ({"symmetries": ["x"]}, "A symmetry is a Mirror such as Mirror"),
        ({"boundaries": [fdtd.PML(0.3, "x", "low")]}, "along x have layers PML.* and none.*leave out the mirror"),
        ({"boundaries": [fdtd.PML(1.0, "x")]}, "layers along x reach the plane of symmetry"),
        ({"boundaries": [fdtd.Bloch("x", k=(0.1, 0, 0))]}, "Bloch's k = 0.1 along x.*leave out the mirror across x"),
        ({"layout": [("x", -0.5), 0, 1]}, "must be inside its parent, which reaches from 0 to 1 along x"),
        ({"boundaries": [fdtd.Periodic("x")], "layout": [("x", 0.0), 0, 1]}, "only the plane of symmetry x = 0"),
    ],
)
def test_what_has_no_image_is_refused(wrong: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        _step(**wrong)


@pytest.mark.parametrize("phase", [0, 2, True, 1j, "even"])
def test_a_phase_is_1_or_minus_1(phase: Any) -> None:
    with pytest.raises(InputError, match="`phase` of a Mirror must be 1"):
        Mirror("x", phase)


def _film(medium: Any, center: float = 0.0) -> dict[str, Any]:
    return {"geometry": [fdtd.Block(size=(0.5, 1, 1), center=(center, 0, 0), material=medium)]}


@pytest.mark.parametrize(
    ("structure", "message"),
    [
        (
            _film(fdtd.Medium(epsilon=4), 0.1),
            r"across x = 0: ε along x is 4 at \(0.15, -0.5, 0\), but 1.6 at its image",
        ),
        (_film(fdtd.Medium(mu=4), 0.1), "across x = 0: μ along x is "),
        (_film(fdtd.Medium(electric_conductivity=0.3), 0.1), "the conductivity along x"),
        (_film(fdtd.Medium(electric_poles=[fdtd.DrudePole(0.5)]), 0.1), r"the strength along x of DrudePole"),
        (_film(fdtd.Medium(epsilon=3, epsilon_off_diagonal=(0.2, 0, 0))), "1/ε of xy is .* instead of"),
        (_film(fdtd.Medium(chi3=0.2), 0.1), "χ3 along x is 0.2 at"),
        # χ2 E² is even whatever E is, so it has no symmetry where E is odd.
        (_film(fdtd.Medium(chi2=0.2)), "χ2 along x is 0.2 at .*, but 0.2 at its image .* instead of -0.2"),
        ({"material": lambda x, y, z: 2 + 0.1 * x + 0 * y + 0 * z}, "ε along x is"),
        (
            {"symmetries": [Mirror("x"), Mirror("y")], "material": lambda x, y, z: 3 + np.sign(x) * y + 0 * z},
            "across x = 0: ε along x is .*leave out the mirror across x",
        ),
    ],
)
def test_a_structure_without_the_symmetry_is_refused(structure: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        _step(**structure)


def _dipole(component: str, x: float, y: float, **more: Any) -> fdtd.Source:
    return fdtd.Source(PULSE, component, center=(x, y, 0.0), **more)


@pytest.mark.parametrize(
    ("sources", "message"),
    [
        (
            [_dipole("Ez", 0.3, 0)],
            r"across x = 0: at \(0.3, 0, 0\), the Ez source .* same sign at the image \(-0.3",
        ),
        ([_dipole("Ez", -0.3, 0)], r"the Ez source at \(-0.3"),
        ([_dipole("Ez", 0.3, 0), _dipole("Ez", -0.3, 0, amplitude=-1)], "has no current of the same sign"),
        ([_dipole("Ez", 0.3, 0), _dipole("Ez", -0.3, 0.1)], "has no current of the same sign"),
        ([_dipole("Ex", 0, 0)], "has no current of the opposite sign"),
        ([_dipole("Hz", 0, 0)], "has no current of the opposite sign"),
        ([_dipole("Hy", 0, 0)], "has no current of the opposite sign"),
        ([_dipole("Ez", 0, 0, size=(1, 0, 0), amplitude_function=lambda x, y, z: x + 0 * y)], "the same sign"),
        ([_dipole("Ez", 0.3, 0), fdtd.Source(fdtd.GaussianPulse(1.1, fwidth=0.5), "Ez", (-0.3, 0, 0))], "same sign"),
    ],
)
def test_sources_without_the_symmetry_are_refused(sources: list[fdtd.Source], message: str) -> None:
    with pytest.raises(InputError, match=message):
        _step(sources=sources)


def test_a_current_on_a_plane_where_its_field_is_zero_is_refused() -> None:
    with pytest.raises(InputError, match=r"at \(0, 0, 0\), the Ez source .* is where Ez is 0 .* the other phase"):
        _step(symmetries=[Mirror("x", phase=-1)], sources=[_dipole("Ez", 0, 0)])
    # At the side of a periodic cell, the second plane.
    with pytest.raises(InputError, match=r"at \(-1, 0, 0\), the Ez source .* is where Ez is 0"):
        _step(symmetries=[Mirror("x", phase=-1)], sources=[_dipole("Ez", 1, 0)], boundaries=[fdtd.Periodic("x")])


def test_symmetric_sources_are_taken() -> None:
    _step(sources=[_dipole("Ez", 0.3, 0), _dipole("Ez", -0.3, 0), _dipole("Ey", 0, 0.2)])
    _step(sources=[_dipole("Hy", 0.33, 0.1), _dipole("Hy", -0.33, 0.1, amplitude=-1)])
    _step(sources=[_dipole("Ez", 0, 0, size=(2, 0, 0), amplitude_function=lambda x, y, z: np.cos(x) + 0 * y)])
    _step(sources=[_dipole("Ez", 1, 0)], boundaries=[fdtd.Periodic("x")])


def test_transforms_of_a_whole_cell_are_loaded_into_half_of_it(tmp_path: Any) -> None:
    def run(symmetries: Any, place: float) -> tuple[fdtd.Flux, fdtd.DftFields]:
        sources = [_dipole("Ez", place, 0.1)]
        sim = _sim(symmetries=symmetries, sources=sources, boundaries=[fdtd.PML(0.2)])
        flux = sim.add(fdtd.Flux((0.1, 0, 0), (1, 0.5, 0), [1.0]))
        fields = sim.add(fdtd.DftFields(["Ez"], (0, 0, 0), (1.1, 0.5, 0), [1.0]))
        sim.run(until=3, progress="off")
        return flux, fields

    whole, half, skew = run([], 0.0), run([Mirror("x")], 0.0), run([], 0.1)
    for n, (one, other, odd) in enumerate(zip(whole, half, skew, strict=True)):
        one.save(tmp_path / f"{n}.npz")
        other.save(tmp_path / f"half{n}.npz")
        odd.save(tmp_path / f"skew{n}.npz")
        other.load_minus(tmp_path / f"{n}.npz")
        left = other.data()
        assert max(np.abs(values).max() for values in left.arrays.values()) < 1e-12
        other.load(tmp_path / f"{n}.npz")
        one.load_minus(tmp_path / f"half{n}.npz")
        assert max(np.abs(values).max() for values in one.data().arrays.values()) < 1e-12
        with pytest.raises(InputError, match=r"not those of a symmetric cell.*leave out `symmetries`"):
            other.load(tmp_path / f"skew{n}.npz")
    assert math.isclose(half[0].flux()[0], run([], 0.0)[0].flux()[0], rel_tol=1e-12)


def test_checkpoints_know_the_symmetries(tmp_path: Any) -> None:
    def make(symmetries: Any) -> tuple[fdtd.Simulation, fdtd.Flux]:
        sim = _sim(symmetries=symmetries, sources=[_dipole("Ez", 0, 0.1)], boundaries=[fdtd.PML(0.2)])
        return sim, sim.add(fdtd.Flux((0.1, 0, 0), (1, 0.5, 0), [1.0]))

    sim, flux = make([Mirror("x")])
    sim.run(until=1, progress="off")
    sim.save(tmp_path / "state")
    sim.run(until=3, progress="off")
    again, other = make([Mirror("x")])
    again.load(tmp_path / "state")
    again.relayout([("x", 0.4), 0, 0])
    again.run(until=3, progress="off")
    assert other.flux() == pytest.approx(flux.flux(), rel=1e-12)
    with pytest.raises(InputError, match=r"another simulation.*mirrors \[1, 0, 0\] but here \[0, 0, 0\]"):
        make([])[0].load(tmp_path / "state")
