"""Columns of products: ``MPI x OMP`` with ``8x4`` are two parameters, ``grid`` with ``64x64x64`` a number of points.

So is ``layout`` with ``2x4x4`` a number of processes, unless two layouts have as many.
"""

from __future__ import annotations

import math
import re
from collections.abc import Collection

import pandas as pd

from evenly.readers.tables.roles import words_of

__all__ = ["PRODUCT", "with_factors"]

_SIGN = re.compile(r"\s*[x×*]\s*", re.IGNORECASE)
#: 64x64x64.
PRODUCT = re.compile(r"\d+(?:\s*[x×*]\s*\d+)+", re.IGNORECASE)
#: (64, 64, 64), as Python and Julia print it.
_TUPLE = re.compile(r"\(\d+(?:, *\d+)+,?\)")
#: Between the words of a name, an x stands alone.
_IN_BRACKETS = re.compile(r"[^(\[]*[(\[]\s*([^)\]]+?)\s*[)\]]")
#: Words of what has a number of points, whichever way these lie.
_SIZES = frozenset({
    "grid", "mesh", "domain", "size", "cells", "points", "resolution", "problem", "lattice", "box", "gitter", "netz",
    "maillage", "grille", "malla", "griglia",
})  # fmt: skip
#: Words of what a domain is cut into, and those of what each process has of it.
_PROCESSES = frozenset({
    "process", "processes", "proc", "procs", "processor", "processors", "rank", "ranks", "mpi", "layout", "topology",
    "decomposition", "decomp", "partitioning", "pgrid", "procgrid",
})  # fmt: skip
_OTHERS = frozenset({
    "block", "blocks", "tile", "tiles", "thread", "threads", "chunk", "chunks", "omp", "mp", "smt", "hybrid",
})  # fmt: skip
_BETWEEN = re.compile(r"\s*[×*]\s*|\s+[xX]\s+")


def with_factors(
    cells: pd.DataFrame, asked: Collection[str], labels: Collection[str] = ()
) -> tuple[pd.DataFrame, tuple[str, ...]]:
    """Return the cells with a column for each factor in place of such a column, and a note on it.

    Parameters
    ----------
    cells : DataFrame (n_rows, n_columns)
        Stripped text.
    asked : collection of str
        Columns that the user names, which aren't split into factors.
    labels : collection of str
        Columns that hold labels by the user, which stay as they are.

    Examples
    --------
    >>> cells = pd.DataFrame({"MPI x OMP": ["8x1", "8x4"], "time_s": ["9", "3"]}, dtype=object)
    >>> split, notes = with_factors(cells, ())
    >>> split.to_dict("list")
    {'MPI': ['8', '8'], 'OMP': ['1', '4'], 'time_s': ['9', '3']}
    >>> notes
    ("'MPI x OMP' is read as 'MPI' and 'OMP'",)
    """
    notes: list[str] = []
    found: dict[str, pd.Series[str]] = {}
    for column, its in cells.items():
        name = str(column)
        inner = _IN_BRACKETS.fullmatch(name.strip())  # Layout (nodes x tasks)
        words = _BETWEEN.split(inner[1] if inner else name.strip())
        factors = [_factors(cell) for cell in its]
        alike = len(its) > 2 and all(len(one) == len(factors[0]) > 1 for one in factors)
        what = "processes" if words_of(name) & _PROCESSES else "points" if words_of(name) & _SIZES else ""
        counts = alike and what and len(words) < 2 and not words_of(name) & _OTHERS and name not in labels
        products = [math.prod(map(int, one)) for one in factors] if counts else []
        if len(set(products)) == its.nunique() > 1:
            found[name] = pd.Series(list(map(str, products)), index=cells.index, dtype=object)
            notes.append(f"{name!r} is read as the number of {what}, {its.iloc[0]} as {products[0]:,}")
            continue
        if len(words) < 2 and alike:
            notes.append(
                f"{name!r} holds products, which are labels; its factors are read if it is called 'a x b', say"
            )
        fits = len(words) > 1 and len(its) > 0 and all(len(one) == len(words) for one in factors)
        free = name not in asked and not set(words) & {*map(str, cells.columns), *found, ""}
        if not (fits and free and len(set(words)) == len(words)):
            found[name] = its
            continue
        for place, word in enumerate(words):
            found[word] = pd.Series([one[place] for one in factors], index=cells.index, dtype=object)
        notes.append(f"{name!r} is read as {' and '.join(map(repr, words))}")
    return pd.DataFrame(found, dtype=object, index=cells.index), tuple(notes)


def _factors(cell: str) -> list[str]:
    """Return the factors of ``8x4`` or ``(8, 4)``; none of anything else.

    Examples
    --------
    >>> _factors("8 x 4"), _factors("(8, 4)"), _factors("8.5")
    (['8', '4'], ['8', '4'], [])
    """
    if _TUPLE.fullmatch(cell):
        return re.findall(r"\d+", cell)
    return _SIGN.split(cell) if PRODUCT.fullmatch(cell) else []
