"""The partition of the cell among the ranks: a binary tree of cuts.

A partition is written as nested lists ``[(axis, position), left, right]``. It cuts across `axis` (``"x"``, ``"y"``,
``"z"`` or 0, 1, 2) at `position` (in a; the origin is the centre of the cell). `left` is the part below the cut and
`right` the part above. Each is another such list, or the number of the rank that owns that chunk. A rank may own
several chunks. Owners are taken modulo the number of ranks, and ranks that own nothing stay idle. The form is that of
Meep's ``BinaryPartition`` (A. F. Oskooi et al., Comput. Phys. Commun. 181, 687 (2010), section 2.2, on chunks and
owned points).

>>> from evenly.fdtd.cell.grid import Grid
>>> cell = Grid((10.0, 5.0, 0.0), 10)
>>> layout = BinaryPartition([("x", -2.0), 0, [("y", 1.5), [("x", 3.0), 1, [("y", -0.5), 4, 3]], 2]])
>>> [box.shape for box in layout.boxes(cell)], layout.owners
([(30, 50, 1), (50, 40, 1), (20, 20, 1), (20, 20, 1), (70, 10, 1)], [0, 1, 4, 3, 2])

Number the owners depth first, so that neighbours in the cell tend to be neighbours on the machine.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any, cast

import numpy as np

from evenly.arguments import explained
from evenly.errors import InputError, ReadError
from evenly.fdtd.cell.box import AXES, Box
from evenly.fdtd.cell.cutting import ChunkBox, HasLayers, equal_parts, layer_pieces
from evenly.fdtd.cell.grid import Grid
from evenly.fdtd.cell.layout_target import LayoutTarget
from evenly.fdtd.cell.mirrors import reduced
from evenly.fdtd.cell.tree import Token, below, dump, nest, parse, read
from evenly.memory import check_file
from evenly.writing import replacing

__all__ = ["BinaryPartition", "ChunkBox"]


@explained
class BinaryPartition:
    """A binary tree of cuts through the cell; each leaf is a chunk and holds the chunk's owner.

    Parameters
    ----------
    data : int, nested lists, or BinaryPartition
        One owner for the whole cell, or ``[(axis, position), left, right]``. `left` and `right` are again of these
        three kinds.
    made_for : LayoutTarget, optional
        The cell and the number of ranks that the partition was made for.

    Attributes
    ----------
    left, right : BinaryPartition or None
        The subtrees below and above the cut; None at a leaf.
    made_for : LayoutTarget or None
        The cell and the number of ranks that the whole tree was made for; None if unknown (see `for_cell`). It is
        saved in the file and checked when the tree is applied to a grid. Equality of partitions ignores it.

    Raises
    ------
    InputError
        If a node is neither a cut nor an owner, or an owner is not an integer >= 0. The message names the node by its
        path from the root, such as ``right.left``.

    Examples
    --------
    >>> halves = BinaryPartition([("x", 0.0), 0, 1])
    >>> halves.depth, halves.position, halves.right.owner
    (1, 0.0, 1)
    >>> BinaryPartition([("x", 0.0), 0, [("y", 1.0), 1, -2]])
    Traceback (most recent call last):
    evenly.errors.InputError: Node right.right of the partition: an owner must be an integer of at least 0, ... -2...
    """

    __slots__ = ("_token", "left", "made_for", "right")

    _token: Token
    made_for: LayoutTarget | None
    left: BinaryPartition | None
    right: BinaryPartition | None

    def __init__(self, data: Any, made_for: LayoutTarget | None = None) -> None:
        tokens = parse(data)
        finished: list[BinaryPartition] = []
        for n in reversed(range(len(tokens))):
            node, token = object.__new__(BinaryPartition) if n else self, tokens[n]
            leaf = isinstance(token, int)
            object.__setattr__(node, "_token", token)
            object.__setattr__(node, "made_for", None if n else made_for)
            object.__setattr__(node, "left", None if leaf else finished.pop())
            object.__setattr__(node, "right", None if leaf else finished.pop())
            finished.append(node)

    @property
    def owner(self) -> int | None:
        """Number of the rank that owns this leaf; None if this node is a cut."""
        return self._token if isinstance(self._token, int) else None

    @property
    def axis(self) -> int | None:
        """0, 1 or 2, the axis across which this node cuts; None at a leaf."""
        return None if isinstance(self._token, int) else self._token[0]

    @property
    def position(self) -> float | None:
        """Coordinate of this node's cut, in a, from the centre of the cell; None at a leaf."""
        return None if isinstance(self._token, int) else self._token[1]

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"a partition can't be changed (its `{name}` was set): make another from `to_list()`")

    def __reduce__(self) -> tuple[type[BinaryPartition], tuple[Any, LayoutTarget | None]]:
        return BinaryPartition, (self.to_list(), self.made_for)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, BinaryPartition) and self._tokens() == other._tokens()

    def __hash__(self) -> int:
        return hash(tuple(self._tokens()))

    def __repr__(self) -> str:
        return f"BinaryPartition({self.to_list()!r})"

    def walk(self) -> Iterator[tuple[str, BinaryPartition]]:
        """Yield every node and its path from the root, depth first.

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
                stack += [(below(where, "right"), node.right), (below(where, "left"), node.left)]

    def _tokens(self) -> list[Token]:
        return [node._token for _, node in self.walk()]

    @property
    def leaves(self) -> list[tuple[str, int]]:
        """Path from the root, and owner, of each chunk; depth first.

        Examples
        --------
        >>> BinaryPartition([("x", 0.0), 7, 3]).leaves
        [('left', 7), ('right', 3)]
        """
        return [(where, node.owner) for where, node in self.walk() if node.owner is not None]

    @property
    def owners(self) -> list[int]:
        """Owner of each chunk, depth first."""
        return [node._token for _, node in self.walk() if isinstance(node._token, int)]

    @property
    def depth(self) -> int:
        """Number of cuts between the root and the deepest leaf; 0 if nothing is cut."""
        return max(0 if where == "root" else where.count(".") + 1 for where, _ in self.walk())

    def to_list(self) -> Any:
        """Return the partition as nested lists, with axes as letters.

        Examples
        --------
        >>> BinaryPartition([(2, 0.5), 0, [(0, 1), 1, 2]]).to_list()
        [('z', 0.5), 0, [('x', 1.0), 1, 2]]
        """
        return nest(self._tokens())

    def for_cell(self, grid: Grid, ranks: int | None = None, *, whole: Box | None = None) -> BinaryPartition:
        """Return the same partition with a record of the cell and the number of ranks that it was made for.

        Without `ranks`, the number follows from the owners. `whole` is as in `boxes`.

        Examples
        --------
        >>> print(BinaryPartition([("x", 0.0), 0, 1]).for_cell(Grid((4.0, 2.0, 0.0), 10)).made_for)
        a cell of 4 × 2 × 0 (40 × 20 × 1 points, resolution 10) on 2 ranks
        """
        grid = reduced(grid, grid.box if whole is None else whole)
        return BinaryPartition(self, LayoutTarget.of(grid, self.ranks if ranks is None else ranks))

    @property
    def ranks(self) -> int:
        """Number of ranks that the partition was made for; at least the highest owner plus 1."""
        return max(max(self.owners) + 1, 1 if self.made_for is None else self.made_for.ranks)

    def misfit(self, ranks: int) -> str:
        """Return a warning text if `ranks` differs from the number it was made for, else an empty string.

        Examples
        --------
        >>> BinaryPartition([("x", 0.0), 0, [("x", 1.0), 1, 2]]).misfit(2)
        'it was made for 3 ranks: on 2, ranks take up to 2 of its shares, so they may be far from even'
        >>> BinaryPartition([("x", 0.0), 0, 1]).misfit(3)
        'it was made for 2 ranks: on 3, 1 of them has nothing to do'
        """
        if ranks == self.ranks:
            return ""
        made = f"it was made for {self.ranks} rank{'s' * (self.ranks != 1)}: on {ranks}"
        idle = ranks - len({owner % ranks for owner in self.owners})
        if idle:
            return f"{made}, {idle} of them {'has' if idle == 1 else 'have'} nothing to do"
        most = max(np.bincount([owner % ranks for owner in set(self.owners)]))
        if ranks == 1:
            return f"{made}, it takes all the chunks"
        return f"{made}, ranks take up to {most} of its shares, so they may be far from even"

    def to_json(self) -> str:
        """Return the partition as JSON text, with the format's name and version and with `made_for`."""
        return dump(self.to_list(), None if self.made_for is None else self.made_for.to_dict())

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
            with replacing(path) as new:
                new.write_text(self.to_json() + "\n", encoding="utf-8")
        except OSError as error:
            raise InputError(f"The partition can't be saved as {path}: {error.strerror or error}.") from error
        return path

    @classmethod
    def load(cls, path: Path | str) -> BinaryPartition:
        """Read a partition from a file that `save` wrote.

        Raises
        ------
        ReadError
            If the file can't be read, is damaged, is not a partition, or has an unknown version.
        """
        check_file(path)
        try:
            data, made_for = read(Path(path).read_text(encoding="utf-8"), path)
            return cls(data, None if made_for is None else LayoutTarget.of_dict(made_for, str(path)))
        except (OSError, UnicodeDecodeError) as error:
            raise ReadError(path, f"no partition can be read from it: {error}") from error
        except ReadError:
            raise
        except InputError as error:
            raise ReadError(path, str(error)) from error

    @classmethod
    def equal(cls, grid: Grid, n: int, box: Box | None = None, *, ranks: int | None = None) -> BinaryPartition:
        """Return a partition into `n` chunks of equal volume (to a layer of points), owned by 0 … n-1 depth first.

        The cell is cut across its longest axis into as many slabs as `n`'s largest prime factor. Each slab is then cut
        by the next factor across its own longest axis, and so on. Where there are fewer points than the factor
        needs, the box is halved instead, and the chunks are shared between the halves in proportion.

        Parameters
        ----------
        grid : Grid
            The cell.
        n : int
        box : Box, optional
            The points to cut, if they aren't the whole cell (see `Layers.kept`).
        ranks : int, optional
            Number of ranks that share the chunks: successive chunks get the same owner.

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
        box = grid.box if box is None else box
        if n > box.volume:
            raise InputError(
                f"`n` must be at most the number of grid points of the cell ({box.volume}), but got {n}: "
                "use fewer chunks or a higher resolution."
            )
        ranks = n if ranks is None else _count(ranks, "ranks", "ranks")
        return cls(equal_parts(grid, box, n, (chunk * ranks // n for chunk in itertools.count())))

    def boxes(self, grid: Grid, whole: Box | None = None) -> list[Box]:
        """Return the grid points of each chunk, depth first (in the order of `owners`).

        A cut lies between the two grid points whose nodes are nearest to its position. Points with index
        ``floor((position + size/2) resolution + 1/2)`` or higher are on its upper side.

        Parameters
        ----------
        grid : Grid
            The cell.
        whole : Box, optional
            The points that are cut, if they aren't the whole cell (see `Layers.kept`).

        Raises
        ------
        InputError
            If the partition was made for another cell. Also if a cut is outside its parent, leaves no point on one
            side, or is across a thin axis; the message then names the node and the rule.
        """
        return [box for box, _ in self._leaf_boxes(grid, whole)]

    def _leaf_boxes(self, grid: Grid, whole: Box | None) -> list[tuple[Box, int]]:
        """Return the grid points and the owner of each chunk, depth first."""
        whole = grid.box if whole is None else whole
        if self.made_for is not None:
            self.made_for.check(reduced(grid, whole))
        found, stack = [], [("root", self, whole)]
        while stack:
            where, node, box = stack.pop()
            if node.left is None or node.right is None:
                found.append((box, cast("int", node._token)))
                continue
            lower, upper = _cut(node._token, where, box, grid)
            stack += [(below(where, "right"), node.right, upper), (below(where, "left"), node.left, lower)]
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
        """Return the chunks that the ranks step: the boxes of the leaves, with the absorbing layers split off.

        Parameters
        ----------
        grid : Grid
            The cell.
        layers : optional
            Any object with `pml` and `absorber`: the thickness in points of the low and high layer along x, y, z, as
            in the result of `evenly.fdtd.cell.boundaries.resolve`. If it has `kept`, only those points are cut.
        ranks : int
            Number of ranks; owners are taken modulo this number.

        Returns
        -------
        list of ChunkBox
            In the order of the leaves. All pieces of a leaf follow each other and have the leaf's owner.

        Raises
        ------
        InputError
            As in `boxes`.

        Examples
        --------
        >>> from evenly.fdtd.cell.boundaries import PML, resolve
        >>> cell = Grid((4.0, 2.0, 0.0), 10)
        >>> pieces = BinaryPartition([("x", 0.0), 4, 5]).chunks(cell, resolve([PML(0.5, "x")], cell), ranks=4)
        >>> [(chunk.box.shape[0], chunk.owner, chunk.leaf, chunk.pml[0]) for chunk in pieces]
        [(5, 0, 0, True), (15, 0, 0, False), (15, 1, 1, False), (5, 1, 1, True)]
        """
        ranks = _count(ranks, "ranks", "ranks")
        whole: Box | None = getattr(layers, "kept", None)
        return [
            piece
            for number, (box, owner) in enumerate(self._leaf_boxes(grid, whole))
            for piece in layer_pieces(box, grid, layers, owner=owner % ranks, leaf=number)
        ]


def _count(value: Any, name: str, things: str) -> int:
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or value < 1:
        raise InputError(f"`{name}`, the number of {things}, must be an integer of at least 1, but got {value!r}.")
    return int(value)


def _cut(token: Token, where: str, box: Box, grid: Grid) -> tuple[Box, Box]:
    axis, position = cast("tuple[int, float]", token)
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
