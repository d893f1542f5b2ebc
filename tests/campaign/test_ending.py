"""A campaign whose jobs can't be ended keeps their marks and files."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from evenly.campaign import Campaign
from evenly.campaign.making import Run
from evenly.campaign.planning import NextRun
from evenly.errors import EvenlyWarning
from evenly.launch.base import UnansweredError
from tests.campaign.test_counts import study


def test_jobs_that_may_go_on_are_not_forgotten(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with Campaign(study(tmp_path)) as campaign:
        run = Run.new(NextRun(1, 0, "plan"))
        folder = tmp_path / "s.jobs" / run.mark
        folder.mkdir(parents=True)
        campaign.store.begin(run.mark, "slurm", 1)
        monkeypatch.setattr(campaign._making._crew, "_work", {run: None})

        def end(*_: Any) -> int:
            raise UnansweredError("Slurm doesn't answer")

        monkeypatch.setattr(campaign._runner.launcher, "end", end)
        with pytest.warns(EvenlyWarning, match="Slurm doesn't answer; the same command waits for them"):
            campaign._making.end()
        assert campaign.store.left_running() == [(run.mark, "slurm")]
        assert folder.is_dir()
