"""Addresses in compiled code: arrays that begin there, and functions of C.

To pass an array to compiled code takes a fifth of a microsecond, and within a tuple more; an address in a table costs
nothing. Who made the table keeps what it points to.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir  # type: ignore[import-untyped]
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

__all__ = ["invoke", "pointer"]


def _to_pointer(context: Any, address: Any, like: Any) -> Any:  # noqa: ARG001 - numba's interface
    """Return the pointer to numbers like those of an array, at an address."""

    def make(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.inttoptr(arguments[0], context.get_value_type(signature.return_type))

    return types.CPointer(like.dtype)(types.int64, like), make


def _to_call(context: Any, function: Any, count: Any, places: Any) -> Any:  # noqa: ARG001 - numba's interface
    """Return what the function of C at an address returns for a number and some pointers, ``int f(int, void *, …)``."""

    def make(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:  # noqa: ARG001 - numba's interface
        number, pointed = ir.IntType(32), context.get_value_type(types.voidptr)
        given = [builder.inttoptr(each, pointed) for each in cgutils.unpack_tuple(builder, arguments[2])]
        kind = ir.FunctionType(number, [number, *[pointed] * len(given)])
        target = builder.inttoptr(arguments[0], kind.as_pointer())
        return builder.call(target, [builder.trunc(arguments[1], number), *given])

    return types.int32(types.int64, types.int64, places), make


pointer: Any = intrinsic(_to_pointer)
invoke: Any = intrinsic(_to_call)
