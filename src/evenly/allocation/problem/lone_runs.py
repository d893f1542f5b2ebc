"""A whole coupled run that is far off the others, such as a mistyped time or a disturbed run: named, never left out.

Few runs tell the solvers' times only roughly, but most runs are explained together, to a few per cent. So each run that
isn't explained together with all is left out in turn, and what the others tell is compared with it. It is far off if
the others agree, it doesn't, and nothing explains all.

A run that alone waited for a solver is explained by this solver's time, so it isn't far off.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np
from numpy.typing import NDArray

from evenly.errors import InputError

__all__ = ["LoneRunError", "check_no_lone_run", "lone_runs"]

Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]

#: Least factor, in logs, by which a run is far off, and how many times as far as the others scatter.
_FACTOR, _MULTIPLE = float(np.log(2.0)), 5.0
#: Others scatter by so much at least, and agree up to so much, in logs.
_LEAST, _MOST = 0.07, 0.2
#: So many runs, those that are explained worst, are left out in turn.
_TRIED = 6


class LoneRunError(InputError):
    """A run is far off the others; `rows` tells which it may be."""

    def __init__(self, message: str, rows: tuple[int, ...]) -> None:
        super().__init__(message)
        self.rows = rows


def lone_runs(measured: Floats, fitted: Callable[[Flags], Floats]) -> list[tuple[int, float]]:
    """Return the run that is far off all others, and by which factor; [] if none is.

    They are several if the others don't tell which of them is wrong.

    Parameters
    ----------
    measured : array (n_runs,)
        Logarithms of times.
    fitted : callable
        From the runs that count, (n_runs,) of bool, to the logarithms that these tell of all, (n_runs,).

    Examples
    --------
    >>> apart = np.log([1.1, 11.0, 1.2, 1.1])
    >>> [(row, round(by, 1)) for row, by in lone_runs(apart, lambda rows: np.full(4, np.median(apart[rows])))]
    [(1, 10.0)]
    >>> lone_runs(apart[[0, 2, 3]], lambda rows: np.full(3, np.median(apart[[0, 2, 3]][rows])))
    []
    """
    everywhere = np.ones(len(measured), dtype=np.bool_)
    of_all = np.abs(measured - fitted(everywhere))
    if len(measured) < 2 or of_all.max() < _LEAST * _MULTIPLE / 2:
        return []
    found = []
    for row in np.argsort(-of_all)[:_TRIED].tolist():
        others = everywhere.copy()
        others[row] = False
        errors = measured - fitted(others)
        scatter = max(float(np.sqrt(np.mean(errors[others] ** 2))), _LEAST)
        far = abs(float(errors[row])) > max(_FACTOR, _MULTIPLE * scatter)
        if far and scatter < _MOST and of_all.max() > _MULTIPLE / 2 * scatter:
            found.append((row, float(np.exp(errors[row]))))
    return found


def check_no_lone_run(
    cores: Mapping[str, NDArray[np.int64]], measured: Floats, fitted: Callable[[Flags], Floats]
) -> None:
    """Refuse runs of which one is far off the others; `cores` of each solver, (n_runs,), name it.

    Raises
    ------
    LoneRunError
        With what settles it.
    """
    found = lone_runs(measured, fitted)
    if not found:
        return
    told = [
        f"that with {', '.join(f'{name} {counts[row]}' for name, counts in cores.items())} took "
        f"{f'{by:.2g} times as long as' if by > 1 else f'1/{1 / by:.2g} of the time that'} they tell"
        for row, by in found
    ]
    which = "a coupled run is" if len(found) == 1 else "one of these coupled runs is"
    raise LoneRunError(
        f"{which} far off the others: {'; or '.join(told)}. Correct it, or leave its row out; if it is right, "
        '--outliers keep says so (CoupledRuns(…, outliers="keep"))',
        tuple(row for row, _ in found),
    )
