"""Arrays that travel between ranks once, packed as plain bytes with a note of what they are.

>>> buffer = pack(["chunk", 3], {"Ex": np.arange(3.0), "steps": np.array([7])})
>>> note, arrays = unpack(buffer)
>>> note, arrays["Ex"].tolist(), arrays["steps"].tolist()
(['chunk', 3], [0.0, 1.0, 2.0], [7])
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from evenly.fdtd.ranks.communicators import Communicator, Message

__all__ = ["Buffer", "deliver", "pack", "unpack"]

Array = NDArray[Any]
Buffer = NDArray[np.uint8]
_ALIGNMENT = 64
# MPI counts in 32 bits; and its tags go up to 32767 at least.
_LONGEST_MESSAGE = 1 << 30
_FIRST_TAG = 100


def pack(note: Any, arrays: Mapping[str, Array]) -> Buffer:
    """Return one buffer with a note, which JSON must take, and copies of arrays."""
    table: list[tuple[str, str, Sequence[int], int]] = []
    start = 0
    for name, values in arrays.items():
        table.append((name, values.dtype.str, values.shape, start))
        start += _padded(values.nbytes)
    head = np.frombuffer(json.dumps([note, table]).encode(), np.uint8)
    first = _padded(8 + len(head))
    buffer = np.empty(first + start, np.uint8)
    buffer[:8] = np.array([len(head)], np.int64).view(np.uint8)
    buffer[8 : 8 + len(head)] = head
    for (_, _, _, at), values in zip(table, arrays.values(), strict=True):
        _part(buffer, first + at, values.dtype, values.shape)[...] = values
    return buffer


def unpack(buffer: Buffer) -> tuple[Any, dict[str, Array]]:
    """Return the note and the arrays, views of the buffer."""
    length = int(buffer[:8].view(np.int64)[0])
    note, table = json.loads(buffer[8 : 8 + length].tobytes())
    first = _padded(8 + length)
    return note, {name: _part(buffer, first + at, np.dtype(kind), shape) for name, kind, shape, at in table}


def deliver(outgoing: Mapping[int, Sequence[Buffer]], communicator: Communicator) -> list[Buffer]:
    """Send buffers to ranks and return those that came for this one, its own included (all ranks must call).

    Parameters
    ----------
    outgoing : mapping of rank to buffers
    communicator : Communicator
    """
    me = communicator.rank
    tables = communicator.allgather({rank: [b.nbytes for b in buffers] for rank, buffers in outgoing.items()})
    kept = list(outgoing.get(me, ()))
    incoming = {
        source: [np.empty(size, np.uint8) for size in table.get(me, ())]
        for source, table in enumerate(tables)
        if source != me
    }
    sends = [part for rank, buffers in sorted(outgoing.items()) if rank != me for part in _messages(rank, buffers)]
    receives = [part for source, buffers in incoming.items() for part in _messages(source, buffers)]
    exchange = communicator.exchange(sends, receives)
    exchange.start()
    exchange.wait()
    return kept + [buffer for _, buffers in sorted(incoming.items()) for buffer in buffers]


def _messages(other: int, buffers: Sequence[Buffer]) -> list[Message]:
    """Return messages, each with a tag of its own, since MPI may start them in any order."""
    pieces = [
        buffer[start : start + _LONGEST_MESSAGE]
        for buffer in buffers
        for start in range(0, buffer.nbytes, _LONGEST_MESSAGE)
    ]
    return [(other, _FIRST_TAG + n, piece) for n, piece in enumerate(pieces)]


def _padded(size: int) -> int:
    return -(-size // _ALIGNMENT) * _ALIGNMENT


def _part(buffer: Buffer, start: int, kind: np.dtype[Any], shape: Sequence[int]) -> Array:
    size = int(np.prod(shape, dtype=np.int64)) * kind.itemsize
    return buffer[start : start + size].view(kind).reshape(shape)
