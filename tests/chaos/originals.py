"""Small valid files of every format that evenly reads, and how each is read."""

from __future__ import annotations

import bz2
import contextlib
import gzip
import io
import json
import lzma
import sqlite3
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest import mock

import pandas as pd

from evenly.runs.runs import Runs

__all__ = ["FORMATS", "Format", "evenly"]

#: Makes the files in an empty folder and returns the one that is damaged.
Maker = Callable[[Path], Path]


@dataclass(frozen=True)
class Format:
    """A format, a valid file of it, and what reads it; `read` raises errors of evenly's only, or `SystemExit`."""

    name: str
    make: Maker
    read: Callable[[Path], object]


def evenly(*arguments: str | Path) -> None:
    """Run the command line in this process; a status other than 0, 1 and 2, or a traceback, is an `AssertionError`."""
    from evenly.cli import main

    told = io.StringIO()
    with (
        mock.patch.object(sys, "argv", ["evenly", *map(str, arguments)]),
        contextlib.redirect_stdout(told),
        contextlib.redirect_stderr(told),
    ):
        try:
            main()
        except SystemExit as ended:
            if ended.code not in (0, 1, 2) or "Traceback" in told.getvalue():
                raise AssertionError(f"status {ended.code}: {told.getvalue()[-500:]}") from None
            if ended.code:
                raise


def _reads(path: Path) -> None:
    evenly("read", path, "--details")


def _text(name: str, content: str | bytes) -> Maker:
    def make(folder: Path) -> Path:
        path = folder / name
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return path

    return make


# ---- tables -------------------------------------------------------------------------------------------------------

TABLE = "cores,mesh,time_ms,peak_memory_GiB,status\n" + "".join(
    f"{cores},{mesh},{cores * 2.5},{1 + cores / 8},ok\n" for cores in (8, 16, 32) for mesh in ("coarse", "fine")
)
WIDE = "inner_cores,inner_time_ms,outer_cores,outer_time_ms\n8,2.5,4,3.5\n16,1.25,8,2\n"
NUMBERED = "cores cells time[s]\n8 100 2.5\n16 100 1.5\n32 200 0.5e0\n"


def _runs(suffix: str) -> Maker:
    def make(folder: Path) -> Path:
        table = pd.DataFrame({"cores": [1, 2, 4], "mesh": ["a", "b", "a"], "seconds": [8.0, 4.0, 2.0]})
        path = folder / f"runs{suffix}"
        Runs.from_frame(table, ["cores", "mesh"]).save(path)
        return path

    return make


def _parquet(folder: Path) -> Path:
    path = folder / "table.parquet"
    pd.DataFrame({"cores": [8, 16, 32], "mesh": ["a", "b", "c"], "seconds": [2.5, 1.5, 1.0]}).to_parquet(path)
    return path


# ---- preCICE ------------------------------------------------------------------------------------------------------

_STEPS = ["B0:0"] + [
    record
    for step in range(6)
    for record in (
        f"B1:{step * 1000}", f"E1:{step * 1000 + 900 + step}", f"B2:{step * 1000 + 900 + step}",
        f"B3:{step * 1000 + 920}", f"E3:{step * 1000 + 930}", f"E2:{step * 1000 + 950}",
    )
]  # fmt: skip
_NAMES = ["N0:_GLOBAL", "N1:solver.advance", "N2:advance", "N3:m2n.receiveData"]
_END = ["B1:6000", "E1:6004", "E0:6010"]


def _meta(**more: Any) -> dict[str, Any]:
    meta = {"name": "Fluid", "rank": 0, "size": 1, "unix_us": "1795178101840235", "tinit": "2026-11-20T10:00:00"}
    return {**meta, "compression": False, **more}


RANK_TEXT = "\n".join([json.dumps(_meta()), *_NAMES, *_STEPS, *_END, ""])
RANK_PACKED = (
    json.dumps(_meta(compression=True)).encode() + b"\n" + lzma.compress(RANK_TEXT.partition("\n")[2].encode())
)


def _as_event(record: str) -> dict[str, Any]:
    kind, number, value = record[0].lower(), *record[1:].split(":", 1)
    return {"et": kind, "eid": int(number), **({"en": value} if kind == "n" else {"ts": int(value)})}


RANK_JSON = json.dumps({"meta": _meta(), "events": [_as_event(record) for record in [*_NAMES, *_STEPS, *_END]]})
_EVENTS = [(1, "solver.advance", step * 1000, 900 + step) for step in range(6)] + [
    (2, "advance", step * 1000 + 900 + step, 50 - step) for step in range(6)
]
MERGED = json.dumps(
    {
        "eventDict": {"1": "solver.advance", "2": "advance"},
        "events": {"Fluid": {"0": {"meta": _meta(), "events": [
            {"eid": number, "ts": begin, "dur": duration} for number, _, begin, duration in _EVENTS
        ]}}},
    }
)  # fmt: skip


def _database(folder: Path) -> Path:
    path = folder / "profiling.db"
    with contextlib.closing(sqlite3.connect(path)) as base:
        base.executescript(
            "CREATE TABLE participants (pid INTEGER, name TEXT, size INTEGER);"
            "CREATE TABLE names (eid INTEGER, name TEXT);"
            "CREATE TABLE events (pid INTEGER, rank INTEGER, eid INTEGER, ts INTEGER, dur INTEGER);"
            "INSERT INTO participants VALUES (0, 'Fluid', 1);"
            "INSERT INTO names VALUES (1, 'solver.advance'), (2, 'advance');"
        )
        base.executemany("INSERT INTO events VALUES (0, 0, ?, ?, ?)", [(n, b, d) for n, _, b, d in _EVENTS])
        base.commit()
    return path


_CHANGES = [("initialize", 1, 0), ("initialize", 0, 9), ("solver.initialize", 1, 9), ("solver.initialize", 0, 90)] + [
    change
    for step in range(4)
    for change in (
        ("advance", 1, 90 + 50 * step), ("advance", 0, 95 + 50 * step), ("solver.advance", 1, 95 + 50 * step),
        ("solver.advance", 0, 140 + 50 * step),
    )
]  # fmt: skip
_STAMPS = {"Initialized": "2020-09-10T13:01:58.181", "Finalized": "2020-09-10T13:02:15.494"}
EVENTS_JSON = json.dumps(
    {"Name": "", **_STAMPS, "Ranks": [
        {**_STAMPS, "StateChanges": [{"Name": n, "State": s, "Timestamp": t} for n, s, t in _CHANGES]}
    ]}
)  # fmt: skip
EVENTS_LOG = "RunTimestamp,RunName,Name,Rank,Timestamp,State\n" + "".join(
    f"2019-01-23T22:31:43.480,,{name},0,{time},{state}\n" for name, state, time in sorted(_CHANGES, key=lambda c: c[0])
)
TIMINGS_LOG = """\
Timestamp,RunName,Rank,Name,Count,Total,Min,Max,Avg,T%,Data
# Run finished at: 2019-01-23 22:31:43
# Number of processors: 1
2019-01-23T22:31:43.480,,0,_GLOBAL,1,19888,19888,19888,19888,99,"[]"
2019-01-23T22:31:43.480,,0,advance,212,916,3,75,4,4,"[]"
2019-01-23T22:31:43.480,,0,solver.advance,212,18748,41,130,88,94,"[]"
"""
SUMMARY = """\
Run finished at Thu Sep 10 13:02:15 2020
Global runtime       = 1000ms / 1s
Number of processors = 4
# Rank: 0

Event | Count | Total[ms] | Max[ms] | Min[ms] |
---
advance | 11 | 220 | 30 | 10 |
solver.advance | 11 | 602 | 70 | 2 |

"""
CONFIGURATION = """\
<?xml version="1.0"?>
<precice-configuration>
  <participant name="Fluid" /> <participant name="Solid" />
  <coupling-scheme:serial-implicit>
    <participants first="Fluid" second="Solid" />
    <max-time value="1" /> <time-window-size value="0.1" /> <max-iterations value="50" />
    <exchange data="Force" mesh="M" from="Fluid" to="Solid" />
  </coupling-scheme:serial-implicit>
</precice-configuration>
"""
ITERATIONS = "TimeWindow  TotalIterations  Iterations  Convergence\n1  6  6  1\n2  9  3  1\n"

# ---- other logs ---------------------------------------------------------------------------------------------------

TIMEINFO = """\
 Timings for a run on           4 processes
   timer  min  max  sum
 simLoop  1.900000E+00  2.100000E+00  8.000000E+00
 output   1.000000E-01  2.000000E-01  6.000000E-01
"""
TIMING_RES = """\
# Revision Casename nFluids nProcs MFEPS  proto| flooding|
  4cd2e4914b0c  case  1000  2  1.0E-03  600.0E-03  400.0E-03
  4cd2e4914b0c  case  1000  4  2.0E-03  300.0E-03  200.0E-03
# Revision Casename nProcs threads DomSize Dofs DofPE DofPEPV nVars KEUPS maxIter simLoop output MemRSS MemHWM
  5cd2e4914b0c  gauss  2  1  512  100  50  64  5  1.0E+01  100  4.0E+00  1.0E-01  1000  2000
"""
CESM = """\
---------------- TIMING PROFILE ---------------------
Case        : b.e20
LID         : 42.chadmin1
Machine     : cheyenne
Curr Date   : Thu May  7 12:42:27 2018
grid        : f09_g17
run_length  : 10 days (9 for ocean)

component       comp_pes    root_pe   tasks  x threads instances (stride)
---------        ------     -------   ------   ------  ---------  ------
atm = cam        64        0        16   x 4       1      (1     )
ocn = pop        24        16       24   x 1       1      (1     )

pe count for cost estimate : 128

TOT Run Time:     100.000 seconds       10.000 seconds/mday        23.67 myears/wday
ATM Run Time:      80.000 seconds        8.000 seconds/mday        29.59 myears/wday
OCN Run Time:      50.123 seconds        5.012 seconds/mday        47.23 myears/wday
"""
FDTD = json.dumps(
    {
        "format": "evenly fdtd measurement 1", "name": "box", "size": 2, "steps": 10, "points": 1000, "cores": 4,
        "when": "2026-11-20T10:00:00", "parameters": {"resolution": 20}, "options": {"threads": 1},
        "ranks": [
            {"wall": {"fused": 2.0, "waiting": 0.1}, "cpu": {"fused": 1.9}, "counts": {"pml_1d": 10}, "bytes_sent": 8}
            for _ in range(2)
        ],
    },
    indent=1,
)  # fmt: skip
HEADER_LUA = (
    " version = 1\n label = 'fluid'\n nElems = 512\n minLevel = 3\n maxLevel = 3\n property = {\n  { nElems = 8 }\n }\n"
)
CASE_INI = "[DEFAULT]\nd=3\nmesh_header=header.lua\nadditional=more.ini\n[Inner]\ntimeinfo=times\n"
MORE_INI = "[DEFAULT]\nclock=2600\n[Inner]\nflags=O3\n"


def _case(damaged: str) -> Maker:
    def make(folder: Path) -> Path:
        (folder / "4").mkdir()
        files = {"case.ini": CASE_INI, "4/times": TIMEINFO, "4/header.lua": HEADER_LUA, "4/more.ini": MORE_INI}
        for name, content in files.items():
            (folder / name).write_text(content)
        return folder / damaged

    return make


def _read_case(path: Path) -> None:
    folder = path.parent
    evenly("read", folder if (folder / "case.ini").exists() else folder.parent)


FORMATS: tuple[Format, ...] = (
    Format("csv", _text("runs.csv", TABLE), _reads),
    Format("wide csv", _text("runs.csv", WIDE), _reads),
    Format("txt", _text("runs.txt", NUMBERED), lambda path: evenly("read", path, "--json")),
    Format("csv.gz", _text("runs.csv.gz", gzip.compress(TABLE.encode(), mtime=0)), _reads),
    Format("csv.xz", _text("runs.csv.xz", lzma.compress(TABLE.encode())), _reads),
    Format("csv.bz2", _text("runs.csv.bz2", bz2.compress(TABLE.encode())), _reads),
    Format("parquet", _parquet, _reads),
    Format("evenly runs csv", _runs(".csv"), _reads),
    Format("evenly runs parquet", _runs(".parquet"), _reads),
    Format("rank txt", _text("Fluid-0-1.txt", RANK_TEXT), _reads),
    Format("rank txt packed", _text("Fluid-0-1.txt", RANK_PACKED), _reads),
    Format("rank json", _text("Fluid-0-1.json", RANK_JSON), _reads),
    Format("profiling json", _text("profiling.json", MERGED), _reads),
    Format("profiling db", _database, _reads),
    Format("events json", _text("precice-Fluid-events.json", EVENTS_JSON), _reads),
    Format("events log", _text("precice-Fluid-events.log", EVENTS_LOG), _reads),
    Format("timings log", _text("precice-Fluid-eventTimings.log", TIMINGS_LOG), _reads),
    Format("summary", _text("precice-Fluid-events-summary.log", SUMMARY), _reads),
    Format("timeinfo", _text("timeinfo", TIMEINFO), _reads),
    Format("timing.res", _text("timing.res", TIMING_RES), _reads),
    Format("cesm", _text("cesm_timing.case", CESM), _reads),
    Format("fdtd measurement", _text("box.fdtd.json", FDTD), _reads),
    Format("case.ini", _case("case.ini"), _read_case),
    Format("mesh header", _case("4/header.lua"), _read_case),
    Format("more.ini", _case("4/more.ini"), _read_case),
)
