"""Pulses: the time dependence of sources.

A pulse is a complex amplitude a(t) with the fields' convention exp(-iωt). In cells with real fields the source is its
real part, in cells with complex fields (Bloch) all of it. Its spectrum follows the convention of the monitors,

    S(f) = 1/sqrt(2π) ∫ a(t) exp(+2πi f t) dt,

so the far field of a dipole or the flux of a plane wave can be divided by it. A real source has the spectrum S(f)/2 at
positive frequencies, and the mirror image at negative ones. The overlap of both is small for usual pulses (see `band`).
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from evenly.arguments import explained
from evenly.errors import InputError

__all__ = ["ContinuousWave", "CustomPulse", "GaussianPulse", "Pulse"]

_PANEL_NODES = 16
_MOST_PANELS = 2**16


class Pulse(ABC):
    """A complex amplitude in time.

    Invariants: `amplitude` is 0 outside ``[first_time, last_time]``. Outside `band(tolerance)`, the magnitude of
    `spectrum` is at most `tolerance` times its largest value, if the pulse is smooth enough (see each class).
    """

    #: Whether `amplitude` is a formula, which may be asked for times that are never reached.
    is_formula = False

    @property
    @abstractmethod
    def first_time(self) -> float:
        """When the amplitude starts, in a/c."""

    @property
    @abstractmethod
    def last_time(self) -> float:
        """After this time, in a/c, the amplitude is 0; may be infinite."""

    @abstractmethod
    def band(self, tolerance: float = 1e-6) -> tuple[float, float]:
        """Lowest and highest frequency, in c/a, where ``|S(f)|`` exceeds `tolerance` times its maximum."""

    @abstractmethod
    def _inside(self, times: NDArray[np.float64]) -> NDArray[np.complex128]:
        """Return the amplitude at `times`, which all lie between the first and the last time."""

    @overload
    def amplitude(self, time: float) -> complex: ...

    @overload
    def amplitude(self, time: NDArray[np.float64]) -> NDArray[np.complex128]: ...

    def amplitude(self, time: Any) -> Any:
        """Return a(t) at one time or an array of times, in a/c."""
        times = np.asarray(time, dtype=np.float64)
        inside = (times >= self.first_time) & (times <= self.last_time)
        values = np.zeros(times.shape, dtype=np.complex128)
        if inside.any():
            values[inside] = self._inside(times[inside])
        return complex(values) if times.ndim == 0 else values

    def spectrum(self, frequencies: ArrayLike) -> NDArray[np.complex128]:
        """Return S(f) in the convention of the monitors, by quadrature over the whole duration.

        Parameters
        ----------
        frequencies : array of shape (n_frequencies,)
            In c/a.

        Raises
        ------
        InputError
            If the pulse has no beginning or no end (its spectrum is then not an ordinary function), or the quadrature
            doesn't converge.
        """
        wanted = np.atleast_1d(np.asarray(frequencies, dtype=np.float64))
        duration = self.last_time - self.first_time
        if not math.isfinite(duration):
            raise InputError(
                f"Only a pulse that begins and ends has a spectrum, but {type(self).__name__} lasts from "
                f"{self.first_time} to {self.last_time}: give it a start and an end."
            )
        panels = max(16, math.ceil(2 * duration * float(np.abs(wanted).max(initial=0))))
        coarse, fine = _quadrature(self, wanted, panels), _quadrature(self, wanted, 2 * panels)
        strongest = np.abs(self.amplitude(np.linspace(self.first_time, self.last_time, 1025))).max()
        while np.abs(fine - coarse).max(initial=0) > 1e-10 * duration * strongest:
            panels *= 2
            if panels > _MOST_PANELS:
                raise InputError(
                    f"The spectrum of {type(self).__name__} doesn't converge with {panels} panels of {_PANEL_NODES} "
                    "nodes: its function jumps or oscillates too fast; give a smoother one."
                )
            coarse, fine = fine, _quadrature(self, wanted, 2 * panels)
        return fine


class _Bounded(Pulse):
    """A pulse whose start and end are given as attributes."""

    start: float
    end: float

    @property
    def first_time(self) -> float:
        return self.start

    @property
    def last_time(self) -> float:
        return self.end


def _quadrature(pulse: Pulse, frequencies: NDArray[np.float64], panels: int) -> NDArray[np.complex128]:
    """Return S(f) by composite Gauss-Legendre quadrature with `panels` panels, shape (n_frequencies,)."""
    nodes, weights = np.polynomial.legendre.leggauss(_PANEL_NODES)
    edges = np.linspace(pulse.first_time, pulse.last_time, panels + 1)
    half = (edges[1] - edges[0]) / 2
    total = np.zeros(len(frequencies), dtype=np.complex128)
    for some in np.array_split(edges[:-1], max(1, panels // 256)):
        times = (some[:, None] + half * (1 + nodes)).ravel()
        values = pulse.amplitude(times) * np.tile(weights * half, len(some))
        total += np.exp(1j * math.tau * np.outer(frequencies, times)) @ values
    return np.asarray(total / math.sqrt(math.tau))


@explained
@dataclass(frozen=True)
class GaussianPulse(Pulse):
    """A short pulse with a Gaussian spectrum around one frequency and no static part.

    The current is the time derivative of a dipole moment with a Gaussian envelope,
    a(t) = d/dt [g(τ) exp(-iωτ)] / (-iω) with g = exp(-τ²/(2 width²)), τ = t - start - cutoff·width. So no static
    charge remains. (At the cut-off ends the envelope is exp(-cutoff²/2) of its peak.)

    Parameters
    ----------
    frequency : float
        Centre frequency in c/a.
    width : float, optional
        Standard deviation of the envelope in time, in a/c.
    fwidth : float, optional
        1/width, in c/a. Give exactly one of `width` and `fwidth`.
    start : float
        When the amplitude starts, in a/c.
    cutoff : float
        Duration of the pulse before and after its peak, in widths.

    Raises
    ------
    InputError
        If a value is out of range, or not exactly one of `width` and `fwidth` is given.

    Examples
    --------
    >>> pulse = GaussianPulse(1.0, fwidth=0.2)
    >>> pulse.peak_time, pulse.last_time
    (25.0, 50.0)
    >>> pulse.amplitude(25.0)
    (1+0j)
    >>> low, high = pulse.band()
    >>> round(low, 3), round(high, 3)
    (0.833, 1.168)
    """

    is_formula = True
    frequency: float
    width: float | None = None
    fwidth: float | None = None
    start: float = 0.0
    cutoff: float = 5.0
    _width: float = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        if (self.width is None) == (self.fwidth is None):
            raise InputError(
                f"GaussianPulse needs either `width` (in time) or `fwidth` (= 1/width, in frequency), but got "
                f"width={self.width!r} and fwidth={self.fwidth!r}."
            )
        if self.width is None:
            object.__setattr__(self, "width", 1 / _check(self.fwidth, "fwidth", self, above=0))
        else:
            object.__setattr__(self, "fwidth", 1 / _check(self.width, "width", self, above=0))
        object.__setattr__(self, "_width", float(self.width or 0.0))
        _check(self.frequency, "frequency", self, above=0)
        _check(self.cutoff, "cutoff", self, above=0)
        _check(self.start, "start", self)

    @property
    def first_time(self) -> float:
        return self.start

    @property
    def peak_time(self) -> float:
        """When the envelope is largest, in a/c."""
        return self.start + self.cutoff * self._width

    @property
    def last_time(self) -> float:
        return self.start + 2 * self.cutoff * self._width

    def _inside(self, times: NDArray[np.float64]) -> NDArray[np.complex128]:
        since = times - self.peak_time
        omega = math.tau * self.frequency
        slope = 1 - 1j * since / (omega * self._width**2)
        return np.asarray(slope * np.exp(-0.5 * (since / self._width) ** 2 - 1j * omega * since))

    def spectrum(self, frequencies: ArrayLike) -> NDArray[np.complex128]:
        """Return S(f) = (f/f0) width exp(-(2π width (f - f0))²/2) exp(2πi f peak_time), without the cut-off tails.

        Examples
        --------
        >>> abs(GaussianPulse(1.0, width=2.0).spectrum([0.0, 1.0])).tolist()
        [0.0, 2.0]
        """
        wanted = np.atleast_1d(np.asarray(frequencies, dtype=np.float64))
        detuning = math.tau * self._width * (wanted - self.frequency)
        size = wanted / self.frequency * self._width * np.exp(-0.5 * detuning**2)
        return np.asarray(size * np.exp(1j * math.tau * wanted * self.peak_time))

    def band(self, tolerance: float = 1e-6) -> tuple[float, float]:
        # (f/f0) exp(-x²/2) = tolerance with x = 2π width (f - f0), by fixed-point iteration from below.
        spread, depth = math.tau * self._width, math.log(1 / tolerance)
        reach = math.sqrt(2 * depth) / spread
        high = reach
        for _ in range(12):
            high = math.sqrt(2 * (depth + math.log1p(high / self.frequency))) / spread
        return max(0.0, self.frequency - reach), self.frequency + high


@explained
@dataclass(frozen=True)
class ContinuousWave(_Bounded):
    """A wave of one frequency, exp(-2πi f (t - start)), turned on (and off) smoothly.

    The amplitude rises over `width` as 10x³ - 15x⁴ + 6x⁵, twice continuously differentiable, and falls the same way
    before `end`.

    Parameters
    ----------
    frequency : float
        In c/a.
    start, end : float
        Times of the start and the end, in a/c; `end` may be infinite.
    width : float
        Duration of the turning on (and off), in a/c. With 0 it is abrupt, which excites all frequencies.

    Raises
    ------
    InputError
        If a value is out of range, or the wave ends before it is fully turned on.

    Examples
    --------
    >>> wave = ContinuousWave(0.5, width=10)
    >>> wave.amplitude(0.0), wave.last_time
    (0j, inf)
    >>> wave.amplitude(12.0)
    (1+...j)
    """

    is_formula = True
    frequency: float
    start: float = 0.0
    width: float = 0.0
    end: float = math.inf

    def __post_init__(self) -> None:
        _check(self.frequency, "frequency", self, above=0)
        _check(self.start, "start", self)
        if not 0 <= self.width < math.inf:
            raise InputError(f"ContinuousWave: `width` must be at least 0 and finite, but got {self.width!r}.")
        if not self.end >= self.start + 2 * self.width or self.end <= self.start:
            raise InputError(
                f"ContinuousWave: `end` must be after start + 2 width = {self.start + 2 * self.width:g}, for the wave "
                f"to be turned on and off, but got {self.end!r}."
            )

    def _inside(self, times: NDArray[np.float64]) -> NDArray[np.complex128]:
        since = times - self.start
        envelope = np.ones_like(times)
        if self.width > 0:
            envelope = _ramp(since / self.width)
            if math.isfinite(self.end):
                envelope = envelope * _ramp((self.end - times) / self.width)
        return np.asarray(envelope * np.exp(-1j * math.tau * self.frequency * since))

    def band(self, tolerance: float = 1e-6) -> tuple[float, float]:
        # The ramp's third derivative has total variation 300/width³, so its slope's transform is at most
        # 300/(2π Δf width)³ of the transform at Δf = 0.
        if self.width == 0:
            return 0.0, math.inf
        reach = (300 / tolerance) ** (1 / 3) / (math.tau * self.width)
        return max(0.0, self.frequency - reach), self.frequency + reach


@explained
@dataclass(frozen=True)
class CustomPulse(_Bounded):
    """A pulse given by any function of time.

    Parameters
    ----------
    function : callable
        ``function(time)`` returns the complex amplitude at one time.
    start, end : float
        In a/c. Before the start and after the end the amplitude is 0.
    frequency, fwidth : float, optional
        Centre and full width, in c/a, of the frequency band of the function. Without them the band is unknown, and
        monitors sample every time step.

    Raises
    ------
    InputError
        If `function` isn't callable, `end` isn't after `start`, only one of `frequency` and `fwidth` is given, or
        `fwidth` isn't positive.

    Examples
    --------
    >>> CustomPulse(lambda t: t**2, end=3.0).amplitude(2.0)
    (4+0j)
    """

    function: Callable[[Any], Any]
    start: float = 0.0
    end: float = math.inf
    frequency: float | None = None
    fwidth: float | None = None

    def __post_init__(self) -> None:
        if not callable(self.function):
            raise InputError(f"CustomPulse: `function` must be callable with a time, but got {self.function!r}.")
        if not self.end > self.start:
            raise InputError(f"CustomPulse: `end` must be after `start` = {self.start!r}, but got {self.end!r}.")
        if (self.frequency is None) != (self.fwidth is None):
            raise InputError(
                "CustomPulse: the band is `frequency` ± `fwidth`/2, so both or none of them are given, but got "
                f"frequency={self.frequency!r} and fwidth={self.fwidth!r}."
            )
        if self.fwidth is not None:
            _check(self.fwidth, "fwidth", self, above=0)

    def _inside(self, times: NDArray[np.float64]) -> NDArray[np.complex128]:
        return np.array([complex(self.function(t)) for t in times], dtype=np.complex128)

    def band(self, tolerance: float = 1e-6) -> tuple[float, float]:  # noqa: ARG002 - the user's own bound
        if self.frequency is None or self.fwidth is None:
            return 0.0, math.inf
        return max(0.0, self.frequency - self.fwidth / 2), self.frequency + self.fwidth / 2


def _ramp(x: NDArray[np.float64]) -> NDArray[np.float64]:
    x = np.clip(x, 0, 1)
    return np.asarray(x**3 * (10 + x * (6 * x - 15)))


def _check(value: float | None, name: str, pulse: Pulse, *, above: float = -math.inf) -> float:
    """Return a number after checking that it is finite and larger than `above` (0 or no limit)."""
    if value is None or not above < float(value) < math.inf:
        rule = "positive and finite" if above == 0 else "finite"
        raise InputError(f"{type(pulse).__name__}: `{name}` must be {rule}, but got {value!r}.")
    return float(value)
