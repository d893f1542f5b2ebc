"""Which rank owns which part of the cell: a binary tree of cuts.

A partition is written as nested lists ``[(axis, position), left, right]``: a cut across `axis` (``"x"``, ``"y"``,
``"z"`` or 0, 1, 2) at `position` (in a, the origin is the centre of the cell), then what lies below and above it, each
another cut or the number of the rank that owns that chunk. One rank may own several chunks; numbers are taken modulo
the number of ranks, and ranks that own nothing stay idle. The form is that of Meep's ``BinaryPartition`` (A. F. Oskooi
et al., Comput. Phys. Commun. 181, 687 (2010), section 2.2, on chunks and owned points).

>>> from evenly.fdtd.grid import Grid
>>> cell = Grid((10.0, 5.0, 0.0), 10)
>>> layout = BinaryPartition([("x", -2.0), 0, [("y", 1.5), [("x", 3.0), 1, [("y", -0.5), 4, 3]], 2]])
>>> [box.shape for box in layout.boxes(cell)], layout.owners
([(30, 50, 1), (50, 40, 1), (20, 20, 1), (20, 20, 1), (70, 10, 1)], [0, 1, 4, 3, 2])

Number the owners depth first, so that neighbours in the cell tend to be neighbours on the machine.
"""

from __future__ import annotations

import itertools
import json
import math
import operator
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from evenly.errors import InputError, ReadError
from evenly.fdtd.box import AXES, Box
from evenly.fdtd.cutting import ChunkBox, HasLayers, layer_pieces
from evenly.fdtd.grid import Grid, axis_index

__all__ = ["BinaryPartition", "ChunkBox"]

FORMAT = "evenly binary partition"
FORMAT_VERSION = 1
# Saved files and error messages nest as deep as the tree, and Python's own nesting ends at 1000.
DEEPEST = 400

Token = int | tuple[int, float]


class BinaryPartition:
    """A binary tree of cuts through the cell with the owners of the chunks at its leaves.

    Parameters
    ----------
    data : int, nested lists, or BinaryPartition
        The number of the owner of everything, or ``[(axis, position), left, right]`` with `left` and `right` again
        of these three kinds.

    Attributes
    ----------
    owner : int or None
        Owner of a leaf; None where there is a cut.
    axis : int or None
        0, 1 or 2, the axis across which this node cuts; None at a leaf.
    position : float or None
        Where it cuts, in a from the centre of the cell.
    left, right : BinaryPartition or None
        What lies below and above the cut.

    Raises
    ------
    InputError
        If a node is neither a cut nor an owner, or an owner is not an integer >= 0; the message names the node by its
        way from the root, such as ``right.left``.

    Examples
    --------
    >>> halves = BinaryPartition([("x", 0.0), 0, 1])
    >>> halves.depth, halves.position, halves.right.owner
    (1, 0.0, 1)
    >>> BinaryPartition([("x", 0.0), 0, [("y", 1.0), 1, -2]])
    Traceback (most recent call last):
    evenly.errors.InputError: Node right.right of the partition: an owner must be an integer of at least 0, ... -2...
    """

    __slots__ = ("axis", "left", "owner", "position", "right")

    owner: int | None
    axis: int | None
    position: float | None
    left: BinaryPartition | None
    right: BinaryPartition | None

    def __init__(self, data: Any) -> None:
        self._fill(_assemble(_parse(data)))

    def _fill(self, node: _Draft) -> None:
        # `_Draft`s hold finished branches, so this goes one level deep however deep the tree is.
        for name, value in zip(("owner", "axis", "position", "left", "right"), node, strict=True):
            object.__setattr__(self, name, value)

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"a partition can't be changed (its `{name}` was set): make another from `to_list()`")

    def __reduce__(self) -> tuple[type[BinaryPartition], tuple[Any]]:
        return BinaryPartition, (self.to_list(),)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, BinaryPartition) and self._tokens() == other._tokens()

    def __hash__(self) -> int:
        return hash(tuple(self._tokens()))

    def __repr__(self) -> str:
        return f"BinaryPartition({self.to_list()!r})"

    def walk(self) -> Iterator[tuple[str, BinaryPartition]]:
        """Yield every node with its way from the root, depth first.

        Examples
        --------
        >>> [where for where, node in BinaryPartition([(0, 0.0), 0, [(1, 0.0), 1, 2]]).walk()]
        ['root', 'left', 'right', 'right.left', 'right.right']
        """
        stack: list[tuple[str, BinaryPartition]] = [("root", self)]
        while stack:
            where, node = stack.pop()
            yield where, node
            if node.left is not None and node.right is not None:
                stack += [(_below(where, "right"), node.right), (_below(where, "left"), node.left)]

    def _tokens(self) -> list[Token]:
        return [_token(node) for _, node in self.walk()]

    @property
    def leaves(self) -> list[tuple[str, int]]:
        """Way from the root and owner of each chunk, depth first.

        Examples
        --------
        >>> BinaryPartition([("x", 0.0), 7, 3]).leaves
        [('left', 7), ('right', 3)]
        """
        return [(where, node.owner) for where, node in self.walk() if node.owner is not None]

    @property
    def owners(self) -> list[int]:
        """Owner of each chunk, depth first."""
        return [owner for _, owner in self.leaves]

    @property
    def depth(self) -> int:
        """Cuts between the root and the deepest chunk; 0 when nothing is cut."""
        return max(0 if where == "root" else where.count(".") + 1 for where, _ in self.walk())

    def to_list(self) -> Any:
        """Return the nested lists that make the same partition, axes as letters.

        Examples
        --------
        >>> BinaryPartition([(2, 0.5), 0, [(0, 1), 1, 2]]).to_list()
        [('z', 0.5), 0, [('x', 1.0), 1, 2]]
        """
        built: list[Any] = []
        for token in reversed(self._tokens()):
            built.append(token if isinstance(token, int) else [(AXES[token[0]], token[1]), built.pop(), built.pop()])
        return built[0]

    def to_json(self) -> str:
        """Return the partition as JSON text with its format's name and version."""
        return json.dumps({"format": FORMAT, "version": FORMAT_VERSION, "partition": self.to_list()})

    def save(self, path: Path | str) -> Path:
        """Write the partition to a JSON file and return its path.

        Raises
        ------
        InputError
            If nothing can be written there.

        Examples
        --------
        >>> import tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     BinaryPartition.load(BinaryPartition([("x", 0.1), 0, 1]).save(f"{folder}/layout.json"))
        BinaryPartition([('x', 0.1), 0, 1])
        """
        path = Path(path)
        try:
            path.write_text(self.to_json() + "\n", encoding="utf-8")
        except OSError as error:
            raise InputError(f"The partition can't be saved as {path}: {error.strerror or error}.") from error
        return path

    @classmethod
    def load(cls, path: Path | str) -> BinaryPartition:
        """Read a partition from a file that `save` wrote.

        Raises
        ------
        ReadError
            If it can't be read, is something else, is damaged, or is of a version that is not known.
        """
        try:
            return cls(_payload(Path(path).read_text(encoding="utf-8"), path))
        except (OSError, UnicodeDecodeError) as error:
            raise ReadError(path, f"no partition can be read from it: {error}") from error
        except ReadError:
            raise
        except InputError as error:
            raise ReadError(path, str(error)) from error

    @classmethod
    def equal(cls, grid: Grid, n: int) -> BinaryPartition:
        """Return `n` chunks of equal volume (to a layer of points), owned by 0 … n-1 depth first.

        The cell is cut into as many slabs as `n`'s largest prime factor, across its longest axis, then each slab by
        the next factor across its own longest axis, and so on. Where an axis has fewer points than the factor, the
        points are halved instead, owners in proportion.

        Raises
        ------
        InputError
            If `n` is not an integer >= 1 or there are fewer grid points than chunks.

        Examples
        --------
        >>> BinaryPartition.equal(Grid((4.0, 2.0, 0.0), 10), 4)
        BinaryPartition([('x', 0.0), [('x', -1.0), 0, 1], [('x', 1.0), 2, 3]])
        """
        n = _count(n, "n", "chunks")
        if n > grid.box.volume:
            raise InputError(
                f"`n` must be at most the number of grid points of the cell ({grid.box.volume}), but got {n}: use fewer "
                "chunks or a higher resolution."
            )
        return cls(_cut_equally(grid, grid.box, n, itertools.count()))

    def boxes(self, grid: Grid) -> list[Box]:
        """Return the grid points of each chunk, depth first (in the order of `owners`).

        A cut goes between the two grid points whose nodes are nearest to it: points from index
        ``floor((position + size/2) resolution + 1/2)`` on are on its upper side.

        Raises
        ------
        InputError
            If a cut is outside its parent, leaves no point on one side, or is across an axis that the cell is thin
            along; the message names the node and the rule.
        """
        found, stack = [], [("root", self, grid.box)]
        while stack:
            where, node, box = stack.pop()
            if node.left is None or node.right is None:
                found.append(box)
                continue
            below, above = _cut(node, where, box, grid)
            stack += [(_below(where, "right"), node.right, above), (_below(where, "left"), node.left, below)]
        return found

    def validate(self, grid: Grid) -> None:
        """Check that the chunks tile the cell of `grid`.

        Raises
        ------
        InputError
            As in `boxes`.

        Examples
        --------
        >>> BinaryPartition([("x", 3.0), 0, 1]).validate(Grid((4.0, 2.0, 0.0), 10))
        Traceback (most recent call last):
        evenly.errors.InputError: Node root of the partition cuts x at 3.0: a cut must be inside its parent, ...
        """
        self.boxes(grid)

    def chunks(self, grid: Grid, layers: HasLayers | None = None, ranks: int = 1) -> list[ChunkBox]:
        """Return the chunks that ranks step: the leaves' boxes with absorbing layers split off.

        Parameters
        ----------
        grid : Grid
            The cell.
        layers : optional
            Anything with `pml` and `absorber`: points of the low and high layer along x, y, z, as
            `evenly.fdtd.boundaries.resolve` returns.
        ranks : int
            How many ranks there are; owners are taken modulo this.

        Returns
        -------
        list of ChunkBox
            In the order of the leaves; pieces of one leaf follow each other and have its owner.

        Raises
        ------
        InputError
            As in `boxes`.

        Examples
        --------
        >>> from evenly.fdtd.boundaries import PML, resolve
        >>> cell = Grid((4.0, 2.0, 0.0), 10)
        >>> pieces = BinaryPartition([("x", 0.0), 4, 5]).chunks(cell, resolve([PML(0.5, "x")], cell), ranks=4)
        >>> [(chunk.box.shape[0], chunk.owner, chunk.leaf, chunk.pml[0]) for chunk in pieces]
        [(5, 0, 0, True), (15, 0, 0, False), (15, 1, 1, False), (5, 1, 1, True)]
        """
        ranks = _count(ranks, "ranks", "ranks")
        leaves = zip(self.boxes(grid), self.owners, strict=True)
        return [
            piece
            for number, (box, owner) in enumerate(leaves)
            for piece in layer_pieces(box, grid, layers, owner=owner % ranks, leaf=number)
        ]


_Draft = tuple[int | None, int | None, float | None, BinaryPartition | None, BinaryPartition | None]


def _below(where: str, side: str) -> str:
    return side if where == "root" else f"{where}.{side}"


def _token(node: BinaryPartition) -> Token:
    if node.owner is not None:
        return node.owner
    assert node.axis is not None and node.position is not None  # noqa: S101 - tells mypy what the class keeps true
    return node.axis, node.position


def _parse(data: Any) -> list[Token]:
    tokens: list[Token] = []
    stack: list[tuple[str, int, Any]] = [("root", 0, data)]
    while stack:
        where, depth, item = stack.pop()
        if depth > DEEPEST:
            raise InputError(
                f"A partition may be {DEEPEST} cuts deep, but a branch is deeper: balance the tree, for example by "
                "cutting the middle of a row of slabs first."
            )
        if isinstance(item, BinaryPartition):
            item = _token(item) if item.left is None else [_token(item), item.left, item.right]
        if isinstance(item, (str, bytes)) or not isinstance(item, (Sequence, np.ndarray)):
            tokens.append(_owner(item, where))
            continue
        head, left, right = _three(item, where)
        tokens.append(_head(head, where))
        stack += [(_below(where, "right"), depth + 1, right), (_below(where, "left"), depth + 1, left)]
    return tokens


def _assemble(tokens: list[Token]) -> _Draft:
    built: list[BinaryPartition] = []
    draft: _Draft = (None, None, None, None, None)
    for token in reversed(tokens):
        draft = (
            (token, None, None, None, None)
            if isinstance(token, int)
            else (None, token[0], token[1], built.pop(), built.pop())
        )
        node = object.__new__(BinaryPartition)
        node._fill(draft)
        built.append(node)
    return draft


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
    if len(item) != 3:
        raise InputError(
            f"Node {where} of the partition: a cut has three entries, [(axis, position), left, right], but got "
            f"{len(item)}: {_short(item)}."
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


def _count(value: Any, name: str, things: str) -> int:
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or value < 1:
        raise InputError(f"`{name}`, the number of {things}, must be an integer of at least 1, but got {value!r}.")
    return int(value)


def _payload(text: str, path: Path | str) -> Any:
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
    return content["partition"]


def _cut(node: BinaryPartition, where: str, box: Box, grid: Grid) -> tuple[Box, Box]:
    axis, position = node.axis, node.position
    assert axis is not None and position is not None  # noqa: S101 - tells mypy what the class keeps true
    name = f"Node {where} of the partition cuts {AXES[axis]} at {position!r}"
    if grid.thin[axis]:
        raise InputError(f"{name}: a cut can't be across an axis along which the cell has no size; leave it out.")
    low, high = (grid.origin[axis] + i * grid.dx for i in (box.lo[axis], box.hi[axis]))
    at = math.floor(grid.index(position, axis) + 0.5)
    if not low < position < high:
        raise InputError(
            f"{name}: a cut must be inside its parent, which reaches from {low:.10g} to {high:.10g} along "
            f"{AXES[axis]}; positions count from the centre of the cell."
        )
    if not box.lo[axis] < at < box.hi[axis]:
        raise InputError(
            f"{name}: a cut must leave grid points on both sides, but it is within half a grid spacing of the end of "
            f"its parent, which reaches from {low:.10g} to {high:.10g}: move it by at least {grid.dx:.4g} or leave it "
            "out."
        )
    return box.split(axis, at)


def _cut_equally(grid: Grid, box: Box, n: int, owners: Iterator[int]) -> Any:
    if n == 1:
        return next(owners)
    axis = box.shape.index(max(box.shape))
    parts = _parts(box, axis, n)
    return _row(grid, axis, parts, owners)


def _parts(box: Box, axis: int, n: int) -> list[tuple[Box, int]]:
    """Return boxes one above the other along `axis` with the number of chunks each is to become."""
    points, start, prime = box.shape[axis], box.lo[axis], _largest_prime(n)
    layer = box.volume // points
    if points >= prime and layer * (points // prime) >= n // prime:
        edges = [start + (points * k + prime // 2) // prime for k in range(prime + 1)]
        return [(box.replace(axis, a, b), n // prime) for a, b in itertools.pairwise(edges)]
    at = min(max(round(points * (n // 2) / n), 1), points - 1)
    # Neither side may get more chunks than it has points.
    first = min(max(n // 2, n - (points - at) * layer), at * layer)
    below, above = box.split(axis, start + at)
    return [(below, first), (above, n - first)]


def _row(grid: Grid, axis: int, parts: list[tuple[Box, int]], owners: Iterator[int]) -> Any:
    if len(parts) == 1:
        return _cut_equally(grid, *parts[0], owners)
    middle = len(parts) // 2
    at = grid.origin[axis] + parts[middle][0].lo[axis] * grid.dx
    left = _row(grid, axis, parts[:middle], owners)
    return [(axis, at), left, _row(grid, axis, parts[middle:], owners)]


def _largest_prime(n: int) -> int:
    factor, largest = 2, 1
    while factor * factor <= n:
        while n % factor == 0:
            n, largest = n // factor, factor
        factor += 1
    return max(n, largest)
