"""Communication between ranks: one interface for a serial program and for a program under an MPI launcher.

Most waiting is done by polling, not by blocking inside MPI (`evenly.fdtd.ranks.polling`).
Before each collective operation the ranks of an MPI program agree that they mean the same one; who waits for long finds
out whether it waits in vain (`evenly.fdtd.ranks.lookout`). Both end the job with a message instead of a deadlock.

>>> alone = SerialCommunicator()
>>> alone.rank, alone.size, alone.allgather("x"), float(alone.allreduce(2.5, "max"))
(0, 1, ['x'], 2.5)
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from functools import cached_property
from hashlib import blake2b
from typing import Any, Literal, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from evenly.errors import InputError
from evenly.fdtd.ranks.calls import internal_place, this_line, this_wait
from evenly.fdtd.ranks.lookout import Lookout, Wait, disagreement
from evenly.fdtd.ranks.polling import wait_until
from evenly.fdtd.ranks.requests import NONE, row_of

__all__ = [
    "Communicator",
    "Exchange",
    "Message",
    "MpiCommunicator",
    "Operation",
    "SerialCommunicator",
]

T = TypeVar("T")
Operation = Literal["sum", "min", "max"]
Message = tuple[int, int, NDArray[Any]]


class Exchange(Protocol):
    """Persistent messages: sent repeatedly from the same arrays and received into the same arrays."""

    @property
    def row(self) -> NDArray[np.int64]:
        """What compiled code needs to do the same: see `evenly.fdtd.stepping.kernels.messages`."""

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

    def agree(self, call: str) -> None:
        """End the job unless every rank says the same: what it is about to do together with the others."""

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

    def agree(self, call: str) -> None:
        """Return at once."""

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
    row = NONE

    def start(self) -> None: ...

    def done(self) -> bool:
        return True

    def wait(self) -> None: ...


# The one of this process, from the first operation of all ranks on. It has a communicator of its own, or a program's
# messages from any rank with any tag would be mistaken for it.
_lookouts: list[Lookout] = []


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
        self._operations = 0

    @cached_property
    def members(self) -> list[int]:
        """The ranks' numbers in the whole job."""
        from mpi4py import MPI

        ours, everyone = self._given.Get_group(), MPI.COMM_WORLD.Get_group()
        return list(MPI.Group.Translate_ranks(ours, list(range(self.size)), everyone))

    @property
    def comm(self) -> Any:
        """The private mpi4py communicator; collective on first use."""
        if self._private is None:
            private, request = self._given.Idup()
            self._wait(request.Test)
            self._private = private
            if not _lookouts and self.members == list(range(_world_size())):
                _lookouts.append(Lookout(private))
        return self._private

    def agree(self, call: str) -> None:
        """End the job unless every rank is about to do the same, which `call` tells."""
        self._agree(call, "", lambda: f"waits in {call} ({this_line()})")

    def end(self) -> None:
        """Agree that all ranks have ended their scripts, so that no message is left that MPI could stumble over."""
        self._agree("end", "", lambda: "has ended its script")
        for each in _lookouts:
            each.close()

    def barrier(self) -> None:
        """Return when every rank has called it."""
        self._enter("barrier")

    def bcast(self, value: T, root: int = 0) -> T:
        """Return the `value` of rank `root` on every rank (pickled)."""
        _check_root(root, self.size)
        self._enter(f"bcast {root}")
        result: T = self.comm.bcast(value, root)
        return result

    def gather(self, value: T, root: int = 0) -> list[T] | None:
        """Return every rank's `value` on rank `root` (pickled)."""
        _check_root(root, self.size)
        self._enter(f"gather {root}")
        values: list[T] | None = self.comm.gather(value, root)
        return values

    def allgather(self, value: T) -> list[T]:
        """Return every rank's `value` on all ranks (pickled)."""
        self._enter("allgather")
        values: list[T] = self.comm.allgather(value)
        return values

    def allreduce(self, value: Any, operation: Operation = "sum") -> NDArray[Any]:
        """Return the sum, minimum or maximum over ranks; bitwise the same on all ranks."""
        from mpi4py import MPI

        _check_operation(operation)
        mine = np.array(value, order="C")
        if mine.dtype == bool:
            mine = mine.astype(np.int64)
        self._enter(f"{operation} {mine.dtype.str} {mine.shape}")
        result = np.empty_like(mine)
        wait_until(self.comm.Iallreduce(mine, result, getattr(MPI, operation.upper())).Test)
        return result

    def _enter(self, operation: str) -> None:
        """Agree that all ranks do this operation, in the same function of evenly."""
        place = internal_place()
        self._agree(f"{operation} {place}", place, this_wait)

    def _agree(self, what: str, place: str, tell: Callable[[], str]) -> None:
        from mpi4py import MPI

        comm = self.comm
        self._operations += 1
        number = int.from_bytes(blake2b(what.encode(), digest_size=7).digest(), "big")
        mine = np.array([number, -number])
        least = np.empty_like(mine)
        self._wait(comm.Iallreduce(mine, least, MPI.MIN).Test, tell=tell)
        if least[0] == -least[1]:
            return
        everyone = comm.allgather((number, tell(), place))
        other = next(n for n, (theirs, *_) in enumerate(everyone) if theirs != everyone[0][0])
        texts = {n: everyone[n][1] for n in (0, other)}
        if texts[0] == texts[other]:
            texts = {n: f"{text}, {everyone[n][2]}" for n, text in texts.items()}
        disagreement(*((self.members[n], text) for n, text in texts.items()))

    def _wait(
        self, done: Callable[[], bool], partners: Sequence[int] = (), *, tell: Callable[[], str] = this_wait
    ) -> None:
        """Wait for messages of these ranks, or for all ranks to enter the present operation; end the job if in vain."""
        waiting: list[Wait] = []

        def look_out() -> None:
            for lookout in _lookouts:
                if not waiting and partners:
                    asked = [self.members[rank] for rank in partners]
                    waiting.append(lookout.new_wait(asked, asked, None, tell()))
                elif not waiting:
                    operation = self.name, self._operations
                    waiting.append(lookout.new_wait(set(self.members), self._first_or_all(), operation, tell()))
                lookout.attend(waiting[0])

        wait_until(done, look_out)

    @cached_property
    def name(self) -> str:
        """A name of the group that is the same on all its ranks."""
        return blake2b(repr(self.members).encode(), digest_size=7).hexdigest()

    def _first_or_all(self) -> list[int]:
        """Return the group's first rank; on that rank, all others."""
        return self.members[1:] if self.rank == 0 else self.members[:1]

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
        partners = sorted({other for other, _, _ in [*sends, *receives]})
        return _MpiExchange(requests, lambda done: self._wait(done, partners))

    def split(self, group: int) -> Communicator:
        """Return the communicator of all ranks that passed the same `group`."""
        self._enter("split")
        return MpiCommunicator(self.comm.Split(group, self.rank))


class _MpiExchange:
    def __init__(self, requests: list[Any], wait: Callable[[Callable[[], bool]], None]) -> None:
        from mpi4py import MPI

        self._requests, self._wait = requests, wait
        self.row, self._pointed_to = row_of(requests)
        self._start_all: Callable[[list[Any]], None] = MPI.Prequest.Startall
        self._test_all: Callable[[list[Any]], bool] = MPI.Request.Testall

    def start(self) -> None:
        if self._requests:
            self._start_all(self._requests)

    def done(self) -> bool:
        return not self._requests or self._test_all(self._requests)

    def wait(self) -> None:
        if self._requests:
            self._wait(self.done)

    def __del__(self) -> None:
        # While the interpreter shuts down, nothing can be imported, and MPI frees everything by itself.
        if not sys.is_finalizing():
            _free(self._requests)


def _free(requests: list[Any]) -> None:
    from mpi4py import MPI

    if not MPI.Is_finalized():
        for request in requests:
            request.Free()


def _world_size() -> int:
    from mpi4py import MPI

    return int(MPI.COMM_WORLD.Get_size())


def _check_root(rank: int, size: int) -> None:
    if not 0 <= rank < size:
        known = f"0 to {size - 1}" if size else "none: this program runs alone"
        raise InputError(f"A rank to talk to must exist ({known}), but got {rank}.")


def _check_operation(operation: str) -> None:
    if operation not in ("sum", "min", "max"):
        raise InputError(f'`operation` must be "sum", "min" or "max", but got {operation!r}.')
