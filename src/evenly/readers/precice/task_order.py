"""The makespan of partially ordered tasks as an expression of ``sum`` (in sequence) and ``max`` (in parallel).

The makespan is the time of the heaviest chain (critical path) of the partial order. If the order is series-parallel,
it is a nested expression in which each task occurs once. A recursive decomposition finds this expression (Valdes,
Tarjan and Lawler, 1982, "The recognition of series parallel digraphs", SIAM J. Comput. 11(2), 298-313):

- Parts without any comparable pair of tasks run in parallel.
- Parts run in sequence if every task of one part precedes every task of the next.

If a part allows neither, its time is the maximum over all its maximal chains, and a task may occur several times.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from graphlib import CycleError, TopologicalSorter

from evenly.errors import InputError

__all__ = ["expression_of", "reachable"]

_MAX_CHAINS = 1000


def expression_of(labels: Mapping[str, str], edges: Iterable[tuple[str, str]]) -> str:
    """Return the makespan of partially ordered tasks as an expression.

    Parameters
    ----------
    labels : mapping of str to str
        The expression of each task's time. Parallel tasks appear in the order of this mapping.
    edges : iterable of (str, str)
        Pairs of tasks; the first precedes the second.

    Returns
    -------
    str
        Nested ``sum(…)`` and ``max(…)``.

    Raises
    ------
    InputError
        If the edges contain a cycle, or there are more than 1000 maximal chains.

    Examples
    --------
    >>> names = {name: name for name in "abcd"}
    >>> expression_of(names, [("a", "b"), ("a", "c"), ("b", "d"), ("c", "d")])
    'sum(a, max(b, c), d)'
    >>> expression_of(names, [("a", "c"), ("b", "c"), ("b", "d")])
    'max(sum(a, c), sum(b, c), sum(b, d))'
    """
    tasks = list(labels)
    before: dict[str, set[str]] = {task: set() for task in tasks}
    for first, second in edges:
        before[second].add(first)
    try:
        order = list(TopologicalSorter(before).static_order())
    except CycleError as error:
        # graphlib lists the tasks of a cycle from the last to the first.
        circle = " → ".join(reversed(error.args[1]))
        raise InputError(f"the participants wait for each other in a circle: {circle}") from None
    # The transitive closure, computed in topological order: all predecessors of each task.
    above: dict[str, set[str]] = {}
    for task in order:
        above[task] = before[task].union(*(above[other] for other in before[task]))
    return _compose(sorted(tasks, key=lambda task: len(above[task])), tasks, above, labels)


def reachable(tasks: Iterable[str], edges: Iterable[tuple[str, str]]) -> dict[str, set[str]]:
    """Return for each task the set of tasks that can be reached from it along the edges.

    Examples
    --------
    >>> {task: sorted(found) for task, found in reachable("abc", [("a", "b"), ("b", "c")]).items()}
    {'a': ['b', 'c'], 'b': ['c'], 'c': []}
    """
    reach: dict[str, set[str]] = {task: set() for task in tasks}
    for first, second in edges:
        reach[first].add(second)
    # Warshall's algorithm: add the paths through each task in turn.
    for middle in reach:
        for found in reach.values():
            if middle in found:
                found |= reach[middle]
    return reach


def _compose(
    by_rank: Sequence[str], tasks: Sequence[str], above: Mapping[str, set[str]], labels: Mapping[str, str]
) -> str:
    """Return the expression of one part of the order; `by_rank` lists its tasks in topological order."""

    def comparable(a: str, b: str) -> bool:
        return a in above[b] or b in above[a]

    def part(group: set[str]) -> str:
        return _compose([t for t in by_rank if t in group], [t for t in tasks if t in group], above, labels)

    if len(tasks) == 1:
        return labels[tasks[0]]
    # Parallel composition: the connected components of the comparability graph.
    side_by_side = _components(tasks, comparable)
    if len(side_by_side) > 1:
        return f"max({', '.join(map(part, side_by_side))})"
    # Series composition: the connected components of the complement of the comparability graph.
    in_turn = _components(by_rank, lambda a, b: not comparable(a, b))
    if len(in_turn) > 1:
        return f"sum({', '.join(map(part, in_turn))})"
    # Not series-parallel: the heaviest of all maximal chains.
    sums = [f"sum({', '.join(labels[task] for task in chain)})" for chain in _chains(tasks, above)]
    return f"max({', '.join(sums)})"


def _components(tasks: Sequence[str], linked: Callable[[str, str], bool]) -> list[set[str]]:
    """Return the connected components of the graph `linked`, in the order of their first tasks."""
    left = list(tasks)
    parts = []
    while left:
        part, border = {left[0]}, [left[0]]
        while border:
            one = border.pop()
            near = [other for other in left if other not in part and linked(one, other)]
            part.update(near)
            border.extend(near)
        parts.append(part)
        left = [task for task in left if task not in part]
    return parts


def _chains(tasks: Sequence[str], above: Mapping[str, set[str]]) -> list[list[str]]:
    """Return all maximal chains of the partial order on `tasks`, each from its first to its last task."""
    # `covers` holds the direct predecessors of each task (the covering relation). Chains grow from the last task.
    inside = {task: above[task] & set(tasks) for task in tasks}
    covers = {task: [t for t in tasks if t in up and not any(t in above[u] for u in up)] for task, up in inside.items()}
    tops = [task for task in tasks if not any(task in up for up in inside.values())]
    chains, growing = [], [[task] for task in reversed(tops)]
    while growing:
        chain = growing.pop()
        lower = covers[chain[0]]
        if not lower:
            chains.append(chain)
        growing.extend([one, *chain] for one in reversed(lower))
        if len(chains) > _MAX_CHAINS:
            raise InputError(
                f"the schemes allow more than {_MAX_CHAINS} chains of participants: write the layout by hand"
            )
    return sorted(chains, key=lambda chain: [list(tasks).index(task) for task in chain])
