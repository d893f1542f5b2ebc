"""Errors name the wrong argument; what works stays allowed; a function's own errors stay what they are."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pytest
from numpy.typing import ArrayLike

import evenly
from evenly.arguments import check_seed, explained
from evenly.errors import InputError


@explained
def mean(values: ArrayLike, *, power: float = 1.0, name: str = "", path: Path | str = ".") -> float:
    return float(np.mean(np.asarray(values, dtype=np.float64) ** power)) + len(Path(path).parts) - len(name)


@explained
def each(
    parts: Sequence[int], named: Mapping[str, float], how: Literal["up", "down"], call: Callable[[int], int] = abs
) -> list[float]:
    return [named[how] * call(part) for part in sorted(parts)]


@explained
@dataclass(frozen=True)
class Options:
    fused: bool = True
    steps: int = 1
    machine: evenly.Machine | None = None


@pytest.mark.parametrize(
    ("values", "more", "message"),
    [
        ("x", {}, "mean: values must be ArrayLike, but got 'x' (str)"),
        ([1, 2], {"power": {}}, "mean: power must be float, but got {} (dict)"),
        ([1, 2], {"power": None}, "mean: power must be float, but got None (NoneType)"),
        ([1, 2], {"name": 3}, "mean: name must be str, but got 3 (int)"),
        ([1, 2], {"path": 3}, "mean: path must be Path | str, but got 3 (int)"),
    ],
)
def test_the_wrong_argument_is_named(values: Any, more: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError) as error:
        mean(values, **more)
    assert str(error.value) == message


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        ({"parts": 3}, "parts"),
        ({"parts": [1, None]}, "parts"),
        ({"named": {"up": None}}, "named"),
        ({"how": ["up"]}, "how"),
        ({"call": 3}, "call"),
    ],
)
def test_entries_are_looked_at(arguments: dict[str, Any], named: str) -> None:
    right: dict[str, Any] = {"parts": [2, 1], "named": {"up": 1.5}, "how": "up"}
    assert each(**right) == [1.5, 3.0]
    with pytest.raises(InputError, match=rf"^each: {named} must be "):
        each(**{**right, **arguments})


def test_what_works_stays_allowed() -> None:
    assert mean(np.array([2]), power=np.float32(2)) == 4.0  # type: ignore[arg-type]
    assert mean([2], power=np.array(2)) == 4.0  # type: ignore[arg-type]
    assert Options(fused=np.True_, steps=np.int64(3)).steps == 3  # type: ignore[arg-type]


@pytest.mark.parametrize("wrong", [{"fused": "no"}, {"fused": 0}, {"steps": "3"}, {"steps": 2.5}, {"machine": "lumi"}])
def test_a_class_refuses_what_it_would_believe(wrong: dict[str, Any]) -> None:
    with pytest.raises(InputError, match=f"^Options: {next(iter(wrong))} must be "):
        Options(**wrong)
    assert isinstance(Options(), Options)


def test_a_machines_name_is_not_ignored() -> None:
    with pytest.raises(InputError, match="allocate: machine must be Machine"):
        evenly.allocate({"a": lambda p: 1 / p}, 4, machine="lumi")  # type: ignore[arg-type]


def test_errors_that_are_no_argument_s_stay() -> None:
    def fails(_: int) -> int:
        raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        each([1], {"up": 1.0}, "up", fails)


def test_a_call_with_wrong_arguments_says_which_there_are() -> None:
    with pytest.raises(TypeError, match=r"mean: there is no argument 'colour': there are values, power, name, path"):
        mean([1], colour="red")  # type: ignore[call-arg]
    with pytest.raises(TypeError, match=r"there is no argument 'pwer' \(did you mean 'power'\?\)"):
        mean([1], pwer=2)  # type: ignore[call-arg]
    with pytest.raises(
        InputError, match="mean: missing a required argument: 'values'; its arguments are values, power"
    ):
        mean()  # type: ignore[call-arg]


def test_iterators_are_not_used_up() -> None:
    def numbers() -> Iterator[int]:
        yield 1

    assert each(numbers(), {"up": 1.5}, "up") == [1.5]  # type: ignore[arg-type]


def test_seeds_are_not_negative() -> None:
    check_seed(0)
    for make in (lambda: evenly.Noise(seed=-1), lambda: evenly.Search(evenly.Space(a=evenly.Integer(1, 2)), seed=-1)):
        with pytest.raises(InputError, match="seed must be a whole number of at least 0"):
            make()
