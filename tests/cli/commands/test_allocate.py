"""``evenly allocate``: only cores are assigned, never another parameter."""

from __future__ import annotations

import shutil
from pathlib import Path

import pandas as pd
import pytest

from tests.cli.conftest import Evenly
from tests.readers.test_cesm_layout import hybrid, timing

LAW = ("--method", "power-law")
ARE = ("--cores-are", "nodes * tasks_per_node")


@pytest.fixture
def nodes(evenly: Evenly) -> str:
    rows = [(n, t, g, g / (n * t)) for n in (1, 2, 4, 8) for t in (24, 48) for g in (1000, 8000)]
    pd.DataFrame(rows, columns=["nodes", "tasks_per_node", "grid", "seconds"]).to_csv("nodes.csv", index=False)
    return "nodes.csv"


def test_another_parameter_is_never_taken_as_cores(evenly: Evenly, nodes: str) -> None:
    # The grid was once assigned as cores: "1 core, 13.81 ms".
    asked = ("--parameters", "nodes,tasks_per_node,grid", "--at", "nodes=4", "--at", "tasks_per_node=48")
    shown = evenly("allocate", nodes, *LAW, *asked, "--cores", "300")
    assert shown.code == 2
    assert "--cores-are 'nodes * tasks_per_node'" in shown.err
    shown = evenly("allocate", nodes, *LAW, *asked, *ARE, "--cores", "300")
    assert shown.code == 2
    assert "grid" in shown.err
    assert evenly("fit", nodes, *LAW, "--save", "nodes.evenly").code == 0
    shown = evenly("allocate", "nodes.evenly", "--at", "nodes=4 tasks_per_node=48", "--cores", "300")
    assert shown.code == 2
    assert "--cores-are" in shown.err


def test_cores_made_of_nodes_and_tasks_are_whole_nodes_and_cost_what_they_take(evenly: Evenly, nodes: str) -> None:
    asked = (*ARE, "--at", "grid=8000", "--at", "tasks_per_node=48", "--cores", "300", "--json")
    found = evenly("allocate", nodes, *LAW, *asked)
    assert found.code == 0, found.err
    assert found.json["cores"] == {"nodes": 288}
    assert found.json["seconds"] == pytest.approx(8000 / 288, rel=1e-3)
    assert found.json["core_hours"] == pytest.approx(8000 / 3600, rel=1e-3)
    both = ("--at", "grid=8000 tasks_per_node=48 nodes=4")
    assert "leave one of them open" in evenly("allocate", nodes, *LAW, *ARE, *both, "--cores", "300").err
    few = evenly("allocate", nodes, *LAW, *ARE, "--at", "grid=8000 tasks_per_node=48", "--cores", "40")
    assert few.code == 1
    assert "tasks_per_node = 48" in few.err


def test_a_column_of_cores_is_taken_wherever_it_stands(evenly: Evenly) -> None:
    rows = [(g, p, g / p) for g in (10, 20) for p in (1, 2, 4, 8)]
    for name in ("cores", "ranks"):
        pd.DataFrame(rows, columns=["grid", name, "seconds"]).to_csv("a.csv", index=False)
        open_ = evenly("allocate", "a.csv", *LAW, "--cores", "8")
        assert open_.code == 2
        assert "--at grid=…" in open_.err.replace("'", "")
        assert "--at grid=… --at" not in open_.err.replace("'", "")
        found = evenly("allocate", "a.csv", *LAW, "--cores", "8", "--at", "grid=20", "--json")
        assert found.json["seconds"] == pytest.approx(2.5, rel=1e-3)


def test_constants_keep_their_value(evenly: Evenly) -> None:
    rows = [(8, "cg", p, 80 / p) for p in (1, 2, 4, 8)]
    pd.DataFrame(rows, columns=["level", "method", "cores", "seconds"]).to_csv("a.csv", index=False)
    found = evenly("allocate", "a.csv", *LAW, "--parameters", "level,method,cores", "--cores", "8", "--json")
    assert found.code == 0, found.err
    assert found.json["seconds"] == pytest.approx(10, rel=1e-3)


def test_ranks_taken_as_cores_are_said(evenly: Evenly) -> None:
    pd.DataFrame([(p, 8 / p) for p in (1, 2, 4, 8)], columns=["np", "seconds"]).to_csv("a.csv", index=False)
    assert "a: cores: one for each of np" in evenly("allocate", "a.csv", *LAW, "--cores", "8").err
    found = evenly("allocate", "a.csv", *LAW, "--cores", "8", "--cores-are", "np * 2", "--json")
    assert found.json["cores"] == {"a": 8}
    assert found.json["seconds"] == pytest.approx(2, rel=1e-3)


def test_memory_is_bounded_on_cores_of_several_parameters(evenly: Evenly) -> None:
    rows = [(n, t, 960 / (n * t), 64 / (n * t)) for n in (1, 2, 4, 8) for t in (4, 8)]
    pd.DataFrame(rows, columns=["nodes", "tasks_per_node", "seconds", "peak_memory_GiB"]).to_csv("a.csv", index=False)
    asked = (*ARE, "--at", "tasks_per_node=8", "--memory", "17GiB", "--cores-per-node", "8")
    enough = evenly("allocate", "a.csv", *LAW, *asked, "--cores", "32", "--json")
    assert enough.code == 0, enough.err
    # Eight ranks of n have 8 · 64 / n GiB on a node: 17 hold those of 32.
    assert evenly("allocate", "a.csv", *LAW, *asked, "--cores", "24").code == 1


def test_who_waits_for_whom_is_said(evenly: Evenly, pulse: Path) -> None:
    """Without a layout and a preCICE configuration, that solvers run side by side is an assumption."""
    told = "taken to run side by side, max(inner, outer): --layout says otherwise"
    assert told in evenly("allocate", pulse, "--cores", "560").err
    assert told not in evenly("allocate", pulse, "--cores", "560", "--layout", "parallel").err


@pytest.mark.parametrize("option", ["--current", "--dof"])
def test_a_comparison_is_refused_for_several_numbers_of_cores(evenly: Evenly, option: str) -> None:
    for name in ("a", "b"):
        pd.DataFrame({"cores": [1, 2, 4], "seconds": [4.0, 2.0, 1.0]}).to_csv(f"{name}.csv", index=False)
    shown = evenly("allocate", "a.csv", "b.csv", *LAW, "--cores", "8,16", option, "a=4 b=4")
    assert shown.code == 2
    assert "give --cores one number" in shown.err


def _machine(**facts: object) -> None:
    Path("m.toml").write_text("".join(f"{name} = {value!r}\n" for name, value in {"name": "m", **facts}.items()))


def test_more_cores_than_the_machine_has_are_refused(evenly: Evenly) -> None:
    pd.DataFrame({"cores": [1, 2, 4, 8], "seconds": [8.0, 4.0, 2.0, 1.0]}).to_csv("a.csv", index=False)
    _machine(nodes=2, cores_per_node=32)
    assert evenly("allocate", "a.csv", *LAW, "--machine", "m.toml", "--cores", "64").code == 0
    shown = evenly("allocate", "a.csv", *LAW, "--machine", "m.toml", "--cores", "200")
    assert (shown.code, "the machine m has 64 cores, but got 200" in shown.err) == (2, True)


def test_the_memory_of_the_machine_is_a_bound(evenly: Evenly) -> None:
    table = pd.DataFrame({"cores": [8, 16, 32, 64], "seconds": [8.0, 4.0, 2.0, 1.0]})
    table["peak_memory_GiB"] = 64 / table["cores"]
    table.to_csv("a.csv", index=False)
    _machine(cores_per_node=8, memory_bytes_per_node=17 * 2.0**30)
    # Eight ranks of n have 8 · 64 / n GiB on a node: 17 hold those of 32.
    asked = ("allocate", "a.csv", *LAW, "--machine", "m.toml")
    assert evenly(*asked, "--cores", "32").code == 0
    assert evenly(*asked, "--cores", "24").code == 1
    table[["cores", "seconds"]].to_csv("a.csv", index=False)
    assert (
        "memory of m.toml's nodes isn't compared: peak_memory was not measured" in evenly(*asked, "--cores", "24").err
    )


def test_a_size_needs_a_unit(evenly: Evenly) -> None:
    pd.DataFrame({"cores": [1, 2, 4], "seconds": [4.0, 2.0, 1.0]}).to_csv("a.csv", index=False)
    shown = evenly("allocate", "a.csv", *LAW, "--cores", "4", "--memory", "24", "--cores-per-node", "4")
    assert (shown.code, "a size is a number with B" in shown.err) == (2, True)


def test_the_layout_that_is_asked_for_has_the_iterations_that_were_logged(evenly: Evenly, samples: Path) -> None:
    for name in ("Inner", "Outer"):
        shutil.copytree(samples / "precice-v3" / "serial-implicit" / "2_2" / name, Path("run", name))
    asked = evenly("allocate", "run", "--cores", "8")
    assert (asked.code, "'max(Inner, Outer)'" in asked.err) == (2, True)
    log = ["TimeWindow TotalIterations Iterations Convergence", *(f"{w} {3 * w} 3 1" for w in range(1, 21))]
    Path("run/Inner/precice-Inner-iterations.log").write_text("\n".join([*log, ""]))
    asked = evenly("allocate", "run", "--cores", "8")
    assert (asked.code, "'3 * max(Inner, Outer)'" in asked.err) == (2, True)
    assert "(3 iterations of a time window were logged)" in asked.err


def test_a_cut_rank_file_beside_a_database_changes_nothing(evenly: Evenly, samples: Path) -> None:
    for run in ("2_1", "2_2", "4_2"):
        shutil.copytree(samples / "precice-v3" / "parallel-explicit" / run, Path("case", run))
    asked = ("allocate", "case", "--cores", "5", "--method", "power-law", "--json")
    intact = evenly(*asked)
    ranks = Path("case", "2_2", "Outer", "precice-profiling", "Outer-1-2.txt")
    ranks.chmod(0o644)
    ranks.write_bytes(ranks.read_bytes()[: ranks.stat().st_size // 2])
    found = evenly(*asked)
    assert (found.code, found.json["cores"]) == (0, intact.json["cores"]), found.err


def test_sorted_cases_of_precice_use_their_logs_and_ask_for_the_layout(evenly: Evenly, samples: Path) -> None:
    """Runs that `evenly sort` had sorted were taken to run side by side, without the iterations that were logged."""
    source = samples / "precice-v3" / "serial-implicit" / "2_2"
    for name in ("Inner", "Outer"):
        shutil.copytree(source / name, Path("case", "2_2", name))
    sections = "".join(f"[{name}]\nevents={name}/precice-profiling\n" for name in ("Inner", "Outer"))
    Path("case/case.ini").write_text(f"[DEFAULT]\nd=1\n{sections}")
    asked = evenly("allocate", "case", "--cores", "8")
    assert (asked.code, "'max(Inner, Outer)'" in asked.err) == (2, True)
    log = ["TimeWindow TotalIterations Iterations Convergence", *(f"{w} {3 * w} 3 1" for w in range(1, 21))]
    Path("case/2_2/precice-Inner-iterations.log").write_text("\n".join([*log, ""]))
    asked = evenly("allocate", "case", "--cores", "8")
    assert "(3 iterations of a time window were logged)" in asked.err


def test_participants_that_were_renamed_are_asked_about(evenly: Evenly, samples: Path) -> None:
    source = samples / "precice-v3"
    for name in ("Inner", "Outer"):
        shutil.copytree(source / "serial-implicit" / "2_2" / name, Path("case", "run-1", name))
        shutil.copytree(source / "serial-explicit" / "2_2" / name, Path("case", "run-2", f"{name}Solver"))
        for file in Path("case", "run-2", f"{name}Solver", "precice-profiling").iterdir():
            file.write_text(file.read_text().replace(f'"{name}"', f'"{name}Solver"'))
            file.rename(file.with_name(file.name.replace(name, f"{name}Solver")))
    asked = evenly("allocate", "case", "--cores", "8")
    said = " ".join(asked.err.split())
    assert (asked.code, "Inner, Outer in run-1; InnerSolver, OuterSolver in run-2" in said) == (2, True)
    assert "--only Inner,Outer" in said


def test_timing_files_of_cesm_tell_their_layout_threads_and_units(evenly: Evenly) -> None:
    for scale in (1, 2, 4):
        Path(f"cesm_timing.{scale}").write_text(hybrid(scale, threads=2))
    found = evenly("allocate", ".", "--cores", "320", *LAW)
    assert found.code == 0, found.err
    assert "layout max(max(lnd, ice) + cpl + atm, ocn), from root_pe in the timing files" in found.err
    assert "SYPD" in found.out
    told = evenly("allocate", ".", "--cores", "320", *LAW, "--json").json
    assert all(count % 2 == 0 for count in told["cores"].values())
    assert told["simulated_years_per_day"] == pytest.approx(86400 / 365 / told["seconds"])
    assert told["core_hours_per_simulated_year"] == pytest.approx(365 * told["core_hours"])
    some = evenly("allocate", ".", "--cores", "320", *LAW, "--only", "atm,ocn")
    assert (some.code, "say with --layout how these wait" in some.err) == (2, True)
    Path("cesm_timing.1").write_text(hybrid(1, total=1200))
    asked = evenly("allocate", ".", "--cores", "320", *LAW)
    assert (asked.code, "how the components wait for each other is open" in asked.err) == (2, True)


def test_what_is_in_no_component_of_cesm_is_part_of_the_answer(evenly: Evenly) -> None:
    """A tenth of TOT Run Time is the exchange of data: the plan tells what a simulated day takes, not its parts."""
    found = []
    for share in (0.9, 1.0):
        for scale in (1, 2, 4, 8):
            Path(f"cesm_timing.{scale}").write_text(hybrid(scale, total=630 / scale / share))
        found.append(evenly("allocate", ".", "--cores", "160", *LAW, "--json").json)
    with_it, without = found
    assert with_it["seconds"] / without["seconds"] == pytest.approx(1 / 0.9, rel=0.01)
    assert with_it["interval_seconds"][0] > without["seconds"]
    Path("cesm_timing.1").write_text(hybrid(1, total=630 / 0.9))
    told = evenly("allocate", ".", "--cores", "160", *LAW)
    assert "as TOT Run Time of 4 runs tells: it has what is in no component" in " ".join(told.out.split())
    other = evenly("allocate", ".", "--cores", "160", *LAW, "--layout", "max(lnd + ice + atm + cpl, ocn)")
    assert "isn't in the times: TOT Run Time is longer" in other.err


def test_the_layout_of_root_pe_may_be_told_in_another_order(evenly: Evenly) -> None:
    """TOT Run Time belongs to the layout whoever tells it, also where the components make less than is believed."""
    head, rest = hybrid(1, total=630 / 0.8).split("\n", 1)
    Path("cesm_timing.1").write_text(f"{head}\n  Machine : derecho\n{rest}")
    for scale in (2, 4, 8):
        Path(f"cesm_timing.{scale}").write_text(hybrid(scale, total=630 / scale / 0.8))
    asked = ("allocate", ".", "--cores", "160", *LAW)
    assert "is open" in evenly(*asked).err
    told = evenly(*asked, "--layout", "max(ocn, cpl + max(ice, lnd) + atm)")
    assert "as TOT Run Time of 4 runs tells: it has what is in no component" in " ".join(told.out.split())
    assert "of the machine derecho; times are the means per simulated day" in " ".join(told.err.split())
    whole = evenly(*asked, "--layout", "max(ocn, cpl + max(ice, lnd) + atm)", "--json").json
    for scale in (1, 2, 4, 8):
        Path(f"cesm_timing.{scale}").write_text(hybrid(scale, total=630 / scale))
    without = evenly(*asked, "--json").json
    assert whole["seconds"] / without["seconds"] == pytest.approx(1 / 0.8, rel=0.01)


def test_timing_files_of_two_grids_are_asked_about(evenly: Evenly) -> None:
    for scale in (1, 2, 4):
        for grid, factor in (("f09", 1.0), ("f05", 4.0)):
            head, rest = hybrid(scale / factor).split("\n", 1)
            Path(f"cesm_timing.{grid}.{scale}").write_text(f"{head}\n  grid : {grid}\n{rest}")
    asked = evenly("allocate", ".", "--cores", "320", *LAW)
    assert asked.code == 2
    assert "the timing files have different grids, so that their times can't be compared (f05 in" in asked.err
    assert "-O fields=grid, and say which one is asked, as in --at 'grid=f05'" in asked.err
    assert evenly("fit", ".", *LAW).code == 2
    told = evenly("allocate", ".", "--cores", "320", *LAW, "-O", "fields=grid", "--at", "grid=f09", "--json").json
    for path in Path().glob("*.f05.*"):
        path.unlink()
    assert told["seconds"] == pytest.approx(
        evenly("allocate", ".", "--cores", "320", *LAW, "--json").json["seconds"], 0.2
    )


def test_files_of_components_that_differ_by_a_number_are_two_solvers(evenly: Evenly) -> None:
    for name, work in (("comp1", 100), ("comp2", 300)):
        pd.DataFrame([(p, work / p) for p in (1, 2, 4, 8)], columns=["nproc", "SYPD"]).to_csv(
            f"{name}.csv", index=False
        )
    for at in (1, 2):
        rows = [(p, 80 / p * (1 + 0.01 * at)) for p in (1, 2, 4, 8)]
        pd.DataFrame(rows, columns=["cores", "seconds"]).to_csv(f"run-{at}.csv", index=False)
    found = evenly("allocate", "comp1.csv", "comp2.csv", "--cores", "8", "--json", *LAW)
    assert set(found.json["cores"]) == {"comp1", "comp2"}
    told = evenly("fit", "run-1.csv", "run-2.csv", *LAW)
    assert "run-1.csv and run-2.csv differ by a number: taken as runs of the same program" in told.err


def test_what_starts_the_plan_is_printed(evenly: Evenly) -> None:
    for name, work in (("fluid", 300), ("solid", 100)):
        rows = [(p, work / p) for p in (1, 2, 4, 8)]
        pd.DataFrame(rows, columns=["ranks", "seconds"]).to_csv(f"{name}.csv", index=False)
    asked = ("allocate", "fluid.csv", "solid.csv", *LAW, "--cores", "8", "--write", "mpirun")
    open_ = evenly(*asked)
    assert (open_.code, "--program 'fluid=./fluid input'" in open_.err) == (2, True)
    programs = ("--program", "fluid=./fluid a b", "--program", "solid=./solid")
    found = evenly(*asked, *programs)
    assert found.out.splitlines()[-1] == "mpirun -n 6 ./fluid a b : -n 2 ./solid"
    told = evenly(*asked, *programs, "--json").json
    assert (told["cores"], told["script"].splitlines()[-1]) == ({"fluid": 6, "solid": 2}, found.out.splitlines()[-1])
    several = tuple("4,8" if word == "8" else word for word in asked)
    for words, reason in ((asked[:-2], "--program is for --write"), (several, "--write is for one plan")):
        refused = evenly(*words, *programs)
        assert (refused.code, reason in refused.err) == (2, True)


def with_threads(scale: int, threads: int, cores_of_16: int | None) -> str:
    """Return a timing file of 16 tasks with threads of the atmosphere's, on which ice runs, too, and 16 of the ocean's.

    The times are those of tasks * 4 cores of atmosphere and ice, and of tasks * 2 of the ocean.
    """
    n = 16 * scale
    rows = {"atm": (n, 4, 0, 400.0 / scale), "ice": (n, 1, 0, 100.0 / scale), "ocn": (n, threads, n, 450.0 / scale)}
    return timing(rows, 510.0 / scale, None if cores_of_16 is None else cores_of_16 * scale)


@pytest.mark.parametrize("cores", [None, 16 * 4 * 2])
def test_tasks_keep_as_many_cores_as_the_most_threads_where_cime_places_them(evenly: Evenly, cores: int | None) -> None:
    for scale in (1, 2, 4):
        Path(f"cesm_timing.{scale}").write_text(with_threads(scale, 2, cores))
    said = "" if cores else " doesn't tell otherwise"
    found = evenly("allocate", ".", "--cores", "240", *LAW)
    assert "each task keeps 4 cores, the most threads of any component" in found.err
    assert f"'pe count for cost estimate'{said}" in found.err
    told = evenly("allocate", ".", "--cores", "240", *LAW, "--write", "cesm", "--json").json
    # 32000 / p beside 28800 / p, as the ocean's tasks keep 4 cores instead of 2: 60 tasks of 4 cores.
    assert told["cores"] == {"atm": 128, "ice": 128, "ocn": 112}
    assert "NTASKS_OCN=28,NTHRDS_OCN=2,ROOTPE_OCN=32" in told["script"]


def test_threads_that_differ_between_timing_files_are_asked_about(evenly: Evenly) -> None:
    for scale in (1, 2, 4):
        Path(f"cesm_timing.{scale}").write_text(with_threads(scale, 1 + scale // 2, None))
    asked = evenly("allocate", ".", "--cores", "240", *LAW)
    assert (asked.code, "have different threads, and so have the timing files (ocn)" in asked.err) == (2, True)
    for scale in (1, 2, 4):
        Path(f"cesm_timing.{scale}").write_text(hybrid(scale, threads=1 + scale // 2))
    assert "the timing files have different threads" in evenly("allocate", ".", "--cores", "240", *LAW).err
    refused = evenly("allocate", ".", "--cores", "240", *LAW, "--write", "cesm")
    assert (refused.code, "so that those of the plan are open" in refused.err) == (2, True)


def test_threads_of_others_on_the_same_tasks_count(evenly: Evenly) -> None:
    """Ice has one thread on tasks that the atmosphere gives four, and keeps the cores of four."""
    for scale in (1, 2, 4):
        Path(f"cesm_timing.{scale}").write_text(with_threads(scale, 2, 16 * 4 + 16 * 2))
    found = evenly("allocate", ".", "--cores", "240", *LAW)
    assert "components keep this many times their own cores" in found.err
    told = evenly("allocate", ".", "--cores", "240", *LAW, "--write", "cesm", "--json").json
    # 25600 / p + 6400 / p on the same cores, beside 14400 / p; 2 % of a run is in no component.
    assert told["cores"] == {"atm": 164, "ice": 164, "ocn": 74}
    assert told["seconds"] == pytest.approx(1.02 * 32000 / 164 / 10, rel=0.005)
    lines = dict(
        line.split(",ROOTPE")[0].split(" ")[1].split(",") for line in told["script"].splitlines() if line[0] != "#"
    )
    assert lines == {"NTASKS_ATM=41": "NTHRDS_ATM=4", "NTASKS_ICE=41": "NTHRDS_ICE=1", "NTASKS_OCN=37": "NTHRDS_OCN=2"}
