"""``evenly predict --cores``: on how many cores, for any model, with what it takes and costs."""

from __future__ import annotations

import re
from pathlib import Path

import pandas as pd
import pytest

from tests.cli.conftest import Evenly

LAW = ("--method", "power-law")


@pytest.fixture
def scaling(evenly: Evenly) -> str:
    """A program that takes 4 / p^0.6 seconds."""
    pd.DataFrame([(p, 4 / p**0.6) for p in (1, 4, 16, 64)], columns=["cores", "seconds"]).to_csv("a.csv", index=False)
    return "a.csv"


@pytest.fixture
def nodes(evenly: Evenly) -> str:
    rows = [(n, t, g, g / (n * t)) for n in (1, 2, 4, 8) for t in (24, 48) for g in (1000, 8000)]
    pd.DataFrame(rows, columns=["nodes", "tasks_per_node", "grid", "seconds"]).to_csv("nodes.csv", index=False)
    return "nodes.csv"


def test_the_recommended_count_the_knee_and_the_runner_up(evenly: Evenly, scaling: str) -> None:
    shown = evenly("predict", scaling, *LAW, "--cores", "1..256", "--steps", "3600", "--budget", "12.2")
    assert shown.code == 0, shown.err
    # 3600 steps take 4 p^0.4 core-hours.
    within = "recommended: 16 cores, the fastest run within the budget, if the prediction holds (its upper bound"
    assert f"{within} is above the budget): 0.758 h" in shown.out
    assert "runner-up: 12 cores take 1.19 times as long, at 0.89 times the core-hours" in shown.out
    assert "* outside what was measured" in shown.out
    told = evenly(
        "predict", scaling, *LAW, "--cores", "16,64,256", "--steps", "3600", "--deadline", "25:00", "--json"
    ).json
    assert told["recommended"]["cores"] == 64
    assert [row["extrapolated"] for row in told["rows"]] == [False, False, True]
    assert [row["core_hours"] for row in told["rows"]] == pytest.approx(
        [4 * 16**0.4, 4 * 64**0.4, 4 * 256**0.4], rel=1e-3
    )
    assert told["rows"][0]["core_hours_lower"] <= 4 * 16**0.4 <= told["rows"][0]["core_hours_upper"]
    assert set(told["knee"]) == {"count", "lower", "upper", "is_last", "is_first"}


def test_times_stand_in_one_unit(evenly: Evenly, scaling: str) -> None:
    shown = evenly("predict", scaling, *LAW, "--cores", "1,4,16,64", "--steps", "3600").out
    table = shown.partition("90 %: intervals")[0]
    assert "time h" in table
    assert not {"s", "min"} & set(table.split())


def test_a_recommendation_beyond_what_was_measured_says_so(evenly: Evenly, scaling: str) -> None:
    shown = evenly("predict", scaling, *LAW, "--cores", "64,256", "--steps", "3600", "--deadline", "15min")
    assert shown.code == 0, shown.err
    assert "an extrapolation: cores = 256, learned on 1 … 64" in shown.out


def test_what_the_job_is_and_what_was_assumed_is_said(evenly: Evenly, scaling: str) -> None:
    assert (
        "say how many it has with --steps"
        in evenly("predict", scaling, *LAW, "--cores", "1..64", "--deadline", "3s").err
    )
    pd.read_csv(scaling).rename(columns={"cores": "ranks"}).assign(level=8).to_csv("ranks.csv", index=False)
    read = ("--parameters", "ranks,level")
    shown = evenly("predict", "ranks.csv", *LAW, *read, "--cores", "1..64")
    assert "cores: one for each of ranks" in shown.err
    assert "level = 8, as in all measurements" in shown.err
    assert evenly("fit", "ranks.csv", *LAW, *read, "--save", "ranks.evenly").code == 0
    assert "cores: one for each of ranks" in evenly("predict", "ranks.evenly", "--cores", "1..64").err


def test_cores_of_nodes_and_tasks_are_asked_for(evenly: Evenly, nodes: str) -> None:
    assert evenly("fit", nodes, *LAW, "--save", "nodes.evenly").code == 0
    for source in ([nodes, *LAW], ["nodes.evenly"]):
        shown = evenly("predict", *source, "--cores", "1..1024")
        assert shown.code == 2
        assert "--cores-are 'nodes * tasks_per_node'" in shown.err
        are = ("--cores-are", "nodes * tasks_per_node", "--cores", "1..1024")
        shown = evenly("predict", *source, *are)
        assert shown.code == 2
        assert "--at grid=8000" in shown.err
        found = evenly("predict", *source, *are, "--at", "grid=8000", "--at", "tasks_per_node=48", "--json")
        assert {row["cores"] / row["nodes"] for row in found.json["rows"]} == {48}
    found = evenly("predict", nodes, *LAW, *are, "--at", "grid=8000")
    assert "any number of nodes, with the measured values of tasks_per_node" in found.err
    assert "--at tasks_per_node=…" in evenly("predict", "nodes.evenly", *are, "--at", "grid=8000").err
    # Which of two numbers of tasks each row has is told, also if all rows have the same.
    several = evenly("predict", "nodes.evenly", *are, "--at", "grid=8000", "--at", "tasks_per_node=24,48")
    assert "at: nodes, tasks_per_node" in " ".join(several.out.split())


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--deadline", "2h"), "ask it with --cores"),
        (("--cores-are", "cores", "--at", "cores=2"), "ask it with --cores"),
        (("--cores", "1..8", "--deadline", "soon"), "1:30:00"),
        (("--cores", "1..8", "--efficiency", "70"), "write 70%"),
        (("--cores", "1..8", "--efficiency", "70%", "--budget", "3"), "they decide"),
        (("--cores", "8..1"), "must go up"),
        (("--cores", "1..8", "--at", "cores=4"), "cores is the cores"),
        (("--cores", "1..8", "--at", "cros=4"), "did you mean 'cores'?"),
        (("--cores", "1..8", "--file", "a.csv"), "--file"),
        (("--cores", "1..8", "--steps", "0"), "steps"),
        (("--cores", "1..8", "--budget", "3EUR"), "price_per_core_hour"),
        (("--cores", "1..8", "--budget", "3EUR", "--price", "0.1USD"), "as 20USD"),
        (("--cores", "1..8", "--price", "-1"), "takes an amount"),
    ],
)
def test_what_is_wrong_is_named(evenly: Evenly, scaling: str, arguments: tuple[str, ...], said: str) -> None:
    shown = evenly("predict", scaling, *LAW, *arguments)
    assert shown.code == 2, shown.out
    assert said in shown.err


def test_a_price_has_a_currency(evenly: Evenly, scaling: str) -> None:
    ask = ("predict", scaling, *LAW, "--cores", "1..8")
    assert "taken to be in EUR" in evenly(*ask, "--price", "0.1").err
    for hours in ("5 Core-hours", "5CH"):
        assert "taken to be in EUR" in evenly(*ask, "--price", "0.1", "--budget", hours).err
    for told in (("--price", "0.1USD"), ("--price", "0.1", "--budget", "3USD")):
        shown = evenly(*ask, *told)
        assert shown.code == 0, shown.err
        assert "USD" in shown.out
        assert "EUR" not in shown.out + shown.err


def test_what_cannot_be_met_is_no_answer(evenly: Evenly, scaling: str) -> None:
    shown = evenly("predict", scaling, *LAW, "--cores", "1..64", "--deadline", "0.1s")
    assert shown.code == 1
    assert "the fastest: 64 cores" in shown.err


def test_several_programs_are_asked_one_by_one(evenly: Evenly, pulse: Path) -> None:
    shown = evenly("predict", pulse, *LAW, "--cores", "1..512")
    assert shown.code == 2
    assert "--only" in shown.err
    assert evenly("predict", pulse, *LAW, "--cores", "1..512", "--only", "inner", "--save", "curve.csv").code == 0
    assert {"cores", "run_s", "core_hours"} <= set(pd.read_csv("curve.csv"))


def test_a_table_of_strangers_needs_no_option_but_the_question(evenly: Evenly, samples: Path) -> None:
    table = samples.parent / "strangers" / "ec-earth" / "ATMIFS_scalability_CMIP6.csv"
    shown = evenly("predict", table, *LAW, "--cores", "48,1008,2000", "--json")
    assert shown.code == 0, shown.err
    assert "cores: one for each of nproc" in shown.json["notes"][0]
    rows = shown.json["rows"]
    assert [row["extrapolated"] for row in rows] == [False, False, True]
    # 3.27 simulated years per day on 48 processes: a year takes 7.34 h, 352 core-hours.
    assert rows[0]["core_hours_lower"] < 352.3 < rows[0]["core_hours_upper"]


def test_times_of_counts_as_a_clock_shows_them(evenly: Evenly) -> None:
    Path("runs.csv").write_text("cores,seconds\n4,4000\n8,2010\n16,1020\n32,530\n")
    done = evenly("predict", "runs.csv", "--cores", "4,16", "--times", "hms")
    assert done.code == 0
    assert re.search(r"4 +01:0\d:\d\d +01:0\d:\d\d … 01:\d\d:\d\d", done.out)
    days = evenly("predict", "runs.csv", "--cores", "4,16", "--steps", "100", "--times", "hms")
    assert re.search(r"4 +4-1\d:\d\d ", days.out)


@pytest.mark.parametrize("saved", [False, True])
def test_a_size_for_each_core_is_weak_scaling(evenly: Evenly, saved: bool) -> None:
    rows = [(p, 100_000, 300 + 12 * i) for i, p in enumerate((1, 2, 4, 8, 16, 32, 64))]
    pd.DataFrame(rows, columns=["cores", "cells_per_core", "seconds"]).to_csv("w.csv", index=False)
    name = "w.csv"
    if saved:
        assert evenly("fit", name, *LAW, "--save", "w.evenly").code == 0
        name = "w.evenly"
    shown = evenly("predict", name, *(() if saved else LAW), "--cores", "1..128")
    assert shown.code == 2
    assert "cells_per_core says how much each of cores has to do" in shown.err
    assert evenly("predict", name, *(() if saved else LAW), "--at", "cores=64").code == 0
    page = evenly("report", name, *(() if saved else LAW), "--next", "0", "-o", "page.md")
    assert page.code == 0
    assert "Nothing is recommended: cells_per_core" in Path("page.md").read_text()
    assert evenly("allocate", name, *(() if saved else LAW), "--cores", "64").code == 2


@pytest.mark.parametrize("name", ["threads_per_core", "threads-per-core", "hyperthreads per core"])
def test_threads_of_each_core_are_a_setting(evenly: Evenly, name: str) -> None:
    rows = [(p, 1, 4 + 800 / p) for p in (1, 2, 4, 8, 16, 32)]
    pd.DataFrame(rows, columns=["cores", name, "seconds"]).to_csv("h.csv", index=False)
    shown = evenly("predict", "h.csv", *LAW, "--cores", "1..64")
    assert shown.code == 0
    assert "weak scaling" not in shown.err


def test_a_column_that_no_model_knows_is_said(evenly: Evenly, scaling: str) -> None:
    Path("ask.csv").write_text("cores,grid\n4,800\n")
    shown = evenly("predict", scaling, *LAW, "--file", "ask.csv")
    assert shown.code == 0, shown.err
    assert "no model has such a parameter: grid" in shown.err


def test_a_label_that_tells_programs_apart_may_be_a_parameter(evenly: Evenly) -> None:
    rows = "".join(f"{n},{kind},{time / n}\n" for n in (1, 2, 4) for kind, time in (("pcg", 90), ("gamg", 60)))
    Path("cfd.csv").write_text(f"ranks,solver,wall_s\n{rows}")
    shown = evenly("predict", "cfd.csv", "--at", "ranks=2", "--at", "solver=pcg")
    assert shown.code == 2
    assert "'solver' tells the programs apart" in shown.err
    assert "--only pcg" in shown.err
    assert "--parameters ranks,solver" in shown.err
    assert (
        evenly("predict", "cfd.csv", "--at", "ranks=2", "--at", "solver=pcg", "--parameters", "ranks,solver").code == 0
    )


def test_versions_are_asked_as_they_are_typed(evenly: Evenly) -> None:
    rows = "".join(f"{n},{v},{t / n}\n" for n in (1, 2, 4, 8) for v, t in (("1.1", 90), ("1.10", 30), ("1.2", 60)))
    Path("v.csv").write_text(f"cores,version,time_s\n{rows}")
    for version, seconds in (("1.1", 45), ("1.10", 15), ("1.2", 30)):
        one = evenly("predict", "v.csv", "--at", "cores=2.0", "--at", f"version={version}", "--json")
        assert one.json["predictions"][0]["value"] == pytest.approx(seconds, rel=0.02), one.err
        many = evenly("predict", "v.csv", "--cores", "2,4", "--at", f"version={version}", "--json")
        assert many.json["rows"][0]["run_s"] == pytest.approx(seconds, rel=0.02), many.err


@pytest.mark.parametrize("name", ["model", "m.model"])
def test_models_are_known_whatever_their_file_is_called(evenly: Evenly, scaling: str, name: str) -> None:
    assert evenly("fit", scaling, *LAW, "--save", name).code == 0
    assert evenly("predict", name, "--at", "cores=16", "--json").json["predictions"][0]["value"] > 0
    assert "holds models, not measurements" in evenly("predict", scaling, name, "--at", "cores=16").err


def test_open_values_are_asked_before_anything_is_learned(evenly: Evenly, nodes: str) -> None:
    for given in (("--cores", "24..384", "--cores-are", "nodes*tasks_per_node"), ("--at", "nodes=2")):
        shown = evenly("predict", nodes, *given)
        assert shown.code == 2
        assert "--at grid=8000" in shown.err
        assert "trying better methods" not in shown.err
    wrong = evenly("predict", nodes, "--at", "gird=1000")
    assert "did you mean 'grid'?" in wrong.err


def test_what_is_left_out_is_told_where_it_is_asked_for(evenly: Evenly) -> None:
    rows = [f"{m},{d},{p},{d / p}" for m, d in (("coarse", 1000), ("fine", 8000)) for p in (1, 2, 4)]
    Path("runs.csv").write_text("\n".join(["mesh,dofs,procs,time_s", *rows, ""]))
    shown = evenly("predict", "runs.csv", "--at", "mesh=fine", "--at", "procs=4")
    assert shown.code == 2
    assert "--at names 'mesh', which is no parameter here (tied to dofs" in shown.err


def test_labels_may_be_typed_in_other_capitals(evenly: Evenly) -> None:
    rows = [f"{p},{g},{t / p}" for g, t in (("true", 10), ("false", 8)) for p in (1, 2, 4, 8)]
    Path("runs.csv").write_text("\n".join(["cores,gc,time_s", *rows, ""]))
    shown = evenly("predict", "runs.csv", "--at", "gc=true", "--at", "cores=4", "--method", "log-quadratic", "--json")
    assert shown.code == 0, shown.err
    assert shown.json["predictions"][0]["configuration"]["gc"] == "true"


def test_a_share_of_work_for_each_gpu_may_be_a_setting(evenly: Evenly) -> None:
    Path("ml.csv").write_text("gpus,batch_per_gpu,epoch_time_s\n1,256,3540\n2,256,1810\n4,256,935\n8,256,487\n")
    asked = ("predict", "ml.csv", "--cores", "1..8", "--cores-are", "gpus", "--method", "power-law")
    refused = evenly(*asked)
    assert refused.code == 2
    assert "--parameters gpus" in refused.err
    shown = evenly(*asked, "--parameters", "gpus")
    assert shown.code == 0, shown.err
    assert "batch_per_gpu: taken for a setting (--parameters), so any number of cores does the same work" in shown.err


def test_one_number_of_cores_tells_no_end(evenly: Evenly, scaling: str) -> None:
    shown = evenly("predict", scaling, *LAW, "--cores", "16")
    assert "the only number looked at" in shown.out
    assert "where more cores stop paying isn't told by one number" in shown.out
    assert "more cores stop paying at" not in shown.out


def test_values_may_be_parted_by_commas(evenly: Evenly, nodes: str) -> None:
    evenly("fit", nodes, *LAW, "-o", "m.evenly")
    shown = evenly("predict", "m.evenly", "--at", "nodes=2,tasks_per_node=24 grid=1000")
    assert shown.code == 0
    assert shown.out == evenly("predict", "m.evenly", "--at", "nodes=2 tasks_per_node=24 grid=1000").out


@pytest.mark.parametrize("saved", [False, True])
def test_a_time_that_more_cores_dont_shorten_may_be_weak_scaling(evenly: Evenly, saved: bool) -> None:
    rows = [(p, 293 + 3 * i) for i, p in enumerate((1, 2, 4, 8, 16, 32, 64))]
    pd.DataFrame(rows, columns=["ranks", "seconds"]).to_csv("w.csv", index=False)
    name, law = ("w.evenly", ()) if saved else ("w.csv", LAW)
    if saved:
        assert evenly("fit", "w.csv", *LAW, "--save", name).code == 0
    shown = evenly("predict", name, *law, "--cores", "1..128")
    assert shown.code == 2
    assert "more cores don't shorten the time" in shown.err
    assert "--parameters ranks" in shown.err
    assert evenly("predict", name, *law, "--at", "ranks=64").code == 0
    page = evenly("report", name, *law, "--next", "0", "-o", "page.md")
    assert page.code == 0
    assert "Nothing is recommended: more cores don't shorten the time" in Path("page.md").read_text()
    if not saved:
        told = evenly("predict", name, *law, "--cores", "1..128", "--parameters", "ranks")
        assert (told.code, "recommended: 1 core" in told.out) == (0, True)


def test_a_time_that_grows_by_far_may_count_on_from_the_start_of_a_job(evenly: Evenly) -> None:
    for grows, said in ((100, True), (3, False)):
        rows = [(2**i, 293 + grows * i) for i in range(7)]
        pd.DataFrame(rows, columns=["ranks", "seconds"]).to_csv("w.csv", index=False)
        shown = evenly("predict", "w.csv", *LAW, "--cores", "1..64")
        assert (shown.code, "count on from the start of a job" in " ".join(shown.err.split())) == (2, said)


def test_times_that_fall_or_sizes_that_vary_need_no_question(evenly: Evenly) -> None:
    falls = [(p, 100 / p + 50) for p in (1, 2, 4, 8, 16)]
    pd.DataFrame(falls, columns=["ranks", "seconds"]).to_csv("falls.csv", index=False)
    assert evenly("predict", "falls.csv", "--method", "pmnf", "--cores", "1..16").code == 0
    sizes = [(p, n, n * (10 + 0.1 * p)) for p in (1, 2, 4, 8, 16) for n in (1, 2, 4)]
    pd.DataFrame(sizes, columns=["ranks", "n", "seconds"]).to_csv("sizes.csv", index=False)
    assert evenly("predict", "sizes.csv", "--method", "pmnf", "--cores", "1..16", "--at", "n=2").code == 0


def test_a_label_with_marks_of_the_option_is_proposed_in_quotes(evenly: Evenly) -> None:
    rows = [
        (p, label, w / p) for p in (1, 2, 4, 8) for label, w in (("coarse (nx=100, 2D)", 50), ("fine (nx=200, 2D)", 90))
    ]
    pd.DataFrame(rows, columns=["cores", "mesh", "seconds"]).to_csv("m.csv", index=False)
    asked = evenly("predict", "m.csv", *LAW, "--cores", "1..8")
    assert asked.code == 2
    assert """--at 'mesh="fine (nx=200, 2D)"'""" in asked.err
    assert evenly("predict", "m.csv", *LAW, "--cores", "1..8", "--at", 'mesh="fine (nx=200, 2D)"').code == 0


def test_weak_scaling_is_seen_whichever_counts_are_asked_for(evenly: Evenly) -> None:
    rows = [(p, 99 + 3 * i) for i, p in enumerate((1, 2, 4, 8, 16, 32, 64))]
    pd.DataFrame(rows, columns=["nodes", "seconds"]).to_csv("w.csv", index=False)
    shown = evenly("predict", "w.csv", *LAW, "--cores", "1..128", "--cores-are", "nodes * 48")
    assert (shown.code, "more cores don't shorten the time" in shown.err) == (2, True)


def test_weak_scaling_over_threads(evenly: Evenly) -> None:
    rows = [(p, 4096 * p, 0.35 + 0.05 * i) for i, p in enumerate((1, 2, 4, 8, 16))]
    pd.DataFrame(rows, columns=["cpus_per_task", "cells", "seconds"]).to_csv("w.csv", index=False)
    asked = ("predict", "w.csv", *LAW, "--cores", "1..16", "--cores-are", "cpus_per_task", "--at", "cells=65536")
    shown = evenly(*asked)
    assert (shown.code, "cells grew with cpus_per_task in all runs" in shown.err) == (2, True)


def test_weak_scaling_is_told_before_a_size_is_asked_for(evenly: Evenly, tmp_path: Path) -> None:
    path = tmp_path / "weak.csv"
    path.write_text("cores,cells,time_s\n16,5e5,9.9\n32,1e6,9.94\n64,2e6,10.2\n128,4e6,10.4\n256,8e6,10.5\n")
    printed = evenly("predict", path, "--cores", "16..512")
    assert printed.code == 2
    assert "cells grew with cores in all runs" in printed.err
    assert "--at cells" not in printed.err


def test_names_in_at_have_any_capitals_and_no_mark_of_evenly(evenly: Evenly, tmp_path: Path) -> None:
    path = tmp_path / "runs.csv"
    rows = [
        f"{machine},{n},{k * 100 / n + 3:.2f}" for machine, k in (("hawk", 1), ("juwels", 2)) for n in (4, 8, 16, 32)
    ]
    path.write_text("\n".join(["machine,Cores,time_s", *rows]))
    options = ("--parameters", "Cores,machine", "--method", "power-law", "--at", "machine=juwels")
    assert evenly("predict", path, *options, "--at", "cores=24").code == 0
    assert evenly("predict", path, *options, "--cores", "4..32").code == 0


def test_what_others_tell_needs_no_value(evenly: Evenly, tmp_path: Path) -> None:
    path = tmp_path / "runs.csv"
    rows = [f"{n // 48},{n},{100 / n + 3:.2f}" for n in (48, 96, 192, 384)]
    path.write_text("\n".join(["nodes,cores,time_s", *rows]))
    printed = evenly("predict", path, "--at", "nodes=4", "--at", "cores=192")
    assert "leave it out, the others tell it" in printed.err


def test_a_count_on_which_every_run_failed_is_not_recommended(evenly: Evenly) -> None:
    """A block of 64 doesn't fit on 8 cores: the law alone would recommend them."""
    rows = [
        (p, n, block, n * block / p / 100, "failed" if (p, block) == (8, 64) else "ok")
        for p in (1, 2, 4, 8) for n in (200, 500) for block in (16, 64)
    ]  # fmt: skip
    table = pd.DataFrame(rows, columns=["cores", "n", "block", "seconds", "status"])
    table.loc[table["status"] != "ok", "seconds"] = None
    table.to_csv("a.csv", index=False)
    asked = ("predict", "a.csv", *LAW, "--at", "n=500", "--at")
    found = evenly(*asked, "block=64", "--cores", "4,8,16")
    assert "8, 16 cores are not recommended: all runs there failed, or, where none was made, those with" in found.err
    assert "recommended: 4 cores" in found.out
    assert "8 ✗" in found.out
    assert [row["failed"] for row in evenly(*asked, "block=64", "--cores", "4,8", "--json").json["rows"]] == [
        False,
        True,
    ]
    late = evenly(*asked, "block=64", "--cores", "4,8", "--deadline", "1s")
    assert late.code == 1
    assert "Give more time, fewer steps, or more cores. 8 cores are not recommended: all runs there failed" in late.err
    more = evenly(*asked, "block=64", "--cores", "1..16")
    assert "the largest number looked at that has no ✗, where more still pay: " in more.out
    assert "more cores still pay at" not in more.out  # the reason says so
    meets = evenly(*asked, "block=64", "--cores", "1..16", "--deadline", "1h")
    assert "more cores still pay at 4, the largest number looked at that has no ✗" in meets.out
    assert "number looked at, " not in more.out
    alone = evenly(*asked, "block=64", "--cores", "8")
    assert alone.code == 1
    assert "on 8 cores, every run with these values failed, or every run near them: ask about other counts" in alone.err
    assert evenly("fit", "a.csv", *LAW, "-o", "a.evenly").code == 0
    saved = ("predict", "a.evenly", "--at", "n=500", "--at", "block=64")
    rows = evenly(*saved, "--at", "cores=4,8,16", "--json").json["predictions"]
    assert [row["failed"] for row in rows] == [False, True, True]
    assert "✗ all runs there, or at the nearest values that were run, failed" in (
        " ".join(evenly(*saved, "--at", "cores=8").out.split())
    )
    assert "8, 16 cores are not recommended" in evenly(*saved, "--cores", "4,8,16").err
    fine = evenly(*asked, "block=16", "--cores", "4,8")
    assert ("recommended: 8 cores" in fine.out, "not recommended" in fine.err) == (True, False)
    assert ("recommended: 8 cores" in fine.out, "with these values failed" in fine.err) == (True, False)


def test_a_label_that_no_run_has_gets_the_mean_over_the_others_and_this_is_said(evenly: Evenly) -> None:
    cases = zip(("alpine", "baroque", "castle", "delta"), (50, 90, 100, 150), strict=True)
    rows = [(case, cores, seconds / cores) for case, seconds in cases for cores in (1, 2, 4, 8, 16)]
    pd.DataFrame(rows, columns=["case", "cores", "seconds"]).to_csv("cases.csv", index=False)
    asked = ("predict", "cases.csv", "--method", "log-quadratic", "--at", "cores=4", "--at")
    shown = evenly(*asked, "case=zebra,delta")
    assert shown.code == 0, shown.err
    assert "no run has case = zebra: the mean over the 4 labels stands for it" in shown.err
    assert re.search(r"zebra +4 +22\.\d* s\*", shown.out)
    assert re.search(r"delta +4 +37\.\d* s ", shown.out)
    refused = evenly(*asked, "case=zebra", "--unseen", "refuse")
    assert refused.code == 2
    assert "must be one of alpine, baroque, castle, delta" in refused.err
    slip = evenly(*asked, "case=alpin")
    assert slip.code == 2
    assert "did you mean 'alpine'?" in slip.err
    assert evenly(*asked, "case=alpin", "--unseen", "mean").code == 0
    assert evenly("fit", "cases.csv", "--method", "log-quadratic", "--unseen", "refuse", "-o", "m.evenly").code == 0
    assert evenly("predict", "m.evenly", "--at", "cores=4", "--at", "case=zebra").code == 2
    assert evenly("predict", "m.evenly", "--at", "cores=4", "--at", "case=zebra", "--unseen", "mean").code == 0
    counted = evenly("predict", "cases.csv", "--method", "log-quadratic", "--cores", "1..16", "--at", "case=zebra")
    assert "case = zebra, learned on alpine, baroque, castle, delta: their mean stands for it" in counted.out
    shared = evenly("allocate", "cases.csv", "--method", "log-quadratic", "--cores", "8", "--at", "case=zebra")
    assert shared.code == 0, shared.err
    assert "their mean stands for it" in " ".join(shared.out.split())
