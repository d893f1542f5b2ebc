"""Nonsense for any argument of any public function gives evenly's own error, or works; so do the commands' words."""

from __future__ import annotations

import datetime
import decimal
import fractions
import os
import random
import signal
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from evenly.errors import EvenlyError
from tests.chaos.amount import amount
from tests.chaos.conftest import MakeTally
from tests.chaos.doors import Door, doors

pytestmark = pytest.mark.chaos


class Odd:
    """A class that evenly can't know."""


def nonsense() -> list[Any]:
    """Return values of all kinds, most of them wrong for any argument. New ones each time, since some are used up."""
    return [
        None, True, False, -1, 0, 1, 2, 3.7, -2.5, 10**30, 1e308, 1e-320, np.nan, np.inf, -np.inf, 1j,
        "", " ", "x", "nan", "é\u202e", "a" * 5000, "\0", "../..", b"bytes",
        [], (), {}, set(), [None], ["x"], [1], [1, 2, 3], [np.nan] * 3, (1e308,) * 3, [[1, 2], [3]],
        {"x": 1}, {1: 2}, {"cores": -1}, {"cores": "x"}, {"flow": 0, "structure": None},
        object(), Odd(), Odd, int, type, Exception("e"), slice(1), memoryview(b"x"), range(3), iter([]),
        (i for i in range(3)),
        np.array([]), np.array(3.0), np.zeros((2, 2)), np.array(["a"]), np.array([object()]), np.full(3, np.nan),
        np.int64(-5), np.float32("inf"), pd.DataFrame(), pd.DataFrame({"a": [1]}), pd.Series([1.0]), pd.NA, pd.NaT,
        datetime.datetime(2026, 1, 1, tzinfo=datetime.UTC), decimal.Decimal("1.5"), fractions.Fraction(1, 3),
        Path("/nonexistent/x"), Path(os.devnull),
    ]  # fmt: skip


@contextmanager
def within(seconds: int) -> Iterator[None]:
    """End what takes longer, so that nothing hangs."""

    def end(*_: object) -> None:
        raise TimeoutError(f"took more than {seconds} s")

    before = signal.signal(signal.SIGALRM, end)
    signal.alarm(seconds)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


@pytest.fixture
def known(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[Door]:
    monkeypatch.chdir(tmp_path)
    return doors(tmp_path)


def test_each_door_opens_with_the_right_arguments(known: list[Door]) -> None:
    for door in known:
        door.call(**door.arguments)


@pytest.mark.parametrize("seed", range(amount(2, of=60)))
def test_wrong_arguments_are_evenlys_errors(seed: int, known: list[Door], tally: MakeTally) -> None:
    chosen, counts = random.Random(seed), tally("calls with a wrong argument")
    places = [(door, name) for door in known for name in door.arguments]
    for _ in range(250):
        door, name = chosen.choices(places, [1 / door.costs for door, _ in places])[0]
        value = chosen.choice(nonsense())
        counts.try_one()
        try:
            with within(20), warnings.catch_warnings():
                warnings.simplefilter("ignore")
                door.call(**{**door.arguments, name: value})
        except TimeoutError as error:
            counts.bad("hung", f"{door.name}({name}={value!r:.60}): {error}")
        except (EvenlyError, OSError):  # a path that can't be
            pass
        except Exception as error:
            # A function of the user's may raise what it likes.
            if not callable(value):
                counts.bad("traceback", f"{door.name}({name}={value!r:.60}): {type(error).__name__}: {error}")
