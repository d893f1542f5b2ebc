"""Programs as jobs of Flux: one job for each task (`evenly.launch.batch`).

Formats of commands and their output follow the manual pages of flux-core (``flux batch``, ``flux jobs``,
``flux cancel``). A job asks for a slot of cores for each rank; Flux has no limits of memory.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import ClassVar, final

from evenly.launch.base import Resources, Task
from evenly.launch.batch import BatchLauncher, Ended, Waiting, call, limit_minutes, options_text, plain

__all__ = ["Flux"]

_ENDS = {"COMPLETED": "completed", "FAILED": "failed", "CANCELED": "cancelled", "TIMEOUT": "time limit"}


@final
class Flux(BatchLauncher):
    """Submits a job for each task with ``flux batch``, and waits for its outcome."""

    name: ClassVar[str] = "flux"
    summary: ClassVar[str] = "as jobs of Flux, one for each run"
    title: ClassVar[str] = "Flux"
    uses: ClassVar[frozenset[str]] = frozenset(Resources.__dataclass_fields__) - {"memory", "ranks_per_node"}
    taken: ClassVar[Mapping[str, str]] = {
        "nslots": "ranks", "cores-per-slot": "cores_per_rank", "time-limit": "time_limit", "queue": "partition",
        "bank": "account", "error": "", "cwd": "", "wrap": "", "flags": "",
    }  # fmt: skip
    accepted: ClassVar[re.Pattern[str]] = re.compile(r"(?m)^([ƒf]\w+)\s*$")
    later: ClassVar[re.Pattern[str]] = re.compile(r"timed out|try again|temporar|connection reset", re.IGNORECASE)
    elsewhere: ClassVar[re.Pattern[str]] = re.compile(
        r"unable to connect|no such file or directory: .*socket|broker", re.IGNORECASE
    )
    hint: ClassVar[str] = ", or set FLUX_URI"

    def submission(self, task: Task) -> list[str]:
        asked, minutes = task.resources, limit_minutes(task)
        given = {
            "nslots": task.places,
            "cores-per-slot": asked.cores_per_rank or 1,
            "nodes": asked.nodes,
            "time-limit": None if minutes is None else f"{minutes}m",
            "queue": asked.partition or None,
            "bank": asked.account or None,
            "exclusive": "" if asked.exclusive else None,
        }
        return ["flux", "batch", *options_text([*given.items(), *asked.options.items()])]

    def named(self, name: str, folder: Path, output: Path, script: Path) -> tuple[list[str], str]:
        return [f"--job-name={name}", f"--output={output}", f"--cwd={folder}", str(script)], ""

    def queue(self, name: str = "") -> list[Waiting] | None:
        only = [f"--name={name}"] if name else []
        done = call(["flux", "jobs", "--no-header", "--count=0", *only, "--format={id.f58}"])
        return None if done.returncode != 0 else [Waiting(plain(number)) for number in done.stdout.split()]

    def ended(self, number: str) -> Ended:
        told = call(
            ["flux", "jobs", "--no-header", "--format={result} {returncode} {runtime!F}", number]
        ).stdout.split()
        if not told or told[0] not in _ENDS:
            return Ended()
        code = told[1] if len(told) > 1 else ""
        seconds = re.match(r"[\d.]+(?=s?$)", told[2]) if len(told) > 2 else None
        return Ended(_ENDS[told[0]], int(code) if code.isdigit() else 1, float(seconds[0]) if seconds else 0.0)

    def cancellation(self, numbers: Sequence[str]) -> list[str]:
        return ["flux", "cancel", *numbers]
