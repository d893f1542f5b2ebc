"""Ranks that wait in vain find each other: waiting in different calls, or for a rank that has ended its script.

A rank may be late by hours, which is no error. So a rank that has waited for a second asks those that it waits for, and
goes on waiting; only who waits in turn for the asking rank answers. Two ranks that wait for each other, in the same
waits, on two occasions a second apart, wait for ever. A rank that ends its script waits for all others to do so.

All of this is a handful of small messages of ranks that have nothing else to do. Those that don't know for whom they
wait (some member of a group is missing) ask its first rank, and that one asks all: one of two that wait for each other
is the first rank, or has asked it.
"""

from __future__ import annotations

import time
from collections.abc import Collection
from dataclasses import dataclass
from typing import Any, NoReturn

import numpy as np

from evenly.errors import InputError
from evenly.fdtd.ranks.aborting import abort
from evenly.fdtd.ranks.polling import wait_until

__all__ = ["Lookout", "Operation", "Wait", "disagreement"]

# Seconds between the first answer of a rank and the second question: messages on their way will have arrived by then.
CONFIRM_S = 1.0
_TAG = 32_765

#: A group of ranks, and how many operations it had with this one.
Operation = tuple[str, int]

_ADVICE = (
    "Let all ranks make the call, not one under `if am_master()`, and let one print what it returns. What decides how "
    "long a rank runs must be the same on all."
)


@dataclass(frozen=True)
class Wait:
    """One wait of this rank.

    Parameters
    ----------
    number : int
        Tells it from other waits of this rank.
    members : collection of int
        Ranks of the whole job that it waits for.
    operation : Operation or None
        What the members must enter, too; None if it waits for messages.
    text : str
        What this rank does: where it waits.
    """

    number: int
    members: Collection[int]
    operation: Operation | None
    text: str


class Lookout:
    """What this rank knows of the others' waits; one for each process.

    Parameters
    ----------
    comm : mpi4py.MPI.Intracomm
        All ranks of the job; nobody else uses messages with its tag there.
    """

    def __init__(self, comm: Any) -> None:
        self._comm, self._rank = comm, int(comm.Get_rank())
        self._sent: list[Any] = []
        # How many messages went to each rank, and came from any.
        self._messages, self._received = np.zeros(comm.Get_size(), np.int64), 0
        self._waits = 0
        # What others asked last: their wait, its operation, how often they asked; and what was answered already.
        self._questions: dict[int, tuple[int, Operation | None, int]] = {}
        self._answered: dict[int, tuple[int, int, int]] = {}
        # Who answered: in which wait of this rank, in which of its own, and when to ask again.
        self._answers: dict[int, tuple[int, int, float]] = {}

    def new_wait(
        self, members: Collection[int], asked: Collection[int], operation: Operation | None, text: str
    ) -> Wait:
        """Return a wait for these members, after having asked some of them."""
        self._waits += 1
        for rank in asked:
            self._send(rank, ("question", self._rank, self._waits, operation, 1))
        return Wait(self._waits, members, operation, text)

    def attend(self, wait: Wait) -> None:
        """Read what came, answer, and end the job if this rank waits in vain; call it now and then during a wait."""
        while self._comm.iprobe(tag=_TAG):
            kind, rank, *content = self._receive()
            if kind == "question":
                self._questions[rank] = content[0], content[1], content[2]
            elif content[0] == wait.number:
                self._hear(wait, rank, content[1], content[2])
        self._ask_again(wait)
        self._answer(wait)

    def close(self) -> None:
        """Receive what was sent to this rank and not read; all ranks must call, and send nothing from then on."""
        expected = np.empty(1, np.int64)
        wait_until(self._comm.Ireduce_scatter_block(self._messages, expected).Test)
        wait_until(lambda: self._is_empty(int(expected[0])))

    def _is_empty(self, expected: int) -> bool:
        while self._comm.iprobe(tag=_TAG):
            self._receive()
        self._forget_sent()
        return self._received == expected and not self._sent

    def _receive(self) -> tuple[Any, ...]:
        self._received += 1
        content: tuple[Any, ...] = self._comm.recv(tag=_TAG)
        return content

    def _hear(self, wait: Wait, rank: int, number: int, text: str) -> None:
        before = self._answers.get(rank)
        if before is not None and before[:2] == (wait.number, number):
            disagreement((self._rank, wait.text), (rank, text))
        self._answers[rank] = wait.number, number, time.perf_counter() + CONFIRM_S

    def _ask_again(self, wait: Wait) -> None:
        now = time.perf_counter()
        for rank, (mine, theirs, due) in self._answers.items():
            if mine == wait.number and now >= due:
                self._answers[rank] = mine, theirs, float("inf")
                self._send(rank, ("question", self._rank, wait.number, wait.operation, 2))

    def _answer(self, wait: Wait) -> None:
        for rank, (number, operation, time_asked) in self._questions.items():
            same = operation is not None and operation == wait.operation
            key = wait.number, number, time_asked
            if rank in wait.members and not same and self._answered.get(rank) != key:
                self._answered[rank] = key
                self._send(rank, ("answer", self._rank, number, wait.number, wait.text))

    def _send(self, rank: int, content: tuple[Any, ...]) -> None:
        self._forget_sent()
        self._messages[rank] += 1
        self._sent.append(self._comm.isend(content, dest=rank, tag=_TAG))

    def _forget_sent(self) -> None:
        self._sent = [request for request in self._sent if not request.Test()]


def disagreement(one: tuple[int, str], other: tuple[int, str]) -> NoReturn:
    """End the job because of what two ranks do; both of them may tell it, in the same words."""
    (rank, call), (other_rank, other_call) = sorted((one, other))
    abort(
        InputError(
            f"All ranks must make the same calls in the same order, but rank {rank} {call}, and rank {other_rank} "
            f"{other_call}. {_ADVICE}"
        )
    )
