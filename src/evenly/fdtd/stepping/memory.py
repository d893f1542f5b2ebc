"""Memory of the arrays that each step passes through: in huge pages, where the system has them.

With pages of 4 KiB, the time of a step depends on where the pages of a chunk lie (`benchmarks/fdtd_huge_pages.py`).
NumPy asks for huge pages, but only for arrays of at least 4 MiB. So smaller arrays are made within larger blocks.
"""

from __future__ import annotations

from threading import Lock
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["copied", "filled", "zeros"]

#: Bytes of a block, of the smallest array that is made within one, and of a huge page.
_BLOCK, _SMALLEST, _PAGE = 32 << 20, 16 << 10, 2 << 20
#: Arrays begin at a cache line, and some lines apart: arrays at the same place within a page evict each other.
_LINE, _APART = 64, 5 * 64


class _Blocks:
    """The block in use. A block lives as long as one of its arrays."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._block = np.empty(0, np.uint8)
        self._used = 0
        self._large = 0

    def take(self, size: int) -> NDArray[np.uint8]:
        """Return some bytes, whatever they hold."""
        with self._lock:
            if size > _BLOCK // 2:  # it has a block of its own
                self._large = (self._large + 1) % 16
                return _block(size + self._large * _APART)[self._large * _APART :]
            if self._used + size > len(self._block):
                self._block, self._used = _block(_BLOCK), 0
            start = self._used
            self._used = start + -(-size // _LINE) * _LINE + _APART
            return self._block[start : start + size]


def _block(size: int) -> NDArray[np.uint8]:
    """Return bytes that begin with a huge page."""
    found = np.empty(size + _PAGE, np.uint8)
    first = -found.ctypes.data % _PAGE
    return found[first : first + size]


_BLOCKS = _Blocks()


def _empty(shape: int | tuple[int, ...], dtype: Any) -> NDArray[Any]:
    kind = np.dtype(dtype)
    size = int(np.prod(shape)) * kind.itemsize
    if size < _SMALLEST:
        return np.empty(shape, kind)
    found: NDArray[Any] = _BLOCKS.take(size).view(kind).reshape(shape)
    return found


def zeros(shape: int | tuple[int, ...], dtype: Any) -> NDArray[Any]:
    """Return an array of zeros.

    Examples
    --------
    >>> zeros(3, np.float32).tolist(), int(zeros((100, 200), float).sum())
    ([0.0, 0.0, 0.0], 0)
    """
    return filled(shape, 0, dtype)


def filled(shape: int | tuple[int, ...], value: float, dtype: Any) -> NDArray[Any]:
    """Return an array of one value.

    Examples
    --------
    >>> filled((2,), 0.5, float).tolist(), float(filled(10_000, 0.5, float).mean())
    ([0.5, 0.5], 0.5)
    """
    found = _empty(shape, dtype)
    found[...] = value
    return found


def copied(values: NDArray[Any], dtype: Any) -> NDArray[Any]:
    """Return a copy of an array, contiguous.

    Examples
    --------
    >>> copied(np.arange(4.0)[::2], np.float32).tolist()
    [0.0, 2.0]
    """
    found = _empty(values.shape, dtype)
    found[...] = values
    return found
