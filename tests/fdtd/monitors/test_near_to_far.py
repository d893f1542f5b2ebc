"""Far fields of dipoles and line currents against their textbook fields."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from scipy.special import hankel1

from evenly.errors import InputError
from evenly.fdtd.cell.box import Box
from evenly.fdtd.cell.grid import Grid
from evenly.fdtd.monitors.flux import Flux
from evenly.fdtd.monitors.green import near_fields
from evenly.fdtd.monitors.near_to_far import NearToFar, directions
from tests.fdtd.fake_fields import Amplitude, FakeSimulation, cut

FREQUENCY = 0.8


def dipole(epsilon: float = 1.0) -> Amplitude:
    """A z dipole with current moment 1 off the centre, in spherical coordinates (Jackson, eq. 9.18).

    E_r = 2 η cosθ (1/r + i/(k r²)) g, E_θ = η sinθ (1/r - ik + i/(k r²)) g, H_φ = sinθ (1/r - ik) g.
    """
    k = 2 * math.pi * FREQUENCY * math.sqrt(epsilon)
    x0, y0, z0 = 0.07, -0.05, 0.03

    def field(component: str, x: Any, y: Any, z: Any) -> Any:
        x, y, z = np.broadcast_arrays(x - x0, y - y0, z - z0)
        r = np.sqrt(x**2 + y**2 + z**2)
        rho = np.sqrt(x**2 + y**2) + 1e-300
        wave = np.exp(1j * k * r) / (4 * math.pi * r)
        if component[0] == "H":
            around = (1 / r - 1j * k) * wave * rho / r
            return {"Hx": -around * y / rho, "Hy": around * x / rho, "Hz": 0 * r}[component]
        radial = 2 * z / r * (1 / r + 1j / (k * r**2)) * wave / math.sqrt(epsilon)
        across = rho / r * (1 / r - 1j * k + 1j / (k * r**2)) * wave / math.sqrt(epsilon)
        outwards = radial * rho / r + across * z / r
        return {
            "Ex": outwards * x / rho,
            "Ey": outwards * y / rho,
            "Ez": radial * z / r - across * rho / r,
        }[component]

    return field


def line(component: str, x: Any, y: Any, z: Any) -> Any:
    """A unit current along z in two dimensions: Ez = -(ω/4) H0(kρ)."""
    k = 2 * math.pi * FREQUENCY
    rho = np.sqrt((x - 0.05) ** 2 + (y - 0.02) ** 2 + 0 * z)
    if component == "Ez":
        return -k / 4 * hankel1(0, k * rho)
    if component in ("Hx", "Hy"):
        # H = ∇g x z with g = (i/4) H0
        slope = -0.25j * k * hankel1(1, k * rho) / rho
        return slope * ((y - 0.02) if component == "Hx" else -(x - 0.05))
    return 0 * rho


def scale(grid: Grid) -> float:
    return grid.dt / math.sqrt(2 * math.pi)


def recorded(grid: Grid, field: Amplitude, monitor: Any, boxes: list[Box] | None = None) -> Any:
    found = FakeSimulation(grid, boxes or [grid.box], field, FREQUENCY, parts=2)
    found.add(monitor)
    found.run(1)
    return monitor


def test_near_fields_of_a_point_current_are_those_of_a_dipole() -> None:
    points = np.random.default_rng(0).normal(size=(20, 3))
    place, current = np.array([[0.07, -0.05, 0.03]]), np.array([[0, 0, 1.0 + 0j]])
    found = near_fields(points, place, current, 0 * current, FREQUENCY, (2.0, 1.0), (0, 1, 2))
    field = dipole(2.0)
    for n, name in enumerate(("Ex", "Ey", "Ez", "Hx", "Hy", "Hz")):
        np.testing.assert_allclose(found[:, n], field(name, *points.T), rtol=0, atol=1e-12 * np.abs(found).max())


def test_a_magnetic_current_is_the_dual_of_an_electric_one() -> None:
    points = np.random.default_rng(1).normal(size=(5, 3))
    place, current = np.zeros((1, 3)), np.array([[0.3, 1j, 1.0]])
    electric = near_fields(points, place, current, 0 * current, 1.0, (2.0, 3.0), (0, 1, 2))
    dual = near_fields(points, place, 0 * current, current, 1.0, (3.0, 2.0), (0, 1, 2))
    np.testing.assert_allclose(dual[:, 3:], electric[:, :3], rtol=1e-12)
    np.testing.assert_allclose(dual[:, :3], -electric[:, 3:], rtol=1e-12)


@pytest.mark.parametrize("epsilon", [1.0, 2.25])
def test_far_field_of_a_dipole_in_a_box_converges_to_second_order(epsilon: float) -> None:
    k = 2 * math.pi * FREQUENCY * math.sqrt(epsilon)
    towards = directions(np.linspace(0.1, 3.0, 9), np.linspace(0, 6, 9))
    points = 3 * towards
    field = dipole(epsilon)
    wanted = np.stack([field(n, *points.T) for n in ("Ex", "Ey", "Ez", "Hx", "Hy", "Hz")], axis=1)
    # Current moment 1: power per solid angle η (k sinθ / 4π)².
    pattern = (k * np.sin(np.linspace(0.1, 3.0, 9)) / (4 * math.pi)) ** 2 / math.sqrt(epsilon)
    errors = []
    for resolution in (10, 20):
        grid = Grid((1.6, 1.6, 1.6), resolution)
        monitor = recorded(grid, field, NearToFar((0, 0, 0), (1.2, 1.2, 1.2), [FREQUENCY], epsilon=epsilon))
        found = monitor.fields(points)[0] / scale(grid)
        power = monitor.pattern(towards)[0] / scale(grid) ** 2
        errors.append(
            [np.abs(found - wanted).max() / np.abs(wanted).max(), np.abs(power - pattern).max() / pattern.max()]
        )
    coarse, fine = np.array(errors)
    # Averages over two planes and sums over points at spacing h are wrong by (k' h)²/8 at most each, with k' the larger
    # of the wavenumber and the 1/0.5 by which near fields fall off.
    assert (fine < 2 * (max(k, 2.0) / 20) ** 2 / 8).all()
    assert (fine < coarse / 3.2).all()


def test_the_pattern_integrates_to_the_flux() -> None:
    grid = Grid((1.6, 1.6, 1.6), 20)
    nodes, weights = np.polynomial.legendre.leggauss(8)
    angles = np.arange(16) * 2 * math.pi / 16
    theta, phi = np.meshgrid(np.arccos(nodes), angles, indexing="ij")
    far = recorded(grid, dipole(), NearToFar((0, 0, 0), (1.2, 1.2, 1.2), [FREQUENCY]))
    near = recorded(grid, dipole(), Flux((0, 0, 0), (1.2, 1.2, 1.2), [FREQUENCY]))
    power = far.pattern(directions(theta, phi).reshape(-1, 3)).reshape(8, 16)
    total = (power * weights[:, None]).sum() * 2 * math.pi / 16
    # Both have second-order errors of the averages, (k h)²/8 each.
    k = 2 * math.pi * FREQUENCY
    np.testing.assert_allclose(total, near.flux()[0], rtol=2 * (k / 20) ** 2 / 8)
    np.testing.assert_allclose(near.flux()[0] / scale(grid) ** 2, k**2 / (6 * math.pi), rtol=(k / 20) ** 2 / 8)


def test_far_field_of_a_line_current_in_two_dimensions() -> None:
    angles = np.linspace(0, 6, 11)
    towards = directions(math.pi / 2, angles)
    k = 2 * math.pi * FREQUENCY
    for resolution in (20, 40):
        grid = Grid((1.6, 1.6, 0), resolution)
        monitor = recorded(grid, line, NearToFar((0, 0, 0), (1.2, 1.2, 0), [FREQUENCY]))
        points = 4 * towards
        found = monitor.fields(points)[0] / scale(grid)
        wanted = np.stack([line(n, *points.T) for n in ("Ez", "Hx", "Hy")], axis=1)
        bound = 2 * (k / resolution) ** 2 / 8
        assert np.abs(found[:, [2, 3, 4]] - wanted).max() < bound * np.abs(wanted).max()
        # |Ez|² ρ → (k/4)² · 2/(πk)
        np.testing.assert_allclose(monitor.pattern(towards)[0] / scale(grid) ** 2, k / (8 * math.pi), rtol=bound)


def test_a_wave_through_a_plane_goes_on_in_one_dimension() -> None:
    grid = Grid((2.0, 0, 0), 40)
    k = 2 * math.pi * FREQUENCY

    def wave(component: str, x: Any, y: Any, z: Any) -> Any:
        return {"Ey": 1.0, "Hz": 1.0}.get(component, 0.0) * np.exp(1j * k * x) + 0 * y * z

    monitor = recorded(grid, wave, NearToFar((0.5, 0, 0), (0, 0, 0), [FREQUENCY], direction="x"))
    found = monitor.fields([[3.0, 0, 0], [7.1, 0, 0]])[0] / scale(grid)
    # H is averaged over two planes: cos(k h/2); E and H each make half of the wave.
    wanted = np.exp(1j * k * np.array([3.0, 7.1])) * (1 + math.cos(k / 80)) / 2
    np.testing.assert_allclose(found[:, 1], wanted, rtol=1e-12)
    np.testing.assert_allclose(found[:, 5], wanted, rtol=1e-12)
    # Nothing goes back but what the average leaves over.
    back = monitor.pattern([[-1.0, 0, 0]])[0, 0] / scale(grid) ** 2
    np.testing.assert_allclose(back, ((1 - math.cos(k / 80)) / 2) ** 2, rtol=1e-9)


def test_any_layout_gives_the_same_far_field() -> None:
    grid = Grid((1.6, 1.6, 1.6), 10)
    towards = directions(np.linspace(0, 3, 5), 0.4)
    whole = recorded(grid, dipole(), NearToFar((0, 0, 0), (1.1, 1.2, 1.0), [FREQUENCY]))
    boxes = cut(grid.box, np.random.default_rng(8), 9)
    parts = recorded(grid, dipole(), NearToFar((0, 0, 0), (1.1, 1.2, 1.0), [FREQUENCY]), boxes)
    largest = np.abs(whole.far_amplitudes(towards)).max()
    np.testing.assert_allclose(
        parts.far_amplitudes(towards), whole.far_amplitudes(towards), rtol=0, atol=1e-13 * largest
    )
    far = 3 * towards
    largest = np.abs(whole.fields(far)).max()
    np.testing.assert_allclose(parts.fields(far), whole.fields(far), rtol=0, atol=1e-13 * largest)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda m: m.fields([[0.5, 0, 0]]), "outside the near-to-far monitor"),
        (lambda m: m.fields([1.0, 0, 0]), "shape \\(n_points, 3\\)"),
        (lambda m: m.pattern([[0, 0, 0]]), "other than 0"),
        (lambda m: m.pattern([[0, 0, 1, 1]]), "shape \\(n_directions, 3\\)"),
        (lambda m: m.pattern([[0, 0, 1]]), "along z"),
        (lambda m: NearToFar((0, 0, 0), (1, 1, 0), [0.0]), "must be positive"),
        (lambda m: NearToFar((0, 0, 0), (1, 1, 0), [1.0], epsilon=-2), "`epsilon` and `mu`"),
    ],
)
def test_what_is_wrong_is_said(make: Any, message: str) -> None:
    monitor = recorded(Grid((1.6, 1.6, 0), 10), line, NearToFar((0, 0, 0), (1.2, 1.2, 0), [FREQUENCY]))
    with pytest.raises(InputError, match=message):
        make(monitor)
