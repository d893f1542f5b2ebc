"""Times of messages: a latency and a bandwidth, or what was measured."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenly.errors import InputError
from evenly.machine.link import Link

MEASURED = Link(1e-6, 1e9, message_bytes=(8, 800, 80_000), message_s=(1e-6, 4e-6, 100e-6))


def test_latency_and_bandwidth() -> None:
    link = Link(latency_s=2e-6, bytes_per_s=1e9)
    assert link.seconds([0, 1000, 1e6]) == pytest.approx([2e-6, 3e-6, 1002e-6], rel=1e-15)
    assert link.seconds(np.zeros((2, 0, 3))).shape == (2, 0, 3)
    assert link.seconds(1000).shape == ()


def test_a_table_is_interpolated_on_logarithms() -> None:
    # exp(log(t)) is off by a few units in the last place.
    assert MEASURED.seconds([8, 800, 80_000]) == pytest.approx([1e-6, 4e-6, 100e-6], rel=1e-14)
    # Half-way between 8 and 800 on logarithms is 80: the geometric mean of both times.
    assert float(MEASURED.seconds(80)) == pytest.approx(2e-6, rel=1e-14)


def test_outside_a_table() -> None:
    assert MEASURED.seconds([0, 1, 7.9]) == pytest.approx([1e-6] * 3, rel=1e-14)
    # 920,000 bytes more at 1 GB/s are 920 µs more.
    assert float(MEASURED.seconds(1e6)) == pytest.approx(1020e-6, rel=1e-14)


TABLES = st.dictionaries(st.floats(1, 1e9), st.floats(1e-9, 1), min_size=2, max_size=6)


@given(table=TABLES, a=st.floats(0, 1e10), b=st.floats(0, 1e10))
def test_a_larger_message_takes_no_less_where_it_did_in_the_table(
    table: dict[float, float], a: float, b: float
) -> None:
    link = Link(1e-6, 1e9, tuple(sorted(table)), tuple(sorted(table.values())))
    less, more = link.seconds(sorted((a, b)))
    # Interpolation of logarithms rounds: |log t| is below 21, so that exp is off by some 21 · 2⁻⁵² of t.
    assert less <= more * (1 + 1e-14)


@pytest.mark.parametrize(
    ("wrong", "told"),
    [
        ({"latency_s": -1e-6}, "latency_s must be a number of at least zero, but got -1e-06"),
        ({"latency_s": float("nan")}, "latency_s must be a number of at least zero, but got nan"),
        ({"bytes_per_s": 0}, "bytes_per_s must be a number above zero, but got 0"),
        ({"bytes_per_s": "fast"}, "bytes_per_s must be a number above zero, but got 'fast'"),
        ({"message_bytes": (8, 16)}, "of one length, but got 2 sizes and 0 times"),
        ({"message_bytes": (8,), "message_s": (1e-6,)}, "two sizes or more, but got 1"),
        ({"message_bytes": (16, 8), "message_s": (1e-6, 2e-6)}, "must be ascending"),
        ({"message_bytes": (8, 8), "message_s": (1e-6, 2e-6)}, "must be ascending"),
        ({"message_bytes": (0, 8), "message_s": (1e-6, 2e-6)}, "each of message_bytes must be a number above zero"),
        ({"message_bytes": (4, 8), "message_s": (1e-6, 0)}, "each of message_s must be a number above zero"),
        ({"message_bytes": 8}, "message_bytes must be a list of numbers, but got 8"),
    ],
)
def test_wrong_numbers_are_refused(wrong: dict[str, Any], told: str) -> None:
    with pytest.raises(InputError, match=told):
        Link(**{"latency_s": 1e-6, "bytes_per_s": 1e9, **wrong})


@pytest.mark.parametrize("size", [-1, float("nan"), [8, -2]])
def test_sizes_that_are_none_are_refused(size: Any) -> None:
    with pytest.raises(InputError, match="size must be a number of bytes of at least 0, but got"):
        Link(1e-6, 1e9).seconds(size)
