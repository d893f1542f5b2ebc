"""Performance logs of ReFrame 4 (``perflogs/…/Test.log``): one row per run, with a header."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any, ClassVar, final

from evenly.errors import InputError, ReadError
from evenly.readers.base import Reader
from evenly.readers.benchmark_tools.results import Result, in_seconds, runs_by_tool
from evenly.readers.files import head, is_unended, lines
from evenly.runs.runs import Runs
from evenly.runs.units import base_unit

__all__ = ["ReframeReader"]

_COUNTS = {"num_tasks": "ranks", "num_cpus_per_task": "threads", "num_tasks_per_node": "ranks_per_node"}
_SETTING = re.compile(r"%([\w.]+)=(\S+)")
_TIMES = {"seconds": "s", "second": "s", "sec": "s", "microseconds": "us", "usec": "us", "milliseconds": "ms"}


@final
class ReframeReader(Reader):
    r"""Reads performance logs of ReFrame whose performance value is a time.

    Ranks, threads and the ``%name=value`` settings of a test are parameters. A performance value that is a rate, such
    as Gflop/s, is no time: without the size of the problem, nothing can be said about seconds, so it is refused.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "Test.log"
    >>> names = "job_completion_time|version|display_name|jobid|num_tasks|run_value|run_unit"
    >>> rows = [f"2024-01-01T10:00:00|reframe 4.3.2|Test|{n}|{n}|{8 / n}|s" for n in (1, 2)]
    >>> _ = path.write_text("\n".join([names, *rows, ""]))
    >>> ReframeReader().read(path)["Test"]
    Runs(2 rows, 2 configurations of ranks; seconds 4 to 8 s)
    """

    name: ClassVar[str] = "reframe"
    summary: ClassVar[str] = "performance logs of ReFrame 4 whose value is a time"

    def __init__(self) -> None:
        self.notes: list[str] = []

    def recognises(self, path: Path) -> bool:
        start = head(path)
        return start.startswith("job_completion_time|") or re.match(r"[\dT:+.-]+\|reframe \d", start) is not None

    def read(self, path: Path) -> dict[str, Runs]:
        self.notes = []
        content = lines(path)
        header = content[0].split("|")
        if header[0] != "job_completion_time":
            raise ReadError(
                path, "this log of ReFrame has no header, so its columns can't be told: ReFrame 4 writes one"
            )
        value, unit = _time_columns(path, header)
        tests: dict[str, list[Result]] = {}
        for number, line in enumerate(content[1:], start=2):
            if not line.strip():
                continue
            cells = line.split("|")
            if len(cells) != len(header):
                raise ReadError(
                    path, f"the header has {len(header)} columns, but this row has {len(cells)}", line=number
                )
            row = dict(zip(header, cells, strict=True))
            test = re.split(r"[ /@]", row.get("display_name") or row.get("info", path.stem))[0]
            tests.setdefault(test, []).append(_result(path, row, test, value, unit, number))
        if is_unended(content):
            self.notes.append("the last line has no line end: if the log was cut off there, its last row is not whole")
        self.notes.append(f"{value!r} is the time")
        return {test: next(iter(runs_by_tool(path, test, results).values())) for test, results in tests.items()}


def _time_columns(path: Path, header: list[str]) -> tuple[str, str]:
    pairs = [
        (name, f"{name[:-6]}_unit") for name in header if name.endswith("_value") and f"{name[:-6]}_unit" in header
    ]
    if not pairs:
        raise ReadError(path, "no column '…_value' with a '…_unit' beside it: there is no performance value", line=1)
    first = lines(path)[1:2]
    row = dict(zip(header, first[0].split("|"), strict=False)) if first else {}
    times = [pair for pair in pairs if _unit(row.get(pair[1], "")) is not None]
    if len(times) == 1:
        return times[0]
    told = ", ".join(f"{value[:-6]} in {row.get(unit, '?')}" for value, unit in pairs)
    if not times:
        raise ReadError(path, f"the performance values are no times ({told}), and the work that they count isn't known")
    raise ReadError(path, f"several performance values are times ({told}): keep one of them in the log")


def _unit(text: str) -> str | None:
    unit = _TIMES.get(text.strip().lower(), text.strip())
    try:
        return unit if base_unit(unit) == "s" and "/" not in unit else None
    except InputError:
        return None


def _result(path: Path, row: dict[str, str], test: str, value: str, unit: str, number: int) -> Result:
    known = _unit(row[unit])
    if known is None:
        raise ReadError(path, f"{row[unit]!r} is no unit of time", line=number)
    try:
        seconds = in_seconds(path, float(row[value]), known)
        given: dict[str, Any] = {
            name: int(row[column])
            for column, name in _COUNTS.items()
            if row.get(column, "null") not in ("null", "", "None")
        }
    except ValueError:
        raise ReadError(path, f"a number was expected, but got {row[value]!r}", line=number) from None
    settings = dict(_SETTING.findall(row.get("display_name") or row.get("info", "")))
    given |= {name: _number(text) for name, text in settings.items()}
    failed = row.get("result", "pass") not in ("pass", "")
    return Result(
        test, given, [] if failed else [seconds], int(failed), row["job_completion_time"], row.get("system", "")
    )


def _number(text: str) -> float | str:
    try:
        return int(text) if text.isdecimal() else float(text)
    except ValueError:
        return text
