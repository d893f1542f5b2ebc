"""Replays beside times worked out by hand, and laws that every replay obeys."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from evenly.decomposition.forecasting.messages import Messages
from evenly.decomposition.forecasting.replay import EAGER, nodes_of, replay, with_shared_bandwidth
from evenly.errors import InputError
from evenly.machine.link import Link
from evenly.machine.machine import Machine

INSIDE, OUTSIDE = Link(1e-6, 1e10), Link(20e-6, 1e9)
MACHINE = Machine("test", cores_per_node=2, within_node=INSIDE, between_nodes=OUTSIDE)


def chain(ranks: int, size: float) -> Messages:
    """Ranks in a row, each the neighbour of the next: E's ghosts go down, H's up."""
    low, high = np.arange(ranks - 1), np.arange(1, ranks)
    exchange = np.repeat([0, 1], ranks - 1)
    sender, receiver = np.concatenate([high, low]), np.concatenate([low, high])
    order = np.lexsort((receiver, exchange))
    return Messages(
        ranks, exchange[order], sender[order], receiver[order], np.full(2 * (ranks - 1), size), np.full(ranks, size)
    )


def test_without_messages_the_slowest_rank_decides() -> None:
    nobody = np.zeros(0, dtype=np.int64)
    none = Messages(3, nobody, nobody, nobody, np.zeros(0), np.zeros(3))
    found = replay(np.array([0.001, 0.003, 0.002]), none, MACHINE)
    assert found.step_s == pytest.approx(0.003)
    assert found.communication_s == pytest.approx(0, abs=1e-15)


def test_a_large_message_takes_latency_and_bytes_over_rate_in_each_exchange() -> None:
    found = replay(np.full(2, 0.001), chain(2, 1e6), MACHINE)
    assert found.step_s == pytest.approx(0.001 + 2 * (1e-6 + 1e6 / 1e10), rel=1e-6)


def test_a_small_message_travels_while_both_compute() -> None:
    # The lower rank only takes E's ghosts, which came while it computed; the upper one, which takes H's, lags behind by
    # a latency and needn't catch up.
    small = replay(np.full(2, 0.001), chain(2, EAGER), MACHINE)
    assert small.step_s == pytest.approx(0.001 + EAGER / 1e10, rel=1e-6)
    large = replay(np.full(2, 0.001), chain(2, EAGER + 8), MACHINE)
    assert large.step_s > 0.001 + 2 * EAGER / 1e10


def test_between_nodes_the_other_link_counts() -> None:
    found = replay(np.full(3, 0.001), chain(3, 1e6), MACHINE)
    assert found.step_s >= 0.001 + 2 * (20e-6 + 1e6 / 1e9)
    assert nodes_of(MACHINE, 3).tolist() == [0, 0, 1]


def test_a_card_is_shared_by_the_ranks_of_a_node() -> None:
    first = np.zeros(2, dtype=np.int64)
    pairs = Messages(4, first, np.array([0, 1]), np.array([2, 3]), np.full(2, 1e6), np.full(4, 1e6))
    shared = replay(np.full(4, 0.001), pairs, replace(MACHINE, card_bytes_per_s=0.5e9))
    own = replay(np.full(4, 0.001), pairs, replace(MACHINE, card_bytes_per_s=1e12))
    assert own.step_s == pytest.approx(0.001 + 20e-6 + 1e-3, rel=1e-6)
    # Both messages cross the card of the second node, from when the receivers are there to take them.
    assert shared.step_s == pytest.approx(0.001 + 2e6 / 0.5e9, rel=1e-6)


def test_ranks_of_a_node_share_its_memory() -> None:
    machine = replace(MACHINE, memory_bytes_per_s_per_node=1e10)
    seconds, node = np.full(3, 0.001), np.array([0, 0, 1])
    # Two ranks need 20 MB in a millisecond of 10 GB/s; the third has a node of its own.
    assert with_shared_bandwidth(seconds, np.full(3, 1e7), machine, node).tolist() == pytest.approx(
        [0.002, 0.002, 0.001]
    )
    # The first rank has the memory for itself once the second has moved its bytes.
    moved = with_shared_bandwidth(seconds, np.array([2e7, 1e7, 1e6]), machine, node)
    assert moved.tolist() == pytest.approx([0.003, 0.002, 0.001])
    assert with_shared_bandwidth(seconds, None, machine, node).tolist() == seconds.tolist()


@pytest.mark.parametrize("ranks", [2, 7, 64])
def test_a_step_is_never_faster_than_its_slowest_rank_nor_on_a_worse_machine(ranks: int) -> None:
    seconds = np.random.default_rng(ranks).uniform(0.001, 0.002, ranks)
    machine = replace(MACHINE, jitter=0.02)
    messages = chain(ranks, 3e4)
    step = replay(seconds, messages, machine).step_s
    assert step > seconds.max()
    for worse in (
        replace(machine, between_nodes=Link(40e-6, 1e9)),
        replace(machine, within_node=Link(1e-5, 1e10)),
        replace(machine, core_speed=0.8),
        replace(machine, jitter=0.1),
    ):
        # The steps that are counted begin when waiting has spread, which takes longer over slower links.
        assert replay(seconds, messages, worse).step_s >= step * 0.99


def test_it_is_the_same_for_a_seed() -> None:
    machine = replace(MACHINE, jitter=0.05)
    seconds = np.linspace(0.001, 0.0011, 8)
    one, other, third = (replay(seconds, chain(8, 1e4), machine, seed=seed).step_s for seed in (1, 1, 2))
    assert one == other != third


def test_a_core_twice_as_fast_halves_computing() -> None:
    found = replay(np.full(2, 0.001), chain(2, 8.0), replace(MACHINE, core_speed=2.0))
    assert found.computation_s == pytest.approx(0.0005)


def test_what_the_machine_lacks_is_said() -> None:
    with pytest.raises(InputError, match=r"\[between_nodes\]"):
        replay(np.full(3, 0.001), chain(3, 8.0), replace(MACHINE, between_nodes=None))
    with pytest.raises(InputError, match=r"2 cores .* 3 ranks"):
        replay(np.full(3, 0.001), chain(3, 8.0), replace(MACHINE, nodes=1))


def test_neighbours_with_off_diagonal_media_wait_for_each_other_twice() -> None:
    machine = replace(MACHINE, within_node=Link(1e-9, 1e12), jitter=0.0)
    # They touch on both sides, as in a periodic cell.
    exchange, receiver = np.array([0, 0, 1, 1]), np.array([0, 1, 0, 1])
    pair = Messages(2, exchange, 1 - receiver, receiver, np.full(4, 8.0), np.full(2, 1.0))
    # Both compute 3 ms: one most of it before the increments are exchanged, the other after that.
    seconds, share = np.array([0.003, 0.003]), np.array([2 / 3, 1 / 3])
    assert replay(seconds, pair, machine, late=share).step_s == pytest.approx(0.003, rel=1e-3)
    assert replay(seconds, pair, machine, fed=share).step_s == pytest.approx(0.004, rel=1e-3)
    one = replay(seconds, pair, machine, fed=share * [1, 0])
    assert one.step_s == pytest.approx(0.003, rel=1e-3)
