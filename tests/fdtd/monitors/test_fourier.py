"""Running Fourier transforms against closed forms, for any grouping, layout and order in memory."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from evenly.errors import InputError
from evenly.fdtd.cell.box import Box
from evenly.fdtd.cell.grid import Grid
from evenly.fdtd.monitors.fourier import FourierPatch, Phases, decimation
from evenly.fdtd.sources.pulses import GaussianPulse
from evenly.fdtd.stepping.kernels.fourier import SAMPLES, accumulate
from tests.fdtd.fake_fields import FakeChunk, cut

GRID = Grid((0.6, 0.5, 0.7), 10)
FREQUENCIES = np.array([0.0, 0.4, 0.75, 1.3])
TONE = 0.6


def shape(component: str, x: Any, y: Any, z: Any) -> Any:
    return (1 + "EHxyz".index(component[1])) * np.exp(1j * (2 * x - y + 3 * z)) + (0.5 if component[0] == "H" else 0)


def chunk(box: Box = GRID.box, parts: int = 1, order: tuple[int, int, int] = (0, 1, 2)) -> FakeChunk:
    return FakeChunk(GRID, box, shape, TONE, parts, order)


def run(patches: list[FourierPatch], source: FakeChunk, steps: range) -> None:
    for step in steps:
        source.advance(step)
        for patch in patches:
            patch.record(step)


def closed_form(detuning: NDArray[np.float64], steps: int, dt: float, half: float) -> NDArray[np.complex128]:
    """dt/sqrt(2π) Σ exp(2πi detuning (n + half) dt), as a geometric series."""
    turn = np.exp(2j * np.pi * detuning * dt)
    with np.errstate(invalid="ignore"):
        series = np.where(np.abs(turn - 1) < 1e-12, steps, (1 - turn**steps) / (1 - turn))
    return np.asarray(dt / math.sqrt(2 * np.pi) * series * np.exp(2j * np.pi * detuning * half * dt))


@pytest.mark.filterwarnings("ignore:divide by zero")
@pytest.mark.parametrize("component", ["Ey", "Hz"])
@pytest.mark.parametrize("parts", [1, 2])
@pytest.mark.parametrize("steps", [3, 16, 57])
def test_a_tone_has_the_transform_of_a_geometric_series(component: str, parts: int, steps: int) -> None:
    source = chunk(parts=parts)
    patch = FourierPatch(source, component, GRID.box, Phases(FREQUENCIES, GRID.dt))
    run([patch], source, range(steps))
    half = 0.5 if component[0] == "H" else 0.0
    values = shape(component, *GRID.points(component, GRID.box))
    forward = closed_form(FREQUENCIES - TONE, steps, GRID.dt, half)[:, None, None, None] * values
    backward = closed_form(FREQUENCIES + TONE, steps, GRID.dt, half)[:, None, None, None] * np.conj(values)
    wanted = forward if parts == 2 else (forward + backward) / 2
    np.testing.assert_allclose(patch.values(), wanted, rtol=0, atol=1e-14 * steps)


def test_averages_are_those_of_both_planes() -> None:
    source = chunk()
    box = Box((0, 1, 2), (6, 5, 3))
    phases = Phases(FREQUENCIES, GRID.dt)
    averaged = FourierPatch(source, "Hx", box, phases, average=2)
    upper, lower = (FourierPatch(source, "Hx", box.shift((0, 0, -n)), phases) for n in (0, 1))
    run([averaged, upper, lower], source, range(21))
    np.testing.assert_allclose(averaged.values(), (upper.values() + lower.values()) / 2, rtol=0, atol=1e-14)


@pytest.mark.parametrize("order", [(0, 1, 2), (2, 0, 1), (1, 2, 0)])
def test_any_layout_and_memory_order_gives_the_same_bits(order: tuple[int, int, int]) -> None:
    whole = chunk()
    phases = Phases(FREQUENCIES, GRID.dt)
    reference = FourierPatch(whole, "Hy", GRID.box, phases, average=0)
    run([reference], whole, range(37))
    for box in cut(GRID.box, np.random.default_rng(5), 6):
        part = chunk(box, order=order)
        patch = FourierPatch(part, "Hy", box, phases, average=0)
        run([patch], part, range(37))
        np.testing.assert_array_equal(patch.values(), reference.values()[(slice(None), *box.slices((0, 0, 0)))])


def test_reading_and_continuing_in_between_changes_no_bit() -> None:
    source = chunk()
    phases = Phases(FREQUENCIES, GRID.dt)
    plain, read = (FourierPatch(source, "Ex", GRID.box, phases) for _ in range(2))
    restarted = FourierPatch(source, "Ex", GRID.box, phases)
    for step in range(41):
        run([plain, read, restarted], source, range(step, step + 1))
        if step in (4, 20, 22):
            read.values()
            fresh = FourierPatch(source, "Ex", GRID.box, phases)
            fresh.replace(restarted.values())
            restarted = fresh
    np.testing.assert_array_equal(plain.values(), read.values())
    np.testing.assert_array_equal(plain.values(), restarted.values())


def test_steps_may_be_left_out() -> None:
    source = chunk()
    phases = Phases(FREQUENCIES, GRID.dt)
    gap, first, second = (FourierPatch(source, "Ez", GRID.box, phases) for _ in range(3))
    run([gap, first], source, range(7))
    run([gap, second], source, range(30, 45))
    np.testing.assert_allclose(gap.values(), first.values() + second.values(), rtol=0, atol=1e-14)


def test_single_precision_fields_are_summed_in_double_precision() -> None:
    class Single(FakeChunk):
        def view(self, component: str, part: int, box: Box) -> NDArray[Any]:
            return np.full(box.shape, 0.1, dtype=np.float32)

    source = Single(GRID, GRID.box, shape, TONE, 1, (0, 1, 2))
    patch = FourierPatch(source, "Ez", GRID.box, Phases([0.0], GRID.dt))
    for step in range(10_000):
        patch.record(step)
    wanted = 10_000 * float(np.float32(0.1)) * GRID.dt / math.sqrt(2 * math.pi)
    # Round-off of 10,000 sums in double precision; single precision would be wrong by about 1e-4.
    np.testing.assert_allclose(patch.values().real, wanted, rtol=1e-12)


@pytest.mark.parametrize("frequencies", [[1.0], [0.8, 1.0, 1.2]])
def test_decimated_samples_agree_as_long_as_the_bands_allow(frequencies: list[float]) -> None:
    pulse = GaussianPulse(1.0, fwidth=0.4, cutoff=7.0)
    dt, tolerance = 0.01, 1e-6
    every = decimation(dt, pulse.band(tolerance)[1], max(frequencies))
    assert every > 20
    steps = math.ceil(pulse.last_time / dt)
    spectra = []
    for phases in (Phases(frequencies, dt), Phases(frequencies, dt, every)):
        first = np.arange(0, steps, phases.every)
        values = pulse.amplitude(np.asarray(first * dt, float)).real
        total = np.zeros(len(frequencies), complex)
        for start in range(0, len(first), SAMPLES):
            cosines, sines = phases.weights("E", int(first[start]), 1.0)
            block = values[start : start + SAMPLES]
            total += (cosines + 1j * sines)[:, : len(block)] @ block
        spectra.append(total)
    # Every image that falls on a monitor's frequency lies outside the band, so it is weaker than `tolerance` of the
    # peak (half of the width for a real field); the nearest images above and below count.
    peak = float(np.abs(pulse.spectrum([1.0]))[0]) / 2
    assert np.abs(spectra[1] - spectra[0]).max() < 2.5 * tolerance * peak
    np.testing.assert_allclose(spectra[0], pulse.spectrum(frequencies) / 2, atol=1e-8 * peak)
    # It is not harmless to take fewer: at 1/(D dt) = 2 the mirror image at -1 falls on the pulse's own frequency.
    sparse = round(1 / (2 * dt))
    assert every < sparse < 1.5 * every
    coarse = np.arange(0, steps, sparse)
    folded = (
        np.exp(2j * np.pi * np.outer(frequencies, coarse * dt)) @ pulse.amplitude(np.asarray(coarse * dt, float)).real
    )
    assert np.abs(folded * sparse * dt / math.sqrt(2 * np.pi) - spectra[0]).max() > 0.01 * peak


def test_patches_take_only_every_nth_step() -> None:
    source = chunk()
    patch = FourierPatch(source, "Ez", GRID.box, Phases([TONE], GRID.dt, 3))
    plain = FourierPatch(source, "Ez", GRID.box, Phases([TONE], 3 * GRID.dt))
    run([patch], source, range(31))
    for n, step in enumerate(range(0, 31, 3)):
        source.advance(step)
        plain.record(n)
    np.testing.assert_allclose(patch.values(), plain.values(), rtol=0, atol=1e-13)


@pytest.mark.parametrize("points", [1, 7, 255, 256, 257, 1000])
@pytest.mark.parametrize("count", [1, 7, 8, 9, 16])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_the_kernel_is_a_matrix_product(points: int, count: int, dtype: Any) -> None:
    rng = np.random.default_rng(points + count)
    samples = rng.normal(size=(SAMPLES, points)).astype(dtype)
    samples[count:] = np.nan
    cosines, sines = rng.normal(size=(2, 5, SAMPLES))
    start = rng.normal(size=(2, 5, points))
    real, imag = start[0].copy(), start[1].copy()
    accumulate(samples, count, cosines, sines, real, imag)
    values = samples[:count].astype(float)
    np.testing.assert_allclose(real, start[0] + cosines[:, :count] @ values, atol=1e-13)
    np.testing.assert_allclose(imag, start[1] + sines[:, :count] @ values, atol=1e-13)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: FourierPatch(chunk(), "Ez", GRID.box.shift((1, 0, 0)), Phases([1.0], 0.1)), "inside its chunk"),
        (lambda: FourierPatch(chunk(), "Ez", GRID.box, Phases([1.0], 0.1), average=0), "Only H is averaged"),
        (lambda: Phases([], 0.1), "one or more finite numbers"),
        (lambda: Phases([-1.0], 0.1), "at least 0"),
        (lambda: Phases(["a"], 0.1), "must be numbers"),
        (lambda: Phases([1.0], 0.1, 0), "`every` is 0"),
        (
            lambda: FourierPatch(chunk(), "Ez", GRID.box, Phases([1.0], 1)).replace(np.zeros((2, 1, 1, 1), complex)),
            "1 freq",
        ),
    ],
)
def test_what_is_wrong_is_said(make: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        make()


def test_points_count_both_parts() -> None:
    source = chunk(parts=2)
    assert FourierPatch(source, "Ez", GRID.box, Phases([1.0], 0.1)).component_points == 2 * GRID.box.volume
