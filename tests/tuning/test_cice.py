"""CICE's block decompositions: how many there are in each reading, and that rules of the document hold."""

from __future__ import annotations

import itertools
from typing import get_args

import pytest

from evenly.errors import InputError
from evenly.tuning.spaces.cice import GRID, LISTED_BLOCKS, NEWER, TASKS, Mask, Reading, cice_space, namelist


def test_the_default_reading_is_the_nearest_to_the_document() -> None:
    counts = [cice_space(tasks).count() for tasks in TASKS]
    assert (min(counts), max(counts), sum(counts)) == (49, 96, 649)
    assert cice_space().count() == 649


def test_the_printed_number_comes_without_the_printed_values() -> None:
    reading = Reading(rounding="up", curve="blocks", listed=False, whole_columns=True)
    assert cice_space(reading=reading).count() == 653
    assert not set(cice_space(reading=reading).enumerate()["max.block"]) <= set(LISTED_BLOCKS)


def test_only_swapped_columns_give_all_listed_values() -> None:
    found = set(cice_space().enumerate()["max.block"])
    assert found <= set(LISTED_BLOCKS)
    # As printed: tall blocks for the round robins and curves, small ones for the slender shapes.
    printed = {
        round(GRID[0] * GRID[1] / (x * y * tasks))
        for tasks, x, y in itertools.product(TASKS, (1, 2, 4, 8), (24, 48, 96, 192, 384))
    }
    swapped = {
        round(GRID[0] * GRID[1] / (x * y * tasks))
        for tasks, x, y in itertools.product(TASKS, (4, 5, 8, 10), (4, 6, 8, 12))
    }
    assert len(set(LISTED_BLOCKS) & swapped) > len(set(LISTED_BLOCKS) & printed)


def test_rules_of_the_document_hold() -> None:
    table = cice_space().enumerate()
    assert not (table["decomp.typ"].eq("blkcart") & (table["max.block"] % 4 != 0)).any()
    slender = table[table["decomp.set"] != "null"]
    assert (slender["decomp.typ"] == "cartesian").all()
    one = table[table["decomp.set"] == "slenderX1"]
    assert (GRID[0] % (one["block.x"] * one["tasks"]) == 0).all()
    two = table[table["decomp.set"] == "slenderX2"]
    assert (2 * GRID[0] % (two["block.x"] * two["tasks"]) == 0).all()
    assert (GRID[1] % (2 * two["block.y"]) == 0).all()
    assert set(slender["mask.h"]) == {0, 1}
    assert set(table[table["decomp.set"] == "null"]["mask.h"]) == {0}


@pytest.mark.parametrize("mask", get_args(Mask))
def test_where_the_mask_varies(mask: Mask) -> None:
    table = cice_space(80, reading=Reading(mask=mask)).enumerate()
    varied = set(table[table["mask.h"] == 1]["decomp.set"].replace("null", "dealt"))
    assert varied == {
        "slender": {"slenderX1", "slenderX2"}, "everywhere": {"slenderX1", "slenderX2", "dealt"}, "nowhere": set(),
        "dealt": {"dealt"},
    }[mask]  # fmt: skip


def test_namelists_hold_all_blocks() -> None:
    for program in ("cesm", "cice6"):
        for _, row in cice_space(80, program=program).enumerate().iterrows():
            parts = [line.strip().partition(" = ") for line in namelist(row).splitlines()[1:-1]]
            lines = {name: value for name, _, value in parts}
            blocks = -(-GRID[0] // int(lines["block_size_x"])) * -(-GRID[1] // int(lines["block_size_y"]))
            assert int(lines["max_blocks"]) * int(lines["nprocs"]) >= blocks
            assert lines["processor_shape"] in ("'square-ice'", "'slenderX1'", "'slenderX2'")
    newer = set(cice_space(80, program="cice6").enumerate()["decomp.typ"])
    assert set(NEWER) < newer
    assert not {"blkrobin", "blkcart"} & newer


def test_wrong_use() -> None:
    for make in (
        lambda: cice_space(0),
        lambda: cice_space(10**6),
        lambda: cice_space(80, program="cice5"),  # type: ignore[arg-type]
        lambda: Reading(rounding="nearly"),  # type: ignore[arg-type]
        lambda: namelist({"tasks": 80}),
    ):
        with pytest.raises(InputError):
            make()
