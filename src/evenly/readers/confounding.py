"""Parameters that were always varied together, so that no model can tell their effects apart.

In weak scaling, the problem grows with the number of ranks. A fit over such runs says nothing about more ranks for the
same problem, nor about a larger problem on the same ranks.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from evenly.errors import option_text
from evenly.runs.count_names import kind_of
from evenly.runs.runs import Runs
from evenly.runs.weak_scaling import factors_of, weak_scaling

__all__ = ["alike_at_the_top", "confounded", "products", "unlike", "unlike_runs"]

#: Of more parameters, products aren't looked for.
_MOST_SIZES = 12
#: So many runs are looked at first: in most tables, they show that there is no product.
_FIRST = 100
#: Repeated runs that differ by a larger factor are told.
_UNLIKE = 2.0
#: Of more runs of a configuration, their 10 % and 90 % quantiles are compared.
_MOST_REPEATED = 20
#: So many repeated runs are listed.
_LISTED = 5
#: Below so many seconds, equal times are likely a clock's that counts whole seconds.
_MANY_TICKS = 100


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
        workers = factors_of(first, runs.parameters)[0]
        verb, kind = ("grow", " (weak scaling)") if kind_of(workers) else ("change", "")
        for names, does, how in ((grow, f"{verb}{{}} with {first}", kind), (fall, f"fall{{}} where {first} grows", "")):
            if names:
                together = f"{' and '.join(names)} {does.format('s' * (len(names) == 1))}"
                said.append(f"{together} in all runs{how}: what either does alone can't be told")
    said += [
        f"{whole} is {' * '.join(parts)} in all runs: what it does beside them can't be told, so leave one out, as in "
        f"{option_text('--parameters', ','.join([*parts[:-1], whole]))}"
        for whole, parts in products(runs.configurations)
    ]
    return "; ".join(said)


def products(configurations: pd.DataFrame) -> list[tuple[str, list[str]]]:
    """Return the parameters that are the product of two or three others in all runs, each with these.

    Examples
    --------
    >>> products(pd.DataFrame({"p": [1, 2, 2], "n": [8, 8, 16], "N": [8, 16, 32]}))
    [('N', ['p', 'n'])]
    """
    numeric = [str(n) for n in configurations if pd.api.types.is_numeric_dtype(configurations[n].dtype)]
    varied = {n: v for n in numeric if len(np.unique(v := configurations[n].to_numpy(dtype=np.float64))) > 1}
    if len(varied) > _MOST_SIZES or len(configurations) < 3:
        return []
    found: list[tuple[str, list[str]]] = []
    for number, whole in itertools.product((2, 3), varied):
        if number == 2 or not any(whole in (one, *parts) for one, parts in found):
            others = [name for name in varied if name != whole]
            found += [
                (whole, list(parts))
                for parts in itertools.combinations(others, number)
                if _is_product(varied[whole], [varied[one] for one in parts])
            ]
    return found


def _is_product(whole: NDArray[np.float64], parts: Sequence[NDArray[np.float64]]) -> bool:
    return all(
        np.allclose(whole[rows], np.prod([one[rows] for one in parts], axis=0), rtol=1e-9)
        for rows in (slice(_FIRST), slice(None))
    )


def unlike(runs: Runs) -> str:
    """Return a sentence on the configuration whose repeated runs differ most, where they differ by a factor above 2.

    Examples
    --------
    >>> import pandas as pd
    >>> table = pd.DataFrame({"cores": [8, 8, 16], "seconds": [10.0, 31.0, 6.0]})
    >>> print(unlike(Runs.from_frame(table, ["cores"])))
    repeated runs differ by up to 3.1 times (cores = 8: 10, 31 s, median 20.5 s): something else was varied, or varies
    by itself
    """
    found = unlike_runs(runs)
    if not found:
        return ""
    where, ratio = next(iter(found.items()))
    return f"repeated runs differ by up to {ratio:.2g} times ({where}): something else was varied, or varies by itself"


def unlike_runs(runs: Runs) -> dict[str, float]:
    """Return the configurations whose repeated runs differ by a factor above 2, with their values; the widest first.

    Examples
    --------
    >>> import pandas as pd
    >>> table = pd.DataFrame({"cores": [8, 8, 8, 16], "seconds": [10.0, 310.0, 12.0, 6.0]})
    >>> unlike_runs(Runs.from_frame(table, ["cores"]))
    {'cores = 8: 10, 12, 310 s, median 12 s': 31.0}
    """
    groups = runs.ok.to_frame().groupby(runs.parameters, sort=False, observed=True)[runs.response]
    found = groups.agg(["min", "max", "count"])
    often = found.index[found["count"] > _MOST_REPEATED]
    if len(often):  # a few odd ones among many say little
        many = groups.quantile(np.array([0.1, 0.9])).unstack().loc[often]
        found.loc[often, ["min", "max"]] = many.to_numpy()
    found = found[(found["count"] > 1) & (found["min"] > 0)]
    ratio = (found["max"] / found["min"]).sort_values(ascending=False, kind="stable")
    ratio = ratio[ratio > _UNLIKE]
    if not len(ratio):
        return {}
    unit, medians, all_values = (
        runs.quantities[runs.response],
        groups.median().to_dict(),
        groups.apply(sorted).to_dict(),
    )
    ends = dict(zip(found.index, zip(found["min"], found["max"], strict=True), strict=True))
    return {
        f"{_named(runs.parameters, at)}: {_listed(all_values[at], ends[at])} {unit}, median {medians[at]:g} {unit}": one
        for at, one in ratio.to_dict().items()
    }


def _named(parameters: Sequence[str], values: object) -> str:
    known = values if isinstance(values, tuple) else (values,)
    return ", ".join(f"{name} = {value}" for name, value in zip(parameters, known, strict=True))


def _listed(values: Sequence[float], ends: tuple[float, float]) -> str:
    """Return values in ascending order, or, of many, the ends between which they, or most of them, lie."""
    if len(values) <= _LISTED:
        return ", ".join(f"{value:g}" for value in values)
    return f"{'most ' * (len(values) > _MOST_REPEATED)}{ends[0]:g} … {ends[1]:g}"


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
