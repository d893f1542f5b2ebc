"""``evenly allocate``: the times of coupled solvers must be of the same work, without waiting, and of all solvers."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from tests.cli.conftest import Evenly

LAW = ("--method", "power-law")
COUNTS = (16, 32, 64, 128)


def table(name: str, header: str, rows: list[str]) -> None:
    Path(name).parent.mkdir(exist_ok=True)
    Path(name).write_text("\n".join([header, *rows, ""]))


def test_sypd_and_seconds_are_of_different_work(evenly: Evenly) -> None:
    table("a/atm.csv", "nproc,SYPD", [f"{p},{p / 10}" for p in COUNTS])
    table("a/ocn.csv", "nproc,time_per_day_s", [f"{p},{900 / p}" for p in COUNTS])
    asked = evenly("allocate", "a", "--cores", "300", *LAW)
    assert (asked.code, "are of different work: a step is a simulated year" in asked.err) == (2, True)
    table("a/ocn.csv", "nproc,SYPD", [f"{p},{p / 5}" for p in COUNTS])
    assert evenly("allocate", "a", "--cores", "300", *LAW).code == 0


@pytest.mark.parametrize("name", ["steps", "steps_per_window"])
def test_counts_of_work_that_differ_between_solvers_are_asked_about(evenly: Evenly, name: str) -> None:
    rows = [f"fluid,{p},100,{100 * 2000 / p}" for p in COUNTS] + [f"solid,{p},20,{20 * 900 / p}" for p in COUNTS]
    table("a.csv", f"solver,cores,{name},walltime_s", rows)
    asked = evenly("allocate", "a.csv", "--cores", "300", *LAW)
    assert (asked.code, f"{name} is 100 for fluid, 20 for solid" in asked.err) == (2, True)
    assert evenly("allocate", "a.csv", "--cores", "300", *LAW, "--parameters", "cores").code == 0
    table("a.csv", f"solver,cores,{name},walltime_s", [row.replace(",20,", ",100,") for row in rows])
    assert evenly("allocate", "a.csv", "--cores", "300", *LAW).code == 0


def test_times_that_contain_the_waiting_are_refused(evenly: Evenly) -> None:
    rows = [f"{run},{name},{p},{2000 / p}" for run, p in enumerate(COUNTS) for name in ("atm", "ocn")]
    table("a.csv", "run,component,cores,time_s", rows)
    asked = evenly("allocate", "a.csv", "--cores", "300", *LAW)
    assert asked.code == 2
    assert "atm and ocn have the same times in all runs" in asked.err
    assert "with the waiting, give those of each without it" in " ".join(asked.err.split())
    rows = [f"{name},{p},{work / p},{1 / p}" for p in COUNTS for name, work in (("atm", 2000), ("ocn", 900))]
    table("a.csv", "component,cores,time_s,waiting_s", rows)
    said = evenly("allocate", "a.csv", "--cores", "300", *LAW)
    assert (said.code, "whether the times contain waiting is open" in said.err) == (2, True)
    for settled in (["--no-waiting"], ["--time", "time_s"]):
        assert evenly("allocate", "a.csv", "--cores", "300", *LAW, *settled).code == 0


@pytest.mark.parametrize("apart", [0.0002, 0.005, 0.015])
@pytest.mark.parametrize("form", ["long", "with runs", "wide", "two files"])
def test_times_that_nearly_contain_the_waiting_are_asked_about(evenly: Evenly, form: str, apart: float) -> None:
    noise = [1, -1, 1, -1, -1, 1]
    runs = [
        (p, p // 4, 150 / p, 150 / p * (1 + apart * sign)) for p, sign in zip(range(64, 224, 32), noise, strict=False)
    ]
    path = "a.csv"
    if form == "wide":
        table(path, "fluid_cores,solid_cores,fluid_time_s,solid_time_s", [",".join(map(str, run)) for run in runs])
    elif form == "two files":
        path = "a"
        table("a/fluid.csv", "cores,time_s", [f"{p},{s}" for p, _, s, _ in runs])
        table("a/solid.csv", "cores,time_s", [f"{p},{s}" for _, p, _, s in runs])
    else:
        rows = [
            f"{run},{name},{p},{s}"
            for run, (a, b, s, t) in enumerate(runs)
            for name, p, s in (("fluid", a, s), ("solid", b, t))
        ]
        rows = rows if form == "with runs" else [row.split(",", 1)[1] for row in rows]
        table(path, "run,component,cores,time_s" if form == "with runs" else "component,cores,time_s", rows)
    asked = evenly("allocate", path, "--cores", "320", *LAW)
    assert (asked.code, "fluid and solid take the same time, to " in asked.err, "--no-waiting" in asked.err) == (
        2,
        True,
        True,
    )
    assert evenly("allocate", path, "--cores", "320", *LAW, "--no-waiting").code == 0


def test_solvers_that_take_the_same_on_the_same_cores_are_alike(evenly: Evenly) -> None:
    rows = [f"{name},{p},{work / p}" for p in COUNTS for name, work in (("left", 2000), ("right", 2010))]
    table("a.csv", "component,cores,time_s", rows)
    assert evenly("allocate", "a.csv", "--cores", "300", *LAW).code == 0


def test_the_whole_run_is_no_solver(evenly: Evenly) -> None:
    works = (("atm", 2000), ("ocn", 900), ("total", 2100))
    table("a.csv", "component,cores,time_s", [f"{name},{p},{work / p}" for p in COUNTS for name, work in works])
    asked = evenly("allocate", "a.csv", "--cores", "300", *LAW)
    assert (asked.code, "--without total" in asked.err) == (2, True)
    assert evenly("allocate", "a.csv", "--cores", "300", *LAW, "--without", "total").code == 0


def test_a_solver_whose_table_cannot_be_read_is_missed(evenly: Evenly) -> None:
    table("a/atm.csv", "nproc,time_s", [f"{p},{2000 / p}" for p in COUNTS])
    table("a/ocn.csv", "nproc,weather", [f"{p},fine" for p in COUNTS])
    asked = evenly("allocate", "a", "--cores", "300", *LAW)
    assert (asked.code, "ocn.csv was left out" in asked.err, "a solver may be missing" in asked.err) == (2, True, True)


def test_curves_of_one_solver_that_differ_between_files_are_said(evenly: Evenly) -> None:
    for name, factor in (("alone", 1.0), ("coupled", 1.6)):
        rows = [f"{solver},{p},{factor * work / p}" for p in COUNTS for solver, work in (("atm", 2000), ("ocn", 900))]
        table(f"a/{name}.csv", "component,cores,time_s", rows)
    said = evenly("allocate", "a", "--cores", "300", *LAW)
    assert "the times of ocn in alone.csv and coupled.csv are of two curves" in said.err


def test_whole_coupled_runs_tell_what_solvers_take_inside(evenly: Evenly) -> None:
    for name, work in (("atm", 2000), ("ocn", 900)):
        table(f"a/{name}.csv", "nproc,time_s", [f"{p},{work / p}" for p in COUNTS])
    runs = [(200, 50), (150, 60), (60, 120), (100, 40)]
    rows = [f"{a},{o},{max(2000 / a, 1.5 * 900 / o)},9" for a, o in runs]
    table("runs.csv", "atm_nproc,ocn_nproc,step_time_s,cost", rows)
    plain = evenly("allocate", "a", "--cores", "300", *LAW)
    assert "from its solvers alone by 7 %" in " ".join(plain.out.split())
    asked = ("allocate", "a", "--cores", "300", *LAW, "--coupled", "runs.csv")
    found = evenly(*asked)
    assert found.code == 0, found.err
    assert "in 4 coupled runs, solvers take these multiples of their curves: atm 1" in " ".join(found.out.split())
    told = evenly(*asked, "--json").json
    assert told["inside_coupled_runs"]["factors"]["ocn"] == pytest.approx(1.5, rel=0.05)
    assert told["cores"]["ocn"] == pytest.approx(300 * 1350 / 3350, abs=6)
    table("runs.csv", "atm_nproc,nemo_nproc,time_s", ["1,2,3"])
    for words, reason in (
        (asked, "needs the cores of each solver in a column, as ocn_cores"),
        ((*asked[:-2], "--coupled-time", "x"), "give --coupled too"),
    ):
        refused = evenly(*words)
        assert (refused.code, reason in refused.err) == (2, True)
    table("runs.csv", "atm_nproc,ocn_nproc,SYPD", [f"{a},{o},9" for a, o in runs])
    refused = evenly(*asked, "--coupled-time", "SYPD")
    assert (refused.code, "are of different work" in refused.err) == (2, True)


@pytest.mark.parametrize("cores", ["", "12.5", "0", "many"])
def test_coupled_runs_without_their_cores_are_refused(evenly: Evenly, cores: str) -> None:
    for name, work in (("atm", 2000), ("ocn", 900)):
        table(f"a/{name}.csv", "nproc,time_s", [f"{p},{work / p}" for p in COUNTS])
    table("runs.csv", "atm_nproc,ocn_nproc,time_s", ["200,50,20", f"150,{cores},30"])
    refused = evenly("allocate", "a", "--cores", "300", *LAW, "--coupled", "runs.csv")
    assert (refused.code, "line 3: 'ocn_nproc' must be a whole number above zero" in refused.err) == (2, True)


def simulated_years() -> None:
    for name, work in (("atm", 36_000), ("ocn", 16_200)):  # seconds of a simulated year, times cores
        table(f"a/{name}.csv", "nproc,SYPD", [f"{p},{86_400 * p / work}" for p in COUNTS])


def test_answers_are_in_the_units_of_the_field(evenly: Evenly) -> None:
    simulated_years()
    asked = ("allocate", "a", "--cores", "290", *LAW, "--current", "atm=145 ocn=145")
    plain = evenly(*asked)
    assert (plain.code, "simulated year" in plain.out, "time per simulated year" in plain.out) == (0, True, True)
    assert "core-hours per step" not in plain.out
    told = evenly(*asked, "--json").json
    assert told["cores"] == {"atm": 200, "ocn": 90}  # both take 180 s: 480 years a day
    rows = [line.split() for line in evenly(*asked, "--in", "SYPD").out.splitlines()]
    assert ["together", "290", "480"] in rows
    assert [row[5] for row in rows if row[:1] == ["now"]] == ["348"]  # atm on 145 cores: 248.3 s
    rows = [line.split() for line in evenly(*asked, "--in", "CHSY").out.splitlines()]
    assert [row[-3:] for row in rows if row[:1] == ["ocn"]] == [["4.5", "0", "%"]]  # 90 cores for 180 s
    per_day = evenly(*asked, "--in", "s/day").out
    assert f"{180 / 365:.4f}" in per_day
    several = evenly(*asked[:2], "--cores", "145,290", *LAW, "--in", "SYPD")
    assert [line.split()[3] for line in several.out.splitlines() if line.split()[:1] in (["145"], ["290"])] == [
        "240",
        "480",
    ]
    enough = evenly(*asked[:6], "--min-sypd", "239.9", "--minimise", "cores", "--json").json
    cheap = evenly(*asked[:6], "--current", "atm=200 ocn=90", "--in", "CHSY", "--minimise", "cost").out
    assert "core-hours" in cheap
    assert "the plan saves" not in cheap
    assert "lower --min-sypd 1e+06, or raise --cores" in evenly(*asked[:6], "--min-sypd", "1e6").err
    assert (sum(enough["cores"].values()), enough["simulated_years_per_day"]) == (145, pytest.approx(240, rel=1e-6))


def test_a_simulated_year_is_no_step_and_models_keep_it(evenly: Evenly) -> None:
    simulated_years()
    random = np.random.default_rng(0)
    for name in ("atm", "ocn"):
        table(f"steps/{name}.csv", "step,time_s", [f"{n},{t}" for n, t in enumerate(random.lognormal(0, 0.4, 50))])
    asked = ("--cores", "290", "--in", "CHPSY")
    said = evenly("allocate", "a", *asked, *LAW)
    assert "'SYPD' is a rate in SYPD: seconds are those of a simulated year" in said.err
    assert said.out == evenly("allocate", "a", "--cores", "290", "--in", "CHSY", *LAW).out
    assert evenly("fit", "a", *LAW, "--save", "m.evenly").code == 0
    kept = evenly("allocate", "m.evenly", *asked)
    assert (kept.code, "core-h" in kept.out) == (0, True)
    vary = evenly("allocate", "m.evenly", "--cores", "290", "--step-times", "steps")
    assert "the times of atm, ocn are taken as the means of many steps" in " ".join(vary.err.split())
    assert "mean simulated year" in vary.out
    assert " step " not in vary.out.replace("steps that vary", "")


def test_which_statistic_the_times_are_is_said(evenly: Evenly) -> None:
    table("a/atm.csv", "nproc,time_s", [f"{p},{work / p}" for p in COUNTS for work in (2000, 2010)])
    table("a/ocn.csv", "nproc,time_s", [f"{p},{900 / p}" for p in COUNTS])
    said = evenly("allocate", "a", "--cores", "290", *LAW).err
    assert "atm: times are the median of repeated runs (--statistic names another)" in " ".join(said.split())


def test_units_of_simulated_time_ask_what_a_step_simulates(evenly: Evenly) -> None:
    for name, work in (("atm", 200), ("ocn", 90)):
        table(f"a/{name}.csv", "nproc,time_s", [f"{p},{work / p}" for p in COUNTS])
    asked = ("allocate", "a", "--cores", "290", *LAW)
    for words in (("--in", "SYPD"), ("--min-sypd", "3")):
        refused = evenly(*asked, *words)
        assert (refused.code, "give" in refused.err, "--step-days" in refused.err) == (2, True, True)
    told = evenly(*asked, "--step-days", "1", "--json").json
    assert told["simulated_years_per_day"] == pytest.approx(86_400 / 365)
    simulated_years()
    refused = evenly(*asked, "--step-days", "1")
    assert (refused.code, "step_days=1 (--step-days) contradicts the measurements" in refused.err) == (2, True)
    refused = evenly(*asked, "--min-sypd", "3", "--max-seconds", "5")
    assert (refused.code, "stands instead of --max-seconds" in refused.err) == (2, True)


def test_a_unit_is_refused_where_it_changes_nothing_and_before_anything_is_learned(
    evenly: Evenly, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, work in (("atm", 200), ("ocn", 90)):
        table(f"a/{name}.csv", "nproc,time_s", [f"{p},{work / p}" for p in COUNTS])
    learned: list[object] = []
    monkeypatch.setattr("evenly.cli.run_input.learn_from", lambda *given, **_: learned.append(given))
    asked = ("allocate", "a", "--cores", "290", *LAW, "--in", "SYPD")
    for words, reason in (
        ((), "--in SYPD needs to know how many days a step simulates"),
        (("--json",), "--in is for tables. JSON has seconds"),
        (("--step-days", "1", "--json"), "--in is for tables. JSON has seconds"),
        (("--step-days", "1", "--write", "slurm"), "--in is for the table of a plan"),
    ):
        refused = evenly(*asked, *words)
        assert (refused.code, reason in " ".join(refused.err.split()), learned) == (2, True, [])


def test_the_search_takes_the_options_of_fit(evenly: Evenly) -> None:
    for name, work in (("atm", 2000), ("ocn", 900)):
        table(f"a/{name}.csv", "nproc,time_s", [f"{p},{work / p + 3}" for p in (*COUNTS, 256)])
    asked = ("allocate", "a", "--cores", "290", "--json", "--one", "--terms", "1", "--search", "full")
    power = evenly(*asked, "-I", "-1", "-J", "0").json["solver_seconds"]
    assert power["atm"] == pytest.approx(2000 / 200 + 3, rel=0.02)  # p^-1 + constant
    other = evenly(*asked, "-I", "-1/2", "-J", "0").json["solver_seconds"]
    assert other["atm"] != pytest.approx(power["atm"], rel=0.005)
    saved = evenly("fit", "a", "--save", "m.evenly")
    assert saved.code == 0, saved.err
    refused = evenly("allocate", "m.evenly", "--cores", "290", "--terms", "1")
    assert (refused.code, "--terms can't change them" in refused.err) == (2, True)
    refused = evenly("allocate", "a", "--cores", "290", *LAW, "--terms", "1")
    assert (refused.code, "terms" in refused.err) == (2, True)


def test_threads_are_decided_with_ranks(evenly: Evenly) -> None:
    # A rank more costs fluid 0.5 s and a thread more 0.05 s, so that many threads are best; solid is the other way.
    costs = {"fluid": (640, 0.5, 0.05), "solid": (240, 0.02, 1.0)}
    counts = [(r, t) for r in (1, 2, 4, 8, 16, 32) for t in (1, 2, 4)]
    rows = [f"{n},{r},{t},{w / (r * t) + a * r + b * t}" for n, (w, a, b) in costs.items() for r, t in counts]
    table("a.csv", "solver,ranks,threads,time_s", rows)
    asked = ("allocate", "a.csv", "--cores", "40", "--cores-are", "ranks * threads", "--method", "log-quadratic")
    found = evenly(*asked)
    assert (found.code, "fluid: threads are decided with ranks, where they were measured: 1 on" in found.err) == (
        0,
        True,
    )
    told = evenly(*asked, "--json").json
    ways = told["ways"]
    assert (ways["fluid"]["threads"], ways["solid"]["threads"]) == (4, 1)
    assert {name: way["ranks"] * way["threads"] for name, way in ways.items()} == told["cores"]
    assert f"{ways['fluid']['ranks']} × 4" in found.out
    script = evenly(*asked, "--write", "slurm", "--program", "fluid=./f", "--program", "solid=./s").out
    assert f"--ntasks={ways['fluid']['ranks']} --cpus-per-task=4" in script
    kept = evenly(*asked, "--at", "threads=2", "--json").json
    assert {name: way["ranks"] * way["threads"] for name, way in kept["ways"].items()} == kept["cores"]
    assert {way["threads"] for way in kept["ways"].values()} == {2}


def test_a_plan_tells_ranks_and_threads_that_do_not_vary(evenly: Evenly) -> None:
    """The table had the cores only, 168 for 84 tasks of two threads."""
    rows = [f"{n},{r},{t},{w / (r * t)}" for n, t, w in (("fluid", 2, 64), ("solid", 1, 24)) for r in (4, 8, 16, 32)]
    table("a.csv", "solver,ranks,threads,time_s", rows)
    found = evenly("allocate", "a.csv", "--cores", "88", "--cores-are", "ranks * threads", *LAW)
    text = " ".join(found.out.split())
    assert ("ranks × threads" in text, " 32 × 2 " in text, " 24 × 1 " in text) == (True, True, True)


def test_a_plan_says_when_its_ranks_were_not_measured_with_its_threads(evenly: Evenly) -> None:
    counts = [(r, t) for r in (1, 2, 4, 8) for t in (1, 2, 4)]  # threads scale worse than ranks
    table("a.csv", "ranks,threads,time_s", [f"{r},{t},{100 / (r * t**0.7)}" for r, t in counts])
    asked = ("allocate", "a.csv", "--cores-are", "ranks * threads", *LAW, "--cores")
    inside = evenly(*asked, "32")
    assert ("8 × 4" in inside.out, "extrapolated" in inside.out) == (True, False)
    beyond = " ".join(evenly(*asked, "40").out.split())
    assert "is extrapolated (ranks * threads = 40, learned on 4 … 32 with threads = 4)" in beyond
    several = " ".join(evenly(*asked, "32,40").out.split())
    assert "note: with 40 cores, a solver is extrapolated: outside the range learned on" in several
    rows = evenly(*asked, "32,40", "--json").json["totals"]
    assert [len(row["extrapolated"]) for row in rows] == [0, 1]


def test_one_rank_may_have_more_threads(evenly: Evenly) -> None:
    rows = [f"{name},{t},{work / t}" for name, work in (("fluid", 60), ("solid", 30)) for t in (1, 2, 4, 8)]
    table("a.csv", "solver,threads,time_s", rows)
    asked = ("allocate", "a.csv", "--cores", "9", "--cores-are", "threads", *LAW, "--write", "slurm")
    script = evenly(*asked, "--program", "fluid=./f", "--program", "solid=./s").out
    assert "--ntasks=1 --cpus-per-task=6" in script
    assert "--ntasks=1 --cpus-per-task=3" in script


def test_whole_runs_alone_tell_curves_and_say_of_whom(evenly: Evenly) -> None:
    counts = [(16, 16, 512), (16, 256, 512), (256, 16, 512), (32, 64, 600), (64, 32, 700)]  # nobody waits for ocn
    rows = [f"{i},{a},{o},{86_400 / (3e5 / i**0.9 + 6e5 / a**0.9)}" for i, a, o in counts]
    table("runs.csv", "ice_cores,atm_cores,ocn_cores,SYPD", rows)
    asked = ("allocate", "--coupled", "runs.csv", "--cores", "500")
    layout = ("--layout", "max(ice + atm, ocn)")
    found = evenly(*asked, *layout, "--in", "SYPD")
    assert (found.code, "curves are learned from 5 whole runs alone" in found.err) == (0, True)
    assert "these runs don't tell the times of ocn apart" in found.err
    assert "curves from 5 whole runs are right up to these factors: ice 1.00" in " ".join(found.out.split())
    told = evenly(*asked, *layout, "--allowed", "ice=300", "--allowed", "atm=300", "--json").json
    assert told["solver_seconds"]["atm"] == pytest.approx(6e5 / 300**0.9, rel=0.1)
    for words, reason in (
        (asked, "name the solvers with --layout"),
        (("allocate", "--cores", "500", *layout), "PATH is missing"),
        ((*asked, *layout, "--at", "level=8"), "need the times of each solver: give PATH"),
    ):
        refused = evenly(*words)
        assert (refused.code, reason in refused.err) == (2, True)


def test_a_run_far_off_the_others_is_named_with_what_leaves_it_out(evenly: Evenly) -> None:
    counts = [(16, 64), (64, 16), (32, 64), (64, 32), (64, 64)]
    times = [max(3e5 / i**0.9, 4e5 / o**0.9) * (10 if (i, o) == (32, 64) else 1) for i, o in counts]
    rows = [f"{i},{o},{time:.6g}" for (i, o), time in zip(counts, times, strict=True)]
    table("coupled.csv", "ice_cores,ocn_cores,s/day", rows)
    alone = [f"{name},{p},{work / p**0.9:.6g}" for name, work in (("ice", 3e5), ("ocn", 4e5)) for p in (16, 32, 64, 99)]
    table("runs.csv", "component,cores,s/day", alone)
    asked = ("allocate", "--coupled", "coupled.csv", "--cores", "120")
    leaves_out = ("--where", "ice_cores != 32 or ocn_cores != 64")
    for solvers in ((), ("runs.csv",)):
        layout = () if solvers else ("--layout", "max(ice, ocn)")
        refused = evenly(*asked, *solvers, *layout)
        assert (refused.code, "that with ice 32, ocn 64 took 10 times as long" in refused.err) == (2, True)
        assert (f"--where '{leaves_out[1]}' leaves it out" in refused.err) == (not solvers)
        assert evenly(*asked, *solvers, *layout, "--outliers", "keep").code == 0
    assert evenly(*asked, "--layout", "max(ice, ocn)", *leaves_out).code == 0


def test_whole_runs_alone_use_each_option_or_refuse_it(evenly: Evenly) -> None:
    counts = [(16, 64), (64, 16), (32, 64), (64, 32), (64, 64)]
    rows = [f"{i},{o},{86_400 / max(3e5 / i**0.9, 4e5 / o**0.9)}" for i, o in counts]
    table("runs.csv", "ice_cores,ocn_cores,SYPD", rows)
    asked = ("allocate", "--coupled", "runs.csv", "--cores", "120", "--layout", "max(ice, ocn)")
    drawn = evenly(*asked, "--plot", "pictures")
    assert (drawn.code, sorted(file.name for file in Path("pictures").glob("*.svg"))) == (
        0,
        ["curve.svg", "timeline.svg"],
    )
    for words in (
        ("--method", "pmnf"), ("--terms", "2"), ("--cores-are", "x"), ("--only", "ice"),
        ("--memory-is", "total"), ("--at", "level=8"), ("--jitter",),
    ):  # fmt: skip
        refused = evenly(*asked, *words)
        told = f"need the times of each solver: give PATH, or leave out {words[0]}" in " ".join(refused.err.split())
        assert (refused.code, told) == (2, True), (words, refused.err)
    refused = evenly(*asked, "--step-days", "1")
    assert (refused.code, "step_days=1 (--step-days) contradicts the measurements" in refused.err) == (2, True)


def test_what_is_wrong_with_whole_runs_is_said_whatever_their_file_is_called(evenly: Evenly) -> None:
    table("what is open.csv", "ice_cores,ocn_cores,wall_s,SYPD", ["16,64,20,5", "32,0,11,9", "64,16,8,12"])
    asked = ("allocate", "--coupled", "what is open.csv", "--cores", "80", "--layout", "max(ice, ocn)")
    refused = evenly(*asked, "--coupled-time", "wall_s")
    assert (refused.code, "'ocn_cores' must be a whole number above zero" in refused.err) == (2, True)


def layouts_of_e3sm(more: str = "", cells: Sequence[str] = ("",) * 5, *, nodes: bool = False) -> None:
    """Write a table as E3SM's: ocn beside atm and ice, which take turns; atm has two threads."""
    counts = [(128, 64, 32), (128, 64, 128), (256, 256, 32), (512, 256, 128), (64, 64, 256)]
    rows = []
    for (a, i, o), cell in zip(counts, cells, strict=True):
        sypd = 86_400 / max(6e5 / (2 * a) ** 0.9 + 2e5 / i**0.9, 1e5 / o**0.9)
        tasks = [f"{-n // 32 if nodes else n}" for n in (a, i, o)]
        rows.append(
            ",".join([*tasks, "2.0", "", "1", "0", "", str(-max(a, i) // 32 if nodes else max(a, i)), f"{sypd}", cell])
        )
    header = "ntasks_atm,ntasks_ice,ntasks_ocn,nthrds_atm,nthrds_ice,nthrds_ocn,rootpe_atm,rootpe_ice,rootpe_ocn,sypd"
    table("e3sm.csv", f"{header},{more}".rstrip(","), rows if more else [row[:-1] for row in rows])


E3SM = ("allocate", "--coupled", "e3sm.csv", "--cores", "600")


def test_first_tasks_tell_the_layout_and_threads_the_cores(evenly: Evenly) -> None:
    layouts_of_e3sm()
    found = evenly(*E3SM, "--json")
    assert (found.code, "layout max(atm + ice, ocn), from rootpe in e3sm.csv" in found.err) == (0, True), found.err
    assert "the cores of atm are ntasks_atm times nthrds_atm" in found.err
    assert "where nthrds_ice, rootpe_ice are empty, a first task is 0, and a task has one thread" in found.err
    given = evenly(*E3SM, "--json", "--layout", "max(ocn, ice + atm)")
    assert (given.json["seconds"], "another layout" in given.err) == (
        pytest.approx(found.json["seconds"], rel=0.1),
        False,
    )
    told = evenly(*E3SM, "--layout", "max(atm, ice, ocn)")
    assert (told.code, "5 of 5 runs of e3sm.csv have another layout by rootpe, as max(atm + ice" in told.err) == (
        0,
        True,
    )


def test_negative_tasks_are_whole_nodes(evenly: Evenly) -> None:
    layouts_of_e3sm()
    cores = evenly(*E3SM, "--json").json["cores"]
    layouts_of_e3sm(nodes=True)
    asked = evenly(*E3SM)
    assert (asked.code, "ntasks_atm is -4 in line 2 of e3sm.csv, and negative" in asked.err) == (2, True)
    assert "--cores-per-node" in asked.err
    layouts_of_e3sm("MAX_MPITASKS_PER_NODE", ["32.0"] * 5, nodes=True)
    found = evenly(*E3SM, "--json")
    assert (found.json["cores"], "whole nodes, of 32 tasks of 2 threads each" in found.err) == (cores, True)
    layouts_of_e3sm("MAX_TASKS_PER_NODE", ["64"] * 4 + [""], nodes=True)  # 64 cores are 32 tasks of two threads
    told = evenly(*E3SM)
    assert (told.code, "ntasks_atm is -2 in line 6" in told.err) == (2, True), told.err
    told = evenly(*E3SM, "--cores-per-node", "64")
    assert (told.code, "negative tasks are whole nodes, of 64 tasks of one thread each" in told.err) == (0, True), (
        told.err
    )


def test_whole_runs_of_several_grids_are_asked_about_and_chosen(evenly: Evenly) -> None:
    layouts_of_e3sm("grid,mach", ["ne30,a", "ne30,a", "ne30,b", "ne120,a", "ne30,a"])
    asked = evenly(*E3SM)
    assert (asked.code, """choose one, as --where 'grid == "ne30"'""" in asked.err) == (2, True), asked.err
    found = evenly(*E3SM, "--where", "grid == 'ne30' and mach == 'a'")
    assert (found.code, "learned from 3 whole runs alone" in found.err) == (0, True), found.err
    nothing = evenly(*E3SM, "--where", "grid == 'ne4'")
    assert (nothing.code, "no row is left" in nothing.err) == (2, True)


def test_runs_of_several_layouts_are_learned_from_each_by_its_own(evenly: Evenly) -> None:
    rows = [(128, 64, 0, 128), (256, 64, 0, 256), (64, 128, 0, 64), (256, 256, 0, 0)]
    lines = []
    for a, o, first, second in rows:
        each = 6e5 / a**0.9, 3e5 / o**0.9
        lines.append(f"{a},{o},{first},{second},{86_400 / (max(each) if second else sum(each))}")
    table("e3sm.csv", "ntasks_atm,ntasks_ocn,rootpe_atm,rootpe_ocn,sypd", lines)
    asked = evenly(*E3SM)
    assert (asked.code, "different layouts by rootpe, max(atm, ocn) and atm + ocn: say with" in asked.err) == (2, True)
    found = evenly(*E3SM, "--layout", "max(atm, ocn)", "--allowed", "atm=400", "--allowed", "ocn=200", "--json")
    assert "1 of 4 runs of e3sm.csv have another layout by rootpe, as atm + ocn" in found.err
    assert found.json["solver_seconds"]["atm"] == pytest.approx(6e5 / 400**0.9, rel=0.1)


def test_coupled_runs_of_another_layout_tell_no_factors(evenly: Evenly) -> None:
    rows = [
        f"{a},{o},0,{root},{max(2000 / a, 1350 / o)}" for a, o, root in ((200, 50, 200), (150, 60, 150), (60, 120, 0))
    ]
    asked = coupled_of_two("atm_ranks,ocn_ranks,atm_rootpe,ocn_rootpe,time_s", rows)
    found = evenly(*asked)
    assert (found.code, "1 of 3 runs have another layout by rootpe, atm + ocn: left out" in found.err) == (
        0,
        True,
    )
    refused = evenly(*asked, "--layout", "sum(atm, ocn)")
    assert (refused.code, "have another layout by rootpe, max(atm, ocn)" in refused.err) == (2, True), refused.err


def test_a_component_without_a_first_task_is_asked_about(evenly: Evenly) -> None:
    """The plan had no ocean, where its column rootpe had another name; ``total_cores`` are of no component."""
    layouts_of_e3sm("total_cores", ["600"] * 5)
    assert evenly(*E3SM).code == 0
    Path("e3sm.csv").write_text(Path("e3sm.csv").read_text().replace("rootpe_ocn", "first_ocn"))
    asked = evenly(*E3SM)
    assert (asked.code, "but not of ocn: add a column rootpe_ocn" in " ".join(asked.err.split())) == (2, True)
    assert evenly(*E3SM, "--layout", "max(ocn, ice + atm)").code == 0


def test_layouts_by_first_tasks_are_no_runs_of_one_program(evenly: Evenly) -> None:
    """A layout of all side by side was proposed, though the table tells another one."""
    layouts_of_e3sm()
    asked = evenly("allocate", "e3sm.csv", "--cores", "600")
    assert (asked.code, "--coupled e3sm.csv, without PATH" in " ".join(asked.err.split())) == (2, True)


@pytest.mark.parametrize("total", ["", "total_cores", "cores"])
def test_core_hours_of_coupled_runs_are_times(evenly: Evenly, total: str) -> None:
    of_a_day("atm_cores,ocn_cores,s/day", 1)
    rows = []
    for a, o in SHARES:
        years = 1.13 * max(6000 / a, 2400 / o) * 365 / 3600
        rows.append(f"{a},{o},{years * (640 if total else a + o)}" + (",640" if total else ""))
    table("coupled.csv", f"atm_cores,ocn_cores,CHPSY,{total}".rstrip(","), rows)
    found = evenly(*BOTH, "--json")
    assert "core-hours for a simulated year" in " ".join(found.err.split())
    assert found.json["seconds"] == pytest.approx(1.13 * 8400 / 600, rel=0.1)
    alone = evenly("allocate", "--coupled", "coupled.csv", *ALONE, "--json").json
    assert alone["simulated_years_per_day"] == pytest.approx(86400 / 365 / (1.13 * 8400 / 600), rel=0.2)


def test_tasks_of_a_node_are_asked_for(evenly: Evenly) -> None:
    """A plan counts cores: with few tasks on each node, it would need more nodes than there are."""
    rows = [
        (name, n, t, work / (n * t)) for name, work in (("fluid", 40), ("heat", 9)) for n in (1, 2) for t in (12, 48)
    ]
    pd.DataFrame(rows, columns=["solver", "nodes", "tasks_per_node", "seconds"]).to_csv("b.csv", index=False)
    shown = evenly("allocate", "b.csv", "--cores", "256", "--cores-are", "nodes * tasks_per_node", *LAW)
    assert shown.code == 2
    assert "--at tasks_per_node=" in shown.err


def test_names_of_labels_are_those_of_a_column(evenly: Evenly) -> None:
    rows = [(name, p, work / p) for name, work in (("fluid", 40), ("heat", 9)) for p in (1, 2, 4, 8)]
    pd.DataFrame(rows, columns=["code", "cores", "seconds"]).to_csv("a.csv", index=False)
    for given in (("--layout", "max(fluid, heat)"), ("--current", "fluid=4 heat=4")):
        shown = evenly("allocate", "a.csv", "--cores", "8", *given)
        assert shown.code == 2
        assert "'code' holds such names: --solver code" in shown.err


def test_cores_are_is_for_the_solvers_that_have_its_parameters(evenly: Evenly) -> None:
    table("a/fluid.csv", "MPI ranks,time_s", [f"{p},{900 / p}" for p in COUNTS])
    table("a/heat.csv", "omp_threads,time_s", [f"{p},{300 / p}" for p in (1, 2, 4, 8)])
    asked = evenly("allocate", "a", "--cores", "64", *LAW)
    assert (asked.code, "--cores-are omp_threads" in asked.err) == (2, True)
    shown = evenly("allocate", "a", "--cores", "64", *LAW, "--cores-are", "omp_threads", "--json")
    assert shown.code == 0, shown.err
    assert shown.json["cores"] == {"fluid": 48, "heat": 16}
    evenly("fit", "a/fluid.csv", *LAW, "-o", "m.evenly")
    for path in ("a", "m.evenly"):
        refused = evenly("allocate", path, "--cores", "64", "--cores-are", "omp_thread")
        assert refused.code == 2
        assert "needs 'omp_thread'" in refused.err


def test_a_solver_that_no_coupled_run_waited_for_is_named(evenly: Evenly) -> None:
    counts = (48, 96, 192, 384)
    rows = [f"atm,{p},{5000 / p:.2f}" for p in counts] + [f"ocn,{p},{2000 / p:.2f}" for p in counts]
    table("runs.csv", "component,cores,time_s", rows)
    table("coupled.csv", "atm_cores,ocn_cores,time_s", [f"{p},{p},{5000 / p:.2f}" for p in counts])
    found = evenly("allocate", "runs.csv", "--cores", "600", "--coupled", "coupled.csv")
    assert (found.code, "these runs don't tell the times of ocn apart from the others'" in found.err) == (0, True)


def test_nodes_in_columns_of_each_solver_are_cores_as_the_user_says(evenly: Evenly) -> None:
    table("runs.csv", "atm_nodes,atm_s,ocn_nodes,ocn_s", [f"{n},{6000 / n:.2f},{n},{2400 / n:.2f}" for n in COUNTS])
    asked = evenly("allocate", "runs.csv", "--cores", "9600")
    assert (asked.code, "--cores-are 'nodes * 48'" in asked.err) == (2, True)
    told, of_a_node = (
        evenly("allocate", "runs.csv", "--cores", "9600", *words, "--json")
        for words in (("--cores-are", "nodes * 48"), ("--cores-per-node", "48"))
    )
    assert (told.code, of_a_node.code) == (0, 0)
    assert told.json["cores"] == of_a_node.json["cores"]
    assert "cores: nodes * 48, by --cores-per-node" in of_a_node.err


WORKS = (("atm", 6000), ("ocn", 2400))
SHARES = ((96, 96), (192, 64), (300, 200), (96, 160), (256, 64), (128, 256))
ALONE = ("--layout", "max(atm, ocn)", "--cores", "600")


def whole(column: str, of: float, cores: str = "cores") -> None:
    """Write whole runs whose simulated day takes max(6000 / atm, 2400 / ocn) seconds, times `of`."""
    rows = [f"{a},{o},{max(6000 / a, 2400 / o) * of:.6g}" for a, o in SHARES]
    table("coupled.csv", f"atm_{cores},ocn_{cores},{column}", rows)


@pytest.mark.parametrize(
    ("column", "of", "days"),
    [
        ("time (h/year)", 365 / 3600, 365), ("hours_per_sim_year", 365 / 3600, 365), ("h/SY", 365 / 3600, 365),
        ("Stunden pro Jahr", 365 / 3600, 365), ("time [min/month]", 30 / 60, 30), ("minutes_per_month", 30 / 60, 30),
        ("time_s_per_day", 1, 1), ("time (s/step)", 1, 1),
    ],
)  # fmt: skip
def test_times_of_simulated_time_have_their_unit(evenly: Evenly, column: str, of: float, days: float) -> None:
    whole(column, of)
    found = evenly("allocate", "--coupled", "coupled.csv", *ALONE, "--json")
    assert json.loads(found.out)["seconds"] == pytest.approx(days * 6000 / 430, rel=0.1)
    assert "of --coupled is a time in " in found.err
    if days == 365:
        assert evenly("allocate", "--coupled", "coupled.csv", *ALONE, "--in", "SYPD").code == 0


def test_a_unit_of_whole_runs_is_asked_for_and_named(evenly: Evenly) -> None:
    whole("time (x/year)", 365 / 3600)
    asked = evenly("allocate", "--coupled", "coupled.csv", *ALONE)
    assert (asked.code, "--unit h" in asked.err) == (2, True)
    found = evenly("allocate", "--coupled", "coupled.csv", *ALONE, "--unit", "h", "--json")
    assert json.loads(found.out)["seconds"] == pytest.approx(365 * 6000 / 430, rel=0.1)


def test_whole_runs_may_count_nodes(evenly: Evenly) -> None:
    whole("time_s", 1, "nodes")
    asked = evenly("allocate", "--coupled", "coupled.csv", *ALONE)
    assert (asked.code, "--cores-are 'nodes * 48'" in asked.err) == (2, True)
    found = evenly(
        "allocate", "--coupled", "coupled.csv", *ALONE[:2], "--cores", "28800", "--cores-are", "nodes * 48", "--json"
    )
    assert json.loads(found.out)["seconds"] == pytest.approx(6000 / 430, rel=0.1)
    of_a_node = ("--cores", "28800", "--cores-per-node", "48", "--json")
    same = evenly("allocate", "--coupled", "coupled.csv", *ALONE[:2], *of_a_node)
    assert json.loads(same.out)["cores"] == json.loads(found.out)["cores"]
    rows = [f"{name},{p},{work / p:.4f}" for name, work in (("atm", 6000), ("ocn", 2400)) for p in COUNTS]
    table("runs.csv", "component,nodes,time_s", rows)
    both = evenly(
        "allocate", "runs.csv", "--coupled", "coupled.csv", "--cores", "28800", "--cores-are", "nodes * 48", "--json"
    )
    assert json.loads(both.out)["seconds"] == pytest.approx(6000 / 430, rel=0.1)
    same = evenly("allocate", "runs.csv", "--coupled", "coupled.csv", *of_a_node)
    assert json.loads(same.out)["cores"] == json.loads(both.out)["cores"]


def test_simulated_years_per_day_are_compared_with_days_where_the_step_is_one(evenly: Evenly) -> None:
    rows = [f"{a},{6000 / a:.4f},{o},{2400 / o:.4f},{86400 / 365 / max(6000 / a, 2400 / o):.6g}" for a, o in SHARES]
    table("runs.csv", "atm_cores,atm_s_per_day,ocn_cores,ocn_s_per_day,SYPD", rows)
    found = evenly("allocate", "runs.csv", "--coupled", "runs.csv", "--cores", "600", "--json")
    assert json.loads(found.out)["seconds"] == pytest.approx(6000 / 430, rel=0.1)
    table("runs.csv", "atm_cores,atm_time_s,ocn_cores,ocn_time_s,SYPD", rows)
    asked = evenly("allocate", "runs.csv", "--coupled", "runs.csv", "--cores", "600")
    assert (asked.code, "--step-days" in asked.err) == (2, True)
    found = evenly("allocate", "runs.csv", "--coupled", "runs.csv", "--cores", "600", "--step-days", "1", "--json")
    assert json.loads(found.out)["seconds"] == pytest.approx(6000 / 430, rel=0.1)


def test_a_total_is_the_time_of_whole_runs_and_labels_are_not(evenly: Evenly) -> None:
    rows = [f"here,{a},{o},{max(6000 / a, 2400 / o):.4f}" for a, o in SHARES]
    table("coupled.csv", "machine,atm_cores,ocn_cores,total", rows)
    assert evenly("allocate", "--coupled", "coupled.csv", *ALONE).code == 0
    table("coupled.csv", "machine,atm_cores,ocn_cores,x", rows)
    asked = evenly("allocate", "--coupled", "coupled.csv", *ALONE)
    assert (asked.code, "is open (x)" in asked.err) == (2, True)


def test_a_plan_that_may_miss_its_longest_step_says_so(evenly: Evenly) -> None:
    random = np.random.default_rng(3)
    times = [(name, p, work / p * np.exp(random.normal(0, 0.05))) for name, work in WORKS for p in COUNTS]
    table("runs.csv", "component,cores,time_s", [f"{name},{p},{seconds:.4f}" for name, p, seconds in times])
    asked = ("allocate", "runs.csv", "--cores", "600", "--minimise", "cores", "--max-seconds", "20")
    found = evenly(*asked)
    assert (
        found.code,
        "beyond the longest time allowed, 20 s: a tighter" in " ".join(found.out.split()),
    ) == (0, True)


def coupled_of_two(columns: str, rows: list[str]) -> tuple[str, ...]:
    """Write curves of two solvers and a table of coupled runs; return the command."""
    for name, work in (("atm", 2000), ("ocn", 900)):
        table(f"a/{name}.csv", "nproc,time_s", [f"{p},{work / p}" for p in COUNTS])
    table("runs.csv", columns, rows)
    return ("allocate", "a", "--cores", "300", *LAW, "--coupled", "runs.csv")


def test_coupled_runs_that_failed_are_left_out(evenly: Evenly) -> None:
    runs = [(200, 50), (150, 60), (60, 120), (100, 40)]
    rows = [f"{a},{o},{max(2000 / a, 1.5 * 900 / o)},COMPLETED" for a, o in runs]
    asked = coupled_of_two("atm_nproc,ocn_nproc,time_s,state", [*rows, "80,80,0.4,FAILED"])
    found = evenly(*asked)
    assert (found.code, "runs.csv: failed, so not learned from: 1 × FAILED" in found.err) == (0, True)
    assert "in 4 coupled runs, solvers take" in " ".join(found.out.split())


@pytest.mark.parametrize(
    ("column", "cells", "reason"),
    [
        ("grid", ("ne30", "ne30", "ne120", "ne120"), "differ in 'grid' (ne30, ne120), so one plan can't hold for all"),
        ("machine", ("a", "b", "a", "b"), "differ in 'machine' (a, b)"),
        ("steps", ("10", "10", "10", "20"), "differ in 'steps' (10, 20), so their times are of different work"),
    ],
)
def test_coupled_runs_differ_in_their_cores_only(
    evenly: Evenly, column: str, cells: Sequence[str], reason: str
) -> None:
    runs = [(200, 50), (150, 60), (60, 120), (100, 40)]
    rows = [f"{a},{o},{max(2000 / a, 1350 / o)},{cell}" for (a, o), cell in zip(runs, cells, strict=True)]
    refused = evenly(*coupled_of_two(f"atm_ranks,ocn_ranks,time_s,{column}", rows))
    assert (refused.code, reason in " ".join(refused.err.split())) == (2, True), refused.err


def test_cores_of_coupled_runs_are_tasks_times_threads(evenly: Evenly) -> None:
    runs = [(100, 50), (75, 60), (30, 120), (50, 40)]
    rows = [f"{a},{o},{max(2000 / (2 * a), 1350 / o)},2" for a, o in runs]
    found = evenly(*coupled_of_two("atm_ranks,ocn_ranks,time_s,atm_threads", rows))
    assert (found.code, "the cores of atm are atm_ranks times atm_threads" in found.err) == (0, True), found.err
    assert "in 4 coupled runs, solvers take these multiples of their curves: atm 1" in " ".join(found.out.split())


def test_names_of_layouts_are_no_setting(evenly: Evenly) -> None:
    runs = [(200, 50, "L"), (150, 60, "M"), (60, 120, "XS"), (100, 40, "S")]
    rows = [f"{a},{o},{max(2000 / a, 1350 / o)},{size}" for a, o, size in runs]
    assert evenly(*coupled_of_two("atm_ranks,ocn_ranks,time_s,pesize", rows)).code == 0


def test_coupled_runs_are_those_of_what_is_planned(evenly: Evenly) -> None:
    rows = [
        f"{name},{grid},{p},{size * work / p}"
        for name, work in (("atm", 2000), ("ocn", 900)) for grid, size in (("R1", 1), ("R2", 4)) for p in COUNTS
    ]  # fmt: skip
    table("a.csv", "solver,grid,cores,time_s", rows)
    runs = [(200, 50), (150, 60), (60, 120), (100, 40)]
    coupled = [
        f"{a},{o},{size * max(2000 / a, 1350 / o)},{grid}" for a, o in runs for grid, size in (("R1", 1), ("R2", 4))
    ]
    table("both.csv", "atm_cores,ocn_cores,time_s,grid", coupled)
    asked = ("allocate", "a.csv", "--cores", "300", "--solver", "solver", "--at", "grid=R2", *LAW, "--coupled")
    found = evenly(*asked, "both.csv")
    assert (found.code, "both.csv: only runs with grid = R2, as in the plan" in found.err) == (0, True), found.err
    assert "in 4 coupled runs, solvers take these multiples of their curves: atm 1" in " ".join(found.out.split())
    table("other.csv", "atm_cores,ocn_cores,time_s,grid", [row for row in coupled if row.endswith("R1")])
    refused = evenly(*asked, "other.csv")
    assert (refused.code, "are of grid = R1, but the plan is for grid = R2" in refused.err) == (2, True)


@pytest.mark.parametrize(
    ("header", "atm", "ocn"),
    [
        ("component,cores,dt_s,ms/step", "900,{}", "3600,{}"),
        ("component,cores,time step (s),time (ms/step)", "900,{}", "3600,{}"),
        ("component,cores,wallclock,units,per", "{},s,simulated day", "{},s,simulated month"),
        ("component,cores,nstep,wall_s", "10,{}", "30,{}"),
        ("component,cores,period,wall_s", "1 day,{}", "1 month,{}"),
    ],
)
def test_times_of_different_work_in_one_table_are_refused(evenly: Evenly, header: str, atm: str, ocn: str) -> None:
    rows = [f"atm,{p},{atm.format(900 / p)}" for p in COUNTS] + [f"ocn,{p},{ocn.format(700 / p + 1)}" for p in COUNTS]
    table("runs.csv", header, rows)
    refused = evenly("allocate", "runs.csv", "--cores", "300", *LAW)
    assert (refused.code, "of different work" in refused.err) == (2, True)
    table(
        "runs.csv", header, [row.replace("3600", "900").replace("month", "day").replace("30,", "10,") for row in rows]
    )
    assert evenly("allocate", "runs.csv", "--cores", "300", *LAW).code == 0


@pytest.mark.parametrize(
    "header", ["component,cores,simulated days,wall_s", "Komponente,Kerne,Simulierte Tage,Zeit (s)"]
)
def test_times_of_different_days_in_one_table_are_made_those_of_one(evenly: Evenly, header: str) -> None:
    rows = [f"atm,{p},10,{900 / p}" for p in COUNTS] + [f"ocn,{p},30,{2100 / p}" for p in COUNTS]
    table("runs.csv", header, rows)
    shown = evenly("allocate", "runs.csv", "--cores", "320", *LAW)
    assert "atm: times of 10 simulated days are made those of 1" in " ".join(shown.err.split())
    assert evenly("allocate", "runs.csv", "--cores", "320", *LAW, "--json").json["cores"] == {"atm": 180, "ocn": 140}


def test_what_differs_between_solvers_alone_is_said(evenly: Evenly) -> None:
    rows = [f"atm,{p},a5,{900 / p}" for p in COUNTS] + [f"ocn,{p},b30,{700 / p + 1}" for p in COUNTS]
    table("runs.csv", "component,cores,setup,wall_s", rows)
    shown = evenly("allocate", "runs.csv", "--cores", "300", *LAW)
    assert (shown.code, "although setup is a5 for atm, b30 for ocn" in " ".join(shown.err.split())) == (0, True)
    table("runs.csv", "component,cores,mesh,wall_s", rows)
    assert "taken as a setting" not in evenly("allocate", "runs.csv", "--cores", "300", *LAW).err
    table("runs.csv", "component,cores,days,wall_s", [row.replace("a5", "5").replace("b30", "") for row in rows])
    refused = evenly("allocate", "runs.csv", "--cores", "300", *LAW)
    assert (refused.code, "days is 5 for atm, not told for ocn" in refused.err) == (2, True)


def test_times_in_other_units_side_by_side_are_asked_about(evenly: Evenly) -> None:
    table("runs.csv", "cores,atm_ms,ocn_s", [f"{p},{9e5 / p},{700 / p + 1}" for p in COUNTS])
    asked = evenly("allocate", "runs.csv", "--cores", "300", *LAW)
    assert (asked.code, "whether 'atm_ms' is the time of one solver, and 'ocn_s' of others" in asked.err) == (2, True)
    header = "atm_cores,atm_s_per_day,ocn_cores,ocn_s_per_month"
    table("runs.csv", header, [f"{p},{900 / p},{p},{700 / p + 1}" for p in COUNTS])
    asked = evenly("allocate", "runs.csv", "--cores", "300", *LAW)
    assert (asked.code, "are of different work" in asked.err) == (2, True)


def of_a_day(header: str, of: float) -> None:
    """Write solvers' times of a day, and coupled runs that take 13 % longer, times `of`."""
    rows = [f"{name},{p},{work / p:.4f}" for name, work in (("atm", 6000), ("ocn", 2400)) for p in COUNTS]
    table("runs.csv", "component,cores,s/day", rows)
    table("coupled.csv", header, [f"{a},{o},{of * 1.13 * max(6000 / a, 2400 / o):.4f}" for a, o in SHARES])


BOTH = ("allocate", "runs.csv", "--coupled", "coupled.csv", "--cores", "600", *LAW)


@pytest.mark.parametrize("days", [1, 2, 10])
def test_coupled_times_that_do_not_tell_their_days_are_asked_about(evenly: Evenly, days: int) -> None:
    """Two days were taken as one with a multiple of 2.2 of the curves, and ten asked for a factor of 11.3."""
    of_a_day("atm_cores,ocn_cores,wall_s", days)
    asked = evenly(*BOTH)
    assert (asked.code, "--coupled-steps" in asked.err) == (2, True)
    found = evenly(*BOTH, "--coupled-steps", str(days), "--json").json
    assert found["seconds"] == pytest.approx(1.13 * 8400 / 600, rel=0.1)
    assert found["simulated_years_per_day"] == pytest.approx(86400 / 365 / found["seconds"])


def test_steps_of_coupled_times_agree_with_their_names(evenly: Evenly) -> None:
    of_a_day("atm_cores,ocn_cores,time (s/month)", 365 / 12)
    found = evenly(*BOTH, "--json")
    assert found.json["seconds"] == pytest.approx(1.13 * 8400 / 600, rel=0.1)
    assert "is of 30.4167 times a simulated day" in " ".join(found.err.split())
    wrong = evenly(*BOTH, "--coupled-steps", "10")
    assert (wrong.code, "contradicts 'time (s/month)'" in " ".join(wrong.err.split())) == (2, True)
    alone = evenly("allocate", "runs.csv", "--cores", "600", "--coupled-steps", "10", *LAW)
    assert (alone.code, "give --coupled too" in alone.err) == (2, True)


@pytest.mark.parametrize("header", ["days", "simulated_days", "sim_months"])
def test_coupled_times_of_the_days_that_a_column_counts_are_divided(evenly: Evenly, header: str) -> None:
    """Some runs simulated 10 days, others 30."""
    of_a_day("atm_cores,ocn_cores,wall_s", 1)
    each = 365 / 12 if header == "sim_months" else 1
    rows = [row.split(",") for row in Path("coupled.csv").read_text().split()[1:]]
    counts = [10 if number % 3 else 30 for number in range(len(rows))]
    told = [f"{a},{o},{float(s) * count * each},{count}" for (a, o, s), count in zip(rows, counts, strict=True)]
    table("coupled.csv", f"atm_cores,ocn_cores,wall_s,{header}", told)
    found = evenly(*BOTH, "--json")
    assert found.code == 0, found.err
    assert f"as many simulated days as {header!r} says" in found.err
    assert found.json["seconds"] == pytest.approx(1.13 * 8400 / 600, rel=0.1)
    wrong = evenly(*BOTH, "--coupled-steps", "30")
    assert (wrong.code, f"contradicts {header!r} of --coupled" in wrong.err) == (2, True)
    alone = evenly("allocate", "--coupled", "coupled.csv", "--layout", "max(atm, ocn)", "--cores", "600", "--json")
    assert alone.json["seconds"] == pytest.approx(1.13 * 8400 / 600, rel=0.1)
    assert alone.json["simulated_years_per_day"] == pytest.approx(86400 / 365 / alone.json["seconds"])


@pytest.mark.parametrize(("time", "steps"), [("s/day", 1), ("SYPD", 365)])
def test_coupled_times_far_from_the_curves_are_asked_about(evenly: Evenly, time: str, steps: int) -> None:
    """Coupled runs that took 2.2 times what the solvers make were taken for slow ones."""
    of_a_day(f"atm_cores,ocn_cores,{time}", 2)
    if time == "SYPD":
        rows = [f"{a},{o},{86400 / 365 / 2.26 / max(6000 / a, 2400 / o):.6g}" for a, o in SHARES]
        table("coupled.csv", "atm_cores,ocn_cores,SYPD", rows)
    asked = evenly(*BOTH)
    assert (asked.code, "take about 2.26 times" in " ".join(asked.err.split())) == (2, True)
    told = evenly(*BOTH, "--coupled-steps", str(steps))
    assert (told.code, "these multiples of their curves: atm 2.2" in " ".join(told.out.split())) == (0, True)


@pytest.mark.parametrize(
    ("layout", "ways"),
    [
        ("10 * max(atm, ocn)", {10: 10, 1: 1}),
        ("max(4 * atm, ocn)", {1: 1}),
    ],
)
def test_factors_of_times_of_a_day_are_asked_about(evenly: Evenly, layout: str, ways: dict[int, int]) -> None:
    """Ten times the times of a day were taken as those of one day."""
    of_a_day("atm_cores,ocn_cores,s/day", 1)
    words = ("allocate", "runs.csv", "--cores", "600", "--layout", layout, *LAW)
    asked = evenly(*words)
    assert asked.code == 2
    for days in ways:
        assert f"--step-days {days}" in " ".join(asked.err.split())
        found = evenly(*words, "--step-days", str(days), "--json").json
        assert found["simulated_years_per_day"] == pytest.approx(days * 86400 / 365 / found["seconds"])
    assert evenly(*words, "--step-days", "3").code == 2


def test_conditions_and_kinds_of_coupled_runs(evenly: Evenly) -> None:
    """--where didn't reach the table of --coupled beside PATH, and labels of two resolutions were left out unread."""
    table("a.csv", "component,cores,time_s", [f"{s},{p},{2000 / p}" for p in COUNTS for s in ("atm", "ocn")])
    runs = [(m, p, 200 - p, w * 2000 / min(p, 200 - p)) for m, w in (("old", 2), ("new", 1)) for p in (70, 100, 120)]
    table("c.csv", "machine,atm_cores,ocn_cores,time_s", [",".join(map(str, run)) for run in runs])
    ask = ("allocate", "a.csv", "--coupled", "c.csv", "--cores", "200", "--no-waiting", *LAW)
    asked = evenly(*ask)
    assert (asked.code, "--where 'machine == \"old\"'" in asked.err) == (2, True)
    chosen = evenly(*ask, "--where", "machine == 'new'", "--json")
    assert chosen.code == 0, chosen.err
    assert chosen.json["inside_coupled_runs"]["runs"] == 3
    labels = [f"T{k % 2 + 1}_{k},{','.join(map(str, run[1:]))}" for k, run in enumerate(runs)]
    table("c.csv", "exp,atm_cores,ocn_cores,time_s", labels)
    assert "c.csv: exp names runs of T1, T2: all are taken as alike" in evenly(*ask).err
