"""The compiled loop of `evenly.decomposition.forecasting.replay`: simulated ranks step together, message by message.

This is a trace-driven simulation of a bulk-synchronous program on a LogGP machine: a message of k bytes takes a latency
and k times the seconds per byte (A. Alexandrov et al., "LogGP", SPAA 1995).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from evenly.decomposition.cells.optional_numba import compiled

__all__ = ["steps_together"]

Array = NDArray[np.float64]
Ints = NDArray[np.int64]


@compiled
def steps_together(
    early: Array,
    late: Array,
    fed: Array,
    noise: Array,
    starts: Ints,
    sender: Ints,
    latency: Array,
    transfer: Array,
    at_once: NDArray[np.bool_],
    node: Ints,
    card: Array,
) -> Array:
    """Return the time in seconds at which the slowest rank has finished each step, (steps,).

    Parameters
    ----------
    early, late : (ranks,)
        Seconds of computation while the ghosts of E travel, and while those of H travel.
    fed : (ranks,)
        Seconds of computation before increments of off-diagonal media are sent.
    noise : (steps, ranks)
        Factor of the computing time in each step.
    starts : (3, ranks + 1)
        Index of the first message to each rank, for each exchange.
    sender, latency, transfer, at_once : (messages,)
        Rank of the sender, seconds of latency, seconds that the receiver then needs, and whether the message travels
        while both sides compute (eager protocol).
    node : (ranks,)
        Node of each rank.
    card : (3, nodes)
        Seconds that each node's network card needs for all messages from other nodes in an exchange.
    """
    # `now` (ranks,): seconds since the start at which each rank has finished its last exchange.
    steps, ranks = noise.shape
    nodes = card.shape[1]
    now = np.zeros(ranks)
    finished = np.zeros(steps)
    for step in range(steps):
        # Exchange 0 sends the ghosts of E, exchange 1 those of H, exchange 2 the increments.
        for exchange in range(3):
            # A rank sends when the last exchange has ended for it, then computes what doesn't need the ghosts.
            sent = now.copy()
            wait = np.zeros(ranks)
            for r in range(ranks):
                work = early[r] if exchange == 0 else late[r] if exchange == 1 else fed[r]
                wait[r] = now[r] + work * noise[step, r]
            # Departure of the first message from another node to each node; the node's card is busy from then on.
            begun = np.full(nodes, np.inf)
            for r in range(ranks):
                ready, copied = wait[r], 0.0
                for m in range(starts[exchange, r], starts[exchange, r + 1]):
                    s = sender[m]
                    # An eager message leaves when it is sent, a rendezvous when both ranks have done their work.
                    leaves = sent[s] if at_once[m] else max(wait[r], wait[s])
                    ready = max(ready, leaves + latency[m])
                    copied += transfer[m]
                    if node[s] != node[r]:
                        begun[node[r]] = min(begun[node[r]], leaves)
                # The last message decides when copying can begin; ghosts are copied one after the other.
                now[r] = ready + copied
            # No rank continues before its node's card has received all messages of the exchange.
            for r in range(ranks):
                if card[exchange, node[r]] > 0:
                    now[r] = max(now[r], begun[node[r]] + card[exchange, node[r]])
        finished[step] = now.max()
    return finished
