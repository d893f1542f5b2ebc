from __future__ import annotations

import itertools
import json
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from rich.console import Console
from rich.table import Table

import evenly
from evenly.allocation.plan import Plan
from evenly.allocation.problem.limits import Limits
from evenly.allocation.problem.noise import Compare, Noise
from evenly.errors import ExtrapolationWarning, ReadError
from evenly.metrics import mlogq
from evenly.models.base import Model
from evenly.report.formatting import in_unit, typical_error
from evenly.report.left_out_errors import left_out_errors
from evenly.report.pages.measurements import measured
from evenly.report.tables import (
    comparison_table,
    curve_as_dict,
    curve_table,
    errors_of,
    model_table,
    models_as_dict,
    models_table,
    plan_as_dict,
    plan_table,
    predictions_as_dict,
    predictions_table,
    runs_as_dict,
    runs_table,
    skipped_table,
)
from evenly.runs.runs import Runs

Fit = Callable[[Runs], Model]


def rendered(table: Table, width: int = 80) -> str:
    console = Console(width=width, record=True, file=Path("/dev/null").open("w"), color_system=None)  # noqa: SIM115
    with console.file:
        console.print(table)
        return console.export_text()


@pytest.fixture(scope="module")
def plan(strong: Runs, fit: Fit) -> Plan:
    models = {"inner solver": fit(strong), "outer": fit(strong)}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ExtrapolationWarning)
        compare = Compare(
            current={"inner solver": 300, "outer": 260}, degrees_of_freedom={"inner solver": 1e6, "outer": 2e6}
        )
        return evenly.allocate(models, cores=561, layout="max('inner solver', outer)", compare=compare)


def test_runs_are_counted_per_solver(strong: Runs, grid: Runs) -> None:
    text = rendered(runs_table({"inner": strong, "outer": grid}, sources=[(Path("a"), "table"), (Path("b"), "table")]))
    inner = next(line for line in text.splitlines() if "inner" in line)
    for part in ("16", "4 of cores 100 … 300", "180 … 720 ms", "4", "13 %"):
        assert part in inner
    assert "35" in text
    assert "n 1 … 16" in text
    assert "read from 2 × table" in text


def test_steps_of_a_run_are_no_runs() -> None:
    rows = [(cores, 1.0 / cores, f"r{cores}", step) for cores in (1, 2, 4) for step in range(24)]
    runs = Runs.from_frame(pd.DataFrame(rows, columns=["cores", "seconds", "run", "repetition"]), ["cores"])
    text = rendered(runs_table({"inner": runs}))
    assert next(line for line in text.splitlines() if "inner" in line).split()[:2] == ["inner", "3"]
    assert "72 values" in text
    assert measured({"inner": runs}).numbers["runs"] == "3"


def test_failed_runs_and_labels_are_told() -> None:
    frame = pd.DataFrame({
        "solver": ["cg", "gmres", "cg"], "seconds": [1.0, 2.0, None], "status": ["ok", "ok", "failed"],
    })  # fmt: skip
    runs = Runs.from_frame(frame, ["solver"])
    text = rendered(runs_table({"": runs}))
    assert "1 failed" in text
    assert "cg, gmres" in text
    facts = runs_as_dict({"": runs})["solvers"][""]
    assert (facts["rows"], facts["failed"], facts["configurations"]) == (3, 1, 2)
    assert facts["typical_spread"] is None


def test_runs_that_all_failed_are_still_a_row() -> None:
    frame = pd.DataFrame({"cores": [1, 2], "seconds": [None, None], "status": ["failed", "timed out"]})
    runs = Runs.from_frame(frame, ["cores"])
    assert "nothing" in rendered(runs_table({"inner": runs}))
    assert json.loads(json.dumps(runs_as_dict({"inner": runs}), allow_nan=False))["solvers"]["inner"]["failed"] == 2


def test_skipped_files_keep_line_and_reason() -> None:
    errors = [
        ReadError("very/" * 12 + "run.log", "a number was expected, got '[abc]'", line=31),
        ReadError("x", "empty"),
    ]
    text = rendered(skipped_table(errors))
    assert "31" in text
    assert "[abc]" in text
    assert runs_as_dict({}, skipped=errors)["skipped"][1] == {"path": "x", "line": None, "reason": "empty"}


def test_models_show_their_errors(strong: Runs, fit: Fit) -> None:
    train, test = strong.split("cores < 250")
    models = {"inner": fit(train)}
    text = rendered(models_table(models, {"inner": train}, {"inner": test}))
    error = errors_of(models["inner"], test)["MLogQ"]
    for part in ("PlainLog", "cores 100 … 200", typical_error(error), "100 %"):
        assert part in text
    table = test.aggregate()
    assert error == pytest.approx(mlogq(table["seconds"], 60 / table["cores"]))


def test_formulas_stand_below_the_table(strong: Runs) -> None:
    model: Any = evenly.fit(strong, method="power-law")
    models = {"inner": model}
    text = rendered(models_table(models, {"inner": strong}))
    assert f"inner: {model.formula_}" in " ".join(text.split())
    assert models_as_dict(models)["inner"]["formula"] == str(model.formula_)


def test_models_without_runs_show_no_errors(strong: Runs, fit: Fit) -> None:
    found = models_as_dict({"inner": fit(strong)})
    assert found["inner"]["errors"] is None
    assert json.loads(json.dumps(found, allow_nan=False)) == found
    assert "–" in rendered(models_table({"inner": fit(strong)}, test={}))


def test_one_model_shows_every_metric(strong: Runs, fit: Fit) -> None:
    text = rendered(model_table(fit(strong), strong, strong, name="inner"))
    for metric in evenly.metrics.METRICS:
        assert metric in text
    assert "held out" in text


def test_exact_models_give_json_without_infinities() -> None:
    runs = Runs.from_frame(pd.DataFrame({"cores": [1, 2], "seconds": [2.0, 2.0]}), ["cores"])
    models = {"a": evenly.fit(runs, method="power-law")}
    json.dumps(models_as_dict(models, {"a": runs}), allow_nan=False)


def test_predictions_show_values_intervals_and_stars(strong: Runs, fit: Fit) -> None:
    model = fit(strong)
    text = rendered(predictions_table({"inner": model}, {"cores": [150, 600]}))
    lines = text.splitlines()
    inside, outside = (next(one for one in lines if one.split()[:1] == [count]) for count in ("150", "600"))
    assert "400 ms" in inside
    assert "*" not in inside
    assert "100 ms*" in outside
    assert "outside what was measured" in text
    found = predictions_as_dict({"inner": model}, {"cores": [150]}, level=0.8)
    lower, upper = model.interval({"cores": [150]}, 0.8)
    assert found["predictions"] == [{
        "solver": "inner", "configuration": {"cores": 150}, "quantity": "seconds", "unit": "s",
        "value": pytest.approx(0.4), "lower": lower[0], "upper": upper[0], "extrapolated": False,
    }]  # fmt: skip


def test_several_solvers_get_a_column(strong: Runs, fit: Fit) -> None:
    text = rendered(predictions_table({"inner": fit(strong), "outer": fit(strong)}, {"cores": [150]}))
    assert "inner" in text
    assert "outer" in text


def test_the_plan_shows_cores_time_and_interval(plan: Plan) -> None:
    text = rendered(plan_table(plan))
    for name, cores in plan.cores.items():
        row = next(line for line in text.splitlines() if name in line)
        assert str(cores) in row
    assert "90 % interval of a step" in text
    assert "imbalance" in text
    assert str(plan.used) in text


def test_comparisons_are_beside_the_plan(plan: Plan) -> None:
    text = rendered(comparison_table(plan))
    assert "now" in text
    for other in plan.versus.values():
        assert f"{100 * other.gain:.2g} %" in text


def test_the_curve_for_several_totals(plan: Plan) -> None:
    text = rendered(curve_table(plan, [200, 400, 561]))
    found = curve_as_dict(plan, [200, 400, 561])
    for row in found["totals"]:
        line = next(one for one in text.splitlines() if one.split()[:1] == [str(row["total_cores"])])
        assert all(str(count) in line for count in row["cores"].values())
        assert row["seconds"] == plan.at(row["total_cores"]).seconds
        assert row["interval_seconds"] == list(plan.at(row["total_cores"]).interval or ())


def test_a_step_of_many_uncertain_solvers_is_likelier_longer(strong: Runs, fit: Fit) -> None:
    model = fit(strong)
    alone = evenly.allocate({"a": model}, cores=300)
    many = evenly.allocate(dict.fromkeys("abcd", model), cores=1000)
    assert "longer" not in rendered(plan_table(alone))
    assert "longer than" in " ".join(rendered(plan_table(many)).split())


def test_an_interval_that_says_nothing_is_not_written_out() -> None:
    cores = [150, 170, 200, 250, 300]
    runs = Runs.from_frame(pd.DataFrame({"cores": cores, "seconds": [0.45, 0.38, 0.30, 0.25, 0.27]}), ["cores"])
    model = evenly.fit(runs, method="log-quadratic")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ExtrapolationWarning)
        far = evenly.allocate({"a": model, "b": model}, cores=50_000, limits=Limits(minimum=20_000))
        text = " ".join(rendered(plan_table(far)).split())
    assert far.interval is not None
    assert far.interval[1] > 1e4 * far.interval[0]
    assert "90 % interval of a step: any, the models extrapolate too far from the measurements" in text


def test_what_one_more_node_brings() -> None:
    plan = evenly.allocate({"a": lambda p: 80 / p + 0.1, "b": lambda p: 80 / p + 0.1}, cores=64)
    rows = curve_as_dict(plan, [16, 32, 64])["totals"]
    seconds, hours = [10.1, 5.1, 2.6], [16 * 10.1, 32 * 5.1, 64 * 2.6]
    assert [row["saved"] for row in rows] == [None, *(pytest.approx(1 - b / a) for a, b in itertools.pairwise(seconds))]
    assert [row["efficiency"] for row in rows] == pytest.approx([hours[0] / one for one in hours])
    text = rendered(curve_table(plan, [16, 32, 64]))
    assert "saves" in text
    line = next(one for one in text.splitlines() if one.split()[:1] == ["32"])
    assert "50 %" in line
    assert "99 %" in line


def test_the_whole_curve_as_numbers(plan: Plan) -> None:
    found = curve_as_dict(plan)
    assert len(found["totals"]) == len(plan.curve)
    assert found["knee_cores"] == plan.knee
    assert found["totals"][-1]["cores"] == plan.cores
    json.dumps(found, allow_nan=False)


def test_the_plan_as_numbers(plan: Plan) -> None:
    found = json.loads(json.dumps(plan_as_dict(plan), allow_nan=False))
    assert found["cores"] == plan.cores
    assert found["seconds"] == plan.seconds


def test_idle_cores_are_told() -> None:
    plan = evenly.allocate({"a": lambda p: 10 / p + p, "b": lambda p: 1 / p + p}, cores=50)
    assert "cores stay idle: by the solvers' curves, they would not make a step faster" in " ".join(
        rendered(plan_table(plan)).split()
    )
    cheap = evenly.allocate({"a": lambda p: 10 / p + 1, "b": lambda p: 5 / p + 1}, cores=50, objective="cost")
    assert "47 of 50 cores stay idle: the goal is the fewest core-hours" in " ".join(
        rendered(plan_table(cheap)).split()
    )
    assert "fastest on these cores" in rendered(comparison_table(cheap))
    assert "runner-up" not in rendered(comparison_table(cheap))


def test_what_means_nothing_is_left_out(plan: Plan) -> None:
    assert "may be as good: by the runs, a step may take no longer with these counts than with the plan's" in " ".join(
        rendered(plan_table(plan)).split()
    )
    sure = evenly.allocate({"a": lambda p: 10 / p, "b": lambda p: 5 / p}, cores=30, layout="a + b")
    assert "may be as good" not in rendered(plan_table(sure))
    assert "imbalance" not in rendered(plan_table(sure))
    assert "imbalance" in rendered(plan_table(plan))


def test_six_solvers_fit_into_eighty_columns() -> None:
    names = [f"participant-{i}" for i in range(6)]
    solvers = {name: (lambda p, i=i: (i + 1) / p) for i, name in enumerate(names)}
    plan = evenly.allocate(solvers, cores=12345)
    text = rendered(curve_table(plan, [1000, 12345]))
    flat = " ".join(" ".join(line.split()) for line in text.splitlines())
    assert all(len(line) <= 80 for line in text.splitlines())
    assert all(str(count) in flat for count in plan.cores.values())


@pytest.mark.parametrize("method", ["power-law", "log-quadratic", "pmnf"])
def test_left_out_errors_are_those_of_fits_without_each_run(method: str) -> None:
    """For fits that choose nothing, refitting without each run gives the same; an average chooses its weights anew."""
    cores = np.array([4, 8, 16, 32, 64, 128, 256, 512])
    wobble = np.exp(np.random.default_rng(2).normal(0, 0.05, len(cores)))
    table = pd.DataFrame({"cores": cores, "seconds": (500 / cores + 0.5) * wobble}).sample(frac=1.0, random_state=1)
    runs = Runs.from_frame(table, ["cores"])
    model = evenly.fit(runs, method=method)
    found = left_out_errors(model, runs)
    assert found is not None
    if method == "pmnf":
        assert found["MLogQ"] > errors_of(model, runs)["MLogQ"]
    else:
        condensed = runs.ok.aggregate()
        kept = [np.arange(len(condensed)) != k for k in range(len(condensed))]
        refitted = [type(model)().fit(condensed.loc[some, ["cores"]], condensed.loc[some, "seconds"]) for some in kept]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ExtrapolationWarning)
            predicted = [
                one.predict(condensed.loc[~some, ["cores"]])[0] for one, some in zip(refitted, kept, strict=True)
            ]
        assert found["MLogQ"] == pytest.approx(mlogq(condensed["seconds"], predicted), rel=1e-6)
    text = rendered(models_table({"a": model}, {"a": runs}))
    assert "off by," in text
    assert typical_error(found["MLogQ"]) in text
    facts = models_as_dict({"a": model}, {"a": runs})["a"]
    assert facts["left_out_errors"]["MLogQ"] == found["MLogQ"]
    assert facts["errors"]["MLogQ"] == errors_of(model, runs)["MLogQ"]
    assert "left out" in rendered(model_table(model, runs))
    others = Runs.from_frame(table.assign(seconds=table["seconds"] ** 1.1), ["cores"])
    assert left_out_errors(model, others) is None


def test_left_out_errors_need_something_to_judge_by() -> None:
    runs = Runs.from_frame(pd.DataFrame({"cores": [1, 2], "seconds": [2.0, 1.0]}), ["cores"])
    model = evenly.fit(runs, method="power-law")
    assert left_out_errors(model, runs) is None
    assert "–" in rendered(models_table({"a": model}, {"a": runs}))


def test_one_unit_per_row_of_predictions() -> None:
    cores = np.array([1, 4, 16, 64, 256])
    runs = Runs.from_frame(pd.DataFrame({"cores": cores, "seconds": 1500 / cores**0.99}), ["cores"])
    text = rendered(predictions_table({"a": evenly.fit(runs, method="power-law")}, {"cores": [1, 256]}))
    for count in ("1", "256"):
        row = next(one for one in text.splitlines() if one.split()[:1] == [count])
        assert len([word for word in row.split() if word in ("ms", "s", "min")]) == 2
        assert len({word for word in row.split() if word in ("ms", "s", "min")}) == 1


def test_steps_that_vary_show_the_typical_and_the_mean_step(strong: Runs, fit: Fit) -> None:
    noise = Noise(samples={"a": [1.0, 1.0, 1.0, 3.0], "b": [1.0, 1.0, 1.0, 1.0]})
    plan = evenly.allocate({"a": fit(strong), "b": fit(strong)}, cores=300, noise=noise)
    text = " ".join(rendered(plan_table(plan)).split())
    assert "typical step" in text
    assert "mean step" in text
    assert "90 % interval of a typical step" in text
    assert plan.expected_interval is not None
    between = " … ".join(in_unit(bound, 1e-3, 3) for bound in plan.expected_interval)  # in ms, as the table
    assert f"on average (90 % interval {between} ms)" in text


def test_a_present_assignment_that_needs_too_many_cores_is_told() -> None:
    compare = Compare(current={"a": 60, "b": 45})
    plan = evenly.allocate({"a": lambda p: 60 / p, "b": lambda p: 30 / p}, cores=90, compare=compare)
    assert "needs 105 cores, there are 90" in " ".join(rendered(comparison_table(plan), 160).split())
    assert plan_as_dict(plan)["versus"]["current"]["used_cores"] == 105


def test_a_rate_of_a_solver_counts_all_its_times_in_a_step() -> None:
    times = {"atm": lambda p: 8000 / p, "ocn": lambda p: 4000 / p}
    plan = evenly.allocate(times, cores=300, layout="10 * max(atm, 2 * ocn)", step_days=10.0)
    cells = [list(column.cells) for column in plan_table(plan, unit="s/day").columns]
    assert [float(str(text)) for text in cells[-2]] == pytest.approx([plan.seconds / 10] * 3, rel=0.02)
