"""Each job once, whole, and only if it doesn't contradict itself."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from evenly.errors import ReadError
from evenly.readers import scan
from evenly.readers.jobs.job_files import read_jobs

HEAD = "JobID|User|State|Submit|Start|End|Elapsed|Timelimit|AllocCPUS"
DAY = "2024-01-0"


def row(number: object, state: str = "COMPLETED", day: int = 1, took: str = "00:01:00", cores: int = 4) -> str:
    start = f"{DAY}{day}T08:00:00"
    return f"{number}|ada|{state}|{start}|{start}|{DAY}{day}T08:01:00|{took}|01:00:00|{cores}"


def write(folder: Path, rows: list[str], name: str = "jobs.txt", head: str = HEAD) -> Path:
    path = folder / name
    path.write_text("\n".join([head, *rows]) + "\n")
    return path


def test_a_job_that_is_told_again_counts_once(tmp_path: Path) -> None:
    first = write(tmp_path, [row(1), row(2), row(2)])
    second = write(tmp_path, [row(2), row(3)], "later.txt")
    alone, both = read_jobs(first), read_jobs([first, second])
    assert alone.table["id"].tolist() == ["1", "2"]
    assert both.table["id"].tolist() == ["1", "2", "3"]
    assert "1 row tells of a job again, and is counted once" in both.notes


def test_a_number_used_again_is_another_job(tmp_path: Path) -> None:
    """Numbers begin anew some day, and a job that is requeued starts again."""
    assert len(read_jobs(write(tmp_path, [row(1), row(1, day=2), row(1, "PREEMPTED", day=3)]))) == 3


def test_the_row_of_the_end_replaces_that_of_a_running_job(tmp_path: Path) -> None:
    for rows in ([row(1, "RUNNING", took="00:00:30"), row(1)], [row(1), row(1, "RUNNING", took="00:00:30")]):
        table = read_jobs(write(tmp_path, rows)).table
        assert (table["state"].tolist(), table["elapsed_s"].tolist()) == (["COMPLETED"], [60.0])


def test_rows_of_one_job_that_differ_are_left_out_and_said(tmp_path: Path) -> None:
    jobs = read_jobs(write(tmp_path, [row(1), row(1, cores=8), row(2)]))
    assert jobs.table["id"].tolist() == ["2"]
    assert any("1 job, as 1, left out: their rows differ in state, time or cores" in note for note in jobs.notes)


def test_parts_of_a_heterogeneous_job_are_one(tmp_path: Path) -> None:
    rows = [row("101+0", cores=4), row("101+1", cores=12), "101+1.0|ada|COMPLETED||||00:01:00||12", row("102+0"),
            row("102+1", "FAILED"), row(103)]  # fmt: skip
    table = read_jobs(write(tmp_path, rows)).table.sort_values("id")
    assert table["id"].tolist() == ["101", "102", "103"]
    assert table["cores"].tolist() == [16, 8, 4]
    assert table["state"].tolist() == ["COMPLETED", "FAILED", "COMPLETED"]
    assert table["elapsed_s"].tolist() == [60.0, 60.0, 60.0]


def test_rows_that_contradict_themselves_are_left_out_and_said(tmp_path: Path) -> None:
    rows = [row(number) for number in range(1, 6)]
    late = f"7|ada|COMPLETED|{DAY}1T08:00:00|{DAY}1T09:00:00|{DAY}1T08:00:00|00:01:00|01:00:00|4"
    early = f"8|ada|COMPLETED|{DAY}2T08:00:00|{DAY}1T08:00:00|{DAY}1T08:01:00|00:01:00|01:00:00|4"
    long = row(9, took="05:00:00")
    summer = row(10, took="01:01:00")  # the clock was put back in between
    suspended = row(11, took="00:00:10")
    found = scan(write(tmp_path, [*rows, late, early, long, summer, suspended]))
    assert sorted(found.runs[""].to_frame()["run"]) == ["1", "10", "11", "2", "3", "4", "5"]
    told = next(note for note in found.notes if "rows left out" in note)
    for reason in ("3 rows left out", "ended before it began (1)", "longer than from its start to its end (1)",
                   "began before it was submitted (1)"):  # fmt: skip
        assert reason in told


@pytest.mark.parametrize(
    ("head", "reason"),
    [
        (HEAD.replace("Elapsed|Timelimit", "Timelimit|Elapsed"), "longer than from its start to its end"),
        (HEAD.replace("Submit|Start|End", "Submit|End|Start"), "ended before it began"),
        (HEAD.replace("Submit|Start|End", "End|Start|Submit"), "it ended before it began|before it was submitted"),
    ],
)
def test_swapped_columns_are_refused(tmp_path: Path, head: str, reason: str) -> None:
    rows = [
        f"{n}|ada|COMPLETED|{DAY}1T07:00:00|{DAY}1T08:00:00|{DAY}1T08:{n:02d}:00|00:{n:02d}:00|01:00:00|4"
        for n in range(2, 12)
    ]
    assert len(read_jobs(write(tmp_path, rows))) == 10
    with pytest.raises(ReadError, match=f"({reason}).*are the columns named in their order"):
        read_jobs(write(tmp_path, rows, head=head))


def test_columns_that_are_shifted_are_refused(tmp_path: Path) -> None:
    lines = ["JobID           Elapsed  AllocCPUS      State ", "------------ ---------- ---------- ---------- ",
             "7              00:01:02         16  COMPLETED "]  # fmt: skip
    path = tmp_path / "jobs.txt"
    path.write_text("\n".join(lines) + "\n")
    assert read_jobs(path).table["cores"].tolist() == [16.0]
    for shift in (1, 2):
        moved = lines[2][:13] + " " * shift + lines[2][13:].rstrip()
        path.write_text("\n".join([*lines[:2], moved]) + "\n")
        with pytest.raises(ReadError, match=r"line 3: .*the row isn't below the dashes"):
            read_jobs(path)
    path.write_text("\n".join([*lines[:2], lines[2].replace("       16", "12345678+")]) + "\n")
    with pytest.raises(ReadError, match="alloccpus is cut off"):
        read_jobs(path)


def test_jobs_of_a_workload_that_reached_their_limit_were_stopped(tmp_path: Path) -> None:
    path = tmp_path / "site.swf"
    job = "{} 0 5 {} 4 -1 -1 4 3600 -1 {} 7 -1 -1 1 -1 -1 -1\n"
    lines = [job.format(1, 60, 1), job.format(2, 3600, 0), job.format(3, 3601, 5), job.format(4, 60, 0)]
    path.write_text("; UnixStartTime: 1027839845\n; MaxJobs: 4\n" + "".join(lines))
    jobs = read_jobs(path)
    assert jobs.table["state"].tolist() == ["COMPLETED", "TIMEOUT", "TIMEOUT", "FAILED"]
    np.testing.assert_array_equal(jobs.stopped, [False, True, True, False])


def test_two_tables_one_below_the_other(tmp_path: Path) -> None:
    found = scan(write(tmp_path, [row(1), HEAD, row(2)]))
    assert found.runs[""].to_frame()["run"].tolist() == ["1", "2"]
    assert not found.skipped


def test_names_given_for_columns_say_what_the_file_is(tmp_path: Path) -> None:
    """A last column that is empty for jobs looks like the bar at the end that sacct -p writes."""
    path = tmp_path / "jobs.txt"
    names = HEAD.replace("|", ",")
    for columns, end in ((names, ""), (f"{names},MaxRSS", "|"), (names, "|")):
        path.write_text(f"{row(1)}{end}\n{row(2)}{end}\n")
        table = read_jobs(path, columns=columns).table
        assert (table["cores"].tolist(), table["elapsed_s"].tolist()) == ([4.0, 4.0], [60.0, 60.0])


def test_json_that_tells_its_command_is_json(tmp_path: Path) -> None:
    job = {"job_id": 7, "state": {"current": ["COMPLETED"]}, "time": {"elapsed": 62},
           "tres": {"allocated": [{"type": "cpu", "count": 4}]}}  # fmt: skip
    part = {**job, "het": {"job_id": 20, "job_offset": {"set": True, "infinite": False, "number": 0}}}
    other = {**part, "het": {"job_id": 20, "job_offset": {"set": True, "infinite": False, "number": 1}}}
    meta = {"command": ["sacct", "--format", "JobID,User,State,Elapsed", "--json"], "Slurm": {"release": "23.11.4"}}
    path = tmp_path / "jobs.json"
    path.write_text(json.dumps({"meta": meta, "jobs": [job, part, other]}, indent=2))
    table = read_jobs(path).table
    assert sorted(zip(table["id"], table["cores"], strict=True)) == [("20", 8.0), ("7", 4.0)]


def test_a_name_that_was_cut_off_gives_way_to_the_whole_one(tmp_path: Path) -> None:
    head = HEAD.replace("User", "JobName")
    for names in (("simulation", "simulat+"), ("simulat+", "simulation")):
        path = write(tmp_path, [row(1).replace("ada", name) for name in names], head=head)
        assert read_jobs(path).table["name"].tolist() == ["simulation"]


def test_a_table_of_no_jobs_is_known_as_one(tmp_path: Path) -> None:
    path = tmp_path / "jobs.json"
    path.write_text('{"jobs": []}')
    with pytest.raises(ReadError, match="there is no job in it"):
        read_jobs(path)
