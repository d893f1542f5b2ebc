"""The program that each rank of ``evenly fdtd run --ranks N`` runs; its argument is a JSON file with the job."""

from __future__ import annotations

import sys
from pathlib import Path

from evenly.fdtd.structures.jobs import Job, run_job

__all__ = ["main"]


def main(file: str) -> None:
    """Run the job in a file, and report progress in a file next to it.

    Parameters
    ----------
    file : str
        Path of a JSON file in the format of `Job.to_json`.
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
