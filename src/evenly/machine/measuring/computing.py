"""How fast cores move memory, alone and together, and how evenly they compute.

The kernel is STREAM's triad ``a = b + s·c``, on arrays four times the last cache [J. D. McCalpin, "Memory bandwidth and
machine balance in current high performance computers", IEEE TCCA Newsletter (1995) 19–25].
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
    """Return how large each of a core's three arrays is, in bytes.

    All cores' arrays of one name are four times the last cache together; all of them take a quarter of the memory at
    most.

    Parameters
    ----------
    cores : int
        Cores that work at the same time.
    cache : float
        The last cache, in bytes.
    memory : float, optional
        Of the machine, in bytes.

    Examples
    --------
    >>> array_bytes(1, 32 * 2**20, None) / 2**20, array_bytes(64, 32 * 2**20, 4 * 2**30) / 2**20
    (128.0, 5.333333333333333)
    """
    wanted = max(_CACHES * cache / cores, _LEAST_ARRAY)
    return wanted if memory is None else min(wanted, memory / 4 / 3 / cores)


def memory_bandwidth(cores: Sequence[int], array: float, seconds: float = 1.0) -> float:
    """Return the bytes per second that cores move together, the sum of their medians.

    Parameters
    ----------
    cores : sequence of int
        Numbers of the processors, a process on each.
    array : float
        Bytes of each of a process' three arrays.
    seconds : float
        How long they repeat it.

    Raises
    ------
    RunFailed
        If a process fails, as for lack of memory.
    """
    times = run_together("triad", cores, seconds, array)
    return float(sum(int(array) // 8 * TRIAD_BYTES / np.median(own) for own in times))


def measure_jitter(cores: Sequence[int], seconds: float = 1.0, piece_s: float = _PIECE_S) -> float:
    """Return how far the times of a fixed piece of computing scatter on cores that all compute; see `jitter_of`.

    Parameters
    ----------
    cores : sequence of int
        Numbers of the processors, a process on each.
    seconds : float
        How long they repeat it.
    piece_s : float
        About how long the piece takes.

    Raises
    ------
    RunFailed
        If a process fails.
    """
    return jitter_of([np.array(own) for own in run_together("piece", cores, seconds, piece_s)])


def jitter_of(times: Sequence[NDArray[np.float64]]) -> float:
    """Return the standard deviation of wall times over their mean, from quantiles.

    Half the distance of the quantiles at 15.87 % and 84.13 %, which is the standard deviation of a normal distribution,
    in units of each rank's own median: a few outliers don't decide, and a slow core isn't scatter.

    Parameters
    ----------
    times : sequence of arrays (n_repetitions,)
        Of each rank, in seconds.

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
        Numbers of the processors, a process on each.
    seconds : float
        How long it is repeated, five times at least.
    size : float
        Bytes of an array, or seconds of a piece.

    Returns
    -------
    list of lists of float
        For each core the seconds of each repetition.

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
    # Called first on leaving: what fails or is interrupted leaves no process.
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
