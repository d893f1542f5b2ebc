"""Tables that look like others: what they hold isn't taken for what it isn't."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from evenly.errors import InputError, ReadError
from evenly.readers.scanning import scan
from evenly.readers.tables.side_by_side import shared_pattern
from evenly.runs.cores import find_cores
from evenly.runs.count_names import cores_of_each, kind_of


def table(folder: Path, name: str, text: str) -> Path:
    (folder / name).write_text(text)
    return folder / name


def test_a_list_beside_one_time_is_no_list_of_runs(tmp_path: Path) -> None:
    one = {"cores": 64, "time_s": 12.5, "iterations": [10, 12, 11]}
    with pytest.raises(ReadError, match="none of the formats"):
        scan(table(tmp_path, "a.json", json.dumps(one)))


def test_records_beside_lists_of_runs_are_kept(tmp_path: Path) -> None:
    found = {"config": {"mesh": 2}, "cores": [1, 2, 4], "time_s": [9.0, 5.0, 3.0]}
    columns = scan(table(tmp_path, "a.json", json.dumps(found))).columns
    assert next((column.name, column.role) for column in columns) == ("mesh", "constant")


def test_the_time_of_whole_runs_may_have_decimal_commas(tmp_path: Path) -> None:
    rows = "atm_cores;ocn_cores;atm_s;ocn_s;whole [s]\n8;4;10,5;9,5;10,6\n16;8;5,5;5,25;5,6\n32;16;2,9;2,75;3,1\n"
    found = scan(table(tmp_path, "a.csv", rows))
    assert set(found.runs["atm"].parameters) == {"cores"}
    assert any("left out: 'whole [s]'" in note for note in found.notes)


LABELLED = "job,cores,seconds\nh2o-64,4,9\nh2o-128,4,19\nh2o-512,4,80\nh2o-1024,4,160\n"


def test_columns_that_the_user_names_stay_as_they_are(tmp_path: Path) -> None:
    path = table(tmp_path, "a.csv", LABELLED)
    assert scan(path, parameters="job,cores").runs[""].configurations["job"].tolist()[0] == "h2o-64"
    assert len(scan(path, parameters="job", where='job != "h2o-64"').runs[""].configurations) == 3


@pytest.mark.parametrize("name", ["mpi_omp", "MPI/OpenMP", "hybrid layout", "ranks smt"])
def test_ranks_and_threads_are_no_number_of_processes(tmp_path: Path, name: str) -> None:
    rows = f"{name},seconds\n8x1,9\n8x2,5\n8x4,3\n"
    assert not any("number of processes" in note for note in scan(table(tmp_path, "a.csv", rows)).notes)


@pytest.mark.parametrize("name", ["threads per ranks", "threads per tasks", "cpus per processes", "threads per proc"])
def test_what_several_ranks_have_each_is_of_each_rank(name: str) -> None:
    assert kind_of(name) == "per rank"


def test_numbers_in_names_are_no_cores_of_nodes() -> None:
    assert kind_of("Nos.") == ""
    assert [cores_of_each(name) for name in ("nodes x86 cores", "max 4 cores", "nodes x 48 cores")] == [0, 0, 48]


def test_counts_in_words_are_read_of_repeated_runs_and_beside_blanks(tmp_path: Path) -> None:
    cells = ["serial", "serial", "2 cores", "2 cores", "4 cores", "4 cores"]
    rows = "resources,seconds\n" + "".join(f"{cell},{9 - n}\n" for n, cell in enumerate(cells))
    assert scan(table(tmp_path, "a.csv", rows)).runs[""].configurations["cores"].tolist() == [1, 1, 2, 2, 4, 4]
    with pytest.raises(ReadError, match="line 4: the parameter 'processes' has no value in this row"):
        scan(table(tmp_path, "b.csv", "how,seconds\n1 process,9\n2 processes,5\n-,3\n4 processes,2\n"))


def test_names_with_a_star_share_no_pattern() -> None:
    assert shared_pattern(["t*_atm [s]", "t*_ocn [s]"]) == ""


def test_many_named_files_are_looked_for_once(tmp_path: Path) -> None:
    paths = [table(tmp_path, f"run{n}.csv", f"cores,seconds\n{2 ** (n % 6)},{9 / 2 ** (n % 6)}\n") for n in range(40)]
    paths.append(table(tmp_path, "lost.log", "nothing\n"))
    found = scan([*paths, tmp_path])
    assert [path.name for path in found.unread] == ["lost.log"]
    assert sum(len(runs.configurations) for runs in found.runs.values()) == 40


@pytest.mark.parametrize(("other", "ratio"), [("cores", 2), ("nodes", 48)])
def test_threads_that_go_with_the_cores_or_nodes_are_those_of_all(tmp_path: Path, other: str, ratio: int) -> None:
    rows = f"{other},threads,time_s\n" + "".join(f"{n},{ratio * n},{900 / n}\n" for n in (1, 2, 4, 8, 16))
    found = scan(table(tmp_path, "a.csv", rows))
    assert found.runs[""].parameters == [other]
    assert any(f"threads is {other} * {ratio} in all runs, so it is left out" in note for note in found.notes)


def test_threads_that_go_with_the_ranks_are_asked_about(tmp_path: Path) -> None:
    rows = "ranks,threads,time_s\n" + "".join(f"{n},{2 * n},{900 / n}\n" for n in (1, 2, 4, 8, 16))
    runs = scan(table(tmp_path, "a.csv", rows)).runs[""]
    with pytest.raises(InputError, match=r"of all, learn without it, --parameters ranks; of each"):
        find_cores(runs.space, measured=runs.configurations)
    assert find_cores(runs.space, "ranks * threads", measured=runs.configurations).text == "ranks * threads"


def test_cores_stay_beside_all_threads(tmp_path: Path) -> None:
    rows = "total threads,cores,time_s\n" + "".join(f"{2 * n},{n},{900 / n}\n" for n in (1, 2, 4, 8, 16))
    assert scan(table(tmp_path, "a.csv", rows)).runs[""].parameters == ["cores"]


@pytest.mark.parametrize("label", ["v{}", "seed-{}", "release-{}", "issue-{}", "attempt-{}", "fp{}"])
def test_what_is_numbered_has_no_size(tmp_path: Path, label: str) -> None:
    rows = "what,time_s\n" + "".join(f"{label.format(n)},{9 + n}\n" for n in (1, 4, 16, 64))
    assert not any("is read as" in note for note in scan(table(tmp_path, "a.csv", rows)).notes)


def test_labels_of_layouts_and_times_without_cores_are_no_parameters(tmp_path: Path) -> None:
    rows = "pelayout,atm_cores,ocn_cores,atm_s,ocn_s,cpl_s,dt_s\n"
    for name, n, cpl, dt in (("XS", 8, 3.31, 60), ("S", 16, 1.92, 60), ("M", 32, 1.17, 30), ("L", 64, 0.71, 60)):
        rows += f"{name},{n},{n // 2},{800 / n},{300 / n},{cpl},{dt}\n"
    found = scan(table(tmp_path, "a.csv", rows))
    assert set(found.runs["atm"].parameters) == {"cores", "dt_s"}
    assert any("left out: 'pelayout', whose labels name the cores" in note for note in found.notes)
    assert any("left out: 'cpl_s', which may be the time" in note for note in found.notes)


def test_a_total_beside_a_part_may_be_the_time(tmp_path: Path) -> None:
    # loop_s was learned, with the total as a parameter.
    rows = "cores,loop_s,total\n" + "".join(f"{n},{100 / n + 1:.4g},{100 / n + 13:.4g}\n" for n in (1, 2, 4, 8, 16))
    with pytest.raises(ReadError, match="'loop_s' and 'total' may each be the time"):
        scan(table(tmp_path, "a.csv", rows))


def test_a_total_of_something_else_is_no_time(tmp_path: Path) -> None:
    rows = "nodes,loop_s,total\n" + "".join(f"{n},{100 / n + 1:.4g},{480 * n}\n" for n in (1, 2, 4, 8, 16))
    found = scan(table(tmp_path, "a.csv", rows))
    assert [one.name for one in found.columns if one.role == "time"] == ["loop_s"]


@pytest.mark.parametrize("remark", ["only 100 steps", "10 Zeitschritte", "nur 5 Tage"])
def test_a_remark_that_tells_other_work_is_asked_about(tmp_path: Path, remark: str) -> None:
    # Two of seven runs were ten times too short by their remark, which was left out: 57 s were predicted for 22.
    rows = "cores,time_s,remark\n" + "".join(
        f"{n},{(0.1 if n < 10 else 1) * (900 / n + 4):.4g},{remark if n < 10 else ''}\n"
        for n in (4, 8, 16, 32, 64, 128)
    )
    with pytest.raises(ReadError, match=r"tells another amount of work than others do.*--where"):
        scan(table(tmp_path, "a.csv", rows))
    assert len(scan(table(tmp_path, "a.csv", rows), where="cores > 10").runs[""].configurations) == 4


def test_states_in_more_languages_are_read(tmp_path: Path) -> None:
    for name, good, bad in (
        ("Estado", "concluído", "falhou"),
        ("状態", "完了", "失敗"),
        ("Durum", "tamamlandı", "hata"),
    ):
        rows = f"cores,time_s,{name}\n" + "".join(f"{n},{900 / n},{bad if n == 8 else good}\n" for n in (2, 4, 8, 16))
        runs = scan(table(tmp_path, "a.csv", rows)).runs[""]
        assert len(runs.ok.configurations) == 3
