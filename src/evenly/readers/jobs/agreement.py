"""One row for each job: what is told twice, parts of one job, and rows that contradict themselves."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from evenly.errors import ReadError
from evenly.readers.jobs.jobs import NOT_ENDED, Jobs

__all__ = ["agreeing", "each_once"]

Flags = NDArray[np.bool_]
#: Seconds by which times may differ: clocks of two hosts, and the hour that a change to summer time adds or takes.
_SLACK_S, _HOUR_S = 60.0, 3600.0
#: A job that took longer than so many times its limit, and an hour, can't have had this limit.
_FAR = 1.5
#: If more than this share of the rows contradict themselves, it is the columns that are wrong.
_MOST = 0.5


def agreeing(path: Path, jobs: Jobs) -> Jobs:
    """Return the jobs of a file, each once, without the rows that contradict themselves; notes say how many there are.

    Raises
    ------
    ReadError
        If most rows contradict themselves, as where columns are swapped.

    Examples
    --------
    >>> table = {"id": ["1", "2", "2"], "state": "COMPLETED", "start": [0.0, 0.0, 0.0], "end": [-500.0, 60.0, 60.0],
    ...          "elapsed_s": [500.0, 60.0, 60.0], "cores": 4}
    >>> found = agreeing(Path("jobs.txt"), Jobs.of(table))
    >>> found.table["id"].tolist(), found.notes[0]
    (['2'], '1 row left out: it ended before it began (1)')
    """
    submit, start, end, took, limit = (jobs.number(name) for name in ("submit", "start", "end", "elapsed_s", "limit_s"))
    between, over = end - start, took - limit
    with np.errstate(invalid="ignore"):
        # A job that was suspended took less than its end less its start, so only more is a contradiction.
        longer = (took > between + _SLACK_S) & (np.abs(took - between - _HOUR_S) > _SLACK_S)
        doubts = {
            "it ended before it began": (end < start - _SLACK_S, end - start),
            "it took longer than from its start to its end": (longer & (end >= start - _SLACK_S), took - between),
            "it began before it was submitted": (start < submit - _SLACK_S, start - submit),
            "it took far longer than its time limit": (took > np.maximum(_FAR * limit, limit + _HOUR_S), over),
        }
    wrong = np.zeros(len(jobs), dtype=np.bool_)
    told = []
    for what, (which, compared) in doubts.items():
        known = np.isfinite(compared)
        if which.sum() > max(_MOST * known.sum(), 1):
            raise ReadError(
                path,
                f"of {int(which.sum())} of {int(known.sum())} jobs, {what}: are the columns named in their order? "
                "Submit, Start and End are dates, Elapsed and Timelimit durations",
            )
        if compared is over:  # limits may have been raised, or not been enforced
            continue
        if (new := which & ~wrong).any():
            told.append(f"{what} ({int(new.sum())})")
        wrong |= which
    notes = jobs.notes
    if told:
        count = int(wrong.sum())
        notes = (f"{count} row{'' if count == 1 else 's'} left out: {', '.join(told)}", *notes)
    return each_once(_joined(Jobs(jobs.table[~wrong].reset_index(drop=True), notes)))


def each_once(jobs: Jobs) -> Jobs:
    """Return each job once: rows of the same job and the same start are one, those that differ are left out.

    A row of a job that had not ended yet gives way to the row of its end.

    Examples
    --------
    >>> table = {"id": ["1", "1"], "state": ["RUNNING", "COMPLETED"], "start": 0.0, "elapsed_s": [30.0, 60.0]}
    >>> each_once(Jobs.of(table)).table["elapsed_s"].tolist()
    [60.0]
    """
    table = jobs.table
    key = ["cluster", "id", "start"]
    # The number of a job that ends in + was cut off, and may be that of several.
    whole = (table["id"] != "") & ~table["id"].astype(str).str.endswith("+")
    repeated = table.duplicated(key, keep=False).to_numpy() & whole.to_numpy(dtype=np.bool_)
    if not repeated.any():
        return jobs
    some = table[repeated].astype(dict.fromkeys(("cluster", "id", "state"), object))
    texts = some[["user", "account", "name", "partition"]].astype(str)
    cut = texts.apply(lambda column: column.str.endswith("+")).any(axis=1)  # sacct cuts what is too wide for its column
    some = some.assign(open=some["state"].isin(NOT_ENDED), whole=~cut).sort_values(["open", "whole"], kind="stable")
    groups = some.groupby(key, dropna=False, sort=False, observed=True)
    ended = some[~some["open"] | groups["open"].transform("all")]
    facts = ended.groupby(key, dropna=False, sort=False, observed=True)[["state", "elapsed_s", "cores"]]
    differ = (facts.transform("nunique", dropna=False) > 1).any(axis=1) & ~ended["open"]
    last = ended[~differ].drop_duplicates(key, keep="last").index
    rows = np.sort(np.concatenate([np.flatnonzero(~repeated), last.to_numpy(dtype=np.int64)]))
    notes = [*jobs.notes]
    same = len(table) - len(rows) - int(differ.sum())
    if same:
        tell = "s tell of a job again, and are" if same > 1 else " tells of a job again, and is"
        notes.append(f"{same} row{tell} counted once")
    if differ.any():
        several = ended[differ][key].drop_duplicates()
        jobs_ = f"{len(several)} job{'s' if len(several) > 1 else ''}, as {several['id'].iloc[0]}"
        notes.append(f"{jobs_}, left out: their rows differ in state, time or cores")
    return Jobs(table.iloc[rows].reset_index(drop=True), tuple(notes))


def _joined(jobs: Jobs) -> Jobs:
    """Join the parts of heterogeneous jobs, numbered 101+0, 101+1 …: they run at once, on the cores of all."""
    ids = jobs.table["id"].astype(object)
    parts = ids.str.fullmatch(r"\d+\+\d+").to_numpy(dtype=np.bool_)
    if not parts.any():
        return jobs
    some = jobs.table[parts].astype(dict.fromkeys(("id", "state"), object))
    some = some.drop_duplicates(["cluster", "id", "start", "state", "elapsed_s"])
    whole = some["id"].str.split("+").str[0]
    rows: list[dict[str, object]] = []
    for _, group in some.groupby([some["cluster"].astype(object), whole, some["submit"]], dropna=False, sort=False):
        first = {str(name): value for name, value in group.iloc[0].items()}
        bad = [word for word in group["state"] if word != "COMPLETED"]
        summed: dict[str, object] = {
            name: group[name].sum(min_count=len(group)) for name in ("cores", "nodes", "requested_memory")
        }
        longest = {name: group[name].max() for name in ("end", "elapsed_s", "limit_s")}
        summed["peak_memory"] = group["peak_memory"].sum(min_count=1)
        state = bad[0] if bad else "COMPLETED"
        rows.append(first | summed | longest | {"id": str(first["id"]).split("+")[0], "state": state})
    joined = Jobs.of({str(name): column for name, column in pd.DataFrame(rows).items()})
    count = len(rows)
    note = f"{len(some)} parts are {count} heterogeneous job{'' if count == 1 else 's'}: the cores of all parts count"
    return Jobs.concat([Jobs(jobs.table[~parts].reset_index(drop=True), (*jobs.notes, note)), joined])
