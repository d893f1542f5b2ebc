"""Units: factors against what they mean."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from evenly.errors import InputError
from evenly.runs.runs import Runs
from evenly.runs.units import base_unit, check_named_unit, to_base


@pytest.mark.parametrize(
    ("number", "unit", "expected", "base"),
    [
        (3, "s", 3, "s"), (1500, "ms", 1.5, "s"), (2e6, "us", 2, "s"), (2e6, "µs", 2, "s"), (2e6, "μs", 2, "s"),
        (3e9, "ns", 3, "s"), (1.5, "min", 90, "s"), (2, "h", 7200, "s"), (1, "d", 86_400, "s"),
        (24, "SYPD", 3600, "s"), (24, "sypd", 3600, "s"), (2, "SDPD", 43_200, "s"), (4, "1/s", 0.25, "s"),
        (6, "1/min", 10, "s"), (2, "1/h", 1800, "s"), (1, "1/d", 86_400, "s"), (4.8e9, "ticks@2.4e9", 2, "s"),
        (2, "kB", 2000, "B"), (2, "KiB", 2048, "B"), (1, "GiB", 2**30, "B"), (3, "TB", 3e12, "B"),
        (2, "kJ", 2000, "J"), (1, "kWh", 3.6e6, "J"), (1, "Wh", 3600, "J"), (7, "1", 7, "1"),
    ],
)  # fmt: skip
def test_conversion(number: float, unit: str, expected: float, base: str) -> None:
    # One product or quotient of two floating-point numbers: relative error at most a few 2^-53.
    np.testing.assert_allclose(to_base([number, 2 * number][:1], unit), [expected], rtol=1e-15)
    assert base_unit(unit) == base


@pytest.mark.parametrize("unit", ["parsec", "", "S", "gib", "ticks@", "ticks@0", "ticks@-1", "ticks@inf", "ticks@nan"])
def test_unknown_units(unit: str) -> None:
    with pytest.raises(InputError, match=r"ticks"):
        base_unit(unit)
    with pytest.raises(InputError):
        to_base([1.0], unit)


def test_rate_zero_is_no_time() -> None:
    assert to_base([0.0], "SYPD").tolist() == [np.inf]


@pytest.mark.parametrize("name", ["time_ms", "wall [us]", "elapsed-min", "run (hours)"])
def test_a_unit_in_the_name_of_a_column_is_not_overlooked(name: str) -> None:
    frame = pd.DataFrame({"cores": [1, 2], name: [80.0, 41.0]})
    with pytest.raises(InputError, match="but the unit is 's'"):
        Runs.from_frame(frame, ["cores"], name)


def test_names_that_only_end_alike_are_no_units() -> None:
    for name in ("items", "warm", "status", "seconds"):
        check_named_unit(name, "s")
