"""Reading the times of single steps, from which the variation of steps is estimated; models do not learn from them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from evenly.readers.registry import Skipped
from evenly.readers.scanning import scan
from evenly.runs.runs import Runs

__all__ = ["read_steps"]

#: Stands for the parameters of a table that has none, since it was measured at one, untold configuration.
_ANY = "configuration of the steps"


def read_steps(
    paths: Sequence[Path | str], *, time: str | None = None
) -> tuple[dict[str, NDArray[np.float64]], tuple[Skipped, ...]]:
    r"""Read the times of the steps of each solver, as `evenly.read` finds and reads files.

    Parameters
    ----------
    paths : sequence of path-like
        Files or folders. A table needs no parameters, so no count of cores.
    time : str, optional
        Column with the time, for tables whose columns don't tell.

    Returns
    -------
    steps : dict of str to array (n_steps,)
        Seconds of the steps of the longest run, by solver; ``""`` where nothing names the only one. Where no column
        numbers the steps and all rows have one configuration, all rows are steps.
    lost : tuple of Skipped
        What could not be read.

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
    found = scan(list(paths), constants={_ANY: 1}, **told)
    return {solver: _steps(runs) for solver, runs in found.runs.items()}, found.lost


def _steps(runs: Runs) -> NDArray[np.float64]:
    numbered = runs.steps()
    good = runs.ok
    if len(numbered) < 2 and len(good.configurations.drop_duplicates()) == 1:
        return good.values
    return numbered
