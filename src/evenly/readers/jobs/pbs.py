"""The accounting log of PBS (OpenPBS, PBS Professional, Torque): a record in each line, that of a job's end has type E.

A record is ``DATE;TYPE;JOB;KEY=VALUE KEY=VALUE …``: PBS Professional Administrator's Guide, Accounting.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import ClassVar

import numpy as np
import pandas as pd

from evenly.errors import ReadError
from evenly.readers.files import UNENDED, head, is_unended, lines
from evenly.readers.jobs.job_reader import JobReader
from evenly.readers.jobs.jobs import Jobs
from evenly.readers.registry import Skipped
from evenly.readers.slurm_texts import durations, sizes

__all__ = ["PbsReader"]

_RECORD = re.compile(r"\d\d/\d\d/\d{4} \d\d:\d\d:\d\d;(?P<type>[A-Za-z]+);(?P<id>[^;\s]*)(?:[;\s](?P<entries>.*))?")
_ENTRY = re.compile(r"(?:^|\s)([A-Za-z_][\w.]*)=(\"[^\"]*\"|\S*)")
#: A part of what was asked for, as 2:ppn=8 or node17:ppn=8, and a host with its slots, as node17/0-3,5 or node17/0*4.
_PPN = re.compile(r"(?:(?P<nodes>\d+)|[A-Za-z][\w.-]*):(?:[^+]*?:)?ppn=(?P<ppn>\d+)(?::.*)?")
_HOST = re.compile(r"[\w.-]+/(?P<slots>\d+(?:[-,]\d+)*)(?:\*(?P<times>\d+))?")
#: The exit status with which PBS Professional says that it stopped a job at its limit.
_STOPPED_AT_LIMIT = "-29"


class PbsReader(JobReader):
    r"""Reads accounting logs of PBS.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "20240424"
    >>> _ = path.write_text("04/24/2024 12:01:02;E;7.pbs;user=ada jobname=wave qtime=1713960000 start=1713960000 "
    ...                     "end=1713960062 Resource_List.ncpus=4 Resource_List.walltime=01:00:00 Exit_status=0 "
    ...                     "resources_used.walltime=00:01:02\n")
    >>> PbsReader().read(path)[""]
    Runs(1 rows, 1 configurations of cores; seconds 62 to 62 s)
    """

    name: ClassVar[str] = "pbs"
    summary: ClassVar[str] = "PBS's accounting logs: OpenPBS, PBS Professional, Torque"

    def recognises(self, path: Path) -> bool:
        first = head(path).split("\n", 1)[0]
        return _RECORD.fullmatch(first.rstrip("\r")) is not None

    def jobs(self, path: Path) -> Jobs:
        self.skipped = []
        content = lines(path)
        ended: list[dict[str, str]] = []
        begun: dict[str, int] = {}
        for number, line in enumerate(content, 1):
            if not line.strip():
                continue
            record = _RECORD.fullmatch(line)
            if record is None:
                self.skipped.append(Skipped(path, "it is no record of PBS: date;type;job;key=value …", line=number))
            elif record["type"] == "S":
                begun[record["id"]] = number
            elif record["type"] == "E" and "[]" not in record["id"]:  # an array as a whole only sums up its jobs
                begun.pop(record["id"], None)
                entries = {key: value.strip('"') for key, value in _ENTRY.findall(record["entries"] or "")}
                ended.append({"id": record["id"], "line": str(number), **entries})
        if not ended:
            raise ReadError(path, "no job has ended in it: there is no record of type E")
        notes = [f"{len(begun)} jobs began and have not ended in it: left out"] if begun else []
        jobs = _jobs(path, pd.DataFrame(ended).fillna(""), notes)
        return Jobs(jobs.table, (*jobs.notes, *([UNENDED] if is_unended(content) else [])))


def _jobs(path: Path, table: pd.DataFrame, notes: list[str]) -> Jobs:
    table.index = pd.Index(table["line"].astype(int))

    def text(name: str) -> pd.Series[str]:
        return table[name] if name in table else pd.Series("", index=table.index, dtype=object)

    try:
        took, limit = durations(text("resources_used.walltime")), durations(text("Resource_List.walltime"))
    except ValueError as error:
        message, *line = error.args
        raise ReadError(path, str(message), line=int(line[0]) if line else None) from None
    seconds = {
        name: pd.to_numeric(text(name), errors="coerce").to_numpy(np.float64) for name in ("qtime", "start", "end")
    }
    if np.isnan(took).all():
        took = seconds["end"] - seconds["start"]
        notes.append("no record says resources_used.walltime: what jobs took is their end less their start")
    records = [{str(key): str(value) for key, value in row.items()} for row in table.to_dict("records")]
    cores, nodes = (np.array([count(row) for row in records]) for count in (_cores, _nodes))
    reached = np.isfinite(limit) & (took >= limit)
    status = text("Exit_status")
    if (status == "").all():
        notes.append("no record says Exit_status: every job that ended before its time limit is taken as completed")
        status = pd.Series(["0", _STOPPED_AT_LIMIT], dtype=object).take(reached.astype(int)).set_axis(table.index)
    stopped = ((status != "0") & reached) | (status == _STOPPED_AT_LIMIT)
    states = np.select([stopped, status == "0", status == ""], ["TIMEOUT", "COMPLETED", ""], "FAILED")
    if (killed := stopped & (status != _STOPPED_AT_LIMIT)).any():
        notes.append(
            f"{int(killed.sum())} jobs ended with an error after their time limit: they count as stopped at their limit"
        )
    return Jobs.of(
        {
            "id": text("id"), "user": text("user"), "account": text("account"), "name": text("jobname"),
            "partition": text("queue"), "state": states, "submit": seconds["qtime"], "start": seconds["start"],
            "end": seconds["end"], "elapsed_s": took, "limit_s": limit, "cores": cores, "nodes": nodes,
            "requested_memory": sizes(text("Resource_List.mem"), cores, nodes),
            "peak_memory": sizes(text("resources_used.mem"), cores, nodes),
        },
        notes,
    )  # fmt: skip


def _cores(record: Mapping[str, str]) -> float:
    """Return how many cores a job had: those that were allocated, or as its nodes were asked for; NaN if unknown."""
    for name in ("Resource_List.ncpus", "total_execution_slots", "resources_used.ncpus"):
        if record.get(name, "").isdecimal():
            return float(record[name])
    hosts = [_HOST.fullmatch(part) for part in record.get("exec_host", "").split("+")]
    if all(hosts):
        return float(sum(_slots(host["slots"]) * int(host["times"] or 1) for host in hosts if host is not None))
    parts = [_PPN.fullmatch(part) for part in record.get("Resource_List.nodes", "").split("+")]
    if not all(parts):
        return np.nan
    return float(sum(int(part["nodes"] or 1) * int(part["ppn"]) for part in parts if part is not None))


def _slots(text: str) -> int:
    """Return how many slots ``0-3,5`` are.

    Examples
    --------
    >>> _slots("0-3,5"), _slots("7")
    (5, 1)
    """
    ranges = [[int(end) for end in part.split("-")] for part in text.split(",")]
    return sum(ends[-1] - ends[0] + 1 for ends in ranges)


def _nodes(record: Mapping[str, str]) -> float:
    for name in ("Resource_List.nodect", "unique_node_count"):
        if record.get(name, "").isdecimal():
            return float(record[name])
    return np.nan
