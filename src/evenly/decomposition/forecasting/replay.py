"""Replay: the time of a step on a described machine, by a simulation of the ranks, message by message.

The input is each rank's computing time, measured alone or predicted, and its messages. The machine's description gives
the time of a message, the number of ranks that share a node with its memory and its network card, and the variation of
steps. The simulated ranks step together: each computes, sends, and begins the next part when all ghosts from its
neighbours have arrived. The results are labelled as replayed, not measured, wherever they are shown.

Assumptions:

- Messages of at most 64 KiB travel while both sides compute; larger ones travel when both sides wait for them (the
  eager and rendezvous protocols of MPI).
- Neighbours with off-diagonal media wait for each other once more in a step, where they exchange increments.
- A rank receives its messages one after the other.
- All messages from other nodes go through the node's network card.
- Ranks fill one node after the other.
- The computing time varies from step to step by an exponential part.

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

__all__ = ["EAGER", "Replay", "message_times", "nodes_of", "replay", "with_shared_bandwidth"]

Array = NDArray[np.float64]
Ints = NDArray[np.int64]
#: Largest message in bytes that travels while both sides compute (eager protocol).
EAGER = 65536
#: Replayed steps that count, and warm-up steps before them.
STEPS, WARM_UP = 40, 8


@dataclass(frozen=True)
class Replay:
    """Replayed time of a step.

    Parameters
    ----------
    step_s : float
        Mean seconds of a step.
    computation_s : float
        Computing seconds of the slowest rank per step.
    rank_s : (ranks,)
        Computing seconds of each rank per step, with the memory bandwidth shared within its node.
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
    fed: Array | None = None,
    seed: int = 0,
) -> Replay:
    """Return the time of a step on a machine by a simulation of its ranks and messages.

    Parameters
    ----------
    seconds : (ranks,)
        Computing seconds of each rank per step, alone on a core of speed 1.
    messages : Messages
    machine : Machine
    memory_bytes : (ranks,), optional
        Bytes that each rank moves to and from memory in a step; the ranks of a node share its bandwidth.
    late : (ranks,), optional
        Share of a rank's computation that comes after sending the ghosts of H; 0 by default.
    fed : (ranks,), optional
        Share that comes after the arrival of these ghosts and before the exchange of increments of off-diagonal media,
        which neighbours that both have such work wait for; 0 by default.
    seed : int
        Seed of the variation from step to step.

    Raises
    ------
    InputError
        If the machine has too few cores, or its description lacks a link.
    """
    ranks = len(seconds)
    node = nodes_of(machine, ranks)
    own = with_shared_bandwidth(np.asarray(seconds, dtype=np.float64) / machine.core_speed, memory_bytes, machine, node)
    latency, transfer, card = message_times(messages, machine, node)
    part, mixed = (np.zeros(ranks) if share is None else np.asarray(share, dtype=np.float64) for share in (late, fed))
    # Increments go both ways between neighbours that both have any; they are few.
    like = np.flatnonzero((messages.exchange == 1) & (mixed[messages.sender] > 0) & (mixed[messages.receiver] > 0))
    ends = np.stack([messages.sender[like], messages.receiver[like]])
    ends, like = np.hstack([ends, ends[::-1]]), np.tile(like, 2)
    by_receiver = np.argsort(ends[1], kind="stable")
    ends, like = ends[:, by_receiver], like[by_receiver]
    exchange = np.append(messages.exchange, np.full(len(like), EXCHANGES))
    sender, receiver = np.append(messages.sender, ends[0]), np.append(messages.receiver, ends[1])
    latency, transfer = np.append(latency, latency[like]), np.append(transfer, np.zeros(len(like)))
    at_once = np.append(messages.size <= EAGER, np.zeros(len(like), dtype=np.bool_))
    card = np.vstack([card, np.zeros((1, card.shape[1]))])
    # Noise factors of mean 1 with an exponential part of standard deviation `jitter`, as caused by operating systems,
    # (steps, ranks).
    random = np.random.default_rng(seed)
    shape = (STEPS + WARM_UP, ranks)
    noise = np.maximum(1 + machine.jitter * (random.standard_exponential(shape) - 1), 0.0)
    # The sample mean of few draws differs from 1, so it is normalised for each rank.
    noise /= noise[WARM_UP:].mean(axis=0)
    # Messages are sorted by exchange and receiver; `bounds` is the first message to each rank, (3, ranks + 1).
    order = exchange * ranks + receiver
    bounds = np.stack([np.searchsorted(order, e * ranks + np.arange(ranks + 1)) for e in range(EXCHANGES + 1)])
    finished = steps_together(
        own * (1 - part - mixed), own * part, own * mixed, noise, bounds, sender, latency, transfer, at_once, node, card
    )
    # The mean over the steps after the warm-up, in which ranks still drift apart.
    step = float((finished[-1] - finished[WARM_UP - 1]) / STEPS)
    slowest = float(own.max())
    return Replay(max(step, slowest), slowest, own)


def nodes_of(machine: Machine, ranks: int) -> Ints:
    """Return the node of each rank, (ranks,); nodes are filled one after the other.

    Raises
    ------
    InputError
        If the machine has too few cores.
    """
    if machine.cores is not None and ranks > machine.cores:
        nodes = f"{machine.nodes} node{'' if machine.nodes == 1 else 's'} of {machine.cores_per_node}"
        raise InputError(
            f"{machine.name} has {machine.cores} cores ({nodes}), but {ranks} ranks were asked for: ask for at most "
            f"{machine.cores}."
        )
    return np.arange(ranks) // (machine.cores_per_node or ranks)


def with_shared_bandwidth(seconds: Array, memory_bytes: Array | None, machine: Machine, node: Ints) -> Array:
    """Return the computing seconds of each rank, (ranks,), when the ranks of a node share its memory bandwidth.

    This is the larger of two times: that of the rank alone, and that of moving its bytes. The ranks of a node that
    still move bytes have equal shares of the bandwidth (processor sharing). When rank i has moved its bytes b_i, each
    rank j has moved the smaller of b_i and b_j. So it takes Σ_j min(b_i, b_j) over the bandwidth.
    """
    shared = machine.memory_bytes_per_s_per_node
    if memory_bytes is None or shared is None:
        return seconds
    moved = np.zeros(len(seconds))
    order = np.lexsort((memory_bytes, node))
    for ranks in np.split(order, np.flatnonzero(np.diff(node[order])) + 1):
        ascending = memory_bytes[ranks]
        moved[ranks] = np.cumsum(ascending) + ascending * np.arange(len(ranks) - 1, -1, -1)
    return np.asarray(np.maximum(seconds, moved / shared))


def message_times(messages: Messages, machine: Machine, node: Ints) -> tuple[Array, Array, Array]:
    """Return the time of messages and network cards, in seconds.

    These are the latency and the transfer time of each message, both (messages,), and the time that each node's network
    card needs for the messages of an exchange, (2, nodes).

    Raises
    ------
    InputError
        If the machine's description lacks a link.
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
