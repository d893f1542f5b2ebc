"""A scaling study of a user's script on real ranks."""

from __future__ import annotations

from pathlib import Path

import pytest

import evenly
from evenly.errors import InputError
from evenly.fdtd.measurement.measurement import Measurement
from evenly.fdtd.scaling.runs import run_study
from evenly.fdtd.scaling.study import ScalingStudy

SCRIPT = """
from evenly.fdtd import PML, Flux, GaussianPulse, Simulation, Source
from evenly.fdtd.ranks.parallel import count_processors, my_rank

def simulation(resolution=10, **keywords):
    if count_processors() == 3 and my_rank() == 1:
        raise ValueError("three is one too many")
    source = Source(GaussianPulse(1.0, fwidth=0.5), "Ez", (0, 0, 0))
    return Simulation(cell=(4, 3, 0), resolution=resolution, sources=[source], boundaries=[PML(0.5)], **keywords)

def monitors():
    return [Flux((-1, 0, 0), (0, 1, 0), [0.9, 1.0])]
"""


def test_a_study_of_a_script(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NUMBA_NUM_THREADS", "1")
    script = tmp_path / "wave.py"
    script.write_text(SCRIPT)
    told: list[tuple[int, int, int, str]] = []

    def tell(done: int, total: int, one: Measurement) -> None:
        told.append((done, total, one.size, one.status))

    folder = tmp_path / "study"
    study = run_study(
        str(script), (1, 2, 3), parameters={"resolution": 20}, steps=20, repeats=1, folder=folder, progress=tell
    )
    assert told == [(1, 3, 1, "ok"), (2, 3, 2, "ok"), (3, 3, 3, "failed")]
    assert (study.name, study.steps, study.ranks) == ("wave", 20, [1, 2])
    assert study.parameters["resolution"] == 20
    assert "three is one too many" in study.failed[0].message
    two = study.at(2)[0]
    assert sum(rank.points for rank in two.ranks) == two.points == 80 * 60
    # The cut is across x, and the source drives Ez, Hx, Hy: 60 points of Ez upwards, of Hy downwards, 8 bytes each.
    assert [rank.bytes_sent for rank in two.ranks] == [60 * 8, 60 * 8]
    assert [rank.counts["surface"] for rank in two.ranks] == [60, 60]
    assert [rank.counts["neighbours"] for rank in two.ranks] == [1, 1]
    assert [rank.counts["fourier"] > 0 for rank in two.ranks] == [True, False]
    assert study.points[1].fourier_rate.count == 1
    assert study.points[1].stepping_rate.count == 2
    assert all(rank.seconds("waiting") > 0 for rank in two.ranks)
    assert ScalingStudy.load(folder).points == study.points
    runs = evenly.read(folder)
    assert isinstance(runs, evenly.Runs)
    assert runs.parameters == ["ranks"]
    assert sorted(runs.to_frame()["status"]) == ["failed", "ok", "ok"]


def test_nothing_that_runs_says_why() -> None:
    with pytest.raises(InputError, match=r"needs a run that went well, but got none: .*no_such.py"):
        run_study("no_such.py", (1,), repeats=1)


@pytest.mark.parametrize(
    ("keywords", "message"),
    [
        ({"ranks": ()}, "`ranks` must be different integers of at least 1"),
        ({"ranks": (2, 2)}, "`ranks` must be different integers"),
        ({"steps": 0}, "`steps` must be an integer of at least 1, but got 0"),
        ({"repeats": 0}, "`repeats` must be an integer of at least 1"),
    ],
)
def test_wrong_plans_are_refused(keywords: dict[str, object], message: str) -> None:
    with pytest.raises(InputError, match=message):
        run_study("oled", **keywords)  # type: ignore[arg-type]
