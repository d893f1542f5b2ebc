"""How long a step takes on a machine that is described by its numbers: ranks are simulated, message by message.

Each rank's computing time is known, measured alone or predicted, and so are its messages. The machine says what a
message takes, how many ranks share a node, its memory and its network card, and how much steps vary. Ranks then step
together: each computes, sends, and begins the next part when all its neighbours' ghosts have come. Times found so are
replayed, not measured, and are called so wherever they are shown.

What is assumed: messages of at most 64 KiB travel while both sides compute, larger ones once both wait for them (MPI's
eager and rendezvous protocols); a rank takes what it receives one after the other; all that reaches a node goes through
its card; ranks fill one node after the other; computing varies from step to step by an exponential part.

>>> from evenly.decomposition.forecasting.messages import Messages
>>> pair = Messages(2, np.array([0, 1]), np.array([1, 0]), np.array([0, 1]), np.array([1e6, 1e6]), np.array([1, 1]))
>>> machine = Machine("pair", within_node=Link(1e-6, 1e10))
>>> found = replay(np.array([0.001, 0.001]), pair, machine)
>>> round(found.step_s * 1e6), round(found.communication_s * 1e6)
(1202, 202)
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from evenly.decomposition.forecasting.messages import EXCHANGES, Messages
from evenly.decomposition.forecasting.step_timing import steps_together
from evenly.errors import InputError
from evenly.machine.machine import Link, Machine

__all__ = ["EAGER", "Replay", "crowded", "nodes_of", "replay", "wire"]

Array = NDArray[np.float64]
Ints = NDArray[np.int64]
#: Bytes up to which a message travels while both sides compute.
EAGER = 65536
#: Steps that are replayed, and those before them that aren't counted.
STEPS, WARM_UP = 40, 8


@dataclass(frozen=True)
class Replay:
    """What a step takes.

    Parameters
    ----------
    step_s : float
        Mean seconds of a step.
    computation_s : float
        Those that the slowest rank computes.
    rank_s : (ranks,)
        Those that each rank computes, memory shared with the others of its node.
    """

    step_s: float
    computation_s: float
    rank_s: Array

    @property
    def communication_s(self) -> float:
        """Seconds of a step in which the slowest rank sends, receives and waits."""
        return self.step_s - self.computation_s


def replay(
    seconds: Array,
    messages: Messages,
    machine: Machine,
    *,
    memory_bytes: Array | None = None,
    late: Array | None = None,
    seed: int = 0,
) -> Replay:
    """Return what a step takes on a machine.

    Parameters
    ----------
    seconds : (ranks,)
        Computing time of each rank per step, alone on a core of speed 1.
    messages : Messages
    machine : Machine
    memory_bytes : (ranks,), optional
        Bytes that each rank moves to and from memory in a step; ranks of a node share its bandwidth.
    late : (ranks,), optional
        Share of its computing that a rank does after sending H's ghosts; none when left out.
    seed : int
        Of the variation from step to step.

    Raises
    ------
    InputError
        If the machine has too few cores, or doesn't say what messages take.
    """
    ranks = len(seconds)
    node = nodes_of(machine, ranks)
    own = crowded(np.asarray(seconds, dtype=np.float64) / machine.core_speed, memory_bytes, machine, node)
    latency, transfer, card = wire(messages, machine, node)
    part = np.zeros(ranks) if late is None else np.asarray(late, dtype=np.float64)
    # Exponential noise of mean 1 with standard deviation `jitter`, (steps, ranks), as operating systems cause it.
    random = np.random.default_rng(seed)
    shape = (STEPS + WARM_UP, ranks)
    noise = np.maximum(1 + machine.jitter * (random.standard_exponential(shape) - 1), 0.0)
    # As many draws as there are steps needn't have the mean that the rank's time is.
    noise /= noise[WARM_UP:].mean(axis=0)
    # Messages are sorted by exchange and receiver: where those to each rank begin, (2, ranks + 1).
    bounds = np.stack(
        [np.searchsorted(messages.exchange * ranks + messages.receiver, e * ranks + np.arange(ranks + 1))
         for e in range(EXCHANGES)]
    )  # fmt: skip
    finished = steps_together(
        own * (1 - part), own * part, noise, bounds, messages.sender, latency, transfer,
        messages.size <= EAGER, node, card,
    )  # fmt: skip
    # The mean over steps after the first ones, in which ranks still drift apart.
    step = float((finished[-1] - finished[WARM_UP - 1]) / STEPS)
    slowest = float(own.max())
    return Replay(max(step, slowest), slowest, own)


def nodes_of(machine: Machine, ranks: int) -> Ints:
    """Return the node of each rank, (ranks,): one is filled after the other.

    Raises
    ------
    InputError
        If the machine has too few cores.
    """
    if machine.cores is not None and ranks > machine.cores:
        raise InputError(
            f"{machine.name} has {machine.cores} cores ({machine.nodes} nodes of {machine.cores_per_node}), but "
            f"{ranks} ranks were asked for: ask for at most {machine.cores}."
        )
    return np.arange(ranks) // (machine.cores_per_node or ranks)


def crowded(seconds: Array, memory_bytes: Array | None, machine: Machine, node: Ints) -> Array:
    """Return what ranks compute, (ranks,), when those of a node share its memory.

    A rank takes as long as alone, or as its bytes take at an equal part of the node's bandwidth if that is longer.
    """
    shared = machine.memory_bytes_per_s_per_node
    if memory_bytes is None or shared is None:
        return seconds
    return np.asarray(np.maximum(seconds, memory_bytes * np.bincount(node)[node] / shared))


def wire(messages: Messages, machine: Machine, node: Ints) -> tuple[Array, Array, Array]:
    """Return latency and transfer of each message (messages,), and seconds of each card in an exchange, (2, nodes).

    Raises
    ------
    InputError
        If the machine doesn't say what messages take.
    """
    inside = node[messages.sender] == node[messages.receiver]
    latency, whole = np.zeros(len(inside)), np.zeros(len(inside))
    for here, link, name in ((inside, machine.within_node, "within_node"),
                             (~inside, machine.between_nodes, "between_nodes")):  # fmt: skip
        if here.any():
            known = _known(link, name, machine)
            latency[here], whole[here] = known.seconds(np.zeros(1))[0], known.seconds(messages.size[here])
    card = np.zeros((EXCHANGES, int(node.max(initial=0)) + 1))
    if not inside.all():
        rate = machine.card_bytes_per_s or _known(machine.between_nodes, "between_nodes", machine).bytes_per_s
        there = ~inside
        np.add.at(card, (messages.exchange[there], node[messages.receiver[there]]), messages.size[there] / rate)
    return latency, np.maximum(whole - latency, 0.0), card


def _known(link: Link | None, name: str, machine: Machine) -> Link:
    if link is None:
        raise InputError(
            f"the machine {machine.name!r} doesn't say what a message takes: its file needs a table [{name}] with "
            "latency_s and bytes_per_s (`evenly machine measure` measures them)."
        )
    return link
