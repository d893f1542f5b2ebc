"""The measurement of a run: seconds of each rank in each phase, and the JSON file that holds them.

`evenly read`, `evenly fit` and the scaling study read these files. Only time steps are timed. The times do not include
building the structure, compiling, or steps before `Simulation.reset_timing`.

Each rank records two clocks. Wall time is right where every rank has cores of its own. Where ranks outnumber the
cores, they take turns, and wall time doesn't apply to a larger machine. Then the CPU time of each rank's own work is
used. The waiting time of a rank is then computed: the busy time of the slowest rank minus its own busy time.
`Measurement.clock` says which clock is right.

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
from evenly.memory import check_file
from evenly.writing import replacing

__all__ = ["COMMUNICATION", "COMPUTATION", "FORMAT", "FOURIER", "STEPPING", "SUFFIX", "Measurement", "RankRecord"]

FORMAT = "evenly fdtd measurement 1"
#: Ending of the names of measurement files.
SUFFIX = ".fdtd.json"
#: The phases of `evenly.fdtd.stepping.timing.PHASES` that belong to each group.
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
    """The points and the times of one rank in a run.

    Parameters
    ----------
    rank : int
    wall, cpu : mapping of phase to seconds
        Sum over all measured steps.
    points, chunks : int
        Number of grid points and chunks that the rank owned.
    counts : mapping of kind to int
        The rank's points of each kind, with the names of `Counts.as_dict`. ``surface`` is the number of point faces
        shared with other ranks, and ``neighbours`` is the number of those ranks.
    poles : mapping of str to int
        Number of points of each pole, by the pole's name.
    bytes_sent : int
        Bytes sent to other ranks per step.
    memory : int
        Bytes of the rank's fields and media; 0 if unknown.
    peak_memory : int
        Largest resident memory of the process so far, in bytes; 0 if unknown.
    host : str
    cores : tuple of int
        Numbers of the cores that the process may run on.
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
        """Return the seconds spent in a phase, or the sum over several phases."""
        times = self.wall if clock == "wall" else self.cpu
        return sum(times.get(phase, 0.0) for phase in ([phases] if isinstance(phases, str) else phases))

    def busy(self, clock: Clock = "wall") -> float:
        """Return the sum of the seconds of all phases except waiting."""
        times = self.wall if clock == "wall" else self.cpu
        return sum(seconds for phase, seconds in times.items() if phase != WAITING)


@dataclass(frozen=True)
class Measurement:
    """One measured run of a simulation.

    Parameters
    ----------
    name : str
        Name of the simulated structure, such as ``"oled"``.
    parameters : mapping
        Parameters of the structure: numbers and texts.
    steps : int
        Number of measured time steps.
    size : int
        Number of ranks.
    ranks : tuple of RankRecord
        In the order of the ranks; empty if the run failed.
    threads : int
        Number of threads of each rank.
    cores : int
        Number of cores that all ranks together may use.
    points : int
        Grid points of the cell.
    cell : three floats
    resolution : float
    shape : three ints
        Grid points along x, y, z.
    layout : nested lists
        The partition, in the form of `BinaryPartition.to_list`.
    options : mapping
        Options of the simulation.
    versions : mapping of str to str
        Versions of Python and of the packages.
    when : str
        When the measurement was taken, ISO 8601 in UTC.
    repetition : int
        Index of this run among repeated runs of the same configuration.
    status : "ok", "failed" or "timed out"
    message : str
        Why the run failed.

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
        """Return the seconds of each rank in a phase, or the sum over several phases.

        With CPU times, waiting is computed: how long the rank would wait for the slowest one if each had its own core.

        Parameters
        ----------
        phases : str or sequence of str
        clock : "wall" or "cpu", optional
            Default: `Measurement.clock`.

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
        """Return the seconds of all measured steps on the slowest rank; nan if the run failed."""
        clock = self._clock(clock)
        if not self.ranks:
            return math.nan
        if clock == "cpu":
            return max(rank.busy(clock) for rank in self.ranks)
        return max(sum(rank.wall.values()) for rank in self.ranks)

    def step_s(self, clock: Clock | None = None) -> float:
        """Return the mean seconds per step on the slowest rank; nan if the run failed."""
        return self.run_s(clock) / self.steps if self.steps else math.nan

    def imbalance(self, clock: Clock | None = None) -> float:
        """Return the imbalance: the largest over the mean computation time of the ranks (no communication)."""
        times = self.times(COMPUTATION, clock)
        mean = sum(times) / len(times) if times else math.nan
        return max(times) / mean if mean else 1.0

    def _clock(self, clock: Clock | None) -> Clock:
        if clock not in (None, "wall", "cpu"):
            raise InputError(f'`clock` must be "wall" or "cpu", but got {clock!r}.')
        return clock or self.clock

    def to_dict(self) -> dict[str, Any]:
        """Return the measurement as plain numbers, texts, lists and dicts, with the name and version of the format."""
        return {"format": FORMAT, **asdict(self)}

    @classmethod
    def from_dict(cls, data: Any) -> Measurement:
        """Return the measurement from the data that `to_dict` returned.

        Raises
        ------
        InputError
            If `data` is not a measurement; the message names what is missing or wrong.

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
        """Write the measurement to a file; an existing file is replaced only when the new one is complete.

        Parameters
        ----------
        path : Path or str
            ``.fdtd.json`` is added unless the name ends in ``.json``.

        Returns
        -------
        Path
            The file's path.

        Raises
        ------
        InputError
            If the file can't be written.

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
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            with replacing(path) as new:
                new.write_text(json.dumps(_plain(self.to_dict()), indent=1) + "\n", encoding="utf-8")
        except OSError as error:
            raise InputError(
                f"A measurement can't be written to {path} ({error.strerror}): give a path that can be written to."
            ) from None
        return path

    @classmethod
    def load(cls, path: Path | str) -> Measurement:
        """Read a file that `save` wrote.

        Raises
        ------
        ReadError
            If there is no such file, or it is damaged or not a measurement.
        """
        path = check_file(path)
        try:
            return cls.from_dict(json.loads(path.read_text(encoding="utf-8")))
        except OSError as error:
            raise ReadError(path, f"it can't be read ({error.strerror}): check the path") from None
        except json.JSONDecodeError as error:
            raise ReadError(path, f"it is no JSON or was cut off: {error.msg}", line=error.lineno) from None
        except (ValueError, RecursionError) as error:
            raise ReadError(path, str(error)) from None


def _rank(data: Mapping[str, Any]) -> RankRecord:
    return RankRecord(**{**data, "cores": tuple(data.get("cores", ()))})


def _plain(value: Any) -> Any:
    """Return `value` for JSON: NumPy numbers become plain numbers, infinite ones and nan become texts."""
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
