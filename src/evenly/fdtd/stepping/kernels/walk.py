"""Many small pieces of work in one compiled call: sweeps, copies of ghost points, currents, samples, messages.

A chunk of a few hundred points is swept in a microsecond, but to call a compiled function with its arrays takes
several. So a step is written down once as a table of operations, and one call walks through it, for one step or for
several. All arrays that the operations need are in tables, too, as addresses and sizes; who made the tables keeps them.
Where an operation needs Python, the call ends, and the next one goes on behind it.

The call knows the phases that its operations belong to, and measures the wall time of each.
"""

from __future__ import annotations

import time
from typing import Any

import numpy as np
from numba import carray, types  # type: ignore[attr-defined]

from evenly.compiling import njit
from evenly.fdtd.stepping.kernels.arguments import BLOCK
from evenly.fdtd.stepping.kernels.messages import begin, have_come
from evenly.fdtd.stepping.kernels.pointers import pointer
from evenly.fdtd.stepping.kernels.sweep import sweep

__all__ = [
    "ADD", "CALL", "COPY", "DRIVE", "MOVE", "SAMPLE", "SCALE", "SEND", "SKIP", "SWEEP", "TURN", "WAIT", "walk",
]  # fmt: skip

# Kinds of operations.
SWEEP, COPY, DRIVE, SAMPLE, SKIP, SEND, WAIT, CALL = 0, 1, 2, 3, 4, 5, 6, 7
# Kinds of copies: as they are, times a number, times a complex number (both parts at once), and the sum of two sources.
MOVE, SCALE, TURN, ADD = 0, 1, 2, 3
# Tables, and how many numbers a row of each has.
_OPS, _ADDRESSES, _SIZES, _LAYOUTS, _BOXES, _COPIES, _CURRENTS, _AMPLITUDES = range(8)
_SAMPLES, _FILLED, _MESSAGES, _ROOM = range(8, 12)
_COLUMNS = 4, 28, 28, 26, 12, 14, 14, 2 * BLOCK, 4, 1, 6
_SHAPE, _OFFSETS, _FLAGS = 0, 3, 9
# Seconds that messages are waited for here; from then on as `ranks.polling` does.
_SPIN_S = 20e-6
_CLOCK = getattr(time, "CLOCK_MONOTONIC", 1)
_read_clock: Any = types.ExternalFunction("clock_gettime", types.int32(types.int32, types.CPointer(types.int64)))


@njit(cache=True, nogil=True)
def walk(tables, factors, turns, start, first, seconds, room):
    """Do operations, turn after turn, and return the first that only Python can do; -1 if all are done.

    Parameters
    ----------
    tables : (n_tables, 2) ints
        Addresses and numbers of rows of these tables, all of ints but ``amplitudes``:

        ``ops``
            Kind, phase (a place in `seconds`), and: for `SWEEP` a row of the tables of chunks and one of ``boxes``; for
            `COPY` the first and one past the last row of ``copies``; for `DRIVE` the same of ``currents``, and for
            `SAMPLE` of ``samples``; for `SKIP` an interval in steps, and the operation to go on with unless a multiple
            of it has been done; for `SEND` and `WAIT` a row of ``messages``.
        ``addresses``, ``sizes``, ``layouts``
            Of chunks: addresses and sizes of arrays; shape, offsets of ψ, flags (see `arguments`).
        ``boxes``
            What to sweep, (4, 3).
        ``copies``
            Kind, shape (3), strides of the target (3) and of the source (3), addresses of both parts of the target and
            of the source.
        ``currents``
            Shape, strides of the field and of the weights (3 each), addresses of the field and of the weights' real and
            imaginary part, part of the field, row of ``amplitudes``.
        ``amplitudes``
            Real and imaginary part of a source's amplitude at each step of the block, (BLOCK, 2).
        ``samples``
            Row of ``copies``, interval in steps, distance from a sample to the next in the target, number of the
            monitor's patch.
        ``filled``
            Place of a patch's next sample.
        ``messages``
            See `messages`.
        ``room``
            How many numbers there is room for. Its address isn't used, since threads have rooms of their own.
    factors : (2 n,)
        Real and imaginary part for each of the ``copies``; numbers like those of the fields.
    turns : (n_turns, 3) ints
        Which step, counted from `start`, and the first and one past the last of its operations that are done in a turn.
    start : int
        The first step.
    first : int
        Where to begin: the turn times the number of all operations, plus the operation. So is what is returned.
    seconds : (n_phases,)
        Receives the wall time of each phase.
    room : int
        Address of 16 bytes, and of as many numbers behind them as `sweep.room_for` says.
    """
    ops, copies, messages = _rows(tables, _OPS), _rows(tables, _COPIES), _rows(tables, _MESSAGES)
    addresses, sizes, layouts = _rows(tables, _ADDRESSES), _rows(tables, _SIZES), _rows(tables, _LAYOUTS)
    boxes = carray(pointer(tables[_BOXES, 0], tables), (tables[_BOXES, 1], 4, 3))
    clock, numbers = carray(pointer(room, tables), 2), carray(pointer(room + 16, factors), tables[_ROOM, 1])
    turn, n = divmod(first, ops.shape[0])
    running, began = ops[n, 1], _now(clock)
    while turn < turns.shape[0]:
        step, n = start + turns[turn, 0], max(n, turns[turn, 1])
        while n < turns[turn, 2]:
            kind, phase, one, end = ops[n, 0], ops[n, 1], ops[n, 2], ops[n, 3]
            if phase != running:
                now = _now(clock)
                seconds[running] += now - began
                running, began = phase, now
            if kind == SWEEP:
                _sweep(addresses[one], sizes[one], layouts[one], boxes[end], numbers)
            elif kind == COPY:
                for r in range(one, end):
                    # A plain 0 would be a type of its own, for which numba compiles once more.
                    _copy(copies[r], factors[2 * r], factors[2 * r + 1], factors, np.int64(0))
            elif kind == DRIVE:
                _drive_all(tables, one, end, step, factors, seconds)
            elif kind == SAMPLE:
                _sample(tables, one, end, start, step, factors)
            elif kind == SKIP:
                n = n if (step + 1) % one == 0 else end - 1
            elif not _deliver(kind, messages[one], clock):
                seconds[running] += _now(clock) - began
                return turn * ops.shape[0] + n
            n += 1
        turn, n = turn + 1, 0
    seconds[running] += _now(clock) - began
    return -1


@njit(cache=True, nogil=True)
def _rows(tables, n):
    return carray(pointer(tables[n, 0], tables), (tables[n, 1], _COLUMNS[n]))


@njit(cache=True, nogil=True)
def _now(clock):
    _read_clock(_CLOCK, clock.ctypes)
    return clock[0] + 1e-9 * clock[1]


@njit(cache=True, nogil=True)
def _deliver(kind, message, clock):
    """Send messages, or wait for them; return whether that could be done here."""
    if kind == SEND:
        return begin(message)
    if kind != WAIT:
        return False
    if have_come(message):
        return True
    limit = _now(clock) + _SPIN_S
    while not have_come(message):
        if _now(clock) > limit:
            return False
    return True


@njit(cache=True, nogil=True)
def _sample(tables, first, last, start, step, like):
    """Take samples whose turn it is after a step, of which `start` was the first."""
    copies, samples, filled = _rows(tables, _COPIES), _rows(tables, _SAMPLES), _rows(tables, _FILLED)
    for r in range(first, last):
        at, every = samples[r, 0], samples[r, 1]
        if (step + 1) % every == 0:
            row = filled[samples[r, 3], 0] + (step + 1) // every - start // every - 1
            _copy(copies[at], like[2 * at], like[2 * at + 1], like, row * samples[r, 2])


@njit(cache=True, nogil=True)
def _drive_all(tables, first, last, step, like, weight):
    """Let currents flow for one step."""
    currents = _rows(tables, _CURRENTS)
    amplitudes = carray(pointer(tables[_AMPLITUDES, 0], weight), (tables[_AMPLITUDES, 1], BLOCK, 2))
    for r in range(first, last):
        now = amplitudes[currents[r, 13], step % BLOCK]
        _drive(currents[r], now[0], now[1], like, weight)


@njit(cache=True, nogil=True, inline="always")
def _sweep(at, n, layout, boxes, room):
    E = carray(pointer(at[0], room), n[0]), carray(pointer(at[1], room), n[1]), carray(pointer(at[2], room), n[2])
    H = carray(pointer(at[3], room), n[3]), carray(pointer(at[4], room), n[4]), carray(pointer(at[5], room), n[5])
    offsets = layout[_OFFSETS:_FLAGS]
    electric, magnetic = _medium(at[6:17], n[6:17], offsets, room), _medium(at[17:28], n[17:28], offsets, room)
    sweep(E, H, electric, magnetic, layout[_SHAPE:_OFFSETS], boxes, layout[_FLAGS:], room)


@njit(cache=True, nogil=True, inline="always")
def _medium(at, n, offsets, like):
    """Return the entries of `arguments.Medium`."""
    c = carray(pointer(at[0], like), n[0]), carray(pointer(at[1], like), n[1]), carray(pointer(at[2], like), n[2])
    a = carray(pointer(at[3], like), n[3]), carray(pointer(at[4], like), n[4]), carray(pointer(at[5], like), n[5])
    scalar, psi = carray(pointer(at[6], like), n[6]), carray(pointer(at[7], like), n[7])
    x, y = carray(pointer(at[8], like), (3, n[8])), carray(pointer(at[9], like), (3, n[9]))
    return c, a, scalar, psi, offsets, (x, y, carray(pointer(at[10], like), (3, n[10])))


@njit(cache=True, nogil=True)
def _copy(row, real, imag, like, skipped):
    """Assign on a box: target = factor times source, for example; the target begins after `skipped` numbers."""
    kind, t0, t1, t2, s0, s1, s2 = row[0], row[4], row[5], row[6], row[7], row[8], row[9]
    wide, from_wide = _extent(row[1:4], row[4:7]), _extent(row[1:4], row[7:10])
    T, S = carray(pointer(row[10] + skipped * like.itemsize, like), wide), carray(pointer(row[12], like), from_wide)
    U, V = carray(pointer(row[11], like), wide), carray(pointer(row[13], like), from_wide)
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
    F = carray(pointer(row[9], like), wide)
    R, Q = carray(pointer(row[10], weight), from_wide), carray(pointer(row[11], weight), from_wide)
    for i in range(row[0]):
        for j in range(row[1]):
            for k in range(row[2]):
                f, w = i * row[3] + j * row[4] + k * row[5], i * row[6] + j * row[7] + k * row[8]
                F[f] -= real * R[w] - imag * Q[w] if row[12] == 0 else real * Q[w] + imag * R[w]


@njit(cache=True, nogil=True)
def _extent(shape, strides):
    """Return how many numbers a view of a flat array reaches over."""
    return 1 + (shape[0] - 1) * strides[0] + (shape[1] - 1) * strides[1] + (shape[2] - 1) * strides[2]
