"""What the cutter knows of a cell: its grid, its layers, what is where, and what is transformed.

It is made from a simulation of `evenly.fdtd` (`evenly.decomposition.costs.fdtd`) or of Meep (`evenly.adapters.meep`),
and goes through files, so that a cell can be looked at in one process and cut in another.
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

__all__ = ["Cell", "Transform"]

FORMAT = "evenly cell"
FORMAT_VERSION = 1
Depths = tuple[tuple[int, int], tuple[int, int], tuple[int, int]]
# What reading a file that is damaged, or something else, may raise.
_DAMAGE = (
    OSError, EOFError, ValueError, LookupError, TypeError, AttributeError, NotImplementedError, RuntimeError,
    MemoryError, BadZipFile, zlib.error, InputError,
)  # fmt: skip
NO_LAYERS: Depths = ((0, 0), (0, 0), (0, 0))


@dataclass(frozen=True)
class Transform:
    """A box on which components are Fourier transformed.

    Parameters
    ----------
    low, high : three ints
        First grid index and one past the last.
    values : float
        Components, each on all points of the box, per step (less than one where they are taken every few steps).
    frequencies : int
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
        Whose cell it is, ``"fdtd"`` or ``"meep"``: says which cost model fits.
    grid : Grid
        Where grid points are; positions of cuts are given on it.
    survey : Survey
        What is where.
    periodic : three bools
        Whether opposite sides along x, y, z are neighbours.
    pml, absorber : three pairs of ints
        Points of the layers at the low and the high side along x, y, z.
    layers_apart : tuple of "pml", "absorber"
        Layers that the program makes chunks of their own.
    transforms : tuple of Transform
    complex_fields : bool
    name : str
        How tables call it.
    traits : mapping of str to float
        What else the program wants to know of the whole cell.
    center : three floats
        Where the middle of the grid is in the program's own coordinates, in which it is given layouts.
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
        """Numbers per field value: 2 where fields are complex."""
        return 2 if self.complex_fields else 1

    def column(self, counts: NDArray[np.float64], kind: str) -> NDArray[np.float64]:
        """Return the column (n,) of counts (n, kinds) that holds a kind; zeros where the cell has none of it."""
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
            "program": self.program,
            "grid": {"size": self.grid.size, "resolution": self.grid.resolution, "courant": self.grid.courant},
            "kinds": self.survey.kinds,
            "periodic": self.periodic,
            "pml": self.pml,
            "absorber": self.absorber,
            "layers_apart": self.layers_apart,
            "transforms": [[t.low, t.high, t.values, t.frequencies] for t in self.transforms],
            "complex_fields": self.complex_fields,
            "name": self.name,
            "traits": dict(self.traits),
            "center": self.center,
        }
        x, y, z = self.survey.edges
        # As UTF-8: an array of text loses zeros at its end.
        text = np.frombuffer(json.dumps(about).encode(), dtype=np.uint8)
        try:
            with Path(path).open("wb") as file:
                np.savez_compressed(file, about=text, x=x, y=y, z=z, table=self.survey.table)
        except OSError as error:
            raise InputError(f"The cell can't be saved as {path}: {error.strerror or error}.") from error

    @classmethod
    def load(cls, path: Path | str) -> Cell:
        """Read a file that `save` wrote.

        Raises
        ------
        ReadError
            If it is something else, damaged, or of a version that is not known.
        """
        try:
            with Path(path).open("rb") as file, np.load(file, allow_pickle=False) as stored:
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
            # numpy's own words for a file of another kind advise to load it unsafely.
            why = "it is no file of numpy's" if "pickle" in str(error) else str(error)
            raise ReadError(path, f"no cell can be read from it: {why}") from error

    @classmethod
    def _of(cls, about: Mapping[str, Any], survey: Survey) -> Cell:
        grid = about["grid"]
        transforms = tuple(Transform(tuple(a), tuple(b), v, n) for a, b, v, n in about["transforms"])
        x, y, z = about["periodic"]
        return cls(
            about["program"],
            Grid(tuple(grid["size"]), grid["resolution"], grid["courant"]),
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
