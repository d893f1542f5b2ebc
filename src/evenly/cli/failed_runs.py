"""What the command line says of runs that failed or hit their limit, and on which configurations."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from evenly.cli.console import note

if TYPE_CHECKING:
    import pandas as pd

    from evenly.runs.runs import Runs

__all__ = ["failed_lines", "tell_failed"]

#: So many configurations are named.
_MOST = 3
#: So many configurations of one longest time are no chance.
_ALIKE = 3


def tell_failed(runs: Mapping[str, Runs], response: str | None) -> None:
    """Say how many runs of each solver failed or hit their limit."""
    for solver, one in runs.items():
        for line in failed_lines(solver, one.learning(response) if response in one.quantities else one):
            note(line)


def failed_lines(solver: str, runs: Runs) -> list[str]:
    """Return a sentence on the runs that hit their limit, and one on those that failed, where there are any.

    Named are configurations on which no run ended, and those on which half of them, or more, failed.

    Examples
    --------
    >>> import pandas as pd
    >>> from evenly import Runs
    >>> table = pd.DataFrame({"cores": [1, 2, 4, 4], "seconds": [8.0, 4.0, 2.0, None]})
    >>> table["status"] = ["ok", "ok", "ok", "failed"]
    >>> failed_lines("wave", Runs.from_frame(table, ["cores"]))
    ['1 of 4 runs of wave failed and is left out; of those with cores = 4, 1 of 2 failed']
    """
    status, stopped = runs.to_frame()["status"], runs.bounds > 0
    ended = (status == "ok").to_numpy()
    went = runs.configurations[runs.parameters].assign(_ended=ended, _stopped=stopped, _failed=~(ended | stopped))
    counts = went.groupby(runs.parameters, observed=True, dropna=False).sum()
    none, late, failed = counts["_ended"] == 0, counts["_stopped"] > 0, counts["_failed"]
    often = counts[~(none & ~late) & (failed > 0) & (2 * failed >= counts.sum(axis=1))]
    lines = []
    if bounds := int(stopped.sum()):
        never = _named(counts[none & late])
        told = f"; none ended before it with {'; '.join(never)}" if never else ""
        lines.append(
            f"{bounds} run{'s' if bounds > 1 else ''} of {solver} hit the limit, so "
            f"{'they take' if bounds > 1 else 'it takes'} longer than that{told}"
        )
    if lost := int(failed.sum()):
        never = _named(counts[none & ~late])
        told = f"; none ended well with {'; '.join(never)}" if never else ""
        for name, row in zip(_named(often), often.to_dict("records"), strict=False):
            told += f"; of those with {name}, {row['_failed']} of {sum(row.values())} failed"
        are = "are" if lost > 1 else "is"
        lines.append(f"{lost} of {len(runs)} runs of {solver} failed and {are} left out{told}")
    if line := _all_at_the_longest(solver, runs):
        lines.append(line)
    return lines


def _all_at_the_longest(solver: str, runs: Runs) -> str:
    """Return a sentence on runs of several configurations that all took the longest time, to the last digit."""
    if not (runs.to_frame()["status"] == "ok").any():
        return ""
    ended = runs.ok
    times = ended.configurations[runs.parameters].assign(_time=ended.values).drop_duplicates()["_time"].value_counts()
    longest = times.index.max()
    most = int(times.drop(longest).max()) if len(times) > 1 else 0
    # Times that are rounded coarsely are often alike, not only the longest.
    if not _ALIKE <= times[longest] < len(ended) / 2 or times[longest] <= 2 * most:
        return ""
    return (
        f"runs of {solver} with {times[longest]} configurations took exactly {longest:.15g} "
        f"{runs.quantities[runs.response]}, the longest time of all, and are taken to have ended by themselves: if a "
        "limit stopped them, a column of states (TIMEOUT) says so"
    )


def _named(counts: pd.DataFrame) -> list[str]:
    """Return the configurations of a table with an index of them, if they are few."""
    if len(counts) > _MOST:
        return []
    return [", ".join(f"{n} = {x}" for n, x in row.items()) for row in counts.index.to_frame().to_dict("records")]
