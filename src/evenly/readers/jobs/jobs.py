"""The table of jobs that a batch system ran: one row per job, whoever wrote it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from evenly.errors import InputError
from evenly.readers.tables.identifiers import without_number
from evenly.readers.tables.repetitions import chosen_by
from evenly.readers.tables.states import state_of
from evenly.runs.runs import Runs

__all__ = ["COLUMNS", "NOT_ENDED", "NUMBERS", "TEXTS", "Jobs", "ended_at_limit", "told_more", "told_stopped"]

#: No job began later than in the year 5000: such a number is damaged.
_LATEST_S = 9.5e10

#: Columns that hold text; "" where it isn't known.
TEXTS = ("id", "user", "account", "name", "partition", "state", "cluster")
#: Columns that hold numbers, NaN where unknown: dates in seconds since 1970, durations in seconds, memory in bytes.
NUMBERS = (
    "submit", "start", "end", "elapsed_s", "limit_s", "cores", "nodes", "requested_memory", "peak_memory",
)  # fmt: skip
COLUMNS = (*TEXTS, *NUMBERS)
#: States of jobs that came to their end, and of jobs that were stopped at their limit.
_DONE, _STOPPED = ("COMPLETED",), ("TIMEOUT", "DEADLINE")
NOT_ENDED = ("RUNNING", "PENDING", "SUSPENDED", "REQUEUED", "REQUEUE_HOLD", "RESIZING", "COMPLETING", "CONFIGURING")
#: So close to their limits, jobs of a program that stops itself in time end.
_NEAR = 0.97
#: A column of text is a parameter if it has at most so many values, each with so many jobs on average.
_MOST_LABELS, _FEWEST_PER_LABEL = 12, 3
#: Columns of text that may tell programs, or machines, apart.
_LABELS = ("partition", "name")
_MAY_BE_PARAMETERS = ("cores", "nodes", "partition", "name", "user", "account", "cluster")


@dataclass(frozen=True)
class Jobs:
    """Jobs of a batch system.

    Parameters
    ----------
    table : DataFrame (n_jobs, …)
        The columns of `COLUMNS`, texts as categories.
    notes : tuple of str
        What the reader assumed.

    Examples
    --------
    >>> jobs = Jobs.of({"id": ["7", "8"], "state": ["COMPLETED", "TIMEOUT"], "elapsed_s": [62.0, 3600.0], "cores": 4})
    >>> len(jobs), jobs.done.tolist(), jobs.stopped.tolist()
    (2, [True, False], [False, True])
    """

    table: pd.DataFrame
    notes: tuple[str, ...] = ()

    @classmethod
    def of(cls, columns: dict[str, object], notes: Sequence[str] = ()) -> Jobs:
        """Build jobs from some of the columns; the others are unknown."""
        given = pd.DataFrame(columns)
        table = {name: pd.Series(given.get(name, ""), index=given.index, dtype="category") for name in TEXTS}
        numbers = {name: pd.Series(given.get(name, np.nan), index=given.index, dtype=np.float64) for name in NUMBERS}
        return cls(pd.DataFrame({**table, **numbers}).reset_index(drop=True), tuple(notes))

    @classmethod
    def concat(cls, parts: Sequence[Jobs]) -> Jobs:
        """Put the jobs of several files together."""
        if len(parts) == 1:
            return parts[0]
        whole = pd.concat([part.table.astype(dict.fromkeys(TEXTS, object)) for part in parts], ignore_index=True)
        notes = dict.fromkeys(note for part in parts for note in part.notes)
        return cls(whole.astype(dict.fromkeys(TEXTS, "category")), tuple(notes))

    def __len__(self) -> int:
        return len(self.table)

    def number(self, name: str) -> NDArray[np.float64]:
        """Return a column of numbers, shape (n_jobs,)."""
        return self.table[name].to_numpy(dtype=np.float64)

    @property
    def done(self) -> NDArray[np.bool_]:
        """Which jobs came to their end by themselves, in a time that is known, shape (n_jobs,)."""
        return self._is_in(_DONE) & (self.number("elapsed_s") > 0)

    @property
    def stopped(self) -> NDArray[np.bool_]:
        """Which jobs were stopped at their time limit, so that they would have taken longer, shape (n_jobs,)."""
        return self._is_in(_STOPPED) & (self.number("elapsed_s") > 0)

    @property
    def self_stopped(self) -> NDArray[np.bool_]:
        """Which jobs seem to have stopped themselves at their limit: several of one user, name and size, (n_jobs,).

        Numbers in names don't count, as they may number the parts of a run.
        """
        took = np.where(self.done, self.number("elapsed_s"), np.nan)
        names = self.table["name"].astype(object).str.replace(r"\d+", "", regex=True)
        groups = pd.DataFrame({"user": self.table["user"].astype(object), "name": names, "cores": self.table["cores"]})
        found = np.zeros(len(self), dtype=np.bool_)
        for rows in groups[self.done].groupby(list(groups)).indices.values():
            rows = np.flatnonzero(self.done)[rows]
            at_limit = ended_at_limit(took[rows], self.number("limit_s")[rows])
            found[rows] = at_limit & (at_limit.sum() > 1)
        return found

    def _is_in(self, states: Sequence[str]) -> NDArray[np.bool_]:
        return np.asarray(self.table["state"].isin(states), dtype=np.bool_)

    def left_out(self) -> str:
        """Say how many jobs are neither done nor stopped, by their own word; "" if there are none."""
        rest = self.table["state"][~(self.done | self.stopped)].astype(object)
        rest = rest.where(~rest.isin((*_DONE, *_STOPPED)), "that took less than a second or an unknown time")
        counts = rest.replace("", "without a state").value_counts()
        return ", ".join(f"{count} {word}" for word, count in counts.items())

    def runs(self, parameters: Sequence[str] = ()) -> Runs:
        """Return the jobs as runs: the time is what they took, the parameters what was asked for.

        Cores are a parameter where they are known. Nodes are one if they vary, the partition and the job's name if they
        have few values. Jobs that were stopped at their limit have the status ``"timed out"``. Jobs that have not ended
        are left out, and those that were lost by no fault of their program, as to a node that failed. All others have
        failed. Names are those without the number of their cores or nodes, which another parameter holds: ``wave_p`` of
        ``wave_p48``.

        Parameters
        ----------
        parameters : sequence of str, optional
            The columns to use as parameters instead.

        Raises
        ------
        InputError
            If there are no jobs that ended, or no column that can be a parameter.

        Examples
        --------
        >>> Jobs.of({"state": "COMPLETED", "elapsed_s": [62.0, 31.0], "cores": [4, 8]}).runs()
        Runs(2 rows, 2 configurations of cores; seconds 31 to 62 s)
        """
        names = list(parameters) or self.parameters()
        self._check(names)
        lost = [word for word in self.table["state"].unique() if state_of(word) == "lost"]
        ended = ~self._is_in((*NOT_ENDED, *lost)) & self._known(names).all(
            axis=1
        )  # a job that never began has no cores
        if not ended.any():
            raise InputError("no job has ended yet: there is nothing to learn from")
        table = self.table[ended].assign(name=self.bare_names()[ended])
        done, stopped = self.done[ended], self.stopped[ended]
        frame = pd.DataFrame(
            {
                **{name: _parameter(table[name]) for name in names},
                "seconds": np.where(done | stopped, table["elapsed_s"], np.nan),
                "status": np.select([done, stopped], ["ok", "timed out"], "failed"),
                "run": table["id"].astype(object),
                "machine": table["cluster"].astype(object),
                "when": _iso(table["start"]),
            }
        )
        quantities = {}
        for name, column, unit in (("requested_seconds", "limit_s", "s"), ("requested_memory", "requested_memory", "B"),
                                   ("peak_memory", "peak_memory", "B")):  # fmt: skip
            values = table[column].to_numpy(dtype=np.float64)
            if np.isfinite(values).any():
                frame[name] = np.where(np.isfinite(values), values, np.nan)
                quantities[name] = unit
        return Runs.from_frame(frame, names, quantities=quantities)

    def parameters(self) -> list[str]:
        """Return the columns that are parameters unless the user says which."""
        cores = ["cores"] if self.table["cores"].notna().any() else []
        nodes = ["nodes"] if self._varies("nodes") else []
        return [*cores, *nodes, *(name for name in _LABELS if self._has_few_values(name))]

    def bare_names(self) -> pd.Series[Any]:
        """Return the jobs' names without the number of their cores or nodes, where all have it and it varies."""
        names = self.table["name"].astype(object)
        for counts in ("cores", "nodes"):
            pairs = pd.DataFrame({"name": names, "count": self.table[counts]}).dropna().drop_duplicates()
            if pairs["count"].nunique() > 1:
                bare = without_number(pairs["name"].tolist(), pairs["count"].to_numpy())
                names = names.replace(dict(zip(pairs["name"], bare, strict=True)))
        return names

    def mixed(self, parameters: Sequence[str]) -> tuple[str, float, int, int]:
        """Return what else tells jobs of different times apart, by how much, in how many configurations, of how many.

        Of many names, the most frequent are compared; names that all differ are compared without their numbers. The
        text is empty if nothing tells them apart.

        Examples
        --------
        >>> names = [f"wave_{mesh}_p{p}" for mesh in ("2M", "8M") for p in (4, 8, 16)]
        >>> jobs = Jobs.of({"name": names, "state": "COMPLETED", "cores": [4, 8, 16] * 2,
        ...                 "elapsed_s": [80.0, 40, 20, 320, 160, 80]})
        >>> label, ratio, *counts = jobs.mixed(["cores"])
        >>> label, round(ratio, 3), counts
        ('name', 4.0, [3, 3])
        """
        table = self.table.assign(name=self.bare_names())[self.done].astype(dict.fromkeys(TEXTS, object))
        for label in (label for label in _LABELS if label not in parameters):
            texts = table[label]
            texts = texts if 2 * texts.nunique() <= len(texts) else texts.str.replace(r"\d+", "", regex=True)
            often = texts.isin(texts.value_counts().index[:_MOST_LABELS]).to_numpy(dtype=np.bool_)
            seconds = table["elapsed_s"].to_numpy(dtype=np.float64)
            ratio, differ, compared = chosen_by(table[often][list(parameters)], texts[often].tolist(), seconds[often])
            if ratio > 1:
                return label, ratio, differ, compared
        return "", 1.0, 0, 0

    def _varies(self, name: str) -> bool:
        values = self.table[name][self.done | self.stopped]
        return values.nunique() > 1 and bool(values.notna().all())

    def _has_few_values(self, name: str) -> bool:
        values = (self.bare_names() if name == "name" else self.table[name]).nunique()
        return 2 <= values <= min(_MOST_LABELS, len(self) / _FEWEST_PER_LABEL)

    def _check(self, names: Sequence[str]) -> None:
        if not names:
            raise InputError(
                "nothing in the table of jobs can be a parameter: it doesn't say how many cores a job had (AllocCPUS)"
            )
        wrong = [name for name in names if name not in _MAY_BE_PARAMETERS]
        if wrong:
            allowed = ", ".join(_MAY_BE_PARAMETERS)
            raise InputError(f"parameters of jobs must be some of {allowed}, but got {wrong[0]!r}")
        unknown = ~self._known(names)[self.done | self.stopped]
        if unknown.any():
            name = names[int(unknown.any(axis=0).argmax())]
            lost = int(unknown.any(axis=1).sum())
            raise InputError(f"{name} of {lost} of {len(unknown)} jobs are not known: choose other --parameters")

    def _known(self, names: Sequence[str]) -> NDArray[np.bool_]:
        """Return whether each job has a value of each column, shape (n_jobs, n_names)."""
        return np.stack([self.table[name].notna().to_numpy(dtype=np.bool_) for name in names], axis=1)


def told_stopped(count: int, how: str = "ended") -> str:
    """Say how many jobs count as stopped at their limit, though no state says so; "" if there are none."""
    if not count:
        return ""
    return f"{count} job{'s' * (count > 1)} {how} at the time limit, and count{'s' * (count == 1)} as stopped there"


def ended_at_limit(seconds: NDArray[np.float64], limits: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Return which jobs that ended by themselves did so at their limits, (n_jobs,); shortly before them, if half did.

    A run that stops itself there, and goes on in another job, has at least as many such parts as last ones.

    Examples
    --------
    >>> ended_at_limit(np.array([3590.0, 3580.0, 600.0]), np.full(3, 3600.0))
    array([ True,  True, False])
    """
    near = seconds >= _NEAR * limits
    return near if 2 * near.sum() >= len(seconds) else seconds >= limits


def _parameter(column: pd.Series[Any]) -> pd.Series[Any]:
    if column.name in TEXTS:
        return column.astype(object)
    return column.astype(np.int64) if column.notna().all() and (column % 1 == 0).all() else column


def _iso(seconds: pd.Series[float]) -> pd.Series[str]:
    seconds = seconds.where(seconds.abs() < _LATEST_S)
    if seconds.isna().all():
        return pd.Series("", index=seconds.index, dtype=object)
    whole = seconds.fillna(0).to_numpy(dtype=np.int64).astype("datetime64[s]")
    texts = pd.Series(np.datetime_as_string(whole), index=seconds.index, dtype=object)
    return texts.where(seconds.notna(), "")


def told_more(cores: NDArray[np.float64], asked: NDArray[np.float64]) -> str:
    """Return a note on jobs that had more cores than they `asked` for, both (n_jobs,); "" without any.

    Examples
    --------
    >>> told_more(np.array([48.0, 48.0, np.nan]), np.array([16.0, 48.0, 1.0]))
    '1 of 3 jobs had more cores than it asked for: learned from are those that it had, used or not'
    """
    more = int((cores > asked).sum())
    they = "it" if more == 1 else "they"
    told = f"{more} of {len(cores)} jobs had more cores than {they} asked for"
    return f"{told}: learned from are those that {they} had, used or not" if more else ""
