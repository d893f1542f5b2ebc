"""What `allocate` refuses, and how it says so."""

from __future__ import annotations

import pytest

import evenly
from evenly.errors import InputError
from evenly.models.power_law import PowerLaw


def test_a_solver_measured_on_one_count_is_refused() -> None:
    once = PowerLaw().fit({"cores": [8, 8]}, [2.0, 2.1])
    with pytest.raises(InputError, match="'a' was measured on 8 cores only"):
        evenly.allocate({"a": once, "b": lambda p: 8 / p}, cores=16)
    plan = evenly.allocate({"a": once, "b": lambda p: 8 / p}, cores=16, limits={"a": {"allowed": [8]}})
    assert plan.cores["a"] == 8
