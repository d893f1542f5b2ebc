"""The machine: what a decision may spend.

A `Machine` says how many nodes there are, what a node holds, and what a core costs. Everything but the name has a
default that means "not known", so that a decision only uses what it was told.
"""

from __future__ import annotations

import dataclasses
import json
import math
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

from evenly.errors import InputError, ReadError

__all__ = ["Machine"]

FORMAT_VERSION = 1


@dataclass(frozen=True)
class Machine:
    """A cluster as decisions see it.

    Parameters
    ----------
    name : str
        How tables and reports call it.
    nodes : int, optional
        Number of nodes that a job may use.
    cores_per_node : int, optional
        Cores of one node.
    memory_bytes_per_node : float, optional
        Memory of one node that programs may use, in bytes.
    price_per_core_hour : float, optional
        What one core costs for an hour, in `currency`.
    watts_per_core : float, optional
        Power of one allocated core, busy or waiting, in watts.
    currency : str
        Name of the unit of `price_per_core_hour`.
    whole_nodes : bool
        Whether jobs pay for every core of a node that they touch.

    Raises
    ------
    InputError
        If a number is not above zero, or `whole_nodes` is asked for without `cores_per_node`.

    Examples
    --------
    >>> machine = Machine("haswell", nodes=20, cores_per_node=28, whole_nodes=True)
    >>> machine.cores, int(machine.billed(30))
    (560, 56)
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

    def __post_init__(self) -> None:
        for name in ("nodes", "cores_per_node"):
            _check_number(name, getattr(self, name), whole=True)
        for name in ("memory_bytes_per_node", "price_per_core_hour", "watts_per_core"):
            _check_number(name, getattr(self, name), whole=False)
        if self.whole_nodes and self.cores_per_node is None:
            raise InputError("whole_nodes needs to know how many cores a node has: give cores_per_node")

    @property
    def cores(self) -> int | None:
        """All cores; None where nodes or cores per node are not known."""
        if self.nodes is None or self.cores_per_node is None:
            return None
        return self.nodes * self.cores_per_node

    def billed(self, cores: Any) -> Any:
        """Return the cores that are paid for when `cores` are used (int, or an integer array of any shape)."""
        if not self.whole_nodes or self.cores_per_node is None:
            return cores
        return -(-cores // self.cores_per_node) * self.cores_per_node

    def to_dict(self) -> dict[str, Any]:
        """Return what is known, for JSON and TOML."""
        known = {k: v for k, v in dataclasses.asdict(self).items() if v is not None}
        return {"format": "evenly.machine", "version": FORMAT_VERSION, **known}

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Self:
        """Read what `to_dict` gives; the keys ``format`` and ``version`` may be left out.

        Raises
        ------
        InputError
            If a key is unknown or a value breaks a rule.
        """
        given = {k: v for k, v in values.items() if k not in ("format", "version")}
        if values.get("version", FORMAT_VERSION) != FORMAT_VERSION:
            raise InputError(
                f"this evenly reads version {FORMAT_VERSION} of machine files, got version {values['version']}"
            )
        allowed = [field.name for field in dataclasses.fields(cls)]
        unknown = [key for key in given if key not in allowed]
        if unknown:
            raise InputError(f"a machine has no {unknown[0]!r}; allowed are {', '.join(allowed)}")
        return cls(**given)

    def save(self, path: Path | str) -> None:
        """Write to `path`: TOML, or JSON where the name ends in ``.json``."""
        path = Path(path)
        values = self.to_dict()
        toml = "".join(f"{key} = {_toml(value)}\n" for key, value in values.items())
        path.write_text(json.dumps(values, indent=1) + "\n" if path.suffix == ".json" else toml, encoding="utf-8")

    @classmethod
    def load(cls, path: Path | str) -> Self:
        """Read a TOML or JSON file.

        Raises
        ------
        ReadError
            If the file can't be read or breaks a rule.
        """
        path = Path(path)
        try:
            text = path.read_text(encoding="utf-8")
            values = json.loads(text) if path.suffix == ".json" else tomllib.loads(text)
            if not isinstance(values, Mapping):
                raise InputError("a machine file holds names and values")
            return cls.from_dict(values)
        except (OSError, ValueError, TypeError) as error:
            raise ReadError(path, f"a machine file (TOML or JSON) was expected: {error}") from error


def _check_number(name: str, value: Any, *, whole: bool) -> None:
    if value is None:
        return
    kinds = (int,) if whole else (int, float)
    if isinstance(value, bool) or not isinstance(value, kinds) or not math.isfinite(value) or value <= 0:
        raise InputError(f"{name} must be a {'whole ' if whole else ''}number above zero, but got {value!r}")


def _toml(value: Any) -> str:
    # JSON's strings, integers and booleans are valid TOML but for one character; Python's floats are.
    if isinstance(value, float):
        return repr(value)
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
