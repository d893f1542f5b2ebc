"""Layouts go to Meep and back, and its chunks are those of the layout."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenly.adapters.meep.layouts import from_meep
from evenly.decomposition.cells.cell import Cell
from evenly.decomposition.cells.survey import Survey
from evenly.decomposition.costs.cost_model import Coefficient, CostModel
from evenly.decomposition.partitioning.partition import partition
from evenly.decomposition.partitioning.shifted_layouts import moved
from evenly.errors import InputError
from evenly.fdtd.cell.grid import Grid
from evenly.fdtd.cell.partition import BinaryPartition
from tests.adapters.meep.conftest import Inside


def _trees() -> st.SearchStrategy[Any]:
    cut = st.tuples(st.sampled_from("xyz"), st.floats(-5, 5))
    return st.recursive(st.integers(0, 99), lambda sub: st.tuples(cut, sub, sub).map(list), max_leaves=12)


def _meeps(node: BinaryPartition) -> Any:
    """A tree with the attributes that Meep's has."""
    if node.left is None or node.right is None:
        return SimpleNamespace(proc_id=np.int64(node.owner or 0), left=None, right=None)
    return SimpleNamespace(
        split_dir=node.axis, split_pos=node.position, left=_meeps(node.left), right=_meeps(node.right), proc_id=None
    )


@given(_trees())
def test_layouts_come_back_from_meeps_form(data: Any) -> None:
    layout = BinaryPartition(data)
    assert from_meep(_meeps(layout)) == layout


@given(_trees(), st.tuples(*[st.integers(-8, 8).map(lambda n: n / 4)] * 3))
def test_moved_layouts_cut_elsewhere(data: Any, by: tuple[float, float, float]) -> None:
    layout = BinaryPartition(data)
    there = moved(layout, by)
    assert there.owners == layout.owners
    for (_, old), (_, new) in zip(layout.walk(), there.walk(), strict=True):
        if old.axis is not None and old.position is not None:
            assert new.position == old.position + by[old.axis]


def test_a_node_without_sides_is_refused() -> None:
    with pytest.raises(InputError, match="proc_id"):
        from_meep(SimpleNamespace(proc_id=None, left=None, right=None))
    leaf = SimpleNamespace(proc_id=0, left=None, right=None)
    with pytest.raises(InputError, match="x, y, z or r"):
        from_meep(SimpleNamespace(proc_id=None, left=leaf, right=leaf, split_dir=4, split_pos=0.0))


def test_a_plan_is_saved_in_the_programs_coordinates(tmp_path: Path) -> None:
    survey = Survey.of_blocks(((0, 40), (0, 20), (0, 20)), (), np.zeros((1, 1, 1, 0)))
    cell = Cell("meep", Grid((4, 2, 2), 10), survey, center=(1.0, 0.0, 0.0))
    plan = partition(cell, 2, CostModel("meep", {"points": Coefficient(1e-8)}))
    assert plan.layout == BinaryPartition([("x", 0.0), 0, 1])
    assert BinaryPartition.load(plan.save(tmp_path / "layout.json")) == BinaryPartition([("x", 1.0), 0, 1])
    cell.save(tmp_path / "cell.npz")
    assert Cell.load(tmp_path / "cell.npz").center == (1.0, 0.0, 0.0)


def test_meep_cuts_where_evenly_says(inside: Inside) -> None:
    assert inside("cuts", 11, 80) == []


def test_a_files_layout_goes_through_meep_unchanged(inside: Inside, tmp_path: Path) -> None:
    layout = BinaryPartition([("z", 1 / 3), 0, [("x", -0.1), [("y", 1e-7), 2, 1], 0]])
    found = inside("file_round_trip", str(layout.save(tmp_path / "layout.json")))
    assert BinaryPartition([tuple(found[0]), *_tupled(found[1:])]) == layout


def _tupled(parts: list[Any]) -> list[Any]:
    return [[tuple(p[0]), *_tupled(p[1:])] if isinstance(p, list) else p for p in parts]
