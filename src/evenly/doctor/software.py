"""Checks of software: Python, extras, the folder for compiled code, and the scheduler."""

from __future__ import annotations

import importlib.util
import os
import platform
import shutil
import subprocess
import warnings
from collections.abc import Mapping
from importlib.metadata import version
from pathlib import Path

from evenly.doctor.finding import Finding
from evenly.machine.measuring.hosts import allocated_hosts

__all__ = ["compiled_code", "extras", "python", "scheduler", "threads"]

#: For each extra of evenly, a module that it brings, and what it is for.
_EXTRAS = {
    "parquet": ("pyarrow", "Parquet files"),
    "mpi": ("mpi4py", "ranks"),
    "hdf5": ("h5py", "HDF5 files"),
    "boost": ("lightgbm", "boosted trees"),
    "nn": ("jax", "neural nets"),
    "profiles": ("pycubexr", "Cube and Caliper profiles"),
}
#: For each scheduler, a command that answers at once where it works.
_SCHEDULERS = {
    "Slurm": ("sinfo", "--version"),
    "PBS": ("qstat", "--version"),
    "LSF": ("bjobs", "-V"),
    "Flux": ("flux", "version"),
}
#: What Slurm's commands say on a machine that belongs to no cluster.
_NO_CLUSTER = ("configuration source", "resolve_ctls")
_PATIENCE_S = 20.0


def python() -> Finding:
    """Say which Python and evenly run."""
    return Finding("Python", "good", f"{platform.python_version()}, evenly {version('evenly')}")


def extras() -> Finding:
    """Say which extras are missing."""
    missing = [name for name, (module, _) in _EXTRAS.items() if importlib.util.find_spec(module) is None]
    if not missing:
        return Finding("extras", "good", "all are installed")
    uses = ", ".join(f"{name} ({_EXTRAS[name][1]})" for name in missing)
    return Finding(
        "extras", "note", f"missing: {uses}", f"only if you need it: pip install 'evenly[{','.join(missing)}]'"
    )


def compiled_code() -> Finding:
    """Say whether compiled code is kept between processes."""
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        import evenly.compiling
    if told:
        return Finding("compiled code", "note", str(told[-1].message), "set NUMBA_CACHE_DIR to a folder that lasts")
    place = os.environ.get("NUMBA_CACHE_DIR") or Path(evenly.compiling.__file__).parent
    return Finding("compiled code", "good", f"is kept in {place}")


def threads(environment: Mapping[str, str] | None = None) -> Finding:
    """Say whether libraries may start as many threads in each rank as there are cores.

    Examples
    --------
    >>> threads({"OMP_NUM_THREADS": "1"}).verdict, threads({}).verdict
    ('good', 'note')
    """
    number = (os.environ if environment is None else environment).get("OMP_NUM_THREADS")
    if number:
        return Finding("threads", "good", f"OMP_NUM_THREADS is {number}")
    return Finding(
        "threads", "note", "OMP_NUM_THREADS isn't set: a rank of a program may start a thread for each core",
        "for programs with MPI: export OMP_NUM_THREADS=1",
    )  # fmt: skip


def scheduler(environment: Mapping[str, str] | None = None) -> Finding:
    """Ask the scheduler, and say whether this process runs in one of its jobs."""
    present = {name: words for name, words in _SCHEDULERS.items() if shutil.which(words[0])}
    hosts = allocated_hosts(environment)
    inside = f"; inside a job on {len(hosts)} host{'' if len(hosts) == 1 else 's'}" if hosts else ""
    if not present:
        return Finding("scheduler", "good", f"none found{inside}: runs start here")
    name, words = next(iter(present.items()))
    try:
        answer = subprocess.run(words, capture_output=True, text=True, timeout=_PATIENCE_S, check=False)
    except (OSError, subprocess.TimeoutExpired) as error:
        why = "doesn't answer" if isinstance(error, subprocess.TimeoutExpired) else str(error)
        return Finding("scheduler", "bad", f"{name}: `{' '.join(words)}` {why}", "ask your cluster's support")
    said = (answer.stdout or answer.stderr).strip().splitlines()
    if answer.returncode != 0:
        told = said[-1] if said else f"exit status {answer.returncode}"
        if any(word in answer.stderr for word in _NO_CLUSTER):
            return Finding("scheduler", "note", f"{name}'s commands are here, but no cluster: runs start here{inside}")
        return Finding("scheduler", "bad", f"{name}: `{' '.join(words)}` failed: {told}", "ask your cluster's support")
    told = said[0] if said else name
    if inside:
        return Finding("scheduler", "good", f"{told}{inside}")
    return Finding(
        "scheduler", "note", f"{told}; this is not inside a job",
        f"`evenly measure` with name = '{name.lower()}' in [launcher] submits jobs from here; other runs need a job",
    )  # fmt: skip
