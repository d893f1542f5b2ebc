"""What readers of job tables share: a file gives `Jobs`, and these give runs."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from pathlib import Path

from evenly.errors import InputError, ReadError
from evenly.readers.base import Reader
from evenly.readers.jobs.agreement import agreeing, each_once
from evenly.readers.jobs.jobs import TEXTS, Jobs
from evenly.readers.registry import Skipped, build_all, check_taken, listing, name_list
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
    """

    def __init__(self, *, parameters: Sequence[str] | str | None = None, where: str | None = None) -> None:
        self._parameters = name_list(parameters)
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
        if self._where is None:
            return jobs
        known = {
            str(name): jobs.table[name].astype(object if name in TEXTS else float).to_numpy() for name in jobs.table
        }
        try:
            kept = self._where.holds(known, len(jobs))
        except InputError as error:
            raise ReadError(path, str(error)) from None
        if not kept.any():
            raise ReadError(path, f"no job has {self._where.text}")
        return Jobs(jobs.table[kept].reset_index(drop=True), jobs.notes)

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


def read_jobs(paths: Sequence[Path | str] | Path | str, *, format: str | None = None, **options: object) -> Jobs:  # noqa: A002
    r"""Read job tables from files: Slurm's sacct or seff, PBS's accounting, or the Standard Workload Format.

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
    readers = [reader for reader in build_all(options, format) if isinstance(reader, JobReader)]
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
    check_taken({fitting[0].name: path}, options)
    jobs = fitting[0].chosen(path)
    lost = f"left out:{listing(fitting[0].skipped)}"
    return Jobs(jobs.table, (*jobs.notes, lost)) if fitting[0].skipped else jobs
