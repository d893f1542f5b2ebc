"""Slurm's accounting as ``sacct --json`` prints it, since Slurm 21: each job holds its steps."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pandas as pd

from evenly.errors import ReadError
from evenly.readers.files import head, text
from evenly.readers.jobs.job_reader import JobReader
from evenly.readers.jobs.jobs import Jobs, told_more
from evenly.readers.slurm_texts import state

__all__ = ["SacctJsonReader"]

_JOBS = re.compile(r'"jobs"\s*:\s*\[')
_NO_JOB = re.compile(r'\{\s*"jobs"\s*:\s*\[\s*\]')
_TELLING = re.compile(r'"(job_id|Slurm|slurm|plugin|association|account)"')
_MIB = 2.0**20


class SacctJsonReader(JobReader):
    r"""Reads what ``sacct --json`` prints.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "jobs.json"
    >>> job = {"job_id": 7, "state": {"current": ["COMPLETED"]}, "time": {"elapsed": 62},
    ...        "tres": {"allocated": [{"type": "cpu", "count": 4}]}}
    >>> _ = path.write_text(json.dumps({"jobs": [job]}))
    >>> SacctJsonReader().read(path)[""]
    Runs(1 rows, 1 configurations of cores; seconds 62 to 62 s)
    """

    name: ClassVar[str] = "sacct-json"
    summary: ClassVar[str] = "Slurm's accounting: sacct --json"

    def recognises(self, path: Path) -> bool:
        start = head(path)
        if not start.lstrip().startswith("{"):
            return False
        return bool(
            _NO_JOB.match(start.lstrip())
            or (_TELLING.search(start) and (_JOBS.search(start) or '"Slurm"' in start or '"slurm"' in start))
        )

    def jobs(self, path: Path) -> Jobs:
        try:
            content = json.loads(text(path))
        except (ValueError, RecursionError) as error:
            raise ReadError(path, f"it is no whole JSON document: {error}") from None
        found = content.get("jobs") if isinstance(content, dict) else None
        if not isinstance(found, list):
            raise ReadError(path, 'it has no list "jobs"')
        if not found:
            raise ReadError(path, "there is no job in it: sacct's --starttime may lie after all jobs")
        try:
            rows = [_row(job) for job in found]
        except (KeyError, TypeError, AttributeError, ValueError) as error:
            raise ReadError(path, f"a job is not as sacct --json writes it: {type(error).__name__}: {error}") from None
        table = pd.DataFrame(rows)
        if table["elapsed_s"].isna().all():
            raise ReadError(
                path, "no job says what it took (time.elapsed): is it the output of squeue? sacct --json is needed"
            )
        asked = np.array([_count((job.get("tres") or {}).get("requested"), "cpu") for job in found])
        more = told_more(table["cores"].to_numpy(dtype=np.float64), asked)
        return Jobs.of({str(name): column for name, column in table.items()}, [more] if more else [])


def _number(value: Any) -> float:
    """Return a number that is given as such, or as Slurm 23 writes it: with whether it is set, and whether infinite."""
    if isinstance(value, dict):
        if not value.get("set", True) or value.get("infinite", False):
            return np.nan
        value = value.get("number")
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else np.nan


def _row(job: dict[str, Any]) -> dict[str, object]:
    time, array, tres = job.get("time") or {}, job.get("array") or {}, job.get("tres") or {}
    task, family = _number(array.get("task_id")), _number(array.get("job_id"))
    current = job["state"]["current"]
    in_array = family > 0 and np.isfinite(task)
    het = job.get("het") or {}
    whole, part = _number(het.get("job_id")), _number(het.get("job_offset"))
    parts = f"{whole:.0f}+{part:.0f}" if whole > 0 and np.isfinite(part) else str(job["job_id"])
    start, end = _number(time.get("start")), _number(time.get("end"))
    nodes = _number(job.get("allocation_nodes"))
    memory = _count(tres.get("allocated") or tres.get("requested"), "mem")
    return {
        "id": f"{family:.0f}_{task:.0f}" if in_array else parts,
        **{name: str(job.get(name) or "") for name in ("user", "account", "name", "partition", "cluster")},
        "state": state(str(current[0] if isinstance(current, list) else current)),
        "submit": _number(time.get("submission")), "start": start if start > 0 else np.nan,
        "end": end if end > 0 else np.nan, "elapsed_s": _number(time.get("elapsed")),
        "limit_s": 60 * _number(time.get("limit")), "cores": _count(tres.get("allocated"), "cpu"),
        "nodes": nodes if nodes > 0 else np.nan, "requested_memory": memory * _MIB,
        "peak_memory": _peak_memory(job.get("steps") or []),
    }  # fmt: skip


def _count(entries: Any, kind: str) -> float:
    counts = [_number(entry.get("count")) for entry in entries or [] if entry.get("type") == kind]
    return counts[0] if counts and counts[0] > 0 else np.nan


def _peak_memory(steps: list[dict[str, Any]]) -> float:
    """Return the largest resident memory of a step, in bytes: Slurm calls what was used ``requested``."""
    used = [_count(((step.get("tres") or {}).get("requested") or {}).get("max"), "mem") for step in steps]
    known = [value for value in used if np.isfinite(value)]
    return max(known, default=np.nan)
