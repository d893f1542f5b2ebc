"""What files of benchmark tools have in common: benchmarks with parameters and repeated times, as a table of runs.

A benchmark is no solver that waits for others. So a file gives one table, in which the label ``benchmark`` tells the
benchmarks apart. Only if they have different parameters, each gets a table of its own.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import pandas as pd

from evenly.errors import ReadError
from evenly.readers.base import Reader
from evenly.readers.files import head, plain_suffix
from evenly.readers.json_files import json_of
from evenly.runs.runs import Runs
from evenly.runs.units import to_base

__all__ = ["BenchmarkReader", "Result", "in_seconds", "runs_by_tool"]


@dataclass(frozen=True)
class Result:
    """The times of one benchmark with one set of parameters.

    Attributes
    ----------
    benchmark : str
        The name of the benchmark, without its parameters.
    parameters : mapping of str to float or str
        The values of its parameters.
    seconds : sequence of float
        One time per repetition; empty if there is none.
    failed : int
        How many further repetitions failed.
    when, machine : str
        Date and computer, where the file says so.
    """

    benchmark: str
    parameters: Mapping[str, float | str]
    seconds: Sequence[float]
    failed: int = 0
    when: str = ""
    machine: str = ""


class BenchmarkReader(Reader):
    """Base class of readers whose files are JSON: a subclass says which are its own, and gives their results."""

    #: Words that the start of each file of this format has.
    marks: ClassVar[tuple[str, ...]]

    def __init__(self) -> None:
        self.notes: list[str] = []

    def recognises(self, path: Path) -> bool:
        start = head(path) if plain_suffix(path) == ".json" else ""
        return start.lstrip()[:1] in ("{", "[") and all(mark in start for mark in self.marks)

    def read(self, path: Path) -> dict[str, Runs]:
        self.notes = []
        return runs_by_tool(path, self.name, self._results(path, json_of(path)))

    @abstractmethod
    def _results(self, path: Path, content: Any) -> list[Result]:
        """Return the results in a file; what was assumed goes to `notes`."""


def runs_by_tool(path: Path, tool: str, results: Sequence[Result]) -> dict[str, Runs]:
    """Return one table for all results, or one per benchmark and set of parameters where these differ.

    Parameters
    ----------
    path : Path
        The file, for messages and as the source of the runs.
    tool : str
        The name of the tool: the name of the table, so that several files of it make one table.
    results : sequence of Result

    Raises
    ------
    ReadError
        If no result has a time above zero.

    Examples
    --------
    >>> results = [Result("sort", {"n": n}, [1e-6 * n, 1.1e-6 * n]) for n in (1000, 2000)]
    >>> runs_by_tool(Path("a.json"), "hyperfine", results)
    {'hyperfine': Runs(4 rows, 2 configurations of n; seconds 0.001 to 0.0022 s)}
    """
    if not any(value > 0 for result in results for value in result.seconds):
        raise ReadError(path, "no benchmark in this file has a time above zero that was measured without an error")
    names = list(dict.fromkeys(result.benchmark for result in results))
    if len({_shape(result) for result in results}) > 1:
        found: dict[str, Runs] = {}
        for name in names:
            of_name = [one for one in results if one.benchmark == name]
            shapes = list(dict.fromkeys(map(_shape, of_name)))
            for shape in shapes:
                own = [one for one in of_name if _shape(one) == shape]
                found["/".join([name, *shape]) if len(shapes) > 1 else name] = _table(path, own, labelled=False)
        return found
    return {tool: _table(path, results, labelled=len(names) > 1)}


def _shape(result: Result) -> tuple[str, ...]:
    """Return the names of a result's parameters."""
    return tuple(sorted(result.parameters))


def _table(path: Path, results: Sequence[Result], *, labelled: bool) -> Runs:
    labelled = labelled or not results[0].parameters
    rows: list[dict[str, Any]] = []
    for number, one in enumerate(results):
        book = {"run": f"{path.name}:{number}", "when": one.when, "machine": one.machine, "source": str(path)}
        label = {"benchmark": one.benchmark} if labelled else {}
        times = [(value, "ok") for value in one.seconds if value > 0]
        times += [(float("nan"), "failed")] * (one.failed + len(one.seconds) - len(times))
        rows += [
            {**label, **one.parameters, "seconds": value, "status": status, "repetition": again, **book}
            for again, (value, status) in enumerate(times)
        ]
    names = [*(["benchmark"] if labelled else []), *results[0].parameters]
    return Runs.from_frame(pd.DataFrame(rows), names, "seconds")


def in_seconds(path: Path, value: float, unit: str) -> float:
    """Convert a time to seconds; raise `ReadError` for a unit that is no time."""
    try:
        return float(to_base([value], unit)[0])
    except ValueError:
        raise ReadError(path, f"{unit!r} is no unit of time") from None
