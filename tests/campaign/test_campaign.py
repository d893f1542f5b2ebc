"""Campaigns on real programs: what is kept, what is not run twice, and what users are told when things go wrong."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import sqlite3
import subprocess
import sys
import time
import uuid
import warnings
from collections import Counter
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

import evenly
from evenly.campaign import Campaign, Study, measure
from evenly.campaign.record import Record
from evenly.campaign.store import Store, StoreFullError
from evenly.errors import EvenlyWarning, InfeasibleError, InputError, ReadError
from evenly.fdtd.ranks.watching import job_processes

PROGRAM = """
import sys, time
n = int(sys.argv[1])
with open("log.txt", "a") as log:
    print("begin", n, file=log, flush=True)
    time.sleep(float(sys.argv[2]))
    print("end", n, file=log, flush=True)
print("took", n, "ms")
if n == 13:
    print("boiler burst", file=sys.stderr)
    sys.exit(5)
"""


def study(folder: Path, *, values: str = "[1, 2, 3, 4]", sleep: float = 0.0, more: str = "", program: str = "") -> Path:
    if not (folder / "solve.py").exists():
        (folder / "solve.py").write_text(PROGRAM)
    path = folder / "study.toml"
    path.write_text(
        f"[program]\ncommand = ['{sys.executable}', 'solve.py', '{{n}}', '{sleep}']\n{program}\n"
        f"[parameters]\nn = {values}\n[time]\npattern = 'took (\\d+) ms'\nunit = 'ms'\n"
        f"[repetitions]\nleast = 2\nmost = 2\n{more}"
    )
    return path


def log(folder: Path, word: str) -> Counter[int]:
    path = folder / "log.txt"
    lines = path.read_text().splitlines() if path.exists() else []
    return Counter(int(line.split()[1]) for line in lines if line.startswith(word))


def test_runs_are_a_table_that_models_learn_from(tmp_path: Path) -> None:
    runs = evenly.measure(study(tmp_path))
    told = runs.aggregate()
    assert told["n"].tolist() == [1, 2, 3, 4]
    assert told["seconds"].tolist() == pytest.approx([0.001, 0.002, 0.003, 0.004])
    assert told["count"].tolist() == [2, 2, 2, 2]
    assert runs.quantities == {"seconds": "s", "cpu_seconds": "s"}
    assert evenly.fit(runs, method="power-law").predict({"n": [3]})[0] == pytest.approx(0.003, rel=1e-3)


def test_a_second_call_runs_nothing_twice(tmp_path: Path) -> None:
    path = study(tmp_path)
    first = measure(path)
    assert measure(path) == first
    assert log(tmp_path, "begin") == dict.fromkeys(range(1, 5), 2)


def test_numbers_of_another_type_are_the_same_runs(tmp_path: Path) -> None:
    first = measure(study(tmp_path, values="[1, 2]"))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert measure(study(tmp_path, values="[1.0, 2.0]")).aggregate()["seconds"].tolist() == (
            first.aggregate()["seconds"].tolist()
        )
    assert log(tmp_path, "begin") == {1: 2, 2: 2}


def test_configurations_that_left_the_study_are_said(tmp_path: Path) -> None:
    measure(study(tmp_path, values="[1, 2, 3]"))
    with pytest.warns(EvenlyWarning, match=r"runs of 2 configurations that are not in the study \(n = [23]; n = "):
        assert measure(study(tmp_path, values="[1, 4]")).aggregate()["n"].tolist() == [1, 2, 3, 4]
    with pytest.warns(EvenlyWarning, match="n = 1 and n = '1' differ in type, and are run as two"):
        measure(study(tmp_path, values="['1', '2']"))


def test_a_program_that_was_changed_meanwhile_is_said(tmp_path: Path) -> None:
    script, path = tmp_path / "solve.sh", tmp_path / "s.toml"
    script.write_text("sleep 0.0$1\n")
    text = "[program]\ncommand = 'sh solve.sh {n}'\n[parameters]\nn = [1, 2]\n[repetitions]\nleast = 1\nmost = 1\n"
    path.write_text(text)
    measure(path)
    path.write_text(text.replace("[1, 2]", "[1, 2, 3]"))
    measure(path)
    os.utime(script, (time.time() + 5, time.time() + 5))
    measure(path)  # nothing is left to run
    path.write_text(text.replace("[1, 2]", "[1, 2, 3, 4]"))
    with pytest.warns(EvenlyWarning, match=r"runs that were made before solve\.sh was changed"):
        measure(path)


def test_failed_runs_of_a_study_that_was_corrected_are_not_dropped_in_silence(tmp_path: Path) -> None:
    with pytest.raises(InputError):
        measure(study(tmp_path, values="[13]"))
    deleted = pytest.warns(EvenlyWarning, match="held 1 runs, which all failed: they are deleted")
    with deleted, pytest.raises(InputError):
        measure(study(tmp_path, values="[13]", sleep=0.001))


def test_more_runs_are_added_to_those_there_are(tmp_path: Path) -> None:
    measure(study(tmp_path, values="[1, 2]"))
    more = measure(study(tmp_path, values="[1, 2, 3]"))
    assert more.aggregate()["n"].tolist() == [1, 2, 3]
    assert log(tmp_path, "begin") == dict.fromkeys(range(1, 4), 2)


def test_failures_are_kept_with_exit_code_and_last_words(tmp_path: Path) -> None:
    path = study(tmp_path, values="[12, 13]")
    runs = measure(path)
    assert len(runs.failed) == 1
    assert runs.failed.configurations["n"].tolist() == [13]
    with Campaign(Study.load(path)) as campaign:
        row = campaign.table().query("status == 'failed'").iloc[0]
        assert (row["exit_code"], row["message"]) == (5, "it ended with status 5")
        assert "boiler burst" in row["output"]
        # Once again, by request, it is run once more and fails again.
        assert campaign.retry() == 1
        campaign.run()
    assert log(tmp_path, "begin")[13] == 2


def test_time_outs_are_kept_and_end_all_processes(tmp_path: Path) -> None:
    path = study(tmp_path, values="[1]", sleep=60, program="timeout_s = 0.5")
    with Campaign(Study.load(path)) as campaign:
        campaign.run()
        record = campaign.store.records()[0]
        assert (record.status, record.message) == ("timed out", "it was ended after 0.5 s")
        assert record.took < 20
        with pytest.raises(InputError, match="none of 1 runs went well"):
            campaign.runs()


def test_killed_at_any_moment_nothing_is_lost_and_nothing_run_twice(tmp_path: Path) -> None:
    path = study(tmp_path, values="[1, 2, 3, 4, 5, 6]", sleep=0.12)
    command = [sys.executable, "-m", "evenly", "measure", str(path)]
    kept = kills = 0
    for pause in (0.9, 1.05, 1.2, 1.35, 1.5):
        driver = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        time.sleep(pause)
        driver.send_signal(signal.SIGKILL)
        driver.wait()
        kills += 1
        if (tmp_path / "study.db").exists():
            with sqlite3.connect(tmp_path / "study.db") as database:
                now = database.execute("SELECT count(*) FROM records").fetchone()[0]
            assert now >= kept
            kept = now
    with warnings.catch_warnings():
        # Of a lock that the last driver left, unless it was killed before it took it.
        warnings.simplefilter("ignore", EvenlyWarning)
        runs = measure(path)
    assert runs.aggregate()["count"].tolist() == [2] * 6
    begun = log(tmp_path, "begin")
    # Only what was under way when the driver was killed was begun again.
    assert sum(begun.values()) <= 12 + kills
    assert sum(log(tmp_path, "end").values()) >= 12
    for number in begun:
        assert begun[number] >= 2


def parent(pid: int) -> int:
    return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])


@pytest.mark.skipif(sys.platform != "linux", reason="processes are found in /proc, which only Linux has in this form")
def test_what_is_left_where_the_supervisor_was_killed_too_is_ended(tmp_path: Path) -> None:
    path = tmp_path / "study.toml"
    path.write_text("[program]\ncommand = ['sh', '-c', 'sleep {n}; true']\n[parameters]\nn = [1000]\n")
    driver = subprocess.Popen([sys.executable, "-m", "evenly", "measure", str(path)], stderr=subprocess.DEVNULL)
    marks: list[str] = []
    deadline = time.monotonic() + 60
    while not (marks and len(job_processes(marks[0])) == 2) and time.monotonic() < deadline:
        time.sleep(0.05)
        # Otherwise, SQLite makes an empty file where there is none yet.
        address = f"file:{tmp_path / 'study.db'}?mode=ro"
        with contextlib.suppress(sqlite3.Error), sqlite3.connect(address, uri=True) as database:
            marks = [mark for (mark,) in database.execute("SELECT mark FROM running")]
    parents = {parent(pid) for pid in job_processes(marks[0])}
    (supervisor,) = parents - set(job_processes(marks[0]))
    assert parent(supervisor) == driver.pid
    os.kill(driver.pid, signal.SIGSTOP)
    os.kill(supervisor, signal.SIGKILL)
    driver.kill()
    driver.wait()
    assert job_processes(marks[0])
    with pytest.warns(EvenlyWarning, match=f"process {driver.pid} on .* ended without"), Campaign(Study.load(path)):
        assert job_processes(marks[0]) == []


def test_an_interruption_keeps_what_there_is(tmp_path: Path) -> None:
    path = study(tmp_path, values="[1, 2, 3, 4, 5, 6]", sleep=0.3)
    driver = subprocess.Popen(
        [sys.executable, "-m", "evenly", "measure", str(path)],
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    deadline = time.monotonic() + 60
    while sum(log(tmp_path, "end").values()) < 2 and time.monotonic() < deadline:
        time.sleep(0.05)
    os.kill(driver.pid, signal.SIGINT)
    _, told = driver.communicate(timeout=60)
    assert driver.returncode == 130
    assert "interrupted:" in told
    assert "Traceback" not in told
    with Store(tmp_path / "study.db") as store:
        assert store.count() >= 1
        assert store.left_running() == []


def test_an_interruption_before_a_run_is_under_way_leaves_no_mark(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The mark is written, and the run isn't started yet: a later process would take it for one that was killed."""

    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    with Campaign(Study.load(study(tmp_path))) as campaign:
        monkeypatch.setattr(campaign._making._crew, "start", interrupted)
        with pytest.raises(KeyboardInterrupt):
            campaign.run()
        assert campaign.store.left_running() == []


def test_an_interruption_that_something_swallows_is_not_lost(tmp_path: Path) -> None:
    def swallow(*_: object) -> None:
        with contextlib.suppress(KeyboardInterrupt):
            signal.raise_signal(signal.SIGINT)

    with Campaign(Study.load(study(tmp_path))) as campaign:
        with pytest.raises(KeyboardInterrupt):
            campaign.run(swallow)
        assert campaign.store.count() == 1
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_a_vanished_program_is_named_and_nothing_lost(tmp_path: Path) -> None:
    path = study(tmp_path)
    measure(path)
    path.write_text(path.read_text().replace(sys.executable, "./gone").replace("[1, 2, 3, 4]", "[1, 2, 3, 4, 5]"))
    with pytest.raises(InputError, match=r"holds runs of another study: command was .* now it is .*--store"):
        measure(path)
    with pytest.raises(InputError, match=r"'./gone' can't be started: .*; 0 runs are kept"):
        measure(path, tmp_path / "other.db")


def _fill(store: Store, number: int) -> None:
    for repetition in range(1000):
        store.add(Record(number, repetition, "failed", {}, output="x" * 3000))


def test_a_full_disk_keeps_all_earlier_runs(tmp_path: Path) -> None:
    with Store(tmp_path / "runs.db") as store:
        number = store.add_configurations([{"n": 1}])[0]
        pages = store._database.execute("PRAGMA page_count").fetchone()[0]
        # What SQLite reports when it may not grow is what it reports when the disk is full.
        store._database.execute(f"PRAGMA max_page_count = {pages + 2}")
        with pytest.raises(StoreFullError, match=r"the disk is full: \d+ runs are kept"):
            _fill(store, number)
        kept = store.count()
        assert kept > 0
    with Store(tmp_path / "runs.db") as store:
        assert [r.repetition for r in store.records()] == list(range(kept))
        store.add(Record(number, kept, "ok", {"seconds": 1.0}))


def test_an_error_of_output_on_a_full_disk_is_one_of_the_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """On a small file system, SQLite's log has no room."""

    def no_room(*_: object) -> None:
        raise sqlite3.OperationalError("disk I/O error")

    with Store(tmp_path / "runs.db") as store:
        monkeypatch.setattr("evenly.campaign.store.write", no_room)
        with pytest.raises(ReadError, match="it can't be written: disk I/O error"):
            store.add_configurations([{"n": 1}])
        monkeypatch.setattr("shutil.disk_usage", lambda _: SimpleNamespace(free=4096))
        with pytest.raises(StoreFullError, match="the disk is full: 0 runs are kept"):
            store.add_configurations([{"n": 1}])


def test_two_campaigns_do_not_write_to_one_file(tmp_path: Path) -> None:
    path = study(tmp_path)
    with Campaign(Study.load(path)), pytest.raises(InputError, match="another campaign is writing"):
        measure(path)
    assert len(measure(path)) == 8


def test_files_of_something_else_are_refused(tmp_path: Path) -> None:
    (tmp_path / "notes.db").write_text("notes, many notes, and more of them\n" * 100)
    with pytest.raises(ReadError, match="not a file of a campaign"):
        measure(study(tmp_path), tmp_path / "notes.db")
    with sqlite3.connect(tmp_path / "other.db") as database:
        database.execute("CREATE TABLE pigeons (name TEXT)")
    with pytest.raises(ReadError, match="not a file of a campaign"):
        measure(study(tmp_path), tmp_path / "other.db")


def test_python_functions(tmp_path: Path) -> None:
    (tmp_path / "model.py").write_text(
        "import evenly\n"
        "def run(configuration):\n"
        "    n = configuration['n']\n"
        "    if n == 4:\n"
        "        raise SystemExit(0)\n"
        "    if n == 5:\n"
        "        return 'long'\n"
        "    if n == 3:\n"
        "        raise evenly.RunFailed('three is too many')\n"
        "    return {'seconds': n / 10, 'iterations': 7 * n}\n"
    )
    path = tmp_path / "calls.toml"
    path.write_text(
        "[program]\ncallable = 'model:run'\n[parameters]\nn = [1, 2, 3, 4, 5]\n[repetitions]\nleast = 1\nmost = 1\n"
    )
    runs = measure(path)
    assert runs.aggregate()[["n", "seconds", "iterations"]].to_numpy().tolist() == [[1, 0.1, 7], [2, 0.2, 14]]
    with Campaign(Study.load(path)) as campaign:
        told = campaign.table().set_index("n")["message"]
        assert told[3] == "three is too many"
        assert "instead of returning" in told[4]
        assert "must return seconds" in told[5]


def test_wall_time_is_that_of_the_program(tmp_path: Path) -> None:
    path = tmp_path / "nap.toml"
    path.write_text(
        "[program]\ncommand = 'sleep {s}'\n[parameters]\ns = [0.1, 0.2]\n[repetitions]\nleast = 6\nmost = 6\n"
    )
    told = measure(path).aggregate("min")
    # Starting `sleep` takes milliseconds; waiting for pipes that nobody holds took half a second.
    assert np.all(told["seconds"] >= told["s"])
    assert np.all(told["seconds"] < told["s"] + 0.15)


def test_a_study_put_right_after_nothing_went_well(tmp_path: Path) -> None:
    path = study(tmp_path, values="[1]")
    good = path.read_text()
    path.write_text(good.replace("took", "tokk"))
    with pytest.raises(InputError, match="none of 1 runs went well"):
        measure(path)
    path.write_text(good)
    with pytest.warns(EvenlyWarning, match="held 1 runs, which all failed: they are deleted"):
        assert len(measure(path)) == 2
    # Further quantities may come later; the time itself may not change.
    more = "[time.quantities]\nn2 = { pattern = 'took (.*) ms', unit = '1' }\n[repetitions]"
    path.write_text(good.replace("[repetitions]", more))
    assert len(measure(path)) == 2
    path.write_text(good.replace("unit = 'ms'", "unit = 's'"))
    with pytest.raises(InputError, match=r"time.unit was ms, now it is s"):
        measure(path)


def test_other_parameters_after_nothing_went_well(tmp_path: Path) -> None:
    path = tmp_path / "renamed.toml"
    text = "[program]\ncommand = 'false {m}'\n[parameters]\nm = [1, 2]\n"
    path.write_text(text)
    with pytest.raises(InputError, match="none of 2 runs went well"):
        measure(path)
    path.write_text(text.replace("false", "true").replace("{m}", "{n}").replace("m =", "n ="))
    with pytest.warns(EvenlyWarning, match="held 2 runs, which all failed: they are deleted"):
        assert measure(path).aggregate()["n"].tolist() == [1, 2]


def test_no_configuration_obeys(tmp_path: Path) -> None:
    path = study(tmp_path)
    path.write_text("constraints = ['n > 9']\n" + path.read_text())
    with pytest.raises(InfeasibleError, match="no configuration obeys n > 9"):
        measure(path)


def test_ranks_by_mpi(tmp_path: Path) -> None:
    path = tmp_path / "ranks.toml"
    path.write_text(
        f"[program]\ncommand = ['{sys.executable}', '-c', 'print(\"rank\")']\nlauncher = 'mpi'\nranks = '{{p}}'\n"
        "[parameters]\np = [1, 2]\n[time]\npattern = '(?s)^(?:.*?(rank)){2}'\n[repetitions]\nleast = 1\nmost = 1\n"
    )
    with Campaign(Study.load(path)) as campaign:
        campaign.run()
        words = {r.configuration: r.message for r in campaign.store.records()}
        told = {campaign.store.configurations()[number]["p"]: message for number, message in words.items()}
    # With one rank nothing matches; with two the second match is no number.
    assert "nothing in the output" in told[1]
    assert "'rank', which is not a number" in told[2]


def test_an_advisor_proposes_what_is_run(tmp_path: Path) -> None:
    path = study(tmp_path, values="{ low = 1, high = 11 }", more="[plan]\nruns = 6\ndesign = 'advisor'\nfirst = 4\n")
    asked: list[int] = []

    def advisor(runs: evenly.Runs, n: int) -> pd.DataFrame:
        asked.append(len(runs))
        known = set(runs.configurations["n"])
        return pd.DataFrame({"n": [next(x for x in range(1, 12) if x not in known)]}).head(n)

    runs = measure(path, advisor=advisor)
    # Four first ones, twice each, then one after the other.
    assert asked == [8, 10]
    assert len(runs.aggregate()) == 6
    # What was proposed isn't forgotten.
    assert len(measure(path, advisor=advisor)) == 12
    with pytest.raises(InputError, match="asks for an advisor"):
        measure(path)


def test_folders_of_their_own(tmp_path: Path) -> None:
    path = study(tmp_path, values="[1, 2]", program="folder = 'work/{n}-{repetition}'")
    path.write_text(path.read_text().replace("'solve.py'", f"'{tmp_path / 'solve.py'}'"))
    measure(path)
    assert sorted(p.name for p in (tmp_path / "work").iterdir()) == ["1-0", "1-1", "2-0", "2-1"]


@pytest.mark.parametrize("writes", [True, False])
def test_a_file_server_whose_clock_is_behind(writes: bool, tmp_path: Path) -> None:
    """The file of this run isn't taken for one of an earlier run, nor the other way round."""
    behind = 3600.0
    write = f"open('log.txt', 'w').write('took 3 s'); os.utime('log.txt', (time.time() - {behind},) * 2)"
    (tmp_path / "solve.py").write_text(f"import os, time\n{write if writes else ''}\n")
    (tmp_path / "study.toml").write_text(
        f"[program]\ncommand = ['{sys.executable}', 'solve.py', '{{n}}']\n[parameters]\nn = [1]\n"
        "[time]\npattern = 'took (\\d+) s'\nunit = 's'\nfile = 'log.txt'\n[repetitions]\nleast = 1\nmost = 1\n"
    )
    (tmp_path / "log.txt").write_text("took 9 s")
    os.utime(tmp_path / "log.txt", (time.time() - behind - 60,) * 2)
    if writes:
        assert measure(tmp_path / "study.toml").to_frame()["seconds"].tolist() == [3]
    else:
        with pytest.raises(InputError, match="of an earlier run"):
            measure(tmp_path / "study.toml")


def killed_during(folder: Path, *numbers: int) -> None:
    """Leave what a process leaves that is killed while runs of configurations are under way."""
    with Store(folder / "study.db") as store:
        for number in numbers:
            store.begin(f"{number}-0-plan-{uuid.uuid4().hex}", "local", number)


def test_a_run_that_kills_its_machine_blocks_no_other(tmp_path: Path) -> None:
    path = study(tmp_path)
    with Campaign(Study.load(path)) as campaign:
        first = next(iter(campaign.configurations))
        poison = campaign.configurations[first]["n"]
    for _ in range(2):
        killed_during(tmp_path, first)
        Campaign(Study.load(path)).store.close()
    killed_during(tmp_path, first)
    with pytest.warns(
        EvenlyWarning, match=f"killed 3 times while runs with n = {poison} were under way: .* after all others"
    ):
        campaign = Campaign(Study.load(path))
    with campaign:
        made: list[int] = []
        campaign.run(lambda record, _: made.append(record.configuration))
    # The others are run twice before it, and then it runs.
    assert made[-2:] == [first, first]
    assert Counter(made) == dict.fromkeys([1, 2, 3, 4], 2)


def test_of_several_runs_of_a_configuration_a_kill_counts_once(tmp_path: Path) -> None:
    path = study(tmp_path)
    with Campaign(Study.load(path)) as campaign:
        first, second, *_ = campaign.configurations
    for count in (1, 2):
        killed_during(tmp_path, first, first, first, second)
        with Campaign(Study.load(path)) as campaign:
            assert campaign.store.interrupted() == {first: count, second: count}


def test_one_that_kills_it_only_when_it_is_repeated_blocks_no_other_either(tmp_path: Path) -> None:
    path = study(tmp_path)
    with Campaign(Study.load(path)) as campaign:
        first, *others = campaign.configurations
        for number in (first, *others):
            campaign.store.add(Record(number, 0, "ok", {"seconds": 1.0}))
    for count in range(1, 5):
        killed_during(tmp_path, first)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", EvenlyWarning)
            with Campaign(Study.load(path)) as campaign:
                assert campaign.store.interrupted() == {first: count}
    with Campaign(Study.load(path)) as campaign:
        campaign.run()
        table = campaign.table()
    assert table.groupby("configuration")["status"].agg(list).to_dict() == {
        first: ["ok", "failed"], **{number: ["ok", "ok"] for number in others}
    }  # fmt: skip


def test_kills_are_forgotten_when_the_run_ends_well(tmp_path: Path) -> None:
    with Campaign(Study.load(study(tmp_path))) as campaign:
        first = next(iter(campaign.configurations))
    for _ in range(2):
        killed_during(tmp_path, first)
        Campaign(Study.load(tmp_path / "study.toml")).store.close()
    with Campaign(Study.load(tmp_path / "study.toml")) as campaign:
        assert campaign.store.interrupted() == {first: 2}
        campaign.run()
        assert campaign.store.interrupted() == {}


def test_one_that_kills_it_again_when_it_runs_last_counts_as_failed(tmp_path: Path) -> None:
    path = study(tmp_path)
    with Campaign(Study.load(path)) as campaign:
        first = next(iter(campaign.configurations))
    for _ in range(4):
        killed_during(tmp_path, first)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", EvenlyWarning)
            Campaign(Study.load(path)).store.close()
    with Campaign(Study.load(path)) as campaign:
        campaign.run()
        table = campaign.table().set_index("configuration")
        assert table.loc[first, "status"] == "failed"
        assert (
            table.loc[first, "message"] == "evenly was killed 4 times while runs of this configuration were under way"
        )
        assert (table["status"] == "ok").sum() == 6
        assert campaign.retry() == 1
        campaign.run()
        assert (campaign.table()["status"] == "ok").sum() == 8


def test_one_command_that_cannot_be_started_stops_no_other(tmp_path: Path) -> None:
    (tmp_path / "study.toml").write_text(
        "[program]\ncommand = ['echo', '{text}']\n[repetitions]\nleast = 1\nmost = 1\n[parameters]\n"
        f'text = ["fine", "null\\u0000", "{"long" * 40_000}", "too"]\n'
    )
    with Campaign(Study.load(tmp_path / "study.toml")) as campaign:
        campaign.run()
        table = campaign.table()
        assert campaign.store.left_running() == []
    told = dict(zip(table["text"].str[:4], table["message"], strict=True))
    assert told["fine"] == told["too"] == ""
    assert "null character" in told["null"]
    assert "longer than the system allows" in told["long"]


def test_a_pattern_that_fits_no_output_is_noticed_after_two_runs(tmp_path: Path) -> None:
    path = study(tmp_path)
    path.write_text(path.read_text().replace("took (", "tok ("))
    with Campaign(Study.load(path)) as campaign:
        with pytest.raises(InputError, match="the last two failed in the same way"):
            campaign.run()
        assert campaign.store.count() == 2


def test_after_two_runs_that_fail_alike_it_asks(tmp_path: Path) -> None:
    path = study(tmp_path, values="[1, 2, 3, 4, 5, 6]")
    path.write_text(path.read_text().replace("'solve.py'", "'-c', 'import gone'"))
    with pytest.raises(InputError, match=r"2 runs failed .*No module named 'gone'.*--keep-going"):
        measure(path)
    with Store(tmp_path / "study.db") as store:
        assert store.count() == 2
    with pytest.raises(InputError, match="none of 6 runs went well"):
        measure(path, keep_going=True)
    # Corrected, without the failed runs; nothing is asked where runs fail in different ways, or one went well.
    path = study(tmp_path, values="[13, 1, 2]", sleep=0.01)
    assert len(measure(path, tmp_path / "other.db")) == 5
    path.write_text(path.read_text().replace("'solve.py'", "'-c', 'import sys; sys.exit(int(sys.argv[1]))'"))
    with pytest.raises(InputError, match="none of 3 runs went well"):
        measure(path, tmp_path / "third.db")


@pytest.mark.parametrize("changed", ["cores_per_rank = 2", "cores_per_rank = '{n}'"])
def test_runs_on_other_cores_are_not_mixed(tmp_path: Path, changed: str) -> None:
    path = study(tmp_path)
    measure(path)
    path.write_text(path.read_text() + f"[launcher]\n{changed}\n")
    with pytest.raises(InputError, match=r"another study: cores_per_rank was not set, now it is"):
        measure(path)


def test_runs_that_mpiexec_starts_are_others(tmp_path: Path) -> None:
    path = study(tmp_path)
    text = path.read_text()
    told = []
    for ranks in ("", "ranks = 1"):
        path.write_text(f"{text}[launcher]\nname = 'slurm'\n{ranks}\n")
        told.append(Study.load(path).measured_as()["mpiexec"])
    assert told == [False, True]


def test_a_place_is_noted_where_a_run_went_well(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    measure(study(tmp_path))
    monkeypatch.setattr("platform.node", lambda: "elsewhere")
    for values, noted in (("[1, 2, 3, 4, 13]", False), ("[1, 2, 3, 4, 13, 5]", True)):
        path = study(tmp_path, values=values)
        with pytest.warns(EvenlyWarning, match="now it is elsewhere"):
            measure(path, keep_going=True)
        with Campaign(Study.load(path)) as campaign:
            assert (campaign.store.about("placed_as")["machine"] == "elsewhere") is noted


def test_another_machine_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = study(tmp_path)
    measure(path)
    monkeypatch.setattr("platform.node", lambda: "elsewhere")
    with pytest.warns(EvenlyWarning, match=r"holds runs with machine .*; now it is elsewhere"):
        measure(path)


def test_runs_that_tell_no_time_stop_a_study(tmp_path: Path) -> None:
    path = tmp_path / "study.toml"
    path.write_text(
        "[program]\ncommand = 'echo T: x{n}'\n[parameters]\nn = [1, 2, 3, 4]\n[time]\npattern = 'T: (\\S+)'\n"
    )
    with pytest.raises(InputError, match=r"2 runs failed .* in the same way \('T: .* is not a number"):
        measure(path)


def test_a_command_is_looked_for_in_the_folder_of_the_run(tmp_path: Path) -> None:
    path = tmp_path / "study.toml"
    path.write_text("[program]\ncommand = './prog.sh {n}'\nfolder = 'work/{run}'\n[parameters]\nn = [1]\n")
    with pytest.raises(InputError, match=r"'./prog.sh' can't be started: .* \(from the run's folder, 'work/\{run\}'"):
        measure(path)


def test_a_full_disk_damages_no_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    measure(study(tmp_path, values="[1]"))

    def load(_: sqlite3.Connection) -> None:
        raise sqlite3.OperationalError("disk I/O error")

    monkeypatch.setattr("evenly.campaign.opening.load", load)
    with pytest.raises(ReadError, match="or damaged"):
        measure(study(tmp_path, values="[1]"))
    monkeypatch.setattr("shutil.disk_usage", lambda _: SimpleNamespace(free=0))
    with pytest.raises(ReadError, match="the disk is full"):
        measure(study(tmp_path, values="[1]"))


def test_a_run_that_timed_out_took_at_least_its_limit_not_the_time_that_it_took_to_end(tmp_path: Path) -> None:
    path = tmp_path / "study.toml"
    path.write_text(
        "[program]\ncommand = ['sh', '-c', 'trap \"sleep 1; exit\" TERM; sleep {n} & wait']\ntimeout_s = 0.5\n"
        "[parameters]\nn = [60]\n[repetitions]\nleast = 1\nmost = 1\n"
    )
    with Campaign(Study.load(path)) as campaign:
        campaign.run()
        (late,) = campaign.store.records()
    assert late.quantities == {"seconds": 0.5}
    assert late.took > 1


def test_the_printed_part_of_a_run_that_timed_out_is_unknown(tmp_path: Path) -> None:
    code = "import sys, time; print('t', int(sys.argv[1])); time.sleep(1000 * (sys.argv[1] == '2'))"
    path = tmp_path / "study.toml"
    path.write_text(
        f"[program]\ncommand = [{json.dumps(sys.executable)}, '-c', {json.dumps(code)}, '{{n}}']\ntimeout_s = 2\n"
        "[parameters]\nn = [1, 2]\n[time]\npattern = 't (\\S+)'\nunit = 's'\n[repetitions]\nleast = 1\nmost = 1\n"
    )
    with Campaign(Study.load(path)) as campaign:
        campaign.run()
        records = {record.configuration: record for record in campaign.store.records()}
        known = campaign.configurations
    late = next(record for number, record in records.items() if known[number]["n"] == 2)
    assert (late.status, late.quantities) == ("timed out", {})
