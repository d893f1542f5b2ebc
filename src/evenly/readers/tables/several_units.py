"""Times that leap from one number of cores to the next, as those do that were written down in several units."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from evenly.errors import ReadError, option_text
from evenly.readers.tables.columns import canonical_unit, measured
from evenly.readers.tables.roles import Column
from evenly.readers.tables.values import Values
from evenly.runs.count_names import kind_of
from evenly.runs.units import SECONDS_PER
from evenly.space.expressions import quoted, unlike

__all__ = ["refuse_several_units", "refuse_unit_of_others"]

#: More than so many times faster than by the number of cores, or slower, is no scaling: minutes are 60 seconds.
_LEAP = 10.0


def refuse_several_units(
    values: Values,
    time: str,
    parameters: Sequence[str],
    solver: str | None,
    seconds: NDArray[np.float64],
    is_measured: NDArray[np.bool_],
) -> None:
    """Refuse times that leap where nothing but one count varies: they may be in several units.

    Parameters
    ----------
    values : Values
    time : str
        Its column.
    parameters : sequence of str
        The columns of the parameters.
    solver : str or None
        The column of the solvers: each is looked at by itself.
    seconds : array (n_rows,)
    is_measured : bool array (n_rows,)
        The runs that ended well.

    Raises
    ------
    ReadError
        With the line, and the option that says that the times are right.
    """
    if values.options.time is not None or values.are_durations(time):  # these tell their units
        return
    texts = values.texts(time)
    for _, own in values.cells[is_measured].groupby(solver or (lambda _: 0), sort=False):
        varied = [name for name in parameters if own[name].nunique() > 1]
        if len(varied) != 1 or not kind_of(varied[0]) or not values.is_numeric(name := varied[0]):
            continue
        rows = own.index.to_numpy()
        counts, own_seconds = values.numbers(name)[rows], seconds[rows]
        pair = _leap(counts, own_seconds)
        if pair is None:
            continue
        (before, at), cells = (rows[place] for place in pair), values.cells[name]
        short = min(pair, key=lambda place: own_seconds[place])
        others, ended = counts != counts[short], ""
        if _leap(counts[others], own_seconds[others]) is None:
            at_others = f"{quoted(name)} != {counts[short]:.12g}"
            at_others += f" or {unlike(solver, str(own[solver].iloc[0]))}" if solver else ""
            ended = (
                f". A run of {texts[rows[short]]!r} may have ended at once, too short for its {name}: leave it out "
                f"with where= ({values.options.with_where(at_others)}). Or"
            )
        raise values.at(
            int(rows[short] if ended else at),
            f"the time is {texts[at]!r} at {name} = {cells[at]} and {texts[before]!r} at {name} = {cells[before]}, "
            f"which is no scaling{ended or ':'} the times may be in several units: write all in one, or say that they "
            f"are right with time={time!r} ({option_text('--time', time)})",
        )


def _leap(numbers: NDArray[np.float64], seconds: NDArray[np.float64]) -> tuple[int, int] | None:
    """Return the first rows before and after a leap of the times from one count to the next; None without.

    Examples
    --------
    >>> _leap(np.array([8.0, 16, 32]), np.array([1545.0, 782, 7.1])), _leap(np.array([8.0, 16]), np.array([9.0, 5]))
    ((1, 2), None)
    """
    counts = np.unique(numbers[numbers > 0])
    medians = np.array([np.median(seconds[numbers == count]) for count in counts])
    falls = medians[:-1] / medians[1:]
    leaps = np.flatnonzero((falls > _LEAP * counts[1:] / counts[:-1]) | (falls < 1 / _LEAP))
    if not len(leaps):
        return None
    before, at = (int(np.flatnonzero(numbers == counts[place])[0]) for place in (leaps[0], leaps[0] + 1))
    return before, at


def refuse_unit_of_others(files: Mapping[Path, Iterable[Column]], unit: str | None) -> None:
    """Refuse a unit that is given for all files where some of their times are in another one by their names.

    Raises
    ------
    ReadError
        With the file, and how the units of the others are told.
    """
    times = [(path, one.name) for path, columns in files.items() for one in columns if one.role == "time"]
    named = [told.unit if (told := measured(name)) is not None else "" for _, name in times]
    its = canonical_unit(unit or "")
    others = [place for place, told in enumerate(named) if told in SECONDS_PER and told != its]
    if its in SECONDS_PER and others and "" in named:
        path, name = times[others[0]]
        bare = times[named.index("")][1]
        raise ReadError(
            path,
            f"{name!r} is in {named[others[0]]} by its name, but unit={its} (--unit) holds for all files: leave it "
            f"out, and rename {bare!r} as '{bare} [{its}]'",
        )
