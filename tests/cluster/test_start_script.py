"""A plan's job script, run by a real Slurm."""

from __future__ import annotations

import os
import shutil
from collections import Counter
from pathlib import Path

import pytest

import evenly
from evenly.allocation.start_script import start_script
from tests.cluster.slurm import CPUS, Cluster


def run(cluster: Cluster, folder: Path, script: str) -> Counter[str]:
    (folder / "job.sh").write_text(script + "\n")
    told = cluster.ask("sbatch", "--wait", "--output=out", "job.sh")
    return Counter((folder / "out").read_text().splitlines()) if (folder / "out").exists() else Counter([told])


@pytest.fixture
def plan() -> evenly.Plan:
    found = evenly.allocate({"inner": lambda p: 50 / p, "outer": lambda p: 30 / p}, cores=CPUS)
    assert found.cores == {"inner": 5, "outer": 3}
    return found


def test_programs_start_as_one_step(cluster: Cluster, tmp_path: Path, plan: evenly.Plan) -> None:
    script = start_script(plan, "slurm", {"inner": "/bin/echo inner", "outer": "/bin/echo outer"})
    assert run(cluster, tmp_path, script) == {"inner": 5, "outer": 3}


def test_parts_with_threads_of_their_own_start_together(
    running: Cluster, tmp_path: Path, plan: evenly.Plan, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Slurm gives the parts of a heterogeneous job nodes of their own, so it takes two."""
    two = Cluster(tmp_path / "slurm", nodes=2)
    two.start()
    try:
        monkeypatch.chdir(tmp_path)
        script = start_script(plan, "slurm", {"inner": "/bin/echo inner", "outer": "/usr/bin/env"}, {"outer": 3})
        found = run(two, tmp_path, script)
        assert (found["inner"], found["OMP_NUM_THREADS=3"]) == (5, 1)
    finally:
        two.stop()


def test_participants_share_the_tasks_of_a_job(
    cluster: Cluster, tmp_path: Path, plan: evenly.Plan, monkeypatch: pytest.MonkeyPatch
) -> None:
    if shutil.which("mpirun") is None:
        if os.environ.get("EVENLY_NEEDS_SLURM"):
            pytest.fail("mpirun is needed here")
        pytest.skip("needs mpirun")
    for name in ("OMPI_ALLOW_RUN_AS_ROOT", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM"):
        monkeypatch.setenv(name, "1")
    monkeypatch.setenv("OMPI_MCA_hwloc_base_binding_policy", "none")  # this node has fewer cores than it says
    script = start_script(plan, "precice", {"inner": "/bin/echo inner", "outer": "/bin/echo outer"})
    assert run(cluster, tmp_path, script) == {"inner": 5, "outer": 3}
