"""What compiled code needs to send and receive persistent messages without Python."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["NONE", "row_of"]

#: That there are no messages.
NONE = np.zeros(6, np.int64)


def row_of(requests: Sequence[Any]) -> tuple[NDArray[np.int64], Any]:
    """Return the row of `evenly.fdtd.stepping.kernels.messages` for persistent requests, and what to keep with it.

    Parameters
    ----------
    requests : sequence of mpi4py.MPI.Prequest
        They must live as long as the row.
    """
    from mpi4py import MPI

    functions = _functions()
    if not requests or not functions:
        return np.array([len(requests) and -1, 0, 0, 0, 0, 0], np.int64), None
    # A persistent request's handle stays the same when it is started and when it is done.
    handles = b"".join(ctypes.string_at(MPI._addressof(each), MPI._sizeof(each)) for each in requests)
    statuses, flag = np.zeros(len(requests) * MPI._sizeof(MPI.Status), np.uint8), np.zeros(1, np.int64)
    kept = np.frombuffer(handles, np.uint8).copy(), statuses, flag
    return np.array([len(requests), *functions, *(array.ctypes.data for array in kept)], np.int64), kept


@cache
def _functions() -> tuple[int, ...]:
    """Return the addresses of MPI_Startall and MPI_Testall in the library of mpi4py; nothing if they can't be found."""
    from mpi4py import MPI

    try:
        library = ctypes.CDLL(MPI.__file__)
        found = [ctypes.cast(getattr(library, name), ctypes.c_void_p).value for name in ("MPI_Startall", "MPI_Testall")]
    except (AttributeError, OSError):
        return ()
    return tuple(address for address in found if address)
