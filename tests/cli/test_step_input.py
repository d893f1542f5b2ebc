"""Steps that vary: told by tables of steps, among the measurements or in files of their own."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from numpy.typing import NDArray

from tests.cli.conftest import Evenly

LAW = ("--method", "power-law")
ALONG = ("--step-times", "steps", "--step-times-column", "Component")


@pytest.fixture
def earth(samples: Path, tmp_path: Path) -> Path:
    """Scaling tables of two solvers, and beside them the steps of one run of each, without any core count."""
    source = samples / "ec-earth"
    for folder, files in (
        ("scaling", {"ifs": "IFS_SR_Reduced_scalability_ece3", "nemo": "NEMO_SR_Reduced_scalability_ece3"}),
        ("steps", {"ifs": "ATMIFS_ts", "nemo": "oceanx_ts"}),
    ):
        (tmp_path / folder).mkdir()
        for solver, file in files.items():
            shutil.copy(source / f"{file}.csv", tmp_path / folder / f"{solver}.csv")
    return tmp_path


def ratios(file: Path) -> NDArray[np.float64]:
    times = pd.read_csv(file)["Component"].to_numpy(dtype=np.float64)
    return np.asarray(times / times.mean(), dtype=np.float64)


def test_files_of_steps_tell_what_a_step_takes_on_average(evenly: Evenly, earth: Path) -> None:
    shown = evenly("allocate", "scaling", "--cores", "400", *LAW, *ALONG, "--json")
    assert shown.code == 0, shown.err
    times = [shown.json["solver_seconds"][name] for name in ("ifs", "nemo")]
    steps = [ratios(earth / "steps" / f"{name}.csv") for name in ("ifs", "nemo")]
    expected = np.maximum(times[0] * steps[0], times[1] * steps[1]).mean()
    assert shown.json["expected_seconds"] == pytest.approx(expected, rel=1e-3)
    assert shown.json["expected_seconds"] > 1.1 * shown.json["seconds"]
    assert "the times of ifs, nemo are taken as the means of many steps" in shown.err


def test_equal_means_are_no_equal_steps(evenly: Evenly, earth: Path) -> None:
    for name in ("ifs", "nemo"):
        pd.DataFrame({"cores": [32, 64, 128], "seconds": [4.0, 2.0, 1.0]}).to_csv(earth / f"{name}.csv", index=False)
    fixed = ("--min", "ifs=101 nemo=101", "--max", "ifs=101 nemo=101")
    shown = evenly("allocate", "ifs.csv", "nemo.csv", "--cores", "202", "--no-waiting", *fixed, *LAW, *ALONG, "--json")
    assert shown.code == 0, shown.err
    assert 1.10 < shown.json["expected_seconds"] / (128 / 101) < 1.18


def test_factors_say_how_many_steps_pass_until_solvers_wait(evenly: Evenly, tmp_path: Path) -> None:
    """Each third step of a is long, but b waits after three of them."""
    rows = [{"component": s, "cores": n, "ms/step": 300.0 / n} for s in "ab" for n in (8, 16, 32)]
    pd.DataFrame(rows).to_csv(tmp_path / "c.csv", index=False)
    steps = [{"component": "a", "step": k, "wall_ms": 30.0 if k % 3 else 90.0} for k in range(48)]
    steps += [{"component": "b", "step": k, "wall_ms": 40.0} for k in range(32)]
    pd.DataFrame(steps).to_csv(tmp_path / "s.csv", index=False)
    ask = ("allocate", "c.csv", "--cores", "40", "--step-times", "s.csv", "--no-waiting", *LAW, "--json")
    even = evenly(*ask, "--layout", "max(3 * a, 2 * b)")
    assert even.json["expected_seconds"] == pytest.approx(even.json["seconds"])
    assert "recorded steps" not in even.err
    each = evenly(*ask)
    assert each.json["expected_seconds"] > 1.1 * each.json["seconds"]
    said = "recorded steps: a 48, b 32; solvers are taken to exchange data after each step"
    assert said in " ".join(each.err.split())


def test_jitter_minimises_it(evenly: Evenly, earth: Path) -> None:
    plain = evenly("allocate", "scaling", "--cores", "400", *LAW, *ALONG, "--json")
    shown = evenly("allocate", "scaling", "--cores", "400", *LAW, *ALONG, "--json", "--jitter")
    assert shown.code == 0, shown.err
    assert shown.json["cores"] != plain.json["cores"]
    assert shown.json["expected_seconds"] < plain.json["expected_seconds"]


def test_saved_models_take_steps_too(evenly: Evenly, earth: Path) -> None:
    assert evenly("fit", "scaling", *LAW, "--save", "m.evenly").code == 0
    shown = evenly("allocate", "m.evenly", "--cores", "400", *ALONG, "--jitter", "--json")
    assert shown.code == 0, shown.err
    assert shown.json["expected_seconds"] > shown.json["seconds"]


def test_steps_among_the_measurements(evenly: Evenly, tmp_path: Path) -> None:
    factors = np.linspace(0.8, 1.2, 21)
    rows = [
        f"{solver},{cores},{step},{work / cores * factor}"
        for solver, work, varying in (("a", 8.0, factors), ("b", 4.0, factors[::-1]))
        for cores in (2, 4, 8, 16)
        for step, factor in enumerate(varying)
    ]
    (tmp_path / "runs.csv").write_text("\n".join(["solver,cores,step,seconds", *rows]))
    shown = evenly("allocate", "runs.csv", "--cores", "24", *LAW, "--json")
    assert shown.code == 0, shown.err
    assert shown.json["cores"] == {"a": 16, "b": 8}
    expected = np.maximum(factors, factors[::-1]).mean() / 2
    assert shown.json["expected_seconds"] == pytest.approx(expected, rel=1e-3)
    better = evenly("allocate", "runs.csv", "--cores", "24", *LAW, "--jitter", "--json")
    assert better.json["expected_seconds"] < expected


WRONG = [
    (("--step-times", "steps"), "pass time= (--step-times-column)"),
    (("--step-times", "steps/ifs.csv", "--step-times-column", "Component"), "has only those of ifs"),
    (("--step-times", "nothing", "--step-times-column", "Component"), "--step-times: nothing: there is no such file"),
    (("--step-times-column", "Component"), "give --step-times too"),
    (("--step-times", "one", "--step-times-column", "Component"), "at least two steps"),
    (("--jitter",), "--step-times"),
]


@pytest.mark.parametrize(("options", "message"), WRONG)
def test_steps_that_do_not_do(evenly: Evenly, earth: Path, options: tuple[str, ...], message: str) -> None:
    shutil.copytree(earth / "steps", earth / "one")
    (earth / "one" / "nemo.csv").write_text(",Component\n2700,0.2\n")
    shown = evenly("allocate", "scaling", "--cores", "400", *LAW, *options)
    assert shown.code == 2, shown.out
    assert message in shown.err
