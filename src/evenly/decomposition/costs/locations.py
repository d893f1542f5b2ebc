"""Paths of cost models: the user's own for this machine, else those that come with evenly.

The folder is ``$EVENLY_HOME``, or else ``evenly`` in the user's data folder (``$XDG_DATA_HOME``, ``~/.local/share``).
Meep's Python uses this module too, and only numpy is certain to be installed there.
"""

from __future__ import annotations

import contextlib
import os
import platform
import re
import shlex
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Literal

from evenly.decomposition.costs.cost_model import CostModel
from evenly.decomposition.costs.terms import few
from evenly.errors import InputError, ReadError

__all__ = [
    "Found", "cost_file", "find_cost", "machine_name", "shipped_file", "store_file", "unmeasured_terms",
    "versions",
]  # fmt: skip


@dataclass(frozen=True)
class Found:
    """A cost model and its source.

    Parameters
    ----------
    cost : CostModel
    source : "calibrated", "shipped" or "file"
        Measured by the user on this machine, shipped with evenly, or read from a file that the user named.
    path : Path
        The file of the model.
    """

    cost: CostModel
    source: Literal["calibrated", "shipped", "file"]
    path: Path

    @property
    def note(self) -> str:
        """A note for the user on the model's source, in one sentence."""
        if self.source == "shipped":
            return (
                f"costs are those that came with evenly, measured on {self.cost.machine}: "
                f"`evenly calibrate {self.cost.program}` measures this machine"
            )
        said = f"costs were measured on {self.cost.machine}" + (f", {self.cost.when[:10]}" if self.cost.when else "")
        others, terms = unmeasured_terms(self.cost), len(self.cost.coefficients)
        if others:
            said += (
                f", but {len(others)} of {terms} terms came with evenly, scaled to its speed: "
                f"`evenly cost show {self._asked}` says which, and a longer `evenly calibrate {self.cost.program}` "
                "measures them"
            )
        # Terms that are measured at all: those of borders between ranks aren't for each program.
        known = CostModel.load(shipped_file(self.cost.program)).coefficients
        if lacking := [name for name in known if name not in self.cost.coefficients]:
            said += (
                f"; terms of newer versions of evenly are missing ({few(lacking)}): cells that have these are "
                f"predicted too fast until `evenly calibrate {self.cost.program}` measures them"
            )
        return said

    @property
    def _asked(self) -> str:
        """What `evenly cost show` is asked with to show this model."""
        if self.source == "file":
            return f"--cost {shlex.quote(str(self.path))}"
        return f"--program {self.cost.program}"


def home() -> Path:
    """Return the folder of the user's files that evenly keeps."""
    if os.environ.get("EVENLY_HOME"):
        return Path(os.environ["EVENLY_HOME"])
    data = os.environ.get("XDG_DATA_HOME")
    return (Path(data) if data else Path.home() / ".local" / "share") / "evenly"


def machine_name() -> str:
    """Return a text that identifies this machine: its name and its processor."""
    return f"{platform.node() or 'unknown'} ({_processor()})"


def versions(*packages: str) -> dict[str, str]:
    """Return the versions of Python and of the given packages, by name; packages that aren't installed are left out.

    Examples
    --------
    >>> sorted(versions("numpy", "no-such-package"))
    ['numpy', 'python']
    """
    found = {"python": platform.python_version()}
    for package in packages:
        with contextlib.suppress(PackageNotFoundError):
            found[package] = version(package)
    return found


def cost_file(program: str) -> Path:
    """Return the path of the user's cost model of a program for this machine."""
    name = re.sub(r"[^A-Za-z0-9.-]+", "-", platform.node() or "machine")
    return home() / "costs" / f"{program}.{name}.json"


def store_file(program: str) -> Path:
    """Return the path of the timings of a calibration in progress."""
    return cost_file(program).with_suffix(".timings.jsonl")


def shipped_file(program: str) -> Path:
    """Return the path of a program's cost model that comes with evenly."""
    return Path(__file__).parent / "shipped" / f"{program}.json"


def unmeasured_terms(cost: CostModel) -> list[str]:
    """Return the terms that occur in none of a model's calibration runs.

    Their coefficients are the shipped ones, scaled to this machine's speed. The list is empty for a model without runs,
    since the source of its coefficients isn't known.

    Examples
    --------
    >>> from evenly.decomposition.costs.cost_model import Coefficient
    >>> row = {"amounts": {"points": 1000.0}, "seconds": 3e-6}
    >>> costs = {"points": Coefficient(3e-9), "rows": Coefficient(4e-8)}
    >>> unmeasured_terms(CostModel("fdtd", costs, measured=(row,)))
    ['rows']
    """
    told = {name for row in cost.measured for name, amount in row["amounts"].items() if amount}
    return [name for name in cost.coefficients if name not in told] if told else []


def find_cost(program: str | None, path: Path | str | None = None) -> Found:
    """Return a program's cost model: from a given file, else the user's for this machine, else the shipped one.

    Parameters
    ----------
    program : str or None
        The program. With None, a given file may be for any program; without a file it means ``"fdtd"``.
    path : Path or str, optional
        The file.

    Raises
    ------
    ReadError
        If the file can't be read; the message tells how to get another one.
    InputError
        If the file holds the costs of another program.
    """
    needed = program or "fdtd"
    source: Literal["calibrated", "shipped", "file"] = "file"
    remedy = f"name another one, or make one with `evenly calibrate {needed} --save FILE`"
    if path is None:
        program, path, source = needed, cost_file(needed), "calibrated"
        remedy = f"measure anew with `evenly calibrate {needed}`, or delete it to use the costs that came with evenly"
        if not path.exists():
            own, path, source, remedy = path, shipped_file(needed), "shipped", "install evenly again"
            if not path.exists():
                raise ReadError(own, f"{needed} was not calibrated on this machine: run `evenly calibrate {needed}`")
    try:
        cost = CostModel.load(path)
    except ReadError as error:
        raise ReadError(path, f"{error.reason}: {remedy}") from error
    if program not in (None, cost.program):
        raise InputError(
            f"{path}: costs of {program} are needed, but the file holds those of {cost.program}: name a file of "
            f"{program} (`evenly calibrate {program} --save FILE` makes one), or ask for {cost.program}"
        )
    return Found(cost, source, Path(path))


def _processor() -> str:
    try:
        for line in Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace").splitlines():
            if line.startswith("model name"):
                return " ".join(line.partition(":")[2].split())
    except OSError:
        pass
    return platform.processor() or platform.machine() or "unknown processor"
