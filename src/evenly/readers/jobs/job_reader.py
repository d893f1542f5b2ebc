"""What readers of job tables share: a file gives `Jobs`, and these give runs."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from evenly.errors import InputError, ReadError, option_text
from evenly.readers.base import Reader
from evenly.readers.jobs.agreement import agreeing
from evenly.readers.jobs.jobs import NUMBERS, TEXTS, Jobs
from evenly.readers.registry import (
    Skipped,
    name_list,
)
from evenly.runs.cores import Cores
from evenly.runs.grouping import by_value
from evenly.runs.runs import Runs
from evenly.space.expressions import Expression

__all__ = ["WANTED", "JobReader", "holding", "with_cores"]

#: The command whose output holds all that evenly can use.
WANTED = (
    "sacct -P -o JobID,User,Account,JobName,Partition,State,Submit,Start,End,Elapsed,Timelimit,AllocCPUS,NNodes,ReqMem,"
    "MaxRSS"
)


class JobReader(Reader):
    """Abstract base class of readers of job tables.

    Parameters
    ----------
    parameters : sequence of str or str, optional
        The columns of the job table that are parameters, see `Jobs.runs`.
    where : str, optional
        Which jobs, as an expression of the table's columns: ``"user == 'ada' and cores > 8"``.
    cores_are : str, optional
        The cores of a job, as an expression of the table's columns: ``"nodes * 48"``.
    solver : str, optional
        The column that names the coupled solvers: ``"name"``.
    """

    def __init__(
        self,
        *,
        parameters: Sequence[str] | str | None = None,
        where: str | None = None,
        cores_are: str | None = None,
        solver: str | None = None,
    ) -> None:
        self._solver = solver
        self._parameters = name_list(parameters)
        self._cores_are = None if cores_are is None else Cores(cores_are)
        self._where = None if where is None else Expression(where)
        self.notes: list[str] = []
        self.skipped: list[Skipped] = []

    @abstractmethod
    def jobs(self, path: Path) -> Jobs:
        """Return the jobs in a file.

        Raises
        ------
        ReadError
            If it is broken, or lacks what a table of jobs needs.
        """

    def chosen(self, path: Path) -> Jobs:
        """Return the jobs in a file for which the condition holds, contradicting rows left out.

        Raises
        ------
        ReadError
            If it can't be read, or the condition needs a column that isn't there.
        """
        jobs = agreeing(path, self.jobs(path))
        if self._cores_are is not None:
            jobs = with_cores(path, jobs, self._cores_are)
        return jobs if self._where is None else holding(path, jobs, self._where)

    def read(self, path: Path) -> dict[str, Runs]:
        self.skipped = []
        jobs = self.chosen(path)
        self.notes = list(jobs.notes)
        if self._where is None or self._where.names.isdisjoint(("elapsed_s", "limit_s")):
            self.notes += _told_parts(path, jobs)
        names = self._parameters
        if self._solver is not None:
            names = tuple(dict.fromkeys([*(names or jobs.parameters()), self._solver]))
        try:
            runs = jobs.runs(names)
        except InputError as error:
            raise ReadError(path, str(error)) from None
        if left_out := jobs.left_out():
            self.notes.append(f"{int(jobs.done.sum())} of {len(jobs)} jobs are done; left out: {left_out}")
        if stopped := int(jobs.stopped.sum()):
            self.notes.append(f"{stopped} jobs were stopped at their time limit: they would have taken longer")
        if not self._parameters:
            _refuse_mixed(path, jobs, runs.parameters)
        self.notes.append(f"parameters: {', '.join(runs.parameters)} (others: --parameters)")
        bare = jobs.bare_names()
        if "name" in runs.parameters and (bare != jobs.table["name"]).any():
            listed = ", ".join(map(repr, bare.unique()))
            self.notes.append(f"the names of jobs are read without the number of their cores: {listed}")
        if self._solver is None:
            return {"": runs}
        self.notes.append(f"{self._solver!r} names the solvers")
        try:
            return by_value(runs, self._solver)
        except InputError as error:
            raise ReadError(path, str(error)) from None


def _told_parts(path: Path, jobs: Jobs) -> list[str]:
    """Refuse to learn from jobs that stopped themselves at their limit: parts of runs that went on in other jobs.

    Where jobs have no names, they may be of many programs: then a note is returned.

    Raises
    ------
    ReadError
        With a condition that leaves them out, and one that says that they are whole runs.
    """
    parts = jobs.self_stopped
    if not parts.any():
        return []
    named = parts & (jobs.table["name"] != "").to_numpy()
    if not named.any():
        return [
            f"{int(parts.sum())} jobs ended just at their limit: if programs stop themselves, their work takes longer"
        ]
    cores = np.unique(jobs.number("cores")[named])
    others = bool((jobs.done & ~np.isin(jobs.number("cores"), cores)).any())
    listed = ", ".join(f"{n:g}" for n in cores)
    rest = f"--where 'cores not in [{listed}]' leaves these cores out, with the last parts; "
    first = jobs.table[named].iloc[0]
    raise ReadError(
        path,
        f"{int(named.sum())} jobs, as {first['id']} ({first['name']}), ended by themselves just at their time limit: "
        "if the program stops itself there and goes on in another job, no job took what a run takes. "
        f"{rest if others else ''}a table with the sum of each run's parts tells all; if each job is a whole run, say "
        f"so with {option_text('--where', 'elapsed_s > 0')}",
    )


def _refuse_mixed(path: Path, jobs: Jobs, parameters: Sequence[str]) -> None:
    """Refuse to learn one law from jobs whose times differ with a label that is no parameter.

    Raises
    ------
    ReadError
        With what names it a parameter, or leaves it out.
    """
    label, ratio, differ, compared = jobs.mixed(parameters)
    if label:
        where = "in all" if differ == compared else f"in {differ} of {compared}"
        raise ReadError(
            path,
            f"{label!r} is left out (it has many values), but jobs that only differ in it differ in time by "
            f"{ratio:.3g} times, {where} configurations alike: choose jobs with --where, or name the parameters, as "
            f"{option_text('--parameters', ','.join([*parameters, label]))}; if they are alike, "
            f"{option_text('--parameters', ','.join(parameters))}",
        )


def holding(path: Path, jobs: Jobs, condition: Expression) -> Jobs:
    """Return the jobs for which a condition on the columns of `Jobs` holds.

    Raises
    ------
    ReadError
        If it names another column, or holds for no job.

    Examples
    --------
    >>> jobs = Jobs.of({"id": ["7", "8"], "cores": [4, 16]})
    >>> holding(Path("jobs.txt"), jobs, Expression("cores > 8")).table["id"].tolist()
    ['8']
    """
    known = {str(name): jobs.table[name].astype(object if name in TEXTS else float).to_numpy() for name in jobs.table}
    try:
        kept = condition.holds(known, len(jobs))
    except InputError as error:
        raise ReadError(path, str(error)) from None
    if not kept.any():
        raise ReadError(path, f"no job has {condition.text}")
    return Jobs(jobs.table[kept].reset_index(drop=True), jobs.notes)


def with_cores(path: Path, jobs: Jobs, cores: Cores) -> Jobs:
    """Return the jobs with other cores, as an expression of the numbers of their table.

    Raises
    ------
    ReadError
        If it names another column, or the cores of no job come out as a whole number.

    Examples
    --------
    >>> with_cores(Path("jobs.txt"), Jobs.of({"nodes": [1, 2]}), Cores("nodes * 48")).number("cores").tolist()
    [48.0, 96.0]
    """
    if not set(cores.names) <= set(NUMBERS) or not cores.names:
        raise ReadError(
            path, f"--cores-are {cores.text!r} must be made of columns of numbers, as nodes, cores, but got "
            f"{', '.join(cores.names) or 'none'}",
        )  # fmt: skip
    found = cores.of({name: jobs.number(name) for name in cores.names}, len(jobs))
    if np.isnan(found).all():
        raise ReadError(path, f"--cores-are {cores.text!r} is a whole number above zero for no job")
    return Jobs(jobs.table.assign(cores=found), jobs.notes)
