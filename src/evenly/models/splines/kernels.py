"""Compiled kernels of the forward pass: the best knot of a parent term p on one input x, and the gains of labels.

Q (n, M) is an orthonormal basis of the columns found so far. A pair of hinges at knot t adds two columns to the span:
``p·x`` for every t, and ``h_t = p·(x - t)+``. The gain of a knot follows from the inner products of h_t with Q, with
the part of ``p·x`` orthogonal to Q, with the residual, and with itself. All are sums over the rows right of t, which
are updated as t moves left. So one sweep in the order of x costs O(n M) for any number of knots [Friedman 1991,
equation 52; here with an orthonormal basis, which keeps the sums well-conditioned].
"""

from __future__ import annotations

import math

import numpy as np

from evenly.compiling import njit

__all__ = ["best_knot", "label_gains"]

#: A column lies in the span, but for rounding, if the squared length of its part outside is below this share of its
#: own.
_LEFT = 1e-8


@njit(cache=True, fastmath={"contract", "reassoc", "nsz"})
def best_knot(order, x, parent, q, used, residual, span, end):  # type: ignore[no-untyped-def]
    """Return gain and knot of the best pair of hinges, and whether ``p·x`` is a new column.

    The knot is NaN if no hinge gains more than ``p·x`` alone.

    Parameters
    ----------
    order : int array (n,)
        Rows in descending order of x.
    x, parent, residual : arrays (n,)
        The input, the parent's column and the residual; the last two are multiplied by the square roots of the weights.
    q : array (n, most)
        Orthonormal basis in its first `used` columns.
    span, end : int
        Least number of rows, counted where the parent isn't zero, between two knots, and outside the outermost knots.
    """
    n = len(x)
    # Inner products of p and of p·x, over the rows right of the knot, with each column of Q.
    plain, sloped = np.zeros(used + 1), np.zeros(used + 1)
    active, mean, size = 0, 0.0, 0.0
    for row in range(n):
        if parent[row] != 0.0:
            active += 1
            mean += x[row] * parent[row] * parent[row]
            size += parent[row] * parent[row]
    if active < 2:
        return 0.0, math.nan, False
    # Subtracting the mean from x keeps the sums small, so fewer digits are lost.
    mean /= size
    # Step 1: subtract from p·x its part in the span of Q (Gram-Schmidt). Its gain is the same at every knot.
    line = np.zeros(n)
    raw = 0.0
    for row in range(n):
        line[row] = parent[row] * (x[row] - mean)
        raw += line[row] * line[row]
        for m in range(used):
            sloped[m] += line[row] * q[row, m]
    left, linear = 0.0, 0.0
    for row in range(n):
        for m in range(used):
            line[row] -= sloped[m] * q[row, m]
        left += line[row] * line[row]
        linear += line[row] * residual[row]
    new = left > _LEFT * raw
    gain = 0.0
    if new:
        length = math.sqrt(left)
        linear /= length
        gain = linear * linear
        for row in range(n):
            line[row] /= length
    # Step 2: sweep the knot from the right to the left. With sums over the rows passed so far,
    # r0, r1: p·r and p·x·r (r the residual); l0, l1: the same with the line of step 1; s0, s1, s2: p², p²·x, p²·x²,
    # each inner product of h_t = p·(x - t)+ is the inner product of p·x minus t times the inner product of p.
    sloped[:] = 0.0
    best, knot = gain, math.nan
    r0, r1, l0, l1, s0, s1, s2 = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    seen, since = 0, span
    before = math.inf
    for at in range(n):
        row = order[at]
        p = parent[row]
        if p == 0.0:
            continue
        value = x[row] - mean
        if value < before and seen >= end and since >= span:
            if active - seen < end:
                break
            since = 0
            # |h_t|², then the squared length of h_t outside the span of Q and the line: the denominator of the gain.
            square = s2 - 2.0 * value * s1 + value * value * s0
            rest = square
            for m in range(used):
                inner = sloped[m] - value * plain[m]
                rest -= inner * inner
            # (h_t · r), minus the part along the line, whose gain step 1 has counted.
            product = r1 - value * r0
            if new:
                inner = l1 - value * l0
                rest -= inner * inner
                product -= linear * inner
            if rest > _LEFT * square:
                found = gain + product * product / rest
                # The margin keeps rounding errors from deciding ties.
                if found > best * (1.0 + 1e-9):
                    best, knot = found, x[row]
        # Move the row to the right of the knot: update the sums.
        before = value
        seen += 1
        since += 1
        pv = p * value
        for m in range(used):
            plain[m] += p * q[row, m]
            sloped[m] += pv * q[row, m]
        r0 += p * residual[row]
        r1 += pv * residual[row]
        if new:
            l0 += p * line[row]
            l1 += pv * line[row]
        s0 += p * p
        s1 += p * pv
        s2 += pv * pv
    return best, knot, new


@njit(cache=True, fastmath={"contract", "reassoc", "nsz"})
def label_gains(codes, size, parent, q, used, residual, fewest):  # type: ignore[no-untyped-def]
    """Return the decrease of the RSS by the parent times the indicator of each of `size` labels, (size,).

    `codes` (n,) holds the label of each row; the other arrays are those of `best_knot`. The gain is 0 if the label, or
    all other labels together, have fewer than `fewest` rows where the parent isn't zero.
    """
    # Inner products of p·[label = c] with Q, with itself and with the residual, in one pass over the rows.
    inner, square, product = np.zeros((size, used)), np.zeros(size), np.zeros(size)
    rows = np.zeros(size, np.int64)
    active = 0
    for row in range(len(codes)):
        p = parent[row]
        if p != 0.0:
            c = codes[row]
            active += 1
            rows[c] += 1
            square[c] += p * p
            product[c] += p * residual[row]
            for m in range(used):
                inner[c, m] += p * q[row, m]
    # Gain: squared inner product with the residual, divided by the squared length of the part outside the span of Q.
    gains = np.zeros(size)
    for c in range(size):
        rest = square[c]
        for m in range(used):
            rest -= inner[c, m] * inner[c, m]
        if rows[c] >= fewest and active - rows[c] >= fewest and rest > _LEFT * square[c]:
            gains[c] = product[c] * product[c] / rest
    return gains
