"""What absorbing layers send back, against theory."""

from __future__ import annotations

import cmath
import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from evenly.fdtd import PML, Absorber, Bloch, GaussianPulse, Medium, Periodic, Simulation, Source, vacuum
from evenly.fdtd.cell.boundaries import Boundary
from evenly.fdtd.cell.box import Box

Array = NDArray[Any]
FREQUENCY = 1.0


def record(sim: Simulation, component: str, index: tuple[int, int, int], until: float) -> Array:
    """Return a component at one point after each step."""
    x, y, z = index
    point = Box(index, (x + 1, y + 1, z + 1))
    chunk = next(c for c in sim.chunks if c.box.covers(point))
    seen = []
    while sim.time < until:
        sim.step()
        sim.stepper.settle()
        seen.append(sum(chunk.view(component, p, point)[0, 0, 0] * (1j if p else 1) for p in range(sim.parts)))
    return np.array(seen)


def line(length: float, layer: list[Boundary], resolution: float, axis: int, setting: Setting) -> Simulation:
    """A cell along one axis with a sheet of current in the middle."""
    cell = [setting.width] * 3
    cell[axis] = length
    first, across = ((axis + n) % 3 for n in (1, 2))
    k = [0.0] * 3
    k[across] = setting.k
    walls: list[Boundary] = []
    if setting.k:
        # E lies across the plane of incidence, which is spanned by the axis and one thick axis.
        cell[first], cell[across] = 0.0, 1 / resolution
        walls = [Bloch("xyz"[across], k=(k[0], k[1], k[2]))]
    elif setting.width:
        walls = [Periodic("xyz"[first] + "xyz"[across])]
    size = [0.0 if a == axis else c for a, c in enumerate(cell)]
    pulse = GaussianPulse(FREQUENCY, fwidth=0.3 if setting.k else 0.7)
    sheet = Source(
        pulse,
        "E" + "xyz"[first],
        (0, 0, 0),
        (size[0], size[1], size[2]),
        amplitude_function=lambda x, y, z: np.exp(2j * math.pi * (k[0] * x + k[1] * y + k[2] * z)),
    )
    return Simulation(
        cell=cell, resolution=resolution, material=setting.medium, sources=[sheet], boundaries=[*layer, *walls]
    )


@dataclass(frozen=True)
class Setting:
    """What lies in front of a layer: a medium, a cell's width across, the wave's k along the layer in 2π/a."""

    medium: Medium = vacuum
    width: float = 0.0
    k: float = 0.0


def echo(layer: PML | Absorber, resolution: float, setting: Setting = Setting(), *, axis: int = 2) -> float:
    """Return the amplitude at FREQUENCY that comes back from one end per amplitude sent out to it."""
    # The pulse lasts 10/fwidth; the far walls of the long line are heard only after the end of the record.
    index = setting.medium.lowest_index
    short = 2 * (1 + math.ceil(layer.thickness))
    until = 10 / (0.3 if setting.k else 0.7) + 3 * short * index / math.sqrt(1 - setting.k**2)
    long = 2 * math.ceil(until / index / 2 + 1)
    seen = []
    for length, layers in ((short, [layer]), (long, [])):
        sim = line(length, list(layers), resolution, axis, setting)
        middle = tuple(n // 2 for n in sim.grid.shape)
        seen.append(record(sim, "E" + "xyz"[(axis + 1) % 3], (middle[0], middle[1], middle[2]), until))
    wave = np.exp(2j * math.pi * FREQUENCY * sim.grid.dt * np.arange(len(seen[0])))
    # Echoes of echoes, with the phase of the way: what is heard is Σ rⁿ of both ends.
    heard = (seen[0] - seen[1]) @ wave / (seen[1] @ wave) / 2
    return float(abs(heard / (1 + heard)))


def theory(layer: PML | Absorber, resolution: float, k: float = 0.0) -> float:
    """Return what the scheme must send back at FREQUENCY: its difference equations solved from the wall outwards.

    With ∂/∂t → -iΩ, Ω = 2 sin(ωdt/2)/dt, k → κ = 2 sin(k dx/2)/dx along the layer, E along it, conductivity σ, and a
    stretched derivative times g = 1 + a/(1 - b exp(iωdt)), a + 1 = b = exp(-σ dt),

        (q + κ²/q) E_j = g (H_{j+½} - H_{j-½})/dx,   q H_{j+½} = g (E_{j+1} - E_j)/dx,   q = -iΩ + σ cos(ωdt/2)
    """
    dx = 1 / resolution
    dt, points = dx / 2, round(layer.thickness * resolution)
    omega = 2 * math.pi * FREQUENCY
    Omega, kappa = 2 * math.sin(omega * dt / 2) / dt, 2 * math.sin(math.pi * k * dx) / dx
    strongest = -(layer.order + 1) * math.log(layer.reflection) / (2 * layer.thickness)

    def factors(position: float) -> tuple[complex, complex]:
        sigma = strongest * max(0.0, position / points) ** layer.order
        if isinstance(layer, Absorber):
            return -1j * Omega + sigma * math.cos(omega * dt / 2), 1.0
        b = math.exp(-sigma * dt)
        return -1j * Omega, 1 + (b - 1) / (1 - b * cmath.exp(1j * omega * dt))

    above, e, h = 0j, 1 + 0j, 0j
    for j in range(points - 1, -3, -1):
        q, g = factors(j + 0.5)
        h = g * (above - e) / (dx * q)
        q, g = factors(j)
        below_h = h - dx * (q + kappa**2 / q) * e / g
        q, g = factors(j - 0.5)
        above, e = e, e - dx * q * below_h / g
    normal = 2 * cmath.asin(cmath.sqrt(Omega**2 - kappa**2) * dx / 2)
    forth, back = (above - e * cmath.exp(s * 1j * normal) for s in (-1, 1))
    # e = A + B, above = A exp(i normal) + B exp(-i normal)
    return abs(back / forth)


def test_a_wavelength_of_pml_reflects_less_than_1e_6() -> None:
    assert echo(PML(1.0), 20) < 1e-6
    assert echo(PML(1.0), 40) < 1e-8


@pytest.mark.parametrize("axis", [0, 1, 2])
def test_a_pml_in_three_dimensions_reflects_the_same(axis: int) -> None:
    flat, deep = (echo(PML(1.0, axis="xyz"[axis]), 20, Setting(width=w), axis=axis) for w in (0.0, 0.1))
    assert deep < 1e-6
    # The same numbers but for round-off of some 1000 steps.
    assert deep == pytest.approx(flat, abs=1e-14)


@pytest.mark.parametrize(
    "medium", [Medium(epsilon=4), Medium(mu=2, epsilon=2), Medium(epsilon=(2, 3, 4))], ids=["glass", "mu", "uniaxial"]
)
def test_a_pml_inside_a_medium_matches_it(medium: Medium) -> None:
    # At least as many points per wavelength in the medium as above; the layer is a wavelength there too.
    found = echo(PML(1.0), 40, Setting(medium))
    assert found < 1e-6


@pytest.mark.parametrize("k", [0.0, 0.5, math.sqrt(0.5)], ids=["normal", "30 degrees", "45 degrees"])
@pytest.mark.parametrize(
    "layer", [PML(1.0, reflection=0.03), PML(0.5, reflection=1e-3, order=3), Absorber(1.0), Absorber(1.5, order=2)]
)
def test_layers_send_back_what_theory_says(layer: PML | Absorber, k: float) -> None:
    layer = replace(layer, axis="z")
    found, wanted = echo(layer, 20, Setting(k=k)), theory(layer, 20, k)
    # The pulse is cut off at exp(-12.5) of its peak: what is left of the tails at both ends.
    assert found == pytest.approx(wanted, rel=1e-4, abs=1e-9)


def test_theory_tends_to_the_continuous_layer() -> None:
    # A wave at an angle crosses σ/cos: exp(-2 ∫σ cos) of the amplitude is left of the promised exp(-2 ∫σ).
    for k in (0.0, 0.6):
        promised = 0.03 ** math.sqrt(1 - k * k)
        wrong = [theory(PML(1.0, reflection=0.03), r, k) / promised - 1 for r in (100, 200, 400)]
        # The recursion of convolutional layers is of first order: half the error at twice the resolution.
        np.testing.assert_allclose(wrong, wrong[0] * np.array([1, 0.5, 0.25]), rtol=0.1)


def test_an_absorber_gets_better_with_thickness_as_its_smoothness_tells() -> None:
    """An adiabatic taper σ ~ u^d reflects as the Fourier transform of its slope: 1/L^(d+1) in amplitude.

    (A. F. Oskooi et al., Opt. Express 16, 11376 (2008), section 4; σ itself falls as 1/L for a fixed absorption.)
    """
    k = math.sqrt(0.5)
    for order in (1, 2):
        wanted = [theory(Absorber(L, order=order, reflection=1e-16), 20, k) for L in (8.0, 16.0, 32.0)]
        slopes = np.diff(np.log(wanted)) / np.log(2)
        # The next term of the transform is smaller by (strongest σ)/ω ~ d ln(1/R)/(2 ω L), 0.4 to 0.1 here.
        np.testing.assert_allclose(slopes, -(order + 1), atol=0.2)
    layers = [Absorber(L, axis="z", order=2, reflection=1e-12) for L in (1.0, 2.0, 4.0)]
    found = [echo(layer, 20, Setting(k=k)) for layer in layers]
    np.testing.assert_allclose(found, [theory(layer, 20, k) for layer in layers], rtol=1e-4, atol=1e-9)
    assert found[0] > 3 * found[1] > 90 * found[2]


@pytest.mark.parametrize("component", ["Ez", "Hz"])
def test_corners_where_layers_overlap_send_nothing_back(component: str) -> None:
    """A dipole before a corner: what comes back against a cell so large that nothing can.

    The ways back from sides and corner, after reflection at up to 45 degrees to each layer, keep at most
    1e-9^cos(45°) = 4e-7 of the amplitude, and 4e-8 · 1/cos⁴(45°) for the grid; two walls and the corner: 3 times
    as much.
    """
    seen = []
    for side, layers in ((4.0, [PML(1.0)]), (20.0, [])):
        dipole = Source(GaussianPulse(FREQUENCY, fwidth=0.8), component, (0, 0, 0))
        sim = Simulation(cell=(side, side, 0), resolution=20, sources=[dipole], boundaries=layers)
        near = sim.grid.shape[0] // 2 + 18
        seen.append(record(sim, component, (near, near, 0), 18.0))
    wave = np.exp(2j * math.pi * FREQUENCY * sim.grid.dt * np.arange(len(seen[0])))
    found = abs((seen[0] - seen[1]) @ wave) / abs(seen[1] @ wave)
    assert found < 3 * (4e-7 + 1.6e-7)


def test_a_dipole_in_a_cube_of_layers_hears_nothing() -> None:
    seen = []
    for side, layers in ((1.5, [PML(0.5)]), (3.2, [])):
        dipole = Source(GaussianPulse(2.0, fwidth=3.0), "Ez", (0, 0, 0))
        sim = Simulation(cell=(side, side, side), resolution=20, sources=[dipole], boundaries=layers)
        middle = sim.grid.shape[0] // 2
        seen.append(record(sim, "Ez", (middle + 3, middle + 3, middle + 3), 3.0))
    wave = np.exp(4j * math.pi * sim.grid.dt * np.arange(len(seen[0])))
    found = abs((seen[0] - seen[1]) @ wave) / abs(seen[1] @ wave)
    # One wavelength at 10 points: 1e-4 at normal incidence, from a quarter of a wavelength away.
    assert found < 1e-3
