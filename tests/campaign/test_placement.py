"""Where runs of a study go: settings of the study, of a machine file, and of the command line."""

from __future__ import annotations

from pathlib import Path

import pytest

from evenly.campaign.placement import Placement
from evenly.campaign.program import Program
from evenly.campaign.study import Study
from evenly.errors import InputError
from evenly.launch import Resources, Task
from evenly.launch.slurm import options_of
from evenly.machine.machine import Machine
from tests.cli.conftest import Evenly
from tests.cli.conftest import evenly as evenly

STUDY = """
[program]
command = "echo took {n} {ranks}"
timeout_s = 90
[launcher]
ranks = "{ranks}"
nodes = "{ranks / 2}"
[parameters]
n = [1, 2]
ranks = [2, 4]
[time]
pattern = 'took (\\d+)'
unit = 's'
"""
CLUSTER = """
name = "cluster"
[launcher]
name = "slurm"
partition = "fat"
options = { constraint = "skylake", contiguous = true }
setup = ["module load gcc"]
"""


def test_what_a_run_asks_for() -> None:
    placed = Placement(nodes="{ranks / 32}", cores_per_rank=2, time_limit="1:30:00", options={"constraint": "{kind}"})
    found = placed.resources({"ranks": 64, "kind": "fast"})
    assert found == Resources(nodes=2, cores_per_rank=2, time_limit_s=5400, options={"constraint": "fast"})
    task = Task(("x",), "m", ranks=64, resources=found)
    assert options_of(task) == [
        "--no-requeue", "--ntasks=64", "--nodes=2", "--cpus-per-task=2", "--time=90", "--constraint=fast",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("given", "reason"),
    [
        ({"concurrent": 0}, "whole number above 0"),
        ({"time_limit": "12:30"}, "1:30:00"),
        ({"time_limit": "soon"}, "1:30:00"),
        ({"setup": "module load gcc"}, "list of lines"),
        ({"options": {"--constraint": "x"}}, "without dashes"),
        ({"options": {"array": "1-3"}}, "a job of its own"),
        ({"options": {"ntasks": "4"}}, "setting of its own .*: ranks"),
        ({"exclusive": 1}, "true or false"),
    ],
)
def test_wrong_settings_are_named(given: dict[str, object], reason: str) -> None:
    with pytest.raises(InputError, match=reason):
        Placement(**given)  # type: ignore[arg-type]


def test_a_count_that_is_no_whole_number_is_named() -> None:
    with pytest.raises(InputError, match=r"nodes must be a whole number.*gives 1.5"):
        Placement(nodes="{ranks / 2}").resources({"ranks": 3})


def test_a_study_goes_where_the_machine_says(evenly: Evenly) -> None:
    Path("s.toml").write_text(STUDY)
    Path("cluster.toml").write_text(CLUSTER)
    shown = evenly("measure", "s.toml", "--machine", "cluster.toml", "--plan", "--json").json
    command = next(one["command"] for one in shown if one["configuration"] == {"n": 2, "ranks": 4})
    assert command == (
        "sbatch --no-requeue --ntasks=4 --nodes=2 --time=3 --partition=fat --constraint=skylake --contiguous "
        "echo took 2 4"
    )
    here = evenly("measure", "s.toml", "--machine", "cluster.toml", "--launcher", "local", "--plan", "--json").json
    assert {one["command"] for one in here} == {f"({r} ranks) echo took {n} {r}" for n in (1, 2) for r in (2, 4)}
    assert Machine.from_dict(Machine.load("cluster.toml").to_dict()) == Machine.load("cluster.toml")
    Machine.load("cluster.toml").save("again.toml")
    assert Machine.load("again.toml") == Machine.load("cluster.toml")


def test_what_contradicts_is_asked(evenly: Evenly) -> None:
    Path("s.toml").write_text(STUDY)
    Path("cluster.toml").write_text(CLUSTER + "nodes = 3\n")
    shown = evenly("measure", "s.toml", "--machine", "cluster.toml", "--plan")
    assert shown.code == 2
    assert "the study says nodes = '{ranks / 2}', and cluster.toml says 3: leave one of them out" in shown.err
    Path("plain.toml").write_text("name = 'x'\n")
    assert "add a table [launcher]" in evenly("measure", "s.toml", "--machine", "plain.toml").err
    alone = evenly("measure", "s.toml")
    assert alone.code == 2
    assert "the launcher 'mpi' has no use for nodes" in alone.err
    assert not list(Path().glob("*.db"))


def test_launcher_and_ranks_stand_in_one_place(tmp_path: Path) -> None:
    path = tmp_path / "s.toml"
    path.write_text(STUDY.replace("timeout_s", "launcher = 'mpi'\ntimeout_s"))
    with pytest.raises(InputError, match=r"launcher stands in \[program\], beside a table"):
        Study.load(path)
    assert Program("x", launcher="mpi", ranks=2).with_launcher("slurm").ranks == 2
