"""Polarisation of dispersive media by an auxiliary differential equation per pole.

A Lorentz pole's P'' + 2πγ P' + (2πf)² P = (2πf)² s E, by central differences (T. Kashiwa and I. Fukai, Microw. Opt.
Technol. Lett. 3, 203 (1990); R. M. Joseph, S. C. Hagness and A. Taflove, Opt. Lett. 16, 1412 (1991)), becomes

    P(n+1) = c0 P(n) - c1 P(n-1) + c2 s E(n)

with s the pole's strength at the point (c0, c1, c2: `builder.pole_factors`; a Drude pole has no restoring term). The
field then changes by minus what the polarisation gained, times w, the field's response to it. All poles that share the
same points are done in one pass over the field, block by block: polarisations lie packed, so that the field of many
short runs is gathered first and all poles then see one long row.
"""

from __future__ import annotations

import numpy as np
from numba import njit

__all__ = ["advance_poles"]

# Points that are done together; a block's field and gain stay in the first cache.
_BLOCK = 1024
# Runs from which on the field is read where it lies.
_LONG = 128


@njit(cache=True, nogil=True)
def advance_poles(F, G, runs, now, before, factors, strengths, weights, rate, feed):
    """Advance all poles of a group by one step and take what they gained from the field.

    Parameters
    ----------
    F : flat array
        The field component they see.
    G : flat array
        Where the gain over dt is subtracted too if `feed` (off-diagonal media need it); length 1 otherwise.
    runs : (n_runs, 3) ints
        Their points: flat index, length, packed offset, one run packed behind the other.
    now, before : (n_poles, n_points)
        Polarisation at this step and the one before, packed; afterwards `before` holds the next step.
    factors : (n_poles, 3)
        c0, c1, c2.
    strengths : (n_poles, n_points) or (n_poles, 1)
        Strength s at each point, or one for all.
    weights : (n_points,) or (1,)
        w at each point, or one for all.
    rate : scalar
        1/dt.
    """
    field, gain = np.empty(_BLOCK, F.dtype), np.empty(_BLOCK, F.dtype)
    r = done = 0
    while r < runs.shape[0]:
        first, skipped, packed = r, done, runs[r, 2] + done
        if runs[r, 1] - done >= _LONG:
            n = min(_BLOCK, runs[r, 1] - done)
            r, done = _after(runs, r, done + n)
            _all_poles(F, runs[first, 0] + skipped, gain, now, before, factors, strengths, packed, n)
        else:
            n = 0
            while r < runs.shape[0] and n < _BLOCK:
                part = min(_BLOCK - n, runs[r, 1] - done)
                _gather(F, field, runs[r, 0] + done, n, part)
                n += part
                r, done = _after(runs, r, done + part)
            _all_poles(field, 0, gain, now, before, factors, strengths, packed, n)
        _scatter(F, G, gain, runs, (first, skipped), weights, packed, n, rate, feed)


@njit(cache=True, nogil=True)
def _after(runs, r, done):
    """Run and points of it done, once `done` of run r are."""
    return (r + 1, 0) if done == runs[r, 1] else (r, done)


@njit(cache=True, nogil=True)
def _gather(F, field, o, k, n):
    """Copy n points of the field from o on to the block from k on."""
    o, k = np.uint64(o), np.uint64(k)
    for i in range(np.uint64(0), np.uint64(n)):
        field[k + i] = F[o + i]


@njit(cache=True, nogil=True)
def _all_poles(F, o, gain, now, before, factors, strengths, packed, n):
    """Advance all poles on n points and set what they gain together."""
    for k in range(n):
        gain[k] = 0
    points, same = now.shape[1], strengths.shape[1] == 1
    flat_now, flat_before, flat_strengths = now.reshape(-1), before.reshape(-1), strengths.reshape(-1)
    for m in range(now.shape[0]):
        at, s = m * points + packed, m if same else m * points + packed
        three = factors[m, 0], factors[m, 1], factors[m, 2]
        _one_pole(F, gain, flat_now, flat_before, flat_strengths, same, (o, at, s), n, three)


@njit(cache=True, nogil=True)
def _one_pole(F, gain, now, before, strengths, same, places, n, factors):
    """Advance one pole on n points, from `places` of the field, the polarisation and the strengths on.

    `before` receives P(n+1), and `gain` adds up P(n+1) - P(n).
    """
    # Plain indices, since slices would have to be made for each block.
    o, p, s = np.uint64(places[0]), np.uint64(places[1]), np.uint64(places[2])
    c0, c1, c2 = factors
    if same:
        c2 *= strengths[s]
        for k in range(np.uint64(0), np.uint64(n)):
            new = c0 * now[p + k] - c1 * before[p + k] + c2 * F[o + k]
            gain[k] += new - now[p + k]
            before[p + k] = new
    else:
        for k in range(np.uint64(0), np.uint64(n)):
            new = c0 * now[p + k] - c1 * before[p + k] + (c2 * strengths[s + k]) * F[o + k]
            gain[k] += new - now[p + k]
            before[p + k] = new


@njit(cache=True, nogil=True)
def _scatter(F, G, gain, runs, begin, weights, packed, n, rate, feed):
    """Take the gain of a block from the field: the block begins after `done` points of run r, which `begin` holds."""
    (r, done), k, same = begin, 0, weights.size == 1
    while k < n:
        part, o = min(n - k, runs[r, 1] - done), runs[r, 0] + done
        _take(F, gain, weights, 0 if same else packed + k, same, o, k, part)
        if feed:
            _feed(G, gain, rate, o, k, part)
        k, r, done = k + part, r + 1, 0


@njit(cache=True, nogil=True)
def _take(F, gain, weights, w, same, o, g, n):
    """F -= w (P(n+1) - P(n)): the part of D = εE + P that the polarisation takes over from E."""
    o, w, g = np.uint64(o), np.uint64(w), np.uint64(g)
    if same:
        weight = weights[0]
        for k in range(np.uint64(0), np.uint64(n)):
            F[o + k] -= weight * gain[g + k]
    else:
        for k in range(np.uint64(0), np.uint64(n)):
            F[o + k] -= weights[w + k] * gain[g + k]


@njit(cache=True, nogil=True)
def _feed(G, gain, rate, o, g, n):
    """G -= (P(n+1) - P(n))/dt: the current of the polarisation, which off-diagonal elements see too."""
    o, g = np.uint64(o), np.uint64(g)
    for k in range(np.uint64(0), np.uint64(n)):
        G[o + k] -= rate * gain[g + k]
