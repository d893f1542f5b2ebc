"""Errors keep what a program needs to react to."""

from __future__ import annotations

import copy
import pickle
from pathlib import Path

import pytest

from evenly import errors


@pytest.mark.parametrize(
    "error",
    [
        errors.InputError("wrong"),
        errors.ReadError("a.csv", "broken", line=3),
        errors.InfeasibleError("no", constraint="cores"),
        errors.RunFailed("crashed", exit_code=137, output="killed"),
        errors.MissingExtraError("reading Parquet", extra="parquet"),
    ],
)
def test_errors_survive_pickle_and_copy(error: errors.EvenlyError) -> None:
    for other in (pickle.loads(pickle.dumps(error)), copy.copy(error), copy.deepcopy(error)):  # noqa: S301
        assert type(other) is type(error)
        assert str(other) == str(error)
        assert other.__dict__ == error.__dict__


def test_read_error_says_where() -> None:
    error = errors.ReadError("x/run.log", "a number was expected", line=7)
    assert str(error) == "x/run.log, line 7: a number was expected"
    assert (error.path, error.line, error.reason) == (Path("x/run.log"), 7, "a number was expected")
    assert str(errors.ReadError("x", "empty")) == "x: empty"


def test_families() -> None:
    assert issubclass(errors.ReadError, errors.InputError)
    assert issubclass(errors.InputError, ValueError)
    assert issubclass(errors.MissingExtraError, ImportError)
    assert not issubclass(errors.InfeasibleError, errors.InputError)
    kinds = [
        getattr(errors, name) for name in errors.__all__ if name not in ("check_keys", "did_you_mean", "option_text")
    ]
    assert all(issubclass(kind, errors.EvenlyError | errors.EvenlyWarning) for kind in kinds)
