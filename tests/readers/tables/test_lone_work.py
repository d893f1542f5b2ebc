"""A number of steps that is another in one configuration only."""

from __future__ import annotations

from pathlib import Path

import pytest

from evenly.errors import ReadError
from evenly.readers.scanning import Measurements, scan

ROWS = ((8, 1552.5), (16, 795.8), (32, 395.2), (64, 222.8), (128, 138.4), (256, 44.8))


def _read(folder: Path, works: tuple[int, ...], name: str = "steps", **options: str) -> Measurements:
    path = folder / "runs.csv"
    rows = "".join(f"{p},{t},{work}\n" for (p, t), work in zip(ROWS, works, strict=True))
    path.write_text(f"cores,time_s,{name}\n{rows}")
    return scan(path, **options)


@pytest.mark.parametrize("name", ["steps", "n_steps", "simulated days"])
def test_a_lone_number_of_steps_is_asked_about(tmp_path: Path, name: str) -> None:
    works = (1000, 1000, 1000, 1000, 1000, 500)
    with pytest.raises(ReadError, match=r"line 7: .* is 500 here and 1000 in all other .*--where") as caught:
        _read(tmp_path, works, name)
    condition = str(caught.value).split("--where ")[1].split(")")[0].strip("'\"")
    assert len(_read(tmp_path, works, name, where=condition).runs[""]) == 5
    assert len(_read(tmp_path, works, name, parameters=["cores", name]).runs[""]) == 6  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("works", "name"),
    [
        ((1000, 1000, 1000, 500, 1000, 500), "steps"),
        ((1000, 1000, 1000, 250, 1000, 500), "steps"),
        ((1000, 1000, 1000, 1000, 1000, 500), "cells"),
    ],
)
def test_other_columns_are_read(tmp_path: Path, works: tuple[int, ...], name: str) -> None:
    assert _read(tmp_path, works, name).runs[""].parameters == ["cores", name]


def test_a_work_that_a_solver_does_not_tell_is_none(tmp_path: Path) -> None:
    rows = [f"atm,{p},5,{900 / p}" for p in (16, 32, 64)] + [f"ocn,{p},,{700 / p + 1}" for p in (16, 32, 64)]
    (tmp_path / "a.csv").write_text("\n".join(["component,cores,days,wall_s", *rows, ""]))
    assert sorted(scan(tmp_path / "a.csv").runs) == ["atm", "ocn"]
