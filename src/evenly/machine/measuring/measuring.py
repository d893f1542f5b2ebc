"""Measurement of a machine: cores, memory, memory bandwidth, jitter and messages.

Quantities that can't be measured are listed with the reason.
"""

from __future__ import annotations

import datetime
import platform
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from evenly.errors import EvenlyError, InputError
from evenly.fdtd.ranks.launchers import launched_ranks
from evenly.machine.link import Link
from evenly.machine.machine import Machine
from evenly.machine.measuring import node
from evenly.machine.measuring.computing import array_bytes, measure_jitter, memory_bandwidth
from evenly.machine.measuring.hosts import allocated_hosts
from evenly.machine.measuring.messages import SIZES, Messages, measure_messages

__all__ = ["Measured", "default_name", "measure_machine"]

Progress = Callable[[str, float], None]
#: Fraction of the cores that other processes may use without a remark.
_BUSY = 0.25
_WORDS = {"within_node": "messages within a node", "between_nodes": "messages between nodes"}


@dataclass(frozen=True)
class Measured:
    """The results of measuring a machine.

    Parameters
    ----------
    machine : Machine
        The machine, with all values that could be measured.
    messages : dict of str to Messages
        Message times, by ``"within_node"`` and ``"between_nodes"``; the machine's links follow from them.
    left_out : tuple of str
        For each quantity that couldn't be measured: the reason, and a remedy.
    remarks : tuple of str
        Circumstances that may have disturbed the measurement.
    """

    machine: Machine
    messages: dict[str, Messages]
    left_out: tuple[str, ...] = ()
    remarks: tuple[str, ...] = ()


def measure_machine(
    name: str | None = None,
    *,
    hosts: Sequence[str] = (),
    seconds: float = 1.0,
    sizes: Sequence[int] = SIZES,
    progress: Progress | None = None,
) -> Measured:
    """Measure this machine: cores, memory and its bandwidth, jitter, messages within a node and between two.

    Parameters
    ----------
    name : str, optional
        Name of the machine; by default the host's name.
    hosts : sequence of two str
        Hosts between which messages are timed; by default the first two of the scheduler's allocation.
    seconds : float
        Time of each of the measurements of memory, computing and messages. There are up to five of them, and
        starting processes takes further time.
    sizes : sequence of int
        Sizes of the messages, in bytes, ascending.
    progress : callable, optional
        Called with the name of the next measurement, and with the fraction that is done.

    Returns
    -------
    Measured
        Its `core_speed` stays 1, since costs are usually measured on the same machine.

    Raises
    ------
    InputError
        If `hosts` are not two, or this process is one of several ranks.
    RunFailed
        If a process that computes fails.
    """
    between = _two(hosts)
    if (launched_ranks() or 1) > 1:
        raise InputError("a machine is measured by one process, which starts the ranks that it needs: start it alone")
    report = progress or (lambda _text, _fraction: None)
    cores, memory, cache = node.core_numbers(), node.memory_bytes(), node.cache_bytes()
    remarks = _remarks(len(cores))
    report("memory, one core", 0.0)
    alone = memory_bandwidth(cores[:1], array_bytes(1, cache, memory), seconds)
    report("memory, all cores", 0.2)
    together = memory_bandwidth(cores, array_bytes(len(cores), cache, memory), seconds) if cores[1:] else alone
    report("jitter", 0.4)
    jitter = measure_jitter(cores, seconds)
    report("messages", 0.6)
    links, left_out = _links(between, len(cores), seconds / len(sizes), sizes)
    report("done", 1.0)
    machine = Machine(
        name or default_name(),
        nodes=max(1, len(hosts), len(allocated_hosts())),
        cores_per_node=len(cores),
        memory_bytes_per_node=memory,
        about=f"{node.processor()}, measured on {datetime.datetime.now().astimezone():%Y-%m-%d} by evenly",
        memory_bytes_per_s_per_core=_rounded(alone),
        # On a busy machine, noise may make one core seem faster than all cores together.
        memory_bytes_per_s_per_node=_rounded(max(alone, together)),
        jitter=_rounded(jitter),
        within_node=_link(links.get("within_node")),
        between_nodes=_link(links.get("between_nodes")),
    )
    return Measured(machine, links, tuple(left_out), tuple(remarks))


def default_name() -> str:
    """Return this host's name, with only characters that are safe in a file name.

    Examples
    --------
    >>> default_name() != ""
    True
    """
    return re.sub(r"[^A-Za-z0-9_-]+", "-", platform.node().partition(".")[0]).strip("-") or "machine"


def _rounded(value: float) -> float:
    """Return the value with four significant digits: no measurement here is more precise."""
    return float(f"{value:.4g}")


def _link(messages: Messages | None) -> Link | None:
    if messages is None:
        return None
    link, times = messages.link, tuple(map(_rounded, messages.seconds))
    return Link(_rounded(link.latency_s), _rounded(link.bytes_per_s), link.message_bytes, times)


def _two(hosts: Sequence[str]) -> tuple[str, ...]:
    if hosts and (len(hosts) != 2 or len(set(hosts)) != 2 or not all(hosts)):
        raise InputError(f"hosts must be two different ones, as a,b, but got {','.join(hosts)!r}")
    return tuple(hosts) or (tuple(allocated_hosts()[:2]) if len(allocated_hosts()) > 1 else ())


def _remarks(cores: int) -> list[str]:
    busy = node.busy_cores()
    if busy <= _BUSY * cores:
        return []
    return [f"{busy:.1f} of {cores} cores were busy with other things at the start: measure again when they rest"]


def _links(
    between: tuple[str, ...], cores: int, seconds: float, sizes: Sequence[int]
) -> tuple[dict[str, Messages], list[str]]:
    links: dict[str, Messages] = {}
    left_out: list[str] = []

    def measure(name: str, hosts: tuple[str, ...], count: int) -> None:
        try:
            links[name] = _checked(measure_messages(hosts, seconds=seconds, sizes=sizes), count)
        except EvenlyError as error:
            left_out.append(f"{_WORDS[name]}: {error}")

    if cores < 2:
        left_out.append(f"{_WORDS['within_node']}: there is one core, and two ranks would wait for each other on it")
    else:
        measure("within_node", _this_host(), 1)
    if between:
        measure("between_nodes", between, 2)
    else:
        left_out.append(f"{_WORDS['between_nodes']}: give two hosts with --hosts a,b, or measure within an allocation")
    return links, left_out


def _this_host() -> tuple[str, ...]:
    """Return the allocation's name of this host, to place two ranks on it; an empty tuple outside an allocation."""
    here = platform.node().partition(".")[0]
    return tuple(host for host in allocated_hosts() if host.partition(".")[0] == here)[:1]


def _checked(messages: Messages, wanted: int) -> Messages:
    if len(set(messages.hosts)) != wanted:
        raise InputError(
            f"the launcher must place the ranks on {wanted} host{'s' * (wanted - 1)}, but they ran on "
            f"{' and '.join(messages.hosts)}: set EVENLY_MPIEXEC to a launcher that does"
        )
    return messages
