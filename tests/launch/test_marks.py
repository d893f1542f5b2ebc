"""What a file of somebody else says of runs under way must not become a folder, a job or a process."""

from __future__ import annotations

from pathlib import Path

import pytest

from evenly import Integer, Space
from evenly.campaign.measuring import Campaign
from evenly.campaign.store import Store
from evenly.campaign.study import Program, Study
from evenly.errors import InputError
from evenly.launch import check_mark

TOKEN = 32 * "a"


@pytest.mark.parametrize(
    "mark",
    [
        "1-0-plan-../../precious",
        f"../1-0-plan-{TOKEN}",
        "/etc",
        "..",
        "",
        f"1-0-plan-{TOKEN}, other",
        "1-0",
        f"x-0-plan-{TOKEN}",
    ],
)
@pytest.mark.parametrize("launcher", ["local", "mpi", "slurm"])
def test_a_mark_that_evenly_would_not_write_is_refused(tmp_path: Path, mark: str, launcher: str) -> None:
    path, study = tmp_path / "s.db", Study("s", Space(n=Integer(1, 2)), Program("true {n}"), folder=tmp_path)
    with Store(path) as store:
        store.begin(mark, launcher, store.add_configurations([{"n": 1}])[0])
    with pytest.raises(InputError, match="evenly would not write"), Campaign(study, path):
        pass
    assert {one.name for one in tmp_path.iterdir()} == {"s.db"}


def test_a_mark_of_evenly_is_taken() -> None:
    check_mark(f"12-3-anchor-{TOKEN}")
