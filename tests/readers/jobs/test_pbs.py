"""PBS's accounting logs, in the forms that its families write."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings

from evenly.errors import ReadError
from evenly.readers import scan
from evenly.readers.jobs.job_files import read_jobs
from evenly.readers.jobs.pbs import PbsReader
from tests.readers.damage import check_reads_or_refuses, damaged

TIMES = "ctime=1713960000 qtime=1713960000 etime=1713960000 start=1713960100 end=1713963700"
PRO = (
    "exec_host=n1/0*4+n2/0*4 exec_vnode=(n1:ncpus=4)+(n2:ncpus=4) Resource_List.ncpus=8 Resource_List.nodect=2 "
    "Resource_List.mem=16gb Resource_List.select=2:ncpus=4 resources_used.ncpus=8"
)


def record(number: str, kind: str = "E", cores: str = PRO, took: str = "01:00:00", status: str = "0") -> str:
    used = f"resources_used.mem=1048576kb resources_used.walltime={took}" if kind == "E" else ""
    return (
        f"04/24/2024 13:01:40;{kind};{number}.pbs01;user=ada group=science jobname=wave queue=workq {TIMES} {cores} "
        f"Resource_List.walltime=02:00:00 session=7 Exit_status={status} {used} run_count=1"
    )


def write(folder: Path, *lines: str) -> Path:
    path = folder / "20240424"
    path.write_text("\n".join(lines) + "\n")
    return path


def test_the_record_of_an_end_is_a_job(tmp_path: Path) -> None:
    jobs = read_jobs(write(tmp_path, record("6", "Q"), record("7", "S"), record("7"), record("8", "S")))
    row = jobs.table.iloc[0]
    assert len(jobs) == 1
    assert (row["id"], row["user"], row["name"], row["partition"]) == ("7.pbs01", "ada", "wave", "workq")
    assert (row["submit"], row["start"], row["end"]) == (1713960000, 1713960100, 1713963700)
    assert (row["elapsed_s"], row["limit_s"], row["cores"], row["nodes"]) == (3600, 7200, 8, 2)
    assert (row["requested_memory"], row["peak_memory"]) == (16 * 1024**3, 1024**3)
    assert any("1 jobs began and have not ended" in note for note in jobs.notes)


def test_how_a_job_ended(tmp_path: Path) -> None:
    stopped = [record("3", took="02:00:09", status="271"), record("4", status="-29")]
    lines = [record("1"), record("2", status="1"), *stopped, record("5", took="02:00:00")]
    found = scan(write(tmp_path, *lines, record("6[].pbs01"), record("6[1]")))
    table = read_jobs(tmp_path / "20240424").table
    assert dict(zip(table["id"].str.split(".").str[0], table["state"], strict=True)) == {
        "1": "COMPLETED", "2": "FAILED", "3": "TIMEOUT", "4": "TIMEOUT", "5": "COMPLETED", "6[1]": "COMPLETED",
    }  # fmt: skip
    assert any("1 jobs ended with an error after their time limit" in note for note in found.notes)


@pytest.mark.parametrize(
    ("told", "cores"),
    [
        ("exec_host=n1/0-1+n3/0-1 Resource_List.nodes=n1:ppn=2+n3:ppn=2 total_execution_slots=4", 4),
        ("exec_host=q1/0+q2/0+q3/0 Resource_List.nodes=3:myrinet Resource_List.nodect=3", 3),
        ("exec_host=w1/7+w1/6+w2/0-3,5 Resource_List.nodes=1:ppn=7", 7),
        ("Resource_List.nodes=2:ppn=8:bigmem+1:ppn=4", 20),
        ("Resource_List.nodes=4", None),
    ],
)
def test_the_cores_of_each_family(tmp_path: Path, told: str, cores: int | None) -> None:
    found = read_jobs(write(tmp_path, record("1", cores=told))).table["cores"]
    assert found.isna().all() if cores is None else found.tolist() == [cores]


def test_logs_without_an_exit_status(tmp_path: Path) -> None:
    lines = [record(str(n), took=took).replace("Exit_status=0 ", "") for n, took in ((1, "00:10:00"), (2, "02:00:00"))]
    jobs = read_jobs(write(tmp_path, *lines))
    assert jobs.table["state"].tolist() == ["COMPLETED", "TIMEOUT"]
    assert any("no record says Exit_status" in note for note in jobs.notes)


def test_what_is_refused_or_left_out(tmp_path: Path) -> None:
    with pytest.raises(ReadError, match="no job has ended in it"):
        scan(write(tmp_path, record("7", "S")))
    with pytest.raises(ReadError, match=r"line 1: a duration such as .* got '1x:00:00'"):
        scan(write(tmp_path, record("7", took="1x:00:00")))
    found = scan(write(tmp_path, record("7"), "something else"))
    assert [(one.line, "no record of PBS" in one.reason) for one in found.skipped] == [(2, True)]


WHOLE = "\n".join([record("1"), record("2", status="271"), record("3", "S")]) + "\n"


@settings(max_examples=100, deadline=None)
@given(content=damaged(WHOLE.encode(), "0123456789.:;=-x \n"))
def test_damaged_logs(tmp_path_factory: pytest.TempPathFactory, content: bytes) -> None:
    check_reads_or_refuses(PbsReader(), tmp_path_factory.getbasetemp() / "damaged_pbs", content)
