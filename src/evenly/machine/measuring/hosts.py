"""The hosts of this process's scheduler allocation (Slurm, PBS, Grid Engine, LSF or OAR)."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from pathlib import Path

__all__ = ["allocated_hosts", "expanded"]

_FILES = ("PBS_NODEFILE", "PE_HOSTFILE", "OAR_NODEFILE")
_ITEM = re.compile(r"(?:[^,\[]|\[[^\]]*\])+")
_RANGE = re.compile(r"\[([^\]]*)\]")


def allocated_hosts(environment: Mapping[str, str] | None = None) -> list[str]:
    """Return the names of the allocation's hosts, each once; an empty list outside of an allocation.

    Parameters
    ----------
    environment : mapping, optional
        Environment variables; by default those of this process.

    Examples
    --------
    >>> allocated_hosts({"SLURM_JOB_NODELIST": "n[08-10],gpu1"}), allocated_hosts({"LSB_HOSTS": "a a b"})
    (['n08', 'n09', 'n10', 'gpu1'], ['a', 'b'])
    """
    given = os.environ if environment is None else environment
    if given.get("SLURM_JOB_NODELIST"):
        return expanded(given["SLURM_JOB_NODELIST"])
    for variable in _FILES:
        if given.get(variable):
            return _first_words(Path(given[variable]))
    return list(dict.fromkeys(given.get("LSB_HOSTS", "").split()))


def expanded(text: str) -> list[str]:
    """Return the host names of a compact Slurm host list.

    Examples
    --------
    >>> expanded("r[1-2]n[01,03]")
    ['r1n01', 'r1n03', 'r2n01', 'r2n03']
    """
    return list(dict.fromkeys(name for item in _ITEM.findall(text) for name in _names(item)))


def _names(item: str) -> Iterator[str]:
    found = _RANGE.search(item)
    if found is None:
        yield item.strip()
        return
    for part in found[1].split(","):
        low, _, high = part.strip().partition("-")
        numbers = range(int(low), int(high or low) + 1) if low.isdecimal() else ()
        for number in numbers:
            yield from _names(f"{item[: found.start()]}{number:0{len(low)}d}{item[found.end() :]}")


def _first_words(path: Path) -> list[str]:
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except OSError:
        return []
    return list(dict.fromkeys(line.split()[0] for line in lines if line.strip()))
