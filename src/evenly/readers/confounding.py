"""Parameters that were always varied together, so that no model can tell their effects apart.

In weak scaling, the problem grows with the number of ranks. A fit over such runs says nothing about more ranks for the
same problem, nor about a larger problem on the same ranks.
"""

from __future__ import annotations

import numpy as np

from evenly.runs.runs import Runs

__all__ = ["confounded"]

#: Parameters that say how many work together; the others are sizes of the problem.
_WORKERS = ("ranks", "nodes", "cores")


def confounded(runs: Runs) -> str:
    """Return a sentence on the sizes that grow with the ranks in all runs; "" if there is none.

    Examples
    --------
    >>> import pandas as pd
    >>> table = pd.DataFrame({"ranks": [1, 4, 8], "atoms": [32, 128, 256], "seconds": [2.2, 2.5, 2.6]})
    >>> confounded(Runs.from_frame(table, ["ranks", "atoms"]))
    "atoms grows with ranks in all runs (weak scaling): what either does alone can't be told"
    >>> confounded(Runs.from_frame(table.assign(atoms=32), ["ranks", "atoms"]))
    ''
    """
    table = runs.configurations.drop_duplicates()
    workers = next((name for name in _WORKERS if name in table and table[name].nunique() > 1), None)
    if workers is None:
        return ""
    ordered = table.sort_values(workers)
    grown = []
    for name in table.columns:
        if name in (*_WORKERS, "threads") or ordered[name].dtype == object:
            continue
        pairs = ordered[[workers, name]].drop_duplicates().to_numpy(dtype=np.float64)
        if (np.diff(pairs, axis=0) > 0).all():
            grown.append(str(name))
    if not grown:
        return ""
    verb = "grows" if len(grown) == 1 else "grow"
    return (
        f"{' and '.join(grown)} {verb} with {workers} in all runs (weak scaling): what either does alone can't be told"
    )
