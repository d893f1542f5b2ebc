"""Starts real MPI ranks for a test; without MPI the test fails, it is never skipped."""

from __future__ import annotations

import os
import tempfile
import textwrap
from collections.abc import Mapping
from pathlib import Path

import pytest

from evenly.errors import MissingExtraError
from evenly.fdtd.ranks.launching import find_launcher, launch_python
from evenly.fdtd.ranks.watching import Job

# Ranks share few cores in tests: one thread each. They measure no coverage: a hundred short processes would pay for it.
QUIET = {"OMP_NUM_THREADS": "1", "NUMBA_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}


def start_ranks(
    n: int,
    script: str | Path,
    *arguments: str,
    timeout_s: float = 60,
    environment: Mapping[str, str] | None = None,
) -> Job:
    """Run a script (text or file) on n ranks and return how it ended; all ranks' prints are kept."""
    try:
        find_launcher()
        import mpi4py  # noqa: F401 - only whether it is there
    except (MissingExtraError, ImportError) as error:
        pytest.fail(f"tests of the parallel simulation need MPI: {error}", pytrace=False)
    with tempfile.TemporaryDirectory() as folder:
        path = script if isinstance(script, Path) else Path(folder, "script.py")
        if isinstance(script, str):
            path.write_text(textwrap.dedent(script), encoding="utf-8")
        variables = {**{k: v for k, v in QUIET.items() if k not in os.environ}, **(environment or {})}
        return launch_python(
            ["--all-ranks", str(path), *arguments],
            n,
            timeout_s=timeout_s,
            environment=variables,
            folder=folder,
            echo=False,
        )


def run_ranks(
    n: int,
    script: str | Path,
    *arguments: str,
    timeout_s: float = 60,
    environment: Mapping[str, str] | None = None,
) -> str:
    """Run a script (text or file) on n ranks and return what it printed; fail if any rank fails."""
    job = start_ranks(n, script, *arguments, timeout_s=timeout_s, environment=environment)
    if job.status != 0:
        pytest.fail(
            f"the script failed on {n} ranks with status {job.status} after {job.seconds:.1f} s"
            f"{' (time ran out)' if job.timed_out else ''}:\n{job.output}\n{job.errors}",
            pytrace=False,
        )
    return job.output
