"""The cost of a simulated year in core-hours (CHSY, also CHPSY) as a time: it is divided by the cores.

Node-hours are divided by the nodes.

Source: Balaji et al., "CPMIP: measurements of real computational performance of Earth system models in CMIP6",
Geosci. Model Dev. 10 (2017), 19-34: CHSY = hours for a simulated year * cores.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from evenly.errors import ReadError
from evenly.readers.tables.chsy_names import UNITS, is_chsy, is_node_hours
from evenly.readers.tables.values import Values
from evenly.runs.count_names import kind_of
from evenly.runs.units import SECONDS_PER

__all__ = ["TIME_NAME", "is_chsy", "is_node_hours", "seconds_by_chsy"]

#: The name of the time that is made of it, as a column.
TIME_NAME = "time by core-hours (s/year)"

#: Ranks or threads of a node may be fewer, or more, than its cores.
_CORES = re.compile(r"core|(?<!v)cpu|kern|c[œo]e?ur", re.IGNORECASE)


def seconds_by_chsy(values: Values, column: str) -> tuple[str, NDArray[np.float64]]:
    """Return the columns whose product is the cores, and the seconds for a simulated year of each row, (n_rows,).

    Raises
    ------
    ReadError
        If a unit of time is named, or not one column tells the cores.

    Examples
    --------
    >>> import pandas as pd
    >>> from pathlib import Path
    >>> from evenly.readers.tables.options import TableOptions
    >>> cells = pd.DataFrame({"cores": ["64", "128"], "CHSY": ["384", "448"]})
    >>> seconds_by_chsy(Values(TableOptions(), Path("a.csv"), cells, np.array([2, 3])), "CHSY")
    ('cores', array([21600., 12600.]))
    """
    unit, of_nodes = values.options.unit, is_node_hours(column)
    if unit and (of_nodes or unit.lower() not in UNITS):
        raise ReadError(
            values.path,
            f"{column!r} is {'node' if of_nodes else 'core'}-hours for a simulated year by its name, and no time in "
            f"{unit}: leave out unit= (--unit), and the time is this divided by the "
            f"{'nodes' if of_nodes else 'cores'}; or give the column another name",
        )
    if of_nodes:
        names = _nodes(values, column)
        number = np.divide(*(_numbers(values, name) for name in names)) if names[1:] else _numbers(values, names[0])
        text = f"({' / '.join(names)})" if names[1:] else names[0]
    else:
        names = _cores(values, column)
        number = np.prod([_numbers(values, name) for name in names], axis=0)
        text = f"({' * '.join(names)})" if names[1:] else names[0]
    return text, SECONDS_PER["h"] * values.numbers(column) / number


def _numbers(values: Values, name: str) -> NDArray[np.float64]:
    """Return the numbers of a column, or those that the user gives for all rows, (n_rows,)."""
    given = values.options.constants
    return np.full(len(values.cells), float(given[name])) if name in given else values.numbers(name)


def _counts(values: Values) -> dict[str, list[str]]:
    """Return the columns that count cores, nodes and so on, by what they count."""
    counts: dict[str, list[str]] = {}
    for name in dict.fromkeys([*map(str, values.cells.columns), *values.options.constants]):
        counts.setdefault(kind_of(name), []).append(name)
    return counts


def _nodes(values: Values, column: str) -> list[str]:
    """Return the column of the nodes, or that of the cores and that of the cores of a node."""
    counts = _counts(values)
    nodes, cores = counts.get("nodes", []), [*counts.get("cores", []), *counts.get("per node", [])]
    if len(nodes) == 1:
        return nodes
    if len(cores) == 2 and "cores" in counts and _CORES.search(cores[1]) and not nodes:
        return cores
    raise ReadError(
        values.path,
        f"{column!r} is node-hours for a simulated year, whose time is this divided by the nodes, but not one column "
        "tells the nodes: give them in a column called nodes, or say how many cores a node has (--constant "
        "'cores per node=48')",
    )


def _cores(values: Values, column: str) -> list[str]:
    """Return the columns whose product is the cores: the only one that tells them, or nodes and the cores of each.

    It is that of the ranks where nothing tells of their threads.
    """
    counts = _counts(values)
    found: Sequence[str] = counts.get("cores", [])
    nodes = [*counts.get("nodes", []), *counts.get("per node", [])]
    if not found and len(nodes) == 2 and "nodes" in counts and _CORES.search(nodes[1]):
        return nodes
    if not found and not {"per rank", "gpus"} & set(counts):
        found = counts.get("ranks", [])
    if len(found) != 1:
        told = f"{', '.join(map(repr, found))} may each be the cores" if found else "no column tells the cores"
        raise ReadError(
            values.path,
            f"{column!r} is core-hours for a simulated year, whose time is this divided by the cores, but {told}: "
            "give the cores in one column called cores, or those of a node in one called cores per node "
            "(--constant 'cores per node=48' says it of all rows), or the time itself in a column, as SYPD",
        )
    return [found[0]]
