"""Linear cost models: seconds per step of chunks and ranks from the amounts of a program's terms.

The seconds of a step are the sum over terms of amount times coefficient. If the network is known, messages between
ranks add latency and bytes over bandwidth. (The model of section 3 of Oskooi et al., arXiv:2003.04287, with further
terms: for borders, for materials that are present anywhere in a chunk, and for each chunk.)
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from functools import cache, cached_property
from pathlib import Path
from statistics import NormalDist
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evenly.decomposition.cells.cell import Cell
from evenly.decomposition.cells.pieces import pieces_of
from evenly.decomposition.costs.terms import BOUNDARY, Program, few
from evenly.errors import InputError, ReadError
from evenly.memory import check_file
from evenly.writing import replacing

__all__ = ["Coefficient", "CostModel", "program_named"]

FORMAT = "evenly cost model"
FORMAT_VERSION = 1
Array = NDArray[np.float64]
Ints = NDArray[np.int64]
#: A step of a rank that takes this many times the longest measured one is no longer like those measured.
_FAR = 4.0
#: Error of the logarithm of the slowest rank's time if the cost model's error isn't known.
_UNKNOWN_ERROR = 0.2
_MAYBE = ("share_error", "share_error_p90", "time_error", "pace_s", "pace_spread")


@dataclass(frozen=True)
class Coefficient:
    """The coefficient of a term: seconds for one unit of it.

    Parameters
    ----------
    seconds : float
        Seconds per unit and step, at least 0.
    error : float
        Standard error of `seconds`, in seconds.
    """

    seconds: float
    error: float = 0.0


@dataclass(frozen=True)
class CostModel:
    """Coefficients of a program's terms on a machine.

    Parameters
    ----------
    program : str
        The program, ``"fdtd"`` or ``"meep"``.
    coefficients : mapping of str to Coefficient
        Coefficients by name of term; a term that is left out costs nothing.
    share_error : float
        Mean relative error of a rank's share of the work in held-out cells; nan where not known.
    share_error_p90 : float
        90 % quantile of these errors; nan where not known.
    time_error : float
        Mean relative error of the total time per step in held-out cells; nan where not known.
    latency_s, bytes_per_s : float
        Latency and bandwidth of a message between ranks; 0 and infinity where messages cost only the work of packing.
    machine : str
        The machine on which the model was measured.
    when : str
        Date and time of the calibration, ISO 8601.
    versions : mapping of str to str
        Versions of the program and of the packages it uses.
    measured : tuple of mappings
        The calibration runs, one row per rank: `group`, `name`, `purpose`, `rank`, `ranks`, `amounts` by term,
        `seconds` per step, `spread` (half the width of the median's interval), `repeats` (the times of all
        repetitions), and for cells `held_out`, the seconds predicted without this cell.
    pace_s : float
        Usual CPU seconds of the reference workload that measures the machine's speed (see `Timing.pace`), at the time
        of the calibration; nan where there is none.
    pace_spread : float
        Standard deviation of the logarithm of these seconds from one run to the next; nan where not known.

    Raises
    ------
    InputError
        If the program has no such term, or a coefficient or another number is negative or not a number.
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
        """Seconds per unit of every term in the program's order, terms of borders last, (terms,)."""
        names = [term.name for term in program_named(self.program).all_terms]
        return np.array([self.coefficients[n].seconds if n in self.coefficients else 0.0 for n in names])

    def extrapolation(self, seconds: float) -> str:
        """Say if a rank's step takes so much longer than all measured ones that its prediction is an extrapolation.

        Examples
        --------
        >>> cost = CostModel("fdtd", {}, measured=({"seconds": 0.01},))
        >>> cost.extrapolation(0.02)
        ''
        >>> cost.extrapolation(0.2)
        'an extrapolation: a step of a rank takes 20 times as long as any calibrated one, ...'
        """
        longest = max((float(one["seconds"]) for one in self.measured), default=math.inf)
        if seconds <= _FAR * longest:
            return ""
        return (
            f"an extrapolation: a step of a rank takes {seconds / longest:.0f} times as long as any calibrated one, "
            "and it takes longer than predicted where its data no longer fit into the caches"
        )

    def lacking(self, cell: Cell) -> str:
        """Say if a cell has work that this model has no coefficients for, as models of older versions of evenly may.

        Examples
        --------
        >>> from evenly.decomposition.cells.fdtd.cell import cell_of
        >>> from evenly import fdtd
        >>> cell = cell_of(fdtd.Simulation(cell=(1, 1, 0), resolution=10))
        >>> known = program_named("fdtd").terms
        >>> CostModel("fdtd", {term.name: Coefficient(1e-9) for term in known}).lacking(cell)
        ''
        >>> CostModel("fdtd", {term.name: Coefficient(1e-9) for term in known if term.name != "points"}).lacking(cell)
        'predicted too fast: this cell has work that the costs leave out (points): `evenly calibrate fdtd` measures it'
        """
        program = program_named(self.program)
        pieces = pieces_of(cell, np.zeros((1, 3), np.int64), np.array([cell.grid.shape], np.int64))
        amounts = program.amounts(pieces).sum(axis=0)
        names = [
            term.name for term, amount in zip(program.terms, amounts, strict=True)
            if amount > 0 and term.name not in self.coefficients
        ]  # fmt: skip
        if not names:
            return ""
        return (
            f"predicted too fast: this cell has work that the costs leave out ({few(names)}): "
            f"`evenly calibrate {self.program}` measures it"
        )

    def half_width(self, level: float) -> float:
        """Return the half-width of the interval of the logarithm of a step's time, with probability `level`.

        Examples
        --------
        >>> round(CostModel("fdtd", {}, time_error=0.04).half_width(0.9), 4)
        0.0825
        """
        error = _UNKNOWN_ERROR if math.isnan(self.time_error) else self.time_error
        # `error` is a mean absolute error; the half-width is that of a normal distribution with this mean.
        half = error * math.sqrt(math.pi / 2) * NormalDist().inv_cdf(0.5 + level / 2)
        return math.hypot(half, self.pace_half_width(level))

    def pace_half_width(self, level: float) -> float:
        """Return the part of `half_width` that the cores' speed has, which varies in time; 0 where it isn't known."""
        return self.pace_spread * NormalDist().inv_cdf(0.5 + level / 2) if math.isfinite(self.pace_spread) else 0.0

    def chunk_seconds(self, cell: Cell, low: Ints, high: Ints) -> Array:
        """Return the predicted seconds per step (n,) of the work in boxes (n, 3), without borders between ranks."""
        pieces = pieces_of(cell, low, high)
        amounts = program_named(self.program).amounts(pieces)
        return pieces.sums(amounts @ self.vector[: -len(BOUNDARY)], len(low))

    def spread_seconds(self, cell: Cell, low: Ints, high: Ints) -> Array:
        """Return the predicted seconds per step (n,) of the work on the points of boxes (n, 3).

        Fixed costs of chunks and of their sides are left out.
        """
        program = program_named(self.program)
        pieces = pieces_of(cell, low, high)
        spread = np.array([term.extensive for term in program.terms])
        seconds = program.spread_amounts(pieces) @ np.where(spread, self.vector[: -len(BOUNDARY)], 0.0)
        return pieces.sums(seconds, len(low))

    def border_seconds(self, cell: Cell, faces: Array, neighbours: Array) -> Array:
        """Return a rank's fixed and border seconds per step (n,), from its shared faces (n,) and neighbours (n,)."""
        per_face, per_neighbour, alone = self.vector[-len(BOUNDARY) :]
        # Per face, two components of E travel one way and two of H the other: two numbers sent, two received.
        number = cell.traits.get("float bytes", 8.0)
        sending = 0.0 if np.isinf(self.bytes_per_s) else 2 * number * 2 / self.bytes_per_s
        shared = faces * cell.ghost_parts * (per_face + sending)
        return np.asarray(alone + shared + neighbours * (per_neighbour + 2 * self.latency_s))

    def check(self, cell: Cell) -> None:
        """Check that a cell belongs to the model's program.

        Raises
        ------
        InputError
            If it belongs to another program.
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
        """Return the cost model from the result of `to_dict`.

        Raises
        ------
        InputError
            If the values aren't those of a cost model, or have an unknown version.
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
            with replacing(path) as new:
                new.write_text(json.dumps(self.to_dict(), indent=1) + "\n", encoding="utf-8")
        except OSError as error:
            raise InputError(f"The cost model can't be saved as {path}: {error.strerror or error}.") from error

    @classmethod
    def load(cls, path: Path | str) -> CostModel:
        """Read a cost model from a file that `save` wrote.

        Raises
        ------
        ReadError
            If the file holds no cost model, is damaged, or has an unknown version.
        """
        check_file(path)
        try:
            return cls.from_dict(json.loads(Path(path).read_text(encoding="utf-8")))
        except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError, InputError) as error:
            raise ReadError(path, _trouble(error)) from error


def _trouble(error: Exception) -> str:
    """Return the reason why a file of costs can't be read, without the file's path."""
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
    """Return the program of a name, which defines the terms of its work.

    Raises
    ------
    InputError
        If there is no such program.
    """
    # Imported late, since the import of the program for `evenly.fdtd` takes time.
    from evenly.decomposition.costs.fdtd import Fdtd
    from evenly.decomposition.costs.meep import Meep

    programs: dict[str, Program] = {program.name: program for program in (Fdtd(), Meep())}
    if name not in programs:
        raise InputError(f"there is no cost of {name!r}: programs are {', '.join(programs)}.")
    return programs[name]
