"""Slurm's accounting with bars, in columns and as JSON: real files with known answers, and what must be refused."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings

import evenly
from evenly.errors import EvenlyError, InputError, ReadError
from evenly.readers import scan
from evenly.readers.jobs.job_files import read_jobs
from evenly.readers.jobs.sacct import SacctReader
from tests.readers.damage import check_reads_or_refuses, damaged

HEAD = "JobID|User|JobName|State|Elapsed|Timelimit|AllocCPUS|NNodes|ReqMem|MaxRSS"
ROWS = """\
10|ada|wave|COMPLETED|1-01:02:03|2-00:00:00|8|2|4Gc|
10.batch||batch|COMPLETED|1-01:02:03||4|1|4Gc|100M
10.extern||extern|COMPLETED|1-01:02:03||8|2|4Gc|1K
10.0||wave|COMPLETED|1-01:00:00||8|2|4Gc|2.5G
11_4|ada|wave|TIMEOUT|02:00:00|02:00:00|8|2|100Gn|
11_4.batch||batch|CANCELLED|02:00:10||8|2|100Gn|3G
11_[5-9]|ada|wave|PENDING|00:00:00|02:00:00|8|2|100Gn|
12|bob|mesh|CANCELLED by 12345|00:00:00|UNLIMITED|1|1|0|
13|bob|mesh|FAILED|00:10:00|Partition_Limit|1|1|2G|
14|bob|mesh|RUNNING|00:10:00|01:00:00|1|1|2G|
"""
COLUMNS = (
    "User,JobID,JobName,State,Partition,NCPUS,NNodes,CPUTime,TotalCPU,UserCPU,SystemCPU,ReqMem,MaxRSS,Submit,Start,End,"
    "NodeList"
)
GIB = 1024.0**3


def write(folder: Path, text: str, name: str = "jobs.txt") -> Path:
    path = folder / name
    path.write_text(text)
    return path


def test_steps_are_merged_into_their_job(tmp_path: Path) -> None:
    table = read_jobs(write(tmp_path, f"{HEAD}\n{ROWS}")).table
    assert table["id"].tolist() == ["10", "11_4", "11_[5-9]", "12", "13", "14"]
    assert table["elapsed_s"].tolist() == [90123, 7200, 0, 0, 600, 600]
    assert table["state"].tolist() == ["COMPLETED", "TIMEOUT", "PENDING", "CANCELLED", "FAILED", "RUNNING"]
    np.testing.assert_array_equal(table["limit_s"], [172800, 7200, 7200, np.inf, np.inf, 3600])
    np.testing.assert_array_equal(table["peak_memory"], [2.5 * GIB, 3 * GIB, *[np.nan] * 4])
    np.testing.assert_array_equal(table["requested_memory"], [32 * GIB, 200 * GIB, 200 * GIB, np.nan, 2 * GIB, 2 * GIB])


def test_without_states_and_ends_jobs_may_be_running_still(tmp_path: Path) -> None:
    jobs = read_jobs(write(tmp_path, "JobID|NCPUS|Elapsed\n1|16|01:00:00\n2|32|00:31:00\n"))
    assert "every job is taken as completed, also one that was running still" in jobs.notes[0]


@pytest.mark.parametrize("bar", ["|", ","])
def test_without_states_jobs_failed_whose_code_is_not_0(tmp_path: Path, bar: str) -> None:
    text = "JobID|NCPUS|Elapsed|ExitCode\n1|16|01:00:00|0:0\n2|32|00:31:00|0:0\n3|32|00:05:00|1:0\n4|64|00:04:00|0:9\n"
    jobs = read_jobs(write(tmp_path, text.replace("|", bar)))
    assert jobs.table["state"].tolist() == ["COMPLETED", "COMPLETED", "FAILED", "FAILED"]
    assert "ExitCode" in jobs.notes[0]


def test_a_code_tells_of_a_failure_beside_a_state(tmp_path: Path) -> None:
    text = "JobID|NCPUS|Elapsed|State|ExitCode\n1|16|01:00:00|COMPLETED|0:0\n2|32|00:04:00|COMPLETED|0:9\n"
    assert read_jobs(write(tmp_path, text)).table["state"].tolist() == ["COMPLETED", "FAILED"]


def test_runs_of_jobs(tmp_path: Path) -> None:
    found = scan(write(tmp_path, f"{HEAD}\n{ROWS}"))
    frame = found.runs[""].to_frame()
    assert found.runs[""].parameters == ["cores", "name"]
    assert dict(zip(frame["run"], frame["status"], strict=True)) == {
        "10": "ok", "11_4": "timed out", "13": "failed",
    }  # fmt: skip
    np.testing.assert_array_equal(frame["seconds"], [90123, 7200, np.nan])
    assert found.runs[""].quantities == {
        "seconds": "s", "requested_seconds": "s", "requested_memory": "B", "peak_memory": "B",
    }  # fmt: skip
    told = "\n".join(found.notes)
    assert all(f"1 {word}" in told for word in ("PENDING", "CANCELLED", "FAILED", "RUNNING"))
    assert "1 jobs were stopped at their time limit" in told


@pytest.mark.parametrize("word", ["NODE_FAIL", "PREEMPTED", "CANCELLED by 2041", "BOOT_FAIL", "RUNNING"])
def test_jobs_that_ended_by_no_fault_of_their_program_are_left_out(tmp_path: Path, word: str) -> None:
    rows = "1|48|02:00:00|COMPLETED\n2|96|01:00:00|COMPLETED\n3|768|00:05:11|"
    head = "JobID|AllocCPUS|Elapsed|State\n"
    found = scan(write(tmp_path, f"{head}{rows}{word}\n"))
    assert found.runs[""].to_frame()["cores"].tolist() == [48, 96]
    assert f"2 of 3 jobs are done; left out: 1 {word.split()[0]}" in "\n".join(found.notes)
    failed = scan(write(tmp_path, f"{head}{rows}OUT_OF_MEMORY\n")).runs[""].to_frame()
    assert failed["status"].tolist() == ["ok", "ok", "failed"]


def test_a_job_without_state_and_end_still_runs(tmp_path: Path) -> None:
    start = "2026-03-02T07:00:00"
    rows = f"1|48|{start}|2026-03-02T09:00:00\n2|96|{start}|2026-03-02T08:00:00\n3|768|{start}|Unknown\n"
    found = scan(write(tmp_path, f"JobID|NCPUS|Start|End\n{rows}"))
    assert found.runs[""].to_frame()["cores"].tolist() == [48, 96]
    assert "2 of 3 jobs are done; left out: 1 RUNNING" in "\n".join(found.notes)


@pytest.mark.parametrize("limit", ["Timelimit", "TimelimitRaw"])
def test_without_states_a_job_that_took_its_limit_was_stopped(tmp_path: Path, limit: str) -> None:
    one = {"Timelimit": "01:00:00", "TimelimitRaw": "60"}[limit]
    rows = f"1|4|00:59:59|{one}\n2|4|01:00:00|{one}\n3|4|01:00:14|{one}\n4|4|02:00:00|\n"
    jobs = read_jobs(write(tmp_path, f"JobID|NCPUS|Elapsed|{limit}\n{rows}"))
    assert jobs.done.tolist() == [True, False, False, True]
    assert jobs.stopped.tolist() == [False, True, True, False]
    assert any("2 jobs ended at the time limit, and count as stopped there" in note for note in jobs.notes)


@pytest.mark.parametrize("delimiter", [",", "\t", ";"])
def test_other_delimiters_and_a_bar_at_the_end(tmp_path: Path, delimiter: str) -> None:
    usual = read_jobs(write(tmp_path, f"{HEAD}\n{ROWS}")).table
    text = f"{HEAD}\n{ROWS}"
    assert read_jobs(write(tmp_path, text.replace("\n", "|\n"), "bars.txt")).table.equals(usual)
    assert read_jobs(write(tmp_path, text.replace("|", delimiter), "others.txt")).table.equals(usual)


def test_a_row_of_another_length_is_left_out_and_said(tmp_path: Path) -> None:
    found = scan(write(tmp_path, f"{HEAD}\n{ROWS}15|bob|me|sh|COMPLETED|00:10:00|01:00:00|1|1|2G|\n16|bob|me"))
    assert [(one.line, one.reason.split(" and ")[0]) for one in found.skipped] == [
        (12, "the row has 11 values for 10 columns"), (13, "the row has 3 values for 10 columns"),
    ]  # fmt: skip
    assert "15" not in found.runs[""].to_frame()["run"].tolist()


def test_elapsed_from_start_and_end_is_said(tmp_path: Path) -> None:
    rows = "7|COMPLETED|4|2024-01-01T00:00:00|2024-01-01T00:01:02\n8|PENDING|4|Unknown|Unknown\n"
    text = f"JobID|State|NCPUS|Start|End\n{rows}"
    found = scan(write(tmp_path, text))
    assert found.runs[""].values.tolist() == [62]
    assert any("End less their Start" in note for note in found.notes)


def test_cores_from_what_is_unmistakable(tmp_path: Path) -> None:
    tres = "JobID|State|Elapsed|AllocTRES\n7|COMPLETED|00:01:00|billing=9,cpu=6,mem=1G\n"
    assert read_jobs(write(tmp_path, tres)).table["cores"].tolist() == [6]
    total = "JobID|State|Elapsed|CPUTimeRAW|ReqCPUS\n7|COMPLETED|00:01:00|480|1\n"
    assert read_jobs(write(tmp_path, total)).table["cores"].tolist() == [8]
    asked = write(tmp_path, "JobID|State|Elapsed|ReqCPUS\n7|COMPLETED|00:01:00|1\n")
    with pytest.raises(ReadError, match="doesn't say how many cores a job had"):
        scan(asked)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("JobID|State|AllocCPUS\n7|COMPLETED|4\n", "no column says what each job took .*sacct -P -o JobID,User"),
        ("JobID|State|Elapsed\n7.batch|COMPLETED|00:01:00\n", "it has steps .* but no jobs"),
        ("JobID|State|Elapsed|NCPUS\n7|COMPLETED|0x:01:00|4\n", r"line 2: a duration such as .* got '0x:01:00'"),
        ("JobID|State|Elapsed|NCPUS\n", "there is no row with 4 columns"),
        ("JobID|State|Elapsed|NCPUS|NCPUS\n7|COMPLETED|00:01:00|4|4\n", "named twice: ncpus"),
        ("JobID|State|Elapsed|NCPUS\n7|PENDING|00:00:00|4\n", "no job has ended yet"),
    ],
)
def test_what_is_refused(tmp_path: Path, text: str, message: str) -> None:
    path = write(tmp_path, text, "sacct.csv")  # no other reader may take what is refused here
    with pytest.raises(ReadError, match=message):
        scan(path)


def test_columns_without_names_are_asked_for(strangers: Path) -> None:
    path = strangers / "1-slurm" / "slyme-harvard" / "sacct_single_parallel_COMPLETED_parsable.out"
    with pytest.raises(ReadError, match=r"17 columns have no names.*columns="):
        scan(path)
    found = scan(path, columns=COLUMNS)
    row = found.runs[""].to_frame().iloc[0]
    assert (row["cores"], row["seconds"], row["status"]) == (3, 63, "ok")
    assert row["peak_memory"] == 26820 * 1024
    assert any("End less their Start" in note for note in found.notes)
    serial = path.with_name("sacct_single_serial_COMPLETED_parsable.out")
    assert scan(serial, columns=COLUMNS).runs[""].to_frame()[["cores", "seconds"]].iloc[0].tolist() == [1, 62]
    with pytest.raises(InputError, match="'jobname2'"):
        SacctReader(columns="JobName2")


def test_columns_of_xdmod_prove_themselves(strangers: Path, tmp_path: Path) -> None:
    folder = strangers / "1-slurm" / "xdmod-ccr"
    jobs = read_jobs(folder / "phillips.log")
    assert len(jobs) == 700
    row = jobs.table.iloc[1]
    assert (row["id"], row["cores"], row["nodes"], row["elapsed_s"], row["state"]) == (
        "165381",
        64,
        8,
        432026,
        "TIMEOUT",
    )
    assert (jobs.table["state"] == "FAILED").sum() == 686
    assert len(scan(folder / "phillips.log").runs[""].ok) == 12
    found = scan(folder / "pozidriv.log").runs[""]
    assert found.to_frame()[["cores", "seconds", "status"]].iloc[0].tolist() == [12, 679179, "ok"]
    cancelled = (read_jobs(folder / "pozidriv.log").table["state"] == "CANCELLED").to_numpy()
    assert cancelled.sum() == 61
    assert len(found.ok) == 431
    # With start and elapsed not where they should be, nothing proves the columns.
    lines = (folder / "pozidriv.log").read_text().splitlines()
    swapped = ["|".join([*row[:12], row[13], row[12], *row[14:]]) for row in (line.split("|") for line in lines)]
    with pytest.raises(ReadError, match="26 columns have no names"):
        read_jobs(write(tmp_path, "\n".join(swapped), "pozidriv.log"))


def test_timeouts_of_green_algorithms(strangers: Path) -> None:
    frame = scan(strangers / "1-slurm" / "greenalgorithms").runs[""].to_frame()
    assert frame[["cores", "seconds", "status"]].to_numpy().tolist() == [
        [1, 14425, "timed out"],
        [32, 10830, "timed out"],
    ]


def test_accounting_without_times_is_refused(strangers: Path) -> None:
    for name in ("hyak-sacct-default/sacct.txt", "kabre-csv/sacct.csv"):
        with pytest.raises(ReadError, match=r"no column says what each job took .*sacct -P -o JobID,User"):
            scan(strangers / "1-slurm" / name)


def test_columns_of_a_fixed_width(strangers: Path, tmp_path: Path) -> None:
    """The default columns with an Elapsed beside them, 11 wide as Slurm prints it."""
    text = (strangers / "1-slurm" / "hyak-sacct-default" / "sacct.txt").read_text().splitlines()
    took = ["   Elapsed ", "---------- ", *["  00:01:02 "] * (len(text) - 2)]
    jobs = read_jobs(write(tmp_path, "\n".join(a + b for a, b in zip(text, took, strict=True))))
    counts = jobs.table["state"].value_counts().to_dict()
    assert len(jobs) == 1127
    assert {name: counts[name] for name in ("COMPLETED", "FAILED", "RUNNING", "TIMEOUT", "CANCELLED")} == {
        "COMPLETED": 1017, "FAILED": 51, "RUNNING": 27, "TIMEOUT": 15, "CANCELLED": 17,
    }  # fmt: skip
    assert (jobs.table["id"].iloc[0], jobs.table["cores"].iloc[0]) == ("16261988", 40)
    assert any("cut off" in note for note in jobs.notes)


def job(number: Any, **others: Any) -> dict[str, Any]:
    allocated = [{"type": "cpu", "count": 8}, {"type": "mem", "count": 98304}]
    used = {"requested": {"max": [{"type": "cpu", "count": 1}, {"type": "mem", "count": 5_000_000}]}}
    return {
        "job_id": 7, "array": {"job_id": 0, "task_id": number(0) if callable(number) else None}, "user": "ada",
        "account": "x", "name": "wave", "partition": "long", "allocation_nodes": 1, "tres": {"allocated": allocated},
        "time": {"elapsed": 217, "start": 100, "end": 317, "submission": 50, "limit": number(4320)},
        "state": {"current": "COMPLETED", "reason": "None"}, "steps": [{"tres": used}], **others,
    }  # fmt: skip


def test_jobs_that_had_more_cores_than_they_asked_for_are_said(tmp_path: Path) -> None:
    told = "2 of 3 jobs had more cores than they asked for"
    rows = "".join(f"{n}|COMPLETED|00:01:00|{asked}|48\n" for n, asked in enumerate((16, 32, 48)))
    jobs = read_jobs(write(tmp_path, f"JobID|State|Elapsed|ReqCPUS|AllocCPUS\n{rows}"))
    assert jobs.table["cores"].tolist() == [48, 48, 48]
    assert any(told in note for note in jobs.notes)
    tres = [{kind: [{"type": "cpu", "count": n}] for kind, n in (("requested", asked), ("allocated", 8))}
            for asked in (2, 4, 8)]  # fmt: skip
    content = {"jobs": [job(lambda number: number, tres=one) for one in tres]}
    assert any(told in note for note in read_jobs(write(tmp_path, json.dumps(content), "jobs.json")).notes)


def test_json_of_slurm_21_and_24(tmp_path: Path) -> None:
    old = {"meta": {"Slurm": {"version": {"major": 21}}}, "jobs": [job(lambda number: number)]}
    new = {"jobs": [job(lambda number: {"set": number > 0, "infinite": False, "number": number},
                        state={"current": ["COMPLETED"]})], "meta": {"slurm": {}}}  # fmt: skip
    for content in (old, new):
        path = write(tmp_path, json.dumps(content), "jobs.json")
        row = read_jobs(path).table.iloc[0]
        assert row[["id", "state"]].tolist() == ["7", "COMPLETED"]
        assert row[["elapsed_s", "limit_s", "cores", "nodes"]].tolist() == [217, 4320 * 60, 8, 1]
        assert row[["requested_memory", "peak_memory"]].tolist() == [98304 * 2**20, 5_000_000]
    assert scan(path).runs[""].values.tolist() == [217]
    array = {"jobs": [job(lambda number: number, array={"job_id": 100, "task_id": {"set": True, "number": 3}})]}
    assert read_jobs(write(tmp_path, json.dumps(array), "jobs.json")).table["id"].tolist() == ["100_3"]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ('{"jobs": [{"job_id": 7', "no whole JSON document"),
        ('{"jobs": [], "meta": {"Slurm": 1}}', "there is no job in it"),
        ('{"jobs": [{"job_id": 7, "job_state": "RUNNING"}]}', "not as sacct --json writes it"),
        ('{"jobs": [{"job_id": 7, "state": {"current": ["RUNNING"]}}]}', "squeue"),
    ],
)
def test_json_that_is_refused(tmp_path: Path, content: str, message: str) -> None:
    with pytest.raises(ReadError, match=message):
        read_jobs(write(tmp_path, content, "jobs.json"))


@settings(max_examples=150, deadline=None)
@given(content=damaged(f"{HEAD}\n{ROWS}".encode(), "0123456789.:|-x \n"))
def test_damage_gives_runs_or_a_read_error(tmp_path_factory: pytest.TempPathFactory, content: bytes) -> None:
    check_reads_or_refuses(SacctReader(), tmp_path_factory.getbasetemp() / "damaged_sacct", content)


TINY = """JobID|User|JobName|State|Submit|Start|End|Elapsed|Timelimit|AllocCPUS
1|ada|w|COMPLETED|2024-02-01T08:00:00|2024-02-01T08:00:00|2024-02-01T09:00:00|01:00:00|1-00:00:00|16
2|bob|w|COMPLETED|2024-02-02T08:00:00|2024-02-02T08:00:00|2024-02-02T12:00:00|04:00:00|1-00:00:00|16
3|ada|w|COMPLETED|2024-02-03T08:00:00|2024-02-03T08:00:00|2024-02-03T08:30:00|00:30:00|1-00:00:00|32
"""


def test_jobs_are_chosen_by_a_condition(tmp_path: Path) -> None:
    (tmp_path / "t.txt").write_text(TINY)
    runs = evenly.read(tmp_path / "t.txt", where="user == 'ada' and cores < 20")
    assert isinstance(runs, evenly.Runs)
    assert runs.values.tolist() == [3600]
    assert len(read_jobs(tmp_path / "t.txt", where="user == 'ada'")) == 2
    wrong = {"user == 'eve'": "no job has", "size > 3": "needs 'size'", "((x": "not an expression"}
    for condition, reason in wrong.items():
        with pytest.raises(EvenlyError, match=reason):
            read_jobs(tmp_path / "t.txt", where=condition)


@pytest.mark.parametrize("option", [{"time": "Submit"}, {"unit": "h"}, {"sheet": "a"}, {"constants": {"grid": 5}}])
def test_options_without_effect_are_refused(tmp_path: Path, option: dict[str, Any]) -> None:
    (tmp_path / "t.txt").write_text(TINY)
    for reads in (evenly.read, read_jobs):
        with pytest.raises(InputError, match=f"read as sacct, which has no use for '{next(iter(option))}'"):
            reads(tmp_path / "t.txt", **option)


def test_texts_in_quotes_may_hold_commas(tmp_path: Path) -> None:
    path = tmp_path / "jobs.csv"
    rows = [f'{8800 + n},COMPLETED,{900 // n},360,{n},"billing={16 * n},cpu={16 * n}"' for n in (1, 2, 3)]
    path.write_text("\n".join(["JobIDRaw,State,ElapsedRaw,TimelimitRaw,AllocNodes,AllocTRES", *rows, ""]))
    (runs,) = scan(path).runs.values()
    assert runs.values.tolist() == [900, 450, 300]


def named_jobs(folder: Path, *names: str, factor: float = 4) -> Path:
    """Jobs on 48 … 768 cores, of which those of each next name take so many times as long."""
    rows = [
        f"{at}{p}|{name.format(p)}|{p}|{960_000 * factor**at / p:.0f}|COMPLETED"
        for at, name in enumerate(names) for p in (48, 96, 192, 384, 768)
    ]  # fmt: skip
    return write(folder, "\n".join(["JobID|JobName|AllocCPUS|ElapsedRaw|State", *rows, ""]))


def test_a_name_that_only_repeats_the_cores_is_no_parameter(tmp_path: Path) -> None:
    path = named_jobs(tmp_path, "wing_p{}", "wing_p{}", "wing_p{}", factor=1)
    assert scan(path).runs[""].parameters == ["cores"]


def test_names_are_read_without_the_number_of_their_cores(tmp_path: Path) -> None:
    found = scan(named_jobs(tmp_path, "wing_2M_p{}", "wing_8M_p{}"))
    assert found.runs[""].parameters == ["cores", "name"]
    assert set(found.runs[""].to_frame()["name"]) == {"wing_2M_p", "wing_8M_p"}
    assert "without the number of their cores: 'wing_2M_p', 'wing_8M_p'" in "\n".join(found.notes)


def test_many_names_that_tell_times_apart_are_asked_about(tmp_path: Path) -> None:
    names = [f"case{letter}_p{{}}" for letter in "abcdefghijklmno"]
    path = named_jobs(tmp_path, *names, factor=1.5)
    with pytest.raises(ReadError, match=r"'name' is left out \(it has many values\), but jobs that only differ in it"):
        scan(path)
    assert scan(path, parameters=["cores"]).runs[""].parameters == ["cores"]
    assert "name" in scan(path, parameters=["cores", "name"]).runs[""].parameters
    assert scan(path, where="name == 'casea_p48' or name == 'casea_p96'").runs[""].parameters == ["cores"]
    assert scan(named_jobs(tmp_path, *names, factor=1)).runs[""].parameters == ["cores"]


def chains(folder: Path, name: str) -> Path:
    """Runs on 48 cores in three parts, of which the program ended two at its limit of a day, and whole ones on 384."""
    took = [(48, "23:55:47"), (48, "23:52:22"), (48, "05:46:09")] * 2 + [(384, "07:10:00"), (384, "07:12:00")]
    rows = [f"{n}|{name.format(n)}|{p}|{its}|1-00:00:00|COMPLETED" for n, (p, its) in enumerate(took, 601)]
    return write(folder, "\n".join(["JobID|JobName|AllocCPUS|Elapsed|Timelimit|State", *rows, ""]))


@pytest.mark.parametrize("name", ["wing", "wing_r{}"])
def test_parts_of_runs_that_stop_themselves_are_asked_about(tmp_path: Path, name: str) -> None:
    path = chains(tmp_path, name)
    told = rf"4 jobs, as 601 \({name.format(601)}\), ended by themselves just at their time limit"
    with pytest.raises(ReadError, match=rf"{told}.*--where 'cores not in \[48\]' leaves.*--where 'elapsed_s > 0'"):
        scan(path)
    assert len(scan(path, where="cores not in [48]").runs[""]) == 2
    assert len(scan(path, where="elapsed_s > 0").runs[""]) == 8
    assert len(read_jobs(path)) == 8


def test_parts_of_runs_of_unknown_programs_are_said(tmp_path: Path) -> None:
    assert "4 jobs ended just at their limit" in "\n".join(scan(chains(tmp_path, "")).notes)


def test_names_of_jobs_may_be_those_of_solvers(tmp_path: Path) -> None:
    rows = [f"{n}|{name}|COMPLETED|{p}|00:{900 * k // p:02d}:00" for n, (name, k, p) in enumerate(
        (name, k, p) for name, k in (("edge", 1), ("core", 2)) for p in (32, 64, 128)
    )]  # fmt: skip
    path = tmp_path / "jobs.txt"
    path.write_text("\n".join(["JobID|JobName|State|AllocCPUS|Elapsed", *rows, ""]))
    found = scan(path, solver="name")
    assert {name: (runs.parameters, len(runs)) for name, runs in found.runs.items()} == {
        "edge": (["cores"], 3), "core": (["cores"], 3),
    }  # fmt: skip
    with pytest.raises(ReadError, match="parameters of jobs must be some of cores"):
        scan(path, solver="JobName")
