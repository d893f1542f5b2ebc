"""Parameters that others tell in all runs: nodes of 48 cores each beside cores, a mesh's name beside its points.

No model can tell what they do beside these others, and nobody could ask for values of all of them that fit together.
"""

from __future__ import annotations

import itertools
from collections.abc import Collection, Mapping, Sequence

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from evenly.errors import option_text
from evenly.readers.confounding import products
from evenly.readers.tables.number_texts import number
from evenly.readers.tables.roles import BY_FORMAT, NAMED, Column, only
from evenly.readers.tables.wide import names_layouts
from evenly.runs.count_names import kind_of, letters
from evenly.runs.runs import Runs
from evenly.runs.weak_scaling import WORKERS
from evenly.space.expressions import quoted
from evenly.space.parameters import Integer, Ordinal, Real
from evenly.space.space import Space

__all__ = ["without_needless"]

#: How a name is left out whose values go with those of a number.
_TIED, _ONE_BY_ONE = "tied to ", ", value by value,"
#: Names of the ranks without the one that gives them work.
_WITHOUT_MASTER = frozenset({
    "workers", "worker", "nworkers", "numworkers", "workerranks", "workerprocesses", "slaves", "slave", "nslaves",
})  # fmt: skip
#: Of more sizes, functions of others aren't looked for; logarithms that differ by less are equal.
_MOST_SIZES, _EXACT = 8, 1e-9
#: A share of each is told by so many counts, and its rounding only by numbers of this size.
_FEWEST, _LARGE = 3, 20
#: So many numbers of nodes that are the fewest to hold the cores are no chance.
_MANY_NODES = 4
#: So many runs are looked at first: in most tables, they show that parameters vary by themselves.
_FIRST = 1000
#: The logarithms of a count may be rounded so much, as a share of their range.
_ROUNDED = 0.05


def without_needless(
    runs: Mapping[str, Runs], columns: Sequence[Column]
) -> tuple[dict[str, Runs], list[Column], list[str]]:
    """Leave out parameters that others tell in all runs, and say so.

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
    >>> kept, told, notes = without_needless({"": Runs.from_frame(table, ["nodes", "cores"])}, told)
    >>> kept[""].parameters, [column.role for column in told]
    (['cores'], ['left out', 'parameter'])
    >>> notes
    ['nodes is cores / 48 in all runs, so it is left out (--parameters names both)']
    """
    named = {column.name for column in columns if column.why == NAMED}
    declared = named | {column.name for column in columns if column.why == BY_FORMAT}
    told_in = {solver: _needless(one.configurations, named, declared) for solver, one in runs.items()}
    # What isn't told by others in the runs of one solver stays in all, and so does what tells others.
    found: dict[str, str] = {}
    for name in dict.fromkeys(itertools.chain.from_iterable(told_in.values())):
        whys = {solver: told_in[solver].get(name, "") for solver, one in runs.items() if name in one.parameters}
        said = dict.fromkeys(whys.values())
        if "" in said or any(name in why for why in found.values()) or any(o in why for o in found for why in said):
            continue
        found[name] = said.popitem()[0] if len(said) == 1 else " and ".join(f"{why} ({of})" for of, why in whys.items())
    layouts = [name for name in _layouts(runs) if name not in (*found, *declared)]
    found |= dict.fromkeys(layouts, "a layout")
    kept = {solver: only(one, [name for name in one.parameters if name not in found]) for solver, one in runs.items()}
    tied = [why.removeprefix(_TIED).removesuffix(_ONE_BY_ONE) for why in found.values() if why.startswith(_TIED)]
    kept = {solver: _of_two(one, tied) for solver, one in kept.items()}
    told = [
        Column(column.name, "left out", f"{found[column.name]} in all runs", column.unit)
        if column.name in found and column.role == "parameter" else column
        for column in columns
    ]  # fmt: skip
    notes = [
        f"{name} names layouts, with one run of every solver each, so it is left out (--parameters names it)"
        if name in layouts
        else f"{name} is {why} in all runs, so it is left out ({_way(name, why)})"
        for name, why in found.items()
    ]
    return kept, told, notes


def _of_two(runs: Runs, tied: Collection[str]) -> Runs:
    """Make a number of two values, to which a name was tied, a choice of these: what lies between has no name."""
    kinds = dict(runs.space.parameters)
    for name in tied:
        kind = kinds.get(name)
        if isinstance(kind, Integer | Real) and len(values := runs.configurations[name].unique()) == 2:
            kinds[name] = Ordinal(*values.tolist(), scale=kind.scale, unit=kind.unit)
    if kinds == runs.space.parameters:
        return runs
    return Runs(
        runs.to_frame(), space=Space.of(kinds), quantities=runs.quantities, response=runs.response, days=runs.days
    )


def _layouts(runs: Mapping[str, Runs]) -> list[str]:
    """Return the labels that name layouts of several solvers, in each of which every solver has its own cores."""
    shared = [set(map(str, one.parameters)) for one in runs.values() if len(one.parameters) > 1]
    if len(runs) < 2 or len(shared) < len(runs):
        return []
    tables = [one.configurations.drop_duplicates() for one in runs.values()]
    return [
        name
        for name in sorted(set.intersection(*shared))
        if names_layouts(name) and all(len(table) == table[name].nunique() for table in tables)
    ]


def _way(name: str, why: str) -> str:
    """Return what to type for a parameter that is left out: a product of others may be the cores."""
    factors = why.split(" * ")
    named = len(factors) > 1 and not any(np.isfinite(number(factor)) for factor in factors)
    is_product = kind_of(name) in ("cores", "ranks") and named
    return option_text("--cores-are", why) if is_product else "--parameters names both"


def _needless(table: pd.DataFrame, named: Collection[str], declared: Collection[str]) -> dict[str, str]:
    """Return the parameters that others, which are kept, tell in all runs, and how.

    Counts that are `named` stay, and others that are `declared`.
    """
    found = {name: why for name, why in _counts_of_counts(table).items() if name not in named}
    for look in (_functions_of_counts, _products, _names_of_numbers, _functions_of_others):
        told = look(table.drop(columns=list(found)))
        found |= {name: why for name, why in told.items() if name not in declared}
    return found


def _counts_of_counts(table: pd.DataFrame) -> dict[str, str]:
    """Return the counts that are a fixed multiple of another, or that fill nodes."""
    counts = [
        name
        for kind in WORKERS
        for name in table.columns
        if kind_of(str(name)) == kind and table[name].dtype != object and table[name].nunique() > 1
    ]
    # Of cores and all threads, of which two may share a core, the cores stay.
    counts.sort(key=lambda name: (WORKERS.index(kind_of(str(name))), "thread" in str(name).lower()))
    found: dict[str, str] = _threads_of_all(table, counts)
    for at, name in enumerate(counts):
        for other in counts[:at]:
            with np.errstate(divide="ignore", invalid="ignore"):  # a count of GPUs may be 0
                ratios = np.unique(table[other].to_numpy(dtype=np.float64) / table[name].to_numpy(dtype=np.float64))
            if other not in found and len(ratios) == 1 and np.isfinite(ratios).all():
                found[str(name)] = _multiple(str(other), 1 / ratios[0])
                break
            if other not in found and (of_labels := _multiple_by_label(table, str(other), str(name))):
                found[str(name)] = of_labels
                break
    for name in counts:
        kind = kind_of(str(name))
        if kind not in ("nodes", "ranks") or name in found:
            continue
        if why := _quotient(table, str(name)) or (_full_nodes(table, str(name)) if kind == "nodes" else ""):
            found[str(name)] = why
    return found


def _multiple_by_label(table: pd.DataFrame, count: str, nodes: str) -> str:
    """Return which part of a count the nodes are with each label, as with each partition; "" if one doesn't tell it."""
    if kind_of(nodes) != "nodes":
        return ""
    ratios = table[count] / table[nodes]
    for label in (name for name in table.columns if table[name].dtype == object):
        groups = table[nodes].groupby([table[label], ratios])
        if ratios.groupby(table[label]).nunique().max() == 1 and groups.nunique().min() > 1:
            each = ratios.groupby(table[label]).first()
            return " and ".join(f"{_multiple(count, 1 / ratio)} ({text})" for text, ratio in each.items())
    return ""


def _multiple(name: str, factor: float) -> str:
    """Return a multiple of a count, or a part of it, in words.

    Examples
    --------
    >>> _multiple("cores", 2.0), _multiple("cores", 0.0625), _multiple("cores", 1.0)
    ('cores * 2', 'cores / 16', 'cores')
    """
    if factor == 1:
        return name
    return f"{name} * {factor:.6g}" if factor > 1 else f"{name} / {1 / factor:.6g}"


def _threads_of_all(table: pd.DataFrame, counts: Sequence[str]) -> dict[str, str]:
    """Return the threads that are a fixed multiple, or part, of the cores or nodes: of all ranks, or of one of each."""
    varied = _varied_numbers(table)
    found: dict[str, str] = {}
    for name in (name for name in varied if kind_of(name) == "per rank"):
        for other in (str(count) for count in counts if kind_of(str(count)) in ("cores", "nodes")):
            ratios = np.unique(varied[name] / np.maximum(varied[other], 1e-300))
            if len(ratios) == 1 and ratios[0] != 1 and table[name].nunique() >= _FEWEST:
                found[name] = _multiple(other, ratios[0])
    return found


def _quotient(table: pd.DataFrame, count: str) -> str:
    """Return which count by which count of each nodes, or ranks, are in all runs; "" if they are none."""
    kinds = {str(name): kind_of(str(name)) for name in table.columns if table[name].dtype != object}
    wholes, each_is = (
        ("cores", "ranks", "gpus"),
        {"nodes": ("per node", "gpus"), "ranks": ("per rank",)}[kind_of(count)],
    )
    if kind_of(count) == "ranks":  # total threads are made of ranks and threads
        kinds = {name: kind for name, kind in kinds.items() if not (kind == "cores" and "thread" in name.lower())}
    for whole in (name for name, kind in kinds.items() if kind in wholes and name != count):
        for each in (name for name, kind in kinds.items() if kind in each_is and name != whole):
            if table[each].nunique() > 1 and np.array_equal(table[whole], table[count] * table[each]):
                return f"{whole} / {each}"
    return ""


def _full_nodes(table: pd.DataFrame, nodes: str) -> str:
    """Return how many nodes the ranks and threads, or GPUs, need if no run used more than it needed; else ""."""
    kinds = {str(name): kind_of(str(name)) for name in table.columns if table[name].dtype != object}
    threads = [name for name, kind in kinds.items() if kind == "per rank"]
    for worker in (name for kind in ("cores", "ranks", "gpus") for name, its in kinds.items() if its == kind):
        for names in ([worker], [worker, *threads]) if kinds[worker] == "ranks" else ([worker],):
            made, count = table[names].prod(axis=1).to_numpy(dtype=np.float64), table[nodes].to_numpy(dtype=np.float64)
            with np.errstate(divide="ignore"):
                least, below = float((made / count).max()), float((made / (count - 1))[count > 1].min(initial=np.inf))
            # Several nodes must be full, or their numbers be many, or a node's size is a guess.
            full = np.unique(count[made == least * count])
            if least >= below:
                continue
            if len(full) < 2 and len(np.unique(count[count > 1])) >= _MANY_NODES:
                return f"just enough for {' * '.join(names)}"
            if len(full) > 1:
                rounded = ", rounded up" if (made != least * count).any() else ""
                return f"{' * '.join(names)} / {least:.6g}{rounded}"
    return ""


def _functions_of_counts(table: pd.DataFrame) -> dict[str, str]:
    """Return the columns that are a count, a count without one, its logarithm, or a share of each, in all runs."""
    numbers = _varied_numbers(table)
    counts = {name: values for name, values in numbers.items() if kind_of(name) in WORKERS}
    found: dict[str, str] = {}
    for name, values in numbers.items():
        for count, workers in counts.items():
            if name == count or name in counts or not (workers > 0).all():
                continue
            if np.array_equal(values, workers):
                found[name] = count
            elif letters(name) in _WITHOUT_MASTER and np.array_equal(values, workers - 1):
                found[name] = f"{count} - 1"
            elif "log" in name.lower() and _is_logarithm(workers, values):
                found[name] = f"a logarithm of {count}"
            elif not kind_of(name) and (whole := _shared(workers, values)):
                found[name] = f"{whole:.12g} / {count}"
    return found


def _shared(count: NDArray[np.float64], values: NDArray[np.float64]) -> float:
    """Return what is shared by a count in all runs, so that each has these values, perhaps rounded; 0 if nothing is."""
    wholes = count * values
    whole = float(wholes[np.argmin(count)])
    if len(np.unique(count)) < _FEWEST or not (values > 0).all():
        return 0.0
    exact = np.allclose(wholes, whole, rtol=_EXACT)
    rounded = bool((values == np.round(values)).all()) and bool((np.abs(whole / count - values) <= 1).all())
    return whole if exact or (rounded and values.min() >= _LARGE) else 0.0


def _is_logarithm(count: NDArray[np.float64], values: NDArray[np.float64]) -> bool:
    """Tell whether numbers are the logarithms of a count to any usual base, perhaps rounded."""
    logs = (np.log(count) / np.log(base) for base in (2, np.e, 10))
    return any(np.max(np.abs(one - values)) <= _ROUNDED * np.ptp(one) for one in logs)


def _products(table: pd.DataFrame) -> dict[str, str]:
    """Return one of three parameters of which one is the product of the two others in all runs.

    What remains can be asked for freely. Of ranks and cells, the cells of each rank go; of cores and those of a node,
    the nodes. Else the product goes.
    """
    found: dict[str, str] = {}
    for whole, parts in products(table):
        if {whole, *parts} & set(found):
            continue
        nodes = [name for name in parts if kind_of(name) == "nodes"]
        counted = [name for name in parts if kind_of(name) in WORKERS or name.lower() in ("p", "np")]
        needless = whole
        if len(parts) == 2 and len(nodes) == 1 and kind_of(whole) in WORKERS:
            needless = nodes[0]
        elif len(parts) == 2 and len(counted) == 1 and kind_of(whole) not in WORKERS:
            needless = next(name for name in parts if name not in counted)
        rest = [name for name in parts if name != needless]
        found[needless] = " * ".join(map(quoted, rest)) if needless == whole else f"{whole} / {rest[0]}"
    return found


def _names_of_numbers(table: pd.DataFrame) -> dict[str, str]:
    """Return the columns whose values go with those of another one by one, as the names of meshes with their points.

    A value must stand in several configurations, or all values of a sample would go with all others so.
    """
    codes = {str(name): pd.factorize(table[name])[0] for name in table.columns if not kind_of(str(name))}
    varied = [name for name, its in codes.items() if its.max(initial=0) > 0]
    numbers, found = _varied_numbers(table), dict[str, str]()
    for name, other in itertools.permutations(varied, 2):
        if {name, other} & set(found) or other not in numbers:
            continue
        if not all(_are_one_by_one(codes[name][rows], codes[other][rows]) for rows in (slice(_FIRST), slice(None))):
            continue
        if codes[name].max() + 1 > len(table.drop_duplicates()) / 2:
            continue
        if name not in numbers or _tells_less(numbers[name], numbers[other]):
            found[name] = f"{_TIED}{other}{_ONE_BY_ONE}"
    return found


def _are_one_by_one(one: NDArray[np.int64], other: NDArray[np.int64]) -> bool:
    pairs = len(np.unique(np.stack([one, other]), axis=1).T)
    return pairs == len(np.unique(one)) == len(np.unique(other))


def _functions_of_others(table: pd.DataFrame) -> dict[str, str]:
    """Return the sizes that are the product of powers of others in all runs, or that two or three others tell.

    Cells are ``nx * ny * nz``; the unknowns are told by the order and the elements, if each pair of these was run
    several times and always has as many. Those of the most values go.
    """
    names = [name for name in _varied_numbers(table) if not kind_of(name)]
    found: dict[str, str] = {}
    if not 3 <= len(names) <= _MOST_SIZES:
        return found
    distinct = table.drop_duplicates()
    few = distinct.head(_FIRST)
    for name in sorted(names, key=lambda one: -distinct[one].nunique()):
        others = [one for one in names if one != name and one not in found]
        for look in (_powers_of, _told_by):
            if look(few, name, others) and (told := look(distinct, name, others)):
                found[name] = f"told by {' and '.join(told)}"
                break
    return found


def _powers_of(distinct: pd.DataFrame, name: str, others: Sequence[str]) -> list[str]:
    """Return the sizes of which another is the product of powers, times a factor; [] if it isn't, or runs are few."""
    sizes = distinct[[*others, name]].drop_duplicates().to_numpy(dtype=np.float64)
    if not (sizes > 0).all():
        return []
    logs = np.log(sizes)
    design = np.column_stack([np.ones(len(logs)), logs[:, :-1]])
    rank = int(np.linalg.matrix_rank(design))
    if len(logs) < rank + 2 or rank < design.shape[1]:
        return []
    powers = np.linalg.lstsq(design, logs[:, -1], rcond=None)[0]
    if np.max(np.abs(design @ powers - logs[:, -1])) > _EXACT:
        return []
    return [one for one, power in zip(others, powers[1:], strict=True) if abs(power) > _EXACT]


def _told_by(distinct: pd.DataFrame, name: str, others: Sequence[str]) -> list[str]:
    """Return two or three parameters that tell a size: each of their combinations, run several times, has one value."""
    for many in (2, 3):
        for these in itertools.combinations(others, many):
            if not _is_told(distinct, name, these) or any(_is_told(distinct, name, [one]) for one in these):
                continue
            if distinct.groupby(list(these), sort=False).size().median() >= 2:
                return list(these)
    return []


def _is_told(table: pd.DataFrame, name: str, by: Sequence[str]) -> bool:
    """Tell whether a column has one value wherever others have the same values."""
    return bool((table.groupby(list(by), sort=False)[name].nunique() == 1).all())


def _tells_less(one: NDArray[np.float64], other: NDArray[np.float64]) -> bool:
    """Tell whether a number, as a level, rises or falls with another, as the points, which spans more."""
    return _reach(one) < _reach(other) and _rise_together(one, other)


def _varied_numbers(table: pd.DataFrame) -> dict[str, NDArray[np.float64]]:
    return {
        str(name): table[name].to_numpy(dtype=np.float64)
        for name in table.columns
        if pd.api.types.is_numeric_dtype(table[name].dtype) and table[name].nunique() > 1
    }


def _reach(values: NDArray[np.float64]) -> float:
    """Return how many times as large as the smallest of positive numbers the largest is; 0 for others."""
    return float(values.max() / values.min()) if values.min() > 0 else 0.0


def _rise_together(one: NDArray[np.float64], other: NDArray[np.float64]) -> bool:
    """Tell whether one rises, or falls, wherever the other rises."""
    steps = np.diff(one[np.argsort(other, kind="stable")])
    return bool((steps >= 0).all() or (steps <= 0).all())
