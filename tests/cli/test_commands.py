"""What the commands print for good input."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from tests.cli.conftest import Evenly

TABLE_5_3 = {280: (190, 90), 336: (228, 108), 392: (266, 126), 448: (304, 144), 504: (342, 162), 560: (381, 179)}


def test_read_shows_solvers_and_ranges(evenly: Evenly, pulse: Path) -> None:
    shown = evenly("read", pulse)
    assert shown.code == 0
    assert "inner" in shown.out
    assert "150 … 350" in shown.out
    solvers = evenly("read", pulse, "--json").json["solvers"]
    assert set(solvers) == {"inner", "outer"}
    assert solvers["outer"]["quantities"]["seconds"] == {"unit": "s", "smallest": 0.14, "largest": 0.418}


def test_read_lists_formats(evenly: Evenly) -> None:
    assert "precice-profiling" in evenly("read", "--formats").out
    assert "table" in evenly("read", "--formats", "--json").json


def test_read_saves_what_can_be_read_again(evenly: Evenly, pulse: Path) -> None:
    assert evenly("read", pulse, "--save", "kept").code == 0
    assert set(evenly("read", "kept", "--json").json["solvers"]) == {"inner", "outer"}
    assert evenly("read", pulse / "inner.csv", "--save", "one.csv").code == 0
    assert Path("one.csv").read_text().startswith("# evenly runs 1")


def test_a_table_of_ones_own(evenly: Evenly) -> None:
    Path("mine.csv").write_text("p,n,wall [ms],code\n1,8,80,a\n2,8,41,a\n4,8,22,a\n1,8,160,b\n2,8,81,b\n4,8,42,b\n")
    shown = evenly(
        "read", "mine.csv", "--time", "wall [ms]", "--unit", "ms", "--parameters", "p", "--solver", "code", "--json"
    )
    assert shown.code == 0, shown.err
    assert set(shown.json["solvers"]) == {"a", "b"}
    assert shown.json["solvers"]["b"]["quantities"]["seconds"]["largest"] == pytest.approx(0.16)


def test_allocate_gives_the_published_assignments(evenly: Evenly, pulse: Path) -> None:
    shown = evenly("allocate", pulse, "--cores", "280:560:56", "--json")
    assert shown.code == 0, shown.err
    for row in shown.json["totals"]:
        inner, outer = TABLE_5_3[row["total_cores"]]
        assert abs(row["cores"]["inner"] - inner) <= 2
        assert abs(row["cores"]["outer"] - outer) <= 2
        low, high = row["interval_seconds"]
        assert low < row["seconds"] < high


def test_allocate_compares_and_saves_pictures(evenly: Evenly, pulse: Path) -> None:
    shown = evenly(
        "allocate", pulse, "-P", "560", "--method", "power-law", "--current", "inner=400 outer=160",
        "--dof", "inner=262144", "--dof", "outer=63488", "--plot", "plots", "--plot-format", "png",
    )  # fmt: skip
    assert shown.code == 0, shown.err
    assert "∝" in shown.out
    assert {f.name for f in Path("plots").iterdir()} == {"models.png", "curve.png", "timeline.png"}


def test_allocate_keeps_to_limits(evenly: Evenly, pulse: Path) -> None:
    found = evenly(
        "allocate", pulse, "--cores", "560", "--method", "power-law", "--multiple", "28", "--max", "outer=100",
        "--allowed", "inner=168,336,448", "--json",
    )  # fmt: skip
    assert found.code == 0, found.err
    # outer's 84 cores decide the step; inner reaches that on 336, and more cores would only idle.
    assert found.json["cores"] == {"inner": 336, "outer": 84}


def test_allocate_in_turn_and_within_a_share(evenly: Evenly, pulse: Path) -> None:
    serial = evenly(
        "allocate", pulse, "--cores", "560", "--method", "power-law", "--layout", "2 * sum(inner, outer)", "--json"
    )
    parallel = evenly("allocate", pulse, "--cores", "560", "--method", "power-law", "--json")
    assert serial.json["seconds"] > 3 * parallel.json["seconds"]
    cheaper = evenly("allocate", pulse, "--cores", "560", "--method", "power-law", "--within", "10%", "--json")
    assert cheaper.json["seconds"] <= 1.1 * parallel.json["seconds"]
    assert sum(cheaper.json["cores"].values()) < 560


def test_allocate_bounds_memory_per_node(evenly: Evenly) -> None:
    rows = [(n, 100 / n, 64 / n) for n in (1, 2, 4, 8, 16, 32)]
    pd.DataFrame(rows, columns=["cores", "seconds", "peak_memory_GiB"]).to_csv("a.csv", index=False)
    rows = [(n, 100.001 / n, 64 / n) for n in (1, 2, 4, 8, 16, 32)]  # the same times would be those of one solver
    pd.DataFrame(rows, columns=["cores", "seconds", "peak_memory_GiB"]).to_csv("b.csv", index=False)
    Path("runs").mkdir()
    for name in ("a.csv", "b.csv"):
        Path(name).rename(Path("runs") / name)
    bounded = evenly(
        "allocate",
        "runs",
        "--cores",
        "64",
        "--method",
        "power-law",
        "--memory",
        "8GiB",
        "--cores-per-node",
        "4",
        "--json",
    )
    assert bounded.code == 0, bounded.err
    assert min(bounded.json["cores"].values()) >= 32
    short = evenly(
        "allocate", "runs", "--cores", "48", "--method", "power-law", "--memory", "8GiB", "--cores-per-node", "4"
    )
    assert short.code == 1
    assert "32" in short.err


def test_fit_save_predict(evenly: Evenly, pulse: Path) -> None:
    fitted = evenly("fit", pulse, "--method", "power-law", "--save", "models.evenly")
    assert fitted.code == 0, fitted.err
    assert "cores^-0.97" in fitted.out
    found = evenly("predict", "models.evenly", "--at", "cores=200,300", "--json").json
    assert len(found["predictions"]) == 4
    assert all(row["lower"] < row["value"] < row["upper"] for row in found["predictions"])
    pd.DataFrame({"cores": [200, 300]}).to_csv("asked.csv", index=False)
    assert evenly("predict", "models.evenly", "--file", "asked.csv", "--json").json == found
    shown = evenly("predict", "models.evenly", "--at", "cores=1000", "--save", "predicted.csv")
    assert "outside what was measured" in shown.out
    assert len(pd.read_csv("predicted.csv")) == 2
    assert evenly("allocate", "models.evenly", "--cores", "100", "--json").json["cores"].keys() == {"inner", "outer"}


def test_fit_on_a_part_tests_on_the_rest(evenly: Evenly, pulse: Path) -> None:
    found = evenly("fit", pulse, "--method", "power-law", "--train", "cores < 300", "--json").json
    assert found["inner"]["held_out_errors"]["MLogQ"] > 0
    assert found["outer"]["held_out_errors"] is None
    assert evenly("fit", pulse, "--train", "cores < 2").code == 2


def test_fit_takes_the_search_space(evenly: Evenly, pulse: Path) -> None:
    shown = evenly(
        "fit", pulse / "outer.csv", "--method", "pmnf", "--terms", "1", "-I", "-2:0:1/2", "-J", "0,1",
        "--loss", "smape",
        "--validation", "loo", "--search", "full", "--ridge", "1e-9", "--monotone", "cores=decreasing",
        "--asked", "cores=10:1000", "--json",
    )  # fmt: skip
    assert shown.code == 0, shown.err
    assert evenly("fit", pulse / "outer.csv", "--log").code == 0
    assert "cores" in evenly("fit", pulse / "outer.csv", "--latex").out
    assert "pmnf" in evenly("fit", "--methods").out
    assert "power-law" in evenly("fit", "--methods", "--json").json


def test_plots(evenly: Evenly, pulse: Path) -> None:
    assert evenly("plot", pulse, "--method", "power-law", "--into", "a", "--train", "cores < 300").code == 0
    assert {"inner.svg", "outer.svg", "inner-predicted.svg", "outer-predicted.svg"} == {
        f.name for f in Path("a").iterdir()
    }
    grid = pd.DataFrame(
        [(p, n, n / p) for p in (1, 2, 4, 8) for n in (10, 20, 40)], columns=["cores", "size", "seconds"]
    )
    grid.to_csv("grid.csv", index=False)
    for extra in (
        [],
        ["--surface", "cores,size"],
        ["--surface", "cores,size", "--view", "3d"],
        ["--along", "size", "--at", "cores=4"],
    ):
        assert evenly("plot", "grid.csv", "--method", "power-law", "--into", "b", *extra).code == 0
    assert {f.name for f in Path("b").iterdir()} == {
        "grid-slices.svg", "grid-surface.svg", "grid.svg", "grid-predicted.svg",
    }  # fmt: skip


def test_example_lists_and_copies(evenly: Evenly) -> None:
    assert evenly("example").out.split() == ["gaussian-pulse"]
    assert evenly("example", "gaussian-pulse", "here").code == 0
    assert evenly("example", "gaussian-pulse", "here").code == 2
    assert evenly("example", "gaussian-pulse", "here", "--force").code == 0


def test_version_and_help(evenly: Evenly) -> None:
    assert evenly("--version").out.startswith("evenly ")
    shown = evenly("--help")
    assert shown.code == 0
    for command in ("read", "fit", "predict", "allocate", "plot", "sort", "example"):
        assert command in shown.out


def test_jitter_uses_steps(evenly: Evenly) -> None:
    rng = np.random.default_rng(1)
    frames = [
        pd.DataFrame({"solver": s, "cores": p, "seconds": w / p * rng.lognormal(0, 0.2, 200), "run": f"{s}{p}"})
        for s, w in (("a", 80.0), ("b", 40.0))
        for p in (4, 8, 16, 32)
    ]
    pd.concat(frames).to_csv("steps.csv", index=False)
    plain = evenly("allocate", "steps.csv", "--cores", "48", "--method", "power-law", "--json").json
    assert plain["jitter"]["expected_seconds"] > 1.05 * plain["seconds"]
    shown = evenly("allocate", "steps.csv", "--cores", "48", "--method", "power-law", "--jitter", "--json")
    assert shown.code == 0, shown.err
    assert shown.json["jitter"]["expected_seconds"] <= plain["jitter"]["expected_seconds"] * (1 + 1e-9)


def test_fit_tells_all_about_a_model(evenly: Evenly) -> None:
    rows = [(p, 120 / p + 0.25 * np.log2(p) + 1) for p in (2, 4, 8, 16, 32, 64, 128, 256)]
    pd.DataFrame(rows, columns=["cores", "seconds"]).to_csv("planted.csv", index=False)
    shown = evenly("fit", "planted.csv", "--scale", "cores=16", "--effort", "quick")
    assert shown.code == 0, shown.err
    assert "120 · cores^-1 + 0.25 · log2(cores) + 1" in shown.out
    assert "O(log2(cores))" in shown.out
    # 120 / 16 = 7.5 of 7.5 + 1 + 1 seconds.
    assert "79 % at cores = 16" in shown.out
    assert evenly("fit", "planted.csv", "--json").json["planted"]["in_the_limit"] == "O(log2(cores))"
    assert evenly("fit", "planted.csv", "--scale", "colour=3").code == 2


def test_sort_makes_a_case_folder(evenly: Evenly, samples: Path) -> None:
    logs = samples / "precice-v2" / "heated-plate"
    files = sorted(logs.glob("*-events.json"))
    dry = evenly("sort", *files, "--into", "case", "--dry-run", "--json")
    assert dry.code == 0, dry.err
    assert dry.json["done"] is False
    assert not Path("case").exists()
    done = evenly("sort", *files, "--into", "case")
    assert done.code == 0, done.err
    assert "sorted 2 files" in done.out
    assert set(evenly("read", "case", "--json").json["solvers"]) == {"Calculix", "OpenFOAM"}


def test_allocate_finds_the_scheme_in_the_precice_configuration(evenly: Evenly, samples: Path) -> None:
    found = evenly("allocate", samples / "precice-v3" / "parallel-explicit", "--cores", "12", "--json")
    assert found.code == 0, found.err
    assert found.json["layout"] == "max(Inner, Outer)"
    assert "from the preCICE configuration" in found.err
    together = evenly("allocate", samples / "precice-v3" / "parallel-explicit", "--cores", "12", "--write", "slurm")
    assert together.code == 2
    assert "take --write precice" in together.err


def test_memory_needs_measured_memory(evenly: Evenly, pulse: Path) -> None:
    shown = evenly("allocate", pulse, "--cores", "560", "--memory", "8GiB", "--cores-per-node", "28")
    assert shown.code == 2
    assert "--quantity peak_memory" in shown.err


def test_latex_needs_a_formula(evenly: Evenly, pulse: Path) -> None:
    assert "\\mathrm{cores}" in evenly("fit", pulse, "--latex", "--method", "power-law").out
    assert evenly("fit", pulse, "--latex", "--method", "piecewise-linear").code == 2


@pytest.mark.parametrize(
    ("given", "reason"),
    [
        (("--surface", "cores,size", "--along", "cores"), "leave one of them out"),
        (("--view", "3d"), "name them with --surface"),
        (("--extend-to", "200"), "name that parameter with --along"),
        (("--along", "cores", "--extend-to", "2"), "above the largest measured one"),
        (("--along", "kind", "--extend-to", "2"), "above the largest measured one"),
    ],
)
def test_options_of_pictures_without_effect_are_refused(evenly: Evenly, given: tuple[str, ...], reason: str) -> None:
    rows = [(p, n, k, n / p + len(k)) for p in (1, 2, 4) for n in (10, 20, 40) for k in ("cg", "gmres")]
    pd.DataFrame(rows, columns=["cores", "size", "kind", "seconds"]).to_csv("t.csv", index=False)
    shown = evenly("plot", "t.csv", "--method", "log-quadratic", *given)
    assert shown.code == 2
    assert reason in " ".join(shown.err.split())
