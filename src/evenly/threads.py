"""Threads that forked processes can live with: after any fit, `multiprocessing` works however it starts its processes.

GNU OpenMP doesn't survive a fork: a child that uses several of its threads after its parent did hangs, or is killed by
numba. So evenly's own threads are Python's, and end with the call that needs them, and other libraries get one.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager
from functools import cache
from typing import Any

__all__ = ["on_threads", "one_blas_thread", "thread_count", "without_openmp"]


def thread_count() -> int:
    """Return on how many threads kernels may run: the cores of this process, or what NUMBA_NUM_THREADS says."""
    from numba import config

    return int(config.NUMBA_NUM_THREADS)  # type: ignore[attr-defined]


def on_threads(kernel: Callable[..., Any], threads: int, *arguments: Any) -> None:
    """Call ``kernel(thread, *arguments)`` for each thread's number, at the same time if it is compiled with ``nogil``.

    Examples
    --------
    >>> found = [0, 0]
    >>> on_threads(found.__setitem__, 2, "done")
    >>> found
    ['done', 'done']
    """
    if threads == 1:
        kernel(0, *arguments)
        return
    with ThreadPoolExecutor(threads) as pool:
        for done in [pool.submit(kernel, thread, *arguments) for thread in range(threads)]:
            done.result()


def without_openmp() -> AbstractContextManager[Any]:
    """Let scikit-learn's OpenMP loops run on one thread, which is enough for tables of runs.

    Examples
    --------
    >>> with without_openmp():
    ...     pass
    """
    return _controller("openmp").limit(limits=1)  # type: ignore[no-any-return]


def one_blas_thread() -> AbstractContextManager[Any]:
    """Let products and decompositions of matrices run on one thread, which is faster where the matrices are small.

    Examples
    --------
    >>> with one_blas_thread():
    ...     pass
    """
    import scipy.linalg  # noqa: F401 - SciPy has a BLAS of its own

    return _controller("blas").limit(limits=1)  # type: ignore[no-any-return]


@cache
def _controller(kind: str) -> Any:
    """Return what limits the loaded libraries of one kind, ``"openmp"`` or ``"blas"``.

    It searches all loaded libraries, so once for each kind: callers have imported what they limit, but not what another
    kind needs.
    """
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController().select(user_api=kind)
