"""Pages in a real browser: sliders move what is predicted, nothing is asked of a network, nothing scrolls sideways."""

from __future__ import annotations

import math
import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import evenly
from evenly.report.pages.explorer import Explorer
from evenly.report.slices import quietly
from tests.report.pages.conftest import Opened


def of_one_parameter() -> evenly.Runs:
    noise = np.random.default_rng(1)
    rows = [(p, (300 / p + 2 * math.log2(p) + 1) * noise.lognormal(0, 0.02)) for p in (1, 2, 4, 8, 16, 32, 64)]
    return evenly.Runs.from_frame(pd.DataFrame(rows, columns=["cores", "seconds"]), ["cores"])


def of_three_parameters() -> evenly.Runs:
    noise = np.random.default_rng(2)
    rows = [
        (p, n, kind, (n / p + 0.02 * p + 0.5) * (1.3 if kind == "b <&" else 1) * noise.lognormal(0, 0.03))
        for p in (1, 2, 4, 8, 16, 32) for n in (10, 40, 160) for kind in ("a", "b <&")
    ]  # fmt: skip
    names = ["cores", "grid size", "kind"]
    return evenly.Runs.from_frame(pd.DataFrame(rows, columns=[*names, "seconds"]), names)


@pytest.mark.parametrize("method", ["pmnf", "power-law", "gp", "forest"])
def test_sliders_show_what_the_model_predicts(opened: Opened, tmp_path: Path, method: str) -> None:
    runs = of_one_parameter()
    model = evenly.fit(runs, method=method)
    machine = evenly.Machine(price_per_core_hour=0.5)
    silent = quietly(model)
    tab = opened(evenly.page(runs, model, machine=machine, next_runs=0).save(tmp_path / "page.html"))
    values = Explorer.of("", model, runs).parameters["cores"]
    slider, answer = tab.locator("input[type=range]"), tab.locator("[data-answer]")
    curve = tab.locator("[data-here]")
    places = set()
    for place in (0, 3, len(values) // 2, len(values) - 1):
        slider.fill(str(place))
        asked = {"cores": [values[place]]}
        predicted = float(answer.get_attribute("data-value") or 0)
        assert predicted == pytest.approx(silent.predict(asked)[0], rel=1e-6)
        lower, upper = silent.interval(asked)
        assert float(answer.get_attribute("data-lower") or 0) == pytest.approx(lower[0], rel=1e-6)
        assert float(answer.get_attribute("data-upper") or 0) == pytest.approx(upper[0], rel=1e-6)
        assert tab.locator("[data-shown]").text_content() == str(values[place])
        assert tab.locator("[data-beyond]").is_visible() == (values[place] > 64)
        # The price of the cores for this time, with three digits.
        cost = float((answer.locator("dd").last.text_content() or "").split()[0])
        assert cost == pytest.approx(predicted * values[place] / 3600 * 0.5, rel=6e-3)
        places.add((curve.get_attribute("cx"), curve.get_attribute("cy")))
    assert len(places) == 4  # the mark moves


def test_a_slider_of_another_parameter_moves_the_curve(opened: Opened, tmp_path: Path) -> None:
    runs = of_three_parameters()
    model = evenly.fit(runs, method="log-quadratic")
    explorer = Explorer.of("", model, runs)
    tab = opened(evenly.page(runs, model, next_runs=0).save(tmp_path / "page.html"))
    curve = tab.locator("[data-curve]").first
    before = curve.get_attribute("d")
    sizes = explorer.parameters["grid size"]
    tab.get_by_label("grid size").fill(str(len(sizes) - 1))
    assert curve.get_attribute("d") != before
    tab.locator("select[data-parameter]").select_option(label="b <&")
    cores = explorer.parameters["cores"][int(tab.get_by_label("cores").input_value())]
    asked = {"cores": [cores], "grid size": [sizes[-1]], "kind": ["b <&"]}
    answer = tab.locator("[data-answer]")
    assert float(answer.get_attribute("data-value") or 0) == pytest.approx(model.predict(asked)[0], rel=1e-6)
    tab.locator("[data-along]").select_option(label="grid size")
    assert tab.locator("svg .axis").first.text_content() == "grid size"
    tab.locator("[data-along]").select_option(label="kind")
    assert tab.locator("svg text", has_text="b <&").count() == 1


def test_bounds_are_written_so_exactly_that_the_value_lies_between(opened: Opened, tmp_path: Path) -> None:
    """1.47 core-hours stood beside 1.5 … 1.5."""
    rows = [(p, 5300 / p * (1 + 1e-3 * (p % 3))) for p in (1, 2, 4, 8, 16, 32, 64)]
    runs = evenly.Runs.from_frame(pd.DataFrame(rows, columns=["cores", "seconds"]), ["cores"])
    tab = opened(evenly.page(runs, evenly.fit(runs, method="power-law"), next_runs=0).save(tmp_path / "page.html"))
    slider, answer = tab.locator("input[type=range]"), tab.locator("[data-answer]")
    for place in (0, 3, 5):
        slider.fill(str(place))
        text = answer.locator("dd").last.text_content() or ""
        value, low, high = (float(one) for one in re.findall(r"[\d.e-]+", text))
        assert low < value < high, text


def test_keys_move_a_slider(opened: Opened, tmp_path: Path) -> None:
    runs = of_one_parameter()
    tab = opened(evenly.page(runs, evenly.fit(runs, method="power-law"), next_runs=0).save(tmp_path / "page.html"))
    shown = tab.locator("[data-shown]")
    before = shown.text_content()
    tab.locator("input[type=range]").focus()
    tab.keyboard.press("ArrowRight")
    assert shown.text_content() != before


@pytest.mark.parametrize("dark", [False, True])
def test_a_phone_needs_no_scrolling_sideways_and_dark_pages_have_dark_pictures(
    opened: Opened, tmp_path: Path, dark: bool
) -> None:
    runs = of_three_parameters()
    model = evenly.fit(runs, method="log-quadratic")
    tab = opened(evenly.page(runs, model, next_runs=2).save(tmp_path / "page.html"), width=390, dark=dark)
    assert tab.evaluate("document.documentElement.scrollWidth") <= 390
    for ground in tab.evaluate(
        "[...document.querySelectorAll('figure')].map((f) => getComputedStyle(f).backgroundColor)"
    ):
        light = sum(int(part) for part in ground.removeprefix("rgb(").removesuffix(")").split(",")) > 3 * 128
        assert light != dark
    for picture in tab.locator("svg").all():
        assert picture.get_attribute("role") == "img"
        assert picture.get_attribute("aria-label")


def test_a_table_is_copied_for_a_spreadsheet(opened: Opened, tmp_path: Path) -> None:
    runs = of_one_parameter()
    tab = opened(evenly.page(runs, next_runs=0).save(tmp_path / "page.html"))
    tab.context.grant_permissions(["clipboard-read", "clipboard-write"])
    tab.locator("summary").click()
    tab.locator("[data-copy]").click()
    tab.get_by_text("copied", exact=True).wait_for()
    rows = tab.evaluate("navigator.clipboard.readText()").split("\n")
    assert rows[0].split("\t")[0] == "cores"
    assert [row.split("\t")[0] for row in rows[1:]] == ["1", "2", "4", "8", "16", "32", "64"]


def test_one_unit_is_used_all_over_a_page(opened: Opened, tmp_path: Path) -> None:
    """The number in the summary, the table of counts, sliders and the curve are in hours, wherever sliders stand."""
    table = pd.DataFrame([(p, 3600 * (4 / p + 0.01 * p)) for p in (1, 2, 4, 8, 16, 32)], columns=["cores", "seconds"])
    runs = evenly.Runs.from_frame(table, ["cores"])
    tab = opened(evenly.page(runs, evenly.fit(runs, method="pmnf"), next_runs=0).save(tmp_path / "page.html"))
    slider, answer = tab.locator("input[type=range]"), tab.locator("[data-answer] dd")
    for place in ("0", "5", "20"):
        slider.fill(place)
        assert (answer.first.text_content() or "").endswith(" h")
        assert (answer.nth(1).text_content() or "").endswith(" h")
    assert "time (h)" in (tab.locator(".explorer svg").text_content() or "")
    assert "time h" in (tab.locator("#on-how-many-cores table").text_content() or "")
