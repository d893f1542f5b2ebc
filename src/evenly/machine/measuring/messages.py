"""One-way times of messages of 8 B to 4 MiB between two ranks, on one node or on two."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from evenly.errors import RunFailed
from evenly.fdtd.ranks.launching import launch_python
from evenly.machine.link import Link

__all__ = ["SIZES", "Messages", "link_of", "measure_messages"]

#: Message sizes in bytes: powers of two.
SIZES = tuple(2**power for power in range(3, 23))
_START_S = 60.0


@dataclass(frozen=True)
class Messages:
    """Times of a ping-pong between two ranks.

    Parameters
    ----------
    hosts : tuple of str
        Hosts of the two ranks.
    sizes : tuple of int
        Sizes of the messages, in bytes.
    seconds, lower, upper : tuple of float
        One-way times in seconds for each size: half the median round trip, and half its quartiles.
    """

    hosts: tuple[str, ...]
    sizes: tuple[int, ...]
    seconds: tuple[float, ...]
    lower: tuple[float, ...]
    upper: tuple[float, ...]

    @property
    def link(self) -> Link:
        """The link with this table of times, and with latency and bandwidth derived from it."""
        return link_of(self.sizes, self.seconds)


def measure_messages(
    hosts: Sequence[str] = (), *, seconds: float = 0.1, sizes: Sequence[int] = SIZES, timeout_s: float | None = None
) -> Messages:
    """Return the times of messages of each size between two ranks, by ping-pong.

    Parameters
    ----------
    hosts : sequence of str
        Hosts of the ranks: none (both ranks on this machine), one host for both ranks, or one host for each rank.
    seconds : float
        Approximate time for which each size is repeated.
    sizes : sequence of int
        Sizes of the messages, in bytes, ascending.
    timeout_s : float, optional
        Seconds after which the ranks are ended; by default one minute plus ten times the expected time.

    Raises
    ------
    MissingExtraError
        If there is no MPI; the message has the command that installs it.
    InputError
        If the launcher can't place ranks on given hosts.
    RunFailed
        If the ranks fail, or take too long.
    """
    words = ["-m", "evenly.machine.measuring.ping_pong", str(seconds), *map(str, sizes)]
    limit = _START_S + 10 * seconds * len(sizes) if timeout_s is None else timeout_s
    job = launch_python(words, 2, timeout_s=limit, echo=False, hosts=hosts)
    if job.status != 0:
        why = f"took longer than {limit:g} s" if job.timed_out else f"ended with status {job.status}"
        last = (job.errors.strip() or job.output.strip() or "they said nothing").splitlines()[-1]
        raise RunFailed(f"two ranks that send messages {why}: {last}", exit_code=job.status, output=job.errors)
    found = json.loads(job.output.strip().splitlines()[-1])
    times = (tuple(found[name]) for name in ("seconds", "lower", "upper"))
    return Messages(tuple(found["hosts"]), tuple(found["bytes"]), *times)


def link_of(sizes: Sequence[float], seconds: Sequence[float]) -> Link:
    """Return the link of a measured table; its latency is the time of the smallest message.

    The bandwidth is the slope between two points of the table: the largest message, and the message closest to a
    quarter of this size. If the larger one takes no longer, the bandwidth is the largest size over its time.

    Parameters
    ----------
    sizes, seconds : sequences (n,)
        Sizes in bytes, ascending, and one-way times in seconds.

    Examples
    --------
    >>> link = link_of([8, 1_000_000, 4_000_000], [1e-6, 101e-6, 401e-6])
    >>> link.latency_s, round(link.bytes_per_s / 1e9, 9)
    (1e-06, 10.0)
    """
    quarter = int(np.argmin(np.abs(np.asarray(sizes[:-1]) - sizes[-1] / 4)))
    more_bytes, more_s = sizes[-1] - sizes[quarter], seconds[-1] - seconds[quarter]
    bandwidth = more_bytes / more_s if more_s > 0 else sizes[-1] / seconds[-1]
    return Link(float(seconds[0]), float(bandwidth), tuple(sizes), tuple(seconds))
