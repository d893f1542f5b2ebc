"""The counts of a campaign: each run is looked at once, whatever the number of updates."""

from __future__ import annotations

from pathlib import Path

import pytest

from evenly import Integer, Space
from evenly.campaign import Campaign, Study
from evenly.campaign.one_run import Runner
from evenly.campaign.record import Record
from evenly.campaign.study import Plan, Program, Repetitions


def study(folder: Path) -> Study:
    program = Program("solve {n}", launcher="slurm", timeout_s=60.0, ranks="{n}")
    return Study(
        "s", Space(n=Integer(1, 9)), program, plan=Plan(design="all"), repetitions=Repetitions(1, 1), folder=folder
    )


def test_what_runs_cost_is_summed_as_they_come(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[int] = []
    needed = Runner.cores_needed

    def counted(self: Runner, configuration: dict[str, int]) -> int:
        asked.append(configuration["n"])
        return needed(self, configuration)

    monkeypatch.setattr(Runner, "cores_needed", counted)
    with Campaign(study(tmp_path)) as campaign:
        for repetition in range(20):
            campaign.store.add(Record(2, repetition, "ok", {"seconds": 1.0}, took=1800.0))
            assert campaign.counts.spent == pytest.approx(campaign.configuration(2)["n"] * 0.5 * (repetition + 1))
        assert len(asked) == 1
        campaign.store.add(Record(1, 0, "timed out", {}, took=60.0))
        campaign.store.add(Record(1, 1, "failed", {}, took=60.0))
        counts = campaign.counts
        assert (counts.done, counts.failed, counts.timed_out) == (20, 1, 1)
        assert "20 done, 1 failed, 1 timed out; " in str(counts)
        assert campaign.retry() == 2
        assert (campaign.counts.done, campaign.counts.failed, campaign.counts.timed_out) == (20, 0, 0)
