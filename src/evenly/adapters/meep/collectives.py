"""Communication between Meep's processes, by Meep's own collectives.

They work without mpi4py. If Meep's processes are divided into groups (``meep.divide_parallel_processes``), each group
communicates only within itself. All processes of a group must make the same calls.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from evenly.errors import EvenlyError, InputError

__all__ = ["gathered", "of_first", "slowest"]

T = TypeVar("T")
#: Number of bytes in one number of a message: a float holds integers of 53 bits exactly.
_BYTES = 6


def of_first(compute: Callable[[], T]) -> T:
    """Return the result of the first process on all processes. The others wait for it.

    Parameters
    ----------
    compute : callable
        A function that only the first process calls. It returns plain values for JSON.

    Raises
    ------
    InputError
        If `compute` raises it. It is raised on all processes, so that none waits for ever.
    RuntimeError
        If `compute` fails with another error. The first process raises this error itself.
    """
    import meep

    if meep.count_processors() == 1:
        return compute()
    if not meep.am_master():
        told = json.loads(_text(""))
        if "mistake" in told:
            raise InputError(told["mistake"])
        if "failure" in told:
            raise RuntimeError(f"Meep's first process failed: {told['failure']}")
        return told["value"]  # type: ignore[no-any-return]
    try:
        value = compute()
        said = json.dumps({"value": value})
    except EvenlyError as error:
        _text(json.dumps({"mistake": str(error)}))
        raise
    except BaseException as error:
        _text(json.dumps({"failure": repr(error)}))
        raise
    _text(said)
    return value


def gathered(value: float) -> NDArray[np.float64]:
    """Return the values of all processes, (processes,)."""
    import meep

    mine = meep.my_rank()
    return np.array([_number(value if rank == mine else 0.0, rank) for rank in range(meep.count_processors())])


def slowest(seconds: float) -> float:
    """Return the largest of all processes' values."""
    import meep

    return float(meep.max_to_all(float(seconds)))


def _text(text: str) -> str:
    """Return the first process's text."""
    # Meep broadcasts only numbers: first the number of bytes, then one integer for every six bytes.
    said = text.encode()
    size = int(_number(float(len(said)), 0))
    said = said.ljust(size)
    parts = [said[at : at + _BYTES] for at in range(0, size, _BYTES)]
    told = [int(_number(float(int.from_bytes(part, "little")), 0)) for part in parts]
    pieces = (number.to_bytes(len(part), "little") for number, part in zip(told, parts, strict=True))
    return b"".join(pieces).decode()


def _number(value: float, rank: int) -> float:
    import meep

    return float(meep.broadcast(rank, float(value)))
