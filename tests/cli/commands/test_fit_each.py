"""``evenly fit --each``: laws of regions, their ranking, and what it refuses."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.conftest import Evenly

PROFILE = """\
PARAMETER ranks
POINTS 4 8 16 32 64
METRIC time
REGION main->solve
DATA 160
DATA 80
DATA 40
DATA 20
DATA 10
REGION main->exchange
DATA 0.04
DATA 0.08
DATA 0.16
DATA 0.32
DATA 0.64
"""


@pytest.fixture
def profile(tmp_path: Path) -> Path:
    path = tmp_path / "profile.txt"
    path.write_text(PROFILE)
    return path


def test_the_ranking_names_call_paths_laws_and_verdicts(evenly: Evenly, profile: Path) -> None:
    done = evenly("fit", profile, "--each", "region", "--at", "ranks=64,4096", "--expect", "log(ranks)")
    assert done.code == 0
    assert "'time' is taken as seconds" in done.err
    assert done.out.index("ranks = 64: 10.64 s") < done.out.index("ranks = 4096: 41.12 s")
    assert "main->exchange" in done.out
    assert "640 · ranks^-1" in done.out
    assert "growth than log(ranks): 1 faster, 1 not faster" in done.out


def test_models_are_saved_in_one_file_and_ranked_again(evenly: Evenly, profile: Path) -> None:
    assert evenly("fit", profile, "--each", "region", "--save", "laws.evenly").code == 0
    done = evenly("fit", "laws.evenly", "--at", "ranks=4096", "--json")
    assert [row["region"] for row in done.json["ranking"]] == ["main->exchange", "main->solve"]
    assert done.json["ranking"][0]["seconds"] == pytest.approx(40.96, rel=1e-3)
    assert evenly("predict", "laws.evenly", "--at", "ranks=4096").code == 0
    refused = evenly("allocate", "laws.evenly", "--cores", "64")
    assert refused.code == 2
    assert "laws of each 'region', not of coupled solvers" in refused.err
    refused = evenly("fit", "laws.evenly", "--each", "region")
    assert refused.code == 2
    assert "--each can't change them" in refused.err


def test_any_column_of_a_table(evenly: Evenly, tmp_path: Path) -> None:
    rows = [f"{phase},{p},{c / p}" for phase, c in (("advect", 8.0), ("diffuse", 2.0)) for p in (1, 2, 4, 8)]
    (tmp_path / "runs.csv").write_text("phase,cores,seconds\n" + "\n".join(rows) + "\n")
    done = evenly("fit", "runs.csv", "--each", "phase", "--at", "cores=64")
    assert done.code == 0
    assert done.out.index("advect") < done.out.index("diffuse")


def test_runs_can_be_left_out_and_a_region_without_each_is_told(evenly: Evenly, profile: Path) -> None:
    done = evenly("fit", profile, "--each", "region", "--train", "ranks < 64", "--at", "ranks=64", "--json")
    assert done.json["ranking"][0]["seconds"] == pytest.approx(10, rel=0.01)
    done = evenly("fit", profile, "--method", "log-quadratic")
    assert "'region' is one of the parameters here: evenly fit --each region" in done.err


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (["--at", "ranks=128"], "--each region"),
        (["--each", "phase"], "no parameter 'phase' to split runs by: there are region, ranks"),
        (["--each", "region", "--at", "cores=128"], "'cores' is no parameter"),
        (["--each", "region", "--expect", "log(cores)"], "needs 'cores'"),
        (["--each", "region", "--factor", "a=1/ranks"], "--each learns many"),
    ],
)
def test_what_is_not_asked_right_is_refused(evenly: Evenly, profile: Path, arguments: list[str], reason: str) -> None:
    done = evenly("fit", profile, *arguments)
    assert done.code == 2
    assert reason in done.err


def test_caliper_profiles_of_weak_scaling(evenly: Evenly, strangers: Path) -> None:
    done = evenly(
        "fit", strangers / "3-profiles" / "thicket-mpi-scaling", "--each", "region", "--at", "ranks=1000", "--json"
    )
    assert done.code == 0
    assert len(done.json["ranking"]) == 46
    assert "problem_size = 30" in done.err
