"""Columns that tell what became of runs: a scheduler's words, or codes of which each may tell of a failure."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from evenly.readers.tables.options import TableOptions
from evenly.readers.tables.state_column import find_states
from evenly.readers.tables.values import Values


def _values(**columns: list[str]) -> Values:
    cells = pd.DataFrame(columns, dtype=object)
    return Values(TableOptions(), Path("a.csv"), cells, np.arange(2, 2 + len(cells)))


@pytest.mark.parametrize("order", [("failed", "exit_status"), ("exit_status", "failed")])
def test_of_two_codes_each_tells_of_failures(order: tuple[str, str]) -> None:
    codes = {"failed": ["0", "0", "100"], "exit_status": ["0", "137", "0"]}
    found = find_states(_values(cores=["8", "16", "32"], **{name: codes[name] for name in order}), None, ())
    assert found is not None
    assert found.status.tolist() == ["ok", "failed", "failed"]
    assert {note.rpartition(": ")[2] for note in found.notes} == {"1 × 137 ('exit_status')", "1 × 100 ('failed')"}


def test_a_code_tells_of_a_failure_that_a_schedulers_words_know_nothing_of() -> None:
    words = ["COMPLETED", "COMPLETED", "FAILED", "TIMEOUT"]
    found = find_states(_values(State=words, ExitCode=["0:0", "0:9", "1:0", "0:0"]), None, ())
    assert found is not None
    assert (found.name, found.status.tolist()) == ("State", ["ok", "failed", "failed", "timed out"])
    assert "failed, so not learned from: 1 × 0:9 ('ExitCode')" in found.notes
    # A step of a job may fail where the job doesn't.
    found = find_states(_values(State=words, DerivedExitCode=["0:0", "1:0", "1:0", "0:0"]), None, ())
    assert found is not None
    assert found.status.tolist() == ["ok", "ok", "failed", "timed out"]


def test_a_column_that_is_named_is_the_only_one() -> None:
    found = find_states(_values(failed=["0", "0"], exit_status=["0", "137"]), "failed", ())
    assert found is not None
    assert found.status.tolist() == ["ok", "ok"]


def test_a_code_beside_a_schedulers_words_is_no_parameter_whatever_it_holds() -> None:
    found = find_states(_values(STAT=["DONE", "EXIT"], EXIT_CODE=["-", "137"]), None, ())
    assert found is not None
    assert found.others == ("EXIT_CODE",)


@pytest.mark.parametrize("name", ["ExitCode", "rc", "exit", "Exit-Code", "returncode"])
@pytest.mark.parametrize("codes", [["256", "32512"], ["-9", "-11"], ["137", "-1073741819"], ["1.0", "-9.0"]])
def test_a_code_may_be_that_of_a_wait_and_that_of_a_signal(codes: list[str], name: str) -> None:
    found = find_states(_values(**{name: ["0.0" if "." in codes[0] else "0", *codes]}), None, ())
    assert found is not None
    assert found.status.tolist() == ["ok", "failed", "failed"]
