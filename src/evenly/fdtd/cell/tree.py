"""Reads and writes a partition as nested lists and as JSON text.

>>> parse([("y", 1.5), 0, [(0, -2), 1, 2]])
[(1, 1.5), 0, (0, -2.0), 1, 2]
"""

from __future__ import annotations

import json
import math
import operator
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from evenly.errors import InputError, ReadError
from evenly.fdtd.cell.box import AXES
from evenly.fdtd.cell.grid import axis_index

__all__ = ["Token", "below", "dump", "nest", "parse", "read"]

FORMAT = "evenly binary partition"
FORMAT_VERSION = 1
# Saved files and error messages nest as deep as the tree. Python's recursion limit is 1000.
DEEPEST = 400

Token = int | tuple[int, float]


def parse(data: Any) -> list[Token]:
    """Return the nodes of nested lists, depth first: an owner for a leaf, (axis, position) for a cut.

    Raises
    ------
    InputError
        If a node is neither; the message names it by its path from the root.
    """
    tokens: list[Token] = []
    stack: list[tuple[str, int, Any]] = [("root", 0, data)]
    while stack:
        where, depth, item = stack.pop()
        if depth > DEEPEST:
            raise InputError(
                f"A partition may be {DEEPEST} cuts deep, but a branch is deeper: balance the tree, for example by "
                "cutting the middle of a row of slabs first."
            )
        item = item.to_list() if hasattr(item, "to_list") else item
        if isinstance(item, (str, bytes)) or not isinstance(item, (Sequence, np.ndarray)):
            tokens.append(_owner(item, where))
            continue
        head, left, right = _three(item, where)
        tokens.append(_head(head, where))
        stack += [(below(where, "right"), depth + 1, right), (below(where, "left"), depth + 1, left)]
    return tokens


def nest(tokens: Sequence[Token]) -> Any:
    """Return nested lists from nodes in depth-first order, with axes as letters; the inverse of `parse`.

    Examples
    --------
    >>> nest([(1, 1.5), 0, 1])
    [('y', 1.5), 0, 1]
    """
    built: list[Any] = []
    for token in reversed(tokens):
        built.append(token if isinstance(token, int) else [(AXES[token[0]], token[1]), built.pop(), built.pop()])
    return built[0]


def below(where: str, side: str) -> str:
    """Return the path from the root to the `side` ("left" or "right") child of the node at path `where`.

    Examples
    --------
    >>> below("root", "left"), below("left", "right")
    ('left', 'left.right')
    """
    return side if where == "root" else f"{where}.{side}"


def dump(data: Any, made_for: Mapping[str, Any] | None = None) -> str:
    """Return nested lists as JSON text, with the format's name and version and with `made_for`.

    Examples
    --------
    >>> dump([("x", 0.5), 0, 1])
    '{"format": "evenly binary partition", "version": 1, "partition": [["x", 0.5], 0, 1]}'
    """
    told = {} if made_for is None else {"made_for": dict(made_for)}
    return json.dumps({"format": FORMAT, "version": FORMAT_VERSION, **told, "partition": data})


def read(text: str, path: Path | str) -> tuple[Any, Any]:
    """Return the nested lists and `made_for` (None if missing) from JSON text that `dump` made.

    Parameters
    ----------
    text : str
        The JSON.
    path : Path or str
        The file's path, for error messages.

    Raises
    ------
    ReadError
        If the text is damaged, is not a partition, or has an unknown version.

    Examples
    --------
    >>> read(dump(3), "layout.json")
    (3, None)
    """
    try:
        content = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise ReadError(path, f"not a partition saved by evenly: {error}") from error
    if not isinstance(content, dict) or content.get("format") != FORMAT or "partition" not in content:
        raise ReadError(path, f'not a partition saved by evenly: "format" must be "{FORMAT}"')
    if content.get("version") != FORMAT_VERSION:
        raise ReadError(
            path,
            f"format version {content.get('version')} is not known: this evenly reads {FORMAT_VERSION}, "
            "a newer one may read it",
        )
    return content["partition"], content.get("made_for")


def _owner(value: Any, where: str) -> int:
    try:
        number = -1 if isinstance(value, (bool, np.bool_)) else operator.index(value)
    except TypeError:
        number = -1
    if number < 0:
        raise InputError(
            f"Node {where} of the partition: an owner must be an integer of at least 0, but got {value!r}; "
            "a cut is [(axis, position), left, right]."
        )
    return number


def _three(item: Any, where: str) -> tuple[Any, Any, Any]:
    count = 1 if getattr(item, "ndim", 1) == 0 else len(item)
    if count != 3:
        raise InputError(
            f"Node {where} of the partition: a cut has three entries, [(axis, position), left, right], but got "
            f"{count}: {_short(item)}."
        )
    return item[0], item[1], item[2]


def _head(head: Any, where: str) -> tuple[int, float]:
    if isinstance(head, (str, bytes)) or not isinstance(head, (Sequence, np.ndarray)) or len(head) != 2:
        raise InputError(
            f"Node {where} of the partition: a cut starts with (axis, position), such as ('x', -2.0), but got "
            f"{_short(head)}."
        )
    try:
        axis = axis_index(head[0])
    except InputError as error:
        raise InputError(f"Node {where} of the partition: {error}") from None
    try:
        position = float("nan") if isinstance(head[1], (str, bool)) else float(head[1])
    except (TypeError, ValueError):
        position = float("nan")
    if not math.isfinite(position):
        raise InputError(
            f"Node {where} of the partition: the position of a cut must be a finite number, but got {head[1]!r}."
        )
    return axis, position


def _short(value: Any) -> str:
    try:
        text = repr(value)
    except RecursionError:
        text = "lists nested very deep"
    return text if len(text) <= 80 else text[:77] + "..."
