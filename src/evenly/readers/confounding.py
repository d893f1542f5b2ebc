"""Parameters that were always varied together, so that no model can tell their effects apart.

In weak scaling, the problem grows with the number of ranks. A fit over such runs says nothing about more ranks for the
same problem, nor about a larger problem on the same ranks. Where every node had the same number of ranks, nodes and
ranks are one parameter.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd

from evenly.readers.tables.roles import NAMED, Column, only
from evenly.runs.count_names import kind_of, letters
from evenly.runs.runs import Runs
from evenly.runs.weak_scaling import WORKERS, weak_scaling

__all__ = ["alike_at_the_top", "confounded", "unlike", "without_multiples"]

#: Names of the ranks without the one that gives them work.
_WITHOUT_MASTER = frozenset({
    "workers", "worker", "nworkers", "numworkers", "workerranks", "workerprocesses", "slaves", "slave", "nslaves",
})  # fmt: skip
#: Of more parameters, products aren't looked for.
_MOST_SIZES = 12
#: So many runs are looked at first: in most tables, they show that there is no product.
_FIRST = 100
#: Repeated runs that differ by a larger factor are told.
_UNLIKE = 2.0
#: Of more runs of a configuration, their 10 % and 90 % quantiles are compared.
_MOST_REPEATED = 20
#: Below so many seconds, equal times are likely a clock's that counts whole seconds.
_MANY_TICKS = 100


def without_multiples(
    runs: Mapping[str, Runs], columns: Sequence[Column]
) -> tuple[dict[str, Runs], list[Column], list[str]]:
    """Leave out counts that are a fixed multiple of another count in all runs, and say so.

    Of nodes with 48 cores each, the time can't be told to depend on the nodes and not on the cores. Columns that the
    user named as parameters stay.

    Parameters
    ----------
    runs : mapping of str to Runs
    columns : sequence of Column
        The roles of their columns.

    Returns
    -------
    runs, columns, notes

    Examples
    --------
    >>> import pandas as pd
    >>> table = pd.DataFrame({"nodes": [1, 2], "cores": [48, 96], "seconds": [8.0, 4.0]})
    >>> told = [Column("nodes", "parameter", ""), Column("cores", "parameter", "")]
    >>> kept, told, notes = without_multiples({"": Runs.from_frame(table, ["nodes", "cores"])}, told)
    >>> kept[""].parameters, [column.role for column in told]
    (['cores'], ['left out', 'parameter'])
    >>> notes
    ['nodes is cores / 48 in all runs, so it is left out (--parameters names both)']
    """
    named = {column.name for column in columns if column.why == NAMED}
    found: dict[str, str] = {}
    for one in runs.values():
        found |= {name: why for name, why in _multiples(one).items() if name not in named}
    # What is no multiple in the runs of one solver stays in all.
    found = {
        name: why
        for name, why in found.items()
        if all(_multiples(one).get(name) == why for one in runs.values() if name in one.parameters)
    }
    kept = {solver: only(one, [name for name in one.parameters if name not in found]) for solver, one in runs.items()}
    told = [
        Column(column.name, "left out", f"{found[column.name]} in all runs", column.unit)
        if column.name in found and column.role == "parameter" else column
        for column in columns
    ]  # fmt: skip
    notes = [f"{name} is {why} in all runs, so it is left out (--parameters names both)" for name, why in found.items()]
    return kept, told, notes


def _multiples(runs: Runs) -> dict[str, str]:
    """Return the counts that are a fixed multiple of a count that is kept, and of which."""
    table = runs.configurations
    counts = [
        name
        for kind in WORKERS
        for name in table.columns
        if kind_of(str(name)) == kind and table[name].dtype != object and table[name].nunique() > 1
    ]
    found: dict[str, str] = {}
    for number, name in enumerate(counts):
        for other in counts[:number]:
            with np.errstate(divide="ignore", invalid="ignore"):  # a count of GPUs may be 0
                ratios = np.unique(table[other].to_numpy(dtype=np.float64) / table[name].to_numpy(dtype=np.float64))
            if other not in found and len(ratios) == 1 and np.isfinite(ratios).all():
                found[str(name)] = str(other) if ratios[0] == 1 else f"{other} / {ratios[0]:.6g}"
                break
    for name in (name for name in table.columns if name not in found and letters(str(name)) in _WITHOUT_MASTER):
        for other in (other for other in counts if other != name and other not in found):
            if table[name].dtype != object and np.array_equal(table[name], table[other] - 1):
                found[str(name)] = f"{other} - 1"
    for name in counts:
        kind = kind_of(str(name))
        if kind not in ("nodes", "ranks") or name in found:
            continue
        if why := _quotient(table, str(name)) or (_full_nodes(table, str(name)) if kind == "nodes" else ""):
            found[str(name)] = why
    return found


def _quotient(table: pd.DataFrame, count: str) -> str:
    """Return which count by which count of each nodes, or ranks, are in all runs; "" if they are none."""
    kinds = {str(name): kind_of(str(name)) for name in table.columns if table[name].dtype != object}
    wholes, each_is = (
        ("cores", "ranks", "gpus"),
        {"nodes": ("per node", "gpus"), "ranks": ("per rank",)}[kind_of(count)],
    )
    for whole in (name for name, kind in kinds.items() if kind in wholes and name != count):
        for each in (name for name, kind in kinds.items() if kind in each_is and name != whole):
            if table[each].nunique() > 1 and np.array_equal(table[whole], table[count] * table[each]):
                return f"{whole} / {each}"
    return ""


def _full_nodes(table: pd.DataFrame, nodes: str) -> str:
    """Return how many nodes are needed for the ranks and threads, if no run used more than it needed; else ""."""
    kinds = {str(name): kind_of(str(name)) for name in table.columns if table[name].dtype != object}
    threads = [name for name, kind in kinds.items() if kind == "per rank"]
    for worker in (name for kind in ("cores", "ranks") for name, its in kinds.items() if its == kind):
        for names in ([worker], [worker, *threads]) if kinds[worker] == "ranks" else ([worker],):
            made, count = table[names].prod(axis=1).to_numpy(dtype=np.float64), table[nodes].to_numpy(dtype=np.float64)
            with np.errstate(divide="ignore"):
                least, below = float((made / count).max()), float((made / (count - 1))[count > 1].min(initial=np.inf))
            # Several nodes must be full, or a node's size is a guess.
            full = np.unique(count[made == least * count])
            if least < below and len(full) > 1:
                return f"{' * '.join(names)} / {least:.6g}, rounded up"
    return ""


def confounded(runs: Runs) -> str:
    """Return a sentence on the sizes that grow with the ranks in all runs, or threads that fall; "" if there are none.

    Examples
    --------
    >>> import pandas as pd
    >>> table = pd.DataFrame({"ranks": [1, 4, 8], "atoms": [32, 128, 256], "seconds": [2.2, 2.5, 2.6]})
    >>> confounded(Runs.from_frame(table, ["ranks", "atoms"]))
    "atoms grows with ranks in all runs (weak scaling): what either does alone can't be told"
    >>> confounded(Runs.from_frame(table.assign(atoms=32), ["ranks", "atoms"]))
    ''
    >>> both = pd.DataFrame({"p": [1, 2, 2], "n": [8, 8, 16], "N": [8, 16, 32], "seconds": [2.2, 2.5, 4.6]})
    >>> confounded(Runs.from_frame(both, ["p", "n", "N"])).split(":")[0]
    'N is p * n in all runs'
    """
    said = []
    for first, sizes in weak_scaling(runs.configurations).items():
        fall = [name for name in sizes if kind_of(name)]
        grow = [name for name in sizes if name not in fall]
        verb, kind = ("grow", " (weak scaling)") if kind_of(first) else ("change", "")
        for names, does, how in ((grow, f"{verb}{{}} with {first}", kind), (fall, f"fall{{}} where {first} grows", "")):
            if names:
                together = f"{' and '.join(names)} {does.format('s' * (len(names) == 1))}"
                said.append(f"{together} in all runs{how}: what either does alone can't be told")
    return "; ".join([*said, *_products(runs.configurations)])


def _products(configurations: pd.DataFrame) -> list[str]:
    """Return sentences on sizes that are the product of two others in all runs, as cells in all and for each rank."""
    numeric = [str(n) for n in configurations if pd.api.types.is_numeric_dtype(configurations[n].dtype)]
    varied = {n: v for n in numeric if len(np.unique(v := configurations[n].to_numpy(dtype=np.float64))) > 1}
    said = []
    for whole in varied if len(varied) <= _MOST_SIZES else ():
        for one, other in itertools.combinations([name for name in varied if name != whole], 2):
            if len(configurations) > 2 and all(
                np.allclose(varied[whole][rows], varied[one][rows] * varied[other][rows], rtol=1e-9)
                for rows in (slice(_FIRST), slice(None))
            ):
                said.append(
                    f"{whole} is {one} * {other} in all runs: what it does beside them can't be told, so name two of "
                    f"the three, as in --parameters {one},{whole}"
                )
    return said


def unlike(runs: Runs) -> str:
    """Return a sentence on the configuration whose repeated runs differ most, where they differ by a factor above 2.

    Examples
    --------
    >>> import pandas as pd
    >>> table = pd.DataFrame({"cores": [8, 8, 16], "seconds": [10.0, 31.0, 6.0]})
    >>> unlike(Runs.from_frame(table, ["cores"]))
    'repeated runs differ by up to 3.1 times (cores = 8): something else was varied, or varies by itself'
    """
    good = runs.ok
    groups = good.to_frame().groupby(runs.parameters, sort=False, observed=True)[runs.response]
    found = groups.agg(["min", "max", "count"])
    often = found.index[found["count"] > _MOST_REPEATED]
    if len(often):  # a few odd ones among many say little
        many = groups.quantile(np.array([0.1, 0.9])).unstack().loc[often]
        found.loc[often, ["min", "max"]] = many.to_numpy()
    found = found[(found["count"] > 1) & (found["min"] > 0)]
    ratio = found["max"] / found["min"]
    if not len(ratio) or ratio.max() <= _UNLIKE:
        return ""
    where = ratio.idxmax()
    values = where if isinstance(where, tuple) else (where,)
    told = ", ".join(f"{name} = {value}" for name, value in zip(runs.parameters, values, strict=True))
    far = f"repeated runs differ by up to {ratio.max():.2g} times ({told})"
    return f"{far}: something else was varied, or varies by itself"


def alike_at_the_top(runs: Runs) -> str:
    """Return a sentence on configurations that all took the same longest time, as if a limit had ended their runs.

    Examples
    --------
    >>> import pandas as pd
    >>> table = pd.DataFrame({"cores": [1, 2, 4, 8], "seconds": [3600.0, 3600.0, 2550.0, 1300.0]})
    >>> print(alike_at_the_top(Runs.from_frame(table, ["cores"])))
    the longest time, 3600 s, is that of 2 configurations: if a limit ended these runs, give them the status "timed out"
    """
    good = runs.ok
    if good.response != "seconds" or not len(good):
        return ""
    seconds = good.values
    longest = float(seconds.max())
    count = len(good.configurations[seconds == longest].drop_duplicates())
    others, repeated = np.unique(seconds[seconds < longest], return_counts=True)
    # A coarse clock gives many runs the same time; a limit is a whole number of minutes, or ends more than two runs.
    by_chance = longest < _MANY_TICKS or len(others) < 2 or repeated.max() >= count
    if count < 2 or by_chance or (count == 2 and longest % 60):
        return ""
    return (
        f"the longest time, {longest:g} s, is that of {count} configurations: if a limit ended these runs, give them "
        'the status "timed out"'
    )
