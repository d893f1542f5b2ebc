"""Pages in a real browser: sliders move what is predicted, nothing is asked of a network, nothing scrolls sideways."""

from __future__ import annotations

import math
import re
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
import pytest

import evenly
from evenly.report.pages.explorer import Explorer
from evenly.report.slices import quietly
from tests.report.pages.conftest import Opened

if TYPE_CHECKING:
    from playwright.sync_api import FloatRect, Locator


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


def of_long_names() -> evenly.Runs:
    noise = np.random.default_rng(3)
    kinds = [f"{name}_of_the_equation_system" for name in ("Algebraic", "Chebyshev", "Direct", "Geometric", "Minimal",
             "Conjugate", "Flexible", "Jacobi", "Over", "Richardson", "Sparse", "Relaxation")]  # fmt: skip
    meshes = [f"A_very_long_mesh_name_with_underscores_{how}" for how in ("coarse", "fine")]
    rows = [
        (p, kind, mesh, (n + 1) * (90 / p + 0.1) * (1 + k) * noise.lognormal(0, 0.03))
        for p in (8, 16, 64, 256) for n, kind in enumerate(kinds) for k, mesh in enumerate(meshes)
    ]  # fmt: skip
    names = ["cores", "linear_equation_system_algorithm", "mesh"]
    return evenly.Runs.from_frame(pd.DataFrame(rows, columns=[*names, "seconds"]), names)


@pytest.fixture(scope="module")
def long_names(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A page with twelve long names."""
    runs = of_long_names()
    at = {"linear_equation_system_algorithm": "Chebyshev_of_the_equation_system"}
    at |= {"mesh": "A_very_long_mesh_name_with_underscores_fine"}
    page = evenly.page(runs, evenly.fit(runs, method="log-quadratic"), at=at, cores=[8, 16, 64, 256, 1024], next_runs=2)
    return page.save(tmp_path_factory.mktemp("long") / "page.html")


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
    tab.get_by_label("grid size", exact=True).fill(str(len(sizes) - 1))
    assert curve.get_attribute("d") != before
    tab.locator("select[data-parameter]").select_option(label="b <&")
    cores = explorer.parameters["cores"][int(tab.get_by_label("cores", exact=True).input_value())]
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


# ---- long names, phones, paper ------------------------------------------------------------------------------


#: Pairs of elements of which one lies over the other.
_OVERLAPS = """(all) => all.map((one) => one.getBoundingClientRect()).flatMap((a, i, boxes) => boxes.slice(i + 1)
  .filter((b) => a.left < b.right - 1 && b.left < a.right - 1 && a.top < b.bottom - 1 && b.top < a.bottom - 1)
  .map((b) => [a.x, a.y, b.x, b.y]))"""
#: Elements of a picture that are cut at its edge.
_CUT = """(svg) => [...svg.querySelectorAll("text, circle, line.bar")].filter((one) => {
  const a = one.getBoundingClientRect(), b = svg.getBoundingClientRect();
  return a.left < b.left - 0.5 || a.right > b.right + 0.5 || a.top < b.top - 0.5 || a.bottom > b.bottom + 0.5;
}).map((one) => one.textContent)"""


@pytest.mark.parametrize("width", [380, 768, 1280])
def test_long_names_fit_any_screen(opened: Opened, long_names: Path, width: int) -> None:
    tab = opened(long_names, width=width)
    assert tab.evaluate("document.documentElement.scrollWidth") <= width
    assert tab.locator(".sliders label, .sliders select, .sliders output").evaluate_all(_OVERLAPS) == []
    tab.locator("[data-along]").select_option(label="linear_equation_system_algorithm")
    picture = tab.locator(".explorer svg")
    assert picture.locator("text.axis ~ text").evaluate_all(_OVERLAPS) == []
    assert picture.evaluate(_CUT) == []
    assert picture.locator("line.bar").count() == 12
    assert picture.locator(".now").count() == 1
    # A shortened name keeps both ends, and tells the whole.
    if width == 380:
        assert (picture.locator(".now").text_content() or "").startswith("Cheb")
        assert picture.locator(".now title").text_content() == "Chebyshev_of_the_equation_system"
    tab.locator("[data-along]").select_option(label="cores")
    assert picture.locator("text").evaluate_all(_OVERLAPS) == []
    assert picture.evaluate(_CUT) == []


def test_the_curve_is_told_in_one_unit(opened: Opened, long_names: Path) -> None:
    tab = opened(long_names)
    told = tab.locator(".explorer svg").get_attribute("aria-label") or ""
    assert re.fullmatch(
        r"time predicted [\d.]+ (\w+), 90 % interval \S+ … \S+ \1, core-hours .*; "
        r"along cores, from \S+ \1 at 8 to \S+ \1 at 1024", told,
    ), told  # fmt: skip
    tab.locator("[data-along]").select_option(label="mesh")
    told = tab.locator(".explorer svg").get_attribute("aria-label") or ""
    assert "along mesh, least for A_very_long_mesh_name_with_underscores_coarse, " in told


def test_paper_shows_all_that_a_screen_scrolls_or_folds(opened: Opened, long_names: Path) -> None:
    tab = opened(long_names, width=718)  # a page of A4 without its margins
    tab.emulate_media(media="print")
    assert tab.evaluate("document.documentElement.scrollWidth") <= 718
    hidden = "(all) => all.filter((one) => one.scrollWidth > one.clientWidth + 1).length"
    assert tab.locator(".wide").evaluate_all(hidden) == 0
    assert tab.locator("details td").first.is_visible()
    assert tab.locator("[data-copy]").first.is_hidden()
    tab.evaluate("dispatchEvent(new Event('beforeprint'))")
    assert tab.locator("details[open]").count() == 1
    tab.evaluate("dispatchEvent(new Event('afterprint'))")
    assert tab.locator("details[open]").count() == 0


def _box(element: Locator) -> FloatRect:
    found = element.bounding_box()
    assert found is not None
    return found


def test_a_phone_shows_small_cards_and_whole_figures(opened: Opened, long_names: Path) -> None:
    tab = opened(long_names, width=380)
    first, second = (_box(tab.locator("header dl div").nth(n)) for n in (0, 1))
    assert first["y"] == second["y"]
    assert tab.locator("header dt").last.text_content() == "90\N{NO-BREAK SPACE}% interval"
    figures = tab.locator("figure.wide")
    assert figures.evaluate_all("(all) => all.map((e) => e.scrollWidth <= e.clientWidth)") == [True] * figures.count()
    section = tab.locator("#on-how-many-cores")
    button, caption = _box(section.locator("button")), _box(section.locator(".caption"))
    assert button["x"] >= caption["x"] + caption["width"]
    assert caption["y"] - 1 <= button["y"] < caption["y"] + caption["height"]
    assert _box(tab.locator("#what-to-measure-next td.long").first)["width"] >= 190
    assert "line, dots: predicted; band, bars: 90" in (tab.locator(".explorer .caption").text_content() or "")


def test_what_is_recommended_stands_in_view_in_a_figure_wider_than_the_screen(opened: Opened, tmp_path: Path) -> None:
    plan = evenly.allocate({"fluid": lambda p: 30 / p + 0.1, "solid": lambda p: 12 / p}, cores=96)
    tab = opened(evenly.page(plan).save(tmp_path / "page.html"), width=300)
    inside = """(mark) => { const a = mark.getBoundingClientRect(), b = mark.closest(".wide").getBoundingClientRect();
      return a.left >= b.left && a.right <= b.right; }"""
    assert tab.locator("figure [data-chosen]").evaluate(inside)
    assert tab.locator("figure:has([data-chosen])").evaluate("(figure) => figure.scrollLeft") > 0


@pytest.mark.parametrize("dark", [False, True])
def test_the_recommended_row_has_weight_and_ground(opened: Opened, long_names: Path, dark: bool) -> None:
    tab = opened(long_names, dark=dark)
    chosen, other = tab.locator("tr.chosen td").first, tab.locator("tr.chosen ~ tr td, tr:has(~ tr.chosen) td").first
    look = "(cell) => [getComputedStyle(cell).fontWeight, getComputedStyle(cell).backgroundColor]"
    assert chosen.evaluate(look)[0] == "700"
    assert chosen.evaluate(look)[1] != other.evaluate(look)[1]


def test_numbers_are_copied_as_a_spreadsheet_reads_them(opened: Opened, long_names: Path) -> None:
    tab = opened(long_names)
    tab.context.grant_permissions(["clipboard-read", "clipboard-write"])
    tab.locator("#on-how-many-cores [data-copy]").click()
    tab.get_by_text("copied", exact=True).wait_for()
    header, *rows = [row.split("\t") for row in tab.evaluate("navigator.clipboard.readText()").split("\n")]
    unit = header[1].removeprefix("time ")
    assert header == ["cores", f"time {unit}", f"time {unit} 90 % from", f"time {unit} 90 % to", "used", "core-h",
                      "core-h 90 % from", "core-h 90 % to"]  # fmt: skip
    assert [row[0] for row in rows] == ["8", "16", "64", "256", "1024"]
    for row in rows:
        low, high = float(row[2]), float(row[3])
        assert low < float(row[1]) < high  # no star
        assert re.fullmatch(r"\d+(\.\d+)? %", row[4])
