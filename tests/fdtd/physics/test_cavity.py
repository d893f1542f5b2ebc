"""Resonances of cavities converge with the square of the grid spacing, interfaces included.

Eigenvalues of the scheme's operator give frequencies without the noise of a measurement; a simulation started with such
a mode must stay in it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.optimize import brentq

from evenly.fdtd import Bloch, Block, Medium, Options, Simulation
from tests.fdtd.physics.reference import Reference, fields, give

Array = NDArray[Any]
INF = math.inf


def rates(errors: Any, resolutions: Sequence[float]) -> Array:
    return np.asarray(-np.diff(np.log(np.abs(errors))) / np.diff(np.log(resolutions)))


def test_an_empty_box_converges_to_the_textbook_mode() -> None:
    # TE_211: E along none of the axes alone; f = ½ sqrt(Σ (m/L)²).
    lengths, numbers = (1.0, 0.8, 0.6), (2, 1, 1)
    exact = 0.5 * math.sqrt(sum((m / length) ** 2 for m, length in zip(numbers, lengths, strict=True)))
    errors, resolutions = [], (10, 15, 20)
    for resolution in resolutions:
        reference = Reference(Simulation(cell=lengths, resolution=resolution))
        errors.append(reference.mode(exact)[0] / exact - 1)
    # Σ k̃² loses (k_i dx)²/12 of each k_i², ω̃² as much of ω²: the sum of fourth powers, halved for the root.
    waves = np.array([math.pi * m / length for m, length in zip(numbers, lengths, strict=True)])
    total = math.sqrt(np.sum(waves**2))
    dx = 1 / np.array(resolutions)
    expected = -(dx**2) * (np.sum(waves**4) - total**4 / 4) / total**2 / 24
    np.testing.assert_allclose(errors[1:], expected[1:], rtol=0.02)
    np.testing.assert_allclose(rates(errors, resolutions), 2, atol=0.05)


def test_a_simulation_stays_in_a_mode() -> None:
    block = Block(size=(0.43, INF, INF), center=(-0.2, 0, 0), material=Medium(epsilon=(4, 3, 5)))
    sim = Simulation(cell=(1.0, 0.8, 0.6), resolution=10, geometry=[block])
    reference = Reference(sim)
    frequency, e = reference.mode(0.8)
    e = (e / e[np.argmax(np.abs(e))]).real
    give(sim, "E", e)
    # E = e cos(ωt), so H(dt/2) = -½ dt curl E(0) / cos-half: the first half step of ∂H = -curl E.
    give(sim, "H", -0.5 * sim.grid.dt * (reference.curl_e @ e))
    for _ in range(1000):
        sim.step()
    now = np.cos(2 * math.pi * frequency * sim.time)
    # The eigenvalue is good to some 1e-13, of which 1000 steps make 1e-10; e to 1e-11.
    np.testing.assert_allclose(fields(sim, "E"), e * now, atol=1e-8)


def half_filled(index: float, fill: float, beyond: float, k: float, *, electric: bool, near: float) -> float:
    """Return the frequency of a box metal at x = 0 and `beyond`, with a medium up to `fill`, and k along the interface.

    E along the interface: tan(pa)/p + tan(qb)/q = 0; H along it: p tan(pa)/ε + q tan(qb) = 0, with p² = ε ω² - k²,
    q² = ω² - k², a = fill, b = beyond - fill (R. E. Collin, Field Theory of Guided Waves, section 6.1).
    """

    def wrong(f: float) -> float:
        epsilon = index**2
        p, q = (np.emath.sqrt(s * (2 * math.pi * f) ** 2 - k**2) for s in (epsilon, 1.0))
        a, b = fill, beyond - fill
        if electric:
            value = np.sin(p * a) / p * np.cos(q * b) + np.sin(q * b) / q * np.cos(p * a)
        else:
            value = p * np.sin(p * a) / epsilon * np.cos(q * b) + q * np.sin(q * b) * np.cos(p * a)
        return float(np.real(value))

    return float(brentq(wrong, near * 0.93, near * 1.07, xtol=1e-14))


NEAR = {True: 0.362, False: 0.282}
RESOLUTIONS = (10, 20, 40)
# Interfaces at all places between points: the error depends on where.
FILLS = 0.4 + (np.arange(7) + 0.5) / 70


def errors_of(*, electric: bool, subpixel: bool) -> Array:
    """Return the root mean square, over FILLS, of a half filled box's relative errors at RESOLUTIONS."""
    found = np.empty((len(RESOLUTIONS), len(FILLS)))
    for i, resolution in enumerate(RESOLUTIONS):
        for j, fill in enumerate(FILLS):
            # The lowest mode along y: half a wave between metal walls.
            exact = half_filled(2.5, fill, 1.0, math.pi, electric=electric, near=NEAR[electric])
            block = Block(size=(2 * fill, INF, INF), center=(-0.5, 0, 0), material=Medium(index=2.5))
            options = Options(subpixel=subpixel)
            reference = Reference(
                Simulation(cell=(1.0, 1.0, 0), resolution=resolution, geometry=[block], options=options)
            )
            keep = slice(2 * reference.n, None) if electric else slice(0, 2 * reference.n)
            found[i, j] = reference.mode_of(keep, exact)[0] / exact - 1
    return np.asarray(np.sqrt(np.mean(found**2, axis=1)))


@pytest.mark.parametrize("electric", [True, False], ids=["along", "across"])
def test_a_half_filled_box_converges_to_second_order(electric: bool) -> None:
    errors = errors_of(electric=electric, subpixel=True)
    assert errors[-1] < 1e-3
    np.testing.assert_allclose(rates(errors, RESOLUTIONS), 2, atol=0.3)


@pytest.mark.parametrize("electric", [True, False], ids=["along", "across"])
def test_staircases_converge_to_first_order(electric: bool) -> None:
    errors = errors_of(electric=electric, subpixel=False)
    # The interface is off by up to half a spacing.
    np.testing.assert_allclose(rates(errors, RESOLUTIONS), 1, atol=0.3)
    assert errors[-1] > 3 * errors_of(electric=electric, subpixel=True)[-1]


def layered(f: float, kt: float, n: tuple[float, float], d: tuple[float, float], *, electric: bool) -> float:
    """Return cos(phase of Bloch's wave over one period) of two layers (P. Yeh, Optical Waves in Layered Media, 6.2)."""
    (p, q), w = (np.emath.sqrt((m * 2 * math.pi * f) ** 2 - kt**2) for m in n), [1 if electric else m**2 for m in n]
    ratio = (p / w[0]) / (q / w[1])
    value = np.cos(p * d[0]) * np.cos(q * d[1]) - 0.5 * (ratio + 1 / ratio) * np.sin(p * d[0]) * np.sin(q * d[1])
    return float(np.real(value))


def stripes_errors(slope: tuple[int, int], resolution: int, *, electric: bool, subpixel: bool = True) -> Array:
    """Return relative errors of a mode of stripes across `slope` in a periodic cell, at 5 places between grid points.

    They are a stack of layers, whatever the grid thinks: the wave runs a quarter of a turn per a along them and in
    phase across.
    """
    length = math.hypot(*slope)
    ux, uy = slope[0] / length, slope[1] / length
    n, period, kt = (2.5, 1.0), 1 / length, 2 * math.pi * 0.25
    thick = (0.43 * period, 0.57 * period)
    exact = lowest(lambda f: layered(f, kt, n, thick, electric=electric) - 1)
    found = []
    for offset in (np.arange(5) + 0.5) / 5 * period / resolution:
        stripes = [
            Block(
                size=(thick[0], 10.0, INF),
                center=((m * period + offset) * ux, (m * period + offset) * uy, 0),
                axes=((ux, uy, 0), (-uy, ux, 0), (0, 0, 1)),
                material=Medium(index=n[0]),
            )
            for m in range(-4, 5)
        ]
        sim = Simulation(
            cell=(1.0, 1.0, 0),
            resolution=resolution,
            geometry=stripes,
            boundaries=[Bloch("xy", k=(-0.25 * uy, 0.25 * ux, 0.0))],
            options=Options(subpixel=subpixel),
        )
        reference = Reference(sim)
        keep = slice(2 * reference.n, None) if electric else slice(0, 2 * reference.n)
        found.append(reference.mode_of(keep, exact)[0] / exact - 1)
    return np.array(found)


def rms(errors: Array) -> float:
    return float(np.sqrt(np.mean(errors**2)))


@pytest.mark.parametrize("slope", [(1, 1), (1, 2)], ids=str)
def test_slanted_interfaces_converge_to_second_order_for_fields_along_them(slope: tuple[int, int]) -> None:
    errors = [rms(stripes_errors(slope, r, electric=True)) for r in RESOLUTIONS]
    assert errors[-1] < 1e-4
    np.testing.assert_allclose(rates(errors, RESOLUTIONS), 2, atol=0.1)


@pytest.mark.parametrize(("slope", "times"), [((1, 1), 5), ((1, 2), 20)], ids=str)
def test_averaging_pays_for_fields_across_slanted_interfaces(slope: tuple[int, int], times: float) -> None:
    """Averaging D over a node's edges mixes both sides of an interface: what is left is of first order, but small.

    (C. A. Bauer, G. R. Werner, J. R. Cary, J. Comput. Phys. 230, 2060 (2011).)
    """
    errors = [rms(stripes_errors(slope, r, electric=False)) for r in RESOLUTIONS]
    stairs = rms(stripes_errors(slope, RESOLUTIONS[-1], electric=False, subpixel=False))
    assert errors[-1] < min(errors[0] / 3, 2e-3)
    assert stairs > times * errors[-1]


def lowest(wrong: Callable[[float], float]) -> float:
    grid = np.linspace(0.02, 1.0, 1000)
    values = np.array([wrong(f) for f in grid])
    first = int(np.flatnonzero(np.diff(np.sign(values)))[0])
    return float(brentq(wrong, grid[first], grid[first + 1], xtol=1e-14))
