"""Polarisation of dispersive media by an auxiliary differential equation per pole.

A Lorentz pole's P'' + 2πγ P' + (2πf)² P = (2πf)² s E, by central differences (T. Kashiwa and I. Fukai, Microw. Opt.
Technol. Lett. 3, 203 (1990); R. M. Joseph, S. C. Hagness and A. Taflove, Opt. Lett. 16, 1412 (1991)), becomes

    P(n+1) = c0 P(n) - c1 P(n-1) + c2 s E(n)

where s is the pole's strength at the point. `builder.pole_factors` computes c0, c1, c2; a Drude pole has no restoring
term. The field then changes by -w (P(n+1) - P(n)), where w is the field's response to the polarisation.

All poles that share the same points are advanced in one pass over the field, block by block. The polarisations are
packed. The field of many short runs is first gathered into a block, so that all poles work on one long row.
"""

from __future__ import annotations

import numpy as np

from evenly.compiling import njit

__all__ = ["advance_poles"]

# Points in a block; the block's field and gain fit the first-level cache.
_BLOCK = 1024
# For runs of at least this many points, the field is read in place instead of being gathered.
_LONG = 128


@njit(cache=True, nogil=True)
def advance_poles(F, G, runs, now, before, factors, strengths, weights, rate, feed):
    """Advance all poles of a group by one step and subtract the gain of their polarisations from the field.

    Parameters
    ----------
    F : flat array
        The field component that drives the poles.
    G : flat array
        If `feed`, the gain divided by dt is subtracted from it too (off-diagonal media need it); else of length 1.
    runs : (n_runs, 3) ints
        Runs of the poles' points: flat index, length, packed offset. Runs are packed one behind the other.
    now, before : (n_poles, n_points)
        Packed polarisation at this step and at the step before. Afterwards `before` holds the next step.
    factors : (n_poles, 3)
        c0, c1, c2.
    strengths : (n_poles, n_points) or (n_poles, 1)
        Strength s at each point, or one value for all points.
    weights : (n_points,) or (1,)
        w at each point, or one value for all points.
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
    """Return the run to continue with and how many of its points are done, when `done` points of run r are."""
    return (r + 1, 0) if done == runs[r, 1] else (r, done)


@njit(cache=True, nogil=True)
def _gather(F, field, o, k, n):
    """Copy n points of F, starting at o, to the block `field`, starting at k."""
    o, k = np.uint64(o), np.uint64(k)
    for i in range(np.uint64(0), np.uint64(n)):
        field[k + i] = F[o + i]


@njit(cache=True, nogil=True)
def _all_poles(F, o, gain, now, before, factors, strengths, packed, n):
    """Advance all poles on n points and set `gain` to the sum of their gains."""
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
    """Advance one pole on n points; `places` holds the first index in the field, the polarisation and the strengths.

    `before` receives P(n+1), and P(n+1) - P(n) is added to `gain`.
    """
    # Plain indices instead of slices, because creating slices for each block takes time.
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
    """Subtract the gain of a block from the field; the block begins after `done` points of run r (`begin`)."""
    (r, done), k, same = begin, 0, weights.size == 1
    while k < n:
        part, o = min(n - k, runs[r, 1] - done), runs[r, 0] + done
        _subtract_gain(F, gain, weights, 0 if same else packed + k, same, o, k, part)
        if feed:
            _subtract_current(G, gain, rate, o, k, part)
        k, r, done = k + part, r + 1, 0


@njit(cache=True, nogil=True)
def _subtract_gain(F, gain, weights, w, same, o, g, n):
    """Compute F -= w (P(n+1) - P(n)): in D = εE + P, E decreases as the polarisation P increases."""
    o, w, g = np.uint64(o), np.uint64(w), np.uint64(g)
    if same:
        weight = weights[0]
        for k in range(np.uint64(0), np.uint64(n)):
            F[o + k] -= weight * gain[g + k]
    else:
        for k in range(np.uint64(0), np.uint64(n)):
            F[o + k] -= weights[w + k] * gain[g + k]


@njit(cache=True, nogil=True)
def _subtract_current(G, gain, rate, o, g, n):
    """Compute G -= (P(n+1) - P(n))/dt: the off-diagonal elements need the polarisation current too."""
    o, g = np.uint64(o), np.uint64(g)
    for k in range(np.uint64(0), np.uint64(n)):
        G[o + k] -= rate * gain[g + k]
