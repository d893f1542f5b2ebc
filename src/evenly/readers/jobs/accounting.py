"""The columns that Slurm's ``sacct`` can print, and how they become jobs: steps are merged into their job."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from evenly.errors import ReadError
from evenly.readers.jobs.job_reader import WANTED
from evenly.readers.jobs.jobs import Jobs, told_more, told_stopped
from evenly.readers.slurm_texts import dates, durations, each, sizes, state

__all__ = ["USED", "accounted", "are_columns"]

Floats = NDArray[np.float64]
#: What evenly uses, in lower case.
USED = (
    "jobid", "jobidraw", "cluster", "user", "account", "jobname", "partition", "state", "submit", "start", "end",
    "elapsed", "elapsedraw", "timelimit", "timelimitraw", "exitcode",
    "alloccpus", "ncpus", "reqcpus", "alloctres", "cputime", "cputimeraw", "nnodes",
    "allocnodes", "reqmem", "maxrss",
)  # fmt: skip
_OTHERS = (
    "admincomment", "allocgres", "associd", "avecpu", "avecpufreq", "avediskread", "avediskwrite", "avepages",
    "averss", "avevmsize", "blockid", "comment", "constraints", "container", "consumedenergy", "consumedenergyraw",
    "dbindex", "derivedexitcode", "eligible", "extra", "failednode", "flags", "gid", "group", "layout",
    "licenses", "maxdiskread", "maxdiskreadnode", "maxdiskreadtask", "maxdiskwrite", "maxdiskwritenode",
    "maxdiskwritetask", "maxpages", "maxpagesnode", "maxpagestask", "maxrssnode", "maxrsstask", "maxvmsize",
    "maxvmsizenode", "maxvmsizetask", "mcslabel", "mincpu", "mincpunode", "mincputask", "nodelist", "ntasks",
    "planned", "plannedcpu", "plannedcpuraw", "priority", "qos", "qosraw", "qosreq", "reason", "reqcpufreq",
    "reqcpufreqgov", "reqcpufreqmax", "reqcpufreqmin", "reqgres", "reqnodes", "reqtres", "reservation",
    "reservationid", "reserved", "resvcpu", "resvcpuraw", "restarts", "segmentsize", "sluid", "stderr", "stdin",
    "stdout", "submitline", "suspended", "systemcomment", "systemcpu", "totalcpu", "uid", "usercpu", "wckey",
    "wckeyid", "workdir",
)  # fmt: skip
_KNOWN = frozenset((*USED, *_OTHERS))
#: One of these is in every table of jobs whose cores can be known; other programs' tables have "elapsed", too.
_TELLING = frozenset(("jobid", "jobidraw", "alloccpus", "alloctres", "cputimeraw", "reqcpus", "ncpus"))
_FEWEST = 3
_CPUS = re.compile(r"(?:^|,)cpu=(\d+)")


def are_columns(names: list[str]) -> bool:
    """Return whether names can only be the columns of ``sacct``.

    Examples
    --------
    >>> are_columns(["JobID", "JobName", "State", "Elapsed"]), are_columns(["User", "State", "Seconds"])
    (True, False)
    >>> are_columns(["partition", "ntasks", "elapsed"])
    False
    """
    lowered = [name.strip().lower() for name in names]
    known = all(name in _KNOWN or name.startswith("tresusage") for name in lowered)
    return known and len(lowered) >= _FEWEST and not _TELLING.isdisjoint(lowered)


def accounted(path: Path, table: pd.DataFrame) -> Jobs:
    """Return the jobs of a table as ``sacct`` prints it.

    Parameters
    ----------
    path : Path
        The file, for messages.
    table : DataFrame (n_rows, …)
        Texts, with names of columns in lower case; the label of each row is its line in the file.

    Raises
    ------
    ReadError
        If the table doesn't hold what each job took, or has steps only.
    """
    ids = _text(table, "jobid" if "jobid" in table else "jobidraw")
    is_step = ids.str.contains(".", regex=False).to_numpy(dtype=np.bool_)
    whole = table[~is_step]
    if not len(whole):
        raise ReadError(
            path, f"it has steps (as {ids.iloc[0]}) but no jobs: leave out what selects steps, as in {WANTED}"
        )
    try:
        return _jobs(path, table, whole, ids, is_step)
    except ValueError as error:
        if isinstance(error, ReadError):
            raise
        message, *line = error.args
        raise ReadError(path, str(message), line=int(line[0]) if line else None) from None


def _jobs(
    path: Path, table: pd.DataFrame, whole: pd.DataFrame, ids: pd.Series[str], is_step: NDArray[np.bool_]
) -> Jobs:
    notes: list[str] = []
    start, end, submit = (dates(_text(whole, name)) for name in ("start", "end", "submit"))
    elapsed = _elapsed(path, whole, start, end, notes)
    cores = _cores(whole, elapsed, notes)
    notes += filter(None, [told_more(cores, _count(whole, "reqcpus"))])
    nodes = _count(whole, "nnodes" if "nnodes" in whole else "allocnodes")
    limit = 60 * _count(whole, "timelimitraw") if "timelimitraw" in whole else durations(_text(whole, "timelimit"))
    limit = np.where(limit > 0, limit, np.nan)
    if "state" in whole:
        states = _mapped(whole["state"]).astype(object)
        states = states.mask((states == "COMPLETED") & _by_code(whole), "FAILED")
    else:
        states = _told_by_codes(whole, end, elapsed >= limit, notes)
    columns: dict[str, object] = {
        "id": ids[~is_step], "user": _text(whole, "user"), "account": _text(whole, "account"),
        "name": _text(whole, "jobname"), "partition": _text(whole, "partition"), "state": states,
        "cluster": _text(whole, "cluster"), "submit": submit, "start": start, "end": end, "elapsed_s": elapsed,
        "limit_s": limit, "cores": cores, "nodes": nodes,
        "requested_memory": sizes(_text(whole, "reqmem"), cores, nodes),
        "peak_memory": _peak_memory(table, ids, is_step),
    }  # fmt: skip
    return Jobs.of(columns, notes)


def _text(table: pd.DataFrame, name: str) -> pd.Series[str]:
    if name not in table:
        return pd.Series("", index=table.index, dtype=object)
    return table[name]


def _count(table: pd.DataFrame, name: str) -> Floats:
    """Return whole numbers, NaN where there is none or none is positive."""
    counts = pd.to_numeric(each(_text(table, name), lambda text: float(text) if text.isdecimal() else np.nan))
    return np.where(counts > 0, counts, np.nan)


def _mapped(column: pd.Series[str]) -> pd.Series[Any]:
    words = {text: state(str(text)) for text in column.dropna().unique()}
    return column.astype(object).map(words).fillna("").astype("category")


def _by_code(table: pd.DataFrame) -> pd.Series[bool]:
    """Return which jobs failed by what their programs returned."""
    return ~_text(table, "exitcode").isin(["", "0", "0:0"])


def _told_by_codes(table: pd.DataFrame, end: Floats, reached: NDArray[np.bool_], notes: list[str]) -> pd.Series[Any]:
    """Return the states of jobs by what their programs returned, where there is no column of states."""
    ended = np.isfinite(end) | ("end" not in table)
    failed = _by_code(table)
    told = (
        "whose ExitCode isn't 0:0 is taken as failed, every other one" if "exitcode" in table else "that ended is taken"
    )
    stopped = ended & reached
    untold = f"there is no column State: every job {told} as completed"
    if "end" not in table:
        untold = f"{untold.replace('that ended ', '')}, also one that was running still, as no column End tells"
    notes.append("; ".join(filter(None, [untold, told_stopped(int(stopped.sum()))])))
    states = np.select([stopped, failed, ended], ["TIMEOUT", "FAILED", "COMPLETED"], "RUNNING")
    return pd.Series(states, index=table.index)


def _elapsed(path: Path, table: pd.DataFrame, start: Floats, end: Floats, notes: list[str]) -> Floats:
    if "elapsedraw" in table:
        return each(table["elapsedraw"], lambda text: float(text) if text.isdecimal() else np.nan)
    if "elapsed" in table:
        return durations(table["elapsed"])
    if not {"start", "end"} <= set(table):
        there = ", ".join(name for name in table if name in _KNOWN)
        raise ReadError(
            path,
            f"no column says what each job took (Elapsed, or Start and End; the columns are {there}). This prints what "
            f"is needed: {WANTED}",
        )
    notes.append("there is no column Elapsed: what jobs took is their End less their Start")
    return end - start


def _cores(table: pd.DataFrame, elapsed: Floats, notes: list[str]) -> Floats:
    for name in ("alloccpus", "ncpus"):
        if name in table:
            return _count(table, name)
    if "alloctres" in table:
        found = each(table["alloctres"], _cpus)
        if np.isfinite(found).any():
            return found
    for name in ("cputimeraw", "cputime"):
        if name in table:
            notes.append(f"there is no column AllocCPUS: the cores are {name} divided by what the job took")
            total = _count(table, name) if name == "cputimeraw" else durations(table[name])
            cores = np.divide(total, elapsed, out=np.full(len(total), np.nan), where=elapsed > 0)
            return np.where(cores >= 1, np.round(cores), np.nan)
    notes.append("no column says how many cores each job had (AllocCPUS): ReqCPUS is what was asked for, often less")
    return np.full(len(table), np.nan)


def _cpus(text: str) -> float:
    found = _CPUS.search(text)
    return float(found[1]) if found else np.nan


def _peak_memory(table: pd.DataFrame, ids: pd.Series[str], is_step: NDArray[np.bool_]) -> Floats:
    """Return the largest MaxRSS of each job's own row and its steps, in bytes."""
    if "maxrss" not in table:
        return np.full(int((~is_step).sum()), np.nan)
    ones = np.ones(len(table))
    found = sizes(table["maxrss"], ones, ones)
    codes, _ = pd.factorize(ids.astype(str).str.split(".", n=1).str[0] if is_step.any() else ids)
    largest = np.full(codes.max() + 1, -np.inf)
    known = np.isfinite(found)
    np.maximum.at(largest, codes[known], found[known])
    of_job = largest[codes[~is_step]]
    return np.where(of_job > 0, of_job, np.nan)
