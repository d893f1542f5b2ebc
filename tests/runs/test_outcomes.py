"""Where runs ended well, and where none did."""

from __future__ import annotations

import itertools
import json

import numpy as np
import pandas as pd

import evenly
from evenly.runs.outcomes import Outcomes


def _runs(rows: list[tuple[object, ...]], names: tuple[str, ...]) -> evenly.Runs:
    table = pd.DataFrame([row[:-1] for row in rows], columns=list(names))
    table["seconds"] = [1.0 if row[-1] else np.nan for row in rows]
    table["status"] = ["ok" if row[-1] else "failed" for row in rows]
    return evenly.Runs.from_frame(table, list(names))


def test_a_configuration_fails_where_all_its_runs_did() -> None:
    known = Outcomes.of(_runs([(1, True), (2, True), (2, False), (4, False), (4, False)], ("cores",)))
    assert known.fail(pd.DataFrame({"cores": [1, 2, 3, 4, 8]})).tolist() == [False, False, True, True, True]
    assert not Outcomes.of(_runs([(1, True), (2, False), (2, True)], ("cores",))).failed.any()


def test_labels_have_no_neighbours() -> None:
    made = itertools.product(("direct", "iterative"), (100, 200, 400), (1, 4))
    known = Outcomes.of(_runs([(m, n, p, m != "direct" or n < 400) for m, n, p in made], ("method", "n", "cores")))
    asked = pd.DataFrame({
        "method": ["direct", "direct", "direct", "direct", "iterative"],
        "n": [400, 800, 250, 400, 800], "cores": [1, 1, 1, 2, 1],
    })  # fmt: skip
    assert known.fail(asked).tolist() == [True, True, False, True, False]
    assert known.fail(asked.assign(n=asked["n"].astype(float))).tolist() == [True, True, False, True, False]


def test_they_pass_through_a_file() -> None:
    known = Outcomes.of(_runs([("a", 1, True), ("b", 1, False), ("b", 2, True)], ("solver kind", "cores")))
    again = Outcomes.from_state(json.loads(json.dumps(known.to_state())))
    asked = pd.DataFrame({"solver kind": ["a", "b", "b"], "cores": [1, 1, 2]})
    assert again.fail(asked).tolist() == known.fail(asked).tolist() == [False, True, False]
    assert Outcomes.of(_runs([(1, True)], ("cores",))).to_state() == {}


def test_of_many_only_the_failed_ones_are_kept() -> None:
    known = Outcomes.of(_runs([(n, n % 100 != 0) for n in range(1, 3_001)], ("cores",)))
    again = Outcomes.from_state(known.to_state())
    assert (len(again.failed), again.whole) == (30, False)
    assert again.fail(pd.DataFrame({"cores": [99, 100, 3_500]})).tolist() == [False, True, False]


def test_the_nearest_measured_values_tell() -> None:
    """On 16 and 32 cores, the memory isn't enough for the largest size."""
    grid = itertools.product((16, 32, 64), (1, 4, 16))
    known = Outcomes.of(_runs([(cores, size, size < 16 or cores > 32) for cores, size in grid], ("cores", "size")))
    failing, fine = [(16, 32), (8, 32), (24, 64), (24, 16), (16, 15), (40, 9)], [(48, 32), (64, 32), (16, 7), (8, 1)]
    assert known.fail(pd.DataFrame(failing, columns=["cores", "size"])).all()
    assert not known.fail(pd.DataFrame(fine, columns=["cores", "size"])).any()
    lone = Outcomes.of(_runs([(16, 16, False), (64, 1, True), (32, 4, True)], ("cores", "size")))
    assert lone.fail(pd.DataFrame({"cores": [24], "size": [10]})).tolist() == [False]
