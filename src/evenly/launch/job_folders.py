"""The folders of a run's jobs, in its workspace: one for each submission, and ``again`` for a run made once more."""

from __future__ import annotations

from pathlib import Path

from evenly.launch.job import claimed_by, has_begun

__all__ = ["AGAIN", "JOB_ID", "SCRIPT", "is_queued", "noted_numbers"]

#: The workspace, within that of a run, of the job that makes it once more.
AGAIN = "again"
#: What is written before a job is submitted, and after.
SCRIPT, JOB_ID = "job.sh", "job-id"


def is_queued(workspace: Path) -> bool:
    """Return whether the latest job of a run has not begun.

    Raises
    ------
    OSError
        If the folder can't be read, as that of another user.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     Path(folder, "1").mkdir()
    ...     before = is_queued(Path(folder))
    ...     _ = Path(folder, "1", "began.json").write_text("{}")
    ...     before, is_queued(Path(folder))
    (True, False)
    """
    again = workspace / AGAIN
    try:
        tries = [path for path in (again if again.is_dir() else workspace).iterdir() if path.name.isdecimal()]
    except FileNotFoundError:
        return True
    return not tries or not has_begun(max(tries, key=lambda path: int(path.name)))


def noted_numbers(workspace: Path) -> list[str] | None:
    """Return the numbers of a run's jobs; None if one may have been submitted whose number isn't noted.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     Path(folder, "1").mkdir()
    ...     _ = Path(folder, "1", SCRIPT).write_text("")
    ...     before = noted_numbers(Path(folder))
    ...     _ = Path(folder, "1", JOB_ID).write_text("77")
    ...     before, noted_numbers(Path(folder))
    (None, ['77'])
    """
    numbers: list[str] = []
    for folder in (path.parent for path in workspace.glob(f"**/{SCRIPT}")):
        noted = folder / JOB_ID
        of_folder = {(noted.read_text(encoding="utf-8").strip() if noted.exists() else ""), claimed_by(folder) or ""}
        if not (of_folder := of_folder - {""}):
            return None
        numbers += of_folder
    return numbers
