"""A first study from a command line or a table: what varies, what stays, and that it can be run."""

from __future__ import annotations

import pandas as pd
import pytest

from evenly import Ordinal
from evenly.campaign.one_run import Runner
from evenly.campaign.proposal import study_of_command, study_of_runs
from evenly.errors import InputError
from evenly.runs.runs import Runs


@pytest.mark.parametrize(
    ("command", "proposed", "varied"),
    [
        ("mpirun -np 8 --bind-to core ./lmp -in in.lj", "mpirun -np {ranks} --bind-to core ./lmp -in in.lj",
         {"ranks": [1, 2, 4, 8]}),
        ("srun -n 6 gmx_mpi mdrun -s a.tpr -ntomp 4 -nsteps 1000",
         "srun -n {ranks} gmx_mpi mdrun -s a.tpr -ntomp {threads} -nsteps {nsteps}",
         {"ranks": [1, 2, 4, 6], "threads": [1, 2, 4], "nsteps": [250, 500, 1000]}),
        ("python solve.py N=128 --tol=1e-6 --order 3", "python solve.py N={N} --tol=1e-6 --order 3",
         {"N": [32, 64, 128]}),
        ("flux run -n 4 -c 2 ./solve 64", "flux run -n {ranks} -c 2 ./solve {value}",
         {"ranks": [1, 2, 4], "value": [16, 32, 64]}),
        ("./solve --port 8080 --rng-seed=42 -n 64", "./solve --port 8080 --rng-seed=42 -n {n}", {"n": [16, 32, 64]}),
        ("./solve --cells=64 --cells-y=64 64", "./solve --cells={cells} --cells-y={cells_y} {value}",
         {"cells": [16, 32, 64], "cells_y": [16, 32, 64], "value": [16, 32, 64]}),
    ],
)  # fmt: skip
def test_what_varies_in_a_command(command: str, proposed: str, varied: dict[str, list[int]]) -> None:
    study = study_of_command(command).check()
    assert study.program.command == proposed
    assert {name: list(kind.values()) for name, kind in study.space.parameters.items()} == varied  # type: ignore[arg-type]
    last = {name: values[-1] for name, values in varied.items()}
    assert Runner(study).command(last) == command  # the largest values are those that were typed


def test_cores_of_a_rank_are_no_ranks() -> None:
    proposal = study_of_command("srun -N 2 --ntasks=16 -c 4 --ntasks-per-node 8 ./solve")
    assert proposal.check().program.command == "srun -N 2 --ntasks={ranks} -c 4 --ntasks-per-node 8 ./solve"
    assert proposal.check().space.parameters["ranks"] == Ordinal(2, 4, 8, 16)  # at least one on each node
    assert proposal.guesses[-1] == "left as it is: -N 2, -c 4, --ntasks-per-node 8"
    with pytest.raises(InputError, match="nothing in the command"):
        study_of_command("srun -c 4 ./solve")


def test_settings_and_braces_stay() -> None:
    proposal = study_of_command("OMP_NUM_THREADS=4 MODE=fast ./solve -n 32 '{x} y'")
    study = proposal.check()
    assert dict(study.program.environment) == {"OMP_NUM_THREADS": "{threads}", "MODE": "fast"}
    assert Runner(study).command({"threads": 2, "n": 16}) == "OMP_NUM_THREADS=2 MODE=fast ./solve -n 16 '{x} y'"
    assert any("threads varies: 1, 2, 4" in guess for guess in proposal.guesses)


@pytest.mark.parametrize(
    ("command", "reason"),
    [("./wrf.exe", "nothing in the command"), ("./a 'x", "its quotes"), ("", "no program"), ("A=1", "no program")],
)
def test_a_command_with_nothing_to_vary_is_refused(command: str, reason: str) -> None:
    with pytest.raises(InputError, match=reason):
        study_of_command(command)


@pytest.mark.parametrize(
    "command",
    [
        "cd sub && ./solve 512",
        "./solve 512 > out.txt",
        "./a 512 | tee log",
        "./a 512; ./b 512",
        "./a 512 2>&1",
        "./a 8 &",
    ],
)
def test_a_command_that_needs_a_shell_is_refused(command: str) -> None:
    with pytest.raises(InputError, match="needs a shell"):
        study_of_command(command)


def test_words_for_a_shell_are_said_to_stay() -> None:
    proposal = study_of_command("./solve 512 $N '>' 'a && b'")
    assert proposal.check().program.command == "./solve {value} '$N' '>' 'a && b'"
    assert "$N (no shell runs: the program gets it as it is)" in proposal.guesses[-1]


@pytest.mark.parametrize(
    ("command", "proposed"),
    [
        ("mpirun --oversubscribe ./solve -n 512", "mpirun --oversubscribe ./solve -n {n}"),
        ("mpirun -np 4 --oversubscribe ./solve --size 512", "mpirun -np {ranks} --oversubscribe ./solve --size {size}"),
        ("srun -n4 ./solve --cores 64", "srun -n{ranks} ./solve --cores {cores}"),
    ],
)
def test_where_the_program_begins(command: str, proposed: str) -> None:
    assert study_of_command(command).check().program.command == proposed


@pytest.mark.parametrize(
    ("command", "names"),
    [
        ("./solve --größe 100", ["grosse"]), ("./solve -5 100", ["value"]), ("./solve --seconds 100", ["seconds_"]),
        ("./solve --run 100", ["run_"]), ("FOO={bar} ./solve --size 512", ["size"]),
    ],
)  # fmt: skip
def test_names_that_a_study_cannot_take_are_changed(command: str, names: list[str]) -> None:
    assert study_of_command(command).check().space.names == names


def test_names_that_differ_in_punctuation_stay_apart() -> None:
    table = pd.DataFrame({"a-b": [1, 2, 3], "a_b": [10, 20, 10], "seconds": [1.0, 2.0, 3.0]})
    study = study_of_runs(Runs.from_frame(table, ["a-b", "a_b"])).check()
    found = {name: list(kind.values()) for name, kind in study.space.parameters.items()}  # type: ignore[arg-type]
    assert found == {"a_b": [1, 2, 3], "a_b2": [10, 20]}


def test_a_table_gives_its_values() -> None:
    table = pd.DataFrame({"n cells": [8, 16], "kind": ['a"b', "c"], "x": [0.5, 1.5], "seconds": [2.0, 1.0]})
    proposal = study_of_runs(Runs.from_frame(table, ["n cells", "kind", "x"]))
    study = proposal.check()
    assert study.space.names == ["n_cells", "kind", "x"]
    assert study.program.command == "./program --n_cells {n_cells} --kind {kind} --x {x}"
    assert "write that of your program" in proposal.guesses[-1]


def test_ranks_that_the_program_itself_is_told_vary() -> None:
    study = study_of_command("./solver --threads 8 --ranks 4 --cells 512").check()
    assert study.space.names == ["threads", "ranks", "cells"]


def test_runs_may_take_twice_as_long_as_the_longest_in_the_table() -> None:
    table = pd.DataFrame({"cores": [1, 2, 4], "seconds": [7000.0, 5854.3, 10.0], "status": ["timed out", "ok", "ok"]})
    for rows, timeout_s in ((table, 14400), (table[1:], 12000), (table[2:].assign(cores=[8]), 3600)):
        assert study_of_runs(Runs.from_frame(rows, ["cores"])).check().program.timeout_s == timeout_s


def test_a_size_is_no_parameter_to_be_tuned() -> None:
    said = study_of_command("./solver.sh --ranks 8 --cells 512").guesses
    assert any("cells: if it is a size, `evenly tune --tasks cells` finds the fastest of each" in one for one in said)
    assert not any("--tasks" in one for one in study_of_command("mpirun -n 4 ./solve").guesses)
