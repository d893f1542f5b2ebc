"""Commands that only hand work to something else and end: their wall time is that of the submission."""

from __future__ import annotations

import re
import shlex
import subprocess
from collections.abc import Sequence
from pathlib import PurePath
from typing import Final

from evenly.errors import InputError

__all__ = ["check_waits", "left_job"]

#: Programs that submit jobs: the options with which they wait, the one to propose, and evenly's launcher.
_SUBMITS: Final = {
    "sbatch": (r"--wait|-W", "--wait", "slurm"),
    "qsub": (r"-W ?\S*block=true\S*|-sync [^n]\S*|-I", "-W block=true (PBS) or -sync y (Grid Engine)", "pbs"),
    "bsub": (r"-K|-I[sp]?", "-K", "lsf"),
    "flux batch": (r"--wait\S*|--watch", "--wait", "flux"),
    "flux submit": (r"--wait\S*|--watch", "--wait", "flux"),
}
#: Programs that start containers, which go on alone with this option before the image.
_DETACHES: Final = ("docker run", "podman run")
_DETACHED: Final = re.compile(r"--detach(=true)?|-[it]*d[it]*")
#: Their options that are followed by no value.
_FLAGS: Final = re.compile(r"--(rm|init|privileged|read-only|interactive|tty)|-[it]+")
_SHELLS: Final = ("sh", "bash", "dash", "zsh", "ksh")


#: What submitting programs print; then what stands in the output of those that wait, with the job's number.
_ANSWERS: Final = {
    "sbatch": (r"^Submitted batch job (\d+)", None),
    "qsub": (r"^Your job(?:-array)? ([\d.:-]+) \(.*\) has been submitted", r"^Job \S+ exited"),
    "bsub": (r"^Job <(\d+)> is submitted to", r"<<Waiting for dispatch"),
}
_ANSWER_S: Final = 20.0


def check_waits(words: Sequence[str]) -> None:
    """Raise `InputError` if a command only submits work, so that its time tells nothing of the work.

    Examples
    --------
    >>> check_waits(["sbatch", "--wait", "job.sh"])
    >>> check_waits(["sbatch", "job.sh"])
    Traceback (most recent call last):
    evenly.errors.InputError: 'sbatch job.sh' only submits a job, and its time would be that of the submission: ...
    """
    words = _in_shell(words)
    shown, name = " ".join(words), " ".join([PurePath(words[0]).name, *words[1:2]]) if words else ""
    name = name if name in (*_SUBMITS, *_DETACHES) else name.partition(" ")[0]
    if name in _DETACHES and (option := _detached(words[2:])):
        raise InputError(
            f"{shown!r} starts a container that goes on alone, and its time would be that of the start: "
            f"leave out {option}, so that the command waits for the container's end"
        )
    if name not in _SUBMITS:
        return
    waits = _SUBMITS[name][0]
    if not re.search(rf"(?<!\S)({waits})(?!\S)", " ".join(words[1:])):
        raise InputError(
            f"{shown!r} only submits a job, and its time would be that of the submission: {_instead(name)}"
        )


def _instead(name: str) -> str:
    """Say what to give instead of a program that submits a job."""
    _, option, launcher = _SUBMITS[name]
    return (
        f'give the program itself as the command, with name = "{launcher}" in [launcher], so that evenly submits a job '
        f"for each run (docs/cluster.md); or let the command wait for its job: {name} {option}"
    )


def left_job(output: str) -> str:
    """Return why a run failed that ended before a job which it submitted, by what it printed; "" if there is none.

    Examples
    --------
    >>> left_job("Job <7> is submitted to default queue <normal>.").partition(", and")[0]
    "it submitted a job, as 'Job <7> is submitted to' in its output tells"
    """
    for name, (answer, waited) in _ANSWERS.items():
        found = list(re.finditer(answer, output, re.MULTILINE))
        if found and (_is_queued(found[-1][1]) if waited is None else not re.search(waited, output, re.MULTILINE)):
            return (
                f"it submitted a job, as '{found[-1][0]}' in its output tells, and ended before it: {_instead(name)}. "
                "If the job is no part of the run, don't let this be printed"
            )
    return ""


def _is_queued(number: str) -> bool:
    """Tell whether Slurm hasn't ended a job yet, or doesn't tell."""
    command = ["squeue", "--noheader", "--states=PENDING,CONFIGURING,RUNNING,SUSPENDED", f"--jobs={number}"]
    try:
        told = subprocess.run(command, capture_output=True, text=True, timeout=_ANSWER_S, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return True
    return bool(told.stdout.strip()) or (told.returncode != 0 and "Invalid job id" not in told.stderr)


def _in_shell(words: Sequence[str]) -> Sequence[str]:
    """Return the words of the only command that a shell is given; of another command, its own."""
    if len(words) != 3 or PurePath(words[0]).name not in _SHELLS or not re.fullmatch(r"-[a-z]*c", words[1]):
        return words
    try:
        inner = shlex.split(words[2])
    except ValueError:
        return words
    return words if re.search(r"[;&|\n()]", words[2]) else inner


def _detached(words: Sequence[str]) -> str:
    """Return the option among those before the image with which a container goes on alone; "" if there is none."""
    is_value = False
    for word in words:
        if is_value:
            is_value = False
        elif not word.startswith("-"):
            return ""
        elif _DETACHED.fullmatch(word):
            return word
        else:
            is_value = "=" not in word and not _FLAGS.fullmatch(word)
    return ""
