"""Commands that only submit work are refused: their time tells nothing of the work."""

from __future__ import annotations

import re
import shlex
import uuid
from pathlib import Path

import pytest

from evenly.campaign.proposal import study_of_command
from evenly.campaign.study import Program, Study
from evenly.errors import InputError, ReadError
from evenly.launch.base import Task
from evenly.launch.local import Local
from evenly.launch.submissions import check_waits, left_job


@pytest.mark.parametrize(
    ("command", "told"),
    [
        ("sbatch job.sh 64", 'name = "slurm" .*sbatch --wait'),
        ("/opt/slurm/bin/sbatch -N 2 job.sh 64", 'name = "slurm"'),
        ("qsub -l select=2 job.sh", 'name = "pbs" .*-W block=true.*-sync y'),
        ("qsub -sync no job.sh", 'name = "pbs"'),
        ("bsub -n 8 ./solve", 'name = "lsf" .*bsub -K'),
        ("flux batch -n 8 job.sh", 'name = "flux" .*flux batch --wait'),
        ("flux submit -n 8 ./solve", 'name = "flux"'),
        ("bash -c 'sbatch job.sh 64'", 'name = "slurm"'),
        ("docker run --rm -v /a:/b -d image ./solve", "leave out -d"),
        ("podman run -itd image ./solve", "leave out -itd"),
        ("docker run --detach image ./solve", "leave out --detach"),
    ],
)
def test_submissions_are_refused(command: str, told: str) -> None:
    with pytest.raises(InputError, match=told):
        check_waits(shlex.split(command))


@pytest.mark.parametrize(
    "command",
    [
        "sbatch --wait job.sh 64",
        "sbatch -W job.sh",
        "qsub -W depend=afterok:1,block=true job.sh",
        "qsub -Wblock=true job.sh",
        "qsub -sync y job.sh",
        "qsub -I -x ./solve",
        "bsub -K ./solve",
        "bsub -Is ./solve",
        "flux submit --watch ./solve",
        "flux batch --wait-event=finish job.sh",
        "flux run -n 8 ./solve",
        "docker run --rm image ./solve -d 3",
        "docker run --gpus all -it image -d",
        "docker build -d x",
        "bash -c 'sbatch job.sh; ./until_done'",
        "srun -n 8 ./solve",
        "./sbatch.py 64",
        "./solve sbatch",
    ],
)
def test_what_waits_goes_through(command: str) -> None:
    check_waits(shlex.split(command))


def test_proposals_and_studies_ask(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="only submits a job"):
        study_of_command("A=1 sbatch job.sh 64")
    with pytest.raises(InputError, match="only submits a job"):
        Program(["sbatch", "job.sh", "{n}"])
    path = tmp_path / "study.toml"
    path.write_text('[program]\ncommand = "sbatch job.sh {n}"\n[parameters]\nn = [1, 2]\n')
    with pytest.raises(ReadError, match="only submits a job"):
        Study.load(path)


@pytest.mark.parametrize(
    ("queue", "told"),
    [
        ("echo '7 debug wrap ada R 0:01 1 node1'", "it submitted a job, as 'Submitted batch job 7' .*sbatch --wait"),
        ("echo 'slurm_load_jobs error: Unable to contact slurm controller' >&2; exit 1", "it submitted a job"),
        ("exit 0", ""),
        ("echo 'slurm_load_jobs error: Invalid job id specified' >&2; exit 1", ""),
    ],
    ids=["runs", "unknown", "ended", "long ago"],
)
def test_a_run_that_ends_before_its_job_has_failed(
    queue: str, told: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "squeue").write_text(f"#!/bin/sh\n{queue}\n")
    (tmp_path / "squeue").chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    outcome = Local().run(Task(("echo", "Submitted batch job 7"), uuid.uuid4().hex))
    assert outcome.status == ("failed" if told else "ok")
    assert re.match(told, outcome.reason)


def test_other_schedulers_print_whether_the_run_waited() -> None:
    submitted = 'Your job 7 ("job.sh") has been submitted\n'
    assert "qsub -W block=true" in left_job(submitted)
    assert left_job(f"{submitted}Job 7 exited with exit code 0.\n") == ""
    submitted = "Job <7> is submitted to default queue <normal>.\n"
    assert "bsub -K" in left_job(submitted)
    assert left_job(f"{submitted}<<Waiting for dispatch ...>>\n<<Starting on node1>>\n") == ""
