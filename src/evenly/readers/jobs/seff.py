"""What Slurm's ``seff`` prints about a job, also where it stands in a page of text; one or many in a file."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import ClassVar

import numpy as np
import pandas as pd

from evenly.errors import ReadError
from evenly.readers.files import head, is_file, lines, plain_suffix
from evenly.readers.jobs.job_reader import JobReader
from evenly.readers.jobs.jobs import Jobs
from evenly.readers.slurm_texts import durations, sizes, state

__all__ = ["SeffReader"]

_LINE = re.compile(
    r"^[\s>#|*]*(Job ID|Array Job ID|Cluster|User/Group|State|Nodes|Cores(?: per node)?|CPU Utilized|CPU Efficiency|"
    r"Job Wall-clock time|Memory Utilized|Memory Efficiency):\s*(.*?)\s*$"
)
_WALLTIME = re.compile(r"% of (\S+) core-walltime")
#: Where a page of text may hold it beyond its first few kilobytes.
_PAGES = (".md", ".rst", ".html", ".txt", ".out", ".log")
_LAST = "Job Wall-clock time"


@dataclass
class _Block:
    """What one output says, by the word before the colon, and where each stands."""

    line: int
    values: dict[str, str] = field(default_factory=dict)
    lines: dict[str, int] = field(default_factory=dict)


class SeffReader(JobReader):
    r"""Reads the output of ``seff``.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "seff.txt"
    >>> _ = path.write_text('''Job ID: 12
    ... State: COMPLETED (exit code 0)
    ... Nodes: 2
    ... Cores per node: 16
    ... CPU Utilized: 00:10:00
    ... CPU Efficiency: 31.25% of 00:32:00 core-walltime
    ... Job Wall-clock time: 00:01:00
    ... Memory Utilized: 1.5 GB
    ... ''')
    >>> SeffReader().read(path)[""]
    Runs(1 rows, 1 configurations of cores; seconds 60 to 60 s)
    """

    name: ClassVar[str] = "seff"
    summary: ClassVar[str] = "Slurm's seff, one or many outputs in a file or a page"

    def recognises(self, path: Path) -> bool:
        start = head(path)
        if not start:
            return False
        if _has_block(start):
            return True
        return plain_suffix(path) in _PAGES[:3] and is_file(path) and _has_block(_whole(path))

    def jobs(self, path: Path) -> Jobs:
        blocks = _blocks(lines(path))
        if not blocks:
            raise ReadError(path, "there is no output of seff in it, which begins with 'Job ID:'")
        rows = [_row(path, block) for block in blocks]
        table = pd.DataFrame(rows)
        once = table.drop_duplicates(ignore_index=True)
        notes = [f"{len(rows) - len(once)} outputs repeat another one and count once"] if len(once) < len(rows) else []
        return Jobs.of({str(name): column for name, column in once.items()}, notes)


def _whole(path: Path) -> str:
    try:
        return "\n".join(lines(path))
    except ReadError:
        return ""


def _has_block(text: str) -> bool:
    words = {found[1] for line in text.splitlines() if (found := _LINE.match(line))}
    return "Job ID" in words and len(words) >= 4 and bool(words & {"CPU Utilized", "CPU Efficiency", _LAST})


def _blocks(content: list[str]) -> list[_Block]:
    blocks: list[_Block] = []
    for number, line in enumerate(content, 1):
        found = _LINE.match(line)
        if found is None:
            continue
        if found[1] == "Job ID":
            blocks.append(_Block(number))
        if blocks and found[1] not in blocks[-1].values:
            blocks[-1].values[found[1]] = found[2].split("<=")[0].strip()
            blocks[-1].lines[found[1]] = number
    return [block for block in blocks if len(block.values) > 1]


def _row(path: Path, block: _Block) -> dict[str, object]:
    values = block.values
    name = values.get("Array Job ID") or values["Job ID"]
    if _LAST not in values:
        raise ReadError(path, f"the output about job {name} is cut off: '{_LAST}:' should follow", line=block.line)
    wall, total = _seconds(path, block, _LAST, values[_LAST]), _core_seconds(path, block)
    nodes = _count(values.get("Nodes", ""))
    cores = (
        _count(values.get("Cores per node", "")) * (nodes if nodes > 0 else 1.0)
        if "Cores per node" in values
        else _count(values.get("Cores", ""))
    )
    if total > 0 and wall > 0 and abs(total - cores * wall) > 0.5 * wall:
        raise ReadError(
            path,
            f"job {name}: {cores:g} cores for {wall:g} s are not the {total:g} s of core-walltime that stand there",
            line=block.lines[_LAST],
        )
    memory = sizes(pd.Series([values.get("Memory Utilized", "").split(" (")[0]]), np.ones(1), np.ones(1))
    user = values.get("User/Group", "").split("/")
    return {
        "id": name, "user": user[0], "cluster": values.get("Cluster", ""),
        "state": state(values.get("State", "")), "elapsed_s": wall, "cores": cores, "nodes": nodes,
        "peak_memory": float(memory[0]),
    }  # fmt: skip


def _count(text: str) -> float:
    try:
        return float(text) if float(text) > 0 else np.nan
    except ValueError:
        return np.nan


def _seconds(path: Path, block: _Block, word: str, text: str) -> float:
    try:
        return float(durations(pd.Series([text]))[0])
    except ValueError as error:
        raise ReadError(path, str(error.args[0]), line=block.lines[word]) from None


def _core_seconds(path: Path, block: _Block) -> float:
    word = "CPU Efficiency"
    found = _WALLTIME.search(block.values.get(word, ""))
    return _seconds(path, block, word, found[1]) if found else np.nan
