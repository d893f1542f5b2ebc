"""Labels that hold a size are numbers; those that only name a row are none."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

import evenly
from evenly.errors import InputError, ReadError
from evenly.readers.scanning import Measurements, scan
from evenly.runs.cores import find_cores

TIMES = (10.3, 21.1, 40.5, 83.0, 162.2)


def _read(folder: Path, name: str, labels: list[str], counts: tuple[int, ...], **options: str) -> Measurements:
    path = folder / "runs.csv"
    rows = "".join(f"{label},{p},{t}\n" for label, p, t in zip(labels, counts, TIMES, strict=True))
    path.write_text(f"{name},cores,time_s\n{rows}")
    return scan(path, **options)


@pytest.mark.parametrize(
    ("name", "pattern", "parameter", "first"),
    [
        ("case", "case_{}", "case", 16), ("run", "run-{}k", "size", 16_000), ("grid", "{}^3", "grid", 4096),
        ("job", "h2o-{}.inp", "size", 16), ("log file", "log{}", "size", 16),
    ],
)  # fmt: skip
@pytest.mark.parametrize("counts", [(4, 4, 4, 4, 4), (1, 2, 4, 8, 16)])
def test_a_size_in_labels_is_a_parameter(
    tmp_path: Path, name: str, pattern: str, parameter: str, first: int, counts: tuple[int, ...]
) -> None:
    labels = [pattern.format(16 * 2**k) for k in range(5)]
    found = _read(tmp_path, name, labels, counts)
    assert found.runs[""].configurations[parameter].iloc[0] == first
    assert any(f"the number in its labels: {labels[0]} as {first}" in note for note in found.notes)
    kept = _read(tmp_path, name, labels, counts, categories=name)
    assert parameter not in kept.runs[""].parameters or kept.runs[""].configurations[parameter].iloc[0] == labels[0]


@pytest.mark.parametrize(
    ("name", "labels"),
    [
        ("job", ["job1", "job2", "job3", "job4", "job5"]),  # numbers of rows
        ("job", ["j48213", "j48220", "j48225", "j48230", "j48240"]),
        ("host", ["node1", "node8", "node20", "node64", "node128"]),
        ("log", ["c1.log", "c2.log", "c4.log", "c8.log", "c16.log"]),  # the cores
        ("gpu", ["V100", "P100", "A10", "H200", "T4"]),
    ],
)
def test_other_numbers_in_labels_are_no_sizes(tmp_path: Path, name: str, labels: list[str]) -> None:
    notes = _read(tmp_path, name, labels, (1, 2, 4, 8, 16)).notes
    assert not any("the number in its labels" in note for note in notes)


@pytest.mark.parametrize(
    ("pattern", "name", "cores"), [("{} nodes x 48 cores", "nodes x 48 cores", 16 * 48), ("np{}", "np", 16)]
)
def test_counts_in_labels_are_called_by_their_words(tmp_path: Path, pattern: str, name: str, cores: int) -> None:
    path = tmp_path / "runs.csv"
    path.write_text("config,time_s\n" + "".join(f"{pattern.format(16 * 2**k)},{t}\n" for k, t in enumerate(TIMES)))
    runs = scan(path).runs[""]
    assert runs.parameters == [name]
    assert find_cores(runs.space).of(runs.configurations, len(runs.configurations)).min() == cores


CASES = [(size, p) for size in (1, 4, 16) for p in (8, 16, 32, 64)]


def _cases(folder: Path, name: str, labels: dict[int, str], end: str = "_np{}") -> Path:
    path = folder / "cases.csv"
    rows = [f"{labels[n]}{end.format(p)},{p},{5 + 80 * n / p}\n" for n, p in CASES if n in labels]
    path.write_text(f"{name},np,time_s\n" + "".join(rows))
    return path


@pytest.mark.parametrize(("name", "parameter"), [("case", "case"), ("name", "name"), ("job", "size")])
def test_a_size_beside_a_count_in_labels_is_a_parameter(tmp_path: Path, name: str, parameter: str) -> None:
    path = _cases(tmp_path, name, {n: f"cavity_{n}M" for n in (1, 4, 16)})
    runs = scan(path).runs[""]
    assert runs.parameters == [parameter, "np"]
    assert sorted(set(runs.configurations[parameter])) == [1_000_000, 4_000_000, 16_000_000]


@pytest.mark.parametrize(
    "labels", [{1: "strong", 4: "weak"}, {1: "mesh1", 4: "mesh2", 16: "mesh3"}, {1: "1M", 4: "4M"}]
)
def test_other_labels_beside_a_count_are_asked_for(tmp_path: Path, labels: dict[int, str]) -> None:
    path = _cases(tmp_path, "case", labels)
    with pytest.raises(ReadError, match=r"runs that only differ in it differ in time by .* --parameters np,case"):
        scan(path)
    found = scan(path, parameters="np,case")
    assert sorted(found.runs[""].configurations["case"].unique()) == [f"{label}_np" for label in labels.values()]
    assert any("'case' is read without the count in its labels" in note for note in found.notes)


def test_labels_that_change_nothing_are_not_asked_for(tmp_path: Path) -> None:
    path = tmp_path / "runs.csv"
    path.write_text(
        "case,np,time_s\n" + "".join(f"r{k}_np{p},{p},{80 / p + k / 100}\n" for p in (8, 16) for k in (1, 2, 3))
    )
    assert scan(path).runs[""].parameters == ["np"]


GRID = [(size, n) for size in (2, 4, 8) for n in (16, 32, 64, 128)]


def _labels(folder: Path, pattern: str, more: dict[str, list[int]] | None = None) -> Path:
    path = folder / "runs.csv"
    more = more or {}
    rows = ["".join(f"{values[at]}," for values in more.values()) for at in range(len(GRID))]
    lines = [f"{pattern.format(size, n)},{row}{5 + 80 * size / n}\n" for (size, n), row in zip(GRID, rows, strict=True)]
    path.write_text(f"case,{''.join(f'{name},' for name in more)}time_s\n" + "".join(lines))
    return path


@pytest.mark.parametrize(
    ("pattern", "names"),
    [("box{}M_n{}", ["box", "n"]), ("{}M-np{}", ["case", "np"]), ("p{1}_grid{0}M", ["p", "grid"])],
)
def test_a_size_and_a_count_in_labels_are_two_parameters(tmp_path: Path, pattern: str, names: list[str]) -> None:
    found = scan(_labels(tmp_path, pattern))
    runs, (size, count) = found.runs[""], sorted(names, key=lambda name: name in ("n", "np", "p"))
    assert runs.parameters == names
    assert list(zip(runs.configurations[size] / 1e6, runs.configurations[count], strict=True)) == GRID
    assert any(f"'case' is read as {names[0]!r} and {names[1]!r}, " in note for note in found.notes)
    assert scan(tmp_path / "runs.csv", categories="case").runs[""].parameters == ["case"]


def test_a_size_in_labels_that_a_column_holds_leaves_the_count(tmp_path: Path) -> None:
    found = scan(_labels(tmp_path, "box_{}M_n{}", {"cells": [size * 1_000_000 for size, _ in GRID]}))
    assert found.runs[""].parameters == ["n", "cells"]
    with pytest.raises(InputError, match="--cores-are n"):
        find_cores(found.runs[""].space)


@pytest.mark.parametrize("pattern", ["v{}.{}", "box{}_t{}M", "{}_{}", "run{}_n{}b"])
def test_several_numbers_without_a_count_stay_labels(tmp_path: Path, pattern: str) -> None:
    path = _labels(tmp_path, pattern)
    assert not any("numbers in its labels" in note for note in scan(path, parameters="case").notes)


@pytest.mark.parametrize(
    ("column", "pattern", "names", "kept"),
    [
        ("config", "N{0}t{1}", ["N", "t"], ""), ("logfile", "mesh{0}_p{1}.log", ["mesh", "p"], ""),
        ("case", "{0}x{0}_{1}cores", ["case", "cores"], "{0}x{0}"),
        ("case", "dt0.0{0}_p{1}", ["case", "p"], "dt0.0{0}"),
        ("case", "nodes0{0}_ppn{1}", ["nodes", "ppn"], ""), ("case", "seed{0}_np{1}", ["case", "np"], "seed{0}"),
    ],
)  # fmt: skip
def test_a_count_beside_anything_in_labels_is_read(
    tmp_path: Path, column: str, pattern: str, names: list[str], kept: str
) -> None:
    path = _labels(tmp_path, pattern)
    path.write_text(path.read_text().replace("case,", f"{column},", 1))
    found = scan(path).runs[""].configurations
    assert list(found.columns) == names
    assert found[names[1]].tolist() == [n for _, n in GRID]
    if kept:
        assert found[names[0]].astype(str).tolist() == [kept.format(size) for size, _ in GRID]


def test_nodes_and_their_cores_in_words_are_counts(tmp_path: Path) -> None:
    path = tmp_path / "runs.csv"
    rows = "".join(f"{n} Knoten ({48 * n} Kerne),{80 / n + 2}\n" for n in (1, 2, 4, 8))
    path.write_text(f"Ressourcen,Laufzeit [s]\n{rows}")
    assert scan(path).runs[""].configurations["Kerne"].tolist() == [48, 96, 192, 384]


@pytest.mark.parametrize(
    ("label", "names"),
    [
        (lambda n: f"{n} node, {48 * n} core", ["cores"]),
        (lambda n: f"{n} node{'s' * (n > 1)}, {48 * n} cores", ["cores"]),
        (lambda n: f"{n} Knoten, {48 * n} Kern(e)", ["Kerne"]),
        (lambda n: f"{n} nœud(s), {48 * n} cœurs", ["cœurs"]),
        (lambda n: f"{n} nodo(s), {48 * n} núcleos", ["núcleos"]),
    ],
)
def test_counts_in_labels_may_be_in_the_singular(tmp_path: Path, label: Callable[[int], str], names: list[str]) -> None:
    # nœud wasn't known for nodes, so both were kept and called weak scaling.
    path = tmp_path / "runs.csv"
    path.write_text("setup;time (s)\n" + "".join(f"{label(n)};{1000 / n + 3:.4g}\n" for n in (1, 2, 4, 8, 16)))
    runs = evenly.read(path)
    assert isinstance(runs, evenly.Runs)
    assert runs.parameters == names
    assert runs.configurations[names[0]].tolist() == [48, 96, 192, 384, 768]


@pytest.mark.parametrize(
    ("column", "pattern"),
    [
        ("case", "{0}Mcells_{1}cores_run{2}"), ("run", "job8812{2}_{0}Mcells_{1}cores"),
        ("run", "{0}Mcells_{1}cores_rep{2}"),
        ("case", "cells{0}M_cores{1}_seed{2}"),
    ],
)  # fmt: skip
def test_a_third_number_does_not_hide_a_size(tmp_path: Path, column: str, pattern: str) -> None:
    path = tmp_path / "runs.csv"
    rows = [f"{pattern.format(size, n, at)},{5 + 80 * size / n}\n" for at, (size, n) in enumerate(GRID, 1)]
    path.write_text(f"{column},time_s\n" + "".join(rows))
    found = scan(path).runs[""].configurations
    assert found["cores"].tolist() == [n for _, n in GRID]
    (size,) = (name for name in found if name != "cores")
    assert (found[size] / found[size].min()).tolist() == [size / 2 for size, _ in GRID]


def test_a_size_without_a_name_is_not_dropped(tmp_path: Path) -> None:
    path = tmp_path / "runs.csv"
    rows = [f"N256_a{size}_np{n}_d{at}x,{5 + 80 * size / n}\n" for at, (size, n) in enumerate(GRID, 101)]
    path.write_text("run,time_s\n" + "".join(rows))
    try:
        names = list(scan(path).runs[""].configurations)
    except ReadError:
        names = ["a"]  # asked about
    assert names != ["np"]
