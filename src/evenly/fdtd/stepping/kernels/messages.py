"""Persistent messages in compiled code, which calls MPI's own functions: a call from Python takes some microseconds.

Messages that go and come together are one row of numbers. It comes from `evenly.fdtd.ranks.requests`.
"""

from __future__ import annotations

from numba import carray  # type: ignore[attr-defined]

from evenly.compiling import njit
from evenly.fdtd.stepping.kernels.pointers import invoke, pointer

__all__ = ["begin", "have_come"]

# Entries of a row: how many messages (none if this rank has to do nothing, negative if only Python can), addresses of
# MPI_Startall and MPI_Testall, of the requests, of room for their statuses, and of room for a flag.
_COUNT, _START_ALL, _TEST_ALL, _REQUESTS, _STATUSES, _FLAG = 0, 1, 2, 3, 4, 5


@njit(cache=True, nogil=True)
def begin(row):
    """Begin to send and receive; return whether that could be done here."""
    if row[_COUNT] <= 0:
        return row[_COUNT] == 0
    return invoke(row[_START_ALL], row[_COUNT], (row[_REQUESTS],)) == 0


@njit(cache=True, nogil=True)
def have_come(row):
    """Return at once whether all has been sent and received. After an error it never has, and Python tells why."""
    if row[_COUNT] <= 0:
        return row[_COUNT] == 0
    flag = carray(pointer(row[_FLAG], row), 1)
    flag[0] = 0
    return invoke(row[_TEST_ALL], row[_COUNT], (row[_REQUESTS], row[_FLAG], row[_STATUSES])) == 0 and flag[0] != 0
