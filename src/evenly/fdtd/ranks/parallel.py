"""The ranks of this job: a rank's number, subgroups with separate simulations, random numbers shared by all ranks.

The same script can run alone or under an MPI launcher (``mpiexec -n 4 python script.py``). MPI is loaded only in the
second case. A rank that fails ends the whole job (see `evenly.fdtd.ranks.aborting`).

>>> count_processors(), my_rank(), am_master()
(1, 0, True)

Several simulations in one job: every subgroup acts like a separate job, with ranks from 0 and its own master (rank 0).

>>> group = divide_parallel_processes(1)
>>> merge_subgroup_data([0.5 + group])
array([0.5])
"""

from __future__ import annotations

import os
import platform
import sys
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stdout
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from evenly.errors import InputError, MissingExtraError
from evenly.fdtd.ranks.communicators import Communicator, MpiCommunicator, SerialCommunicator
from evenly.fdtd.ranks.launch_output import process_space, tell_supervisor
from evenly.fdtd.ranks.launchers import UNKNOWN, forced, launched_ranks

__all__ = [
    "all_wait",
    "am_master",
    "am_really_master",
    "count_processors",
    "current",
    "divide_parallel_processes",
    "global_communications",
    "master_print",
    "merge_subgroup_data",
    "my_rank",
    "only_master_prints",
    "shared_random",
    "world",
]


@dataclass
class _Job:
    world: Communicator
    group: Communicator
    number: int = 0
    groups: int = 1
    # Communicators are cached, because MPI supports only about 2000 of them, and simulations may still use older ones.
    known: dict[int, Communicator] = field(default_factory=dict)


_job: _Job | None = None


def _started() -> _Job:
    global _job
    if _job is None:
        communicator = _find()
        _job = _Job(communicator, communicator)
    return _job


def _find() -> Communicator:
    choice, ranks = forced(), launched_ranks()
    if choice is False:
        return SerialCommunicator()
    if not choice and "mpi4py.MPI" not in sys.modules and ranks in (None, 1):
        return SerialCommunicator()
    comm = _load(ranks).COMM_WORLD
    _check_size(comm.Get_size(), ranks)
    if comm.Get_size() == 1 and not choice:
        return SerialCommunicator()
    found = MpiCommunicator(comm)
    from evenly.fdtd.ranks.aborting import install

    install(comm, found.end)
    tell_supervisor(rank=found.rank, host=platform.node(), pid=os.getpid(), space=process_space())
    return found


def _load(ranks: int | None) -> Any:
    try:
        from mpi4py import MPI
    except (ImportError, RuntimeError) as error:
        raise MissingExtraError(f"Running on {ranks or 'several'} MPI ranks", extra="mpi") from error
    return MPI


def _check_size(size: int, ranks: int | None) -> None:
    if size == 1 and ranks is not None and ranks != UNKNOWN and ranks > 1:
        raise InputError(
            f"The launcher started {ranks} ranks, but mpi4py's MPI library sees only this one: they belong to "
            "different MPIs, and every rank would run the whole simulation. Use the launcher of mpi4py's MPI (for "
            "the wheels on PyPI, the mpiexec beside python), or set EVENLY_MPI=0 if independent simulations are meant."
        )


def world() -> Communicator:
    """Return the communicator of all ranks of this job.

    Raises
    ------
    MissingExtraError
        If an MPI launcher started this process and mpi4py is missing; the message holds the command to install it.
    InputError
        If the launcher belongs to another MPI than mpi4py does.

    Examples
    --------
    >>> world().size
    1
    """
    return _started().world


def current() -> Communicator:
    """Return the communicator of this rank's subgroup; without a division, that of all ranks.

    Examples
    --------
    >>> current().rank
    0
    """
    return _started().group


def my_rank() -> int:
    """Return this rank's number in its subgroup, from 0.

    Examples
    --------
    >>> my_rank()
    0
    """
    return current().rank


def count_processors() -> int:
    """Return the number of ranks in this rank's subgroup.

    Examples
    --------
    >>> count_processors()
    1
    """
    return current().size


def am_master() -> bool:
    """Return whether this is rank 0 of its subgroup.

    Examples
    --------
    >>> am_master()
    True
    """
    return my_rank() == 0


def am_really_master() -> bool:
    """Return whether this is rank 0 of the whole job.

    Examples
    --------
    >>> am_really_master()
    True
    """
    return world().rank == 0


def all_wait() -> None:
    """Wait until every rank of the subgroup has called this function.

    Examples
    --------
    >>> all_wait()
    """
    current().barrier()


def divide_parallel_processes(n: int) -> int:
    """Divide all ranks of the job into `n` subgroups; return the number of this rank's subgroup, from 0 to n-1.

    Every rank must call it. A subgroup has consecutive ranks; the sizes of subgroups differ by at most one. Simulations
    created afterwards belong to the subgroup. A later call divides all ranks anew; n = 1 undoes the division.

    Raises
    ------
    InputError
        If `n` is not an integer from 1 to the number of ranks.

    Examples
    --------
    >>> divide_parallel_processes(1)
    0
    """
    job = _started()
    size = job.world.size
    if n not in range(1, size + 1):
        raise InputError(f"`n` subgroups must be an integer from 1 to the number of ranks ({size}), but got {n!r}.")
    job.world.agree(f"divide_parallel_processes({n})")
    job.number, job.groups = job.world.rank * int(n) // size, int(n)
    if job.groups not in job.known:
        job.known[job.groups] = job.world if n == 1 else job.world.split(job.number)
    job.group = job.known[job.groups]
    return job.number


def merge_subgroup_data(data: ArrayLike) -> NDArray[Any]:
    """Return the arrays of all subgroups, concatenated along the first axis, on every rank of the job.

    Every rank must call it.

    Parameters
    ----------
    data : array of shape (k, ...) or number
        The same on all ranks of a subgroup; subgroups may differ in k. A number counts as an array of length 1.

    Returns
    -------
    array of shape (sum of k, ...)
        In the order of the subgroups.

    Raises
    ------
    InputError
        If the subgroups' arrays differ in more than their first axis.

    Examples
    --------
    >>> merge_subgroup_data(3.5)
    array([3.5])
    """
    job = _started()
    mine = np.atleast_1d(np.asarray(data)) if am_master() else None
    parts = [part for part in job.world.allgather(mine) if part is not None]
    if len({part.shape[1:] for part in parts}) > 1:
        raise InputError(
            "Arrays of subgroups that are merged must agree in all but their first axis, but their shapes are "
            f"{', '.join(str(part.shape) for part in parts)}."
        )
    return np.concatenate(parts)


@contextmanager
def global_communications() -> Iterator[Communicator]:
    """Let all ranks of the job act as one group inside a ``with`` block; afterwards the subgroups are restored.

    Examples
    --------
    >>> with global_communications() as everyone:
    ...     everyone.size == count_processors()
    True
    """
    job = _started()
    before = job.group
    job.group = job.world
    try:
        yield job.world
    finally:
        job.group = before


def shared_random(seed: int | None = None) -> np.random.Generator:
    """Return a random generator with the same numbers on all ranks of the subgroup; all of them must call it.

    Parameters
    ----------
    seed : int, optional
        The seed of the subgroup's master is used. Without a seed, the numbers differ from run to run.

    Examples
    --------
    >>> bool(shared_random(1).random() == np.random.default_rng(1).random())
    True
    """
    chosen = np.random.SeedSequence(seed).entropy if am_master() else None
    return np.random.default_rng(current().bcast(chosen))


def master_print(*values: object, sep: str = " ", end: str = "\n", flush: bool = False) -> None:
    """Print on the master of the whole job only.

    Examples
    --------
    >>> master_print("step", 3)
    step 3
    """
    if am_really_master():
        print(*values, sep=sep, end=end, flush=flush)  # noqa: T201 - printing is what it is for


@contextmanager
def only_master_prints() -> Iterator[None]:
    """Suppress printing inside a ``with`` block on all ranks except the master of the whole job.

    The standard error output isn't suppressed.

    Examples
    --------
    >>> with only_master_prints():
    ...     print("once, whatever the number of ranks")
    once, whatever the number of ranks
    """
    if am_really_master():
        yield
        return
    with Path(os.devnull).open("w", encoding="utf-8") as nowhere, redirect_stdout(nowhere):
        yield
