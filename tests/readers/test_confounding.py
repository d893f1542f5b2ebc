"""Counts that are multiples of each other, and sizes that grow with the ranks."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import evenly
from evenly.errors import ExtrapolationWarning, InputError
from evenly.readers.confounding import alike_at_the_top, confounded, unlike
from evenly.readers.needless import without_needless
from evenly.readers.scanning import Measurements, scan
from evenly.readers.tables.roles import Column
from evenly.runs.runs import Runs


def _read(folder: Path, rows: list[tuple[int, int, float]], header: str, **options: Any) -> Measurements:
    path = folder / "runs.csv"
    path.write_text("\n".join([header, *(",".join(map(str, row)) for row in rows)]) + "\n")
    return scan(path, **options)


ROWS = [(1, 48, 8.0), (2, 96, 4.2), (4, 192, 2.3)]


@pytest.mark.parametrize(
    ("header", "kept"),
    [("nodes,cores,seconds", "cores"), ("cores,ntasks,seconds", "cores"), ("n_nodes,mpi_ranks,seconds", "mpi_ranks")],
)
def test_of_counts_that_are_multiples_one_is_kept_and_that_is_said(tmp_path: Path, header: str, kept: str) -> None:
    found = _read(tmp_path, ROWS, header)
    assert found.runs[""].parameters == [kept]
    other = next(name for name in header.split(",")[:2] if name != kept)
    sign = "*" if other == "ntasks" else "/"
    assert f"{other} is {kept} {sign} 48 in all runs, so it is left out (--parameters names both)" in found.notes
    assert {column.name: column.role for column in found.columns}[other] == "left out"


def test_named_parameters_stay(tmp_path: Path) -> None:
    found = _read(tmp_path, ROWS, "nodes,cores,seconds", parameters="nodes,cores")
    assert found.runs[""].parameters == ["nodes", "cores"]


def test_nodes_of_different_sizes_stay(tmp_path: Path) -> None:
    found = _read(tmp_path, [*ROWS, (4, 96, 3.9)], "nodes,cores,seconds")
    assert found.runs[""].parameters == ["nodes", "cores"]


def test_a_size_that_is_a_multiple_is_no_count(tmp_path: Path) -> None:
    found = _read(tmp_path, [(1, 100, 8.0), (2, 200, 8.1), (4, 400, 8.3)], "cores,grid,seconds")
    assert found.runs[""].parameters == ["cores", "grid"]
    assert any("grid grows with cores in all runs (weak scaling)" in note for note in found.notes)


def test_nodes_that_follow_from_ranks_and_threads_are_left_out() -> None:
    rows = [(1, 8, 3), (1, 12, 4), (2, 48, 2), (2, 24, 4), (4, 48, 4), (8, 96, 4), (1, 24, 1)]
    table = pd.DataFrame(rows, columns=["nodes", "ranks", "threads"])
    names = list(table.columns)
    told = [Column(name, "parameter", "") for name in names]
    runs = Runs.from_frame(table.assign(seconds=100 / (table["ranks"] * table["threads"])), names)
    kept, _, notes = without_needless({"": runs}, told)
    assert kept[""].parameters == ["ranks", "threads"]
    assert "nodes is ranks * threads / 48, rounded up in all runs, so it is left out" in notes[0]
    # One run on half-filled nodes: their number is a parameter of its own.
    table.loc[1, "nodes"] = 2
    runs = Runs.from_frame(table.assign(seconds=100 / (table["ranks"] * table["threads"])), names)
    assert without_needless({"": runs}, told)[0][""].parameters == names


def test_sizes_that_changed_with_each_other_are_said_and_marked() -> None:
    table = pd.DataFrame({"nx": [64, 128, 256, 512], "dt": [8.0, 4.0, 2.0, 1.0], "mode": [1, 2, 2, 1]})
    runs = Runs.from_frame(table.assign(seconds=table["nx"] / table["dt"]), ["nx", "dt", "mode"])
    assert confounded(runs) == "dt changes with nx in all runs: what either does alone can't be told"
    model = evenly.fit(runs, method="power-law")
    asked = {"nx": [128, 256, 256], "dt": [4.0, 2.0, 4.0], "mode": [2, 2, 2]}
    assert model.extrapolates(asked).tolist() == [False, False, True]


def test_off_a_line_the_interval_is_as_wide_as_the_distance() -> None:
    ranks = [1, 2, 4, 8, 16, 32, 64, 128]
    table = pd.DataFrame({"ranks": ranks, "cells": [10_000 * p for p in ranks]})
    table["seconds"] = [10 + 0.5 * at for at in range(8)]
    model = evenly.fit(Runs.from_frame(table, ["ranks", "cells"]), method="power-law")
    on, off = ({"ranks": [p], "cells": [c]} for p, c in ((128, 1_280_000), (128, 640_000)))
    (low, high), (lower, upper) = (model.interval(asked) for asked in (on, off))
    assert high[0] / low[0] < 1.5
    # Half of the cells may take the same time, or half of it.
    assert lower[0] < 0.6 * model.predict(off)[0]
    assert upper[0] > 1.9 * model.predict(off)[0]
    # The line goes on beyond the runs.
    assert model.extrapolates({"ranks": [256], "cells": [2_560_000]})[0]
    with pytest.warns(ExtrapolationWarning):
        far_low, far_high = model.interval({"ranks": [256], "cells": [2_560_000]})
    assert far_high[0] / far_low[0] < 2


def test_of_many_runs_a_few_odd_ones_say_little() -> None:
    table = pd.DataFrame({"cores": 4, "seconds": [1.0] * 39 + [9.0]})
    assert unlike(Runs.from_frame(table, ["cores"])) == ""
    table = pd.DataFrame({"cores": 4, "seconds": [1.0] * 20 + [9.0] * 20})
    assert "by up to 9 times" in unlike(Runs.from_frame(table, ["cores"]))


def test_nodes_that_follow_from_ranks_and_ranks_per_node_are_left_out() -> None:
    table = pd.DataFrame({"nodes": [1, 2, 4, 1], "ranks_per_node": [16, 16, 16, 32], "ranks": [16, 32, 64, 32]})
    names = list(table.columns)
    runs = Runs.from_frame(table.assign(seconds=100 / table["ranks"]), names)
    kept, _, notes = without_needless({"": runs}, [Column(name, "parameter", "") for name in names])
    assert kept[""].parameters == ["ranks_per_node", "ranks"]
    assert notes[0].startswith("nodes is ranks / ranks_per_node in all runs, so it is left out")


@pytest.mark.parametrize(
    ("seconds", "said"),
    [
        ([3600.0, 3600.0, 2550.0, 1300.0], True),
        ([3605.0, 3605.0, 2550.0, 1300.0], False),  # two runs, and no whole minutes: chance
        ([3605.0, 3605.0, 3605.0, 1300.0, 700.0], True),
        ([60.0, 60.0, 31.0, 17.0], False),  # a clock of whole seconds
        ([3600.0, 1800.0, 1800.0, 1300.0, 700.0], False),
        ([120.0, 120.0, 61.0, 61.0], False),
    ],
)
def test_equal_longest_times_look_like_a_limit(seconds: list[float], said: bool) -> None:
    table = pd.DataFrame({"cores": [2**i for i in range(len(seconds))], "seconds": seconds})
    assert bool(alike_at_the_top(Runs.from_frame(table, ["cores"]))) is said


def test_a_size_that_grows_with_a_product_of_counts_is_weak_scaling(tmp_path: Path) -> None:
    """The size of one rank and one thread, times both: what more of them bring to one size is unknown."""
    rows = [(p, t, 1_000_000 * p * t, 0.5 + 0.01 * p) for p in (1, 2, 4, 16) for t in (1, 6, 24)]
    path = tmp_path / "weak.csv"
    path.write_text("\n".join(["n_procs,n_threads,problem_size,seconds", *(",".join(map(str, r)) for r in rows), ""]))
    found = scan(path)
    assert any("problem_size grows with n_procs * n_threads in all runs (weak scaling)" in note for note in found.notes)
    model = evenly.fit(found.runs[""], method="log-quadratic")
    asked = {"n_procs": [4, 1], "n_threads": [6, 1], "problem_size": [24_000_000, 10_000_000]}
    assert model.extrapolates(asked).tolist() == [False, True]
    low, high = model.interval(asked)
    assert high[1] / low[1] > 50
    with pytest.raises(InputError, match="weak scaling"):
        evenly.recommend(model, [1, 24], cores_are="n_procs * n_threads", at={"problem_size": 24_000_000})
