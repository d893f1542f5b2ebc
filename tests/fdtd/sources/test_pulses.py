"""Pulses against quadrature and their own laws."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from evenly.errors import InputError
from evenly.fdtd.sources.pulses import ContinuousWave, CustomPulse, GaussianPulse, Pulse

PULSES: list[Pulse] = [
    GaussianPulse(1.0, fwidth=0.2),
    GaussianPulse(0.3, width=0.7, start=2.0, cutoff=6.0),
    ContinuousWave(0.5, start=1.0, width=8.0, end=40.0),
    CustomPulse(lambda t: t * math.exp(-t), end=60.0),
]


@pytest.mark.parametrize("pulse", PULSES, ids=lambda pulse: type(pulse).__name__)
def test_spectrum_is_the_transform_of_the_amplitude(pulse: Pulse) -> None:
    wanted = np.array([0.0, 0.2, 0.45, 0.5, 1.0, 1.1])
    times, step = np.linspace(pulse.first_time, pulse.last_time, 200_001, retstep=True)
    values = pulse.amplitude(times)
    plain = np.exp(2j * np.pi * np.outer(wanted, times)) @ values * step / math.sqrt(2 * np.pi)
    # The trapezoidal sum misses h²/12 of the slope at the ends; what a Gaussian cuts off is below exp(-cutoff²/2).
    scale = float(np.abs(plain).max())
    np.testing.assert_allclose(pulse.spectrum(wanted), plain, rtol=0, atol=8e-6 * scale)


@pytest.mark.parametrize("pulse", PULSES[:3], ids=lambda pulse: type(pulse).__name__)
@pytest.mark.parametrize("tolerance", [1e-3, 1e-5])
def test_outside_its_band_a_pulse_is_weaker_than_the_tolerance(pulse: Pulse, tolerance: float) -> None:
    low, high = pulse.band(tolerance)
    inside = np.abs(pulse.spectrum(np.linspace(low, high, 201))).max()
    outside = np.concatenate([np.linspace(high, high + 3, 200), np.linspace(0, max(low, 0), 50)])
    if low == 0:
        outside = outside[:200]
    assert np.abs(pulse.spectrum(outside)).max() <= tolerance * inside * (1 + 1e-9)


def test_a_gaussian_pulse_leaves_no_static_charge_even_when_it_is_short() -> None:
    pulse = GaussianPulse(1.0, width=0.2, cutoff=8.0)
    times = np.linspace(0, pulse.last_time, 4001)
    current = pulse.amplitude(times)
    assert abs(current.sum()) < 1e-12 * np.abs(current).sum()


def test_nothing_before_the_start_and_after_the_end() -> None:
    for pulse in PULSES:
        assert pulse.amplitude(pulse.first_time - 1e-9) == 0
        assert pulse.amplitude(pulse.last_time + 1e-9) == 0


def test_one_time_and_many_times_agree() -> None:
    times = np.linspace(-1, 60, 37)
    for pulse in PULSES:
        np.testing.assert_array_equal(pulse.amplitude(times), [pulse.amplitude(float(t)) for t in times])


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: GaussianPulse(1.0), "either `width`"),
        (lambda: GaussianPulse(1.0, width=1, fwidth=1), "either `width`"),
        (lambda: GaussianPulse(-1.0, width=1), "`frequency` must be positive"),
        (lambda: GaussianPulse(1.0, fwidth=0), "`fwidth` must be positive"),
        (lambda: GaussianPulse(1.0, width=1, start=math.inf), "`start` must be finite"),
        (lambda: ContinuousWave(1.0, width=5, end=8), "after start"),
        (lambda: ContinuousWave(1.0, width=-1), "`width` must be at least 0"),
        (lambda: CustomPulse(3, end=1.0), "callable"),  # type: ignore[arg-type]
        (lambda: CustomPulse(abs, frequency=1.0), "both or none"),
        (lambda: CustomPulse(abs, frequency=1.0, fwidth=0.0), "`fwidth` must be positive"),
        (lambda: ContinuousWave(1.0).spectrum([1.0]), "begins and ends"),
    ],
)
def test_what_is_wrong_is_said(make: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        make()
