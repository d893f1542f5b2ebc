"""Cells go through files unchanged, and a damaged file is said to be one."""

from __future__ import annotations

import contextlib
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from evenly.decomposition.cells.cell import Cell, Transform
from evenly.decomposition.cells.survey import Survey
from evenly.errors import InputError, ReadError
from evenly.fdtd.cell.grid import Grid


def make(seed: int = 0, kinds: tuple[str, ...] = ("dielectric", "pole Lorentz 1 (0)")) -> Cell:
    random = np.random.default_rng(seed)
    edges = ((0, 3, 10), (0, 1, 2, 8), (0, 6))
    return Cell(
        "fdtd",
        Grid((1.0, 0.8, 0.6), 10, 0.4),
        Survey.of_blocks(edges, kinds, random.random((2, 3, 1, len(kinds)))),
        (True, False, False),
        ((0, 0), (2, 1), (0, 0)),
        ((0, 0), (0, 0), (1, 2)),
        transforms=(Transform((0, 0, 2), (10, 8, 3), 0.25, 21),),
        complex_fields=True,
        name="a cell",
        traits={"threads": 2.0},
    )


def same(one: Cell, other: Cell) -> bool:
    fields = [f for f in Cell.__dataclass_fields__ if f != "survey"]
    edges = zip(one.survey.edges, other.survey.edges, strict=True)
    return (
        all(getattr(one, f) == getattr(other, f) for f in fields)
        and one.survey.kinds == other.survey.kinds
        and np.array_equal(one.survey.table, other.survey.table)
        and all(np.array_equal(a, b) and a.dtype == b.dtype for a, b in edges)
    )


@given(st.integers(0, 1000), st.lists(st.text(max_size=12), unique=True, max_size=4))
@settings(max_examples=20, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_round_trip(tmp_path: Path, seed: int, kinds: list[str]) -> None:
    cell = make(seed, tuple(kinds))
    cell.save(tmp_path / "cell.npz")
    assert same(Cell.load(tmp_path / "cell.npz"), cell)


def test_saving_keeps_the_name_of_the_file(tmp_path: Path) -> None:
    make().save(tmp_path / "cell")
    assert [path.name for path in tmp_path.iterdir()] == ["cell"]


def test_a_file_that_can_not_be_written(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="can't be saved"):
        make().save(tmp_path / "nowhere" / "cell.npz")


@pytest.mark.parametrize("keep", [0.0, 0.3, 0.9, 0.999])
def test_a_file_that_was_cut_off(tmp_path: Path, keep: float) -> None:
    path = tmp_path / "cell.npz"
    make().save(path)
    content = path.read_bytes()
    path.write_bytes(content[: int(keep * len(content))])
    with pytest.raises(ReadError, match="cell"):
        Cell.load(path)


@given(st.data())
@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_a_file_with_a_wrong_byte_is_refused_or_means_the_same(tmp_path: Path, data: st.DataObject) -> None:
    path, cell = tmp_path / "cell.npz", make()
    cell.save(path)
    content = bytearray(path.read_bytes())
    at = data.draw(st.integers(0, len(content) - 1))
    content[at] ^= data.draw(st.integers(1, 255))
    path.write_bytes(content)
    with contextlib.suppress(ReadError):
        assert same(Cell.load(path), cell)


def rewritten(path: Path, **changed: Any) -> None:
    """Write the file anew with other arrays, or with other values in what it says of itself."""
    with np.load(path) as stored:
        arrays = dict(stored)
    about = json.loads(bytes(arrays["about"]))
    for name, value in changed.items():
        if name in arrays:
            arrays[name] = value
        else:
            about[name] = value
    np.savez(path, **{**arrays, "about": np.frombuffer(json.dumps(about).encode(), np.uint8)})


@pytest.mark.parametrize(
    "changed",
    [
        {"format": "another"},
        {"version": 2},
        {"kinds": ["one"]},
        {"pml": [[0, 0]]},
        {"periodic": [True]},
        {"transforms": [[1, 2]]},
        {"grid": {"size": [1, 1, 1], "resolution": 10, "courant": 0.4}},
        {"grid": {"size": [1, 1, 1], "resolution": -10, "courant": 0.4}},
        {"grid": 3},
        {"x": np.array([0, 10])},
        {"x": np.array([0, 11, 10])},
        {"x": np.array([1, 3, 10])},
        {"x": np.array([])},
        {"y": np.zeros((2, 2))},
        {"table": np.zeros((3, 4, 2))},
        {"table": np.array([None])},
        {"table": np.full((3, 4, 2, 2), np.nan)},
    ],
)
def test_a_file_of_something_else(tmp_path: Path, changed: dict[str, Any]) -> None:
    path = tmp_path / "cell.npz"
    make().save(path)
    rewritten(path, **changed)
    with pytest.raises(ReadError):
        Cell.load(path)


def test_other_files(tmp_path: Path) -> None:
    path = tmp_path / "cell.npz"
    with pytest.raises(ReadError):
        Cell.load(path)
    np.savez(path, a=np.zeros(3))
    with pytest.raises(ReadError):
        Cell.load(path)
    path.write_text("{}")
    with pytest.raises(ReadError):
        Cell.load(path)


def test_a_survey_of_another_shape() -> None:
    with pytest.raises(InputError, match="10, 8, 6"):
        replace(make(), grid=Grid((1.0, 1.0, 1.0), 10))


def test_columns() -> None:
    cell = make()
    counts = np.array([[1.0, 2.0], [3.0, 4.0]])
    assert cell.column(counts, "pole Lorentz 1 (0)").tolist() == [2, 4]
    assert cell.column(counts, "magnetic").tolist() == [0, 0]
    assert (cell.parts, replace(cell, complex_fields=False).parts) == (2, 1)
