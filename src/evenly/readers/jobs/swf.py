"""The Standard Workload Format of the Parallel Workloads Archive: 18 numbers for each job, -1 where one isn't known.

The format: https://www.cs.huji.ac.il/labs/parallel/workload/swf.html.
"""

from __future__ import annotations

import io
import re
import warnings
from pathlib import Path
from typing import ClassVar

import numpy as np
import pandas as pd

from evenly.errors import ReadError
from evenly.readers.files import head, is_file, plain_suffix, text
from evenly.readers.jobs.job_reader import JobReader
from evenly.readers.jobs.jobs import Jobs

__all__ = ["SwfReader"]

_FIELDS = (
    "id", "submit", "wait", "run", "cores", "cpu", "memory", "requested cores", "limit", "requested memory", "status",
    "user", "group", "executable", "queue", "partition", "preceding", "think",
)  # fmt: skip
_START = re.compile(r"^;\s*UnixStartTime:\s*(\d+)", re.MULTILINE)
_COUNT = re.compile(r"^;\s*MaxRecords:\s*(\d{1,18})\b", re.MULTILINE)
_HEADER = re.compile(r"^;\s*(Version|Computer|MaxJobs|UnixStartTime|MaxProcs|MaxNodes)\s*:", re.MULTILINE)
#: What the numbers of a status mean; 2 to 4 are parts of a job that was stopped and went on.
_STATES = {1: "COMPLETED", 0: "FAILED", 5: "CANCELLED", 2: "PARTIAL", 3: "PARTIAL", 4: "PARTIAL"}
_KIB = 1024.0


class SwfReader(JobReader):
    r"""Reads a workload in the Standard Workload Format.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "site.swf"
    >>> job = "{} 0 5 {} 4 -1 -1 4 3600 -1 1 7 -1 -1 1 -1 -1 -1\n"
    >>> _ = path.write_text("; UnixStartTime: 1027839845\n" + job.format(1, 62) + job.format(2, 60))
    >>> SwfReader().read(path)[""]
    Runs(2 rows, 1 configurations of cores; seconds 60 to 62 s)
    """

    name: ClassVar[str] = "swf"
    summary: ClassVar[str] = "Standard Workload Format (.swf) of the Parallel Workloads Archive"

    def recognises(self, path: Path) -> bool:
        return (plain_suffix(path) == ".swf" and is_file(path)) or len(set(_HEADER.findall(head(path)))) > 1

    def jobs(self, path: Path) -> Jobs:
        content = text(path)
        began = _START.search(content)
        table = _numbers(path, content)
        zero = float(began[1]) if began else 0.0
        notes = [] if began else ["there is no UnixStartTime: dates are counted from 1970"]
        told = _COUNT.search(content)
        if told and int(told[1]) > len(table):
            notes.append(
                f"its header tells of {told[1]} jobs, but there are {len(table)}: it is a part, or was cut off"
            )
        value = {name: table[name].where(table[name] >= 0).to_numpy(dtype=np.float64) for name in _FIELDS}
        cores, asked = value["cores"], value["requested cores"]
        cores = np.where(cores > 0, cores, np.nan)
        if (lost := np.isnan(cores) & (asked > 0)).any():
            cores = np.where(lost, asked, cores)
            notes.append(
                f"{int(lost.sum())} jobs don't say how many processors they had: those that they asked for count"
            )
        submit = zero + value["submit"]
        start = submit + value["wait"]
        memory = {name: value[name] * _KIB * cores for name in ("memory", "requested memory")}
        limit = np.where(value["limit"] > 0, value["limit"], np.nan)
        columns: dict[str, object] = {
            **{name: _label(value[name]) for name in ("id", "user", "partition")},
            "account": _label(value["group"]), "name": _label(value["executable"]),
            "partition": _label(value["queue"]), "state": _states(value["run"], limit, table["status"], notes),
            "submit": submit, "start": start, "end": start + value["run"], "elapsed_s": value["run"],
            "limit_s": limit, "cores": cores,
            "requested_memory": np.where(memory["requested memory"] > 0, memory["requested memory"], np.nan),
            "peak_memory": np.where(memory["memory"] > 0, memory["memory"], np.nan),
        }  # fmt: skip
        return Jobs.of(columns, notes)


def _numbers(path: Path, content: str) -> pd.DataFrame:
    body = re.sub(r"^\s*;.*$", "", content, flags=re.MULTILINE) if ";" in content else content
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error", pd.errors.ParserWarning)  # it leaves out what is too long
            table = pd.read_csv(
                io.BytesIO(body.encode()), sep=r"\s+", header=None, names=list(_FIELDS), dtype=np.float64,
                index_col=False,
            )  # fmt: skip
    except (ValueError, pd.errors.ParserError, pd.errors.ParserWarning) as error:
        raise _wrong_line(path, body) or ReadError(path, str(error)) from None
    if not len(table):
        raise ReadError(path, "there are no jobs in it")
    if table.isna().any(axis=None):
        raise _wrong_line(path, body) or ReadError(path, "a value is no number")
    return table


def _wrong_line(path: Path, body: str) -> ReadError | None:
    """Return the error of the first line that doesn't hold 18 numbers."""
    for number, line in enumerate(body.split("\n"), 1):
        fields = line.split()
        if fields and len(fields) != len(_FIELDS):
            reason = f"a job has {len(_FIELDS)} numbers, but there are {len(fields)}: the file may be cut off there"
            return ReadError(path, reason, line=number)
        for field in fields:
            try:
                float(field)
            except ValueError:
                return ReadError(path, f"a number was expected, but got {field!r}", line=number)
    return None


def _label(values: np.ndarray) -> pd.Series[str]:
    """Return whole numbers as texts, "" where unknown."""
    codes, distinct = pd.factorize(values)
    words = np.array([*(f"{value:.0f}" for value in distinct), ""], dtype=object)
    return pd.Series(
        pd.Categorical.from_codes(np.where(codes < 0, len(distinct), codes), dtype=pd.CategoricalDtype(list(words)))
    )


def _states(run: np.ndarray, limit: np.ndarray, status: pd.Series[float], notes: list[str]) -> pd.Series[str]:
    states = status.map(_STATES).fillna("").to_numpy(dtype=object)
    unknown = (states == "") & np.isfinite(run)
    if unknown.any():
        notes.append(f"{int(unknown.sum())} jobs that ran have no status: they are taken as completed")
        states[unknown] = "COMPLETED"
    # Logs differ in the status of a job that reached its limit: completed, failed, or cancelled.
    reached = np.isin(states, ("COMPLETED", "FAILED", "CANCELLED")) & (run >= limit)
    if reached.any():
        notes.append(
            f"{int(reached.sum())} jobs ran as long as they asked for or longer: they count as stopped at their limit"
        )
        states[reached] = "TIMEOUT"
    return pd.Series(states, dtype="category")
