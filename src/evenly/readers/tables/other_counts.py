"""Columns of cores beside others: those that were asked for, and those that runs had."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import numpy as np

from evenly.errors import ReadError, option_text
from evenly.readers.tables.roles import words_of
from evenly.readers.tables.values import Values
from evenly.runs.count_names import kind_of, kind_of_parameter, was_used
from evenly.runs.weak_scaling import WORKERS
from evenly.space.expressions import quoted

__all__ = ["counts_workers", "refuse_other_counts", "refuse_wished_counts"]


def counts_workers(wish: str) -> bool:
    """Tell whether a name of what was asked for is that of cores, ranks, nodes or GPUs.

    Examples
    --------
    >>> counts_workers("number_of_cores_that_were_requested"), counts_workers("reqcpus"), counts_workers("Timelimit")
    (True, True, False)
    """
    return any(kind_of_parameter(word) in WORKERS for word in (wish, *words_of(wish)))


def refuse_wished_counts(values: Values, wishes: Sequence[str], parameters: Sequence[str]) -> None:
    """Ask about a count of cores that was asked for, if no parameter tells how many cores runs had."""
    varied = [name for name in wishes if values.is_numeric(name) and values.cells[name].nunique() > 1]
    counts = [name for name in varied if counts_workers(name)]
    if not counts or any(kind_of(name) or name.lower() in ("p", "np") for name in parameters):
        return
    wish = counts[0]
    named = option_text("--parameters", ",".join([*parameters, wish]))
    if any(kind_of(word) == "nodes" for word in words_of(wish)):
        of_each = option_text("--cores-are", f"{quoted(wish)} * 48")
        named += f"; where the question is how many cores, {of_each}, too, with the cores of your nodes for 48"
    without = f"leave it out ({option_text('--parameters', ','.join(parameters))})"
    raise ReadError(
        values.path,
        f"{wish!r} tells what was asked for, and no other column how many cores runs had. If they had as many as they "
        f"asked for, say that it is a parameter ({named}). If not, "
        f"{without if parameters else 'add a column called cores with what they had'}",
    )


def refuse_other_counts(values: Values, parameters: Sequence[str]) -> None:
    """Ask which count runs had, where one that was used, or allocated, differs from another of the same kind."""
    for used, other in itertools.permutations(filter(values.is_numeric, parameters), 2):
        alike = was_used(used) and not was_used(other) and kind_of(used) == kind_of(other) in WORKERS
        if alike and not np.array_equal(values.numbers(used), values.numbers(other)):
            one, two = (
                option_text("--parameters", ",".join(name for name in parameters if name != left_out))
                for left_out in (other, used)
            )
            raise ReadError(
                values.path,
                f"{used!r} and {other!r} differ, so which of them runs had is open: leave one of them out ({one}, or "
                f"{two})",
            )
