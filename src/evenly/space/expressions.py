"""Short arithmetic expressions over named columns, as users write them in files and on the command line.

Examples: ``"cores % 8 == 0"`` is a constraint, ``"cores < 400 and level == 8"`` splits runs into training and test
data. A name that is not a plain word stands in backticks: ``"`cores per node` <= 48"``. Only arithmetic, comparisons,
``and``/``or``/``not``, ``in`` with a list, and a few functions of numbers are allowed; so an expression from an
untrusted file is safe. Expressions are evaluated for all rows at once.
"""

from __future__ import annotations

import ast
import json
import keyword
import re
import warnings
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from evenly.errors import InputError

if TYPE_CHECKING:  # parsing an expression needs no numpy, whose import is slow
    import numpy as np
    import pandas as pd
    from numpy.typing import NDArray

__all__ = ["Expression", "quoted", "unlike"]

_MAX_LENGTH = 10_000
_MAX_PARTS = 500
_MAX_DEPTH = 100
_OPERATORS = (
    ast.Add, ast.Sub, ast.Mult, ast.Div, ast.FloorDiv, ast.Mod, ast.Pow, ast.USub, ast.UAdd, ast.Not,
    ast.Eq, ast.NotEq, ast.Lt, ast.LtE, ast.Gt, ast.GtE, ast.In, ast.NotIn,
)  # fmt: skip
_FUNCTIONS = ("abs", "ceil", "exp", "floor", "log", "log2", "max", "min", "sqrt")
#: A single =, which compares nothing.
_ONE_EQUAL = re.compile(r"(?<![=!<>])=(?!=)")
#: A label that begins with a number, as ``80M``, without quotes; the first group is what keeps its own.
_BARE_LABEL = re.compile(
    r"""("[^"]*"|'[^']*'|`[^`]*`)|(?<![\w.])\d[\d.]*(?!e\d|[xob][\da-f]|j\b|(?:and|or|in|not)\b)[^\W\d_]\w*""",
    re.IGNORECASE,
)
#: Matches quoted text, which stays unchanged, and names in backticks, which are doubled inside a name.
_NAMES = re.compile(r'"(?:\\.|[^"\\])*"|\'(?:\\.|[^\'\\])*\'|`((?:[^`]|``)*)`')


def quoted(name: str) -> str:
    """Return a name as expressions write it: in backticks unless it is a plain word.

    Examples
    --------
    >>> quoted("cores"), quoted("wall time [s]"), quoted("in")
    ('cores', '`wall time [s]`', '`in`')
    """
    return name if name.isidentifier() and not keyword.iskeyword(name) else f"`{name.replace('`', '``')}`"


def unlike(name: str, text: str) -> str:
    """Return the condition that a name has another text.

    Examples
    --------
    >>> unlike("my comment", "segfault")
    '`my comment` != "segfault"'
    """
    return f"{quoted(name)} != {json.dumps(text, ensure_ascii=False)}"


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
        The names of the columns that the expression uses.
    texts : dict of str to set of str
        The texts that columns are compared with, of those that are compared with nothing else.

    Raises
    ------
    InputError
        If the text isn't an expression or uses something that isn't allowed.

    Notes
    -----
    Whole numbers are exact while they fit into 64 bits; larger ones become floating-point numbers. Undefined values
    (``x % 0``, the logarithm of a negative number) are NaN, and every comparison with NaN is false except ``!=``. Text
    can be compared only with text.

    Examples
    --------
    >>> import numpy as np
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
        self.texts = {self._aliases.get(name, name): texts for name, texts in _texts_of(nodes).items()}

    def _parse(self, plain: str) -> ast.expr:
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # Python warns of invalid escapes and of "5in x"
                return ast.parse(plain.strip(), mode="eval").body
        except SyntaxError as error:
            reason = error.msg
        except (ValueError, RecursionError, MemoryError) as error:
            reason = str(error) or "it is nested too deeply"
        twice = _ONE_EQUAL.sub("==", self.text)
        whole = _BARE_LABEL.sub(lambda found: found[0] if found[1] else f'"{found[0]}"', twice)
        if whole != twice:
            reason = f"text stands in quotes, as in {whole}"
        elif twice != self.text:
            reason = f"one = sets a value, and two compare: {twice!r}"
        raise InputError(f"{self.text!r} is not an expression: {reason}")

    def _check(self, node: ast.expr, lists: set[int]) -> None:
        """Raise `InputError` unless `node` is of a kind that an expression may contain."""
        match node:
            case ast.Call(ast.Name(name), arguments, []) if name in _FUNCTIONS:
                few, many = (1, _MAX_PARTS) if name in ("max", "min") else (1, 1)
                if not few <= len(arguments) <= many:
                    raise InputError(f"{name}() in {self.text!r} takes one number, but got {len(arguments)}")
            case ast.Call():
                raise InputError(
                    f"{ast.unparse(node)!r} in {self.text!r} is not allowed: functions are {', '.join(_FUNCTIONS)}"
                )
            case ast.Constant(bool() | int() | float() | str() | None) | ast.Name() | ast.BoolOp():
                pass
            case ast.UnaryOp(op) | ast.BinOp(op=op) if isinstance(op, _OPERATORS):
                pass
            case ast.Compare(ops=ops) if all(isinstance(op, _OPERATORS) for op in ops):
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
            The values of each name.

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
        import numpy as np

        from evenly.space.expression_values import evaluate

        return np.asarray(self._evaluated(values, evaluate))

    def distance(self, values: Mapping[str, Any] | pd.DataFrame, n: int) -> NDArray[np.float64]:
        """Return the distance of each of `n` rows from satisfying a condition, shape (n,); 0 where it holds.

        See `evenly.space.rule_distances` for the definition.

        Examples
        --------
        >>> Expression("cores <= 4 or cores == 16")({"cores": [4, 8]}).tolist()
        [True, False]
        >>> Expression("cores <= 4 or cores == 16").distance({"cores": [4, 8]}, 2).round(2).tolist()
        [0.0, 0.69]
        """
        import numpy as np

        from evenly.space.rule_distances import distance

        return np.array(np.broadcast_to(self._evaluated(values, distance), (n,)))

    def _evaluated(
        self,
        values: Mapping[str, Any] | pd.DataFrame,
        evaluate: Callable[[ast.expr, Mapping[str, NDArray[Any]]], Any],
    ) -> Any:
        import numpy as np

        from evenly.space.expression_values import as_column

        missing = sorted(self.names - set(values))
        if missing:
            raise InputError(
                f"{self.text!r} needs {', '.join(map(repr, missing))}, but there is only "
                f"{', '.join(map(repr, map(str, values)))}"
            )
        columns = {name: as_column(values[name]) for name in self.names}
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
            The values of each name.
        n : int
            The number of rows, needed if the condition has only scalars.

        Returns
        -------
        array of bool (n,)

        Raises
        ------
        InputError
            If the expression gives numbers or text instead of truth values.

        Examples
        --------
        >>> Expression("cores < 4")({"cores": 3}).shape, Expression("cores < 4").holds({"cores": 3}, 2)
        ((), array([ True,  True]))
        """
        import numpy as np

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
    """Replace names in backticks by aliases that are valid Python names; return the text and the name per alias."""
    aliases: dict[str, str] = {}

    def replace(match: re.Match[str]) -> str:
        if match.group(1) is None:
            return match.group()
        alias = f"alias_{len(aliases)}_"
        while alias in text:
            alias += "_"
        aliases[alias] = match.group(1).replace("``", "`")
        return f" {alias} "

    return _NAMES.sub(replace, text), aliases


def _depth(node: ast.AST) -> int:
    """Return the nesting depth of `node`, computed without recursion; counting stops just above the limit."""
    depth, level = 0, [node]
    while level and depth <= _MAX_DEPTH:
        depth += 1
        level = [child for node in level for child in ast.iter_child_nodes(node) if isinstance(child, ast.expr)]
    return depth


def _texts_of(nodes: Sequence[ast.expr]) -> dict[str, set[str]]:
    """Return the texts that each name is compared with by ``==``, ``!=`` or ``in``, if it stands nowhere else."""
    found: dict[str, set[str]] = {}
    uses = Counter(node.id for node in nodes if isinstance(node, ast.Name))
    for node in nodes:
        match node:
            case ast.Compare(ast.Name(name), [ast.Eq() | ast.NotEq() | ast.In() | ast.NotIn()], [right]):
                others = right.elts if isinstance(right, ast.List | ast.Tuple) else [right]
                if all(isinstance(one, ast.Constant) and isinstance(one.value, str) for one in others):
                    uses[name] -= 1
                    found.setdefault(name, set()).update(ast.literal_eval(one) for one in others)
    return {name: texts for name, texts in found.items() if not uses[name]}


def _lists_after_in(node: ast.expr) -> list[ast.expr]:
    if not isinstance(node, ast.Compare):
        return []
    after = [right for op, right in zip(node.ops, node.comparators, strict=True) if isinstance(op, ast.In | ast.NotIn)]
    if not all(isinstance(right, ast.List | ast.Tuple) for right in after):
        raise InputError(f"'in' in {ast.unparse(node)!r} must be followed by a list, as in 'cores in [480, 960]'")
    return after
