"""preCICE up to 2.x: events.json, summaries and CSV logs, on real files and on damaged copies of them."""

from __future__ import annotations

import json
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from evenly.errors import InputError, ReadError
from evenly.readers.base import Reader
from evenly.readers.precice.events import steps_of
from evenly.readers.precice.events_csv import PreciceEventsCsvReader
from evenly.readers.precice.events_json import PreciceEventsJsonReader
from evenly.readers.precice.events_summary import PreciceEventsSummaryReader
from evenly.readers.precice.profiling import PreciceProfilingReader
from evenly.runs.runs import Runs

READERS: list[type[Reader]] = [
    PreciceEventsJsonReader,
    PreciceEventsSummaryReader,
    PreciceEventsCsvReader,
    PreciceProfilingReader,
]
FILES: dict[str, type[Reader]] = {
    "precice-v1/precice-Fluid-events.log": PreciceEventsCsvReader,
    "precice-v1/precice-Solid-events.log": PreciceEventsCsvReader,
    "precice-v1/precice-Fluid-eventTimings.log": PreciceEventsCsvReader,
    "precice-v1/precice-Solid-eventTimings.log": PreciceEventsCsvReader,
    "precice-v2/flap/precice-Calculix-events.json": PreciceEventsJsonReader,
    "precice-v2/flap/precice-Fluid-events.json": PreciceEventsJsonReader,
    "precice-v2/heated-plate/precice-Calculix-events.json": PreciceEventsJsonReader,
    "precice-v2/heated-plate/precice-OpenFOAM-events.json": PreciceEventsJsonReader,
    "precice-v2/heated-plate/precice-Calculix-events-summary.log": PreciceEventsSummaryReader,
    "precice-v2/heated-plate/precice-OpenFOAM-events-summary.log": PreciceEventsSummaryReader,
    "precice-v2/fsi3/precice-Fluid-events-summary.log": PreciceEventsSummaryReader,
    "precice-v2/fsi3/precice-Solid-events-summary.log": PreciceEventsSummaryReader,
}


def table(reader: Reader, path: Path) -> pd.DataFrame:
    (runs,) = reader.read(path).values()
    return runs.to_frame()


@pytest.mark.parametrize(("name", "reader"), FILES.items())
def test_each_file_is_recognised_by_its_reader_alone(samples: Path, name: str, reader: type[Reader]) -> None:
    assert [other for other in READERS if other().recognises(samples / name)] == [reader]
    assert list(reader().read(samples / name)) == [Path(name).name.split("-")[1]]


# ---- preCICE 1.3 ------------------------------------------------------------------------------------------------


def test_runs_that_were_appended_to_one_log_are_told_apart(samples: Path) -> None:
    rows = table(PreciceEventsCsvReader(), samples / "precice-v1" / "precice-Fluid-events.log")
    runs = rows.groupby("run")["seconds"]
    assert runs.size().tolist() == [211, 211]  # 212 coupling calls, one step of warm-up
    assert runs.median().tolist() == pytest.approx([0.087, 0.090])
    assert rows["when"].unique().tolist() == ["2019-01-23T22:31:23.592", "2019-01-23T22:46:05.314"]
    assert rows["run"].unique().tolist() == ["Fluid-1-2019-01-23T22:31:43.480", "Fluid-1-2019-01-23T22:46:40.657"]


def test_first_step_is_what_solver_initialize_ends_with(samples: Path) -> None:
    path = samples / "precice-v1" / "precice-Fluid-events.log"
    rows = table(PreciceEventsCsvReader(warm_up=0), path)
    assert rows.groupby("run").size().tolist() == [212, 212]
    assert rows[rows["repetition"] == 0]["seconds"].tolist() == [0.129, 0.093]
    assert rows[rows["repetition"] == 1]["seconds"].tolist() == [0.084, 0.090]


def test_steps_below_the_clock_are_averaged(samples: Path) -> None:
    path = samples / "precice-v1" / "precice-Solid-events.log"
    reader = PreciceEventsCsvReader()
    rows = table(reader, path)
    for _, run in rows.groupby("run"):
        # 211 steps of about 0.93 ms: blocks of 11 take about 10 ticks, so that one tick is a tenth.
        assert len(run) == 19
        starts = [*run["repetition"], 212]
        lengths = [b - a for a, b in pairwise(starts)]
        total = sum(seconds * length for seconds, length in zip(run["seconds"], lengths, strict=True))
        assert total * 1e3 == pytest.approx(round(total * 1e3))  # nothing is lost: sums of whole milliseconds
    assert (rows["seconds"] > 0).all()
    assert "too short for a clock of 0.001 s" in reader.notes[0]


@pytest.mark.parametrize("solver", ["Fluid", "Solid"])
def test_sums_and_events_of_one_run_agree(samples: Path, solver: str) -> None:
    steps = table(PreciceEventsCsvReader(), samples / "precice-v1" / f"precice-{solver}-events.log")
    sums = table(PreciceEventsCsvReader(), samples / "precice-v1" / f"precice-{solver}-eventTimings.log")
    assert sums["run"].tolist() == steps["run"].unique().tolist()
    # Sums are exact, while each event's times are cut to whole milliseconds: up to 0.1 ms on average.
    assert sums["seconds"].tolist() == pytest.approx(steps.groupby("run")["seconds"].mean().tolist(), abs=1e-4)


def test_sums_leave_out_the_shutdown(samples: Path) -> None:
    rows = table(PreciceEventsCsvReader(), samples / "precice-v1" / "precice-Fluid-eventTimings.log")
    assert rows["seconds"].tolist() == pytest.approx([(18748 - 41) / 211e3, (19483 - 44) / 211e3])
    assert rows["coupling"].tolist() == pytest.approx([916 / 212e3, 961 / 212e3])


EVENTS_1_0 = """RunTimestamp,Name,Rank,Timestamp,State
2018-03-01 10:00:00. 45,advance,0,100,1
2018-03-01 10:00:00. 45,advance,0,110,0
2018-03-01 10:00:00. 45,advance,0,150,1
2018-03-01 10:00:00. 45,advance,0,160,0
2018-03-01 10:00:00. 45,advance,1,100,1
2018-03-01 10:00:00. 45,advance,1,110,0
2018-03-01 10:00:00. 45,advance,1,150,1
2018-03-01 10:00:00. 45,advance,1,160,0
2018-03-01 10:00:00. 45,solver.advance,0,110,1
2018-03-01 10:00:00. 45,solver.advance,0,150,0
2018-03-01 10:00:00. 45,solver.advance,1,110,1
2018-03-01 10:00:00. 45,solver.advance,1,130,0
"""


def test_version_1_0_has_other_columns(tmp_path: Path) -> None:
    events = tmp_path / "Events-Fluid.log"
    events.write_text(EVENTS_1_0)
    runs = PreciceEventsCsvReader(warm_up=0).read(events)["Fluid"].to_frame()
    assert runs[["cores", "seconds", "rank_mean", "rank_min"]].to_numpy().tolist() == [[2, 0.04, 0.03, 0.02]]
    timings = tmp_path / "EventTimings-Fluid.log"
    timings.write_text(
        "Timestamp,Rank,Name,Count,Total,Max,Min,Avg,T%,Data\n"
        "# Run finished at: 2018-03-01 10:00:00\n# Number of processors: 2\n"
        '2018-03-01 10:00:00. 45,0,solver.advance,3,90,50,10,30,5,"[1,2]"\n'
        '2018-03-01 10:00:00. 45,1,solver.advance,3,70,10,50,23,5,"[]"\n'
    )
    sums = PreciceEventsCsvReader().read(timings)["Fluid"].to_frame()
    assert sums[["cores", "seconds", "rank_min"]].to_numpy().tolist() == [[2, 0.04, 0.03]]
    assert sums["run"].tolist() == runs["run"].tolist() == ["Fluid-2-2018-03-01T10:00:00.045"]


def test_a_rank_that_is_missing_from_a_log_is_named(tmp_path: Path) -> None:
    path = tmp_path / "precice-Fluid-events.log"
    path.write_text(EVENTS_1_0.replace("advance,0,", "advance,2,"))
    with pytest.raises(ReadError, match="lacks rank 0 of 3"):
        PreciceEventsCsvReader().read(path)


# ---- preCICE 2 --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "steps", "median"),
    [
        ("flap/precice-Fluid-events.json", 99, 0.076),
        ("heated-plate/precice-OpenFOAM-events.json", 101, 0.154),
    ],
)
def test_steps_of_version_2(samples: Path, name: str, steps: int, median: float) -> None:
    rows = table(PreciceEventsJsonReader(), samples / "precice-v2" / name)
    assert len(rows) == steps
    assert rows["solving"].median() == median
    assert rows["solving"].min() > 0.05  # the shutdown of 0 and 38 ms is no step


def test_first_step_of_version_2_is_in_solver_initialize(samples: Path) -> None:
    path = samples / "precice-v2" / "heated-plate" / "precice-OpenFOAM-events.json"
    rows = table(PreciceEventsJsonReader(warm_up=0), path)
    assert len(rows) == 102
    assert rows["solving"][:3].tolist() == [0.129, 0.105, 0.161]
    assert rows["coupling"][:2].tolist() == [0.037, 0.016]


@pytest.mark.parametrize("solver", ["OpenFOAM", "Calculix"])
def test_summary_and_events_of_one_run_agree(samples: Path, solver: str) -> None:
    folder = samples / "precice-v2" / "heated-plate"
    steps = table(PreciceEventsJsonReader(), folder / f"precice-{solver}-events.json")
    sums = table(PreciceEventsSummaryReader(), folder / f"precice-{solver}-events-summary.log")
    assert len(sums) == 1
    assert set(steps["run"]) == set(sums["run"])
    own = "solving" if "solving" in steps else "seconds"
    assert sums[own][0] == pytest.approx(steps[own].mean(), abs=1e-4)
    assert sums["seconds"][0] == pytest.approx(steps["seconds"].mean(), abs=1e-3)  # mapping is cut to milliseconds


def test_summary_of_many_ranks_tells_only_of_rank_0(samples: Path) -> None:
    fluid = PreciceEventsSummaryReader().read(samples / "precice-v2" / "fsi3" / "precice-Fluid-events-summary.log")
    solid = PreciceEventsSummaryReader().read(samples / "precice-v2" / "fsi3" / "precice-Solid-events-summary.log")
    rows = fluid["Fluid"].to_frame()
    assert rows["cores"].tolist() == [24]
    assert rows["solving"][0] == pytest.approx((29601923 - 155) / 105726 * 1e-3)
    assert rows["seconds"][0] == pytest.approx(rows["solving"][0] + rows["mapping"][0])
    assert rows["mapping"][0] == pytest.approx((4209123 + 65) / 105727 * 1e-3)
    assert "rank_mean" not in fluid["Fluid"].quantities
    assert solid["Solid"].quantities.keys() >= {"rank_mean", "rank_min", "waiting"}
    assert rows["when"].tolist() == ["2020-07-20T09:40:18.700"]


def test_summaries_in_one_file_are_several_runs(samples: Path, tmp_path: Path) -> None:
    path = tmp_path / "precice-Fluid-events-summary.log"
    for name in ("Fluid", "Solid"):
        text = (samples / "precice-v2" / "fsi3" / f"precice-{name}-events-summary.log").read_text()
        path.write_text((path.read_text() if path.exists() else "") + text)
    assert table(PreciceEventsSummaryReader(), path)["cores"].tolist() == [24, 1]


def test_work_before_the_end_of_initialisation_is_no_step() -> None:
    changes = {
        "solver.initialize": [(1, 0), (0, 10)],
        "initialize": [(1, 10), (0, 30)],
        "advance": [(1, 30), (0, 32), (1, 40), (0, 45)],
        "solver.advance": [(1, 32), (2, 34), (1, 37), (0, 40), (1, 45), (0, 46)],
    }
    steps = steps_of(changes)
    assert steps.work.tolist() == [5]  # a pause of 3 doesn't count
    assert steps.phases["coupling"].tolist() == [5]


def test_work_and_calls_must_alternate() -> None:
    changes = {"advance": [(1, 10), (0, 12), (1, 14), (0, 16)], "solver.advance": [(1, 0), (0, 10), (1, 90), (0, 95)]}
    with pytest.raises(InputError, match="must alternate"):
        steps_of(changes)


# ---- damaged copies ---------------------------------------------------------------------------------------------


def attempt(reader: Reader, path: Path) -> tuple[dict[str, Runs], ReadError | None]:
    try:
        return reader.read(path), None
    except ReadError as error:
        return {}, error


@pytest.mark.parametrize(("name", "reader"), FILES.items())
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=25, deadline=None)
@given(data=st.data())
def test_damage_never_raises_anything_but_a_read_error(
    samples: Path, tmp_path: Path, name: str, reader: type[Reader], data: st.DataObject
) -> None:
    content = bytearray((samples / name).read_bytes())
    if data.draw(st.booleans()):
        del content[data.draw(st.integers(0, len(content) - 1)) :]
    else:
        where = data.draw(st.integers(0, len(content) - 1))
        content[where : where + data.draw(st.integers(0, 30))] = data.draw(st.binary(max_size=30))
    path = tmp_path / Path(name).name
    path.write_bytes(content)
    reader().recognises(path)
    runs, error = attempt(reader(), path)
    assert (error is None) == bool(runs)
    assert all(len(part) > 0 for part in runs.values())
    assert error is None or error.path == path


@pytest.mark.parametrize("reader", [PreciceEventsJsonReader, PreciceEventsSummaryReader, PreciceEventsCsvReader])
@pytest.mark.parametrize(
    "content", [b"", b"\n\n", b"\x00\x01\xff\xfe", b"{}", b"[]", b"{", b"hello world\n", b"a,b\n1,2\n"]
)
def test_empty_foreign_and_binary_files_are_refused(tmp_path: Path, reader: type[Reader], content: bytes) -> None:
    path = tmp_path / "precice-Fluid-events.json"
    path.write_bytes(content)
    assert not reader().recognises(path)
    with pytest.raises(ReadError, match=r"precice-Fluid-events\.json"):
        reader().read(path)
    with pytest.raises(ReadError, match="can't be read"):
        reader().read(tmp_path / "not there")
    assert not reader().recognises(tmp_path)


def cut_after(text: str) -> Callable[[str], str]:
    return lambda content: content[: content.index(text) + len(text)]


def replaced(old: str, new: str) -> Callable[[str], str]:
    return lambda content: content.replace(old, new, 1)


@pytest.mark.parametrize(
    ("name", "damage", "line", "reason"),
    [
        ("precice-v1/precice-Fluid-events.log", cut_after("advance,0,10982444"), 4, "cut off"),
        ("precice-v1/precice-Fluid-events.log", replaced(",0,10982444,1", ",0,1x,1"), 4, "Timestamp must be a whole"),
        ("precice-v1/precice-Fluid-events.log", replaced(",0,10982444,1", ",0,10982444"), 4, "6 columns"),
        ("precice-v1/precice-Fluid-events.log", replaced("2019-01-23T", "someday "), 2, "must be a time"),
        ("precice-v1/precice-Fluid-events.log", replaced(",0,10982444,1", ",0,10982444,7"), 4, "0, 1 or 2"),
        ("precice-v1/precice-Fluid-eventTimings.log", replaced("processors: 1", "processors: x"), 3, "processors"),
        ("precice-v1/precice-Fluid-eventTimings.log", replaced("advance,212", "advance,0"), 6, "Count must be"),
        ("precice-v2/heated-plate/precice-OpenFOAM-events.json", cut_after('"Timestamp": 317'), 38, "damaged JSON"),
        ("precice-v2/heated-plate/precice-OpenFOAM-events.json", replaced('"State"', '"Stat"'), None, "'State'"),
        ("precice-v2/heated-plate/precice-OpenFOAM-events.json", replaced('"Ranks"', '"R"'), None, "'Ranks'"),
        ("precice-v2/fsi3/precice-Fluid-events-summary.log", cut_after("processors = "), 3, "Number of processors"),
        ("precice-v2/fsi3/precice-Fluid-events-summary.log", cut_after("initializeData |"), 44, "8 columns"),
        ("precice-v2/fsi3/precice-Fluid-events-summary.log", replaced("29601923", "2960192x"), 45, "whole numbers"),
        (
            "precice-v2/fsi3/precice-Fluid-events-summary.log",
            replaced(" solver.advance", "solver.arrive"),
            49,
            "no row",
        ),
    ],
)
def test_errors_say_file_line_and_reason(
    samples: Path, tmp_path: Path, name: str, damage: Callable[[str], str], line: int | None, reason: str
) -> None:
    path = tmp_path / Path(name).name
    path.write_text(damage((samples / name).read_text()))
    with pytest.raises(ReadError) as caught:
        FILES[name]().read(path)
    assert caught.value.path == path
    assert reason in caught.value.reason
    assert caught.value.line == line


def test_a_run_that_logged_no_step_is_left_out_and_told(samples: Path, tmp_path: Path) -> None:
    for name in ("events", "eventTimings"):
        lines = (samples / "precice-v1" / f"precice-Fluid-{name}.log").read_text().splitlines(keepends=True)
        path = tmp_path / f"precice-Fluid-{name}.log"
        path.write_text("".join(line for line in lines if "22:46:40.657" not in line or "solver" not in line))
        reader = PreciceEventsCsvReader()
        assert table(reader, path)["run"].unique().tolist() == ["Fluid-1-2019-01-23T22:31:43.480"]
        assert len(reader.skipped) == 1


def test_a_killed_run_in_a_json_without_steps_is_an_error(tmp_path: Path) -> None:
    stamps: dict[str, Any] = {"Initialized": "2020-09-10T13:01:58.181", "Finalized": "2020-09-10T13:02:15.494"}
    path = tmp_path / "precice-Fluid-events.json"
    path.write_text(json.dumps({"Ranks": [{"StateChanges": [], **stamps}], **stamps}))
    with pytest.raises(ReadError, match="Fluid completed 0 steps"):
        PreciceEventsJsonReader().read(path)


SUMMARY = """Run finished at Thu Sep 10 13:02:15 2020
Global runtime       = 1000ms / 1s
Number of processors = 1
# Rank: 0

         Event |      Count |  Total[ms] |    Max[ms] |    Min[ms] |
--------------------------------------------------------------------
solver.advance |          {count} |         {total} |         50 |          2 |
"""


@pytest.mark.parametrize(
    ("count", "total", "reason"), [(1, 50, "no step beyond the first"), (9, 2, "shorter than the clock's tick")]
)
def test_sums_without_a_step_are_refused(tmp_path: Path, count: int, total: int, reason: str) -> None:
    path = tmp_path / "precice-Fluid-events-summary.log"
    path.write_text(SUMMARY.format(count=count, total=total))
    with pytest.raises(ReadError, match=reason):
        PreciceEventsSummaryReader().read(path)
    path.write_text(SUMMARY.format(count=3, total=82))
    rows = table(PreciceEventsSummaryReader(), path)
    assert rows[["seconds", "coupling"]].to_numpy().tolist() == [[0.04, 0.0]]


def test_unknown_states_are_refused() -> None:
    with pytest.raises(InputError, match="0, 1 or 2, but got 9"):
        steps_of({"solver.advance": [(1, 0), (9, 3)]})


def test_steps_that_all_vanish_below_the_clock_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "Events-Fluid.log"
    path.write_text(EVENTS_1_0.replace(",150,0", ",110,0").replace(",130,0", ",110,0"))
    with pytest.raises(ReadError, match="shorter than the clock's tick"):
        PreciceEventsCsvReader(warm_up=0).read(path)


def test_a_long_silence_between_short_steps_widens_the_average(tmp_path: Path) -> None:
    """No row may take no time, even where steps of a tick come in bursts."""
    lines = ["RunTimestamp,Name,Rank,Timestamp,State"]
    time = 0
    for step in range(60):
        work = 40 if step == 0 else 0
        for name, duration in (("solver.advance", work), ("advance", 1)):
            lines += [f"2018-03-01T10:00:00.000,{name},0,{t},{s}" for t, s in ((time, 1), (time + duration, 0))]
            time += duration
    path = tmp_path / "precice-Fluid-events.log"
    path.write_text("\n".join([*lines, ""]))
    rows = table(PreciceEventsCsvReader(warm_up=0), path)
    assert rows["seconds"].tolist() == pytest.approx([0.040 / 60])
