"""preCICE 3: rank files and merged files, on real runs whose true step times are known, and on damaged copies."""

from __future__ import annotations

import json
import lzma
import math
import re
import shutil
import sqlite3
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from evenly.allocation.problem.layout import parse_layout
from evenly.errors import InputError, ReadError
from evenly.readers import scan
from evenly.readers.precice.profiling import PreciceProfilingReader
from evenly.readers.precice.window_steps import own_work
from evenly.runs.runs import Runs

FOLDERS = [
    *(f"parallel-explicit/{ranks}" for ranks in ("1_1", "1_2", "2_1", "2_2", "4_2", "4_4", "8_4")),
    "serial-explicit/2_2",
    "serial-implicit/2_2",
]
#: Seconds on p ranks that the programs were told to work; rank r of p works 10 % · r/p longer.
TRUTH: dict[str, Callable[[int], float]] = {
    "Inner": lambda p: (80 / p + 2 * math.log2(p) + 4) * 1e-3,
    "Outer": lambda p: (40 / p + math.log2(p) + 3) * 1e-3,
}
SAME = ["cores", "seconds", "rank_mean", "rank_min", "coupling", "waiting", "run", "repetition", "status"]


def rank_folder(samples: Path, case: str, solver: str) -> Path:
    return samples / "precice-v3" / case / solver / "precice-profiling"


def read(path: Path, **options: Any) -> dict[str, Runs]:
    return PreciceProfilingReader(**options).read(path)


def attempt(path: Path) -> tuple[dict[str, Runs], ReadError | None]:
    try:
        return read(path), None
    except ReadError as error:
        return {}, error


@pytest.mark.parametrize("solver", ["Inner", "Outer"])
@pytest.mark.parametrize("case", FOLDERS)
def test_step_times_are_the_known_truth(samples: Path, case: str, solver: str) -> None:
    runs = read(rank_folder(samples, case, solver))[solver]
    cores = int(case.split("/")[1].split("_")[["Inner", "Outer"].index(solver)])
    median = runs.aggregate().iloc[0]
    assert median["cores"] == cores
    slowest = TRUTH[solver](cores) * (1 + 0.1 * (cores - 1) / cores)
    mean = TRUTH[solver](cores) * (1 + 0.1 * (cores - 1) / 2 / cores)
    # A program sleeps at least as long as it was told; waking late costs up to some 0.5 ms on a shared machine, and
    # the shortest step has 16 ms: 4 %. The time that preCICE itself counts to the solver is microseconds.
    assert median["solving"] == pytest.approx(slowest, rel=0.04)
    assert median["solving"] < median["seconds"] < median["solving"] + 0.002  # preCICE's own work
    assert median["rank_mean"] == pytest.approx(mean, rel=0.05)
    assert median["rank_min"] <= median["rank_mean"] <= median["solving"]


@pytest.mark.parametrize("case", FOLDERS)
def test_number_of_steps_leaves_out_shutdown_and_warm_up(samples: Path, case: str) -> None:
    windows, iterations = 20, 3 if "implicit" in case else 1
    folder = rank_folder(samples, case, "Inner")
    assert len(read(folder)["Inner"]) == windows * iterations - 1
    whole = read(folder, warm_up=0)["Inner"].to_frame()
    assert len(whole) == windows * iterations
    assert whole["seconds"][0] > 1.8 * whole["seconds"][1:].median()  # the first step is doubled, and starts up
    assert whole["repetition"].tolist() == list(range(windows * iterations))


@pytest.mark.parametrize("solver", ["Inner", "Outer"])
@pytest.mark.parametrize("case", FOLDERS)
def test_database_and_rank_files_give_the_same_rows(samples: Path, case: str, solver: str) -> None:
    from_ranks = read(rank_folder(samples, case, solver))[solver].to_frame()
    from_database = read(samples / "precice-v3" / case / "profiling.db")
    assert set(from_database) == {"Inner", "Outer"}
    assert from_database[solver].to_frame()[SAME].equals(from_ranks[SAME])


def test_serial_scheme_shows_as_waiting(samples: Path) -> None:
    inner = read(rank_folder(samples, "serial-explicit/2_2", "Inner"))["Inner"].aggregate().iloc[0]
    outer = read(rank_folder(samples, "serial-explicit/2_2", "Outer"))["Outer"].aggregate().iloc[0]
    assert inner["waiting"] == pytest.approx(outer["seconds"], rel=0.1)
    assert outer["waiting"] == pytest.approx(inner["seconds"], rel=0.1)
    assert 0 < outer["mapping"] < 0.05 * outer["coupling"]


def test_first_participant_of_an_implicit_scheme_waits_for_convergence(samples: Path) -> None:
    inner = read(rank_folder(samples, "serial-implicit/2_2", "Inner"))["Inner"].aggregate().iloc[0]
    outer = read(rank_folder(samples, "serial-implicit/2_2", "Outer"))["Outer"].aggregate().iloc[0]
    assert inner["waiting"] == pytest.approx(outer["seconds"], rel=0.15)


@pytest.mark.parametrize(
    ("case", "layout"),
    [
        *((f"serial/{ranks}", "3 * (Fluid + Solid)") for ranks in ("1_1", "2_2", "4_3", "8_6")),
        *((f"sub/{ranks}", "3 * max(Fluid, 4 * Solid)") for ranks in ("1_1", "2_2", "4_3")),
    ],
)
def test_steps_make_up_the_time_of_a_window(samples: Path, case: str, layout: str) -> None:
    """Two solvers whose own clocks measured the windows, with preCICE 3.4.1."""
    folder = samples.parent / "strangers" / "2-coupled" / "precice-own" / case
    means = {name: float(runs.values.mean()) for name, runs in scan(folder).runs.items()}
    # Fluid begins, so its clock holds all of the first window.
    truth = float(re.findall(r"wall/window ([\d.]+)", (folder / "fluid" / "out.0").read_text())[0])
    assert parse_layout(layout, list(means)).seconds(means) == pytest.approx(truth, rel=0.025)


def _events(*, mode: str) -> str:
    """Return the events of five steps of 5 ms with a call of 9 ms, of which 6 ms are waiting and 3 ms mapping."""
    names = ["solver.advance", "advance", "advanceCoupling", "waitAndReceiveData", "mapping"]
    lines, now = [f"N{number}:{name}" for number, name in enumerate(names)], 0
    for _ in range(5):
        lines += [f"B0:{now}", f"E0:{now + 5000}", f"B1:{now + 5000}"]
        if mode == "all":
            lines += [f"B2:{now + 5000}", f"B3:{now + 5000}", f"E3:{now + 11000}", f"E2:{now + 11000}"]
            lines += [f"B4:{now + 11000}", f"E4:{now + 14000}"]
        now += 14000
        lines.append(f"E1:{now}")
    return "\n".join([*lines, f"B0:{now}", f"E0:{now + 3}", ""])


def test_work_of_precice_itself_is_part_of_a_step(tmp_path: Path) -> None:
    file = tmp_path / "Outer-0-1.txt"
    file.write_text(HEAD + _events(mode="all"))
    (runs,) = read(file).values()
    row = runs.to_frame().iloc[0]
    assert row[["seconds", "solving", "coupling", "waiting", "mapping"]].tolist() == pytest.approx(
        [0.008, 0.005, 0.009, 0.006, 0.003]
    )
    assert "takes 0.003 s in the mean, beside 0.005 s of the solver; both are a step's time" in own_work(runs)
    file.write_text(HEAD + _events(mode="fundamental"))
    (runs,) = read(file).values()
    assert runs.values[0] == pytest.approx(0.005)
    assert "isn't part of a step: its files don't tell it from waiting" in own_work(runs)


def test_bookkeeping_says_where_and_when(samples: Path) -> None:
    folder = rank_folder(samples, "parallel-explicit/8_4", "Inner")
    table = read(folder)["Inner"].to_frame()
    assert set(table["source"]) == {str(folder)}
    assert set(table["when"]) == {"2026-11-20T12:35:58.643+00:00"}
    assert table["run"].nunique() == 1
    assert table["run"][0].startswith("Inner-8-")


def test_recognises_folders_and_files_but_nothing_else(samples: Path, tmp_path: Path) -> None:
    reader = PreciceProfilingReader()
    case = samples / "precice-v3" / "serial-implicit" / "2_2"
    folder = rank_folder(samples, "serial-implicit/2_2", "Inner")
    known = [folder, folder / "Inner-1-2.txt", case / "profiling.db"]
    foreign = [
        case,
        case / "precice-config.xml",
        samples / "precice-v2" / "flap" / "precice-Fluid-events.json",
        tmp_path,
        tmp_path / "missing-0-1.txt",
    ]
    (tmp_path / "Fluid-0-1.txt").write_text("something else")
    sqlite3.connect(tmp_path / "profiling.db").close()
    foreign += [tmp_path / "Fluid-0-1.txt", tmp_path / "profiling.db"]
    assert [reader.recognises(path) for path in known] == [True] * 3
    assert [reader.recognises(path) for path in foreign] == [False] * 7


# ---- other containers of the same events ------------------------------------------------------------------------


def as_json(text_file: Path) -> str:
    """Write a rank file as preCICE up to 3.2 did."""
    head, *lines = text_file.read_text().splitlines()
    meta = {name: str(value) for name, value in json.loads(head).items() if name not in ("compression", "file_version")}
    events = []
    for line in lines:
        number, _, rest = line[1:].partition(":")
        kind = line[0].lower()
        if kind == "n":
            events.append({"et": "n", "en": rest, "eid": int(number)})
        elif kind == "d":
            time, name, value = rest.split(":")
            events.append({"et": "d", "eid": int(number), "ts": int(time), "dn": int(name), "dv": value})
        else:
            events.append({"et": kind, "eid": int(number), "ts": int(rest)})
    return json.dumps({"meta": meta, "events": events}, separators=(",", ":"))


def as_merged_json(database: Path) -> str:
    """Write what preCICE's merge tool wrote up to 3.2."""
    connection = sqlite3.connect(database)
    names = {str(number): name for number, name in connection.execute("SELECT eid, name FROM names")}
    events: dict[str, dict[str, Any]] = {}
    query = "SELECT p.name, p.size, e.rank, e.eid, e.ts, e.dur FROM events e JOIN participants p ON e.pid = p.pid"
    for solver, size, rank, number, begin, duration in connection.execute(query):
        meta = {"name": solver, "rank": rank, "size": size, "unix_us": 0, "tinit": ""}
        entry = events.setdefault(solver, {}).setdefault(str(rank), {"meta": meta, "events": []})
        entry["events"].append({"eid": number, "ts": begin, "dur": duration})
    connection.close()
    return json.dumps({"eventDict": names, "events": events})


@pytest.fixture
def expected(samples: Path) -> Runs:
    return read(rank_folder(samples, "serial-implicit/2_2", "Outer"))["Outer"]


@pytest.fixture
def copy(samples: Path, tmp_path: Path) -> Path:
    """A folder with the two rank files of Outer."""
    target = tmp_path / "precice-profiling"
    shutil.copytree(rank_folder(samples, "serial-implicit/2_2", "Outer"), target)
    for file in target.iterdir():
        file.chmod(0o644)
    return target


def rewrite(folder: Path, suffix: str, change: Callable[[Path], bytes]) -> None:
    for file in list(folder.glob("*.txt")):
        content = change(file)
        file.unlink()
        file.with_suffix(suffix).write_bytes(content)


def compressed(file: Path, container: int = lzma.FORMAT_XZ, *, pieces: int = 1) -> bytes:
    head, _, body = file.read_bytes().partition(b"\n")
    head = head.replace(b'"compression":false', b'"compression":true')
    cuts = [len(body) * i // pieces for i in range(pieces + 1)]
    parts = [lzma.compress(body[a:b], format=container) for a, b in pairwise(cuts)]
    return head + b"\n" + b"".join(parts)


@pytest.mark.parametrize(
    ("suffix", "change"),
    [
        (".json", lambda file: as_json(file).encode()),
        (".txt", compressed),
        (".txt", lambda file: compressed(file, lzma.FORMAT_ALONE)),
        (".txt", lambda file: compressed(file, pieces=3)),
        (".txt.xz", lambda file: lzma.compress(file.read_bytes())),
        (".json.lzma", lambda file: lzma.compress(as_json(file).encode(), format=lzma.FORMAT_ALONE)),
    ],
)
def test_every_container_gives_the_same_rows(
    copy: Path, expected: Runs, suffix: str, change: Callable[[Path], bytes]
) -> None:
    rewrite(copy, suffix, change)
    assert PreciceProfilingReader().recognises(copy)
    assert read(copy)["Outer"].to_frame()[SAME].equals(expected.to_frame()[SAME])


def test_merged_json_gives_the_same_rows(samples: Path, tmp_path: Path, expected: Runs) -> None:
    file = tmp_path / "profiling.json"
    file.write_text(as_merged_json(samples / "precice-v3" / "serial-implicit" / "2_2" / "profiling.db"))
    assert PreciceProfilingReader().recognises(file)
    assert read(file)["Outer"].to_frame()[SAME].equals(expected.to_frame()[SAME])


def test_events_that_the_merge_tool_cut_off_are_left_out(samples: Path, tmp_path: Path, expected: Runs) -> None:
    file = tmp_path / "profiling.db"
    shutil.copyfile(samples / "precice-v3" / "serial-implicit" / "2_2" / "profiling.db", file)
    connection = sqlite3.connect(file)
    pid, number = connection.execute(
        "SELECT p.pid, n.eid FROM participants p, names n WHERE p.name = 'Outer' AND n.name = 'solver.advance'"
    ).fetchone()
    for duration in (-5, 1_795_178_101_840_235):
        connection.execute("INSERT INTO events VALUES (?, 0, ?, ?, ?, NULL)", (pid, number, 1, duration))
    connection.commit()
    connection.close()
    assert read(file)["Outer"].to_frame()[SAME].equals(expected.to_frame()[SAME])


# ---- cut off and damaged files ----------------------------------------------------------------------------------


@pytest.mark.parametrize("suffix", [".txt", ".json"])
def test_a_killed_run_gives_the_steps_that_every_rank_completed(copy: Path, expected: Runs, suffix: str) -> None:
    rewrite(copy, suffix, lambda file: as_json(file).encode() if suffix == ".json" else file.read_bytes())
    first, second = sorted(copy.glob(f"*{suffix}"))
    first.write_bytes(first.read_bytes()[: first.stat().st_size * 2 // 3])
    second.write_bytes(second.read_bytes()[: second.stat().st_size * 1 // 2])
    reader = PreciceProfilingReader()
    cut = reader.read(copy)["Outer"].to_frame()
    whole = expected.to_frame()
    assert 20 < len(cut) < 40
    assert cut["seconds"].equals(whole["seconds"][: len(cut)])
    notes = "\n".join(reader.notes)
    assert first.name in notes
    assert "only those that all ranks completed" in notes


@pytest.mark.parametrize("suffix", [".txt", ".json"])
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=60, deadline=None)
@given(data=st.data())
def test_a_file_cut_anywhere_gives_a_prefix_or_a_read_error(
    samples: Path, tmp_path: Path, suffix: str, data: st.DataObject
) -> None:
    source = rank_folder(samples, "parallel-explicit/1_1", "Inner") / "Inner-0-1.txt"
    content = as_json(source).encode() if suffix == ".json" else source.read_bytes()
    whole = read(source.parent)["Inner"].to_frame()
    file = tmp_path / f"Inner-0-1{suffix}"
    file.write_bytes(content[: data.draw(st.integers(0, len(content)))])
    runs, error = attempt(file)
    if error is not None:
        assert error.path == file
        return
    cut = runs["Inner"].to_frame()
    assert cut["seconds"].equals(whole["seconds"][: len(cut)])


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=150, deadline=None)
@given(data=st.data(), kind=st.sampled_from(["text", "json", "compressed", "database", "merged"]))
def test_damage_never_raises_anything_but_a_read_error(
    samples: Path, tmp_path: Path, kind: str, data: st.DataObject
) -> None:
    case = samples / "precice-v3" / "parallel-explicit" / "1_1"
    source = case / "Inner" / "precice-profiling" / "Inner-0-1.txt"
    names = {
        "text": "I-0-1.txt",
        "json": "I-0-1.json",
        "compressed": "J-0-1.txt",
        "database": "p.db",
        "merged": "p.json",
    }
    write: dict[str, Callable[[], bytes]] = {
        "text": source.read_bytes,
        "json": lambda: as_json(source).encode(),
        "compressed": lambda: compressed(source),
        "database": (case / "profiling.db").read_bytes,
        "merged": lambda: as_merged_json(case / "profiling.db").encode(),
    }
    content = bytearray(write[kind]())
    for _ in range(data.draw(st.integers(1, 4))):
        where = data.draw(st.integers(0, len(content) - 1))
        content[where : where + data.draw(st.integers(0, 30))] = data.draw(st.binary(max_size=30))
    file = tmp_path / names[kind]
    file.write_bytes(content)
    PreciceProfilingReader().recognises(file)
    runs, error = attempt(file)
    assert (error is None) == bool(runs)
    assert all(len(part) > 0 for part in runs.values())
    assert error is None or str(tmp_path) in str(error)


HEAD = '{"name":"A","rank":0,"size":1,"unix_us":"1795178101840235","tinit":"","compression":false}\n'


@pytest.mark.parametrize(
    ("content", "line", "reason"),
    [
        ("", None, "the file is empty"),
        ("hello\n", 1, "meta data"),
        ("[1, 2]\n", 1, "meta data"),
        (HEAD, None, "completed 0 steps"),
        (HEAD + "N0:advance\nB0:abc\n", 3, "B0:abc"),
        (HEAD + "N0:advance\nX0:1\n", 3, "X0:1"),
        (HEAD + "B7:1\n", 2, "event 7 has no name"),
        (HEAD + "N0:a\nN1:b\nB0:0\nB1:1\nE0:2\nE1:3\n", 6, "'a' ends while"),
        (HEAD + "N0:solver.advance\nN1:advance\nB0:9\nE0:5\nB1:9\nE1:10\n", None, "must not end before it begins"),
        (HEAD.replace('"rank":0', '"rank":3'), 1, "from 0 to 0"),
        (HEAD.replace('"size":1', '"size":"many"'), None, "damaged"),
        (HEAD.replace('"size":1,', ""), None, "'size'"),
        (HEAD.replace("false", "true") + "N0:not compressed\n", None, "compressed part is damaged"),
        (HEAD.replace("1795178101840235", "9" * 40) + "N0:a\nN1:b\n", None, "damaged"),
    ],
)
def test_errors_say_file_line_and_reason(tmp_path: Path, content: str, line: int | None, reason: str) -> None:
    file = tmp_path / "A-0-1.txt"
    file.write_text(content)
    with pytest.raises(ReadError) as caught:
        read(file)
    assert caught.value.path == file
    assert caught.value.line == line
    assert reason in caught.value.reason


@pytest.mark.parametrize(
    ("content", "line", "reason"),
    [
        ("", None, "the file is empty"),
        ('{"eventDict": {},\n "events": {', 2, "damaged JSON"),
        ('{"eventDict": {}}', None, "'events'"),
        ('{"eventDict": {}, "events": {}}', None, "no profiling events"),
        (
            (
                '{"eventDict": {"0": "a"}, "events": {"A": {"0": {"meta": {"rank": 5, "size": 2}, '
                '"events": [{"eid": 0, "ts": 1, "dur": 1}]}}}}'
            ),
            None,
            "from 0 to 1, but got 5",
        ),
    ],
)
def test_damaged_merged_json_says_file_line_and_reason(
    tmp_path: Path, content: str, line: int | None, reason: str
) -> None:
    file = tmp_path / "profiling.json"
    file.write_text(content)
    with pytest.raises(ReadError) as caught:
        read(file)
    assert (caught.value.path, caught.value.line) == (file, line)
    assert reason in caught.value.reason


def test_an_empty_database_says_so(tmp_path: Path) -> None:
    file = tmp_path / "profiling.db"
    file.write_bytes(b"")
    with pytest.raises(ReadError, match="the file is empty"):
        read(file)


def test_an_event_that_begins_again_while_active_counts_once(tmp_path: Path) -> None:
    file = tmp_path / "A-0-1.txt"
    lines = ["N0:solver.advance", "N1:advance", "B0:0", "B0:5", "E0:90", "E0:91", "B1:91", "E1:99", ""]
    file.write_text(HEAD + "\n".join(lines))
    assert read(file, warm_up=0)["A"].values.tolist() == pytest.approx([90e-6])


def test_a_missing_rank_is_named_and_can_be_ignored(copy: Path, expected: Runs) -> None:
    (copy / "Outer-1-2.txt").unlink()
    with pytest.raises(ReadError, match=r"Outer ran on 2 ranks, but 1 of them can't be read \(rank 1\)"):
        read(copy)
    rest = read(copy, missing_ranks="ignore")["Outer"].to_frame()
    assert rest["cores"].unique().tolist() == [2]
    assert (rest["solving"] <= expected.to_frame()["solving"]).all()
    assert rest["solving"].equals(rest["rank_min"])


def test_a_damaged_rank_is_named_before_the_ranks_that_it_leaves_missing(copy: Path) -> None:
    (copy / "Outer-1-2.txt").write_text("")
    with pytest.raises(ReadError, match=r"Outer-1-2.txt: the file is empty"):
        read(copy)


def test_other_runs_of_a_folder_are_still_read(samples: Path, copy: Path, expected: Runs) -> None:
    inner = rank_folder(samples, "parallel-explicit/8_4", "Inner")
    for file in inner.iterdir():
        shutil.copyfile(file, copy / file.name)
    (copy / "Inner-3-8.txt").unlink()
    reader = PreciceProfilingReader()
    assert list(reader.read(copy)) == ["Outer"]
    assert ["rank 3" in str(skipped) for skipped in reader.skipped] == [True]
    shutil.copyfile(inner / "Inner-3-8.txt", copy / "Inner-3-8.txt")
    both = reader.read(copy)
    assert both["Outer"].to_frame()[SAME].equals(expected.to_frame()[SAME])
    assert both["Inner"].to_frame()["cores"].unique().tolist() == [8]
    assert reader.skipped == []


def test_one_rank_in_two_formats_is_refused(copy: Path) -> None:
    (copy / "Outer-0-2.json").write_text(as_json(copy / "Outer-0-2.txt"))
    reader = PreciceProfilingReader()
    assert list(reader.read(copy)) == ["Outer"]
    assert "holds the same rank as Outer-0-2.json" in str(reader.skipped[0])


def test_runs_of_one_participant_on_several_sizes_are_kept_apart(samples: Path, tmp_path: Path) -> None:
    for case in ("2_1", "4_2"):
        for file in rank_folder(samples, f"parallel-explicit/{case}", "Inner").iterdir():
            shutil.copyfile(file, tmp_path / file.name)
    table = read(tmp_path)["Inner"].to_frame()
    assert table.groupby("cores")["run"].nunique().to_dict() == {2: 1, 4: 1}


def test_files_without_steps_and_missing_files_are_errors(tmp_path: Path) -> None:
    with pytest.raises(ReadError, match="no profiling events"):
        read(tmp_path)
    with pytest.raises(ReadError, match="can't be read"):
        read(tmp_path / "A-0-1.txt")
    with pytest.raises(ReadError, match=r"not a readable profiling database|can't be read"):
        read(tmp_path / "profiling.db")


@pytest.mark.parametrize("options", [{"warm_up": -1}, {"warm_up": 1.5}, {"missing_ranks": True}])
def test_options_are_checked(options: dict[str, Any]) -> None:
    with pytest.raises(InputError):
        PreciceProfilingReader(**options)


def test_more_warm_up_than_steps_says_so(samples: Path) -> None:
    with pytest.raises(ReadError, match="completed 20 steps, and the first 20 are warm-up"):
        read(rank_folder(samples, "parallel-explicit/1_1", "Inner"), warm_up=20)


def test_a_damaged_name_in_a_database_is_no_traceback(samples: Path, tmp_path: Path) -> None:
    content = bytearray((samples / "precice-v3" / "parallel-explicit" / "1_1" / "profiling.db").read_bytes())
    content[4009:4010] = b"\x80"  # in the list of its tables
    (tmp_path / "p.db").write_bytes(content)
    assert not PreciceProfilingReader().recognises(tmp_path / "p.db")


def test_rank_files_of_two_runs_are_not_one_run(copy: Path) -> None:
    """Files that an earlier run had left gave the slowest rank of another split, without a word."""
    path = next(file for file in sorted(copy.iterdir()) if file.name.split("-")[1:2] == ["1"])
    head, rest = path.read_text().split("\n", 1)
    told = json.loads(head)
    told["unix_us"] = str(int(told["unix_us"]) - 25 * 3_600_000_000)
    path.write_text(f"{json.dumps(told)}\n{rest}")
    with pytest.raises(ReadError, match=r"must be of one run, but rank 0 began 25 h after rank 1: remove the files"):
        PreciceProfilingReader().read(copy)


def test_a_trace_for_viewers_is_told_from_what_to_give(tmp_path: Path) -> None:
    events = [
        {"name": name, "ph": "X", "pid": 1, "tid": 0, "ts": 7, "dur": 5} for name in ("solver.advance", "advance")
    ]
    (tmp_path / "trace.json").write_text(json.dumps({"traceEvents": [{"name": "process_name", "ph": "M"}, *events]}))
    with pytest.raises(ReadError, match="trace for viewers: give preCICE's rank files"):
        scan(tmp_path)
    (tmp_path / "trace.json").write_text(json.dumps({"traceEvents": [{"name": "other", "ph": "X"}]}))
    with pytest.raises(ReadError, match="no measurement found"):  # of another program
        scan(tmp_path)
