r"""A study: the program to run, its parameters, the time to measure, repetitions, and the choice of configurations.

A study is a TOML file::

    constraints = ["ranks * threads <= 16"]

    [program]
    command = "./solve --cells {size} --threads {threads}"   # or: callable = "my_module:function"
    timeout_s = 600

    [launcher]                                                # the program as it is, when left out
    name = "mpi"
    ranks = "{ranks}"
    concurrent = 2                                            # so many runs at once

    [parameters]
    size = { low = 1000, high = 1000000, scale = "log" }
    ranks = [1, 2, 4]
    threads = [1, 2]

    [time]
    pattern = 'time per step: (\S+)'                          # wall time when left out
    unit = "ms"

    [repetitions]
    least = 2
    most = 8
    within = 0.05

    [plan]
    runs = 40
    design = "sobol"

    [conditions]                                              # where a parameter matters, if not everywhere
    threads = "ranks < 4"

    [factors]                                                 # how parts of the time scale, if known
    work = "size / (ranks * threads)"
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any, Literal, Self, get_args

from evenly.campaign.program import Program, check_number, program_of
from evenly.campaign.timing import Timing
from evenly.errors import InputError, ReadError, check_keys
from evenly.memory import check_file
from evenly.space.designs import Design
from evenly.space.expressions import Expression
from evenly.space.parameters import Categorical, Integer, Ordinal, Parameter, Real, parameter_from_dict
from evenly.space.space import Space

__all__ = ["Plan", "Program", "Repetitions", "Study"]

#: Larger whole numbers are no longer all different as floating-point numbers.
_EXACT = 2**53
#: Placeholders that commands may contain in addition to parameters.
PLACES = ("run", "repetition", "study")
Draw = Literal["all", "advisor", "tune"] | Design


@dataclass(frozen=True)
class Repetitions:
    """The number of repetitions of each configuration.

    Parameters
    ----------
    least, most : int
        Fewest and most repetitions.
    within : float
        Repetitions end once the half-width of the 95 % interval of the mean log time is at most `within`: 0.05 is 5 %.
    """

    least: int = 2
    most: int = 8
    within: float = 0.05

    def __post_init__(self) -> None:
        for name in ("least", "most"):
            check_number(name, getattr(self, name), above=0, whole=True)
        check_number("within", self.within, above=0)
        if self.least > self.most:
            raise InputError(f"least must not be above most, but got {self.least} and {self.most}")


@dataclass(frozen=True)
class Plan:
    """The choice of the configurations that are run.

    Parameters
    ----------
    runs : int, optional
        Number of configurations; by default all configurations of the space.
    design : {"all", "random", "uniform", "log-uniform", "sobol", "lhs", "advisor", "tune"}
        Sampling method (`Space.sample`); "all" takes every configuration. "advisor" starts with `first` Sobol points.
        It then chooses configurations that reduce the uncertainty of a model of the runs most per second of run time.
        "tune" searches for the fastest configuration (`evenly tune`).
    first : int, optional
        Number of Sobol points with which "advisor" starts; by default twice the number of parameters, at least four.
    seed : int
        Seed of the sample and of the order of runs.
    budget_s : float, optional
        Total seconds of all runs after which no further run is started.
    anchor_every : int
        Number of runs after which a quick configuration, the anchor, is repeated to detect drift of the machine; 0
        means never.
    tasks : sequence of str
        For a search: parameters that define the task. Each task has its own fastest configuration.
    limit : float, optional
        For a search: a run is ended once it takes `limit` times as long as the fastest configuration of its task.
    production : float, optional
        For a search: number of production runs afterwards. The search ends when the next run is expected to take longer
        than it is expected to save in production.
    baseline : mapping of str to value, optional
        For a search: the configuration in use today, with a value for each parameter. It is run first, and the gain is
        what the fastest configuration saves of its time.
    """

    runs: int | None = None
    design: Draw = "sobol"
    first: int | None = None
    seed: int = 0
    budget_s: float | None = None
    anchor_every: int = 20
    tasks: Sequence[str] = ()
    limit: float | None = None
    production: float | None = None
    baseline: Mapping[str, Any] | None = None

    def __post_init__(self) -> None:
        allowed = ("all", "advisor", "tune", *get_args(Design))
        if self.design not in allowed:
            raise InputError(f"design must be one of {', '.join(allowed)}, but got {self.design!r}")
        for name in ("runs", "first"):
            if getattr(self, name) is not None:
                check_number(name, getattr(self, name), above=0, whole=True)
        check_number("anchor_every", self.anchor_every, above=-1, whole=True)
        if type(self.seed) is not int or self.seed < 0:
            raise InputError(f"seed must be a whole number, 0 or above, but got {self.seed!r}")
        if self.budget_s is not None:
            check_number("budget_s", self.budget_s, above=0)
        for name, above in (("limit", 1), ("production", 0)):
            if getattr(self, name) is not None:
                check_number(name, getattr(self, name), above=above)
        if self.baseline is not None and not isinstance(self.baseline, Mapping):
            raise InputError(f"baseline must be a table of parameters and their values, but got {self.baseline!r}")
        if isinstance(self.tasks, str) or not all(isinstance(task, str) for task in self.tasks):
            raise InputError(f"tasks must be a list of parameters, but got {self.tasks!r}")
        if self.is_advised and self.runs is None:
            raise InputError("an advisor needs to know how many runs there may be: give runs")

    @property
    def is_advised(self) -> bool:
        """Whether the choice of the next configuration depends on the measurements so far."""
        return self.design in ("advisor", "tune")


@dataclass(frozen=True)
class Study:
    """The definition of a campaign: program, parameter space, timing, repetitions and plan.

    Parameters
    ----------
    name : str
    space : Space
    program : Program
    timing : Timing
    repetitions : Repetitions
    plan : Plan
    folder : Path
        Folder to which relative paths refer.
    factors : mapping of str to str
        An expression of the parameters to which each part of the time is roughly proportional: ``{"work": "cells *
        steps / ranks", "surface": "(cells / ranks) ** (2 / 3)"}``. ``evenly.fit(runs, method="factorized",
        factors=study.factors)`` learns the deviation from these factors. Parts that [time.quantities] measures under
        the same names get their own models.

    Raises
    ------
    InputError
        If a placeholder, factor or task is not a parameter, if no part of the program depends on a parameter, or if a
        parameter has a reserved name.

    Examples
    --------
    >>> study = Study("echo", Space(n=Integer(1, 3)), Program("echo {n}"))
    >>> study.space.count()
    3
    """

    name: str
    space: Space
    program: Program
    timing: Timing = field(default_factory=Timing)
    repetitions: Repetitions = field(default_factory=Repetitions)
    plan: Plan = field(default_factory=Plan)
    folder: Path = field(default_factory=Path.cwd)
    factors: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for name, text in self.factors.items():
            strange = sorted(Expression(str(text)).names - set(self.space.names))
            if strange:
                raise InputError(
                    f"the factor {name} = {text!r} needs {strange[0]!r}, which is no parameter; those are "
                    f"{', '.join(self.space.names)}"
                )
        strange = [task for task in self.plan.tasks if task not in self.space.names]
        if strange:
            raise InputError(f"tasks must be parameters ({', '.join(self.space.names)}), but got {strange[0]!r}")
        known = {*self.space.names, *PLACES}
        for template in self.program.templates():
            unknown = sorted(template.names - known)
            if unknown:
                raise InputError(f"{template.text!r} needs {unknown[0]!r}, which is none of {', '.join(sorted(known))}")
        used = frozenset[str]().union(*(template.names for template in self.program.templates()))
        idle = [name for name in self.space.names if name not in used]
        if idle and not self.program.callable:
            raise InputError(
                f"nothing in [program] depends on {idle[0]!r}: put {{{idle[0]}}} where the program gets it"
            )
        taken = [name for name in self.space.names if name in (*PLACES, *self.timing.quantities, "cpu_seconds")]
        if taken:
            raise InputError(f"a parameter may not be called {taken[0]!r}, which evenly uses itself: rename it")

    @classmethod
    def load(cls, path: Path | str) -> Self:
        """Read a study file.

        Raises
        ------
        ReadError
            If the file can't be read, or its contents are invalid.
        """
        path = check_file(path)
        try:
            values = tomllib.loads(path.read_text(encoding="utf-8"))
        except FileNotFoundError:
            raise ReadError(path, "there is no such file") from None
        except (OSError, ValueError, RecursionError) as error:
            reason = getattr(error, "strerror", None) or error
            raise ReadError(path, f"a study file (TOML) was expected: {reason}") from None
        try:
            return cls.from_dict(values, name=path.stem, folder=path.resolve().parent)
        except InputError as error:
            raise ReadError(path, str(error)) from None

    @classmethod
    def from_dict(cls, values: Mapping[str, Any], *, name: str, folder: Path) -> Self:
        """Return a study from the contents of a study file.

        Raises
        ------
        InputError
            If a key is missing or unknown, or a value is invalid.

        Examples
        --------
        >>> given = {"program": {"command": "echo {n}"}, "parameters": {"n": [1, 2]}}
        >>> Study.from_dict(given, name="echo", folder=Path()).space
        Space(n=Ordinal(1, 2))
        """
        sections = ("program", "launcher", "parameters", "conditions", "time", "repetitions", "plan", "factors")
        check_keys("a study", values, ("constraints", *sections))
        for section in sections:
            if not isinstance(values.get(section, {}), Mapping):
                raise InputError(f"{section!r} must be a table: begin it with a line [{section}]")
        if not values.get("program") or not values.get("parameters"):
            raise InputError("a study has at least the tables [program] and [parameters]")
        if "constraints" in values["parameters"] and "constraints" not in values:
            raise InputError("constraints stand above the first table: below [parameters] they would be a parameter")
        kinds = {key: _parameter(key, value) for key, value in values["parameters"].items()}
        return cls(
            name,
            Space.of(kinds, values.get("constraints", ()), conditions=values.get("conditions")),
            program_of(values),
            Timing.from_dict(values.get("time", {})),
            _repetitions(values),
            _of(Plan, "plan", values),
            folder,
            {str(part): str(text) for part, text in values.get("factors", {}).items()},
        )

    def measured_as(self) -> dict[str, Any]:
        """Return the settings that decide whether runs of two studies are comparable: they must be equal."""
        program = self.program
        cores = ("nodes", "ranks_per_node", "cores_per_rank")
        return {
            "command": [word.text for word in program.words],
            "callable": program.callable,
            "launcher": program.launcher,
            "ranks": str(program.ranks or 1),
            "mpiexec": program.ranks is not None,
            "environment": dict(program.environment),
            "setup": list(program.placement.setup),
            **{name: str(getattr(program.placement, name) or "") for name in cores},
            **self.timing.to_dict(),
            "parameters": sorted(self.space.names),
        }

    def placed_as(self) -> dict[str, Any]:
        """Return the settings that say on which machines of a cluster runs are made."""
        where = self.program.placement
        options = {str(name): str(value) for name, value in where.options.items()}
        return {"partition": where.partition, "exclusive": where.exclusive, "options": options}


def _repetitions(values: Mapping[str, Any]) -> Repetitions:
    given = dict(values.get("repetitions", {}))
    if given.get("most") == 1:  # then the other can't be meant to be more
        given.setdefault("least", 1)
    found: Repetitions = _of(Repetitions, "repetitions", {"repetitions": given})
    if found.within > 1:  # who writes 10 means per cent
        raise InputError(f"within is a share of the time, 0.1 for 10 %, and at most 1, but got {found.within}")
    return found


def _of(kind: type[Any], section: str, values: Mapping[str, Any]) -> Any:
    given = dict(values.get(section, {}))
    check_keys(f"[{section}]", given, [f.name for f in fields(kind)])
    return kind(**given)


def _parameter(name: str, value: Any) -> Parameter:
    try:
        return _kind(value)
    except InputError as error:
        raise InputError(f"parameter {name!r}: {error}") from None


def _kind(value: Any) -> Parameter:
    """Return a parameter: ordinal from a list of numbers, categorical from another list, a range from low and high."""
    if isinstance(value, list):
        numbers = value and all(isinstance(x, int | float) and not isinstance(x, bool) for x in value)
        large = [x for x in value if isinstance(x, int) and abs(x) > _EXACT]
        if numbers and large:
            raise InputError(f"whole numbers must be at most 2^53 in size, to be told apart, but got {large[0]}")
        return Ordinal(*value) if numbers else Categorical(*value)
    if not isinstance(value, Mapping):
        raise InputError(f"it must be a list of values or {{ low = 1, high = 9 }}, but got {value!r}")
    if "kind" in value:
        return parameter_from_dict(dict(value))
    kind = Integer if all(isinstance(value.get(end), int) for end in ("low", "high")) else Real
    check_keys("it", value, [f.name for f in fields(kind)])
    missing = [end for end in ("low", "high") if end not in value]
    if missing:
        raise InputError(f"it lacks {missing[0]!r}")
    return kind(**value)
