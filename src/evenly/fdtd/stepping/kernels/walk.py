"""Many small pieces of work in one compiled call: sweeps of chunks, copies of ghost points, currents, samples.

A chunk of a few hundred points is swept in a microsecond, but to call a compiled function with its arrays takes
several. So a step is written down once as a table of operations, and one call walks through it, for one step or for
several. The arrays that the operations need are in tables, too, as addresses and sizes; who made the tables keeps them.

The call knows the phases that its operations belong to, and measures the wall time of each.
"""

from __future__ import annotations

import time
from typing import Any

import numpy as np
from numba import carray, types  # type: ignore[attr-defined]
from numba.extending import intrinsic

from evenly.compiling import njit
from evenly.fdtd.stepping.kernels.arguments import BLOCK
from evenly.fdtd.stepping.kernels.sweep import sweep

__all__ = ["ADD", "COPY", "DRIVE", "MOVE", "SAMPLE", "SCALE", "SWEEP", "TURN", "walk"]

# Kinds of operations.
SWEEP, COPY, DRIVE, SAMPLE = 0, 1, 2, 3
# Kinds of copies: as they are, times a number, times a complex number (both parts at once), and the sum of two sources.
MOVE, SCALE, TURN, ADD = 0, 1, 2, 3
_SHAPE, _OFFSETS, _FLAGS = 0, 3, 9
_CLOCK = getattr(time, "CLOCK_MONOTONIC", 1)
_read_clock: Any = types.ExternalFunction("clock_gettime", types.int32(types.int32, types.CPointer(types.int64)))


def _to_pointer(context: Any, address: Any, like: Any) -> Any:  # noqa: ARG001 - numba's interface
    """Return the pointer to numbers like those of an array, at an address."""

    def make(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.inttoptr(arguments[0], context.get_value_type(signature.return_type))

    return types.CPointer(like.dtype)(types.int64, like), make


_pointer: Any = intrinsic(_to_pointer)


@njit(cache=True, nogil=True)
def walk(ops, turns, start, chunks, boxes, copies, currents, amplitudes, samples, seconds):
    """Do operations, turn after turn.

    Parameters
    ----------
    ops : (n, 4) ints
        Kind, phase (a place in `seconds`), and: for `SWEEP` rows of the tables in `chunks` and of `boxes`; for `COPY`
        the first and one past the last row of `copies`; for `DRIVE` the same of `currents`, and
        for `SAMPLE` of the first array of `samples`.
    turns : (n_turns, 3) ints
        Which step, counted from `start`, and the first and one past the last of its operations that are done in a turn.
    start : int
        The first step.
    chunks : three arrays
        Addresses and sizes of arrays, (n, 28) each, and (n, 26) ints: shape, offsets of ψ, flags (see `arguments`).
    boxes : (n, 4, 3) ints
        What to sweep.
    copies : two arrays
        (n, 14) ints: kind, shape (3), strides of the target (3) and of the source (3), addresses of both parts of the
        target and of the source. Then the factors' real and imaginary parts, (2 n,).
    currents : (n, 14) ints
        Shape, strides of the field and of the weights (3 each), addresses of the field and of the weights' real and
        imaginary part, part of the field, row of `amplitudes`.
    amplitudes : (n, BLOCK, 2)
        Real and imaginary part of each source's amplitude at each step of the block.
    samples : two arrays
        (n, 4) ints: row of `copies`, interval in steps, distance from a sample to the next in the target, number of the
        monitor's patch. Then for each patch the place of its next sample, (n_patches,).
    seconds : (n_phases,)
        Receives the wall time of each phase.
    """
    (addresses, sizes, layouts), (places, factors), (sampled, filled) = chunks, copies, samples
    clock = np.zeros(2, np.int64)
    running, begin = ops[0, 1], _now(clock)
    for turn in range(turns.shape[0]):
        step = start + turns[turn, 0]
        for n in range(turns[turn, 1], turns[turn, 2]):
            kind, phase, first, last = ops[n, 0], ops[n, 1], ops[n, 2], ops[n, 3]
            if phase != running:
                end = _now(clock)
                seconds[running] += end - begin
                running, begin = phase, end
            if kind == SWEEP:
                _sweep(addresses[first], sizes[first], layouts[first], boxes[last], factors)
            elif kind == COPY:
                for r in range(first, last):
                    # A plain 0 would be a type of its own, for which numba compiles once more.
                    _copy(places[r], factors[2 * r], factors[2 * r + 1], factors, np.int64(0))
            elif kind == SAMPLE:
                for r in range(first, last):
                    every = sampled[r, 1]
                    if (step + 1) % every == 0:
                        row = filled[sampled[r, 3]] + (step + 1) // every - start // every - 1
                        at = sampled[r, 0]
                        _copy(places[at], factors[2 * at], factors[2 * at + 1], factors, row * sampled[r, 2])
            else:
                for r in range(first, last):
                    at = currents[r, 13]
                    now = amplitudes[at, step % BLOCK]
                    _drive(currents[r], now[0], now[1], factors, now)
    seconds[running] += _now(clock) - begin


@njit(cache=True, nogil=True)
def _now(clock):
    _read_clock(_CLOCK, clock.ctypes)
    return clock[0] + 1e-9 * clock[1]


@njit(cache=True, nogil=True, inline="always")
def _sweep(at, n, layout, boxes, like):
    E = carray(_pointer(at[0], like), n[0]), carray(_pointer(at[1], like), n[1]), carray(_pointer(at[2], like), n[2])
    H = carray(_pointer(at[3], like), n[3]), carray(_pointer(at[4], like), n[4]), carray(_pointer(at[5], like), n[5])
    offsets = layout[_OFFSETS:_FLAGS]
    electric, magnetic = _medium(at[6:17], n[6:17], offsets, like), _medium(at[17:28], n[17:28], offsets, like)
    sweep(E, H, electric, magnetic, layout[_SHAPE:_OFFSETS], boxes, layout[_FLAGS:])


@njit(cache=True, nogil=True)
def _medium(at, n, offsets, like):
    """Return the entries of `arguments.Medium`."""
    c = carray(_pointer(at[0], like), n[0]), carray(_pointer(at[1], like), n[1]), carray(_pointer(at[2], like), n[2])
    a = carray(_pointer(at[3], like), n[3]), carray(_pointer(at[4], like), n[4]), carray(_pointer(at[5], like), n[5])
    scalar, psi = carray(_pointer(at[6], like), n[6]), carray(_pointer(at[7], like), n[7])
    x, y = carray(_pointer(at[8], like), (3, n[8])), carray(_pointer(at[9], like), (3, n[9]))
    return c, a, scalar, psi, offsets, (x, y, carray(_pointer(at[10], like), (3, n[10])))


@njit(cache=True, nogil=True)
def _copy(row, real, imag, like, skipped):
    """Assign on a box: target = factor times source, for example; the target begins after `skipped` numbers."""
    kind, t0, t1, t2, s0, s1, s2 = row[0], row[4], row[5], row[6], row[7], row[8], row[9]
    wide, from_wide = _extent(row[1:4], row[4:7]), _extent(row[1:4], row[7:10])
    T, S = carray(_pointer(row[10] + skipped * like.itemsize, like), wide), carray(_pointer(row[12], like), from_wide)
    U, V = carray(_pointer(row[11], like), wide), carray(_pointer(row[13], like), from_wide)
    one, zero, end = np.uint64(1), np.uint64(0), np.uint64(row[3])
    for i in range(row[1]):
        for j in range(row[2]):
            t, s, dt, ds = np.uint64(i * t0 + j * t1), np.uint64(i * s0 + j * s1), np.uint64(t2), np.uint64(s2)
            if kind == MOVE and dt == one and ds == one:
                for k in range(zero, end):
                    T[t + k] = S[s + k]
            elif kind == MOVE:
                for k in range(zero, end):
                    T[t + dt * k] = S[s + ds * k]
            elif kind == SCALE:
                for k in range(zero, end):
                    T[t + dt * k] = real * S[s + ds * k]
            elif kind == ADD:
                for k in range(zero, end):
                    T[t + dt * k] = S[s + ds * k] + real * V[s + ds * k]
            else:
                # (p + iq)(a + ib) = (pa - qb) + i(pb + qa), parts kept apart.
                for k in range(zero, end):
                    a, b = S[s + ds * k], V[s + ds * k]
                    T[t + dt * k] = real * a - imag * b
                    U[t + dt * k] = real * b + imag * a


@njit(cache=True, nogil=True)
def _drive(row, real, imag, like, weight):
    """Let a current flow for one step: take amplitude times weights, real or imaginary part, off the field."""
    if real == 0 and imag == 0:
        return
    wide, from_wide = _extent(row[0:3], row[3:6]), _extent(row[0:3], row[6:9])
    F = carray(_pointer(row[9], like), wide)
    R, Q = carray(_pointer(row[10], weight), from_wide), carray(_pointer(row[11], weight), from_wide)
    for i in range(row[0]):
        for j in range(row[1]):
            for k in range(row[2]):
                f, w = i * row[3] + j * row[4] + k * row[5], i * row[6] + j * row[7] + k * row[8]
                F[f] -= real * R[w] - imag * Q[w] if row[12] == 0 else real * Q[w] + imag * R[w]


@njit(cache=True, nogil=True)
def _extent(shape, strides):
    """Return how many numbers a view of a flat array reaches over."""
    return 1 + (shape[0] - 1) * strides[0] + (shape[1] - 1) * strides[1] + (shape[2] - 1) * strides[2]
