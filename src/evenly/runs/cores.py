"""Which parameters are the cores of a run: what the user says, or what a name says unmistakably; never a guess.

Core-hours and assignments are wrong by any factor where another parameter is taken as the cores. So `find_cores` takes
a parameter only if its name leaves no doubt, says so where it took ranks, and asks otherwise.

>>> from evenly import Integer, Space
>>> find_cores(Space(cores=Integer(1, 64), grid=Integer(10, 100))).text
'cores'
>>> find_cores(Space(nodes=Integer(1, 8), tasks_per_node=Integer(24, 48)))
Traceback (most recent call last):
evenly.errors.InputError: which of nodes, tasks_per_node are the cores is open: say it with --cores-are
'nodes * tasks_per_node' (cores_are='nodes * tasks_per_node')
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from evenly.errors import InputError, did_you_mean, option_text
from evenly.runs.count_names import COUNT_KINDS, cores_of_each, factor_of, kind_of_parameter, was_requested
from evenly.space.expressions import Expression, quoted
from evenly.space.parameters import Categorical, Parameter
from evenly.space.ranges import ends
from evenly.space.space import Space

__all__ = ["Cores", "constants", "find_cores"]

Ints = NDArray[np.int64]

#: Names of the processes along one axis: px, npcol, grid_tiles_x.
_AXIS = re.compile(
    r"(?:n?p(?:roc)?s?_?|\w*(?:tiles?|procs?|ranks?|parts?|splits?|decomp\w*|dims?)_?)(?:[xyzrcijk]|rows?|cols?)"
)
#: HPL's grid of processes.
_HPL = frozenset("pq")
#: What stands for the cores of a node in a proposal.
_PER_NODE = 48
#: So many values of threads that grow as the ranks do are no chance.
_FEWEST_TIED = 3


@dataclass(frozen=True)
class Cores:
    """The cores of a configuration, as an expression of its parameters.

    Parameters
    ----------
    text : str
        The expression, ``"nodes * tasks_per_node"``.
    said : str
        What was assumed, for the first line of the output; "" if nothing was.
    """

    text: str
    said: str = ""

    @cached_property
    def expression(self) -> Expression:
        """The expression, to evaluate."""
        return Expression(self.text)

    @property
    def names(self) -> tuple[str, ...]:
        """The parameters that it needs, in alphabetical order."""
        return tuple(sorted(self.expression.names))

    @property
    def is_one_parameter(self) -> bool:
        """Whether the cores are a parameter as it is."""
        return len(self.names) == 1 and self.text.strip(" `") == self.names[0]

    def of(self, table: Mapping[str, Any] | pd.DataFrame, n: int) -> NDArray[np.float64]:
        """Return the cores of `n` configurations, shape (n,); NaN where it is no whole number of at least 1.

        Examples
        --------
        >>> Cores("ranks / 2").of({"ranks": [4, 3]}, 2)
        array([ 2., nan])
        """
        found = np.array(np.broadcast_to(self.expression(table), (n,)), dtype=np.float64)
        return np.where((found >= 1) & (found == np.floor(found)) & np.isfinite(found), found, np.nan)


def find_cores(space: Space, cores_are: str | None = None, *, measured: pd.DataFrame | None = None) -> Cores:
    """Return what the cores are: `cores_are`, else what the names of the parameters say unmistakably.

    Taken are the only parameter whose name says cores, without nodes beside it of which it could be the cores; or the
    only one that says ranks, without nodes, threads, cores per rank, ranks per node or GPUs that vary.

    Parameters
    ----------
    space : Space
        The parameters, with the range of the measurements.
    cores_are : str, optional
        An expression of parameters.
    measured : DataFrame (n_runs, n_parameters), optional
        The measured configurations: they tell whether cores beside nodes are those of all nodes.

    Raises
    ------
    InputError
        If it is open which parameters are the cores, or `cores_are` names what is no parameter.
    """
    names = list(space.names)
    if cores_are is not None:
        return _checked(Cores(cores_are), space)
    for name in names:
        kind = space.parameters[name]
        if kind_of_parameter(name) in ("cores", "ranks") and name.lower() != "mpi" and isinstance(kind, Categorical):
            raise InputError(
                f"{name!r} counts cores by its name, but holds labels such as {kind.options[0]!r}: write numbers"
            )
    numbers = [name for name in names if not isinstance(space.parameters[name], Categorical)]
    by_kind: dict[str, list[str]] = {kind: [n for n in numbers if kind_of_parameter(n) == kind] for kind in COUNT_KINDS}
    cores, ranks, nodes = by_kind["cores"], by_kind["ranks"], by_kind["nodes"]
    _refuse_tied_threads(measured, ranks, by_kind["per rank"])
    if len(cores) == 1 and all(_is_one(space.parameters[n]) or _of_all(measured, cores[0], n) for n in nodes):
        return Cores(quoted(cores[0]), _said(cores[0]) if _is_said(cores[0]) else "")
    multiply = [n for kind in ("nodes", "per node", "gpus") for n in by_kind[kind] if _varies(space.parameters[n])]
    multiply += [n for n in by_kind["per rank"] if not _is_one(space.parameters[n])]
    if not cores and (text := _product(space, by_kind)):
        return Cores(text, f"cores: {text} (--cores-are says otherwise)")
    if not cores and len(ranks) == 1 and not multiply:
        return Cores(quoted(ranks[0]), _said(ranks[0]))
    if not numbers:
        raise InputError(
            f"no parameter is a number that may tell the cores: there are {', '.join(names)}. If labels hold the "
            "number of cores, write it into a column of its own, called cores"
        )
    raise InputError(_question(numbers, by_kind, measured))


def _refuse_tied_threads(measured: pd.DataFrame | None, ranks: Sequence[str], threads: Sequence[str]) -> None:
    """Ask whose threads are counted where they grow as the ranks do in all runs: those of each rank, or of all."""
    if measured is None or len(ranks) != 1 or len(threads) != 1 or measured[threads[0]].nunique() < _FEWEST_TIED:
        return
    ratios = (measured[threads[0]] / measured[ranks[0]]).round(9).unique()
    if len(ratios) == 1:
        both, own = quoted(ranks[0]), quoted(threads[0])
        raise InputError(
            f"{threads[0]} is {ratios[0]:g} * {ranks[0]} in all runs, so whether it counts the threads of all ranks or "
            f"of each is open: of all, learn without it, {option_text('--parameters', ranks[0])}; of each, say so by "
            f"{option_text('--cores-are', f'{both} * {own}')}"
        )


def _is_said(name: str) -> bool:
    """Tell whether cores are said to be those of a name: they may be shared, or others than were asked for."""
    return _may_share(name) or was_requested(name)


def _may_share(name: str) -> bool:
    """Tell whether two of what a name counts may share a core."""
    return "thread" in name.lower() or "vcpu" in name.lower()


def _said(name: str) -> str:
    example = shlex.quote(f"{quoted(name)} {'/' if _may_share(name) else '*'} 2")
    return f"cores: one for each of {name} (--cores-are says otherwise, as {example})"


def _product(space: Space, by_kind: Mapping[str, list[str]]) -> str:
    """Return the ranks, or the nodes, times what each rank or node had in all runs; "" if that isn't plain."""
    varied = [
        name for kind in ("per node", "per rank", "gpus") for name in by_kind[kind] if _varies(space.parameters[name])
    ]
    ranks, nodes, per_node, per_rank = (by_kind[kind] for kind in ("ranks", "nodes", "per node", "per rank"))
    per_rank = [name for name in per_rank if not _is_one(space.parameters[name])]
    if (
        varied
        or len(per_rank) > 1
        or by_kind["gpus"]
        or any(re.search("thread|omp|openmp|hilos", name.lower()) for name in per_rank)
    ):
        return ""  # two threads may share a core
    if len(ranks) == 1 and per_rank and not any(_varies(space.parameters[name]) for name in nodes):
        return " * ".join(map(quoted, [*ranks, *per_rank]))
    if not per_node and not per_rank and len(several := ranks or nodes) == 1 and (each := cores_of_each(several[0])):
        return f"{quoted(several[0])} * {each}"  # nodes (128 cores each)
    if not ranks and len(nodes) == len(per_node) == 1:
        return " * ".join(map(quoted, [*nodes, *per_node, *per_rank]))
    return ""


def _checked(cores: Cores, space: Space) -> Cores:
    names = list(space.names)
    for name in cores.names:
        if isinstance(space.parameters.get(name), Categorical):
            raise InputError(f"--cores-are {cores.text!r} needs numbers, but the values of {name!r} are labels")
        if name not in names:
            raise InputError(
                f"--cores-are {cores.text!r} needs {name!r}, but the parameters are {', '.join(names)}"
                f"{did_you_mean(name, names)}: name one of these, or write a number in its place"
            )
    if not cores.names:
        raise InputError(f"--cores-are {cores.text!r} names no parameter: name at least one of {', '.join(names)}")
    return cores


def _question(names: Iterable[str], by_kind: Mapping[str, list[str]], measured: pd.DataFrame | None) -> str:
    """Return the question which parameters are the cores, with proposals that can be typed."""
    counting = [name for name in names if kind_of_parameter(name)]
    names = list(names)
    likely = next((name for letter in "pnctr" for name in names if name == letter), names[0])
    first = quoted(likely)
    if factor_of(likely) != 1:  # cores [10^3]
        first = f"{factor_of(likely):g} * {first}"
    if re.match(r"(log_?2?|ld|lb)\b|log2?[\s_(]", likely, re.IGNORECASE):  # log2(cores)
        first = f"2 ** {first}"
    proposals = _grid(names, by_kind) or _proposals(by_kind, measured) or [first]
    words = " or ".join(f"--cores-are {shlex.quote(text)}" for text in proposals)
    python = f"cores_are={proposals[0]!r}"
    if not counting:
        return f"no name of {', '.join(names)} says that it is the cores: if one is, say it, as in {words} ({python})"
    asked = f"whether {counting[0]} is" if len(counting) == 1 else f"which of {', '.join(counting)} are"
    example = f", with the cores of your nodes for {_PER_NODE}" if str(_PER_NODE) in proposals[0] else ""
    return f"{asked} the cores is open: say it with {words}{example} ({python})"


def _proposals(by_kind: Mapping[str, list[str]], measured: pd.DataFrame | None) -> list[str]:
    cores, nodes, ranks, gpus = (list(map(quoted, by_kind[kind])) for kind in ("cores", "nodes", "ranks", "gpus"))
    per_node, per_rank = (list(map(quoted, by_kind[kind]))[:1] for kind in ("per node", "per rank"))
    if len(cores) > 1 or (cores and not nodes):
        return cores
    if cores:
        return [cores[0], f"{nodes[0]} * {cores[0]}"]
    if nodes and per_node:
        return [" * ".join([nodes[0], *per_node, *per_rank])]
    if ranks:
        texts = [" * ".join([name, *per_rank]) for name in ranks]
        # Ranks and threads that fill a node in all runs are those of a node.
        return [f"{nodes[0]} * {text}" if nodes and _is_one_number(text, measured) else text for text in texts]
    return [f"{nodes[0]} * {_PER_NODE}"] if nodes else gpus or per_rank


def _is_one_number(text: str, measured: pd.DataFrame | None) -> bool:
    """Tell whether a product of parameters is the same in all runs."""
    return measured is not None and len(set(Cores(text).of(measured, len(measured)).tolist())) == 1


def _grid(names: Sequence[str], by_kind: Mapping[str, list[str]]) -> list[str]:
    """Return the product of the processes along each axis, as ``px * py``, if only these names tell the ranks."""
    both = {name.lower() for name in names} >= _HPL
    axes = [name for name in names if _AXIS.fullmatch(name.lower()) or (both and name.lower() in _HPL)]
    if len(axes) < 2 or any(by_kind[kind] for kind in ("cores", "ranks", "nodes")):
        return []
    return [" * ".join(map(quoted, [*axes, *by_kind["per rank"][:1]]))]


def constants(space: Space, *, but: Collection[str] = ()) -> dict[str, Any]:
    """Return the parameters that never varied, with their only values, without those named `but`.

    Examples
    --------
    >>> from evenly import Integer, Space
    >>> constants(Space(cores=Integer(1, 64), level=Integer(8, 8)))
    {'level': 8}
    """
    found: dict[str, Any] = {}
    for name, kind in space.parameters.items():
        if not (name in but or _varies(kind)):
            found[name] = kind.options[0] if isinstance(kind, Categorical) else ends(kind)[0]
            if not isinstance(kind, Categorical) and float(found[name]).is_integer():
                found[name] = int(found[name])
    return found


def _varies(kind: Parameter) -> bool:
    return len(kind.options) > 1 if isinstance(kind, Categorical) else ends(kind)[0] != ends(kind)[1]


def _is_one(kind: Parameter) -> bool:
    return not isinstance(kind, Categorical) and ends(kind) == (1, 1)


def _of_all(measured: pd.DataFrame | None, cores: str, nodes: str) -> bool:
    """Tell whether measured cores are those of all nodes: whole numbers per node, each on several numbers of nodes.

    There may be several, as where partitions have nodes of their own. Of cores per node, the most cores on the fewest
    nodes would be a number per node that stands alone.
    """
    if "total" in cores.lower():
        return True
    if measured is None or measured[nodes].nunique() < 2:
        return False
    ratio = measured[cores] / measured[nodes]
    return bool((ratio >= 1).all() and (ratio % 1 == 0).all() and measured[nodes].groupby(ratio).nunique().min() > 1)
