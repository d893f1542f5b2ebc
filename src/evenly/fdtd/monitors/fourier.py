"""Running discrete Fourier transforms of fields, used by all frequency-domain monitors.

Convention, the usual one for fields that vary as exp(-iωt):

    F(f) = dt/sqrt(2π) Σ_n f(t_n) exp(+2πi f t_n),   E at t_n = n dt, H at t_n = (n + ½) dt.

With it ∫ E(t) H(t) dt = ∫ conj(E(ω)) H(ω) dω (Parseval), so a flux spectrum integrated over all angular frequencies is
the energy that passed.

If the bands of sources and monitors allow it, only every D-th step is sampled, with D-fold weight. Sampling causes
aliasing: frequencies that differ by 1/(D dt) look the same. This is harmless if all aliases of the monitor's
frequencies lie outside the sources' band: 1/(D dt) > f_source + f_monitor. See `decimation`.
"""

from __future__ import annotations

import math
from typing import Any, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from evenly.errors import InputError
from evenly.fdtd.cell.box import Box
from evenly.fdtd.stepping.kernels.fourier import SAMPLES, accumulate
from evenly.fdtd.stepping.memory import zeros
from evenly.memory import check_room

__all__ = ["FourierPatch", "Phases", "check_frequencies", "decimation"]

_KEPT_TABLES = 4
_UPDATES = {"E": 0.0, "H": 0.5}


class FieldView(Protocol):
    """The part of a chunk that a patch uses."""

    box: Box
    parts: int

    def view(self, component: str, part: int, box: Box) -> NDArray[Any]:
        """Return the values of `component` on a global box as a view in user order."""


def check_frequencies(frequencies: ArrayLike, what: str) -> NDArray[np.float64]:
    """Return frequencies as an array of shape (n_frequencies,).

    Raises
    ------
    InputError
        If there are none, or not all are finite and at least 0.

    Examples
    --------
    >>> check_frequencies(0.5, "a flux monitor")
    array([0.5])
    """
    try:
        found = np.atleast_1d(np.asarray(frequencies, dtype=np.float64))
    except (TypeError, ValueError):
        raise InputError(f"The frequencies of {what} must be numbers, in c/a, but got {frequencies!r}.") from None
    if found.ndim != 1 or found.size == 0 or not np.isfinite(found).all() or found.min() < 0:
        raise InputError(
            f"The frequencies of {what} must be one or more finite numbers of at least 0, in c/a, but got "
            f"{frequencies!r}."
        )
    return found


def decimation(dt: float, highest_source: float, highest_monitor: float) -> int:
    """Return the largest sampling interval in steps: floor(1/(dt (f_source + f_monitor))), but at least 1.

    Parameters
    ----------
    dt : float
        Time step in a/c.
    highest_source, highest_monitor : float
        Highest frequency of the fields and of the monitor, in c/a; infinite if unknown.

    Examples
    --------
    >>> decimation(0.01, 1.5, 1.25)
    36
    >>> decimation(0.01, float("inf"), 1.0)
    1
    """
    both = dt * (highest_source + highest_monitor)
    if not math.isfinite(both) or both <= 0:
        return 1
    return max(1, math.floor(1 / both))


class Phases:
    """Weights exp(2πi f t) of the time samples, shared by all patches of a monitor.

    Parameters
    ----------
    frequencies : array of shape (n_frequencies,)
        In c/a.
    dt : float
        Time step in a/c.
    every : int
        Sampling interval in steps.

    Examples
    --------
    >>> phases = Phases([0.25], 0.5)
    >>> cosines, sines = phases.weights("E", 0, 1.0)
    >>> np.allclose(cosines[0, :3] * (2 * np.pi) ** 0.5 / 0.5, np.cos([0, np.pi / 4, np.pi / 2]))
    True
    """

    def __init__(self, frequencies: ArrayLike, dt: float, every: int = 1) -> None:
        if every < 1:
            raise InputError(f"A Fourier transform takes every 1st, 2nd, … step, but `every` is {every!r}.")
        self.frequencies = check_frequencies(frequencies, "a Fourier transform")
        self.dt = dt
        self.every = int(every)
        self._tables: dict[tuple[str, int, float], tuple[NDArray[np.float64], NDArray[np.float64]]] = {}

    def weights(self, kind: str, first: int, factor: float) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return real and imaginary weights of `SAMPLES` samples from step `first` on.

        Parameters
        ----------
        kind : str
            ``"E"`` (samples at the whole step) or ``"H"`` (half a step later).
        first : int
            Step of the first sample; the next ones are `every` steps apart.
        factor : float
            Common factor of all weights.

        Returns
        -------
        cosines, sines : arrays of shape (n_frequencies, SAMPLES)
        """
        key = (kind, first, factor)
        if key not in self._tables:
            while len(self._tables) >= _KEPT_TABLES:
                del self._tables[next(iter(self._tables))]
            self._tables[key] = self._computed(kind, first, factor)
        return self._tables[key]

    def _computed(self, kind: str, first: int, factor: float) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        times = (first + self.every * np.arange(SAMPLES) + _UPDATES[kind]) * self.dt
        # Subtract whole periods before the cosine, which is accurate for small arguments only.
        periods = np.outer(self.frequencies, times) % 1.0
        scale = factor * self.dt * self.every / math.sqrt(math.tau)
        return scale * np.cos(math.tau * periods), scale * np.sin(math.tau * periods)


class FourierPatch:
    """The Fourier transforms of one component on one box inside a chunk.

    The values of `SAMPLES` steps are buffered and then added to all frequencies in one sweep (see
    `evenly.fdtd.stepping.kernels.fourier`). `values` adds the buffered ones first.

    Parameters
    ----------
    chunk : FieldView
        A chunk. Its arrays must stay in place; call `attach` again if they were replaced.
    component : str
        ``"Ex"`` … ``"Hz"``.
    box : Box
        Global indices, inside the chunk.
    phases : Phases
        Frequencies and steps.
    average : int, optional
        For H: transform ½ (f[i] + f[i-1]) along this axis, the value in the plane of the E nodes.

    Raises
    ------
    InputError
        If the box is empty or not inside the chunk, or `average` is given for an E component.

    Examples
    --------
    >>> class Ones:
    ...     box, parts = Box((0, 0, 0), (4, 1, 1)), 1
    ...
    ...     def view(self, component, part, box):
    ...         return np.ones(box.shape)
    >>> patch = FourierPatch(Ones(), "Ez", Box((1, 0, 0), (3, 1, 1)), Phases([0.0], 0.5))
    >>> for step in range(4):
    ...     patch.record(step)
    >>> (patch.values()[0, :, 0, 0] * (2 * np.pi) ** 0.5).real.round(12).tolist()
    [2.0, 2.0]
    """

    adds = True

    def __init__(
        self,
        chunk: FieldView,
        component: str,
        box: Box,
        phases: Phases,
        *,
        average: int | None = None,
        difference: bool = False,
    ) -> None:
        if not chunk.box.covers(box) or box.empty:
            raise InputError(f"A Fourier patch on {box} must hold points and lie inside its chunk, {chunk.box}.")
        if average is not None and component[0] != "H":
            raise InputError(f"Only H is averaged to the plane of the E nodes, but got {component!r}.")
        self.component, self.box, self.phases, self.average = component, box, phases, average
        self.sign = -1 if difference else 1
        self.parts = chunk.parts
        self._count, self._first = 0, 0
        self.attach(chunk)
        n = len(phases.frequencies)
        room = 16.0 * self.parts * n * box.volume
        check_room(f"a monitor of {n} frequencies at {box.volume:,} points", room, "ask for fewer, or a smaller region")
        self._real = zeros((self.parts, n, box.volume), np.float64)
        self._imag = zeros((self.parts, n, box.volume), np.float64)

    def attach(self, chunk: FieldView) -> None:
        """Read the values from the arrays of `chunk` from now on."""
        views = [chunk.view(self.component, part, self.box) for part in range(self.parts)]
        # Samples are stored in the memory order of the field, so that copies read it contiguously.
        self._order = tuple(int(a) for a in np.argsort([-abs(s) for s in views[0].strides], kind="stable"))
        self._rows_shape = tuple(self.box.shape[a] for a in self._order)
        self._buffer = zeros((self.parts, SAMPLES, self.box.volume), views[0].dtype)
        self._rows = [part.reshape(SAMPLES, *self._rows_shape) for part in self._buffer]
        self._views = [view.transpose(self._order) for view in views]
        self._lower: list[NDArray[Any]] = []
        if self.average is not None:
            a = self.average
            below = self.box.replace(a, self.box.lo[a] - 1, self.box.hi[a] - 1)
            lower = [chunk.view(self.component, part, below) for part in range(self.parts)]
            self._lower = [view.transpose(self._order) for view in lower]

    def release(self) -> None:
        """Release all arrays, the chunk's and its own; afterwards nothing can be recorded or read."""
        self._views, self._lower, self._rows = [], [], []
        self._buffer, self._real, self._imag = (np.empty((self.parts, 0, 0)) for _ in range(3))

    @property
    def every(self) -> int:
        """Sampling interval in steps."""
        return self.phases.every

    @property
    def component_points(self) -> int:
        """Number of real values per sample."""
        return self.parts * self.box.volume

    def record(self, step: int) -> None:
        """Sample the values of `step`, if it is a multiple of the sampling interval.

        Call it once per step, with E at ``step * dt`` and H at ``(step + 0.5) * dt``.
        """
        if step % self.every:
            return
        row = self.begin_samples(step)
        for rows, views in self.slots():
            if len(views) == 2:
                (np.add if self.sign > 0 else np.subtract)(views[0], views[1], out=rows[row])
            else:
                np.copyto(rows[row], views[0])
        self.end_samples(1)

    @property
    def room(self) -> int:
        """How many more samples the buffer can take."""
        return SAMPLES - self._count

    def slots(self) -> list[tuple[NDArray[Any], list[NDArray[Any]]]]:
        """Return the buffer of each part, (SAMPLES, *shape), and the one or two views of a sample (see `sign`)."""
        both = zip(self._views, self._lower, strict=True) if self._lower else zip(self._views, strict=True)
        return [(rows, list(views)) for rows, views in zip(self._rows, both, strict=True)]

    def begin_samples(self, step: int) -> int:
        """Return the row of the buffer for the sample of `step`; those of the steps after it, `every` apart, follow."""
        if self._count and step != self._first + self._count * self.every:
            self.flush()
        if not self._count:
            self._first = step
        return self._count

    def end_samples(self, count: int) -> None:
        """Take note that so many samples were put into the buffer."""
        self._count += count
        if self._count == SAMPLES:
            self.flush()

    def flush(self) -> None:
        """Add the buffered samples to the transforms."""
        if not self._count:
            return
        scale = 0.5 if self._lower and self.sign > 0 else 1.0
        cosines, sines = self.phases.weights(self.component[0], self._first, scale)
        for part in range(self.parts):
            accumulate(self._buffer[part], self._count, cosines, sines, self._real[part], self._imag[part])
        self._count = 0

    def values(self) -> NDArray[np.complex128]:
        """Return the transforms so far, of shape (n_frequencies, *box.shape)."""
        self.flush()
        total = self._real[0] + 1j * self._imag[0]
        if self.parts == 2:
            total += 1j * self._real[1] - self._imag[1]
        return np.ascontiguousarray(self._in_user_order(total))

    def squares(self) -> NDArray[np.float64]:
        """Return Σ |F|² over the points at every frequency, (n_frequencies,)."""
        self.flush()
        real, imag = self._real[0], self._imag[0]
        if self.parts == 2:
            real, imag = real - self._imag[1], imag + self._real[1]
        return np.asarray(np.einsum("fp,fp->f", real, real) + np.einsum("fp,fp->f", imag, imag))

    def state(self) -> dict[str, NDArray[Any]]:
        """Return copies of the patch's state, with axes (…, x, y, z): the sums and the buffered samples."""
        found = {"real": self._real, "imag": self._imag, "kept": self._buffer[:, : self._count]}
        arrays = {name: np.ascontiguousarray(self._in_user_order(values)) for name, values in found.items()}
        return {**arrays, "first": np.array(self._first, np.int64)}

    def restore(self, box: Box, state: dict[str, NDArray[Any]]) -> None:
        """Copy the part inside this patch from the `state` of a patch of the same transform on `box`.

        Raises
        ------
        InputError
            If the state belongs to another transform.
        """
        inside = box & self.box
        for name, mine in (("real", self._real), ("imag", self._imag), ("kept", self._buffer)):
            values = state[name]
            if values.shape != (self.parts, values.shape[1], *box.shape) or (
                name != "kept" and values.shape[1] != len(self.phases.frequencies)
            ):
                raise InputError(f"The state of a patch on {box} has arrays of a wrong shape, {values.shape}.")
            target = self._in_user_order(mine)
            rows = (slice(None), slice(0, values.shape[1]))
            target[(*rows, *inside.slices(self.box.lo))] = values[(*rows, *inside.slices(box.lo))]
        self._count, self._first = state["kept"].shape[1], int(state["first"])

    def _in_user_order(self, values: NDArray[Any]) -> NDArray[Any]:
        """Return a view of values (…, n_points) as (…, nx, ny, nz)."""
        leading = values.ndim - 1
        full = values.reshape(*values.shape[:-1], *self._rows_shape)
        return full.transpose(*range(leading), *(leading + np.argsort(self._order)))

    def replace(self, values: NDArray[np.complex128]) -> None:
        """Continue from `values`, of shape (n_frequencies, *box.shape), as if they had been accumulated here."""
        if values.shape != (len(self.phases.frequencies), *self.box.shape):
            raise InputError(
                f"A patch of {len(self.phases.frequencies)} frequencies on {self.box.shape} points can't take values "
                f"of shape {values.shape}."
            )
        self._count = 0
        ordered = values.transpose(0, *(1 + a for a in self._order)).reshape(len(values), -1)
        self._real[:], self._imag[:] = 0, 0
        self._real[0], self._imag[0] = ordered.real, ordered.imag
