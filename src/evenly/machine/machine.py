"""The description of a machine: its nodes and cores, their cost, and the speed of cores, memory and network.

A `Machine` holds the number of nodes, the cores and memory of a node, the price of a core, and the times of messages.
Most values are optional: None means "not known", and decisions use only the known values. evenly comes with
descriptions of some machines; `Machine.load` takes their names.
"""

from __future__ import annotations

import dataclasses
import json
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

from evenly.arguments import explained
from evenly.errors import InputError, ReadError, check_keys, did_you_mean
from evenly.machine.link import Link, check_number
from evenly.memory import check_file
from evenly.writing import replacing

__all__ = ["Link", "Machine", "shipped_machines"]

FORMAT_VERSION = 1
_SHIPPED = Path(__file__).parent / "shipped"
_LINKS = ("within_node", "between_nodes")
_AMOUNTS = (
    "memory_bytes_per_node", "price_per_core_hour", "watts_per_core", "memory_bytes_per_s_per_core",
    "memory_bytes_per_s_per_node", "card_bytes_per_s",
)  # fmt: skip


@explained
@dataclass(frozen=True)
class Machine:
    """A machine, usually a cluster, as described to allocation and forecasts.

    Parameters
    ----------
    name : str
        Name in tables and reports.
    nodes : int, optional
        Number of nodes that a job may use.
    cores_per_node : int, optional
        Cores of one node.
    memory_bytes_per_node : float, optional
        Memory of one node that programs may use, in bytes.
    price_per_core_hour : float, optional
        Price of one core for one hour, in `currency`.
    watts_per_core : float, optional
        Power of one allocated core, busy or waiting, in watts.
    currency : str
        Currency of `price_per_core_hour`.
    whole_nodes : bool
        Whether jobs pay for all cores of each node that they use.
    about : str
        Description of the machine and of the source of its numbers, for people.
    core_speed : float
        Speed of a core relative to the core on which costs were measured: with 2, work takes half the time.
    memory_bytes_per_s_per_core : float, optional
        Bytes per second that one core reads and writes while all other cores of its node are idle.
    memory_bytes_per_s_per_node : float, optional
        Bytes per second that all cores of a node read and write together.
    jitter : float
        Standard deviation of a rank's computing time from step to step, over its mean.
    within_node : Link, optional
        Messages between two ranks of one node.
    between_nodes : Link, optional
        Messages between two ranks on two nodes, without other traffic on the network.
    card_bytes_per_s : float, optional
        Bytes per second that a node's network card carries in one direction, for all ranks of the node together; by
        default the bandwidth of `between_nodes`.
    launcher : mapping, optional
        How runs are started there, as the table [launcher] of a study: ``{"name": "slurm", "partition": "fat"}``.

    Raises
    ------
    InputError
        If a number is not above zero (`jitter`: below zero), or `whole_nodes` is true without `cores_per_node`.

    Examples
    --------
    >>> machine = Machine("haswell", nodes=20, cores_per_node=28, whole_nodes=True)
    >>> machine.cores, int(machine.billed(30))
    (560, 56)
    >>> fast = Machine("fast", between_nodes=Link(latency_s=1.3e-6, bytes_per_s=12e9))
    >>> float(fast.between_nodes.seconds(12_000)), fast.card
    (2.3e-06, 12000000000.0)
    >>> Machine.from_dict(machine.to_dict()) == machine
    True
    """

    name: str = "machine"
    nodes: int | None = None
    cores_per_node: int | None = None
    memory_bytes_per_node: float | None = None
    price_per_core_hour: float | None = None
    watts_per_core: float | None = None
    currency: str = "EUR"
    whole_nodes: bool = False
    about: str = ""
    core_speed: float = 1.0
    memory_bytes_per_s_per_core: float | None = None
    memory_bytes_per_s_per_node: float | None = None
    jitter: float = 0.0
    within_node: Link | None = None
    between_nodes: Link | None = None
    card_bytes_per_s: float | None = None
    launcher: Mapping[str, Any] | None = dataclasses.field(default=None, hash=False)

    def __post_init__(self) -> None:
        for name in ("name", "currency", "about"):
            if not isinstance(getattr(self, name), str):
                raise InputError(f"{name} must be text, but got {getattr(self, name)!r}")
        if not isinstance(self.launcher, Mapping | None):
            raise InputError(f"launcher must be a table: begin it with a line [launcher], but got {self.launcher!r}")
        for name in ("nodes", "cores_per_node"):
            if getattr(self, name) is not None:
                check_number(name, getattr(self, name), whole=True)
        for name in _AMOUNTS:
            if getattr(self, name) is not None:
                check_number(name, getattr(self, name))
        check_number("core_speed", self.core_speed)
        check_number("jitter", self.jitter, zero=True)
        for name in _LINKS:
            if not isinstance(getattr(self, name), Link | None):
                raise InputError(f"{name} must be a Link, but got {getattr(self, name)!r}")
        if self.whole_nodes and self.cores_per_node is None:
            raise InputError("whole_nodes needs to know how many cores a node has: give cores_per_node")

    @property
    def cores(self) -> int | None:
        """Total number of cores; None where nodes or cores per node are not known."""
        if self.nodes is None or self.cores_per_node is None:
            return None
        return self.nodes * self.cores_per_node

    @property
    def card(self) -> float | None:
        """Bytes per second of a node's network card: `card_bytes_per_s`, else the bandwidth of `between_nodes`."""
        if self.card_bytes_per_s is not None or self.between_nodes is None:
            return self.card_bytes_per_s
        return self.between_nodes.bytes_per_s

    def billed(self, cores: Any) -> Any:
        """Return the number of billed cores where `cores` are used (int, or an integer array of any shape)."""
        if not self.whole_nodes or self.cores_per_node is None:
            return cores
        return -(-cores // self.cores_per_node) * self.cores_per_node

    def to_dict(self) -> dict[str, Any]:
        """Return the known values, for JSON and TOML."""
        given = {field.name: getattr(self, field.name) for field in dataclasses.fields(self)}
        known = {k: _plain(v) for k, v in given.items() if v is not None}
        return {"format": "evenly.machine.machine", "version": FORMAT_VERSION, **known}

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Self:
        """Return a machine from the mapping that `to_dict` returns; ``format`` and ``version`` are optional.

        Raises
        ------
        InputError
            If a key is unknown or a value is invalid.
        """
        given = {k: v for k, v in values.items() if k not in ("format", "version")}
        if values.get("version", FORMAT_VERSION) != FORMAT_VERSION:
            raise InputError(
                f"this evenly reads version {FORMAT_VERSION} of machine files, got version {values['version']}"
            )
        check_keys("a machine", given, [field.name for field in dataclasses.fields(cls)])
        links = {name: Link.from_dict(given[name], name) for name in _LINKS if given.get(name) is not None}
        return cls(**{**given, **links})

    def save(self, path: Path | str) -> None:
        """Write to `path`: TOML, or JSON where the name ends in ``.json``.

        Raises
        ------
        InputError
            If nothing can be written there.
        """
        path = Path(path)
        values = self.to_dict()
        text = json.dumps(values, indent=1) + "\n" if path.suffix == ".json" else _toml_file(values)
        try:
            with replacing(path) as new:
                new.write_text(text, encoding="utf-8")
        except OSError as error:
            raise InputError(f"The machine can't be saved as {path}: {error.strerror or error}.") from None

    @classmethod
    def load(cls, path: Path | str) -> Self:
        """Return a machine from a TOML or JSON file, or one that comes with evenly.

        Parameters
        ----------
        path : Path or str
            The file; if it does not exist, one of the names in `shipped_machines`.

        Raises
        ------
        ReadError
            If neither such a file nor such a name exists, or the file can't be read or is invalid.

        Examples
        --------
        >>> Machine.load("cloud-16-10g").cores_per_node
        16
        """
        path = check_file(_found(Path(path)))
        try:
            text = path.read_text(encoding="utf-8")
            values = json.loads(text) if path.suffix == ".json" else tomllib.loads(text)
            if not isinstance(values, Mapping):
                raise InputError("a machine file holds names and values")
            return cls.from_dict(values)
        except (OSError, ValueError, TypeError, RecursionError) as error:
            raise ReadError(path, f"a machine file (TOML or JSON) was expected: {error}") from error


def shipped_machines() -> list[str]:
    """Return the names of the machines that come with evenly.

    Examples
    --------
    >>> shipped_machines()
    ['cloud-16-10g', 'cloud-16-25g', 'infiniband', 'two-cores']
    """
    return sorted(path.stem for path in _SHIPPED.glob("*.toml"))


def _plain(value: Any) -> Any:
    return value.to_dict() if isinstance(value, Link) else dict(value) if isinstance(value, Mapping) else value


def _found(path: Path) -> Path:
    """Return the path if the file exists, else the path of the shipped machine of that name."""
    if path.exists():
        return path
    names = shipped_machines()
    if str(path) in names:
        return _SHIPPED / f"{path}.toml"
    hint = did_you_mean(str(path), names)
    raise ReadError(
        path,
        f"there is no such file, and no machine of this name comes with evenly{hint}: give a file (TOML or JSON) or "
        f"one of {', '.join(names)}",
    )


def _toml_file(values: Mapping[str, Any]) -> str:
    """Return the values as TOML text; tables come last, since in TOML all keys after a table's header belong to it."""
    tables = {name: value for name, value in values.items() if isinstance(value, Mapping)}
    lines = [f"{name} = {_toml(value)}" for name, value in values.items() if name not in tables]
    for name, table in tables.items():
        lines += ["", f"[{name}]", *(f"{key} = {_toml(value)}" for key, value in table.items())]
    return "\n".join(lines) + "\n"


def _toml(value: Any) -> str:
    # JSON strings, integers and booleans are valid TOML, except for the character U+007F. So are floats as Python
    # writes them.
    if isinstance(value, float):
        return repr(float(value))
    if isinstance(value, Mapping):
        return f"{{ {', '.join(f'{_toml(key)} = {_toml(item)}' for key, item in value.items())} }}"
    if isinstance(value, list):
        return f"[{', '.join(_toml(item) for item in value)}]"
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
