"""A lone row that lies far off the curve of few others, such as a mistyped time: named, never left out.

Few rows of one parameter tell no law for sure, but nearly all laws of run times share a shape: they are sums of powers
with positive factors, as ``a / n + b + c n`` [Amdahl's law with communication, Hoefler et al., "Performance modeling
for systematic performance tuning", SC 2011]. Against the logarithm of the parameter, the logarithm of such a sum is
convex, and no steeper than its powers. A row that is mistyped breaks that shape, and the others keep it.

Beyond a node, times may fall as never within one: no row is off that scales from the one before, and to the next,
between not at all and a bit better than perfectly.

So each row is left out in turn, and such a sum is fitted to the others (non-negative least squares of relative errors).
A row is far off if the others lie on their curve, the row doesn't, and no curve fits all.

Three or four rows fit nearly any curve. What they may not do is leap: caches make a program two or three times faster
than the number of cores does, and communication slower, but no more.
"""

from __future__ import annotations

import numpy as np

from evenly.models.array_types import Flags, Floats

__all__ = ["lone_rows", "rows_at_leaps"]

#: Powers of the parameter; sums of them are laws of time.
_POWERS = (-1.5, -1.0, -0.75, -0.5, -0.25, 0.0, 0.25, 0.5, 1.0, 2.0, 3.0)
#: Fewest rows, and fewest that tell less than four times, and of an end; where there are more than the most, a model
#: judges each row by its neighbours.
_FEWEST, _SURE, _MOST = 4, 5, 12
#: Least factors, in logs: of a row between others, where they are very few, and at an end, where a curve may turn.
_FACTOR, _FACTOR_OF_FEW, _FACTOR_AT_END = np.log(1.8), np.log(4.0), np.log(5.0)
#: How many times as far off as the others a row is; they scatter by so much at least.
_MULTIPLE, _LEAST, _MOST_SCATTER = 5.0, 0.05, 0.15
#: Powers of the parameter with which times scale on more cores: a bit more than perfectly, to not at all.
_USUAL = (-1.4, 0.1)

#: More than so many times faster than by the number of cores, or slower, is a leap; powers of the cores make it slower.
_LEAP, _SLOWER = 4.0, 1.5
#: Fewest rows of which two can tell that the third leaps.
_FEWEST_AT_LEAPS = 3


def rows_at_leaps(cores: Floats, seconds: Floats) -> list[tuple[int, float]]:
    """Return the row without which the times of very few don't leap, and what the others tell of it; [] without a leap.

    They are several if the others don't tell which of them is wrong, the least error first.

    Parameters
    ----------
    cores : array (n,)
        Cores, or what they are a multiple of; all differ.
    seconds : array (n,)
        Above zero.

    Examples
    --------
    >>> cores = np.array([32.0, 64.0, 128.0])
    >>> [row for row, _ in rows_at_leaps(cores, np.array([194.0, 99.4, 514.0]))]
    [2]
    >>> rows_at_leaps(cores, np.array([194.0, 40.0, 120.0]))
    []
    """
    if not _FEWEST_AT_LEAPS <= len(cores) < _SURE or not _leaps(cores, seconds):
        return []
    found = []
    for row in range(len(cores)):
        others = np.arange(len(cores)) != row
        if not _leaps(cores[others], seconds[others]):
            expected = float(_curve(cores, seconds, others)[row])
            is_usual = bool(_scale_as_usual(cores[others], seconds[others]).all())
            found.append((not is_usual, abs(float(np.log(seconds[row] / expected))), row, expected))
    best = min((unusual for unusual, *_ in found), default=False)
    return [(row, expected) for unusual, _, row, expected in sorted(found) if unusual == best]


def _leaps(cores: Floats, seconds: Floats) -> bool:
    order = np.argsort(cores)
    more, slower = cores[order][1:] / cores[order][:-1], seconds[order][1:] / seconds[order][:-1]
    return bool(((slower * more < 1 / _LEAP) | (slower > np.maximum(_LEAP, more**_SLOWER))).any())


def lone_rows(values: Floats, seconds: Floats) -> list[tuple[int, float]]:
    """Return the row that lies far off the curve of all others, and what they tell of it; [] if none does.

    They are several, the least error first, if the others don't tell which of them is wrong.

    Parameters
    ----------
    values : array (n,)
        The only parameter, above zero; all differ.
    seconds : array (n,)
        Above zero.

    Examples
    --------
    >>> cores = np.array([48.0, 96.0, 192.0, 384.0, 768.0])
    >>> [(row, round(expected, 1)) for row, expected in lone_rows(cores, np.array([27.3, 15.1, 79.5, 4.27, 2.42]))]
    [(2, 7.9)]
    >>> lone_rows(cores, np.array([27.3, 15.1, 7.95, 4.27, 2.42]))
    []
    """
    if not _FEWEST <= len(values) <= _MOST:
        return []
    ends = {int(values.argmin()), int(values.argmax())}
    everywhere = np.ones(len(values), dtype=np.bool_)
    of_all = _scatter(np.log(seconds / _curve(values, seconds, everywhere)))
    usual = _scale_as_usual(values, seconds)
    found = []
    for row in range(len(values)):
        if usual[row] or (row in ends and len(values) < _SURE):
            continue
        others = np.arange(len(values)) != row
        curve = _curve(values, seconds, others)
        errors = np.log(seconds / curve)
        scatter = max(_scatter(errors[others]), _LEAST)
        off = abs(float(errors[row]))
        least = _FACTOR_AT_END if row in ends else _FACTOR if len(values) >= _SURE else _FACTOR_OF_FEW
        if scatter < _MOST_SCATTER and off > max(least, _MULTIPLE * scatter) and of_all > 3 * scatter:
            found.append((off, row, float(curve[row])))
    return [(row, expected) for _, row, expected in sorted(found)]


def _curve(values: Floats, seconds: Floats, rows: Flags) -> Floats:
    """Return the sum of powers that fits some rows best, at all rows (n,)."""
    from scipy.optimize import nnls

    scaled = values / np.exp(np.log(values).mean())
    powers = scaled[:, None] ** np.array(_POWERS)
    design = powers[rows] / seconds[rows, None]
    size = np.linalg.norm(design, axis=0)
    factors = nnls(design / size, np.ones(int(rows.sum())))[0] / size
    return np.asarray(powers @ factors)


def _scale_as_usual(values: Floats, seconds: Floats) -> Flags:
    """Tell which rows scale as cores do, from the row before and to the next, (n,)."""
    order = np.argsort(values)
    powers = np.diff(np.log(seconds[order])) / np.diff(np.log(values[order]))
    steps = np.concatenate([[True], (powers > _USUAL[0]) & (powers < _USUAL[1]), [True]])
    usual = np.empty(len(values), dtype=np.bool_)
    usual[order] = steps[:-1] & steps[1:]
    return usual


def _scatter(errors: Floats) -> float:
    return float(np.sqrt(np.mean(errors**2)))
