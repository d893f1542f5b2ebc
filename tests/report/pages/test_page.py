"""What stands on a page about each kind of result."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest

import evenly
from evenly.errors import EvenlyWarning, ExtrapolationWarning, InputError
from evenly.report.html_page import Page
from evenly.report.pages.explorer import Explorer
from tests.report.test_html_page import checked

CORES = (1, 2, 4, 8, 16, 32)


def runs_of(serial: float = 1.0, *, failed: int = 0) -> evenly.Runs:
    rows = [{"cores": p, "seconds": 100 / p + serial, "status": "ok"} for p in CORES]
    rows += [{"cores": 64, "seconds": np.nan, "status": "failed"}] * failed
    return evenly.Runs.from_frame(pd.DataFrame(rows), ["cores"])


def titles(page: Page) -> list[str]:
    return [section.title for section in page.sections]


@pytest.fixture(scope="module")
def model() -> evenly.Model:
    found = evenly.fit(runs_of(), method="pmnf")
    assert isinstance(found, evenly.Model)
    return found


def test_a_page_about_runs_and_their_model(model: evenly.Model) -> None:
    page = evenly.page(runs_of(failed=2), model, title="My <solver>", limit=0.95)
    assert titles(page) == [
        "What was measured",
        "The model",
        "Predictions",
        "On how many cores",
        "What to measure next",
    ]
    text = page.markdown()
    assert "2 of 8 runs did not end well: 2 failed" in text
    assert "time limit, enough in 95 %" in text
    assert page.numbers["runs"] == "8"
    assert page.numbers["recommended"].endswith("cores")
    assert "My &lt;solver&gt;" in page.html()
    assert {"runs", "models", "cores", "next"} <= set(page.data)
    json.dumps(page.data, allow_nan=False)
    assert len(page.html()) < 4_000_000


@pytest.mark.parametrize("method", ["power-law", "auto"])
def test_what_matters_and_how_errors_fall_are_told(method: str) -> None:
    random = np.random.default_rng(1)
    table = pd.DataFrame({"cores": 2.0 ** random.integers(0, 6, 48), "n": random.integers(8, 64, 48)})
    table["seconds"] = table["n"] ** 2 / table["cores"] * np.exp(0.05 * random.standard_normal(48))
    runs = evenly.Runs.from_frame(table, ["cores", "n"])
    page = evenly.page(runs, evenly.fit(runs, method=method, effort="quick") if method == "auto" else
                       evenly.fit(runs, method=method), next_runs=0)  # fmt: skip
    text = page.markdown()
    assert "| cores | 57 % | 57 % |" in text  # as of the law: the variances of log cores and of twice log n
    assert re.search(r"\| (12|24|48) \| [0-9.]+ % \| measured \|", text)
    (error,) = (value for name, value in page.numbers.items() if name.startswith("typical error"))
    assert f"typically off by {error} on runs left out" in page.html().lower().replace("<tspan", "<")


def test_what_failed_is_listed_and_told_at_the_sliders() -> None:
    page = evenly.page(runs_of(failed=3), evenly.fit(runs_of(failed=3), method="power-law"), next_runs=0)
    assert "| 64 | failed | 3 | none |" in page.markdown()
    explorer = next(part for section in page.sections for part in section.parts if isinstance(part, Explorer))
    assert 45 < explorer.table.loc[explorer.table["failed"], "cores"].min() <= 64
    assert "All runs of this configuration failed" in page.html()


def noisy(repetitions: int) -> evenly.Runs:
    random, cores = np.random.default_rng(0), np.repeat(np.arange(1, 41), repetitions)
    seconds = 100 / cores * np.exp(0.05 * random.standard_normal(len(cores)))
    seconds[30] *= 50 if repetitions == 1 else 1
    return evenly.Runs.from_frame(pd.DataFrame({"cores": cores, "seconds": seconds}), ["cores"])


def test_rows_that_are_left_out_are_told() -> None:
    with pytest.warns(EvenlyWarning, match="far off all that is near"):
        model = evenly.fit(noisy(1), method="power-law")
    text = evenly.page(noisy(1), model, next_runs=0).markdown()
    assert "far off all that is near and left out, 1 of 40 rows: run" in text


def test_of_what_intervals_are_is_told() -> None:
    runs = noisy(3)
    page = evenly.page(runs, evenly.fit(runs, method="power-law"), next_runs=0)
    told = re.search(
        r"The 90 % interval is for the median of repeated runs, not for one run: (\d+) % of the single runs lie inside",
        page.markdown(),
    )
    assert told is not None
    assert int(told[1]) < 85
    assert re.search(r"\d % of these medians of repeated runs inside the 90 % interval", page.html())


def test_sliders_stop_at_what_is_recommended_and_planned() -> None:
    table = pd.DataFrame({"cores": [16, 64, 256, 1024, 4096], "seconds": [100.0, 27, 8, 3, 2]})
    runs = evenly.Runs.from_frame(table, ["cores"])
    model = evenly.fit(runs, method="power-law")
    page = evenly.page(runs, model, cores=[48, 96, 777, 5001], next_runs=0)
    explorer = next(part for section in page.sections for part in section.parts if isinstance(part, Explorer))
    assert {16, 48, 64, 96, 256, 777, 1024, 4096, 5001} <= set(explorer.parameters["cores"])
    both = {"fluid": model, "solid": model}
    plan = evenly.allocate(both, cores=777)
    planned = evenly.page({"fluid": runs, "solid": runs}, both, plan, next_runs=0)
    for section in planned.sections:
        for part in section.parts:
            if isinstance(part, Explorer):
                assert part.start["cores"] == plan.cores[part.name]
                assert plan.cores[part.name] in part.parameters["cores"]


def test_gaps_and_missing_combinations_are_told() -> None:
    table = pd.DataFrame(
        {"p": [1, 2, 4, 512, 1, 2], "n": [1, 1, 1, 1, 8, 8], "seconds": [4.0, 2.0, 1.0, 0.5, 9.0, 5.0]}
    )
    text = evenly.page(evenly.Runs.from_frame(table, ["p", "n"]), next_runs=0).markdown()
    assert "6 of 8 combinations of these values were measured (4 of p × 2 of n)" in text
    assert "Nothing was measured between p = 4 and 512" in text


def test_coupled_solvers_and_their_plan(model: evenly.Model) -> None:
    models = {"fluid": model, "solid": model}
    page = evenly.page({"fluid": runs_of(), "solid": runs_of()}, models, evenly.allocate(models, cores=24), next_runs=0)
    assert titles(page) == [
        "How many cores for each solver", "What was measured", "The models", "Predictions of fluid",
        "Predictions of solid",
    ]  # fmt: skip
    assert page.title == "fluid, solid"
    assert page.data["plan"]["cores"] == {"fluid": 12, "solid": 12}
    assert re.fullmatch(r"[\d.]+ … [\d.]+ s", page.numbers["90 % interval"])
    assert "extrapolation" not in page.numbers["a step takes"]
    with pytest.warns(ExtrapolationWarning):
        beyond = evenly.page(evenly.allocate(models, cores=100))
    assert beyond.numbers["a step takes"].endswith(", an extrapolation")


def test_several_programs_without_a_plan_are_shown_side_by_side(model: evenly.Model) -> None:
    page = evenly.page({"fluid": runs_of(), "solid": runs_of()}, {"fluid": model, "solid": model}, next_runs=0)
    assert titles(page)[:2] == ["What was measured", "The programs side by side"]
    text = page.markdown()
    assert "`--cores N` (`evenly.allocate`) tells how many of N cores each of them gets" in text
    assert "| cores | fluid s | solid s |" in text
    assert re.search(r"\| 32 \| 4\.\d+ \| 4\.\d+ \|", text)
    labels = evenly.Runs.from_frame(pd.DataFrame({"method": ["a", "b"], "seconds": [1.0, 2.0]}), ["method"])
    other = evenly.fit({"solid": labels}, method="power-law")["solid"]
    mixed = evenly.page({"fluid": runs_of(), "solid": labels}, {"fluid": model, "solid": other}, next_runs=0)
    assert "| cores | fluid s" not in mixed.markdown()


def found_by_search() -> Any:
    return evenly.tune(evenly.Space(n=evenly.Integer(1, 9)), lambda at: 1.0 + (at["n"] - 4) ** 2, budget=6)


def cut() -> Any:
    from evenly.decomposition.costs.cost_model import Coefficient

    cost = evenly.CostModel("fdtd", {"chunks": Coefficient(5e-6), "points": Coefficient(1e-9)})
    return evenly.partition(evenly.fdtd.Simulation(cell=(8, 2, 2), resolution=10), ranks=2, cost=cost)


def recommended() -> Any:
    return evenly.recommend(evenly.fit(runs_of(), method="power-law"), CORES)


@pytest.mark.parametrize(
    ("made", "title", "number"),
    [
        (found_by_search, "The fastest configuration", "fastest"),
        (cut, "How to cut", "ranks"),
        (recommended, "On how many cores", "recommended"),
    ],
)
def test_other_results(made: Callable[[], Any], title: str, number: str) -> None:
    thing = made()
    page = evenly.page(thing)
    assert titles(page) == [title]
    assert number in page.numbers
    json.dumps(page.data, allow_nan=False)
    shown = thing._repr_html_()
    checked(shown)
    assert "<table>" in shown
    assert evenly.plot(thing)


def test_what_no_page_shows_is_refused(model: evenly.Model) -> None:
    for things, reason in (((), "nothing to show"), ((3,), "got int"), ((model, model), "give them names")):
        with pytest.raises(InputError, match=reason):
            evenly.page(*things)
    with pytest.raises(InputError, match="no pictures of int"):
        evenly.plot(3)


def test_a_notebook_shows_tables(model: evenly.Model) -> None:
    for thing in (runs_of(), model, evenly.allocate({"a": model, "b": lambda p: 30 / p}, cores=16)):
        shown = thing._repr_html_()
        assert "<table>" in shown
        checked(shown)
    assert "PMNF" in type(model)()._repr_html_()  # not fitted: its name
    pictures = evenly.plot({"a": model}, {"a": runs_of()})
    assert set(pictures) == {"a", "a-predicted"}
    checked(shown := pictures._repr_html_())
    assert shown.count("<img") == 2
    rows = [{"cores": p, "size": n, "seconds": n / p + 0.1} for p in (1, 2, 4, 8) for n in range(1, 7)]
    told = evenly.sensitivity(evenly.Runs.from_frame(pd.DataFrame(rows), ["cores", "size"]), repeats=1)
    assert "<table>" in told._repr_html_()


def test_the_number_of_cores_is_asked_for_not_guessed() -> None:
    rows = [(a, b, 10 / a + b) for a in (1, 2, 4) for b in (1, 2, 3)]
    runs = evenly.Runs.from_frame(pd.DataFrame(rows, columns=["alpha", "beta", "seconds"]), ["alpha", "beta"])
    page = evenly.page(runs, evenly.fit(runs, method="log-quadratic"), next_runs=0)
    assert "Nothing is recommended" in page.markdown()
    explorer = next(part for section in page.sections for part in section.parts if isinstance(part, Explorer))
    assert "cores" not in explorer.table


# ---- sliders ------------------------------------------------------------------------------------------------


def test_many_parameters_are_held_so_that_a_page_stays_small() -> None:
    noise = np.random.default_rng(0)
    names = [f"x{i}" for i in range(9)]
    table = pd.DataFrame(noise.uniform(1, 100, (60, 9)), columns=names)
    table["seconds"] = table.sum(axis=1)
    runs = evenly.Runs.from_frame(table, names)
    explorer = Explorer.of("", evenly.fit(runs, method="power-law"), runs)
    assert len(explorer.table) <= 16_000
    assert explorer.fixed
    assert "x0" in explorer.free
    assert set(runs.configurations["x0"]) & set(explorer.parameters["x0"])
    assert all(f"{name} = " in explorer.told for name in explorer.fixed)
    assert len(explorer.data) < 1_000_000


def test_sliders_start_where_at_says_and_stop_at_what_was_measured() -> None:
    rows = [(p, n, n / p) for p in (3, 48, 1111) for n in (7, 13, 999)]
    runs = evenly.Runs.from_frame(pd.DataFrame(rows, columns=["ranks", "n", "seconds"]), ["ranks", "n"])
    model = evenly.fit(runs, method="power-law")
    explorer = Explorer.of("a b", model, runs, at={"n": 13, "ranks": 48})
    assert {3, 48, 1111} <= set(explorer.parameters["ranks"])
    assert max(explorer.parameters["ranks"]) == 4444  # counts go on, sizes don't
    assert max(explorer.parameters["n"]) == 999
    assert explorer.parameters["n"][explorer.place("n")] == 13
    assert explorer.parameters["ranks"][explorer.place("ranks")] == 48
    assert len(explorer.points) == 9
    assert explorer.table["beyond"].sum() == (explorer.table["ranks"] > 1111).sum()


def test_labels_cannot_end_the_script_of_a_page() -> None:
    table = pd.DataFrame({"kind": ["</script><b>", "x & y"], "p": [1, 2], "seconds": [1.0, 2.0]})
    runs = evenly.Runs.from_frame(table, ["kind", "p"])
    html = Explorer.of("", evenly.fit(runs, method="log-quadratic"), runs).html()
    assert html.count("</script>") == 1
    assert "<b>" not in html


def test_questions_that_no_page_answers_are_refused(model: evenly.Model) -> None:
    goal = evenly.Goal(deadline_s=1)
    with pytest.raises(InputError, match="ask for the model of one program, but there are atm, ocn"):
        evenly.page({"atm": model, "ocn": model}, goal=goal)
    with pytest.raises(InputError, match="but there is none"):
        evenly.page(runs_of(), cores=[4, 8])
    with pytest.raises(InputError, match="at least one number of cores"):
        evenly.page(model, cores=[])


def test_one_model_and_runs_belong_together_whatever_their_names(model: evenly.Model) -> None:
    page = evenly.page({"a": runs_of()}, model, next_runs=0)
    assert "typical error on runs left out" in page.numbers
    assert set(evenly.plot({"ocn": model}, runs_of())) == {"ocn", "ocn-predicted"}
    assert set(evenly.plot(model, {"ocn": runs_of()})) == {"model", "model-predicted"}
    with pytest.raises(InputError, match="give runs by the names of the models"):
        evenly.plot(model, {"ocn": runs_of(), "atm": runs_of()})
    assert set(evenly.plot({"a/b": model, "a-b": model})) == {"a-b", "a-b-2"}
    with pytest.raises(InputError, match="leave them out"):
        evenly.plot(evenly.allocate({"a": model, "b": lambda p: 30 / p}, cores=16), runs_of())


def test_where_sliders_stand_is_measured_or_refused(model: evenly.Model) -> None:
    (name,) = model.space_.names
    page = evenly.page(runs_of(), model, at={name: 1000}, next_runs=0)
    assert "On how many cores" in titles(page)
    explorer = Explorer.of("", model, runs_of(), at={name: 1000})
    assert explorer.parameters[name][explorer.place(name)] == 1000
    with pytest.raises(InputError, match="must be a finite number"):
        evenly.page(runs_of(), model, at={name: "abc"})
    table = pd.DataFrame(
        [(p, kind, (10 if kind == "cg" else 20) / p) for p in (1, 2, 4, 8) for kind in ("cg", "gs")],
        columns=["cores", "kind", "seconds"],
    )
    runs = evenly.Runs.from_frame(table, ["cores", "kind"])
    other = evenly.fit(runs, method="log-quadratic")
    assert "At kind = gs:" in evenly.page(runs, other, at={"kind": "gs"}, next_runs=0).markdown()
    with pytest.raises(InputError, match="'kind' must be one of cg, gs"):
        evenly.page(runs, other, at={"kind": "zz"})


def test_sliders_stand_first_where_evenly_recommends_to_run() -> None:
    rows = [(p, n, 300 * n / p + 2 * np.log2(p) + 1) for p in (1, 2, 4, 8, 16, 32, 64) for n in (1, 2)]
    runs = evenly.Runs.from_frame(pd.DataFrame(rows, columns=["ncores", "n", "seconds"]), ["ncores", "n"])
    model = evenly.fit(runs, method="pmnf")
    page = evenly.page(runs, model, at={"n": 2}, next_runs=0)
    (explorer,) = [part for section in page.sections for part in section.parts if isinstance(part, Explorer)]
    assert explorer.start == {"ncores": evenly.recommend(model, range(1, 65), at={"n": 2}).cores, "n": 2}


def test_sliders_stand_first_on_a_combination_that_was_measured() -> None:
    """No two programs ran on the same nodes: the most frequent values alone would be nobody's run."""
    rows = [("train", 4, 8), ("train", 8, 8), ("mesh", 16, 2), ("mesh", 32, 2), ("foam", 64, 2), ("foam", 96, 16)]
    table = pd.DataFrame([(*row, 100.0 / row[1]) for row in rows], columns=["name", "cores", "nodes", "seconds"])
    runs = evenly.Runs.from_frame(table, ["name", "cores", "nodes"])
    explorer = Explorer.of("", evenly.fit(runs, method="log-quadratic"), runs)
    assert tuple(explorer.start[name] for name in ("name", "cores", "nodes")) in rows


@pytest.mark.parametrize("show", [evenly.plot, evenly.page])
def test_runs_of_another_program_are_refused(show: Any) -> None:
    mine = evenly.Runs.from_frame(pd.DataFrame({"cores": [1, 2, 4], "seconds": [4.0, 2.0, 1.0]}), ["cores"])
    other = evenly.Runs.from_frame(pd.DataFrame({"nodes": [1, 2, 4], "seconds": [4.0, 2.0, 1.0]}), ["nodes"])
    with pytest.raises(InputError, match="needs 'cores', but the runs have nodes"):
        show(evenly.fit(mine, method="power-law"), other)


def test_sliders_stop_at_what_failed() -> None:
    table = pd.DataFrame(
        {"cores": [2, 50, 333, 777], "seconds": [100.0, 9, 2, np.nan], "status": ["ok"] * 3 + ["failed"]}
    )
    runs = evenly.Runs.from_frame(table, ["cores"])
    explorer = Explorer.of("", evenly.fit(runs, method="power-law"), runs)
    assert 333 < explorer.table.loc[explorer.table["failed"], "cores"].min() <= 777
    assert 777 in explorer.parameters["cores"]


def test_an_odd_repetition_is_named_with_its_time_and_the_median() -> None:
    table = pd.DataFrame({"cores": np.repeat(CORES, 3), "seconds": np.repeat([100 / p for p in CORES], 3)})
    table.loc[4, "seconds"] = 1500.0
    text = evenly.page(evenly.Runs.from_frame(table, ["cores"])).markdown()
    assert "Repeated runs differ by a factor above 2 at cores = 2: 50, 50, 1500 s, median 50 s" in text


def test_the_run_that_is_to_be_made_first_is_in_the_table_of_runs(model: evenly.Model) -> None:
    page = evenly.page(runs_of(0.0), evenly.fit(runs_of(0.0), method="power-law"), cores=[64, 512], next_runs=2)
    text = page.markdown()
    assert "Run cores = 512 first" in text
    assert page.data["next"][""][0]["cores"] == 512
    assert text.count("| 512 |", text.index("What to measure next")) == 1


def test_the_page_of_a_search_recommends_a_number_of_cores_only_if_it_is_asked_for(model: evenly.Model) -> None:
    space = evenly.Space(cores=evenly.Integer(1, 32))
    found = evenly.tune(space, lambda at: 1.0 + abs(at["cores"] - 8), budget=6)
    page = evenly.page(found, runs_of(), model, next_runs=0)
    assert titles(page) == ["The fastest configuration", "What was measured", "The model", "Predictions"]
    explorer = next(part for section in page.sections for part in section.parts if isinstance(part, Explorer))
    assert explorer.start["cores"] == found.best["cores"]
    assert "On how many cores" in titles(evenly.page(found, runs_of(), model, cores=CORES, next_runs=0))
