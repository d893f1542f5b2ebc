"""What readers of job tables share: a file gives `Jobs`, and these give runs."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from evenly.errors import InputError, ReadError
from evenly.readers.base import Reader
from evenly.readers.jobs.agreement import agreeing, each_once
from evenly.readers.jobs.jobs import NUMBERS, TEXTS, Jobs
from evenly.readers.registry import (
    Skipped,
    build,
    check_options,
    listing,
    name_list,
    option_names,
    reader_class,
    refuse_unused,
)
from evenly.readers.registry import readers as registered
from evenly.runs.cores import Cores
from evenly.runs.runs import Runs
from evenly.space.expressions import Expression

__all__ = ["WANTED", "JobReader", "read_jobs"]

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
    """

    def __init__(
        self,
        *,
        parameters: Sequence[str] | str | None = None,
        where: str | None = None,
        cores_are: str | None = None,
    ) -> None:
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
        try:
            runs = jobs.runs(self._parameters)
        except InputError as error:
            raise ReadError(path, str(error)) from None
        if left_out := jobs.left_out():
            self.notes.append(f"{int(jobs.done.sum())} of {len(jobs)} jobs are done; left out: {left_out}")
        if stopped := int(jobs.stopped.sum()):
            self.notes.append(f"{stopped} jobs were stopped at their time limit: they would have taken longer")
        self.notes.append(f"parameters: {', '.join(runs.parameters)} (others: --parameters)")
        return {"": runs}


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


def read_jobs(paths: Sequence[Path | str] | Path | str, *, format: str | None = None, **options: object) -> Jobs:  # noqa: A002
    r"""Read job tables from files: Slurm's sacct or seff, PBS's accounting, the Standard Workload Format, or any table.

    Parameters
    ----------
    paths : path-like or sequence of path-like
        Files.
    format : str, optional
        Read only this format.
    **options
        Options of the readers, as `evenly.read` takes them.

    Raises
    ------
    ReadError
        If a file can't be read, or is no table of jobs.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "sacct.txt"
    >>> _ = path.write_text("JobID|Elapsed|AllocCPUS|State\n7|00:01:02|4|COMPLETED\n7.batch|00:01:02|4|COMPLETED\n")
    >>> read_jobs(path).table[["id", "elapsed_s", "cores", "state"]]
      id  elapsed_s  cores      state
    0  7       62.0    4.0  COMPLETED
    """
    files = [Path(path) for path in ([paths] if isinstance(paths, str | Path) else paths)]
    # Asked last: any table may be one of jobs. It is no reader of evenly.read, which takes such a table for runs.
    from evenly.readers.jobs.job_table import JobTableReader

    every: list[type[Reader]] = [*registered(), JobTableReader]
    known = {one.name: one for one in every if issubclass(one, JobReader)}
    if format is not None and format not in known:
        reader_class(format)
        raise InputError(f"{format} is no format of jobs: there are {', '.join(known)}")
    classes = [known[format]] if format is not None else list(known.values())
    if format is not None:
        check_options(classes, options)
    else:  # what no format of jobs takes is refused once it is known which format the file has
        own = option_names(JobTableReader)
        check_options(registered(), {name: value for name, value in options.items() if name not in own})
    readers = [one for one in (build(its, options) for its in classes) if isinstance(one, JobReader)]
    return each_once(Jobs.concat([_read_one(path, readers, options) for path in files]))


def _read_one(path: Path, readers: Sequence[JobReader], options: Mapping[str, object]) -> Jobs:
    if not path.is_file():
        raise ReadError(path, "a file with a table of jobs was expected, but there is none")
    fitting = [reader for reader in readers if reader.recognises(path)]
    if not fitting:
        names = ", ".join(reader.name for reader in readers) or "none"
        raise ReadError(
            path,
            f"it is no table of jobs in a known format ({names}): give the output of {WANTED}; for a table of runs, "
            "evenly predict --at … --limit 95% says which limit to ask for",
        )
    refuse_unused(path, fitting[0].name, option_names(type(fitting[0])), options)
    jobs = fitting[0].chosen(path)
    lost = f"left out:{listing(fitting[0].skipped)}"
    return Jobs(jobs.table, (*jobs.notes, lost)) if fitting[0].skipped else jobs
