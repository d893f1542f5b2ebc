"""The description of a cell for its decomposition: grid, absorbing layers, survey of materials, Fourier transforms.

A cell is made from a simulation of `evenly.fdtd` (`evenly.decomposition.cells.fdtd.cell`) or of Meep
(`evenly.adapters.meep`). It can be saved to a file, so one process can make it and another can cut it.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from zipfile import BadZipFile

import numpy as np
from numpy.typing import NDArray

from evenly.decomposition.cells.survey import Survey
from evenly.errors import InputError, ReadError
from evenly.fdtd.cell.grid import Grid
from evenly.memory import read_arrays
from evenly.writing import replacing

__all__ = ["Cell", "Transform"]

FORMAT = "evenly cell"
FORMAT_VERSION = 1
Depths = tuple[tuple[int, int], tuple[int, int], tuple[int, int]]
# Exceptions that may occur when a file is damaged or of another kind.
_DAMAGE = (
    OSError, EOFError, ValueError, LookupError, TypeError, AttributeError, NotImplementedError, RuntimeError,
    MemoryError, BadZipFile, zlib.error, InputError,
)  # fmt: skip
#: Fields of a cell that files hold as they are.
_PLAIN = ("program", "periodic", "pml", "absorber", "layers_apart", "complex_fields", "name", "center")
NO_LAYERS: Depths = ((0, 0), (0, 0), (0, 0))


@dataclass(frozen=True)
class Transform:
    """A box on which field components are Fourier transformed.

    Parameters
    ----------
    low, high : three ints
        First grid index and one past the last.
    values : float
        Number of components transformed per step on all points of the box; a component that is sampled every k steps
        counts 1/k.
    frequencies : int
        Number of frequencies.
    """

    low: tuple[int, int, int]
    high: tuple[int, int, int]
    values: float
    frequencies: int


@dataclass(frozen=True)
class Cell:
    """A cell to be cut.

    Parameters
    ----------
    program : str
        The program that simulates the cell, ``"fdtd"`` or ``"meep"``; the cost model must be for the same program.
    grid : Grid
        Positions of the grid points; cuts are given in its coordinates. If a program steps only a part of a symmetric
        cell, it is the grid of this part.
    survey : Survey
        Number of points of each kind, by block.
    periodic : three bools
        Whether opposite sides along x, y, z are neighbours.
    pml, absorber : three pairs of ints
        Thickness in points of the layers at the low and the high side along x, y, z.
    layers_apart : tuple of "pml", "absorber"
        Kinds of layers for which the program makes separate chunks.
    transforms : tuple of Transform
    complex_fields : bool
    name : str
        Name of the cell in tables.
    traits : mapping of str to float
        Other properties of the whole cell that the program's costs depend on; ``"steps"`` are those of its first run,
        where the program says how long it is.
    center : three floats
        Position of the grid's middle in the program's own coordinates, in which the program takes layouts.
    """

    program: str
    grid: Grid
    survey: Survey
    periodic: tuple[bool, bool, bool] = (False, False, False)
    pml: Depths = NO_LAYERS
    absorber: Depths = NO_LAYERS
    layers_apart: tuple[str, ...] = ("pml", "absorber")
    transforms: tuple[Transform, ...] = ()
    complex_fields: bool = False
    name: str = "cell"
    traits: Mapping[str, float] = field(default_factory=dict)
    center: tuple[float, float, float] = (0.0, 0.0, 0.0)

    def __post_init__(self) -> None:
        if self.survey.shape != self.grid.shape:
            raise InputError(f"a survey of {self.survey.shape} points can't be one of a cell of {self.grid.shape}")

    @property
    def parts(self) -> int:
        """Real numbers per field value: 2 if fields are complex, else 1."""
        return 2 if self.complex_fields else 1

    @property
    def ghost_parts(self) -> float:
        """Real numbers per ghost value, as `parts`; less where fewer than two components along a face are stepped."""
        return self.parts * self.traits.get("face components", 2.0) / 2

    def column(self, counts: NDArray[np.float64], kind: str) -> NDArray[np.float64]:
        """Return the column (n,) of one kind in counts (n, kinds); zeros if the survey doesn't have this kind."""
        kinds = self.survey.kinds
        return counts[:, kinds.index(kind)] if kind in kinds else np.zeros(len(counts))

    def layer_borders(self, axis: int) -> set[int]:
        """Return the grid indices along an axis at which a PML or an absorber begins or ends."""
        n = self.grid.shape[axis]
        return {at for low, high in (self.pml[axis], self.absorber[axis]) for at in (low, n - high)}

    def save(self, path: Path | str) -> None:
        """Write the cell to a file ``.npz``, without pickled objects.

        Raises
        ------
        InputError
            If nothing can be written there.
        """
        about = {
            "format": FORMAT,
            "version": FORMAT_VERSION,
            **{name: getattr(self, name) for name in _PLAIN},
            "grid": {name: getattr(self.grid, name) for name in ("size", "resolution", "courant", "center")},
            "kinds": self.survey.kinds,
            "transforms": [[t.low, t.high, t.values, t.frequencies] for t in self.transforms],
            "traits": dict(self.traits),
        }
        x, y, z = self.survey.edges
        # As UTF-8: an array of text loses zeros at its end.
        text = np.frombuffer(json.dumps(about).encode(), dtype=np.uint8)
        try:
            with replacing(path) as new, new.open("wb") as file:
                np.savez_compressed(file, about=text, x=x, y=y, z=z, table=self.survey.table)
        except OSError as error:
            raise InputError(f"The cell can't be saved as {path}: {error.strerror or error}.") from error

    @classmethod
    def load(cls, path: Path | str) -> Cell:
        """Read a file that `save` wrote.

        Raises
        ------
        ReadError
            If the file holds no cell, is damaged, or has an unknown version.
        """
        try:
            stored = read_arrays(path)
            about = json.loads(bytes(stored["about"]).decode())
            edges = (stored["x"], stored["y"], stored["z"])
            table = stored["table"]
            if (about.get("format"), about.get("version")) != (FORMAT, FORMAT_VERSION):
                raise ReadError(path, f"it is not version {FORMAT_VERSION} of {FORMAT!r}")
            if not np.isfinite(table).all():
                raise ReadError(path, "its counts aren't all finite")
            return cls._of(about, Survey(edges, tuple(about["kinds"]), table))
        except ReadError:
            raise
        except _DAMAGE as error:
            # For a file of another kind, numpy's message advises to load it unsafely; it is replaced.
            why = "it is no file of numpy's" if "pickle" in str(error) else str(error)
            raise ReadError(path, f"no cell can be read from it: {why}") from error

    @classmethod
    def _of(cls, about: Mapping[str, Any], survey: Survey) -> Cell:
        grid = about["grid"]
        transforms = tuple(Transform(tuple(a), tuple(b), v, n) for a, b, v, n in about["transforms"])
        x, y, z = about["periodic"]
        return cls(
            about["program"],
            Grid(tuple(grid["size"]), grid["resolution"], grid["courant"], tuple(grid.get("center", (0.0, 0.0, 0.0)))),
            survey,
            (x, y, z),
            _depths(about["pml"]),
            _depths(about["absorber"]),
            tuple(about["layers_apart"]),
            transforms,
            about["complex_fields"],
            about["name"],
            about["traits"],
            tuple(about.get("center", (0.0, 0.0, 0.0))),
        )


def _depths(values: Any) -> Depths:
    x, y, z = ((int(a), int(b)) for a, b in values)
    return x, y, z
