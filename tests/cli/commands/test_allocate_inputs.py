"""``evenly allocate``: each input is read, or refused, and its times are those of the solver whose name they get."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.commands.test_allocate_coupled import COUNTS, LAW, table
from tests.cli.conftest import Evenly

CONFIGURATION = """
<precice-configuration>
  <participant name="Fluid" /><participant name="Solid" />
  <coupling-scheme:parallel-explicit>
    <participants first="Fluid" second="Solid" /><time-window-size value="1" />
  </coupling-scheme:parallel-explicit>
</precice-configuration>
"""


@pytest.mark.parametrize("form", ["log", "folder", "empty folder", "three"])
def test_an_input_of_which_nothing_was_read_is_refused(evenly: Evenly, form: str) -> None:
    table("atm/ifs.csv", "nproc,time_s", [f"{p},{2000 / p}" for p in COUNTS])
    Path("ocean").mkdir()
    unread = "ocean" if "folder" in form else "ocean/nemo.log"
    if form != "empty folder":
        Path("ocean/nemo.log").write_text("run crashed before the timing summary\n")
    others = ["atm"]
    if form == "three":
        table("ice/ice.csv", "nproc,time_s", [f"{p},{900 / p}" for p in COUNTS])
        others.append("ice/ice.csv")
    for layout in ((), ("--layout", "max(ifs, nemo)")):
        asked = evenly("allocate", unread, *others, "--cores", "300", *LAW, *layout)
        assert (asked.code, f"nothing was read from {unread} (" in asked.err) == (2, True), asked.err
    learned = evenly("fit", unread, "atm/ifs.csv", "--save", "m.evenly", *LAW)
    assert (learned.code, f"left out: {unread}: " in learned.err) == (0, True)
    told = evenly("read", unread, "atm/ifs.csv")
    assert "ifs" in told.out
    assert not {"nemo", "ocean"} & set(told.out.split())


def test_a_configuration_of_precice_is_an_input_that_was_read(evenly: Evenly) -> None:
    for name, work in (("Fluid", 2000), ("Solid", 900)):
        table(f"a/{name}.csv", "nproc,time_s", [f"{p},{work / p}" for p in COUNTS])
    Path("precice-config.xml").write_text(CONFIGURATION)
    found = evenly("allocate", "precice-config.xml", "a", "--cores", "300", *LAW, "--json")
    assert found.code == 0, found.err
    assert found.json["layout"] == "max(Fluid, Solid)"


RUNS = [(128, 64), (256, 96), (256, 192), (512, 256), (512, 128), (768, 384)]


@pytest.mark.parametrize(
    "header",
    [
        "atm_cores,ocn_cores,atm_s,ocn_s,total_s",
        "atm_cores,ocn_cores,atm_s,ocn_s,walltime_s",
        "atm cores,ocn cores,atm [s],ocn [s],total [s]",
        "ntasks_atm,ntasks_ocn,time_atm_s,time_ocn_s,time_s",
    ],
)
def test_a_row_for_each_coupled_run_has_solvers_and_their_whole(evenly: Evenly, header: str) -> None:
    rows = [f"{a},{o},{13000 / a},{7500 / o},{1.05 * max(13000 / a, 7500 / o)}" for a, o in RUNS]
    table("a.csv", header, rows)
    asked = ("allocate", "a.csv", "--cores", "1024", *LAW)
    found = evenly(*asked)
    assert found.code == 0, found.err
    whole = header.split(",")[-1]
    assert f"left out: '{whole}', which may be the time of the whole run" in found.err
    told = evenly(*asked, "--json").json
    assert told["cores"]["atm"] == pytest.approx(1024 * 13 / 20.5, abs=3)
    inside = evenly(*asked, "--coupled", "a.csv", "--json").json
    assert inside["seconds"] == pytest.approx(1.05 * told["seconds"], rel=0.02)


@pytest.mark.parametrize("more", [(), ("--cores-are", "atm_cores"), ("--cores-are", "atm_cores + ocn_cores")])
def test_whole_coupled_runs_are_asked_for_as_such(evenly: Evenly, more: tuple[str, ...]) -> None:
    table("a.csv", "atm_cores,ocn_cores,total_s", [f"{a},{o},{max(13000 / a, 7500 / o)}" for a, o in RUNS])
    asked = evenly("allocate", "a.csv", "--cores", "1024", *LAW, *more)
    assert (asked.code, "--coupled a.csv --layout 'max(atm, ocn)'" in asked.err) == (2, True), asked.err
    assert evenly("allocate", "--coupled", "a.csv", "--layout", "max(atm, ocn)", "--cores", "1024").code == 0


WORKS = {"atm": 2000, "ocn": 4000, "ice": 300}


@pytest.mark.parametrize(
    ("header", "pattern"),
    [("{}_time_s", "*_time_s"), ("{}_s", "*_s"), ("{}", "*"), ("time {} [s]", "time * [s]"), ("t.{}", "t.*")],
)
def test_a_column_of_times_for_each_component_is_a_curve_for_each(evenly: Evenly, header: str, pattern: str) -> None:
    names = [header.format(name) for name in WORKS]
    table("a.csv", ",".join(["cores", *names]), [f"{p},{','.join(str(w / p) for w in WORKS.values())}" for p in COUNTS])
    asked = evenly("allocate", "a.csv", "--cores", "630", *LAW)
    assert (asked.code, f"--time '{pattern}' --solver '*'" in asked.err) == (2, True), asked.err
    assert evenly("allocate", "a.csv", "--cores", "630", *LAW, "--time", pattern).code == 2
    found = evenly("allocate", "a.csv", "--cores", "630", *LAW, "--time", pattern, "--solver", "*", "--json")
    assert found.code == 0, found.err
    assert found.json["cores"] == {"atm": 200, "ocn": 400, "ice": 30}
    one = evenly("allocate", "a.csv", "--cores", "630", *LAW, "--time", names[0])
    assert one.code == 2, one.out


def test_the_time_of_one_program_beside_others_is_asked_about_once(evenly: Evenly) -> None:
    rows = [f"{p},{2000 / p},{30 / p},{2100 / p}" for p in COUNTS]
    table("a.csv", "cores,solve_time_s,setup_time_s,total_time_s", rows)
    asked = ("allocate", "a.csv", "--cores", "64", *LAW)
    assert evenly(*asked, "--time", "total_time_s").code == 0
    refused = evenly(*asked, "--time", "solve_time_s")
    assert (refused.code, "--only a" in refused.err) == (2, True)
    assert evenly(*asked, "--time", "solve_time_s", "--only", "a").code == 0


def test_a_total_beside_times_of_solvers_is_asked_about(evenly: Evenly) -> None:
    rows = [f"{p},{2000 / p},{1000 / p},{2010 / p}" for p in COUNTS]
    table("a.csv", "cores,fluid_s,solid_s,total_s", rows)
    asked = ("allocate", "a.csv", "--cores", "300", *LAW)
    open_ = evenly(*asked)
    assert (open_.code, "--time '*_s' --solver '*' --without total reads them" in open_.err) == (2, True)
    found = evenly(*asked, "--time", "*_s", "--solver", "*", "--without", "total", "--json")
    assert found.json["cores"] == {"fluid": 200, "solid": 100}


def test_a_time_of_whole_runs_is_told_by_its_values_too(evenly: Evenly) -> None:
    """No solver takes longer; a step of 0.1 s stays a parameter."""
    runs = [(p, q, 2000 / p, 1000 / q) for p in COUNTS for q in COUNTS[:3]]
    rows = [f"{p},{q},{a},{b},{1.02 * max(a, b)}" for p, q, a, b in runs]
    table("a.csv", "atm_cores,ocn_cores,atm_s,ocn_s,makespan_s", rows)
    found = evenly("allocate", "a.csv", "--cores", "300", *LAW)
    assert (found.code, "left out: 'makespan_s', which may be the time of the whole run" in found.err) == (0, True)
    rows = [f"{p},{q},{a},{b},{0.1 * (1 + n % 2)}" for n, (p, q, a, b) in enumerate(runs)]
    table("a.csv", "atm_cores,ocn_cores,atm_s,ocn_s,dt_s", rows)
    assert "left out: 'dt_s'" not in evenly("allocate", "a.csv", "--cores", "300", *LAW, "--at", "dt_s=0.1").err


def test_a_table_in_a_folder_that_cant_be_read_is_refused_packed_too(evenly: Evenly) -> None:
    Path("runs").mkdir()
    for name in ("atm", "ocn"):
        table(f"runs/{name}.csv", "cores,seconds", [f"{p},{2000 / p}" for p in COUNTS])
    Path("runs/ice.csv.gz").write_bytes(b"\x1f\x8b cut off")
    refused = evenly("allocate", "runs", "--cores", "300", *LAW)
    assert (refused.code, "ice.csv.gz was left out" in refused.err) == (2, True)
    Path("runs/ice.csv.gz").rename("runs/ice.log")
    assert "left out, since in no known format: runs/ice.log" in evenly("allocate", "runs", "--cores", "300", *LAW).err


def test_equal_times_are_taken_where_they_are_said_to_have_no_waiting(evenly: Evenly) -> None:
    table("a.csv", "solver,cores,seconds", [f"{name},{p},{2000 / p}" for name in ("port", "starboard") for p in COUNTS])
    refused = evenly("allocate", "a.csv", "--cores", "64", *LAW)
    assert (refused.code, "--no-waiting" in refused.err) == (2, True)
    assert evenly("allocate", "a.csv", "--cores", "64", *LAW, "--no-waiting", "--json").json["cores"]["port"] == 32


def test_words_for_a_star_are_repeated_runs_only_if_they_say_so(evenly: Evenly) -> None:
    for names in ("try_one_s,try_two_s", "t_a_s,t_b_s"):
        table("a.csv", f"cores,{names}", [f"{p},{2000 / p},{2010 / p}" for p in COUNTS])
        pattern = f"{names[: names.index('_')]}_*_s"
        assert evenly("predict", "a.csv", *LAW, "--at", "cores=64", "--time", pattern).code == 0
    table("a.csv", "cores,t_a_s,t_b_s", [f"{p},{2000 / p},{4010 / p}" for p in COUNTS])
    assert "are solvers or repeated runs is open" in evenly("read", "a.csv", "--time", "t_*_s").err


def test_names_that_differ_only_in_capitals_are_asked_about(evenly: Evenly) -> None:
    works = (("atm", 2000), ("ATM", 2010), ("ocn", 900))
    table("a.csv", "component,cores,time_s", [f"{name},{p},{work / p}" for p in COUNTS for name, work in works])
    asked = evenly("allocate", "a.csv", "--cores", "300", *LAW)
    assert (asked.code, "whether 'atm', 'ATM' are one solver is open" in asked.err) == (2, True)


def test_a_machine_is_named_as_in_the_table(evenly: Evenly) -> None:
    works = (("fluid", 2000), ("solid", 900))
    rows = [
        f"{name},{machine},{p},{work * slow / p}"
        for p in COUNTS for name, work in works for machine, slow in (("new", 1), ("old", 2))
    ]  # fmt: skip
    table("a.csv", "component,machine,ranks,time_s", rows)
    asked = ("allocate", "a.csv", "--cores", "290", *LAW)
    for name in ("machine", "machine_"):
        found = evenly(*asked, "--parameters", "ranks,machine", "--at", f"{name}=new")
        assert found.code == 0, found.err
        assert found.err.count("one for each of ranks") == 1
        assert "fluid, solid: cores: one for each of ranks" in found.err


@pytest.mark.parametrize(
    ("columns", "per_hour", "days"),
    [("component;cores;time (h/year)", 1, 365), ("composant;coeurs;temps (s/jour)", 3600 / 365, 1)],
)
def test_times_of_simulated_work_are_of_that_work(evenly: Evenly, columns: str, per_hour: float, days: int) -> None:
    """4 hours of a simulated year are 6 simulated years per day: 128 / 32 of one solver and 64 / 16 of the other."""
    works = {"Atmosphäre": 128, "océan": 64}
    rows = [f"{name};{p};{work / p * per_hour}" for name, work in works.items() for p in (4, 8, 16, 32)]
    table("c.csv", columns, rows)
    layout = ("--layout", "max(Atmosphäre, océan)")
    found = evenly("allocate", "c.csv", "--cores", "48", *LAW, *layout, "--json")
    assert f"of a simulated {'year' if days == 365 else 'day'}" in found.err
    assert found.code == 0, found.err
    assert json.loads(found.out)["simulated_years_per_day"] == pytest.approx(6, rel=0.02)


@pytest.mark.parametrize("unit", ["ns/day", "s/core", "s per rank"])
def test_the_time_of_unknown_work_is_asked_about(evenly: Evenly, unit: str) -> None:
    table("c.csv", f"component;cores;time ({unit})", [f"{a};{p};{100 / p}" for a in ("a", "b") for p in COUNTS])
    asked = evenly("allocate", "c.csv", "--cores", "32", *LAW)
    assert (asked.code, "is no unit that evenly knows" in asked.err) == (2, True), asked.err
