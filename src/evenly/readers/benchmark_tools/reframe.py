"""Performance logs of ReFrame (``perflogs/…/Test.log``): rows below a header; labelled values before version 4."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any, ClassVar, final

from evenly.errors import InputError, ReadError
from evenly.readers.base import Reader
from evenly.readers.benchmark_tools.results import Result, in_seconds, runs_by_tool
from evenly.readers.files import UNENDED, head, is_unended, lines
from evenly.runs.runs import Runs
from evenly.runs.units import base_unit

__all__ = ["ReframeReader"]

_FIRST = "job_completion_time|"
#: ``time|reframe 3.7.0|Test on daint:gpu using gnu|jobid=17|num_tasks=12|elapsed=4.5|ref=0 (l=null, u=null)|s``; the
#: unit may stand before the reference, and tags behind it: ``…|elapsed=4.5|s|ref=0 (l=null, u=null)|num_nodes=2,large``
_LABELLED = re.compile(
    r"(?P<time>[^|]+)\|reframe [^|]+\|(?P<info>[^|]*)\|(?P<labels>jobid=[^|]*(?:\|\w+=[^|]*)*)"
    r"\|(?P<name>[^|=]+)=(?P<value>[^|]*)\|(?:ref=[^|]*\|(?P<unit>[^|]*)|(?P<first>[^|=]*)\|ref=[^|]*\|(?P<tags>[^|]*))"
)
_COUNTS = {
    "num_tasks": "ranks", "num_procs": "ranks", "num_cpus_per_task": "threads", "num_tasks_per_node": "ranks_per_node",
    "num_nodes": "nodes",
}  # fmt: skip
_SETTING = re.compile(r"%([\w.]+)=(\S+)")
_TIMES = {"seconds": "s", "second": "s", "sec": "s", "microseconds": "us", "usec": "us", "milliseconds": "ms"}


@final
class ReframeReader(Reader):
    r"""Reads performance logs of ReFrame whose performance value is a time.

    Ranks, threads and the ``%name=value`` settings of a test are parameters. A performance value that is a rate, such
    as Gflop/s, is no time: without the size of the problem, nothing can be said about seconds, so it is refused.

    Parameters
    ----------
    time : str, optional
        The performance value that is the time, where several are times.

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
    summary: ClassVar[str] = "performance logs of ReFrame whose value is a time"

    def __init__(self, *, time: str | None = None) -> None:
        self._time = time
        self.notes: list[str] = []

    def recognises(self, path: Path) -> bool:
        start = head(path)
        return start.startswith(_FIRST) or re.match(r"[\dT:+.-]+\|reframe \d", start) is not None

    def read(self, path: Path) -> dict[str, Runs]:
        self.notes = []
        content = lines(path)
        rows = _with_header(path, content) if content[0].startswith(_FIRST) else _with_labels(path, content)
        value, unit = _time_columns(path, rows, self._time)
        tests: dict[str, list[Result]] = {}
        for number, row in rows:
            if value in row:
                test = re.split(r"[ /@]", row.get("display_name") or row.get("info", path.stem))[0]
                tests.setdefault(test, []).append(_result(path, row, test, value, unit, number))
        if is_unended(content):
            self.notes.append(UNENDED)
        self.notes.append(f"{value!r} is the time")
        return {test: next(iter(runs_by_tool(path, test, results).values())) for test, results in tests.items()}


def _with_header(path: Path, content: list[str]) -> list[tuple[int, dict[str, str]]]:
    """Return the rows of a log of ReFrame 4, with their line numbers."""
    header = content[0].split("|")
    rows = []
    for number, line in enumerate(content[1:], start=2):
        if line.strip():
            cells = line.split("|")
            if len(cells) != len(header):
                reason = f"the header has {len(header)} columns, but this row has {len(cells)}"
                raise ReadError(path, reason, line=number)
            rows.append((number, dict(zip(header, cells, strict=True))))
    return rows


def _with_labels(path: Path, content: list[str]) -> list[tuple[int, dict[str, str]]]:
    """Return the rows of a log of ReFrame 3 and older, which have a line for each performance value."""
    rows = []
    for number, line in enumerate(content, start=1):
        if not line.strip():
            continue
        found = _LABELLED.fullmatch(line.strip())
        if found is None:
            reason = "a row as in ReFrame 3 was expected: time|reframe version|test|jobid=…|…|name=value|ref=…|unit"
            raise ReadError(path, f"{reason}; the row is cut off, or the log has a format of its own", line=number)
        row = {"job_completion_time": found["time"], "info": found["info"]}
        row |= dict(label.split("=", 1) for label in found["labels"].split("|") if "=" in label)
        row |= dict(tag.split("=", 1) for tag in (found["tags"] or "").split(",") if "=" in tag)
        unit = found["unit"] if found["tags"] is None else found["first"]
        rows.append((number, {**row, f"{found['name']}_value": found["value"], f"{found['name']}_unit": unit}))
    return rows


def _time_columns(path: Path, rows: list[tuple[int, dict[str, str]]], wanted: str | None) -> tuple[str, str]:
    good = [row for _, row in rows if row.get("result", "pass") == "pass"] or [row for _, row in rows]
    units = {name[:-5]: row[name] for row in reversed(good) for name in row if name.endswith("_unit")}
    values = [name for name in units if any(f"{name}_value" in row for _, row in rows)]
    if not values:
        raise ReadError(path, "no column '…_value' with a '…_unit' beside it: there is no performance value", line=1)
    times = [name for name in values if _unit(units[name]) is not None]
    if wanted is not None and wanted not in times:
        raise ReadError(
            path, f"{wanted!r} is no performance value that is a time: there are {', '.join(times) or 'none'}"
        )
    if wanted is not None:
        times = [wanted]
    if len(times) == 1:
        return f"{times[0]}_value", f"{times[0]}_unit"
    told = ", ".join(f"{name} in {units[name] or '?'}" for name in values)
    if not times:
        raise ReadError(path, f"the performance values are no times ({told}), and the work that they count isn't known")
    raise ReadError(path, f"several performance values are times ({', '.join(times)}): choose one with time= (--time)")


def _unit(text: str) -> str | None:
    unit = _TIMES.get(text.strip().lower(), text.strip())
    try:
        return unit if base_unit(unit) == "s" and "/" not in unit else None
    except InputError:
        return None


def _result(path: Path, row: dict[str, str], test: str, value: str, unit: str, number: int) -> Result:
    failed = row.get("result", "pass") not in ("pass", "")
    known = _unit(row[unit])
    if known is None and not failed:
        raise ReadError(path, f"{row[unit]!r} is no unit of time", line=number)
    try:
        seconds = [] if failed else [in_seconds(path, float(row[value]), str(known))]
        given: dict[str, Any] = {
            name: int(row[column])
            for column, name in _COUNTS.items()
            if row.get(column, "null") not in ("null", "", "None")
        }
    except ValueError:
        raise ReadError(path, f"a number was expected, but got {row[value]!r}", line=number) from None
    settings = dict(_SETTING.findall(row.get("display_name") or row.get("info", "")))
    given |= {name: _number(text) for name, text in settings.items()}
    return Result(test, given, seconds, int(failed), row["job_completion_time"], row.get("system", ""))


def _number(text: str) -> float | str:
    try:
        return int(text) if text.isdecimal() else float(text)
    except ValueError:
        return text
