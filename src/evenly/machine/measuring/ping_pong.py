"""Ping-pong between two ranks; `evenly.machine.measuring.messages` starts this program on MPI.

    mpiexec -n 2 python -m evenly.fdtd.rank -m evenly.machine.measuring.ping_pong SECONDS SIZE SIZE …

The first rank prints JSON: the hosts of the ranks and, for each size, half the median and quartiles of the round trip.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["main"]

_WARM, _LEAST, _MOST = 5, 20, 5000


def main(arguments: Sequence[str]) -> None:
    """Time messages of each size for about the given seconds, and print the quartiles."""
    from mpi4py import MPI

    comm = MPI.COMM_WORLD
    seconds, sizes = float(arguments[0]), [int(word) for word in arguments[1:]]
    hosts = comm.gather(MPI.Get_processor_name())
    quartiles = [np.quantile(_round_trips(comm, size, seconds), [0.25, 0.5, 0.75]) / 2 for size in sizes]
    if comm.Get_rank() == 0:
        low, middle, high = np.transpose(quartiles).tolist()
        found = {"hosts": hosts, "bytes": sizes, "seconds": middle, "lower": low, "upper": high}
        sys.stdout.write(json.dumps(found) + "\n")


def _round_trips(comm: Any, size: int, seconds: float) -> NDArray[np.float64]:
    buffer = np.zeros(size, dtype=np.uint8)
    once = _times(comm, buffer, _WARM)
    wanted = int(np.clip(seconds / max(np.median(once), 1e-9), _LEAST, _MOST))
    # Both ranks must make the same number of trips, so the first rank computes it.
    return _times(comm, buffer, comm.bcast(wanted))


def _times(comm: Any, buffer: NDArray[np.uint8], trips: int) -> NDArray[np.float64]:
    times = np.empty(trips)
    first = comm.Get_rank() == 0
    for i in range(trips):
        began = time.perf_counter()
        if first:
            comm.Send(buffer, 1)
            comm.Recv(buffer, 1)
        else:
            comm.Recv(buffer, 0)
            comm.Send(buffer, 0)
        times[i] = time.perf_counter() - began
    return times


if __name__ == "__main__":
    main(sys.argv[1:])
