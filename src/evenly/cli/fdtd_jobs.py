"""Running the jobs of ``evenly fdtd run``, in this process or on ranks that it starts, with a progress display."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from evenly.cli.console import progress
from evenly.errors import InputError, RunFailed
from evenly.processes import scratch_folder

if TYPE_CHECKING:
    from evenly.fdtd.structures.jobs import Job

__all__ = ["carry_out"]


def carry_out(job: Job, ranks: int | None) -> None:
    """Run a job here, or on ranks that are started for it.

    Raises
    ------
    InputError
        If something about the job is wrong, or ranks are asked for where a launcher has started some.
    RunFailed
        If the launcher or MPI failed before a rank began.
    SystemExit
        If a rank failed, with its status: it has said why.
    """
    from evenly.fdtd.ranks.launchers import launched_ranks
    from evenly.fdtd.structures.jobs import run_job
    from evenly.fdtd.structures.programs import is_script, refuse_meep

    # What is wrong is said before anything starts.
    if is_script(job.program):
        refuse_meep(job.program)
    else:
        job.load()
    if ranks is not None and ranks > 1:
        if launched_ranks():
            raise InputError("--ranks starts ranks itself, but these were started by a launcher: leave --ranks out")
        _launch(job, ranks)
        return
    with progress("stepping") as tell:
        run_job(job, lambda done, steps: tell(done / steps))


def _launch(job: Job, ranks: int) -> None:
    from evenly.fdtd.ranks.launching import launch_python

    with scratch_folder() as folder, _followed(folder / "job.progress"):
        file = folder / "job.json"
        file.write_text(job.to_json(), encoding="utf-8")
        ended = launch_python(["-m", "evenly.fdtd.structures.job_rank", str(file)], ranks)
    if ended.status and not ended.began and ended.signal is None:
        said = f"; the launcher says:\n{ended.remarks}" if ended.remarks else ""
        raise RunFailed(f"MPI failed with status {ended.status} before any rank began: its own message tells why{said}")
    if ended.status:
        # What went wrong the ranks have said.
        sys.exit(ended.status)


@contextmanager
def _followed(file: Path) -> Iterator[None]:
    """Show the progress that rank 0 writes to a file."""
    import threading

    ended = threading.Event()

    def follow(tell: Callable[[float], None]) -> None:
        while not ended.wait(0.2):
            if file.exists():
                done, steps = file.read_text(encoding="utf-8").split()
                tell(int(done) / int(steps))

    with progress("stepping") as tell:
        follower = threading.Thread(target=follow, args=(tell,), daemon=True)
        follower.start()
        try:
            yield
        finally:
            ended.set()
            follower.join()
