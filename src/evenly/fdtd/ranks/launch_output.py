r"""The output of a job's ranks: passed on as it arrives, stored, and without the launcher's own remarks.

>>> without_remarks("Abort(2) on node 1 (rank 1 in comm 0): application called MPI_Abort(...)\n")
''
"""

from __future__ import annotations

import re
from codecs import getincrementaldecoder
from collections.abc import Callable
from typing import TextIO

__all__ = ["Stream", "killed", "without_remarks"]

# Number of characters that are stored: enough for any error, but a job with much output doesn't fill the memory.
KEPT = 4_000_000

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
    r"|-{70,}"
    r")\s*$"
)

_KILLED = re.compile(r"^YOUR APPLICATION TERMINATED WITH THE EXIT STRING: (.*)")


def without_remarks(line: str) -> str:
    r"""Return a line of a job's output, or an empty text if it is a remark of the launcher about an ended job.

    Examples
    --------
    >>> without_remarks("rank 2 of 4: the rule was broken\n")
    'rank 2 of 4: the rule was broken\n'
    """
    return "" if _REMARKS.match(line) else line


def killed(line: str) -> str | None:
    r"""Return a message about a killed rank, if the line is the launcher's remark about one, else None.

    Examples
    --------
    >>> killed("YOUR APPLICATION TERMINATED WITH THE EXIT STRING: Killed (signal 9)\n")
    'a rank was killed: Killed (signal 9)'
    """
    found = _KILLED.match(line)
    return f"a rank was killed: {found[1]}" if found else None


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
        self._pending = ""
        self._parts: list[str] = []
        self._length = 0

    def feed(self, data: bytes) -> None:
        """Take the next bytes."""
        text = self._decoder.decode(data)
        # Lines end with \n or \r (as those of progress bars do). Each is passed on as soon as it is complete.
        *lines, self._pending = re.split(r"(?<=[\r\n])", self._pending + text)
        self._put("".join(map(self._keep, lines)))

    def close(self) -> None:
        """Process the incomplete last line; further calls do nothing."""
        rest = self._pending + self._decoder.decode(b"", final=True)
        self._pending = ""
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
