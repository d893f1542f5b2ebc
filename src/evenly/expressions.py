"""Short arithmetic expressions over named columns, as users write them in files and on the command line.

``"cores % 8 == 0"`` as a constraint, ``"cores < 400 and level == 8"`` as a split into training and test runs.
Only arithmetic, comparison, ``and``/``or``/``not``, ``in`` with a list, and a few functions are allowed, so an
expression from a file can do no harm. Expressions are evaluated for all rows at once.
"""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evenly.errors import InputError

__all__ = ["Expression"]

_BINARY: dict[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
    ast.Pow: lambda base, exponent: np.power(np.asarray(base, dtype=np.float64), exponent),
}
_COMPARE: dict[type[ast.cmpop], Callable[[Any, Any], Any]] = {
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
    ast.In: lambda left, right: np.isin(left, right),
    ast.NotIn: lambda left, right: ~np.isin(left, right),
}
_UNARY: dict[type[ast.unaryop], Callable[[Any], Any]] = {
    ast.USub: operator.neg,
    ast.UAdd: operator.pos,
    ast.Not: np.logical_not,
}
_FUNCTIONS: dict[str, Callable[..., Any]] = {
    "abs": np.abs,
    "ceil": np.ceil,
    "exp": np.exp,
    "floor": np.floor,
    "log": np.log,
    "log2": np.log2,
    "max": lambda *values: np.maximum.reduce(np.broadcast_arrays(*values)),
    "min": lambda *values: np.minimum.reduce(np.broadcast_arrays(*values)),
    "sqrt": np.sqrt,
}
_MAX_NODES = 500


class Expression:
    """An arithmetic or logical expression over named values.

    Parameters
    ----------
    text : str
        For instance ``"cores % 8 == 0 and nodes <= 4"``.

    Attributes
    ----------
    names : frozenset of str
        The names that the expression needs.

    Raises
    ------
    InputError
        If the text isn't an expression or uses something that isn't allowed.

    Examples
    --------
    >>> rule = Expression("cores % 8 == 0 and cores > 8")
    >>> rule({"cores": np.array([8, 12, 16])})
    array([False, False,  True])
    >>> sorted(Expression("cells * steps / ranks").names)
    ['cells', 'ranks', 'steps']
    """

    def __init__(self, text: str) -> None:
        self.text = text
        try:
            tree = ast.parse(text.strip(), mode="eval")
        except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
            raise InputError(f"{text!r} is not an expression: {error}") from None
        nodes = list(ast.walk(tree))
        if len(nodes) > _MAX_NODES:
            raise InputError(f"an expression may have at most {_MAX_NODES} parts, but got {len(nodes)}")
        functions = {id(node.func) for node in nodes if isinstance(node, ast.Call)}
        self.names = frozenset(node.id for node in nodes if isinstance(node, ast.Name) and id(node) not in functions)
        self._body = tree.body
        for node in nodes:
            self._check(node)

    def _check(self, node: ast.AST) -> None:
        if isinstance(node, ast.Call):
            known = isinstance(node.func, ast.Name) and node.func.id in _FUNCTIONS
            if not known or node.keywords:
                raise InputError(
                    f"{ast.unparse(node)!r} in {self.text!r} is not allowed: "
                    f"functions are {', '.join(sorted(_FUNCTIONS))}"
                )
        allowed = (
            ast.Expression, ast.BinOp, ast.BoolOp, ast.And, ast.Or, ast.Compare, ast.UnaryOp, ast.Constant,
            ast.Name, ast.Load, ast.List, ast.Tuple, ast.Call, *_BINARY, *_COMPARE, *_UNARY,
        )  # fmt: skip
        if not isinstance(node, allowed):
            raise InputError(
                f"{type(node).__name__} is not allowed in {self.text!r}: use names, numbers, quoted text, "
                "+ - * / // % **, comparisons, and, or, not, in [...]"
            )

    def __call__(self, values: Mapping[str, Any]) -> NDArray[Any]:
        """Evaluate for all rows at once.

        Parameters
        ----------
        values : mapping of str to array_like (n,) or scalar
            A value per name; a DataFrame works too.

        Returns
        -------
        array (n,) or ()
            Truth values for a condition, numbers otherwise.
        """
        missing = sorted(self.names - set(values))
        if missing:
            raise InputError(
                f"{self.text!r} needs {', '.join(map(repr, missing))}, but there is only {', '.join(map(repr, values))}"
            )
        columns = {name: np.asarray(values[name]) for name in self.names}
        try:
            with np.errstate(all="ignore"):
                return np.asarray(_evaluate(self._body, columns))
        except TypeError:  # numpy's promotion errors are TypeErrors
            raise InputError(f"{self.text!r} compares or combines text with numbers") from None

    def __repr__(self) -> str:
        return f"Expression({self.text!r})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Expression) and self.text == other.text

    def __hash__(self) -> int:
        return hash(self.text)


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
            result = _evaluate(parts[0], columns)
            for part in parts[1:]:
                result = combine(result, _evaluate(part, columns))
            return result
        case ast.Compare(left, ops, rights):
            operands = [_evaluate(part, columns) for part in (left, *rights)]
            truths = [_COMPARE[type(op)](a, b) for op, a, b in zip(ops, operands, operands[1:], strict=False)]
            return truths[0] if len(truths) == 1 else np.logical_and.reduce(np.broadcast_arrays(*truths))
        case ast.Call(ast.Name(name), arguments):
            return _FUNCTIONS[name](*(_evaluate(argument, columns) for argument in arguments))
        case _:  # pragma: no cover - _check lets nothing else through
            raise InputError(f"{ast.dump(node)} is not allowed")
