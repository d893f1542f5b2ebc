"""The row kernels are compiled to packed (SIMD) instructions, which no result shows, but every time does."""

from __future__ import annotations

import platform
import re
from typing import Any

import pytest
from numba import njit
from numba import types as numba_types

from evenly.fdtd.stepping.kernels.one_component import add_curl, update_component
from evenly.fdtd.stepping.kernels.sweep import _update_plain

types: Any = numba_types
INT, FLOAT = types.int64, types.float64
FIELD = types.Array(FLOAT, 1, "C")
RUN, STEPS = types.UniTuple(INT, 2), types.UniTuple(INT, 3)
KERNELS = {
    "vacuum": (_update_plain, (*[FIELD] * 6, RUN, STEPS, FLOAT)),
    "media": (update_component, (*[FIELD] * 5, FLOAT, INT, RUN, RUN)),
    "layers": (add_curl, (*[FIELD] * 4, FLOAT, INT, RUN)),
}


@pytest.mark.skipif(platform.machine() not in ("x86_64", "AMD64"), reason="reads the assembly of x86-64")
@pytest.mark.parametrize("name", KERNELS)
def test_a_row_kernel_takes_several_points_at_once(name: str) -> None:
    kernel, signature = KERNELS[name]
    # Compiled anew: numba shows no assembly of code that was kept on disk.
    fresh: Any = njit(kernel.py_func, _nrt=False)  # type: ignore[call-overload,attr-defined]
    fresh.compile(signature)
    assembly = fresh.inspect_asm(fresh.signatures[0])
    # From SSE2, which each x86-64 has, to AVX-512: the multiplication of two to eight numbers.
    assert re.search(r"^\s+v?mulpd\s", assembly, re.MULTILINE)
