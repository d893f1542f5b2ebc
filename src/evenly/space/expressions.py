"""Short arithmetic expressions over named columns, as users write them in files and on the command line.

``"cores % 8 == 0"`` as a constraint, ``"cores < 400 and level == 8"`` as a split into training and test runs,
``"`cores per node` <= 48"`` where a name is not a plain word. Only arithmetic, comparison, ``and``/``or``/``not``,
``in`` with a list, and a few functions of numbers are allowed, so an expression from a file can do no harm. Expressions
are evaluated for all rows at once.
"""

from __future__ import annotations

import ast
import functools
import re
import warnings
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from evenly.errors import InputError
from evenly.space.rule_distances import distance

__all__ = ["Expression"]

_MAX_LENGTH = 10_000
_MAX_PARTS = 500
_MAX_DEPTH = 100
_INT64 = 2**63
#: Quoted text (left alone) and names in backticks.
_NAMES = re.compile(r'"(?:\\.|[^"\\])*"|\'(?:\\.|[^\'\\])*\'|`([^`]*)`')


class Expression:
    """An arithmetic or logical expression over named values.

    Parameters
    ----------
    text : str
        For instance ``"cores % 8 == 0 and nodes <= 4"``. Names that are not plain words stand in backticks:
        ``"`cores per node` <= 48"``.

    Attributes
    ----------
    names : frozenset of str
        The names that the expression needs.

    Raises
    ------
    InputError
        If the text isn't an expression or uses something that isn't allowed.

    Notes
    -----
    Whole numbers are exact where they fit 64 bits and floating-point numbers beyond. What has no value (``x % 0``, the
    logarithm of a negative number) is NaN, for which no comparison but ``!=`` holds. Text is compared with text only.

    Examples
    --------
    >>> rule = Expression("cores % 8 == 0 and cores > 8")
    >>> rule({"cores": np.array([8, 12, 16])})
    array([False, False,  True])
    >>> sorted(Expression("cells * steps / ranks").names)
    ['cells', 'ranks', 'steps']
    >>> Expression("`cores per node` in [24, 48]")({"cores per node": [12, 24]})
    array([False,  True])
    """

    def __init__(self, text: str) -> None:
        if not isinstance(text, str):
            raise InputError(f"an expression must be text, as in 'cores % 8 == 0', but got {text!r}")
        if len(text) > _MAX_LENGTH:
            raise InputError(f"an expression may have at most {_MAX_LENGTH} characters, but got {len(text)}")
        self.text = text
        plain, self._aliases = _plain_names(text)
        self._body = self._parse(plain)
        nodes = [node for node in ast.walk(self._body) if isinstance(node, ast.expr)]
        if len(nodes) > _MAX_PARTS or _depth(self._body) > _MAX_DEPTH:
            raise InputError(
                f"an expression may have at most {_MAX_PARTS} parts, nested at most {_MAX_DEPTH} deep, "
                f"but got {len(nodes)} parts: {text[:40]!r} …"
            )
        lists = {id(list_) for node in nodes for list_ in _lists_after_in(node)}
        for node in nodes:
            self._check(node, lists)
        functions = {id(node.func) for node in nodes if isinstance(node, ast.Call)}
        found = [node.id for node in nodes if isinstance(node, ast.Name) and id(node) not in functions]
        self.names = frozenset(self._aliases.get(name, name) for name in found)

    def _parse(self, plain: str) -> ast.expr:
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # on odd escapes and "5in x"; neither is the user's concern
                return ast.parse(plain.strip(), mode="eval").body
        except SyntaxError as error:
            reason = error.msg
        except (ValueError, RecursionError, MemoryError) as error:
            reason = str(error) or "it is nested too deeply"
        raise InputError(f"{self.text!r} is not an expression: {reason}")

    def _check(self, node: ast.expr, lists: set[int]) -> None:
        """Raise unless `node` is one of the few things that an expression may contain."""
        match node:
            case ast.Call(ast.Name(name), arguments, []) if name in _FUNCTIONS:
                few, many = (1, _MAX_PARTS) if name in _FOLDS else (1, 1)
                if not few <= len(arguments) <= many:
                    raise InputError(f"{name}() in {self.text!r} takes one number, but got {len(arguments)}")
            case ast.Call():
                raise InputError(
                    f"{ast.unparse(node)!r} in {self.text!r} is not allowed: functions are {', '.join(_FUNCTIONS)}"
                )
            case ast.Constant(bool() | int() | float() | str() | None) | ast.Name() | ast.BoolOp():
                pass
            case ast.UnaryOp(op) if type(op) in _UNARY:
                pass
            case ast.BinOp(op=op) if type(op) in _BINARY:
                pass
            case ast.Compare(ops=ops) if all(type(op) in _COMPARE for op in ops):
                pass
            case ast.List() | ast.Tuple() if id(node) in lists:
                pass
            case _:
                what = (
                    "a list that does not follow 'in'" if isinstance(node, ast.List | ast.Tuple) else ast.unparse(node)
                )
                raise InputError(
                    f"{what} is not allowed in {self.text!r}: use names, numbers, quoted text, "
                    "+ - * / // % **, comparisons, and, or, not, in [...]"
                )

    def __call__(self, values: Mapping[str, Any] | pd.DataFrame) -> NDArray[Any]:
        """Evaluate for all rows at once.

        Parameters
        ----------
        values : mapping of str to array_like (n,) or scalar, or DataFrame
            A value per name.

        Returns
        -------
        array (n,) or ()
            Truth values for a condition, numbers otherwise.

        Raises
        ------
        InputError
            If a name is missing, or text is compared or combined with numbers.

        Examples
        --------
        >>> Expression("2 * cores")({"cores": [4, 8]})
        array([ 8, 16])
        """
        return np.asarray(self._evaluated(values, _evaluate))

    def distance(self, values: Mapping[str, Any] | pd.DataFrame, n: int) -> NDArray[np.float64]:
        """Tell how far each of `n` rows is from obeying a condition, 0 where it holds, (n,).

        See `evenly.space.rule_distances`.

        Examples
        --------
        >>> Expression("cores <= 4 or cores == 16")({"cores": [4, 8]}).tolist()
        [True, False]
        >>> Expression("cores <= 4 or cores == 16").distance({"cores": [4, 8]}, 2).round(2).tolist()
        [0.0, 0.69]
        """
        found = self._evaluated(values, lambda body, columns: distance(body, lambda part: _evaluate(part, columns)))
        return np.array(np.broadcast_to(found, (n,)))

    def _evaluated(
        self,
        values: Mapping[str, Any] | pd.DataFrame,
        evaluate: Callable[[ast.expr, Mapping[str, NDArray[Any]]], Any],
    ) -> Any:
        missing = sorted(self.names - set(values))
        if missing:
            raise InputError(
                f"{self.text!r} needs {', '.join(map(repr, missing))}, but there is only "
                f"{', '.join(map(repr, map(str, values)))}"
            )
        columns = {name: _column(values[name]) for name in self.names}
        columns |= {alias: columns[name] for alias, name in self._aliases.items() if name in columns}
        try:
            with np.errstate(all="ignore"):
                return evaluate(self._body, columns)
        except TypeError:
            raise InputError(
                f"{self.text!r} compares or combines text with numbers: put quotes around text, and none around numbers"
            ) from None
        except ValueError as error:
            raise InputError(f"{self.text!r} can't be evaluated: {error}") from None

    def holds(self, values: Mapping[str, Any] | pd.DataFrame, n: int) -> NDArray[np.bool_]:
        """Evaluate a condition for `n` rows.

        Parameters
        ----------
        values : mapping of str to array_like (n,) or scalar, or DataFrame
            A value per name.
        n : int
            The number of rows, for a condition that mentions no column.

        Returns
        -------
        array of bool (n,)

        Raises
        ------
        InputError
            If the expression isn't a condition but gives numbers or text.

        Examples
        --------
        >>> Expression("cores < 4")({"cores": 3}).shape, Expression("cores < 4").holds({"cores": 3}, 2)
        ((), array([ True,  True]))
        """
        result = self(values)
        if result.dtype != np.bool_:
            raise InputError(
                f"{self.text!r} is not a condition that is true or false: compare it with something, as in 'cores > 8'"
            )
        return np.array(np.broadcast_to(result, (n,)))

    def __repr__(self) -> str:
        return f"Expression({self.text!r})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Expression) and self.text == other.text

    def __hash__(self) -> int:
        return hash(self.text)


# ---- reading ------------------------------------------------------------------------------------------------


def _plain_names(text: str) -> tuple[str, dict[str, str]]:
    """Replace names in backticks by aliases that Python takes for names."""
    aliases: dict[str, str] = {}

    def replace(match: re.Match[str]) -> str:
        if match.group(1) is None:
            return match.group()
        alias = f"alias_{len(aliases)}_"
        while alias in text:
            alias += "_"
        aliases[alias] = match.group(1)
        return f" {alias} "

    return _NAMES.sub(replace, text), aliases


def _depth(node: ast.AST) -> int:
    """Return how deeply `node` is nested, without recursion, or just above the limit."""
    depth, level = 0, [node]
    while level and depth <= _MAX_DEPTH:
        depth += 1
        level = [child for node in level for child in ast.iter_child_nodes(node) if isinstance(child, ast.expr)]
    return depth


def _lists_after_in(node: ast.expr) -> list[ast.expr]:
    if not isinstance(node, ast.Compare):
        return []
    after = [right for op, right in zip(node.ops, node.comparators, strict=True) if isinstance(op, ast.In | ast.NotIn)]
    if not all(isinstance(right, ast.List | ast.Tuple) for right in after):
        raise InputError(f"'in' in {ast.unparse(node)!r} must be followed by a list, as in 'cores in [480, 960]'")
    return after


# ---- values -------------------------------------------------------------------------------------------------


def _column(values: Any) -> NDArray[Any]:
    """Return `values` as bool, int64, float64, str or object."""
    dtype = getattr(values, "dtype", None)
    if dtype is not None and not isinstance(dtype, np.dtype):  # pandas' own types know NA, numpy does not
        missing = np.asarray(values.isna())
        objects = np.array(values.astype(object), dtype=object)
        if getattr(dtype, "kind", "O") in "iufb":
            return _column(
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
    """Tell whether `value` holds text only (True), no text (False), or both (None)."""
    array = np.asarray(value)
    if array.dtype.kind != "O":
        return array.dtype.kind in "US"
    texts = [isinstance(item, str) for item in array.flat if item is not None and item == item]
    return True if texts and all(texts) else None if any(texts) or not texts else False


def _exact(operation: Callable[..., Any], left: Any, right: Any) -> Any:
    """Add, subtract or multiply whole numbers exactly while they fit 64 bits, as floating-point numbers beyond."""
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
    "abs": np.abs, "ceil": np.ceil, "exp": np.exp, "floor": np.floor, "log": np.log, "log2": np.log2,
    "max": np.maximum, "min": np.minimum, "sqrt": np.sqrt,
}  # fmt: skip


def _evaluate(node: ast.AST, columns: Mapping[str, NDArray[Any]]) -> Any:
    match node:
        case ast.Constant(value):
            return value
        case ast.Name(name):
            return columns[name]
        case ast.List(items) | ast.Tuple(items):
            return [_evaluate(item, columns) for item in items]
        case ast.UnaryOp(op, operand):
            return _UNARY[type(op)](_evaluate(operand, columns))
        case ast.BinOp(left, op, right):
            return _BINARY[type(op)](_evaluate(left, columns), _evaluate(right, columns))
        case ast.BoolOp(op, parts):
            combine = np.logical_and if isinstance(op, ast.And) else np.logical_or
            return functools.reduce(combine, [_truth(_evaluate(part, columns)) for part in parts])
        case ast.Compare(left, ops, rights):
            operands = [_evaluate(part, columns) for part in (left, *rights)]
            truths = [_COMPARE[type(op)](a, b) for op, a, b in zip(ops, operands, operands[1:], strict=False)]
            return functools.reduce(np.logical_and, truths)
        case ast.Call(ast.Name(name), arguments):
            numbers = [_number(_evaluate(argument, columns)) for argument in arguments]
            return functools.reduce(_FOLDS[name], numbers) if name in _FOLDS else _FUNCTIONS[name](numbers[0])
        case _:  # pragma: no cover - _check lets nothing else through
            raise InputError(f"{ast.dump(node)} is not allowed")
