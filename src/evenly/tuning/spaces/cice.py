"""Block decompositions of the sea-ice model CICE on its 320 x 384 grid: parameters, constraints, namelists.

The grid is divided into blocks, and the blocks are distributed over MPI tasks. Parameters and feasible combinations
come from section 2 of Balaprakash, Alexeev, Mickelson, Leyffer, Jacob and Craig, Machine-learning-based load balancing
for Community Ice Code component in CESM (VECPAR 2014). The printed text contradicts itself, so several readings are
possible, see `Reading`.

These errors of the text are certain:

* In table 1 the entries of ``block.x`` and ``block.y`` stand in the wrong rows. All listed values of ``max.block``
  occur only with blocks of 4 … 10 by 4 … 12 for round robins and curves, and of 1 … 8 by 24 … 384 for slender shapes.
* 3840 must be 384, since the grid has 384 rows.
* The second ``slenderX1`` must be ``slenderX2``.
* 653 configurations in total can't be 10 task counts of 50 to 60 configurations each.

>>> space = cice_space(1024)
>>> space.count()
52
>>> sum(cice_space(tasks).count() for tasks in TASKS)
649
>>> print(namelist(space.enumerate().iloc[0]))
&domain_nml
  nprocs = 1024
  block_size_x = 4
  block_size_y = 4
  max_blocks = 8
  distribution_type = 'blkrobin'
  processor_shape = 'square-ice'
  maskhalo_dyn = .false.
/
"""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Literal, get_args

import numpy as np
import pandas as pd

from evenly.errors import InputError
from evenly.space.parameters import Categorical, Ordinal
from evenly.space.space import Space

__all__ = ["GRID", "LISTED_BLOCKS", "NEWER", "TASKS", "Reading", "cice_space", "namelist", "with_domain"]

#: Grid points in x and y, and the numbers of MPI tasks in the paper.
GRID = (320, 384)
TASKS = (80, 128, 160, 256, 320, 376, 512, 640, 800, 1024)
#: Values of ``max.block`` that the paper lists.
LISTED_BLOCKS = (1, 2, 3, 4, 5, 6, 7, 8, 10, 11, 12, 13, 14, 15, 16, 20, 24, 26, 30, 32, 40, 48, 64)
#: Distributions of the stand-alone CICE 6, besides ``roundrobin``, ``spacecurve`` and ``cartesian``.
NEWER = ("rake", "sectrobin", "sectcart", "spiralcenter")
_SQUARE = tuple(itertools.product((4, 5, 8, 10), (4, 6, 8, 12)))
_TALL = tuple(itertools.product((1, 2, 4, 8), (24, 48, 96, 192, 384)))
_DEALT = {"cesm": ("blkrobin", "roundrobin", "spacecurve", "blkcart"), "cice6": ("roundrobin", "spacecurve", *NEWER)}
Program = Literal["cesm", "cice6"]
Rounding = Literal["nearest", "up", "down", "exact"]
Curve = Literal["blocks per task", "blocks", "blocks along each side", "any"]
Mask = Literal["slender", "everywhere", "nowhere", "dealt"]
_ROUNDED: dict[str, Callable[[Fraction], int]] = {
    "nearest": lambda n: math.floor(n + Fraction(1, 2)),
    "up": math.ceil,
    "down": math.floor,
    "exact": lambda n: int(n) if n.denominator == 1 else 0,
}


@dataclass(frozen=True)
class Reading:
    """A reading of the paper's section 2, where the text is ambiguous.

    The default gives 49 to 96 configurations for each task count and 649 in total. This is closest to the printed 653
    among the readings that use only listed values of ``max.block``. (With ``rounding="up"``, ``curve="blocks"``,
    ``listed=False`` and ``whole_columns=True`` there are 653, but some values of ``max.block`` aren't listed.)

    Parameters
    ----------
    rounding : {"nearest", "up", "down", "exact"}
        How ``max.block``, the number of blocks per task, is rounded; "exact" drops combinations where it isn't whole.
        CICE itself needs "up" where blocks are distributed evenly; "nearest" gives the values of the paper.
    curve : {"blocks per task", "blocks", "blocks along each side", "any"}
        The number that ``spacecurve`` requires to have no prime factors other than 2, 3 and 5; "any" requires nothing.
        Today's CICE requires it for the blocks along each side.
    mask : {"slender", "everywhere", "nowhere", "dealt"}
        The distributions for which ``mask.h`` is varied; for the others it is 0. "dealt" are those that aren't slender.
    listed : bool
        Whether ``max.block`` takes only the values of `LISTED_BLOCKS`.
    whole_columns : bool
        Whether blocks of ``slenderX1`` must span all rows ("the value of block.y must also be divisible by the CICE Y
        grid size"). Otherwise the number of rows must only be a multiple of their height.
    """

    rounding: Rounding = "nearest"
    curve: Curve = "blocks per task"
    mask: Mask = "slender"
    listed: bool = True
    whole_columns: bool = False

    def __post_init__(self) -> None:
        for name, kinds in (("rounding", Rounding), ("curve", Curve), ("mask", Mask)):
            if getattr(self, name) not in get_args(kinds):
                raise InputError(f"{name} must be one of {', '.join(get_args(kinds))}, but got {getattr(self, name)!r}")

    def blocks_per_task(self, x: int, y: int, tasks: int) -> int | None:
        """Return ``max.block`` for blocks of x by y points, or None if the combination isn't feasible."""
        found = _ROUNDED[self.rounding](Fraction(GRID[0] * GRID[1], x * y * tasks))
        return found if found in LISTED_BLOCKS or (found > 0 and not self.listed) else None

    def follows_curve(self, x: int, y: int, per_task: int) -> bool:
        """Return whether blocks of x by y points can be distributed along a space-filling curve."""
        along = GRID[0] // x, GRID[1] // y
        counted = {
            "blocks per task": (per_task,), "blocks": (along[0] * along[1],), "blocks along each side": along,
            "any": (),
        }[self.curve]  # fmt: skip
        return all(_is_smooth(n) for n in counted)

    def masks(self, *, slender: bool) -> tuple[int, ...]:
        """Return the values of ``mask.h`` for slender or for other distributions."""
        varied = {"slender": slender, "dealt": not slender, "everywhere": True, "nowhere": False}[self.mask]
        return (0, 1) if varied else (0,)


def cice_space(
    tasks: int | Sequence[int] = TASKS,
    *,
    reading: Reading = Reading(),
    program: Program = "cesm",
) -> Space:
    """Return the space of all feasible decompositions.

    Parameters
    ----------
    tasks : int or sequence of int
        Numbers of MPI tasks.
    reading : Reading
    program : {"cesm", "cice6"}
        The program whose distributions are used: CESM, as in the paper, or the stand-alone CICE 6. The latter has the
        `NEWER` distributions, but neither ``blkrobin`` nor ``blkcart``. Newer distributions use the block sizes of
        ``roundrobin``.

    Returns
    -------
    Space
        Parameters: ``tasks``, ``decomp.set``, ``decomp.typ``, ``block.x``, ``block.y``, ``max.block``, ``mask.h``.

    Raises
    ------
    InputError
        If a number of tasks isn't a whole number above zero, or has no feasible decomposition.

    Examples
    --------
    >>> [cice_space(tasks).count() for tasks in TASKS]
    [96, 64, 88, 57, 77, 49, 55, 60, 51, 52]
    """
    if program not in _DEALT:
        raise InputError(f"program must be one of {', '.join(_DEALT)}, but got {program!r}")
    asked = (tasks,) if isinstance(tasks, int) else tuple(tasks)
    rows: list[dict[str, Any]] = []
    for count in asked:
        if count < 1 or count != int(count):
            raise InputError(f"tasks must be whole numbers above zero, but got {count!r}")
        found = [*_dealt(count, reading, program), *_slender(count, reading)]
        if not found:
            raise InputError(f"no decomposition of {GRID[0]} x {GRID[1]} points is feasible on {count} tasks")
        rows += found
    table = pd.DataFrame(rows)
    kinds = {
        name: Categorical(*dict.fromkeys(table[name])) if name.startswith("decomp") else Ordinal(*set(table[name]))
        for name in table.columns
    }
    return Space.of(kinds, listed=table)


def _dealt(tasks: int, reading: Reading, program: Program) -> Iterator[dict[str, Any]]:
    for kind, (x, y) in itertools.product(_DEALT[program], _SQUARE):
        per_task = reading.blocks_per_task(x, y, tasks)
        if per_task is None or (kind == "blkcart" and per_task % 4):
            continue
        if kind == "spacecurve" and not reading.follows_curve(x, y, per_task):
            continue
        for mask in reading.masks(slender=False):
            yield _row(tasks, "null", kind, x, y, per_task, mask)


def _slender(tasks: int, reading: Reading) -> Iterator[dict[str, Any]]:
    for shape, (x, y) in itertools.product(("slenderX1", "slenderX2"), _TALL):
        rows = 1 if shape == "slenderX1" else 2
        fits = GRID[0] * rows % (x * tasks) == 0 and GRID[1] % (rows * y) == 0
        if shape == "slenderX1" and reading.whole_columns:
            fits = fits and y == GRID[1]
        per_task = reading.blocks_per_task(x, y, tasks)
        if fits and per_task is not None:
            for mask in reading.masks(slender=True):
                yield _row(tasks, shape, "cartesian", x, y, per_task, mask)


def _row(tasks: int, shape: str, kind: str, x: int, y: int, per_task: int, mask: int) -> dict[str, Any]:
    return {
        "tasks": tasks, "decomp.set": shape, "decomp.typ": kind, "block.x": x, "block.y": y, "max.block": per_task,
        "mask.h": mask,
    }  # fmt: skip


def _is_smooth(number: int) -> bool:
    """Return whether a number has no prime factors other than 2, 3 and 5."""
    for prime in (2, 3, 5):
        while number and number % prime == 0:
            number //= prime
    return number == 1


def namelist(configuration: Mapping[str, Any] | pd.Series[Any]) -> str:
    """Return the part of ``ice_in`` that sets a decomposition.

    Parameters
    ----------
    configuration : mapping
        A configuration from `cice_space`.

    Raises
    ------
    InputError
        If a parameter is missing.
    """
    given = dict(configuration)
    missing = [name for name in ("tasks", "decomp.set", "decomp.typ", "block.x", "block.y") if name not in given]
    if missing:
        raise InputError(f"a decomposition needs {missing[0]!r}, but got {', '.join(map(str, given)) or 'nothing'}")
    x, y, tasks = (int(given[name]) for name in ("block.x", "block.y", "tasks"))
    # CICE stops if max_blocks is too small, and the paper's rounded value may be too small by one.
    most = math.ceil(GRID[0] / x) * math.ceil(GRID[1] / y)
    # Only the cartesian distribution uses the shape, but CICE doesn't accept "null".
    shape = "square-ice" if given["decomp.set"] == "null" else given["decomp.set"]
    lines = {
        "nprocs": tasks, "block_size_x": x, "block_size_y": y,
        "max_blocks": max(int(given.get("max.block", 0)), math.ceil(most / tasks)),
        "distribution_type": given["decomp.typ"], "processor_shape": shape,
    }  # fmt: skip
    if "mask.h" in given:
        lines["maskhalo_dyn"] = bool(int(given["mask.h"]))
    return with_domain("&domain_nml\n/", lines)


def with_domain(ice_in: str, values: Mapping[str, Any]) -> str:
    r"""Return the text of an ``ice_in`` file with values replaced in its group ``domain_nml``.

    Parameters
    ----------
    ice_in : str
        The content of the file.
    values : mapping
        Integers, strings or booleans by name; names that aren't in the group are added to it.

    Raises
    ------
    InputError
        If there is no such group, or a line of it has several settings.

    Examples
    --------
    >>> print(with_domain("&domain_nml\n  nprocs = 4\n/", {"nprocs": 2, "distribution_type": "rake"}))
    &domain_nml
      nprocs = 2
      distribution_type = 'rake'
    /
    """
    begin = re.search(r"^[ \t]*&domain_nml\b", ice_in, re.MULTILINE | re.IGNORECASE)
    end = None if begin is None else next((at for at, char in _code(ice_in, begin.end()) if char == "/"), None)
    if begin is None or end is None:
        raise InputError("`ice_in` has no whole group &domain_nml: give the file that CICE was run with")
    lines, left = [], dict(values)
    for line in ice_in[begin.end() : end].rstrip().split("\n"):
        code = "".join(char for _, char in _code(line, 0))
        if code.count("=") > 1:
            raise InputError(f"`ice_in` must have one setting in each line of &domain_nml, but has {line.strip()!r}")
        name = next((name for name in left if re.match(rf"\s*{re.escape(name)}\s*=", code, re.IGNORECASE)), None)
        indent = line[: len(line) - len(line.lstrip())]
        lines.append(line if name is None else f"{indent}{name} = {_fortran(left.pop(name))}")
    lines += [f"  {name} = {_fortran(value)}" for name, value in left.items()]
    return ice_in[: begin.end()] + "\n".join(lines) + "\n" + ice_in[end:]


def _code(text: str, start: int) -> Iterator[tuple[int, str]]:
    """Yield (position, character) from `start` on, without quoted strings and comments of the namelist."""
    quote = ""
    for at in range(start, len(text)):
        char = text[at]
        if quote:
            quote = "" if char == quote or (quote == "!" and char == "\n") else quote
        elif char in "'\"!":
            quote = char
        else:
            yield at, char


def _fortran(value: Any) -> str:
    if isinstance(value, str):
        return "'" + value.replace("'", "''") + "'"
    return (".true." if value else ".false.") if isinstance(value, bool | np.bool_) else str(value)
