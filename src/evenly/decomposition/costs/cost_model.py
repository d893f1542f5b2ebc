"""What each term of a program takes on a machine, and what that makes of chunks and ranks.

A cost model is linear: the seconds of a step are the sum over terms of amount times coefficient, plus, between ranks
of different nodes, latency and bytes over bandwidth where the network is known (section 3 of Oskooi et al.,
arXiv:2003.04287, with borders, presence and per-chunk terms added).
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from functools import cache, cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evenly.decomposition.cells.cell import Cell
from evenly.decomposition.cells.pieces import pieces_of
from evenly.decomposition.costs.terms import BOUNDARY, Program
from evenly.errors import InputError, ReadError

__all__ = ["Coefficient", "CostModel", "program_named"]

FORMAT = "evenly cost model"
FORMAT_VERSION = 1
Array = NDArray[np.float64]
Ints = NDArray[np.int64]
_MAYBE = ("share_error", "share_error_p90", "time_error", "pace_s", "pace_spread")


@dataclass(frozen=True)
class Coefficient:
    """What one of a term takes.

    Parameters
    ----------
    seconds : float
        Per step, at least 0.
    error : float
        Its standard error, in seconds.
    """

    seconds: float
    error: float = 0.0


@dataclass(frozen=True)
class CostModel:
    """Coefficients of a program's terms on a machine.

    Parameters
    ----------
    program : str
        Which program, ``"fdtd"`` or ``"meep"``.
    coefficients : mapping of str to Coefficient
        By name of term; a term that is left out costs nothing.
    share_error : float
        Mean error of a rank's share of the work on cells that were held out, as a fraction; nan where not known.
    share_error_p90 : float
        What nine of ten ranks' errors of the share are below.
    time_error : float
        Mean error of the whole time per step on them.
    latency_s, bytes_per_s : float
        Of a message between ranks; 0 and infinity where messages cost nothing but the work of packing.
    machine : str
        Where it was measured.
    when : str
        ISO 8601.
    versions : mapping of str to str
        Of the program and what it runs on.
    measured : tuple of mappings
        The calibration runs, one row per rank: `group`, `name`, `purpose`, `rank`, `ranks`, `amounts` by term,
        `seconds` per step, `spread` (half of the median's interval), `repeats` (all of them), and of cells
        `held_out`, the seconds predicted without this cell.
    pace_s : float
        CPU seconds that the program's piece of work for comparing speeds usually took then (see `Timing.pace`); nan
        where there is none.
    pace_spread : float
        By how much it varied from one run to the next: standard deviation of its logarithm; nan where not known.

    Raises
    ------
    InputError
        If a term is none of the program's, or a coefficient or another number is negative or no number at all.
    """

    program: str
    coefficients: Mapping[str, Coefficient]
    share_error: float = float("nan")
    time_error: float = float("nan")
    latency_s: float = 0.0
    bytes_per_s: float = float("inf")
    machine: str = "unknown"
    when: str = ""
    versions: Mapping[str, str] = field(default_factory=dict)
    measured: tuple[Mapping[str, Any], ...] = ()
    share_error_p90: float = float("nan")
    pace_s: float = float("nan")
    pace_spread: float = float("nan")

    def __post_init__(self) -> None:
        known = [term.name for term in program_named(self.program).all_terms]
        for name, coefficient in self.coefficients.items():
            if name not in known:
                raise InputError(f"{self.program} has no term {name!r}: its terms are {', '.join(known)}.")
            if not 0 <= coefficient.seconds < math.inf:
                raise InputError(
                    f"the coefficient of {name!r} must be finite and at least 0 s, but got {coefficient.seconds!r}."
                )
        for name in (*_MAYBE, "latency_s", "bytes_per_s"):
            value = getattr(self, name)
            if not isinstance(value, (int, float)) or value < 0:
                raise InputError(f"`{name}` of a cost model must be a number of at least 0, but got {value!r}.")

    @cached_property
    def vector(self) -> Array:
        """Seconds of every term of the program, in its order, those of borders last, (terms,)."""
        names = [term.name for term in program_named(self.program).all_terms]
        return np.array([self.coefficients[n].seconds if n in self.coefficients else 0.0 for n in names])

    def chunk_seconds(self, cell: Cell, low: Ints, high: Ints) -> Array:
        """Return the seconds per step (n,) that the work in boxes (n, 3) takes, borders between ranks left out."""
        pieces = pieces_of(cell, low, high)
        amounts = program_named(self.program).amounts(pieces)
        return pieces.sums(amounts @ self.vector[: -len(BOUNDARY)], len(low))

    def spread_seconds(self, cell: Cell, low: Ints, high: Ints) -> Array:
        """Return the seconds per step (n,) of what lies on the points of boxes (n, 3): no price of chunks and sides."""
        program = program_named(self.program)
        pieces = pieces_of(cell, low, high)
        spread = np.array([term.extensive for term in program.terms])
        seconds = program.spread_amounts(pieces) @ np.where(spread, self.vector[: -len(BOUNDARY)], 0.0)
        return pieces.sums(seconds, len(low))

    def border_seconds(self, cell: Cell, faces: Array, neighbours: Array) -> Array:
        """Return the seconds per step (n,) of being a rank that shares faces (n,) with so many other ranks (n,)."""
        per_face, per_neighbour, alone = self.vector[-len(BOUNDARY) :]
        # Two components of E one way and two of H the other, so two numbers per face are sent and two received.
        wire = 0.0 if np.isinf(self.bytes_per_s) else 2 * 8 * 2 / self.bytes_per_s
        shared = faces * cell.parts * (per_face + wire)
        return np.asarray(alone + shared + neighbours * (per_neighbour + 2 * self.latency_s))

    def check(self, cell: Cell) -> None:
        """Refuse a cell of another program.

        Raises
        ------
        InputError
        """
        if cell.program != self.program:
            raise InputError(
                f"the cell is one of {cell.program}, but the cost model was measured with {self.program}: calibrate "
                f"{cell.program} (`evenly calibrate {cell.program}`)."
            )

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain values, coefficients in nanoseconds."""
        terms = {term.name: term for term in program_named(self.program).all_terms}
        coefficients = {
            name: {"ns": c.seconds * 1e9, "standard_error_ns": c.error * 1e9, "unit": terms[name].unit}
            for name, c in self.coefficients.items()
        }
        rest = {k: v for k, v in asdict(self).items() if k != "coefficients"}
        rest["bytes_per_s"] = None if np.isinf(self.bytes_per_s) else self.bytes_per_s
        for name in _MAYBE:
            rest[name] = None if np.isnan(rest[name]) else rest[name]
        return {"format": FORMAT, "version": FORMAT_VERSION, "coefficients": coefficients, **rest}

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> CostModel:
        """Read what `to_dict` gives.

        Raises
        ------
        InputError
            If it is something else or of an unknown version.
        """
        given = dict(values)
        if (given.pop("format", None), given.pop("version", None)) != (FORMAT, FORMAT_VERSION):
            raise InputError(f"version {FORMAT_VERSION} of {FORMAT!r} was expected")
        coefficients = {
            name: Coefficient(c["ns"] * 1e-9, c["standard_error_ns"] * 1e-9)
            for name, c in given.pop("coefficients").items()
        }
        given["bytes_per_s"] = float("inf") if given.get("bytes_per_s") is None else given["bytes_per_s"]
        for name in _MAYBE:
            given[name] = float("nan") if given.get(name) is None else given[name]
        given["measured"] = tuple(given.get("measured", ()))
        return cls(coefficients=coefficients, **given)

    def save(self, path: Path | str) -> None:
        """Write the model to a JSON file.

        Raises
        ------
        InputError
            If nothing can be written there.
        """
        try:
            Path(path).write_text(json.dumps(self.to_dict(), indent=1) + "\n", encoding="utf-8")
        except OSError as error:
            raise InputError(f"The cost model can't be saved as {path}: {error.strerror or error}.") from error

    @classmethod
    def load(cls, path: Path | str) -> CostModel:
        """Read a file that `save` wrote.

        Raises
        ------
        ReadError
            If it is something else, damaged, or of a version that is not known.
        """
        try:
            return cls.from_dict(json.loads(Path(path).read_text(encoding="utf-8")))
        except (OSError, ValueError, KeyError, TypeError, AttributeError, InputError) as error:
            raise ReadError(path, _trouble(error)) from error


def _trouble(error: Exception) -> str:
    """Return what is wrong with a file of costs, without its path, which the message begins with."""
    match error:
        case FileNotFoundError():
            return "there is no such file"
        case OSError() as failure:
            return f"the file can't be read ({failure.strerror or failure})"
        case json.JSONDecodeError() as failure:
            return f"no cost model can be read from it, it is no JSON or cut off ({failure})"
        case UnicodeDecodeError():
            return "no cost model can be read from it, it is no text"
        case KeyError() as failure:
            return f"no cost model can be read from it, {failure.args[0]!r} is missing"
        case InputError() as failure:
            return f"no cost model can be read from it: {str(failure).rstrip('.')}"
    return "no cost model can be read from it, values are missing or of another kind"


@cache
def program_named(name: str) -> Program:
    """Return what a program's work consists of.

    Raises
    ------
    InputError
        If there is no such program.
    """
    # Only the program that is asked for is needed, and that of `evenly.fdtd` takes time to import.
    from evenly.decomposition.costs.fdtd import Fdtd
    from evenly.decomposition.costs.meep import Meep

    programs: dict[str, Program] = {program.name: program for program in (Fdtd(), Meep())}
    if name not in programs:
        raise InputError(f"there is no cost of {name!r}: programs are {', '.join(programs)}.")
    return programs[name]
