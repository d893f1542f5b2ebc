"""Rows in blocks, with empty lines, comments or a header between them: two tables in a file aren't repeated runs."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from evenly.readers.tables.values import Values

__all__ = ["refuse_second_table"]

#: Repeated runs scatter in both directions. All times of another machine are so much longer, or shorter.
_SHIFTED, _ALL = 1.2, 1.1
#: So many configurations must be in both blocks, and blocks are no more.
_FEWEST, _MOST_BLOCKS = 3, 20


def refuse_second_table(
    values: Values, parameters: Sequence[str], seconds: NDArray[np.float64], failed: NDArray[np.bool_]
) -> None:
    """Refuse a block that has the configurations of an earlier one, but other times in all of them.

    Raises
    ------
    ReadError
        With the lines of both.
    """
    blocks = values.blocks
    if not 1 < len(np.unique(blocks)) <= _MOST_BLOCKS:
        return
    keys = list(zip(*(values.texts(name) for name in parameters), strict=True))
    measured = ~failed & np.isfinite(seconds) & (seconds > 0)
    times: dict[int, dict[tuple[str, ...], list[float]]] = {}
    for row in np.flatnonzero(measured):
        times.setdefault(int(blocks[row]), {}).setdefault(keys[row], []).append(float(seconds[row]))
    numbers = sorted(times)
    for place, second in enumerate(numbers):
        for first in numbers[:place]:
            both = [key for key in times[first] if key in times[second]]
            ratios = np.array([np.median(times[second][key]) / np.median(times[first][key]) for key in both])
            if len(both) < _FEWEST or not _are_shifted(ratios):
                continue
            at, where = int(np.flatnonzero(blocks == second)[0]), _lines_of(values, first)
            raise values.at(
                at,
                f"these rows have the configurations of the lines {where}, but take {np.median(ratios):.3g} times as "
                "long, as another table does: save each in a file of its own, or add a column that tells them apart; "
                "if they are repeated runs, delete the lines between them",
            )


def _are_shifted(ratios: NDArray[np.float64]) -> bool:
    longer = ratios if np.median(ratios) > 1 else 1 / ratios
    return bool(np.median(longer) > _SHIFTED and longer.min() > _ALL)


def _lines_of(values: Values, block: int) -> str:
    lines = values.lines[values.blocks == block]
    return f"{lines[0]} to {lines[-1]}"
