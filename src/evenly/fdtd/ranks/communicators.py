"""Communication between ranks: one interface for a serial program and for a program under an MPI launcher.

Most waiting is done by polling, not by blocking inside MPI: at first without a pause, then yielding the core to other
processes, then sleeping for fractions of a millisecond. So more ranks than cores work well, and signals are handled.

>>> alone = SerialCommunicator()
>>> alone.rank, alone.size, alone.allgather("x"), float(alone.allreduce(2.5, "max"))
(0, 1, ['x'], 2.5)
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Sequence
from typing import Any, Literal, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from evenly.errors import InputError

__all__ = ["Communicator", "Exchange", "Message", "MpiCommunicator", "Operation", "SerialCommunicator", "wait_until"]

T = TypeVar("T")
Operation = Literal["sum", "min", "max"]
Message = tuple[int, int, NDArray[Any]]

SPIN_S = 20e-6
YIELD_S = 1e-3
NAP_S = 50e-6
LONGEST_NAP_S = 500e-6


class Exchange(Protocol):
    """Persistent messages: sent repeatedly from the same arrays and received into the same arrays."""

    def start(self) -> None:
        """Send the present contents of the send arrays; don't touch any of the arrays until `wait` returns."""

    def done(self) -> bool:
        """Return at once whether everything has been sent and received."""

    def wait(self) -> None:
        """Wait until everything has been sent and received."""


class Communicator(Protocol):
    """A group of ranks that can communicate with each other.

    All ranks must call the methods in the same order, except `exchange` and the methods of its result. The methods have
    the names of MPI's operations.
    """

    @property
    def rank(self) -> int:
        """Number of this rank, counted from 0."""

    @property
    def size(self) -> int:
        """Number of ranks."""

    def barrier(self) -> None:
        """Return when every rank has called it."""

    def bcast(self, value: T, root: int = 0) -> T:
        """Return the `value` of rank `root` on every rank."""

    def gather(self, value: T, root: int = 0) -> list[T] | None:
        """Return every rank's `value`, in the order of ranks, on rank `root`, and None on the others."""

    def allgather(self, value: T) -> list[T]:
        """Return every rank's `value`, in the order of ranks, on all ranks."""

    def allreduce(self, value: Any, operation: Operation = "sum") -> NDArray[Any]:
        """Return the element-wise sum, minimum or maximum over ranks of numbers or arrays of one shape."""

    def exchange(self, sends: Sequence[Message], receives: Sequence[Message]) -> Exchange:
        """Prepare persistent messages, each (other rank, tag, C-contiguous array); not collective."""

    def split(self, group: int) -> Communicator:
        """Return the communicator of all ranks that passed the same `group`, in the order of ranks."""


class SerialCommunicator:
    """The communicator of a serial program, with one rank; it needs no MPI.

    Examples
    --------
    >>> SerialCommunicator().bcast([1, 2])
    [1, 2]
    """

    rank = 0
    size = 1

    def barrier(self) -> None:
        """Return at once."""

    def bcast(self, value: T, root: int = 0) -> T:
        """Return `value`."""
        _check_root(root, 1)
        return value

    def gather(self, value: T, root: int = 0) -> list[T] | None:
        """Return `value` in a list."""
        _check_root(root, 1)
        return [value]

    def allgather(self, value: T) -> list[T]:
        """Return `value` in a list."""
        return [value]

    def allreduce(self, value: Any, operation: Operation = "sum") -> NDArray[Any]:
        """Return a copy of `value` as an array."""
        _check_operation(operation)
        return np.array(value)

    def exchange(self, sends: Sequence[Message], receives: Sequence[Message]) -> Exchange:
        """Return an exchange without messages, because there is no other rank."""
        for other, _, _ in [*sends, *receives]:
            _check_root(other, 0)
        return _NoExchange()

    def split(self, group: int) -> Communicator:  # noqa: ARG002 - the name is part of the interface
        """Return this communicator."""
        return self


class _NoExchange:
    def start(self) -> None: ...

    def done(self) -> bool:
        return True

    def wait(self) -> None: ...


class MpiCommunicator:
    """The communicator of an MPI program.

    Parameters
    ----------
    comm : mpi4py.MPI.Intracomm
        The ranks. Messages use a private duplicate of it, which the first collective call creates.

    Notes
    -----
    `rank` and `size` are local, and so is `exchange` once the duplicate exists. All other methods are collective.
    """

    def __init__(self, comm: Any) -> None:
        self._given = comm
        self._private: Any = None
        self.rank: int = comm.Get_rank()
        self.size: int = comm.Get_size()

    @property
    def comm(self) -> Any:
        """The private mpi4py communicator; collective on first use."""
        if self._private is None:
            private, request = self._given.Idup()
            wait_until(request.Test)
            self._private = private
        return self._private

    def barrier(self) -> None:
        """Return when every rank has called it."""
        wait_until(self.comm.Ibarrier().Test)

    def bcast(self, value: T, root: int = 0) -> T:
        """Return the `value` of rank `root` on every rank (pickled)."""
        _check_root(root, self.size)
        self.barrier()
        result: T = self.comm.bcast(value, root)
        return result

    def gather(self, value: T, root: int = 0) -> list[T] | None:
        """Return every rank's `value` on rank `root` (pickled)."""
        _check_root(root, self.size)
        self.barrier()
        values: list[T] | None = self.comm.gather(value, root)
        return values

    def allgather(self, value: T) -> list[T]:
        """Return every rank's `value` on all ranks (pickled)."""
        self.barrier()
        values: list[T] = self.comm.allgather(value)
        return values

    def allreduce(self, value: Any, operation: Operation = "sum") -> NDArray[Any]:
        """Return the sum, minimum or maximum over ranks; bitwise the same on all ranks."""
        from mpi4py import MPI

        _check_operation(operation)
        mine = np.array(value, order="C")
        if mine.dtype == bool:
            mine = mine.astype(np.int64)
        result = np.empty_like(mine)
        wait_until(self.comm.Iallreduce(mine, result, getattr(MPI, operation.upper())).Test)
        return result

    def exchange(self, sends: Sequence[Message], receives: Sequence[Message]) -> Exchange:
        """Prepare persistent messages: (other rank, tag, C-contiguous array) each.

        Raises
        ------
        InputError
            If a rank does not exist or an array is not C-contiguous.
        """
        for other, _, array in [*sends, *receives]:
            _check_root(other, self.size)
            if not array.flags.c_contiguous:
                raise InputError("Arrays of an exchange must be C-contiguous: pack what is sent into a buffer.")
        comm = self.comm
        requests = [comm.Recv_init(array, source=other, tag=tag) for other, tag, array in receives]
        requests += [comm.Send_init(array, dest=other, tag=tag) for other, tag, array in sends]
        return _MpiExchange(requests)

    def split(self, group: int) -> Communicator:
        """Return the communicator of all ranks that passed the same `group`."""
        self.barrier()
        return MpiCommunicator(self.comm.Split(group, self.rank))


class _MpiExchange:
    def __init__(self, requests: list[Any]) -> None:
        from mpi4py import MPI

        self._requests = requests
        self._start_all: Callable[[list[Any]], None] = MPI.Prequest.Startall
        self._test_all: Callable[[list[Any]], bool] = MPI.Request.Testall

    def start(self) -> None:
        if self._requests:
            self._start_all(self._requests)

    def done(self) -> bool:
        return not self._requests or self._test_all(self._requests)

    def wait(self) -> None:
        if self._requests:
            wait_until(self.done)

    def __del__(self) -> None:
        # While the interpreter shuts down, nothing can be imported, and MPI frees everything by itself.
        if not sys.is_finalizing():
            _free(self._requests)


def _free(requests: list[Any]) -> None:
    from mpi4py import MPI

    if not MPI.Is_finalized():
        for request in requests:
            request.Free()


def wait_until(done: Callable[[], bool]) -> None:
    """Poll `done` until it returns True, and leave the core to other processes if this takes long.

    It polls without a pause for 20 µs, then yields the core between polls up to 1 ms, and then sleeps for 50 to 500 µs
    between polls. Otherwise, ranks that outnumber the cores would block each other.

    Parameters
    ----------
    done : callable
        A cheap function that returns True when the awaited event has happened.

    Examples
    --------
    >>> answers = iter([False, False, True])
    >>> wait_until(lambda: next(answers))
    """
    if done():
        return
    begin = time.perf_counter()
    waited, nap = 0.0, NAP_S
    while not done():
        if waited > YIELD_S:
            time.sleep(nap)
            nap = min(LONGEST_NAP_S, 1.5 * nap)
        elif waited > SPIN_S:
            _yield_core()
        waited = time.perf_counter() - begin


_yield_core: Callable[[], None] = getattr(os, "sched_yield", lambda: time.sleep(0))


def _check_root(rank: int, size: int) -> None:
    if not 0 <= rank < size:
        known = f"0 to {size - 1}" if size else "none: this program runs alone"
        raise InputError(f"A rank to talk to must exist ({known}), but got {rank}.")


def _check_operation(operation: str) -> None:
    if operation not in ("sum", "min", "max"):
        raise InputError(f'`operation` must be "sum", "min" or "max", but got {operation!r}.')
