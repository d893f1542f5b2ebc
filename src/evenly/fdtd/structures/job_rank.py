"""What every rank of ``evenly fdtd run --ranks N`` runs; its argument is a file with the job."""

from __future__ import annotations

import sys
from pathlib import Path

from evenly.fdtd.structures.jobs import Job, run_job

__all__ = ["main"]


def main(file: str) -> None:
    """Run the job in a file, telling progress in a file beside it.

    Parameters
    ----------
    file : str
        JSON, as `Job.to_json` writes it.
    """
    told = Path(file).with_suffix(".progress")
    job = Job.from_json(Path(file).read_text(encoding="utf-8"))
    run_job(job, lambda done, steps: _tell(told, done, steps))


def _tell(file: Path, done: int, steps: int) -> None:
    partial = file.with_suffix(".part")
    partial.write_text(f"{done} {steps}", encoding="utf-8")
    partial.replace(file)


if __name__ == "__main__":
    main(sys.argv[1])
