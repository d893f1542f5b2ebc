"""A cluster for the tests: a real Slurm. Where it must be there (EVENLY_NEEDS_SLURM), tests fail without it."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cluster.slurm import Cluster, missing


@pytest.fixture(scope="session")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    if lacking := missing():
        if os.environ.get("EVENLY_NEEDS_SLURM"):
            pytest.fail(f"Slurm is needed here, but {lacking} is missing")
        pytest.skip(f"needs a Slurm that tests may start: {lacking} is missing")
    cluster = Cluster(tmp_path_factory.mktemp("slurm"))
    cluster.start()
    yield cluster
    cluster.stop()


@pytest.fixture
def cluster(running: Cluster, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Cluster:
    """The cluster, for this test's process and those that it starts; work is done in a folder of the test's own."""
    for name, value in running.environment.items():
        monkeypatch.setenv(name, value)
    monkeypatch.chdir(tmp_path)
    return running
