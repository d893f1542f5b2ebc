"""Programs as jobs of LSF: one job for each task (`evenly.launch.batch`).

Formats of commands and their output follow IBM Spectrum LSF's command reference (``bsub``, ``bjobs``, ``bkill``). A job
asks for a slot for each core.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import ClassVar, final

from evenly.errors import InputError
from evenly.launch.base import Task
from evenly.launch.batch import BatchLauncher, Ended, Waiting, call, limit_minutes, options_text

__all__ = ["LSF"]

#: Words in the reason why LSF ended a job.
_ENDS = {
    "TERM_RUNLIMIT": "time limit", "TERM_MEMLIMIT": "out of memory", "TERM_SWAP": "out of memory",
    "TERM_OWNER": "cancelled", "TERM_ADMIN": "cancelled", "TERM_FORCE_OWNER": "cancelled",
    "TERM_FORCE_ADMIN": "cancelled", "TERM_DEADLINE": "deadline", "TERM_PREEMPT": "preempted",
    "TERM_REQUEUE": "preempted", "TERM_HOST": "node failed", "TERM_UNKNOWN": "failed",
}  # fmt: skip


@final
class LSF(BatchLauncher):
    """Submits a job for each task with ``bsub``, and waits for its outcome."""

    name: ClassVar[str] = "lsf"
    summary: ClassVar[str] = "as jobs of LSF, one for each run"
    title: ClassVar[str] = "LSF"
    taken: ClassVar[Mapping[str, str]] = {
        "n": "ranks", "W": "time_limit", "M": "memory", "q": "partition", "P": "account", "x": "exclusive",
        "J": "", "o": "", "oo": "", "e": "", "eo": "", "K": "", "I": "", "r": "", "cwd": "",
        "Ip": "", "Is": "", "i": "", "H": "",
    }  # fmt: skip
    accepted: ClassVar[re.Pattern[str]] = re.compile(r"Job <(\d+)> is submitted")
    later: ClassVar[re.Pattern[str]] = re.compile(
        r"timed out|try again|limit reached|lsf is down|not responding|temporarily", re.IGNORECASE
    )
    elsewhere: ClassVar[re.Pattern[str]] = re.compile(
        r"lsf\.conf|unknown cluster|host does not belong|unable to open file", re.IGNORECASE
    )

    def submission(self, task: Task) -> list[str]:
        asked = task.resources
        ranks = task.places
        each = asked.cores_per_rank or 1
        on_node = asked.ranks_per_node or (math.ceil(ranks / asked.nodes) if asked.nodes else None)
        if asked.nodes and on_node and math.ceil(ranks / on_node) != asked.nodes:
            raise InputError(
                f"LSF fills nodes one after another: {ranks} ranks, {on_node} on each, don't take {asked.nodes} nodes: "
                "give ranks that are a multiple of the nodes, or ranks_per_node"
            )
        given: list[tuple[str, object]] = [
            ("n", ranks * each),
            ("R", f"span[ptile={on_node * each}]" if on_node else None),
            ("W", limit_minutes(task)),
            ("M", asked.memory or None),
            ("R", f"rusage[mem={asked.memory}]" if asked.memory else None),
            ("q", asked.partition or None),
            ("P", asked.account or None),
            ("x", "" if asked.exclusive else None),
        ]
        return ["bsub", "-rn", *options_text([*given, *asked.options.items()], "-", " ")]

    def named(self, name: str, folder: Path, output: Path, script: Path) -> tuple[list[str], str]:
        # A command would go through a shell; the script comes as input.
        return ["-J", name, "-o", str(output), "-cwd", str(folder)], script.read_text(encoding="utf-8")

    def queue(self, name: str = "") -> list[Waiting] | None:
        done = call(["bjobs", *(["-J", name] if name else []), "-noheader", "-o", "jobid stat"])
        if done.returncode != 0 and not re.search(r"No unfinished job|is not found", done.stderr + done.stdout):
            return None
        return [Waiting(line.split()[0]) for line in done.stdout.splitlines() if line.strip()[:1].isdigit()]

    def ended(self, number: str) -> Ended:
        fields = "stat exit_code run_time exit_reason delimiter='|'"
        told = call(["bjobs", "-a", "-noheader", "-o", fields, number]).stdout.strip()
        if told.count("|") < 3:
            return Ended()
        state, code, lasted, why = told.splitlines()[0].split("|", maxsplit=3)
        seconds = float((re.match(r"[\d.]+", lasted) or ["0"])[0])
        if state == "DONE":
            return Ended("completed", 0, seconds)
        how = next((how for word, how in _ENDS.items() if word in why), "failed")
        return Ended(how, int(code) if code.strip().isdigit() else 1, seconds)

    def cancellation(self, numbers: Sequence[str]) -> list[str]:
        return ["bkill", *numbers]
