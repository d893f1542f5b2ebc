"""Evaluation of arithmetic expressions over columns, for all rows at once; see `evenly.space.expressions`.

Whole numbers are exact while they fit into 64 bits; larger ones become floating-point numbers. Undefined values, such
as a division by zero with ``%``, are NaN.
"""

from __future__ import annotations

import ast
import functools
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evenly.errors import InputError

__all__ = ["as_column", "evaluate"]

_INT64 = 2**63


def as_column(values: Any) -> NDArray[Any]:
    """Return `values` as bool, int64, float64, str or object."""
    dtype = getattr(values, "dtype", None)
    if dtype is not None and not isinstance(dtype, np.dtype):  # pandas' own types know NA, numpy does not
        missing = np.asarray(values.isna())
        objects = np.array(values.astype(object), dtype=object)
        if getattr(dtype, "kind", "O") in "iufb":
            return as_column(
                np.where(missing, np.nan, objects).astype(np.float64) if missing.any() else values.to_numpy()
            )
        objects[missing] = None
        return objects
    array = np.asarray(values)
    if array.dtype.kind in "iu":
        return array.astype(np.float64 if array.dtype == np.uint64 and np.any(array >= _INT64) else np.int64)
    return array.astype(np.float64) if array.dtype.kind == "f" else array


def _number(value: Any) -> NDArray[Any]:
    """Return `value` as int64 or float64, for arithmetic; TypeError if it is text."""
    if isinstance(value, int) and not -_INT64 <= value < _INT64:
        return np.asarray(_as_float(value))
    array = np.asarray(value)
    match array.dtype.kind:
        case "b":
            return array.astype(np.int64)
        case "i" | "f":
            return array
        case "O" if not any(isinstance(item, str | bytes) for item in array.flat):
            return array.astype(np.float64)
    raise TypeError


def _as_float(value: int) -> float:
    try:
        return float(value)
    except OverflowError:
        return np.inf if value > 0 else -np.inf


def _is_text(value: Any) -> bool | None:
    """Return True if `value` holds only text, False if it holds no text, None if it holds both or only missing."""
    array = np.asarray(value)
    if array.dtype.kind != "O":
        return array.dtype.kind in "US"
    texts = [isinstance(item, str) for item in array.flat if item is not None and item == item]
    return True if texts and all(texts) else None if any(texts) or not texts else False


def _exact(operation: Callable[..., Any], left: Any, right: Any) -> Any:
    """Add, subtract or multiply: whole numbers exactly if the results fit into 64 bits, else in floating point."""
    a, b = _number(left), _number(right)
    if a.dtype.kind == "f" or b.dtype.kind == "f":
        return operation(a, b)
    approximate = operation(a.astype(np.float64), b.astype(np.float64))
    return approximate if np.any(np.abs(approximate) >= _INT64 / 2) else operation(a, b)


def _divide(operation: Callable[..., Any], left: Any, right: Any) -> Any:
    a, b = _number(left), _number(right)
    return operation(a, np.where(b == 0, np.nan, b) if np.any(b == 0) else b)


def _same(left: Any, right: Any) -> NDArray[np.bool_]:
    if {_is_text(left), _is_text(right)} == {True, False} and left is not None and right is not None:
        raise TypeError
    a, b = (np.asarray(x, dtype=object if _is_text(x) is not False else None) for x in (left, right))
    return np.asarray(a == b, dtype=np.bool_)


def _ordered(operation: Callable[..., Any], left: Any, right: Any) -> NDArray[np.bool_]:
    if _is_text(left) is True and _is_text(right) is True:
        return np.asarray(operation(np.asarray(left, dtype=object), np.asarray(right, dtype=object)), dtype=np.bool_)
    return np.asarray(operation(_number(left), _number(right)), dtype=np.bool_)


def _truth(value: Any) -> NDArray[np.bool_]:
    number = _number(value)
    return np.asarray((number != 0) & ~np.isnan(number))


def _among(left: Any, options: list[Any]) -> NDArray[np.bool_]:
    found = np.zeros(np.shape(left), dtype=np.bool_)
    for option in options:
        found = found | _same(left, option)
    return found


_BINARY: dict[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: functools.partial(_exact, np.add),
    ast.Sub: functools.partial(_exact, np.subtract),
    ast.Mult: functools.partial(_exact, np.multiply),
    ast.Div: lambda a, b: np.true_divide(_number(a), _number(b)),
    ast.FloorDiv: functools.partial(_divide, np.floor_divide),
    ast.Mod: functools.partial(_divide, np.mod),
    ast.Pow: lambda a, b: np.power(_number(a).astype(np.float64), _number(b)),
}
_COMPARE: dict[type[ast.cmpop], Callable[[Any, Any], Any]] = {
    ast.Eq: _same,
    ast.NotEq: lambda a, b: ~_same(a, b),
    ast.Lt: functools.partial(_ordered, np.less),
    ast.LtE: functools.partial(_ordered, np.less_equal),
    ast.Gt: functools.partial(_ordered, np.greater),
    ast.GtE: functools.partial(_ordered, np.greater_equal),
    ast.In: _among,
    ast.NotIn: lambda a, b: ~_among(a, b),
}
_UNARY: dict[type[ast.unaryop], Callable[[Any], Any]] = {
    ast.USub: lambda a: np.negative(_number(a)),
    ast.UAdd: _number,
    ast.Not: lambda a: ~_truth(a),
}
_FOLDS: dict[str, Callable[..., Any]] = {"max": np.maximum, "min": np.minimum}
_FUNCTIONS: dict[str, Callable[..., Any]] = {
    "abs": np.abs, "ceil": np.ceil, "exp": np.exp, "floor": np.floor, "log": np.log, "log2": np.log2, "sqrt": np.sqrt,
}  # fmt: skip


def evaluate(node: ast.AST, columns: Mapping[str, NDArray[Any]]) -> Any:
    """Return the value of a parsed expression, shape (n,) or (): numbers, text or truth values.

    Parameters
    ----------
    node : ast.AST
        A syntax tree that `evenly.space.expressions.Expression` has checked.
    columns : mapping of str to array (n,)
        The values of each name, converted by `as_column`.

    Raises
    ------
    TypeError
        If text is compared or combined with numbers.

    Examples
    --------
    >>> evaluate(ast.parse("2 * a + 1", mode="eval").body, {"a": np.array([1, 2])})
    array([3, 5])
    """
    match node:
        case ast.Constant(value):
            return value
        case ast.Name(name):
            return columns[name]
        case ast.List(items) | ast.Tuple(items):
            return [evaluate(item, columns) for item in items]
        case ast.UnaryOp(op, operand):
            return _UNARY[type(op)](evaluate(operand, columns))
        case ast.BinOp(left, op, right):
            return _BINARY[type(op)](evaluate(left, columns), evaluate(right, columns))
        case ast.BoolOp(op, parts):
            combine = np.logical_and if isinstance(op, ast.And) else np.logical_or
            return functools.reduce(combine, [_truth(evaluate(part, columns)) for part in parts])
        case ast.Compare(left, ops, rights):
            operands = [evaluate(part, columns) for part in (left, *rights)]
            truths = [_COMPARE[type(op)](a, b) for op, a, b in zip(ops, operands, operands[1:], strict=False)]
            return functools.reduce(np.logical_and, truths)
        case ast.Call(ast.Name(name), arguments):
            numbers = [_number(evaluate(argument, columns)) for argument in arguments]
            return functools.reduce(_FOLDS[name], numbers) if name in _FOLDS else _FUNCTIONS[name](numbers[0])
        case _:  # pragma: no cover - Expression lets nothing else through
            raise InputError(f"{ast.dump(node)} is not allowed")
