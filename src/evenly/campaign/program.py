"""The program of a study: what is started, and where."""

from __future__ import annotations

import dataclasses
import math
import re
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Any, Self

from evenly.campaign.placement import Placement
from evenly.campaign.templates import Template
from evenly.errors import InputError, check_keys
from evenly.launch import launcher_class
from evenly.launch.submissions import check_waits

__all__ = ["Program", "check_number", "program_of"]

_PLACES = re.compile(r"\{[^{}]*\}")


@dataclass(frozen=True)
class Program:
    """The program of a study: a command or a Python function, and how it is started.

    Parameters
    ----------
    command : str or sequence of str
        The command, with placeholders for values: ``"./solve {size}"``. It is split into words as in a shell, but no
        shell is started.
    callable : str
        Instead of a command, a Python function ``"module:function"``. It takes a configuration (dict) and returns
        seconds.
    launcher : str
        ``"local"``, ``"mpi"``, ``"slurm"``, ``"pbs"``, ``"lsf"``, ``"flux"``, ``"srun"``, or the name of a launcher
        from another package.
    ranks : str or int
        Number of MPI ranks, for a launcher that starts ranks; may contain placeholders.
    placement : Placement
        How many runs are made at once, and what each asks a scheduler for.
    folder : str
        Working folder, relative to the study's folder; created if it is missing. May contain placeholders.
    environment : mapping of str to str
        Environment variables; values may contain placeholders.
    timeout_s : float, optional
        Longest wall time of a run, in seconds.
    """

    command: str | Sequence[str] = ""
    callable: str = ""
    launcher: str = "local"
    ranks: str | int | None = None
    placement: Placement = field(default_factory=Placement)
    folder: str = "."
    environment: Mapping[str, str] = field(default_factory=dict)
    timeout_s: float | None = None

    def __post_init__(self) -> None:
        if bool(self.command) == bool(self.callable):
            raise InputError("[program] needs a command or a callable, and only one of them")
        if self.callable and ":" not in self.callable:
            raise InputError(f"callable must be 'module:function', but got {self.callable!r}")
        if not isinstance(self.environment, Mapping):
            raise InputError("environment must be a table, as { OMP_NUM_THREADS = '{threads}' }")
        if self.timeout_s is not None:
            check_number("timeout_s", self.timeout_s, above=0)
        check_waits([word.text for word in self.words])
        kind = launcher_class(self.launcher)
        if self.launcher == "local" and self.ranks is not None:
            raise InputError("ranks are started by the launcher 'mpi' or a scheduler: name one in [launcher]")
        if self.placement.by_model is not None and self.timeout_s is None:
            raise InputError(
                'time_limit = "model" needs timeout_s in [program]: jobs ask for that while little is known, never for '
                "more, and a job that reached a smaller limit is made once more with it"
            )
        if kind.needs_ranks and self.ranks is None:
            raise InputError(f"the launcher {self.launcher!r} needs to know how many: give ranks, as '{{ranks}}'")

    def placed(self, where: Mapping[str, Any], *, whose: str) -> Self:
        """Return the program with settings of a table [launcher] from elsewhere.

        Raises
        ------
        InputError
            If a setting contradicts the study's own, or is unknown.

        Examples
        --------
        >>> Program("solve", placement=Placement(nodes=2)).placed({"name": "slurm", "partition": "fat"}, whose="a.toml")
        ... # doctest: +ELLIPSIS
        Program(command='solve', ... launcher='slurm', ... nodes=2, ... partition='fat', ...)
        """
        given = dict(where)
        check_keys(f"[launcher] of {whose}", given, ["name", *(f.name for f in fields(Placement))])
        launcher = str(given.pop("name", self.launcher))
        for name, value in given.items():
            own = getattr(self.placement, name)
            if own not in (value, getattr(Placement(), name)):
                raise InputError(f"the study says {name} = {own!r}, and {whose} says {value!r}: leave one of them out")
        return dataclasses.replace(self, launcher=launcher, placement=dataclasses.replace(self.placement, **given))

    def with_launcher(self, name: str) -> Self:
        """Return the program with another launcher, and of its placement what that launcher has a use for."""
        if name == "local" and self.ranks is not None:
            name = "mpi"  # ranks on this machine
        useful = {one.removesuffix("_s") for one in launcher_class(name).uses} | {"concurrent"}
        plain = {f.name: getattr(Placement(), f.name) for f in fields(Placement) if f.name not in useful}
        return dataclasses.replace(self, launcher=name, placement=dataclasses.replace(self.placement, **plain))

    @property
    def words(self) -> tuple[Template, ...]:
        """The command's words; none for a callable."""
        if not isinstance(self.command, str):
            return tuple(Template(str(word)) for word in self.command)
        places: list[str] = _PLACES.findall(self.command)
        # Blanks within braces do not separate words, so placeholders are masked while the command is split.
        bare = _PLACES.sub("\0", self.command)
        try:
            words = shlex.split(bare)
        except ValueError as error:
            raise InputError(f"the command {self.command!r} can't be split into words: {error}") from None
        inside = iter(places)
        return tuple(Template(re.sub("\0", lambda _: next(inside), word)) for word in words)

    def templates(self) -> list[Template]:
        """Return all texts that may contain placeholders."""
        return [*self.words, Template(self.folder), Template(str(self.ranks or 1)),
                *(Template(str(text)) for text in self.environment.values()),
                *self.placement.templates()]  # fmt: skip


def program_of(values: Mapping[str, Any]) -> Program:
    """Return the program of the tables [program] and [launcher]."""
    given, placed = dict(values["program"]), dict(values.get("launcher", {}))
    twice = [key for key in ("launcher", "ranks") if key in given and placed]
    if twice:
        raise InputError(f"{twice[0]} stands in [program], beside a table [launcher]: move it there")
    check_keys("[program]", given, [f.name for f in fields(Program) if f.name != "placement"])
    check_keys("[launcher]", placed, ["name", "ranks", *(f.name for f in fields(Placement))])
    if placed:
        given["launcher"] = placed.pop("name", "local" if "ranks" not in placed else "mpi")
        given |= {"ranks": placed.pop("ranks")} if "ranks" in placed else {}
    return Program(**given, placement=Placement(**placed))


def check_number(name: str, value: Any, *, above: float, whole: bool = False) -> None:
    """Raise `InputError` unless a setting is a finite number above a bound."""
    kinds = (int,) if whole else (int, float)
    if isinstance(value, bool) or not isinstance(value, kinds) or not math.isfinite(value) or value <= above:
        what = "a whole number" if whole else "a number"
        raise InputError(f"{name} must be {what} above {above}, but got {value!r}")
