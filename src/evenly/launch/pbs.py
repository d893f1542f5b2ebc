"""Programs as jobs of PBS (OpenPBS, PBS Professional): one job for each task (`evenly.launch.batch`).

Formats of commands and their output follow the PBS Professional User's Guide and the manual pages of ``qsub``,
``qselect``, ``qstat`` and ``qdel``. A job asks for chunks of cores, ``-l select=2:ncpus=32:mpiprocs=32``.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import ClassVar, final

from evenly.errors import InputError
from evenly.launch.base import Task
from evenly.launch.batch import BatchLauncher, Ended, Waiting, call, limit_minutes, options_text, user
from evenly.runs.durations import parse

__all__ = ["PBS", "chunks"]

#: Exit statuses of jobs that PBS itself ended.
_ENDS = {-26: "out of memory", -27: "out of memory", -29: "time limit"}
#: SIGTERM and SIGKILL, as PBS counts signals: 128 or 256 and the signal. `qdel` sends them.
_KILLED = {128 + 15, 256 + 15, 128 + 9, 256 + 9}


#: Words in the values of options that evenly itself gives.
_OWN = {
    "l": re.compile(r"\b(?:select|walltime|nodes|ncpus|mpiprocs|mem|place)="),
    "W": re.compile(r"\b(?:block|depend|run_count)="),
}


@final
class PBS(BatchLauncher):
    """Submits a job for each task with ``qsub``, and waits for its outcome."""

    name: ClassVar[str] = "pbs"
    summary: ClassVar[str] = "as jobs of PBS, one for each run"
    title: ClassVar[str] = "PBS"
    taken: ClassVar[Mapping[str, str]] = {
        "q": "partition", "A": "account", "N": "", "o": "", "e": "", "j": "", "J": "", "r": "", "V": "",
        "I": "", "z": "", "h": "",
    }  # fmt: skip
    accepted: ClassVar[re.Pattern[str]] = re.compile(r"(?m)^(\d+(?:\.\S+)?)\s*$")
    later: ClassVar[re.Pattern[str]] = re.compile(
        r"timed out|try again|connection refused|would exceed .* limit|premature end of message", re.IGNORECASE
    )
    elsewhere: ClassVar[re.Pattern[str]] = re.compile(
        r"unknown host|could not find server|pbs_default|cannot connect to server", re.IGNORECASE
    )

    def submission(self, task: Task) -> list[str]:
        asked, minutes = task.resources, limit_minutes(task)
        place = ":".join(
            [*(["scatter"] if asked.nodes or asked.ranks_per_node else []), *(["excl"] if asked.exclusive else [])]
        )
        lists = [
            f"select={chunks(task)}",
            *([f"walltime={minutes // 60:02}:{minutes % 60:02}:00"] if minutes else []),  # without days
            *([f"place={place}"] if place else []),
        ]
        for option, words in _OWN.items():
            if found := words.search(str(asked.options.get(option, ""))):
                raise InputError(
                    f"the option {option} of PBS may not hold {found[0]!r}: nodes, ranks, memory and time_limit in "
                    "[launcher] say it, and each run is a job that ends by itself"
                )
        given = [*(("l", text) for text in lists), ("q", asked.partition or None), ("A", asked.account or None)]
        return ["qsub", "-r", "n", "-V", *options_text([*given, *asked.options.items()], "-", " ")]

    def named(self, name: str, folder: Path, output: Path, script: Path) -> tuple[list[str], str]:  # noqa: ARG002
        return ["-N", name, "-j", "oe", "-o", str(output), str(script)], ""

    def queue(self, name: str = "") -> list[Waiting] | None:
        done = call(["qselect", *(["-N", name] if name else []), "-u", user()])
        return None if done.returncode != 0 else [Waiting(number) for number in done.stdout.split()]

    def ended(self, number: str) -> Ended:
        told = call(["qstat", "-x", "-f", number]).stdout
        state, code = re.search(r"\bjob_state = (\w)", told), re.search(r"\bExit_status = (-?\d+)", told)
        lasted = re.search(r"\bresources_used\.walltime = ([\d:]+)", told)
        if state is None:
            return Ended()
        seconds = parse(lasted[1]) if lasted else 0.0
        seconds = seconds if math.isfinite(seconds) else 0.0
        if code is None:  # it was deleted before it began
            return Ended("cancelled", 1, seconds)
        status = int(code[1])
        how = _ENDS.get(status, "cancelled" if status in _KILLED else "completed" if status == 0 else "failed")
        return Ended(how, status % 128 + 128 if status > 255 else status, seconds)

    def cancellation(self, numbers: Sequence[str]) -> list[str]:
        return ["qdel", *numbers]


def chunks(task: Task) -> str:
    """Return the chunks of cores that a task asks for: one for each node where nodes are given, else one for each rank.

    Raises
    ------
    InputError
        If memory is given, which is that of a node, but not how ranks are spread over nodes; if there are fewer ranks
        than nodes.

    Examples
    --------
    >>> from evenly.launch.base import Resources
    >>> chunks(Task(("solve",), "m", ranks=5, resources=Resources(nodes=2, memory="4gb")))
    '1:ncpus=3:mpiprocs=3:mem=4gb+1:ncpus=2:mpiprocs=2:mem=4gb'
    >>> chunks(Task(("solve",), "m", ranks=8, resources=Resources(cores_per_rank=2)))
    '8:ncpus=2:mpiprocs=1'
    """
    asked = task.resources
    ranks = task.places
    if asked.nodes is not None and ranks < asked.nodes:
        raise InputError(f"nodes must be at most the {ranks} ranks, but got {asked.nodes}: each node runs a rank")
    each, memory = asked.cores_per_rank or 1, f":mem={asked.memory}" if asked.memory else ""
    if asked.nodes is None and asked.ranks_per_node is None:
        if memory and ranks > 1:
            raise InputError("memory is that of a node, and PBS doesn't know how many ranks a node gets: give nodes")
        return f"{ranks}:ncpus={each}:mpiprocs=1{memory}"
    nodes = asked.nodes or math.ceil(ranks / (asked.ranks_per_node or 1))
    if asked.ranks_per_node is not None:
        parts = [(nodes, asked.ranks_per_node)]
    else:
        fewer, rest = divmod(ranks, nodes)
        parts = [(rest, fewer + 1), (nodes - rest, fewer)]
    return "+".join(f"{n}:ncpus={k * each}:mpiprocs={k}{memory}" for n, k in parts if n and k)
