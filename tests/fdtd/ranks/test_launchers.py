"""Which environments mean that an MPI launcher started the process, and among how many ranks."""

from __future__ import annotations

import re

import pytest

from evenly.errors import InputError
from evenly.fdtd.ranks import launching
from evenly.fdtd.ranks.communicators import SerialCommunicator
from evenly.fdtd.ranks.launch_output import KEPT, Death, Stream, without_remarks
from evenly.fdtd.ranks.launchers import forced, launched_ranks, without_launcher


@pytest.mark.parametrize(
    ("environment", "ranks"),
    [
        ({}, None),
        ({"PMI_RANK": "1", "PMI_SIZE": "4", "PMI_FD": "7", "MPI_LOCALRANKID": "1"}, 4),
        ({"PMI_RANK": "0", "PMI_SIZE": "1"}, 1),
        ({"OMPI_COMM_WORLD_RANK": "0", "OMPI_COMM_WORLD_SIZE": "16", "PMIX_RANK": "0"}, 16),
        ({"PMIX_RANK": "3"}, 0),
        ({"PALS_RANKID": "3"}, 0),
        ({"SLURM_PROCID": "0"}, None),
        ({"SLURM_PROCID": "0", "SLURM_STEP_NUM_TASKS": "1"}, None),
        ({"SLURM_PROCID": "5", "SLURM_STEP_NUM_TASKS": "8"}, 8),
        ({"SLURM_PROCID": "5", "SLURM_STEP_NUM_TASKS": "8", "PMI_RANK": "5", "PMI_SIZE": "8"}, 8),
        ({"SLURM_PROCID": "0", "SLURM_STEP_NUM_TASKS": "1", "PMI_RANK": "1", "PMI_SIZE": "4"}, 4),
    ],
)
def test_launchers_are_known_by_their_variables(environment: dict[str, str], ranks: int | None) -> None:
    assert launched_ranks(environment) == ranks


def test_a_job_within_a_rank_starts_without_the_outer_launchers_variables() -> None:
    outer = {"PMI_RANK": "1", "PMI_FD": "9", "OMPI_COMM_WORLD_RANK": "1", "SLURM_JOB_ID": "7", "PATH": "/bin"}
    assert without_launcher(outer) == {"SLURM_JOB_ID": "7", "PATH": "/bin"}


def test_the_choice_of_mpi_is_0_or_1() -> None:
    assert [forced({"EVENLY_MPI": value}) for value in ("", "0", "1")] == [None, False, True]
    with pytest.raises(InputError, match=r"EVENLY_MPI must be 0 or 1 .* got 'yes'"):
        forced({"EVENLY_MPI": "yes"})


def test_alone_there_is_nobody_to_talk_to() -> None:
    import numpy as np

    alone = SerialCommunicator()
    with pytest.raises(InputError, match="none: this program runs alone"):
        alone.exchange([(0, 0, np.zeros(1))], [])
    with pytest.raises(InputError, match=re.escape("(0 to 0), but got 1")):
        alone.bcast(1, root=1)
    with pytest.raises(InputError, match='must be "sum", "min" or "max", but got \'mean\''):
        alone.allreduce(1.0, "mean")  # type: ignore[arg-type]
    assert alone.split(3) is alone


def test_long_output_keeps_its_end() -> None:
    stream = Stream()
    for number in range(60):
        stream.feed((f"{number}" + "x" * 100_000 + "\n").encode())
    stream.close()
    assert KEPT // 2 < len(stream.text()) <= KEPT
    assert stream.text().endswith("59" + "x" * 100_000 + "\n")


def test_only_the_launchers_remarks_are_dropped() -> None:
    stream = Stream(keep=without_remarks)
    stream.feed(b"Abort(2) on node 1 (rank 1 in comm 0): app")
    stream.feed(b"lication called MPI_Abort\nmy text\n====\nBAD TERMINATION\nlast")
    stream.close()
    assert stream.text() == "my text\n====\nBAD TERMINATION\nlast"


@pytest.mark.parametrize(
    ("line", "who"),
    [
        (
            "mpirun noticed that process rank 1 with PID 12 on node n7 exited on signal 9 (Killed).",
            "rank 1 on host n7 was killed: signal 9 (Killed).",
        ),
        ("srun: error: n7: task 3: Out Of Memory", "rank 3 on host n7 was killed: Out Of Memory."),
        (
            "YOUR APPLICATION TERMINATED WITH THE EXIT STRING: Killed (signal 9)",
            "a rank was killed: Killed (signal 9).",
        ),
    ],
)
def test_what_launchers_say_of_a_killed_rank(line: str, who: str) -> None:
    death = Death()
    assert death.keep("evenly tells its supervisor: {broken\n") == ""
    assert death.keep(f"{line}\n") == ""
    message = death.message()
    assert message is not None
    assert message == f"{who} If nobody did it, memory ran out."  # of a program that isn't evenly's


def test_other_remarks_are_no_death() -> None:
    death = Death()
    line = "srun: error: Unable to allocate resources: Invalid account\n"
    assert death.keep(line) == line
    assert death.message() is None


def test_open_mpi_as_root_is_explained(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("os.geteuid", lambda: 0)
    for name in launching._ROOT:
        monkeypatch.delenv(name, raising=False)
    other = launching.Launcher("/usr/bin/mpirun", "openmpi")
    with pytest.raises(InputError, match="OMPI_ALLOW_RUN_AS_ROOT=1 and OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1"):
        launching.check_root(other, {})
    launching.check_root(other, dict.fromkeys(launching._ROOT, "1"))
    launching.check_root(launching.Launcher("mpiexec", "hydra"), {})
