"""Reading the times of single time steps. They serve to estimate the variation of steps; models do not use them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from evenly.errors import InputError, ReadError
from evenly.readers.registry import Skipped
from evenly.readers.scanning import scan
from evenly.runs.runs import Runs

__all__ = ["read_steps"]

#: The name of an artificial constant parameter, for tables that were measured at a single configuration.
_ANY = "configuration of the steps"


def read_steps(
    paths: Sequence[Path | str], *, time: str | None = None
) -> tuple[dict[str, NDArray[np.float64]], tuple[Skipped, ...]]:
    r"""Read the time of each step for each solver, from files in any format of `evenly.read`.

    Parameters
    ----------
    paths : sequence of path-like
        Files or folders. A table may lack parameters, such as the number of cores.
    time : str, optional
        The column with the time, for tables in which no column name reveals it.

    Returns
    -------
    steps : dict of str to array (n_steps,)
        For each solver, the seconds of each step of its longest run. The key is ``""`` if no file names the solver. If
        no run has two rows and all rows have one configuration, each row is a step.
    lost : tuple of Skipped
        The files that could not be read.

    Raises
    ------
    ReadError
        If nothing could be read.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "ocean.csv"
    >>> _ = path.write_text("step,seconds\n1,0.2\n2,0.3\n")
    >>> read_steps([path])
    ({'': array([0.2, 0.3])}, ())
    """
    told = {} if time is None else {"time": time}
    try:
        found = scan(list(paths), constants={_ANY: 1}, **told)
    except ReadError:
        raise
    except InputError:  # formats of programs take no constants
        found = scan(list(paths), **told)
    return {solver: _steps(runs) for solver, runs in found.runs.items()}, found.lost


def _steps(runs: Runs) -> NDArray[np.float64]:
    numbered = runs.steps()
    good = runs.ok
    if len(numbered) < 2 and len(good.configurations.drop_duplicates()) == 1:
        return good.values
    return numbered
