"""The folders of a run's jobs, in its workspace: one for each submission, and ``again`` for a run made once more."""

from __future__ import annotations

from pathlib import Path

from evenly.launch.job import has_begun

__all__ = ["AGAIN", "is_queued"]

#: The workspace, within that of a run, of the job that makes it once more.
AGAIN = "again"


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
