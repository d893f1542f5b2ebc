r"""The output of a job's ranks: passed on as it arrives, stored, and without the launcher's own remarks.

Ranks tell the process that supervises them where they are, what they saved and that they end, on their error output,
which any launcher passes on from any host. `Death` reads it and says which rank was killed, or left before its end.

>>> without_remarks("Abort(2) on node 1 (rank 1 in comm 0): application called MPI_Abort(...)\n")
''
"""

from __future__ import annotations

import json
import os
import platform
import re
from codecs import getincrementaldecoder
from collections import deque
from collections.abc import Callable, Collection
from contextlib import suppress
from pathlib import Path
from typing import Any, TextIO

__all__ = ["MARK", "Death", "Stream", "process_space", "tell_supervisor", "without_remarks"]

# The variable that holds a job's mark, in the environment of all its processes.
MARK = "EVENLY_JOB"

# Number of characters that are stored: enough for any error, but a job with much output doesn't fill the memory.
KEPT = 4_000_000

# Characters after which a line is passed on in pieces. What launchers remark is shorter.
LONG = 50_000

_REMARKS = re.compile(
    r"^(?:"
    r"Abort\(-?\d+\) on node \d+.*"
    r"|application called MPI_Abort.*"
    r"|={80,}"
    r"|=   (?:BAD TERMINATION|PID|EXIT CODE|CLEANING UP|YOU CAN IGNORE|RANK|KILLED BY).*"
    r"|YOUR APPLICATION TERMINATED WITH THE EXIT STRING.*"
    r"|This typically refers to a problem with your application\."
    r"|Please see the FAQ page for debugging suggestions"
    r"|\[proxy:.*|\[mpiexec@.*"
    r"|(?:Sending Ctrl-C to processes|Press Ctrl-C again).*"
    r"|MPI_ABORT was invoked on rank.*|with errorcode -?\d+\.|NOTE: invoking MPI_ABORT.*"
    r"|You may or may not see output from other processes.*|exactly when Open MPI kills them\."
    r"|\w+ noticed that process rank \d+ with PID .*"
    r"|srun: error: \S+: tasks? \d+: (?:Killed|Out Of Memory|Segmentation fault).*"
    r"|-{70,}"
    r")\s*$"
)

# What launchers say of a killed process: MPICH's in two lines, Open MPI's and Slurm's in one.
_PROCESS = re.compile(r"^=   PID (?P<pid>\d+) RUNNING AT (?P<host>\S+)")
_KILLED = re.compile(
    r"^YOUR APPLICATION TERMINATED WITH THE EXIT STRING: (?P<how>.*)"
    r"|^\w+ noticed that process rank (?P<rank>\d+) with PID \d+ on node (?P<host>\S+) exited on (?P<signal>.*?)\.?$"
    r"|^srun: error: (?P<node>\S+): tasks? (?P<task>\d+): (?P<what>Killed|Out Of Memory|Segmentation fault.*)"
)
_NOTE = "evenly tells its supervisor: "
_to_supervisor: list[int] = []


def without_remarks(line: str) -> str:
    r"""Return a line of a job's output, or an empty text if it is a remark of the launcher about an ended job.

    Examples
    --------
    >>> without_remarks("rank 2 of 4: the rule was broken\n")
    'rank 2 of 4: the rule was broken\n'
    """
    return "" if _REMARKS.match(line) else line


def process_space() -> str | None:
    """Return what tells on Linux whether two processes of a host know each other's numbers (a container may not).

    Examples
    --------
    >>> process_space() == process_space()
    True
    """
    with suppress(OSError):
        return str(Path("/proc/self/ns/pid").readlink())
    return None


def tell_supervisor(**facts: Any) -> None:
    """Tell facts to the process that supervises this job, if there is one; see `Death`.

    Examples
    --------
    >>> tell_supervisor(rank=0, host="node1", pid=4711)
    """
    if os.environ.get(MARK):
        if not _to_supervisor:
            # A script may send its error output elsewhere.
            _to_supervisor.append(os.dup(2))
        # At once, so that lines of several ranks don't mix.
        with suppress(OSError):
            os.write(_to_supervisor[0], f"{_NOTE}{json.dumps(facts)}\n".encode())


class Death:
    r"""Finds out from a job's error output which rank was killed, and from where the job can go on.

    Examples
    --------
    >>> death = Death()
    >>> death.keep("=   PID 4711 RUNNING AT node1\n")
    ''
    >>> death.keep('evenly tells its supervisor: {"rank": 2, "host": "node1", "pid": 4711}\n')
    ''
    >>> death.keep("YOUR APPLICATION TERMINATED WITH THE EXIT STRING: Killed (signal 9)\n")
    ''
    >>> print(death.message().partition(".")[0])
    rank 2 on host node1 was killed: Killed (signal 9)
    """

    def __init__(self) -> None:
        self._ranks: dict[tuple[str, int], int] = {}
        self._ended: set[int] = set()
        self._beside: dict[int, int] = {}
        #: What the launcher said of its own troubles, the last lines.
        self.remarks: deque[str] = deque(maxlen=8)
        self._process: tuple[str, int] | None = None
        self._found: dict[str, str] | None = None
        self._saved: dict[str, Any] | None = None

    def keep(self, line: str) -> str:
        """Take a line, and return what of it the user shall see."""
        # What was written before may lack its end of line.
        shown, note, facts = line.partition(_NOTE)
        if note:
            with suppress(ValueError):
                self._note(json.loads(facts))
            return shown
        if found := _PROCESS.match(line):
            self._process = found["host"], int(found["pid"])
        elif found := _KILLED.match(line):
            self._found = {name: text for name, text in found.groupdict().items() if text}
        shown = without_remarks(line)
        if not shown and line[:1] == "[":  # such as [mpiexec@host] and [proxy:0@host]
            self.remarks.append(line.strip())
        return shown

    @property
    def began(self) -> bool:
        """Whether a rank has told that it is there."""
        return bool(self._ranks)

    def _note(self, facts: dict[str, Any]) -> None:
        if "rank" in facts:
            self._ranks[facts["host"], facts["pid"]] = facts["rank"]
            if facts["host"] == platform.node() and facts.get("space") == process_space() is not None:
                self._beside[facts["pid"]] = facts["rank"]
        elif "ended" in facts:
            self._ended.add(facts["ended"])
        else:
            self._saved = facts

    def message(self) -> str | None:
        """Return what was killed where, what was saved, and what to do; None if nothing was killed."""
        if self._found is None:
            return None
        found = self._found
        how = found.get("how") or found.get("signal") or found.get("what") or ""
        text = f"{self._who(found)} was killed: {how}."
        if any(word in how for word in ("signal 9", "Killed", "Memory")):
            told = ": `sim.estimated_bytes()` tells what each rank needs" if self._ranks else ""
            text += f" If nobody did it, memory ran out{told}."
        return self._with_next_step(text)

    def unended(self) -> set[int]:
        """Return the process numbers of the ranks beside this process that haven't said yet that they end."""
        return {pid for pid, rank in self._beside.items() if rank not in self._ended}

    def desertion(self, gone: Collection[int] = ()) -> str | None:
        r"""Return which ranks never said that they end, and what to do; None if all that began did.

        Launchers take a rank that leaves by ``os._exit(0)`` for one that succeeded, or wait for it for ever.

        Parameters
        ----------
        gone : collection of int
            Process numbers of those that went first, if they are known.

        Examples
        --------
        >>> death = Death()
        >>> _ = death.keep('evenly tells its supervisor: {"rank": 2, "host": "node1", "pid": 4711}\n')
        >>> print(death.desertion().partition(":")[0])
        rank 2 on host node1 ended before its script did, without an error (os._exit?)
        """
        left = [(one, place[0]) for place, one in sorted(self._ranks.items()) if one not in self._ended]
        left = sorted((self._beside[pid], platform.node()) for pid in gone) or left
        if not left:
            return None
        # The launcher ended all others, and doesn't name the one that began it.
        who = ", or ".join(f"rank {rank} on host {host}" for rank, host in left[:4])
        return self._with_next_step(
            f"{who}{', or another' if len(left) > 4 else ''} ended before its script did, without an error "
            "(os._exit?): the job counts as failed. A script ends a rank by sys.exit()."
        )

    def _with_next_step(self, text: str) -> str:
        if not self._ranks:  # another program than evenly's
            return text
        if self._saved is None:
            return (
                f"{text} No checkpoint was saved: start the job again, with Checkpoints among the callbacks of "
                "`sim.run` if it shall be able to go on the next time."
            )
        path, step = self._saved["checkpoint"], self._saved["step"]
        return (
            f"{text} The last checkpoint is {path}, of step {step}: to go on from there, start the job again with "
            f"`sim.load({path!r})` before `sim.run`."
        )

    def _who(self, found: dict[str, str]) -> str:
        rank, host = found.get("rank") or found.get("task"), found.get("host") or found.get("node")
        if self._process is not None:
            host, pid = self._process
            # Launchers may add the domain to the host's name.
            known = {one for (there, number), one in self._ranks.items() if number == pid and _alike(there, host)}
            rank = str(min(known)) if known else None
        return f"{'a rank' if rank is None else f'rank {rank}'}{f' on host {host}' if host else ''}"


def _alike(one: str, other: str) -> bool:
    return one.partition(".")[0] == other.partition(".")[0]


class Stream:
    """Decodes text that arrives in pieces of bytes, filters its lines, stores them and passes them on.

    Parameters
    ----------
    target : text stream, optional
        The text is passed on to this stream.
    keep : callable
        Filter: gets each line and returns the text to keep.

    Examples
    --------
    >>> stream = Stream()
    >>> stream.feed("für".encode()[:2])
    >>> stream.feed("für".encode()[2:])
    >>> stream.close()
    >>> stream.text()
    'für'
    """

    def __init__(self, target: TextIO | None = None, keep: Callable[[str], str] = str) -> None:
        self._target, self._keep = target, keep
        self._decoder = getincrementaldecoder("utf-8")("replace")
        self._pending: list[str] = []
        self._parts: list[str] = []
        self._length = 0

    def feed(self, data: bytes) -> None:
        """Take the next bytes."""
        # Lines end with \n or \r (as those of progress bars do). Each is passed on as soon as it is complete.
        *lines, rest = re.split(r"(?<=[\r\n])", self._decoder.decode(data))
        if lines:
            lines[0] = "".join([*self._pending, lines[0]])
            self._pending = []
        self._pending.append(rest)
        # The program waits meanwhile: a line that never ends mustn't be looked at again and again.
        if sum(map(len, self._pending)) > LONG:
            lines.append("".join(self._pending))
            self._pending = []
        self._put("".join(map(self._keep, lines)))

    def close(self) -> None:
        """Process the incomplete last line; further calls do nothing."""
        rest = "".join([*self._pending, self._decoder.decode(b"", final=True)])
        self._pending = []
        self._put(self._keep(rest))

    def text(self) -> str:
        """Return the stored text."""
        return "".join(self._parts)

    def _put(self, text: str) -> None:
        if not text:
            return
        self._parts.append(text)
        self._length += len(text)
        while self._length > KEPT and len(self._parts) > 1:
            self._length -= len(self._parts.pop(0))
        if self._target is not None:
            self._target.write(text)
            self._target.flush()
