"""The compiled search of the forward pass: where on one input a parent term is best split in two.

The columns found so far are orthonormal (Q). A pair of hinges at knot t adds to the span ``p·x``, whatever t is, and
``h_t = p·(x - t)+``. What a knot gains follows from inner products of h_t with Q, with ``p·x`` orthogonal to Q, with
the residual, and with itself; all are sums over the rows right of t that are updated as t moves left, so one sweep in
order of x costs O(n M), however many knots there are [Friedman 1991, equations 52; here on an orthonormal basis, which
keeps the sums well-conditioned].
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit

__all__ = ["best_knot", "label_gains"]

#: What is left of a column, relative to its square, when it lies in the span but for rounding.
_LEFT = 1e-8


@njit(cache=True, fastmath={"contract", "reassoc", "nsz"})
def best_knot(order, x, parent, q, used, residual, span, end):  # type: ignore[no-untyped-def]
    """Return gain and knot of the best pair of hinges, and whether ``p·x`` is a new column.

    Parameters
    ----------
    order : int array (n,)
        Rows by falling x.
    x, parent, residual : arrays (n,)
        All columns hold the square roots of the weights already, but x.
    q : array (n, most)
        Orthonormal columns, `used` of them.
    span, end : int
        How many rows with the parent above zero lie between two knots, and outside the first and the last.
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
    # About its mean, x has the smallest sums: fewer digits are lost.
    mean /= size
    # Step 1: p·x with its part in the span of Q taken off (Gram-Schmidt). What it gains, it gains at every knot.
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
    # every inner product of h_t = p·(x - t)+ is that of p·x minus t times that of p.
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
            # |h_t|², then what is left of it beside Q and the line: the denominator of the gain.
            square = s2 - 2.0 * value * s1 + value * value * s0
            rest = square
            for m in range(used):
                inner = sloped[m] - value * plain[m]
                rest -= inner * inner
            # (h_t · r), with the part along the line, which step 1 has counted, taken off.
            product = r1 - value * r0
            if new:
                inner = l1 - value * l0
                rest -= inner * inner
                product -= linear * inner
            if rest > _LEFT * square:
                found = gain + product * product / rest
                # Beyond rounding: ties must not be decided by the order of sums.
                if found > best * (1.0 + 1e-9):
                    best, knot = found, x[row]
        # The row passes to the right of the knot.
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
    """Return by how much squares fall with the parent times the indicator of each of `size` labels, (size,).

    Arrays are those of `best_knot`; `codes` (n,) holds the label of each row. A label gains nothing if it has less than
    `fewest` rows, or all other labels together have.
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
    # Gain: squared product with the residual over the squared length of what lies outside the span of Q.
    gains = np.zeros(size)
    for c in range(size):
        rest = square[c]
        for m in range(used):
            rest -= inner[c, m] * inner[c, m]
        if rows[c] >= fewest and active - rows[c] >= fewest and rest > _LEFT * square[c]:
            gains[c] = product[c] * product[c] / rest
    return gains
