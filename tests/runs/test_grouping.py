"""Runs split by a column, and parameters that never vary."""

from __future__ import annotations

import pandas as pd
import pytest

from evenly.errors import InputError
from evenly.runs.grouping import by_value, constants
from evenly.runs.runs import Runs

TABLE = pd.DataFrame(
    {"region": ["b", "a", "b", "a"], "p": [1, 1, 2, 2], "n": 9, "seconds": [4.0, 3.0, 2.0, 1.0], "status": "ok"}
)


def runs() -> Runs:
    return Runs.from_frame(TABLE, ["region", "p", "n"])


def test_parts_keep_all_rows_in_order_of_appearance() -> None:
    parts = by_value(runs(), "region")
    assert list(parts) == ["b", "a"]
    assert [part.parameters for part in parts.values()] == [["p"], ["p"]]
    assert [part.values.tolist() for part in parts.values()] == [[4.0, 2.0], [3.0, 1.0]]
    assert constants(runs()) == {"n": 9}


def test_numbers_are_sorted_and_solvers_kept_apart() -> None:
    assert list(by_value(Runs.from_frame(TABLE, ["p", "region"]), "p")) == ["1", "2"]
    assert list(by_value({"x": runs(), "y": runs()}, "region")) == ["x: b", "x: a", "y: b", "y: a"]
    assert list(by_value({"x": runs()}, "region")) == ["b", "a"]


def test_what_can_not_be_split_is_refused() -> None:
    with pytest.raises(InputError, match="no parameter 'phase' to split runs by: there are region, p, n"):
        by_value(runs(), "phase")
    with pytest.raises(InputError, match="no parameter beside 'region' varies"):
        by_value(Runs.from_frame(TABLE[TABLE["p"] == 1], ["region", "p"]), "region")
