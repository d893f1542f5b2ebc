"""A column of work, as ``steps``, that is another in one configuration only: nothing can be learned about it."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from evenly.errors import option_text
from evenly.readers.tables.per_work import is_label_of_work
from evenly.readers.tables.roles import words_of
from evenly.readers.tables.values import Values
from evenly.readers.tables.works import works_in
from evenly.space.expressions import quoted

__all__ = ["counts_work", "days_in", "refuse_lone_work", "work_counted"]

#: Beside the works that a time may be of.
_WORKS = frozenset({"iterations", "iters", "its", "cycles", "epochs", "timesteps", "zyklen", "schritte"})
#: What may stand beside it.
_BESIDE = frozenset({
    "n", "nr", "no", "num", "number", "of", "anzahl", "sim", "model", "time", "total", "coupling", "",
})  # fmt: skip
#: Several days, months or years, in languages whose plurals end in no s.
_SEVERAL = re.compile(r"(?:tag|monat|jahr)en?|giorni|mesi|anni")
#: So many configurations with the usual value tell that it is one.
_FEWEST = 3


def counts_work(name: str) -> bool:
    """Tell whether a name is that of a number of steps, days or other works.

    Examples
    --------
    >>> [counts_work(name) for name in ("steps", "n_steps", "nsteps", "simulated days", "iterations", "time steps")]
    [True, True, True, True, True, True]
    >>> [counts_work(name) for name in ("cells", "time", "step size", "cores")]
    [False, False, False, False]
    """
    return work_counted(name) != ""


def work_counted(name: str) -> str:
    """Return the work of which a name is that of a number, as it is written; "" if it is none.

    Examples
    --------
    >>> work_counted("simulated_days"), work_counted("n_steps"), work_counted("ndays"), work_counted("cores")
    ('days', 'steps', 'days', '')
    >>> work_counted("simulierte Tage"), work_counted("jours simulés"), work_counted("Tag")
    ('tage', 'jours', '')
    """
    left = {word for word in words_of(name) - _BESIDE if not word.startswith("simul")}
    word = next(iter(left)) if len(left) == 1 else ""
    may_be = (word, word.removeprefix("n"))
    return next((one for one in may_be if one in _WORKS or _SEVERAL.fullmatch(one) or _are_works(one)), "")


def _are_works(word: str) -> bool:
    return word.endswith("s") and is_label_of_work(word)


def days_in(name: str, value: object) -> float | None:
    """Return the simulated days that a value in a column that counts them stands for; None if it counts none.

    Examples
    --------
    >>> days_in("sim_months", "12"), days_in("days", 30.0), days_in("steps", 30), days_in("cores", 30)
    (365.0, 30.0, None, None)
    """
    number = f"{value:g}" if isinstance(value, int | float | np.number) else str(value)
    works = works_in(f"{number} {work}") if (work := work_counted(name)) else []
    return works[0].count if works and works[0].unit == "days" else None


def refuse_lone_work(
    values: Values, parameters: Sequence[str], solver: str | None, measured: NDArray[np.bool_]
) -> None:
    """Refuse a number of steps that is one in all configurations of a solver but one.

    Parameters
    ----------
    values : Values
    parameters : sequence of str
        Their columns.
    solver : str or None
        The column of the solvers.
    measured : bool array (n_rows,)
        The runs that ended well.

    Raises
    ------
    ReadError
        With the line, and the condition that leaves the run out.
    """
    if len(parameters) < 2:
        return
    for work in (name for name in parameters if counts_work(name) and values.is_numeric(name)):
        told = values.cells[measured].assign(**{work: values.numbers(work)[measured]})
        for _, own in told.groupby(solver or (lambda _: 0), sort=False):
            counted = list(own.drop_duplicates(list(parameters))[work].value_counts().items())
            if not counted:  # blank for this solver
                continue
            usual, *others = counted
            if len(others) != 1 or others[0][1] != 1 or usual[1] < _FEWEST:
                continue
            row = int(own.index[own[work] == others[0][0]][0])
            raise values.at(
                row,
                f"{work!r} is {others[0][0]:g} here and {usual[0]:g} in all other configurations, so nothing can be "
                "learned about it: leave the run out with where= "
                f"({values.options.with_where(f'{quoted(work)} == {usual[0]:g}')}), or learn from all with parameters= "
                f"({option_text('--parameters', ','.join(parameters))})",
            )
