"""Where cost models are kept: the user's own of this machine, else those that come with evenly.

The folder is ``$EVENLY_HOME``, or ``evenly`` in the user's data folder (``$XDG_DATA_HOME``, ``~/.local/share``).
"""

from __future__ import annotations

import contextlib
import os
import platform
import re
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Literal

from evenly.balance.cost.model import CostModel
from evenly.errors import ReadError

__all__ = ["Found", "cost_file", "find_cost", "load_cost", "machine_name", "shipped_file", "store_file", "versions"]


@dataclass(frozen=True)
class Found:
    """A cost model and where it came from.

    Parameters
    ----------
    cost : CostModel
    source : "calibrated", "shipped" or "file"
        Measured by the user on this machine, measured elsewhere by evenly's authors, or named by the user.
    path : Path
    """

    cost: CostModel
    source: Literal["calibrated", "shipped", "file"]
    path: Path

    @property
    def note(self) -> str:
        """What a user should know about it, one sentence."""
        if self.source == "shipped":
            return (
                f"costs are those that came with evenly, measured on {self.cost.machine}: "
                f"`evenly calibrate {self.cost.program}` measures this machine"
            )
        return f"costs were measured on {self.cost.machine}" + (f", {self.cost.when[:10]}" if self.cost.when else "")


def home() -> Path:
    """Return the folder for what evenly keeps of a user."""
    if os.environ.get("EVENLY_HOME"):
        return Path(os.environ["EVENLY_HOME"])
    data = os.environ.get("XDG_DATA_HOME")
    return (Path(data) if data else Path.home() / ".local" / "share") / "evenly"


def machine_name() -> str:
    """Return what tells this kind of machine from others: its name, and its processor's."""
    return f"{platform.node() or 'unknown'} ({_processor()})"


def versions(*packages: str) -> dict[str, str]:
    """Return the versions of Python and of those of the packages that are installed.

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
    """Return where the user's calibration of a program on this machine is kept."""
    name = re.sub(r"[^A-Za-z0-9.-]+", "-", platform.node() or "machine")
    return home() / "costs" / f"{program}.{name}.json"


def store_file(program: str) -> Path:
    """Return where the timings of a calibration that is under way are kept."""
    return cost_file(program).with_suffix(".timings.jsonl")


def shipped_file(program: str) -> Path:
    """Return where the costs that come with evenly are."""
    return Path(__file__).parent / "shipped" / f"{program}.json"


def find_cost(program: str, path: Path | str | None = None) -> Found:
    """Return the costs of a program: from a file if one is named, else the user's of this machine, else the shipped.

    Raises
    ------
    ReadError
        If the file can't be read.
    """
    if path is not None:
        return Found(CostModel.load(path), "file", Path(path))
    own = cost_file(program)
    if own.exists():
        return Found(CostModel.load(own), "calibrated", own)
    shipped = shipped_file(program)
    if not shipped.exists():
        raise ReadError(own, f"{program} was not calibrated on this machine: run `evenly calibrate {program}`")
    return Found(CostModel.load(shipped), "shipped", shipped)


def load_cost(program: str) -> CostModel:
    """Return the costs of a program that fit this machine best; `find_cost` also tells where they came from."""
    return find_cost(program).cost


def _processor() -> str:
    try:
        for line in Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace").splitlines():
            if line.startswith("model name"):
                return " ".join(line.partition(":")[2].split())
    except OSError:
        pass
    return platform.processor() or platform.machine() or "unknown processor"
