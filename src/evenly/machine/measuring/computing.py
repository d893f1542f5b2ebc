"""Memory bandwidth of one core and of several together, and the jitter of computing.

The bandwidth is that of STREAM's triad ``a = b + s·c``, with arrays four times the size of the last-level cache [J. D.
McCalpin, "Memory bandwidth and machine balance in current high performance computers", IEEE TCCA Newsletter (1995)
19–25].
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Sequence
from contextlib import ExitStack

import numpy as np
from numpy.typing import NDArray

from evenly.errors import RunFailed
from evenly.machine.measuring.worker import TRIAD_BYTES

__all__ = ["array_bytes", "jitter_of", "measure_jitter", "memory_bandwidth", "run_together"]

_CACHES = 4
_LEAST_ARRAY = 16 * 2**20
_PIECE_S = 5e-3


def array_bytes(cores: int, cache: float, memory: float | None) -> float:
    """Return the size of each of a core's three triad arrays, in bytes.

    The arrays ``a`` of all cores together are four times the last-level cache; so are ``b`` and ``c``. An array has at
    least 16 MiB, unless memory is short: all arrays together take at most a quarter of the memory.

    Parameters
    ----------
    cores : int
        Number of cores that work at the same time.
    cache : float
        Size of the last-level cache, in bytes.
    memory : float, optional
        Memory of the machine, in bytes.

    Examples
    --------
    >>> array_bytes(1, 32 * 2**20, None) / 2**20, array_bytes(64, 32 * 2**20, 4 * 2**30) / 2**20
    (128.0, 5.333333333333333)
    """
    wanted = max(_CACHES * cache / cores, _LEAST_ARRAY)
    return wanted if memory is None else min(wanted, memory / 4 / 3 / cores)


def memory_bandwidth(cores: Sequence[int], array: float, seconds: float = 1.0) -> float:
    """Return the bytes per second that all given cores move together: the sum over cores of the median bandwidth.

    Parameters
    ----------
    cores : sequence of int
        Numbers of the processors; one process runs on each.
    array : float
        Bytes of each of the three arrays of a process.
    seconds : float
        Time for which the triad is repeated.

    Raises
    ------
    RunFailed
        If a process fails, for example for lack of memory.
    """
    times = run_together("triad", cores, seconds, array)
    return float(sum(int(array) // 8 * TRIAD_BYTES / np.median(own) for own in times))


def measure_jitter(cores: Sequence[int], seconds: float = 1.0, piece_s: float = _PIECE_S) -> float:
    """Return the jitter of a fixed piece of computing while all given cores compute; see `jitter_of`.

    Parameters
    ----------
    cores : sequence of int
        Numbers of the processors; one process runs on each.
    seconds : float
        Time for which the piece is repeated.
    piece_s : float
        Approximate time of one piece.

    Raises
    ------
    RunFailed
        If a process fails.
    """
    return jitter_of([np.array(own) for own in run_together("piece", cores, seconds, piece_s)])


def jitter_of(times: Sequence[NDArray[np.float64]]) -> float:
    """Return a robust estimate of the relative standard deviation of wall times, from quantiles.

    Each rank's times are divided by their median, so that a slow core does not count as jitter. The estimate is half
    the distance between the quantiles at 15.87 % and 84.13 %. For a normal distribution, this is the standard
    deviation. A few outliers have little effect on it.

    Parameters
    ----------
    times : sequence of arrays (n_repetitions,)
        Wall times of each rank, in seconds.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> bool(abs(jitter_of([1 + 0.02 * rng.standard_normal(2000), [3.0, 3.0, 900.0]]) - 0.02) < 0.001)
    True
    """
    ratios = np.concatenate([np.asarray(own) / np.median(own) for own in times])
    low, high = np.quantile(ratios, [0.1587, 0.8413])
    return float((high - low) / 2)


def run_together(task: str, cores: Sequence[int], seconds: float, size: float) -> list[list[float]]:
    """Repeat a task of `evenly.machine.measuring.worker` on several cores at once.

    Parameters
    ----------
    task : {"triad", "piece"}
    cores : sequence of int
        Numbers of the processors; one process runs on each.
    seconds : float
        Time for which the task is repeated, at least five times.
    size : float
        Bytes of an array, or seconds of a piece.

    Returns
    -------
    list of lists of float
        For each core, the seconds of each repetition.

    Raises
    ------
    RunFailed
        If a process fails.
    """
    with ExitStack() as stack:
        workers = [_start(stack, task, core, seconds, size) for core in cores]
        if not all([_line(worker) == "ready\n" for worker in workers]):  # noqa: C419 - every one is waited for
            _fail(task, workers)
        for worker in workers:
            _tell(worker)
        lines = [_line(worker) for worker in workers]
        if not all(lines):
            _fail(task, workers)
        return [json.loads(line) for line in lines]


def _start(stack: ExitStack, task: str, core: int, seconds: float, size: float) -> subprocess.Popen[str]:
    words = [sys.executable, "-m", "evenly.machine.measuring.worker", task, str(core), str(seconds), str(size)]
    pipe = subprocess.PIPE
    worker = stack.enter_context(subprocess.Popen(words, stdin=pipe, stdout=pipe, stderr=pipe, text=True))
    # An exit stack calls this before it waits for the process, so no process is left after a failure or interrupt.
    stack.callback(worker.kill)
    return worker


def _line(worker: subprocess.Popen[str]) -> str:
    return worker.stdout.readline() if worker.stdout else ""


def _tell(worker: subprocess.Popen[str]) -> None:
    if worker.stdin:
        worker.stdin.write("go\n")
        worker.stdin.flush()


def _fail(task: str, workers: Sequence[subprocess.Popen[str]]) -> None:
    for worker in workers:
        worker.kill()
    ended = [worker.communicate()[1] for worker in workers]
    text = next((errors for errors in ended if errors.strip()), "it was killed")
    last = text.strip().splitlines()[-1]
    raise RunFailed(f"measuring the {task} failed on one of {len(workers)} cores: {last}", output=text)
