"""What starts a plan: read by a real mpirun, and written with what each launcher needs."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections import Counter
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import evenly
from evenly.allocation.start_script import start_script
from evenly.errors import ExtrapolationWarning, InputError
from evenly.report.tables.plan import plan_table

NAMES = ("inner", "outer")
#: Says its name, its number of ranks in the world, and where the world ends for it.
RANK = """
import os, sys
from mpi4py import MPI
world = MPI.COMM_WORLD
names = world.allgather(sys.argv[1])
os.write(1, f"{sys.argv[1]} {names.count(sys.argv[1])} {world.size}\\n".encode())
"""


def plan_of(*, cores: int = 6, layout: str = "parallel", **more: Any) -> evenly.Plan:
    solvers = {"inner": lambda p: 60 / p, "outer": lambda p: 30 / p}
    return evenly.allocate(solvers, cores=cores, layout=layout, **more)


@pytest.fixture
def programs(tmp_path: Path) -> dict[str, str]:
    if shutil.which("mpirun") is None or subprocess.run(["/usr/bin/python3", "-c", "import mpi4py"]).returncode:
        if os.environ.get("EVENLY_NEEDS_MEEP"):
            pytest.fail("mpirun and mpi4py are needed here")
        pytest.skip("needs mpirun, and mpi4py of the system's Python")
    (tmp_path / "rank.py").write_text(RANK)
    return {name: f"/usr/bin/python3 {tmp_path / 'rank.py'} {name}" for name in NAMES}


def started(script: str, folder: Path) -> Counter[str]:
    """Run a script here, whose ranks may share cores, and return how often each line was printed."""
    (folder / "start.sh").write_text(script + "\n")
    allowed = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
    allowed |= {"OMPI_MCA_rmaps_base_oversubscribe": "1", "OMPI_MCA_hwloc_base_binding_policy": "none"}
    outside = {name: value for name, value in os.environ.items() if not name.startswith(("SLURM", "PBS"))}
    done = subprocess.run(
        ["bash", "start.sh"], cwd=folder, env=outside | allowed, capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 0, done.stderr
    return Counter(map(str.strip, done.stdout.splitlines()))


def test_mpirun_starts_both_in_one_world(programs: dict[str, str], tmp_path: Path) -> None:
    found = started(start_script(plan_of(), "mpirun", programs), tmp_path)
    assert found == {"inner 4 6": 4, "outer 2 6": 2}


def test_precice_has_a_world_for_each(programs: dict[str, str], tmp_path: Path) -> None:
    found = started(start_script(plan_of(), "precice", programs), tmp_path)
    assert found == {"inner 4 4": 4, "outer 2 2": 2}


def test_precice_has_a_world_for_each_where_threads_differ() -> None:
    lines = start_script(plan_of(), "precice", {"inner": "./a case.xml", "outer": "./b"}, {"inner": 2}).splitlines()
    assert lines[2:5] == ["#SBATCH --ntasks=2 --cpus-per-task=2", "#SBATCH hetjob", "#SBATCH --ntasks=2"]
    assert lines[-4:] == [
        "srun --het-group=0 --ntasks=2 --cpus-per-task=2 env OMP_NUM_THREADS=2 ./a case.xml &",
        "srun --het-group=1 --ntasks=2 --cpus-per-task=1 ./b &",
        "wait -n",
        "wait -n",
    ]


def test_precice_ends_if_a_participant_fails(programs: dict[str, str], tmp_path: Path) -> None:
    wrong = programs | {"inner": "/bin/false", "outer": "/bin/sleep 100"}
    with pytest.raises(AssertionError, match=r"mpirun|exit"):
        started(start_script(plan_of(), "precice", wrong), tmp_path)


def test_slurm_has_a_part_for_each() -> None:
    lines = start_script(plan_of(), "slurm", {"inner": "./a case.xml", "outer": "./b"}).splitlines()
    assert lines[2] == "#SBATCH --ntasks=6"
    assert lines[5:] == ["0-3 ./a case.xml", "4-5 ./b", "END", 'srun --ntasks=6 --multi-prog "$programs"']
    lines = start_script(plan_of(), "slurm", {"inner": "./a case.xml", "outer": "./b"}, {"inner": 2}).splitlines()
    first = "--het-group=0 --ntasks=2 --cpus-per-task=2 env OMP_NUM_THREADS=2 ./a case.xml"
    assert lines[0] == "#!/bin/bash"
    assert lines[2:] == [
        "#SBATCH --ntasks=2 --cpus-per-task=2",
        "#SBATCH hetjob",
        "#SBATCH --ntasks=2",
        f"srun {first} : --het-group=1 --ntasks=2 --cpus-per-task=1 ./b",
    ]
    machine = evenly.Machine("m", cores_per_node=20, whole_nodes=True)
    plan, commands = plan_of(cores=90, machine=machine), dict.fromkeys(NAMES, "./a")
    lines = start_script(plan, "slurm", commands).splitlines()
    assert lines[2] == "#SBATCH --nodes=5 --ntasks=90 --ntasks-per-node=18 --exclusive"
    lines = start_script(plan, "slurm", commands, {"outer": 2}).splitlines()
    assert lines[2] == "#SBATCH --nodes=3 --ntasks=60 --ntasks-per-node=20 --exclusive"
    assert lines[4] == "#SBATCH --nodes=2 --ntasks=15 --cpus-per-task=2 --exclusive"
    lines = start_script(plan_of(cores=75, machine=machine), "slurm", commands, {"outer": 5}).splitlines()
    assert lines[2] == "# parts have nodes of their own: 5 nodes, and not 4"
    assert lines[3].startswith("#SBATCH --nodes=3 --ntasks=50")


def test_tasks_with_threads_are_bound_to_cores_of_their_own() -> None:
    programs = {"inner": "./a", "outer": "./b"}
    line = start_script(plan_of(), "mpirun", programs, {"inner": 2, "outer": 2}).splitlines()[1]
    assert line == ("mpirun --map-by slot:PE=2 -n 2 env OMP_NUM_THREADS=2 ./a : -n 1 env OMP_NUM_THREADS=2 ./b")
    assert "mpirun --bind-to none -n 4" in start_script(plan_of(), "precice", programs)


def test_cesm_has_tasks_threads_and_first_tasks() -> None:
    times = {"lnd": lambda p: 10 / p, "ice": lambda p: 30 / p, "atm": lambda p: 80 / p, "ocn": lambda p: 60 / p}
    plan = evenly.allocate(
        times, cores=120, layout="max(max(lnd, ice) + atm, ocn)", limits={name: {"multiple": 2} for name in times}
    )
    first, *lines = start_script(plan, "cesm", None, dict.fromkeys(times, 2)).splitlines()[1:]
    assert "other components keep their tasks" in first
    assert [line.replace(",NTHRDS_ICE=1", ",NTHRDS_ICE=2") for line in lines] == start_script(
        plan, "cesm", None, dict.fromkeys(times, 2), {"ice": 2}
    ).splitlines()[2:]
    told = {line.split("NTASKS_")[1][:3]: dict(p.split("=") for p in line.split()[1].split(",")) for line in lines}
    for name, values in told.items():
        assert int(values[f"NTASKS_{name}"]) * 2 == plan.cores[name.lower()]
        assert values[f"NTHRDS_{name}"] == "2"
    assert told["ATM"]["ROOTPE_ATM"] == told["LND"]["ROOTPE_LND"] == "0"
    assert int(told["ICE"]["ROOTPE_ICE"]) == plan.cores["lnd"] // 2
    assert int(told["OCN"]["ROOTPE_OCN"]) == max(plan.cores["atm"], plan.cores["lnd"] + plan.cores["ice"]) // 2
    with pytest.raises(InputError, match=r"CIME then keeps 2 cores for each of .* tasks"):
        start_script(plan, "cesm", None, {"atm": 2})
    with pytest.raises(InputError, match="share tasks have different threads"):
        start_script(plan, "cesm", None, {"atm": 2}, {"atm": 2})


@pytest.mark.parametrize(
    ("start", "programs", "threads", "layout", "reason"),
    [
        ("mpirun", {"inner": "./a"}, {}, "parallel", "the program of outer isn't known"),
        ("mpirun", {"inner": "./a", "outer": "./b", "iner": "./c"}, {}, "parallel", "did you mean"),
        ("mpirun", {"inner": "./a", "outer": "./b"}, {"outer": 4}, "parallel", "no multiple of the 4 cores"),
        ("slurm", {"inner": "./a", "outer": "./b"}, {}, "inner + outer", "take turns on the same cores"),
        ("mpirun", {"inner": "./a", "outer": "./b"}, {"inner": 2}, "parallel", "different numbers of threads"),
        ("mpirun", {"inner": "cd x && ./a", "outer": "./b"}, {}, "parallel", "must be one command"),
        ("slurm", {"inner": "mpirun ./a", "outer": "./b"}, {}, "parallel", "leave out mpirun"),
        ("precice", {"inner": "./a > log", "outer": "./b"}, {}, "parallel", "must be one command"),
        ("slurm", {"inner": "./a --format %05d", "outer": "./b"}, {}, "parallel", "in place of % .* into a script"),
        ("ssh", {}, {}, "parallel", "must be one of slurm, mpirun"),
    ],
)
def test_what_cannot_be_started_is_refused(
    start: Any, programs: dict[str, str], threads: dict[str, int], layout: str, reason: str
) -> None:
    with pytest.raises(InputError, match=reason):
        start_script(plan_of(layout=layout), start, programs, threads)


def test_a_step_is_called_what_it_simulates() -> None:
    script = start_script(plan_of(step_days=365.0), "mpirun", dict.fromkeys(NAMES, "./a"))
    assert "a simulated year takes 15 s" in script


def test_a_plan_of_which_nothing_is_known_is_not_written() -> None:
    near = pd.DataFrame({"cores": [1000, 1100, 1200], "seconds": [10.0, 9.7, 9.0]})
    model = evenly.fit(near, parameters=["cores"], method="power-law")
    with pytest.warns(ExtrapolationWarning):
        plan = evenly.allocate(
            {"inner": model, "outer": {1: 1e-6}}, cores=10**9, limits={"inner": {"allowed": [9 * 10**8]}}
        )
    assert plan.is_guess
    with pytest.raises(InputError, match="the plan is a guess"):
        start_script(plan, "mpirun", dict.fromkeys(NAMES, "./a"))


def test_a_plan_far_below_the_measured_counts_that_may_take_any_time_is_not_written() -> None:
    model = evenly.fit(
        pd.DataFrame({"cores": [64, 80, 96, 112], "seconds": [10.0, 9.7, 8.0, 9.0]}), parameters=["cores"]
    )
    with pytest.warns(ExtrapolationWarning):
        plan = evenly.allocate({"inner": model, "outer": {1: 1.0}}, cores=3, limits={"inner": {"allowed": [2]}})
    assert plan.interval is not None
    assert 10 < plan.interval[1] / plan.interval[0] < 1e4
    with pytest.raises(InputError, match="'inner' is extrapolated"):
        start_script(plan, "mpirun", dict.fromkeys(NAMES, "./a"))
    assert str(plan_table(plan).caption).startswith("this plan is a guess: 'inner' is extrapolated")


def test_names_can_not_add_lines() -> None:
    table = {1: 2.0, 2: 1.0}
    plan = evenly.allocate({"a\nrm -rf x": table, "b": table}, cores=4)
    for start in ("slurm", "precice", "mpirun"):
        lines = start_script(plan, start, dict.fromkeys(plan.cores, "./a")).splitlines()
        assert not [line for line in lines if line.startswith("rm")]
    with pytest.raises(InputError, match="no component of CESM"):
        start_script(plan, "cesm")


@pytest.mark.parametrize(
    ("cores", "columns", "each"),
    [
        ("ranks * threads", {"ranks": [1, 2, 4], "threads": [3, 3, 3]}, 3),
        ("nodes * tasks_per_node", {"nodes": [1, 2, 4], "tasks_per_node": [8, 8, 8]}, 1),
        ("nodes * tasks_per_node * 2", {"nodes": [1, 2, 4], "tasks_per_node": [8, 8, 8]}, 2),
        ("cores", {"cores": [1, 2, 4]}, 1),
        ("nodes * 48", {"nodes": [1, 2, 4]}, None),
    ],
)
def test_cores_of_each_task(cores: str, columns: dict[str, list[int]], each: int | None) -> None:
    table = pd.DataFrame(columns).assign(seconds=[8.0, 4.0, 2.0])
    model = evenly.fit(evenly.Runs.from_frame(table, list(columns)), method="power-law")
    found = evenly.by_cores(model, cores)
    if each is None:
        with pytest.raises(InputError, match=r"say --constant ranks_per_node=48 --cores-are 'nodes \* ranks_per_node'"):
            _ = found.cores_per_task
    else:
        assert found.cores_per_task == each
