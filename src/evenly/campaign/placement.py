"""Where the runs of a study go: how many at once, and what each asks a scheduler for."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Any

from evenly.campaign.templates import Template
from evenly.errors import InputError, check_keys
from evenly.launch import Launcher, Resources
from evenly.runs.durations import parse

__all__ = ["ByModel", "Placement"]

_COUNTS = ("nodes", "ranks_per_node", "cores_per_rank")
_WORDS = ("memory", "partition", "account")
#: Written into a scheduler's command line, so nothing in it may look like another option.
_NAME = re.compile(r"[A-Za-z][A-Za-z0-9-]*")
#: Options that have settings of their own.
_SETTINGS = {
    "ntasks": "ranks", "nodes": "nodes", "ntasks-per-node": "ranks_per_node", "cpus-per-task": "cores_per_rank",
    "mem": "memory", "time": "time_limit", "partition": "partition", "account": "account", "exclusive": "exclusive",
}  # fmt: skip
#: Options with which a job would be several, another, or not where evenly looks for what it wrote.
_NOT_ITS_OWN = ("array", "chdir", "error", "job-name", "output", "parsable", "requeue", "test-only", "wait", "wrap")


@dataclass(frozen=True)
class ByModel:
    """Limits from a model: the upper bound of what a run is predicted to take, times `factor`, at least `floor_s`."""

    factor: float = 1.5
    floor_s: float = 60.0


@dataclass(frozen=True)
class Placement:
    """How many runs are made at once, and what each asks a scheduler for. All but `setup` may contain placeholders.

    Parameters
    ----------
    concurrent : int
        Most runs at once. On this machine, several runs get cores of their own, never more than there are.
    nodes, ranks_per_node, cores_per_rank : str or int, optional
        Whole numbers: ``"{ranks / 32}"``.
    memory : str
        Memory of a node, as the scheduler writes it: ``"4G"``.
    time_limit : str or mapping, optional
        Longest time of a job, as ``"1:30:00"``; by default the study's `timeout_s` and a minute. ``"model"``: what the
        run is predicted to take at most (`evenly.campaign.limits`); ``{ factor = 2, floor = "10min" }`` is the same
        with another factor (else 1.5) and another least limit (else a minute).
    partition, account : str
    exclusive : bool
    setup : sequence of str
        Lines of a shell that run before the program: ``["module load gcc"]``.
    options : mapping of str to str
        Further options of the scheduler by their long names: ``{ constraint = "skylake" }``.

    Examples
    --------
    >>> Placement(nodes="{ranks / 32}").resources({"ranks": 64}).nodes
    2
    """

    concurrent: int = 1
    nodes: str | int | None = None
    ranks_per_node: str | int | None = None
    cores_per_rank: str | int | None = None
    memory: str = ""
    time_limit: str | Mapping[str, Any] | None = None
    partition: str = ""
    account: str = ""
    exclusive: bool = False
    setup: Sequence[str] = ()
    options: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if type(self.concurrent) is not int or self.concurrent < 1:
            raise InputError(f"concurrent must be a whole number above 0, but got {self.concurrent!r}")
        if isinstance(self.setup, str) or any(not isinstance(line, str) for line in self.setup):
            raise InputError(f"setup must be a list of lines, but got {self.setup!r}")
        if not isinstance(self.options, Mapping):
            raise InputError(f"options must be a table, as {{ constraint = 'skylake' }}, but got {self.options!r}")
        for name in self.options:
            if not _NAME.fullmatch(str(name)):
                raise InputError(f"options are long names without dashes, as constraint, but got {name!r}")
            _check_option(str(name), {**_SETTINGS, **dict.fromkeys(_NOT_ITS_OWN, "")})
        if not isinstance(self.exclusive, bool):
            raise InputError(f"exclusive must be true or false, but got {self.exclusive!r}")
        if self.by_model is None and self.time_limit is not None and not Template(str(self.time_limit)).names:
            _seconds(str(self.time_limit))

    @property
    def by_model(self) -> ByModel | None:
        """How limits follow from what runs are predicted to take; None if they don't."""
        if self.time_limit != "model" and not isinstance(self.time_limit, Mapping):
            return None
        given = {} if isinstance(self.time_limit, str) else dict(self.time_limit)
        check_keys("time_limit", given, ["factor", "floor"])
        factor = given.get("factor", ByModel.factor)
        if isinstance(factor, bool) or not isinstance(factor, int | float) or not 1 <= factor < math.inf:
            raise InputError(f"factor must be a number of at least 1, but got {factor!r}")
        return ByModel(float(factor), _seconds(str(given["floor"])) if "floor" in given else ByModel.floor_s)

    def check(self, launcher: type[Launcher]) -> None:
        """Raise `InputError` if something is given that the launcher has no use for."""
        for name in self.options:
            _check_option(str(name), launcher.taken)
        given = {one.name for one in fields(self) if getattr(self, one.name) != _default(one)} - {"concurrent"}
        useless = sorted(name for name in given if name.replace("time_limit", "time_limit_s") not in launcher.uses)
        if useless:
            usable = sorted(name.removesuffix("_s") for name in launcher.uses)
            told = f"it takes {', '.join(['concurrent', *usable])}"
            raise InputError(
                f"the launcher {launcher.name!r} has no use for {useless[0]}: {told}. name = 'slurm' in [launcher], or "
                "--machine, names another launcher; --launcher local leaves such settings out"
            )

    def templates(self) -> Iterator[Template]:
        """Yield all texts that may contain placeholders."""
        texts = [getattr(self, name) for name in _COUNTS] + ([] if self.by_model else [self.time_limit])
        yield from (Template(str(text)) for text in texts if text is not None)
        others = (self.memory, self.partition, self.account, *self.options.values())
        yield from (Template(str(text)) for text in others)

    def resources(self, values: Mapping[str, Any]) -> Resources:
        """Return what a run with these values asks for.

        Raises
        ------
        InputError
            If a count isn't a whole number above zero.
        """
        counts: dict[str, Any] = {name: _count(name, getattr(self, name), values) for name in _COUNTS}
        words: dict[str, Any] = {name: Template(str(getattr(self, name))).fill(values) for name in _WORDS}
        fixed = None if self.by_model else self.time_limit
        limit = None if fixed is None else _seconds(Template(str(fixed)).fill(values))
        return Resources(
            **counts, **words, time_limit_s=limit, exclusive=self.exclusive,
            setup=tuple(self.setup),
            options={str(name): _option(value, values) for name, value in self.options.items()},
        )  # fmt: skip


def _check_option(name: str, taken: Mapping[str, str]) -> None:
    """Refuse an option that a setting stands for, or that evenly sees to."""
    if taken.get(name):
        raise InputError(f"the option {name} has a setting of its own in [launcher]: {taken[name]}")
    if name in taken:
        raise InputError(f"the option {name} can't be given: evenly makes each run a job of its own, and sees to it")


def _default(one: Any) -> Any:
    return one.default_factory() if callable(one.default_factory) else one.default


def _count(name: str, text: str | int | None, values: Mapping[str, Any]) -> int | None:
    if text is None:
        return None
    number = Template(str(text)).fill(values)
    if not number.isdecimal() or int(number) < 1:
        raise InputError(f"{name} must be a whole number above zero, but {text!r} gives {number}")
    return int(number)


def _seconds(text: str) -> float:
    seconds = parse(text)
    if not 0 < seconds < math.inf:
        raise InputError(f"time_limit must be a time as 1:30:00 (hours, minutes, seconds) or 90min, but got {text!r}")
    return seconds


def _option(value: Any, values: Mapping[str, Any]) -> str:
    return Template("" if value is True else str(value)).fill(values)
