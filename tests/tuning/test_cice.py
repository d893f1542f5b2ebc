"""CICE's block decompositions: how many there are in each reading, and that rules of the document hold."""

from __future__ import annotations

import itertools
import json
import re
import subprocess
import sys
from pathlib import Path
from typing import get_args

import pytest
from typer.testing import CliRunner

from evenly.cli.app import app
from evenly.errors import InputError
from evenly.tuning.spaces.cice import (
    GRID,
    LISTED_BLOCKS,
    NEWER,
    TASKS,
    Mask,
    Reading,
    cice_space,
    namelist,
    with_domain,
)


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


ICE_IN = """&grid_nml
    grid_type = 'rectangular'
/

&domain_nml
    nprocs = 4
    block_size_x      = 25
    processor_shape   = 'slenderX2'
    distribution_type = 'cartesian'   ! how blocks are dealt out
/

&zbgc_nml
    nprocs_like = 3
/
"""
#: Prints the timers of a run as CICE does; the time is made up, and "rake" stops.
STAND_IN = """
import re, sys
text = open("ice_in").read()
value = lambda name: re.search(rf"^ *{name} *= *'?([^'\\n]+)'?", text, re.M)[1].strip()
if value("distribution_type") == "rake":
    sys.exit("(abort_ice) ERROR: not that one")
x, y, tasks = (int(value(name)) for name in ("block_size_x", "block_size_y", "nprocs"))
assert value("max_blocks") == "-1" and int(sys.argv[1]) == tasks
dealt = value("distribution_type") != "sectrobin"
seconds = 8 / tasks * (1 + 0.1 * abs(x - 32) / 32 + 0.2 * abs(y - 16) / 16 + dealt)
print(f"Timer   1: Total     {seconds + 1:11.2f} seconds")
print(f"Timer   2: TimeLoop  {seconds:11.2f} seconds")
"""


def test_only_the_domain_is_changed() -> None:
    text = with_domain(ICE_IN, {"nprocs": 2, "distribution_type": "rake", "maskhalo_dyn": True})
    assert text.startswith(ICE_IN[: ICE_IN.index("    nprocs")])
    assert text.endswith(ICE_IN[ICE_IN.index("&zbgc_nml") :])
    assert re.findall(r"^ *(\w+) *= (.*)$", text.split("&domain_nml")[1].split("/")[0], re.MULTILINE) == [
        ("nprocs", "2"), ("block_size_x", "25"), ("processor_shape", "'slenderX2'"), ("distribution_type", "'rake'"),
        ("maskhalo_dyn", ".true."),
    ]  # fmt: skip
    with pytest.raises(InputError, match="no whole group &domain_nml"):
        with_domain("&grid_nml\n/", {})


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        (
            "&domain_nml\n nprocs = 4 ! tasks / ranks\n/ ! end\n&zbgc_nml\n/",
            "&domain_nml\n nprocs = 2\n  b = 'x''y'\n/ ! end\n&zbgc_nml\n/",
        ),
        ("&domain_nml nprocs = 4 /\n&zbgc_nml\n/", "&domain_nml nprocs = 2\n  b = 'x''y'\n/\n&zbgc_nml\n/"),
        ("&domain_nml\n b = 'a/b=c'\n nprocs = 4 /", "&domain_nml\n b = 'x''y'\n nprocs = 2\n/"),
    ],
)
def test_namelists_are_written_in_many_ways(given: str, expected: str) -> None:
    assert with_domain(given, {"nprocs": 2, "b": "x'y"}) == expected


def test_several_settings_in_a_line_are_refused() -> None:
    with pytest.raises(InputError, match="one setting in each line"):
        with_domain("&domain_nml\n nprocs = 4, block_size_x = 8\n/", {"nprocs": 2})


def test_the_documented_study_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With a stand-in for CICE; what is shown in docs/cice.md is taken from there."""
    document = (Path(__file__).parents[2] / "docs" / "cice.md").read_text(encoding="utf-8")
    for name, body in re.findall(r"^```(?:python|toml) (\S+)\n(.*?)^```$", document, re.DOTALL | re.MULTILINE):
        (tmp_path / name).write_text(body.replace("nprocs = [2]\n", "nprocs = [2, 4]\n"), encoding="utf-8")
    (tmp_path / "ice_in").write_text(ICE_IN, encoding="utf-8")
    (tmp_path / "cice").write_text(STAND_IN, encoding="utf-8")
    starter = tmp_path / "start"
    starter.write_text(f'#!/bin/sh\nexec {sys.executable} "$3" "$2"\n', encoding="utf-8")
    starter.chmod(0o755)
    monkeypatch.setenv("CICE_RUN", str(tmp_path))
    monkeypatch.setenv("MPIRUN", str(starter))
    answer = CliRunner().invoke(app, ["tune", str(tmp_path / "blocks.toml"), "--runs", "9", "--json", "--quiet"])
    assert answer.exit_code == 0, answer.output
    found = json.loads(answer.stdout)
    assert {row["nprocs"] for row in found["tasks"]} == {2, 4}
    dealt = {(row["status"], row["configuration"]["distribution_type"]) for row in found["history"]}
    assert {kind for status, kind in dealt if status == "failed"} <= {"rake"}
    assert found["best"]["distribution_type"] in {kind for status, kind in dealt if status == "ok"}
    confirm = (tmp_path / "confirm.py").read_text(encoding="utf-8").replace('"rake"', '"sectcart"')
    (tmp_path / "confirm.py").write_text(confirm, encoding="utf-8")
    done = subprocess.run([sys.executable, "confirm.py"], cwd=tmp_path, capture_output=True, text=True, check=True)
    # By the stand-in, seconds are 4 · 2.2 by default, 4 · 2.9 for the winner, 4 · 3.5 for one block.
    assert re.findall(r"least ([\d.]+) s, median ([\d.]+) s of 8", done.stdout) == [
        ("8.80", "8.80"), ("11.60", "11.60"), ("14.00", "14.00"),
    ]  # fmt: skip
