"""What a run took, rank by rank and phase by phase, and the file that keeps it.

`evenly read`, `evenly fit` and the scaling study understand these files. All times are of stepping: building the
structure and compiling are left out, as are steps before `Simulation.reset_timing`.

Two clocks are kept. Wall time is right where every rank has cores of its own. Where ranks outnumber the cores they
take turns, so wall time says nothing about a larger machine: then the CPU time of what a rank does itself counts, and
its waiting is what the work of the slowest rank implies. `Measurement.clock` says which one is right.

>>> from evenly.fdtd.simulation import Simulation
>>> sim = Simulation(cell=(2, 2, 0), resolution=10)
>>> sim.run(until=1.0)
>>> run = sim.measurement(name="empty")
>>> run.steps, run.size, run.points
(20, 1, 400)
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import Any, Literal

from evenly.errors import InputError, ReadError

__all__ = ["COMMUNICATION", "COMPUTATION", "FORMAT", "FOURIER", "STEPPING", "SUFFIX", "Measurement", "RankRecord"]

FORMAT = "evenly fdtd measurement 1"
#: Names of measurement files end in this.
SUFFIX = ".fdtd.json"
#: Phases of `evenly.fdtd.stepping.timing.PHASES`, in groups.
STEPPING = ("fused", "electric", "magnetic", "poles", "anisotropy", "nonlinear", "sources")
FOURIER = ("fourier",)
COMPUTATION = (*STEPPING, *FOURIER)
WAITING = "waiting"
COMMUNICATION = ("boundary copies", "send/receive", WAITING)
Clock = Literal["wall", "cpu"]
Status = Literal["ok", "failed", "timed out"]
Parameter = float | int | str


@dataclass(frozen=True)
class RankRecord:
    """What one rank held and how long it took.

    Parameters
    ----------
    rank : int
    wall, cpu : mapping of phase to seconds
        For all measured steps together.
    points, chunks : int
        Grid points and chunks that it owned.
    counts : mapping of kind to int
        Its points of each kind, as `Counts.as_dict` names them; ``surface`` are faces shared with
        other ranks and ``neighbours`` those ranks.
    poles : mapping of str to int
        Points of each pole.
    bytes_sent : int
        To other ranks, per step.
    memory : int
        Bytes of its fields and media; 0 where not known.
    peak_memory : int
        Largest resident size of the process so far in bytes; 0 where not known.
    host : str
    cores : tuple of int
        Numbers of the cores that it may run on.
    """

    rank: int
    wall: Mapping[str, float]
    cpu: Mapping[str, float]
    points: int = 0
    chunks: int = 0
    counts: Mapping[str, int] = field(default_factory=dict)
    poles: Mapping[str, int] = field(default_factory=dict)
    bytes_sent: int = 0
    memory: int = 0
    peak_memory: int = 0
    host: str = ""
    cores: tuple[int, ...] = ()

    def seconds(self, phases: str | Iterable[str], clock: Clock = "wall") -> float:
        """Return the seconds spent on a phase, or on several together."""
        times = self.wall if clock == "wall" else self.cpu
        return sum(times.get(phase, 0.0) for phase in ([phases] if isinstance(phases, str) else phases))

    def busy(self, clock: Clock = "wall") -> float:
        """Return the seconds of all phases but waiting."""
        times = self.wall if clock == "wall" else self.cpu
        return sum(seconds for phase, seconds in times.items() if phase != WAITING)


@dataclass(frozen=True)
class Measurement:
    """One run of a simulation.

    Parameters
    ----------
    name : str
        What was simulated, such as ``"oled"``.
    parameters : mapping
        What made it: numbers and words.
    steps : int
        Time steps measured.
    size : int
        Number of ranks.
    ranks : tuple of RankRecord
        In order; empty if the run failed.
    threads : int
        Of each rank.
    cores : int
        Cores that all ranks together may use.
    points : int
        Grid points of the cell.
    cell : three floats
    resolution : float
    shape : three ints
        Grid points along x, y, z.
    layout : nested lists
        As `BinaryPartition.to_list` gives them.
    options : mapping
        Options of the simulation.
    versions : mapping of str to str
    when : str
        Start of the measurement, ISO 8601.
    repetition : int
        Counts runs of the same thing.
    status : "ok", "failed" or "timed out"
    message : str
        Why it failed.

    Examples
    --------
    >>> rank = RankRecord(0, wall={"fused": 2.0, "waiting": 1.0}, cpu={"fused": 1.8, "waiting": 0.9}, points=1000)
    >>> run = Measurement("box", steps=10, size=1, ranks=(rank,), cores=2)
    >>> run.clock, run.run_s(), run.step_s()
    ('wall', 3.0, 0.3)
    """

    name: str = ""
    parameters: Mapping[str, Parameter] = field(default_factory=dict)
    steps: int = 0
    size: int = 1
    ranks: tuple[RankRecord, ...] = ()
    threads: int = 1
    cores: int = 1
    points: int = 0
    cell: tuple[float, ...] = ()
    resolution: float = 0.0
    shape: tuple[int, ...] = ()
    layout: Any = None
    options: Mapping[str, Any] = field(default_factory=dict)
    versions: Mapping[str, str] = field(default_factory=dict)
    when: str = ""
    repetition: int = 0
    status: Status = "ok"
    message: str = ""

    @property
    def clock(self) -> Clock:
        """``"cpu"`` if ranks and their threads outnumber the cores, else ``"wall"``."""
        return "cpu" if self.size * self.threads > self.cores else "wall"

    def times(self, phases: str | Sequence[str], clock: Clock | None = None) -> list[float]:
        """Return the seconds of each rank on a phase, or on several together.

        By CPU time, waiting is what a rank would wait for the slowest one if each had a core of its own.

        Parameters
        ----------
        phases : str or sequence of str
        clock : "wall" or "cpu", optional
            The one that is right when left out.

        Examples
        --------
        >>> ranks = (RankRecord(0, {"fused": 2.0}, {"fused": 2.0}), RankRecord(1, {"fused": 3.0}, {"fused": 3.0}))
        >>> Measurement(steps=1, size=2, ranks=ranks, cores=1).times("waiting")
        [1.0, 0.0]
        """
        clock = self._clock(clock)
        names = [phases] if isinstance(phases, str) else list(phases)
        if clock == "wall":
            return [rank.seconds(names, clock) for rank in self.ranks]
        slowest = max((rank.busy(clock) for rank in self.ranks), default=0.0)
        own = [name for name in names if name != WAITING]
        idle = [slowest - rank.busy(clock) if WAITING in names else 0.0 for rank in self.ranks]
        return [rank.seconds(own, clock) + wait for rank, wait in zip(self.ranks, idle, strict=True)]

    def run_s(self, clock: Clock | None = None) -> float:
        """Return the seconds that all measured steps took: of the slowest rank; nan if the run failed."""
        clock = self._clock(clock)
        if not self.ranks:
            return math.nan
        if clock == "cpu":
            return max(rank.busy(clock) for rank in self.ranks)
        return max(sum(rank.wall.values()) for rank in self.ranks)

    def step_s(self, clock: Clock | None = None) -> float:
        """Return the seconds of one step of the slowest rank; nan if the run failed."""
        return self.run_s(clock) / self.steps if self.steps else math.nan

    def imbalance(self, clock: Clock | None = None) -> float:
        """Return the largest over the mean time that ranks spend on their own points (no communication)."""
        times = self.times(COMPUTATION, clock)
        mean = sum(times) / len(times) if times else math.nan
        return max(times) / mean if mean else 1.0

    def _clock(self, clock: Clock | None) -> Clock:
        if clock not in (None, "wall", "cpu"):
            raise InputError(f'`clock` must be "wall" or "cpu", but got {clock!r}.')
        return clock or self.clock

    def to_dict(self) -> dict[str, Any]:
        """Return everything as numbers, texts, lists and dicts, with the format's version."""
        return {"format": FORMAT, **asdict(self)}

    @classmethod
    def from_dict(cls, data: Any) -> Measurement:
        """Return what `to_dict` gave.

        Raises
        ------
        InputError
            If it is something else; what is missing or wrong is named.

        Examples
        --------
        >>> run = Measurement("box", {"resolution": 20}, steps=3)
        >>> Measurement.from_dict(run.to_dict()) == run
        True
        """
        if not isinstance(data, Mapping) or data.get("format") != FORMAT:
            got = data.get("format") if isinstance(data, Mapping) else type(data).__name__
            raise InputError(f"A measurement must have the format {FORMAT!r}, but got {got!r}.")
        known = {f.name for f in fields(cls)}
        try:
            given = {name: value for name, value in data.items() if name in known}
            given["ranks"] = tuple(_rank(rank) for rank in given.get("ranks", ()))
            given |= {name: tuple(given[name]) for name in ("cell", "shape") if name in given}
            return cls(**given)
        except (KeyError, TypeError) as error:
            raise InputError(f"A measurement lacks something or holds something else in its place: {error}.") from None

    def save(self, path: Path | str) -> Path:
        """Write the measurement; an existing file is replaced once the new one is complete.

        Parameters
        ----------
        path : Path or str
            ``.fdtd.json`` is added unless it ends in ``.json``.

        Returns
        -------
        Path
            The file.

        Raises
        ------
        InputError
            If it can't be written.

        Examples
        --------
        >>> import tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     path = Measurement("box", steps=3).save(f"{folder}/box")
        ...     path.name, Measurement.load(path).steps
        ('box.fdtd.json', 3)
        """
        path = Path(path)
        path = path if path.suffix == ".json" else path.with_name(path.name + SUFFIX)
        partial = path.with_name(path.name + ".partial")
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            partial.write_text(json.dumps(_plain(self.to_dict()), indent=1) + "\n", encoding="utf-8")
            partial.replace(path)
        except OSError as error:
            raise InputError(
                f"A measurement can't be written to {path} ({error.strerror}): give a path that can be written to."
            ) from None
        return path

    @classmethod
    def load(cls, path: Path | str) -> Measurement:
        """Read a file of `save`.

        Raises
        ------
        ReadError
            If there is none, or it is damaged or something else.
        """
        path = Path(path)
        try:
            return cls.from_dict(json.loads(path.read_text(encoding="utf-8")))
        except OSError as error:
            raise ReadError(path, f"it can't be read ({error.strerror}): check the path") from None
        except json.JSONDecodeError as error:
            raise ReadError(path, f"it is no JSON or was cut off: {error.msg}", line=error.lineno) from None
        except (InputError, UnicodeDecodeError) as error:
            raise ReadError(path, str(error)) from None


def _rank(data: Mapping[str, Any]) -> RankRecord:
    return RankRecord(**{**data, "cores": tuple(data.get("cores", ()))})


def _plain(value: Any) -> Any:
    """Return `value` with what JSON doesn't know (numbers of NumPy, infinity) as plain numbers and texts."""
    if isinstance(value, Mapping):
        return {str(key): _plain(one) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(one) for one in value]
    if isinstance(value, bool | str | type(None)):
        return value
    number = value.item() if hasattr(value, "item") else value
    if isinstance(number, float) and not math.isfinite(number):
        return str(number)
    return number if isinstance(number, bool | int | float) else str(value)
