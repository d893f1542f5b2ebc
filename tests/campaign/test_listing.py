"""What `evenly runs` shows of a store, and which runs an expression of its columns chooses."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from pathlib import Path

import pytest

from evenly.campaign.corrections import mark_bad
from evenly.campaign.listing import runs_in
from evenly.campaign.record import Record
from evenly.campaign.store import Store
from evenly.errors import ReadError
from evenly.launch.job_folders import is_queued
from evenly.report.tables.campaign import campaign_as_dict, failed_table, listing_line, listing_table

DETAILS: dict[str, str | float] = {"cpu": "AMD EPYC", "job": "77", "peak_memory": 1e7, "queued_s": 3.0}


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A store whose parameters and quantities have the names of what evenly itself tells of runs."""
    with Store(tmp_path / "s.db") as store:
        for cpu, peak in ((8, 5e9), (16, 5e8)):
            (number,) = store.add_configurations([{"cpu": cpu, "queued_s": 5}])
            store.add(Record(number, 0, "ok", {"seconds": 1.0, "peak_memory": peak}, details=DETAILS))
        store.add(Record(number, 1, "failed", {}, details=DETAILS))
    return tmp_path / "s.db"


def test_details_of_runs_replace_no_parameter_and_no_quantity(path: Path) -> None:
    found = runs_in(path)
    assert found.table["cpu"].tolist() == [8, 16, 16]
    assert found.table["queued_s"].tolist() == [5, 5, 5]
    assert found.table["peak_memory"].fillna(0).tolist() == [5e9, 5e8, 0]  # the failed run measured none
    assert found.table["run_cpu"].tolist() == 3 * ["AMD EPYC"]
    assert found.table["run_peak_memory"].tolist() == 3 * [1e7]
    assert found.table["job"].tolist() == 3 * ["77"]
    assert len(runs_in(path, "peak_memory > 1e9 and cpu < 10").table) == 1
    assert [str(column.header) for column in listing_table(found, most=9).columns].count("queued_s") == 1


def test_runs_are_marked_by_what_was_measured(path: Path) -> None:
    assert mark_bad(path, "peak_memory > 1e9", "it swapped") == 1
    assert runs_in(path, "cpu == 8").table["status"].tolist() == ["failed"]
    assert sorted(runs_in(path, "cpu == 16").table["status"]) == ["failed", "ok"]


def test_details_replace_no_quantity_in_json(path: Path) -> None:
    with Store(path) as store:
        first, *_ = campaign_as_dict(store.configurations(), store.records())
    assert (first["peak_memory"], first["run_peak_memory"], first["cpu"]) == (5e9, 1e7, "AMD EPYC")


def test_a_start_and_an_exit_code_that_are_not_known_are_not_shown(tmp_path: Path) -> None:
    with Store(tmp_path / "t.db") as store:
        (number,) = store.add_configurations([{"n": 8}])
        store.add(Record(number, 0, "failed", {}, message="evenly was killed 4 times"))
        (told,) = campaign_as_dict(store.configurations(), store.records())
        failed = failed_table(store.configurations(), store.records())
        assert store.table("")["when"].tolist() == [""]
    found = runs_in(tmp_path / "t.db")
    assert (told["started"], found.table["started"].tolist()) == (None, [""])
    for table in (failed, listing_table(found, most=9)):
        cells = {str(cell) for column in table.columns for cell in column.cells}
        assert not {"None", "01-01 00:00"} & cells


def test_a_parameter_may_be_called_as_what_evenly_tells(tmp_path: Path) -> None:
    with Store(tmp_path / "t.db") as store:
        (number,) = store.add_configurations([{"took": 8, "message": "long"}])
        store.add(Record(number, 0, "ok", {"seconds": 1.0}, took=2.5))
    found = runs_in(tmp_path / "t.db", "took == 8 and run_took < 3 and message == 'long'")
    assert found.table["run_message"].tolist() == [""]
    assert [str(column.header) for column in listing_table(found, most=9).columns][:2] == ["message", "took"]


def under_way(path: Path, mark: str, launcher: str) -> Path:
    with Store(path) as store:
        store.begin(mark, launcher, 1)
    return path.with_suffix(".jobs") / mark


MARK = "1-1-plan-" + 32 * "a"


def test_a_store_of_another_user_is_listed_without_the_number_of_queued_jobs(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (under_way(path, MARK, "slurm") / "1").mkdir(parents=True)
    assert runs_in(path).queued == 1

    def refuse(self: Path) -> None:
        raise PermissionError(13, "Permission denied", str(self))

    monkeypatch.setattr(Path, "iterdir", refuse)
    found = runs_in(path)
    assert (found.queued, len(found.under_way)) == (None, 1)
    assert "of them queued" not in listing_line(dataclasses.replace(found, is_in_use=True))


def test_a_launcher_that_is_not_installed_here_hides_no_runs(path: Path) -> None:
    under_way(path, MARK, "of a plug-in")
    found = runs_in(path)
    assert (found.queued, len(found.table)) == (None, 3)


@pytest.mark.parametrize("mark", ["../other", "/"])
def test_no_other_folder_is_looked_at(path: Path, mark: str) -> None:
    (path.parent / "other" / "1").mkdir(parents=True)
    under_way(path, mark, "slurm")
    assert runs_in(path).queued is None


def test_a_run_that_is_made_once_more_is_queued_until_its_second_job_begins(tmp_path: Path) -> None:
    assert is_queued(tmp_path)
    for folder in ("1", "again/1", "again/2"):
        (tmp_path / folder).mkdir(parents=True)
        assert is_queued(tmp_path), folder
        (tmp_path / folder / "began.json").write_text("{}")
        assert not is_queued(tmp_path), folder


@pytest.mark.parametrize("command", [runs_in, lambda path: mark_bad(path, "n == 8", "slow")])
def test_a_table_is_no_damaged_store(tmp_path: Path, command: Callable[[Path], object]) -> None:
    path = tmp_path / "study.runs.csv"
    path.write_text("n,seconds\n8,2.5\n")
    with pytest.raises(ReadError, match="it is a table or another text, and no store of runs: `evenly read"):
        command(path)


def test_what_srun_says_last_hides_no_words_of_the_program() -> None:
    said = "srun: launch/slurm: _step_signal: Terminating StepId=3.0"
    assert Record(1, 0, "failed", {}, output=f"the mesh is bad\n{said}\n").last_words == "the mesh is bad"
    assert Record(1, 0, "failed", {}, output=f"{said}\n").last_words == said
    assert Record(1, 0, "failed", {}).last_words == ""
