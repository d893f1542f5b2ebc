"""Lists of runs that evenly itself saved: no column about a run becomes a parameter."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from evenly.campaign.listing import table_of
from evenly.campaign.record import Record
from evenly.errors import InputError
from evenly.readers import scan
from evenly.runs.runs import Runs


def _quantities(seconds: float, number: int) -> dict[str, float]:
    return {"seconds": seconds, "cpu_seconds": 60.0 + number, "cells": number}


def _saved(folder: Path, names: tuple[str, str]) -> Path:
    """Save the list of runs of a program that takes n / ranks seconds, as `evenly runs list --save` does."""
    ranks, label = names
    known: dict[int, dict[str, Any]] = {
        number: {ranks: p, label: f"case-{number:02d}"}
        for number, p in enumerate((1, 2, 4, 8, 16, 32), start=1)
    }  # fmt: skip
    records = [  # a row that says all that is known of a run
        Record(number, again, "ok", _quantities(64 / one[ranks] * (1 + again / 100), number),
               "anchor" if number == 3 and again else "plan", 0, took=64 / one[ranks] + 0.5, machine="vm",
               started=1e9 + number, details={"cpu": "Xeon", "queued_s": 0.3 * number, "peak_memory": 1e6 * number})
        for number, one in known.items() for again in range(2)
    ]  # fmt: skip
    table_of(records, known).to_csv(folder / "list.csv", index=False)
    return folder / "list.csv"


@pytest.mark.parametrize("names", [("ranks", "name"), ("job", "solver"), ("iteration", "message"), ("n", "took")])
def test_the_parameters_are_those_of_the_study(tmp_path: Path, names: tuple[str, str]) -> None:
    found = scan(_saved(tmp_path, names))
    (runs,) = found.runs.values()
    assert set(runs.parameters) == set(names)
    assert runs.ok.values[0] == 64.0
    roles = {one.name: one.role for one in found.columns}
    told = "run_took" if "took" in names else "took"
    assert (roles["seconds"], roles[told], roles["purpose"]) == ("time", "left out", "left out")
    assert ("cpu_seconds" in runs.quantities, roles["cells"]) == (True, "outcome")


def test_what_the_user_says_comes_first(tmp_path: Path) -> None:
    path = _saved(tmp_path, ("ranks", "name"))
    (runs,) = scan(path, time="took", parameters=["ranks"]).runs.values()
    assert runs.parameters == ["ranks"]
    assert runs.ok.values[0] == 64.5


def test_a_parameter_of_one_value_is_a_constant(tmp_path: Path) -> None:
    path = _saved(tmp_path, ("ranks", "name"))
    pd.read_csv(path).assign(name="one").to_csv(path, index=False)
    (runs,) = scan(path).runs.values()
    assert runs.parameters == ["ranks"]


def _stored(folder: Path) -> Path:
    table = pd.DataFrame(
        {"cores": [1, 2, 4], "mesh": ["a", "a", "b"], "seconds": [8.0, 4, 2], "cpu_seconds": [9.0, 5, 3]}
    )
    Runs.from_frame(table, ["cores", "mesh"], quantities={"cpu_seconds": "s"}).save(folder / "study.runs.csv")
    return folder / "study.runs.csv"


def test_what_the_user_chooses_of_stored_runs_acts(tmp_path: Path) -> None:
    runs = scan(_stored(tmp_path), where="cores < 4", parameters=["cores"], time="cpu_seconds").runs[""]
    assert (runs.parameters, runs.values.tolist()) == (["cores"], [9.0, 5.0])
    assert runs.space.parameters["cores"] == Runs.from_frame(runs.to_frame(), ["cores"]).space.parameters["cores"]


@pytest.mark.parametrize(
    "options",
    [{"where": "bogus == 3"}, {"where": "cores > 9"}, {"parameters": ["bogus"]}, {"unit": "ms"}, {"time": "mesh"}],
)
def test_what_stored_runs_have_no_use_for_is_refused(tmp_path: Path, options: dict[str, Any]) -> None:
    with pytest.raises(InputError):
        scan(_stored(tmp_path), **options)
