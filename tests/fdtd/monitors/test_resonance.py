"""Resonances of known sums of decaying waves, with and without noise, and of a cavity."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evenly import fdtd
from evenly.errors import InputError
from evenly.fdtd.monitors.resonance import Resonance, resonances

DT = 0.1
BAND = (0.2, 0.3)


def wave(frequency: float, decay: float, amplitude: complex, n: int = 2000, start: float = 0.0) -> Any:
    t = start + DT * np.arange(n)
    return amplitude * np.exp(-2j * np.pi * frequency * t - decay * t)


@settings(max_examples=30, deadline=None)
@given(
    st.lists(
        st.tuples(
            st.integers(0, 15),
            st.floats(0.0, 0.02),
            st.floats(0.1, 10.0),
            st.floats(-math.pi, math.pi),
        ),
        min_size=1,
        max_size=4,
        unique_by=lambda mode: mode[0],
    ),
    st.booleans(),
)
def test_sums_of_decaying_waves_are_taken_apart(modes: Any, real: bool) -> None:
    # Frequencies at least 0.005 apart, which is 1/T for T = 200: together they fit the band's 22 basis functions.
    known = sorted((0.2125 + 0.005 * place, decay, size * np.exp(1j * turn)) for place, decay, size, turn in modes)
    signal = sum(wave(*mode) for mode in known) + wave(0.9, 0.001, 3.0)
    found = resonances(2 * signal.real if real else signal, DT, BAND, weakest=1e-4)
    found = sorted((r for r in found if r.error < 1e-4), key=lambda r: r.frequency)
    assert len(found) == len(known)
    for one, (frequency, decay, amplitude) in zip(found, known, strict=True):
        assert one.frequency == pytest.approx(frequency, abs=1e-7)
        assert one.decay == pytest.approx(decay, abs=1e-6)
        assert one.amplitude == pytest.approx(amplitude, rel=1e-3, abs=1e-4)


def test_closer_than_a_transform_could_tell() -> None:
    # T = 200, so a Fourier transform blurs 0.005; these are 0.0005 apart.
    found = resonances(wave(0.25, 1e-3, 1.0) + wave(0.2505, 2e-3, 0.5), DT, BAND)
    assert [r.frequency for r in found] == pytest.approx([0.25, 0.2505], abs=1e-8)
    assert [r.decay for r in found] == pytest.approx([1e-3, 2e-3], abs=1e-7)
    assert found[0].quality == pytest.approx(math.pi * 0.25 / 1e-3, rel=1e-4)


@pytest.mark.parametrize("decay", [0.002, 0.02])
def test_noise_costs_little_more_than_it_must(decay: float) -> None:
    # The Cramér-Rao bound of frequency, decay and amplitude of one wave in white noise, from the Fisher matrix;
    # the method weighs all samples alike, which costs a small factor against the best estimate. Amplitudes come from
    # the band's share of half the signal; they are as good as one sample of it.
    n, noise, rng = 2000, 1e-3, np.random.default_rng(3)
    t, one = DT * np.arange(n), wave(0.25, decay, 1.0)
    slopes = np.stack([-2j * np.pi * t * one, -t * one, one, 1j * one], axis=1)
    fisher = np.real(slopes.conj().T @ slopes) / noise**2
    bounds = np.sqrt(np.diag(np.linalg.inv(fisher)))
    errors = []
    for _ in range(25):
        white = noise * (rng.normal(size=n) + 1j * rng.normal(size=n))
        found = resonances(one + white, DT, BAND)[0]
        errors.append([found.frequency - 0.25, found.decay - decay, found.amplitude.real - 1.0])
    rms = np.sqrt(np.mean(np.square(errors), axis=0))
    # 25 samples tell a standard deviation to about 15 %, so nothing honest lies below half the bound.
    assert np.all(rms > 0.5 * bounds[:3])
    assert np.all(rms[:2] < 6 * bounds[:2])
    assert rms[2] < 3 * noise


def test_amplitudes_are_told_for_time_zero() -> None:
    signal = wave(0.25, 0.01, 1.0 + 0.5j, start=7.0)
    assert resonances(signal, DT, BAND, start=7.0)[0].amplitude == pytest.approx(1.0 + 0.5j, rel=1e-6)
    assert resonances(signal, DT, BAND)[0].amplitude == pytest.approx(signal[0], rel=1e-6)


def test_growth_silence_and_nothing() -> None:
    growing = resonances(wave(0.25, -0.01, 1.0), DT, BAND)[0]
    assert growing.decay == pytest.approx(-0.01, abs=1e-8)
    assert growing.quality < 0
    assert resonances(np.zeros(100), DT, BAND) == []
    assert Resonance(1.0, 0.0, 1.0, 0.0).quality == math.inf
    outside = resonances(wave(0.9, 0.001, 1.0), DT, BAND)
    assert all(abs(r.amplitude) < 1e-3 for r in outside)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((np.ones(3), DT, BAND), "at least 16"),
        ((np.ones((40, 2)), DT, BAND), "one dimension"),
        ((np.full(40, np.nan), DT, BAND), "finite"),
        ((np.ones(40), 0.0, BAND), "`dt`"),
        ((np.ones(40), DT, (0.3, 0.2)), "`band`"),
        ((np.ones(40), DT, (0.3, 6.0)), "record more often"),
    ],
)
def test_what_cannot_be_analysed_is_refused(arguments: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        resonances(*arguments)


def test_modes_of_a_cavity_are_those_of_the_grid() -> None:
    # In one dimension sin(π f dt)/dt = sin(k dx/2)/dx with k = m π/L: exact frequencies of the discrete equations.
    pulse = fdtd.GaussianPulse(0.7, width=0.8, cutoff=4)
    sim = fdtd.Simulation(cell=(0, 0, 1), resolution=20, sources=[fdtd.Source(pulse, "Ex", center=(0, 0, 0.12))])
    electric = sim.add(fdtd.FieldRecorder("Ex", (0, 0, 0.23)))
    magnetic = sim.add(fdtd.FieldRecorder("Hy", (0, 0, 0.23), every=3))
    sim.run(after_sources=60)
    dx, dt = sim.grid.dx, sim.grid.dt
    modes = [math.asin(dt / dx * math.sin(m * math.pi * dx / 2)) / (math.pi * dt) for m in (1, 2)]
    for recorder in (electric, magnetic):
        strong = sorted(recorder.resonances((0.3, 1.2), weakest=1e-3), key=lambda r: r.frequency)
        assert [r.frequency for r in strong] == pytest.approx(modes, abs=1e-9)
        assert max(abs(r.decay) for r in strong) < 1e-8
        # The modes together are what was recorded.
        late = recorder.times > pulse.last_time
        again = sum(2 * np.real(wave_at(recorder.times[late], r)) for r in strong)
        np.testing.assert_allclose(again, recorder.values()[late], atol=2e-3 * np.abs(again).max())
    assert len(magnetic.times) == len(electric.times) // 3
    assert magnetic.times[0] == pytest.approx(3.5 * dt)
    with pytest.raises(InputError, match="run for longer"):
        electric.resonances((0.3, 1.2), after=1e9)


def wave_at(times: Any, one: Resonance) -> Any:
    return one.amplitude * np.exp((-2j * np.pi * one.frequency - one.decay) * times)


def test_a_leaky_cavity_has_its_quality() -> None:
    # A film of index n in vacuum: round trips of 2 n d lose r^4 of the energy, r = (n - 1)/(n + 1), so the amplitude
    # decays at rate -ln(r²)/(2 n d) and frequencies are m/(2 n d).
    n, d = 3.0, 1.0
    film = fdtd.Block(size=(1, 1, d), material=fdtd.Medium(index=n))
    pulse = fdtd.GaussianPulse(1 / 3, width=2.0, cutoff=4)
    sim = fdtd.Simulation(
        cell=(0, 0, 4), resolution=40, geometry=[film], boundaries=[fdtd.PML(1, "z")],
        sources=[fdtd.Source(pulse, "Ex", center=(0, 0, 0.17))],
    )  # fmt: skip
    recorder = sim.add(fdtd.FieldRecorder("Ex", (0, 0, 0.21)))
    sim.run(after_sources=60)
    found = recorder.resonances((0.25, 0.42))[0]
    rate = -2 * math.log((n - 1) / (n + 1)) / (2 * n * d)
    # The grid's error at 40 points per a, 40 per wavelength inside: (π/40)²/6 = 1e-3 of the frequency.
    assert found.frequency == pytest.approx(2 / (2 * n * d), rel=2e-3)
    assert found.decay == pytest.approx(rate, rel=1e-2)


def test_recorders_refuse_what_makes_no_sense(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="whole number"):
        fdtd.FieldRecorder("Ex", (0, 0, 0), every=0)
    with pytest.raises(InputError, match="add it to a simulation"):
        fdtd.FieldRecorder("Ex", (0, 0, 0)).values()
    sim = fdtd.Simulation(cell=(0, 0, 1), resolution=10)
    with pytest.raises(InputError, match="The field recorder 'tip' must lie inside"):
        sim.add(fdtd.FieldRecorder("Ex", (0, 0, 3), name="tip"))
