"""Commands that only submit work are refused: their time tells nothing of the work."""

from __future__ import annotations

import shlex
from pathlib import Path

import pytest

from evenly.campaign.proposal import study_of_command
from evenly.campaign.study import Program, Study
from evenly.errors import InputError, ReadError
from evenly.launch.submissions import check_waits


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
