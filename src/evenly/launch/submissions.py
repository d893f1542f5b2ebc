"""Commands that only hand work to something else and end: their wall time is that of the submission."""

from __future__ import annotations

import re
import shlex
from collections.abc import Sequence
from pathlib import PurePath
from typing import Final

from evenly.errors import InputError

__all__ = ["check_waits"]

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
    waits, option, launcher = _SUBMITS[name]
    if not re.search(rf"(?<!\S)({waits})(?!\S)", " ".join(words[1:])):
        raise InputError(
            f"{shown!r} only submits a job, and its time would be that of the submission: give the "
            f'program itself as the command, with name = "{launcher}" in [launcher], so that evenly submits a job for '
            f"each run (docs/cluster.md); or let the command wait for its job: {name} {option}"
        )


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
