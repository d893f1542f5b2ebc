"""The one door from files to jobs: each file is read by the reader that knows its format, else as any other table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from evenly.errors import InputError, ReadError
from evenly.readers.base import Reader
from evenly.readers.jobs.agreement import each_once
from evenly.readers.jobs.job_reader import WANTED, JobReader
from evenly.readers.jobs.job_table import JobTableReader
from evenly.readers.jobs.jobs import Jobs
from evenly.readers.registry import build, check_options, listing, option_names, reader_class, refuse_unused
from evenly.readers.registry import readers as registered
from evenly.readers.unread_texts import instead_of

__all__ = ["read_jobs"]


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
    # JobTableReader is asked last, since any table may be one of jobs; evenly.read takes such a table for runs.
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
            f"it is no table of jobs in a known format ({names}): "
            f"{instead_of(path) or f'give the output of {WANTED}'}; for a table of runs, evenly predict --at … "
            "--limit 95% says which limit to ask for",
        )
    refuse_unused(path, fitting[0].name, option_names(type(fitting[0])), options)
    jobs = fitting[0].chosen(path)
    lost = f"left out:{listing(fitting[0].skipped)}"
    return Jobs(jobs.table, (*jobs.notes, lost)) if fitting[0].skipped else jobs
