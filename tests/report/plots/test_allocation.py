from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

import evenly
from evenly.allocation.plan import Plan
from evenly.allocation.problem.layout import parse_layout
from evenly.allocation.problem.noise import Compare
from evenly.errors import ExtrapolationWarning, InputError
from evenly.models.base import Model
from evenly.report.plots.allocation import plot_curve, plot_plan, steps_of
from evenly.report.plots.style import ON_DARK
from evenly.report.plots.timeline import CoupledStep, bars_of, plot_timeline
from evenly.runs.runs import Runs

Fit = Callable[[Runs], Model]
SOLVERS = {
    "ice": lambda p: 8.0 / p + 0.001 * p,
    "lnd": lambda p: 4.0 / p,
    "atm": lambda p: 400.0 / p + 0.1,
    "ocn": lambda p: 60.0 / p,
}
NESTED = "max(max(ice, lnd) + atm, ocn)"


def line(figure: Figure, gid: str) -> Any:
    return next(one for axes in figure.axes for one in axes.lines if one.get_gid() == gid)


@pytest.fixture(scope="module")
def nested() -> Plan:
    current = {"ice": 40, "lnd": 60, "atm": 100, "ocn": 28}
    return evenly.allocate(SOLVERS, cores=128, layout=NESTED, compare=Compare(current=current))


@pytest.fixture(scope="module")
def uncertain(strong: Runs, fit: Fit) -> Plan:
    models = {"inner": fit(strong), "outer": fit(strong)}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ExtrapolationWarning)
        return evenly.allocate(models, cores=700, layout="max(inner, outer)")


def test_the_curve_holds_time_cost_and_marks(nested: Plan) -> None:
    figure = plot_curve(nested, first=1)
    drawn = line(figure, "time")
    np.testing.assert_allclose(drawn.get_xdata(), nested.curve["cores"])
    np.testing.assert_allclose(drawn.get_ydata(), nested.curve["seconds"])
    np.testing.assert_allclose(line(figure, "core-hours").get_ydata(), nested.curve["core_hours"])
    assert line(figure, "plan").get_data() == ([nested.used], [nested.seconds])
    assert line(figure, "current").get_data() == ([128], [nested.versus["current"].seconds])
    assert nested.knee is None
    assert not [one for axes in figure.axes for one in axes.lines if one.get_gid() == "knee"]
    assert "no knee up to 128 cores" in figure.axes[0].get_title(loc="left")


def test_a_knee_inside_is_marked() -> None:
    plan = evenly.allocate({"a": lambda p: 10 / p + 0.5, "b": lambda p: 5 / p + 0.5}, cores=100)
    figure = plot_curve(plan)
    assert line(figure, "knee").get_xdata()[0] == plan.knee
    assert f"knee at {plan.knee} cores" in figure.axes[0].get_title(loc="left")


def test_shared_cores_are_lines_that_need_not_add_up(nested: Plan) -> None:
    figure = plot_curve(nested, first=1)
    shares = {name: line(figure, f"share of {name}").get_ydata()[-1] for name in SOLVERS}
    assert sum(shares.values()) > 100
    for name, share in shares.items():
        assert share == pytest.approx(100 * nested.cores[name] / nested.used)


def test_shares_of_own_cores_are_stacked_up_to_all(uncertain: Plan) -> None:
    axes = plot_curve(uncertain).axes[2]
    assert len(axes.collections) == 2
    outlines: list[Any] = [path.vertices for one in axes.collections for path in one.get_paths()]
    assert max(outline[:, 1].max() for outline in outlines) == pytest.approx(100)


def test_the_band_is_the_interval_of_a_plan(uncertain: Plan) -> None:
    figure = plot_curve(uncertain)
    band = next(one for one in figure.axes[0].collections if one.get_gid() == "interval")
    outline: Any = band.get_paths()[0].vertices
    at_the_end = outline[outline[:, 0] == uncertain.used, 1]
    assert uncertain.interval == pytest.approx((at_the_end.min(), at_the_end.max()))


def test_time_from_extrapolating_models_is_dashed(uncertain: Plan) -> None:
    figure = plot_curve(uncertain)
    dashed = line(figure, "extrapolated time")
    beyond = np.isfinite(np.asarray(dashed.get_ydata(), dtype=float))
    totals = np.asarray(dashed.get_xdata(), dtype=float)
    # Both solvers are alike and were measured on 100 to 300 cores each.
    outside = (totals < 200) | (totals > 600)
    solid = np.isfinite(np.asarray(line(figure, "time").get_ydata(), dtype=float))
    np.testing.assert_array_equal(solid, ~outside)
    # One point of the range belongs to both on either side, so that nothing is missing between them.
    assert (beyond & outside).sum() == outside.sum() > 0
    assert (beyond & solid).sum() == 2
    assert dashed.is_dashed()


def test_the_time_never_leaves_its_band(strong: Runs, fit: Fit) -> None:
    model = fit(strong)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ExtrapolationWarning)
        plan = evenly.allocate({f"s{i}": model for i in range(8)}, cores=3000)
    figure = plot_curve(plan, first=1)
    band = next(one for one in figure.axes[0].collections if one.get_gid() == "interval")
    outline: Any = band.get_paths()[0].vertices
    totals, seconds = plan.curve["cores"].to_numpy(), plan.curve["seconds"].to_numpy()
    for total, value in zip(totals, seconds, strict=True):
        edges = outline[outline[:, 0] == total, 1]
        # The time is a maximum of the solvers' and the band a quantile of it: they may be apart by rounding.
        assert edges.min() <= value * (1 + 1e-12)
        assert value * (1 - 1e-12) <= edges.max()


def test_lines_that_coincide_are_nested() -> None:
    plan = evenly.allocate({"ice": lambda p: 8 / p, "atm": lambda p: 9 / p}, cores=64, layout="ice + atm")
    figure = plot_curve(plan, first=1)
    np.testing.assert_allclose(line(figure, "share of ice").get_ydata(), line(figure, "share of atm").get_ydata())
    assert line(figure, "share of ice").get_linewidth() > line(figure, "share of atm").get_linewidth() + 1


def test_functions_without_uncertainty_give_no_band(nested: Plan) -> None:
    texts = [text.get_text() for text in plot_curve(nested).legends[0].get_texts()]
    assert "time" in texts
    assert "extrapolated" not in texts


def test_bars_of_a_nested_layout_follow_each_other() -> None:
    step = CoupledStep(
        "now", {"ice": 3, "lnd": 2, "atm": 4, "ocn": 6}, {"ice": 2.0, "lnd": 1.0, "atm": 5.0, "ocn": 6.5}
    )
    bars = {bar.solver: bar for bar in bars_of(parse_layout(NESTED), step)}
    assert {name: (bar.start, bar.seconds) for name, bar in bars.items()} == {
        "ice": (0.0, 2.0), "lnd": (0.0, 1.0), "atm": (2.0, 5.0), "ocn": (0.0, 6.5),
    }  # fmt: skip
    assert {name: (bar.first, bar.cores) for name, bar in bars.items()} == {
        "ice": (0, 3), "lnd": (3, 2), "atm": (0, 4), "ocn": (5, 6),
    }  # fmt: skip


def test_iterations_are_drawn_one_by_one_and_many_as_one() -> None:
    step = CoupledStep("now", {"a": 1, "b": 1}, {"a": 1.0, "b": 0.5})
    starts = [(bar.solver, bar.start) for bar in bars_of(parse_layout("2 * sum(a, b)"), step)]
    assert starts == [("a", 0.0), ("b", 1.0), ("a", 1.5), ("b", 2.5)]
    many = bars_of(parse_layout("100 * sum(a, b)"), step)
    assert [(bar.start, bar.seconds) for bar in many] == [(0.0, 100.0), (100.0, 50.0)]
    uneven = bars_of(parse_layout("2.5 * a + b"), step)
    assert [(bar.start, bar.seconds) for bar in uneven] == [(0.0, 2.5), (2.5, 0.5)]


TIMES = st.floats(0.1, 10.0)


@given(
    seconds=st.tuples(TIMES, TIMES, TIMES),
    cores=st.tuples(*[st.integers(1, 9)] * 3),
    layout=st.sampled_from(
        ["max(a, b, c)", "sum(a, b, c)", "a + b + c", "max(a + b, c)", "sum(max(a, b), 3 * c)", "2 * max(a, sum(b, c))"]
    ),
)
def test_bars_fill_the_step_and_never_overlap(seconds: tuple[float, ...], cores: tuple[int, ...], layout: str) -> None:
    tree = parse_layout(layout)
    step = CoupledStep("x", dict(zip("abc", cores, strict=True)), dict(zip("abc", seconds, strict=True)))
    bars = bars_of(tree, step)
    assert max(bar.start + bar.seconds for bar in bars) == pytest.approx(tree.seconds(step.seconds))
    for i, one in enumerate(bars):
        for other in bars[:i]:
            together = min(one.start + one.seconds, other.start + other.seconds) - max(one.start, other.start)
            shared = min(one.first + one.cores, other.first + other.cores) - max(one.first, other.first)
            assert together <= 1e-9 or shared <= 0


def test_the_timeline_draws_every_step_of_both_on_one_axis() -> None:
    now = CoupledStep("now", {"a": 60, "b": 40}, {"a": 2.0, "b": 1.0})
    then = CoupledStep("evenly", {"a": 75, "b": 25}, {"a": 1.6, "b": 1.6})
    figure = plot_timeline("max(a, b)", now, then, count=3)
    before, after = figure.axes
    assert before.get_xlim() == after.get_xlim()
    work = [p for p in before.patches if p.get_gid() == "work of b"]
    assert [p.get_x() for p in work if isinstance(p, Rectangle)] == [0.0, 2.0, 4.0]
    waiting = [p for p in before.patches if p.get_gid() == "waiting"]
    assert all(p.get_hatch() for p in waiting)
    assert before.get_title(loc="left") == "now: 2 s per step on 100 cores (a 60, b 40), 20 % waiting"
    assert figure._suptitle.get_text() == "A step takes 1.6 s instead of 2 s: 20 % less than now"  # type: ignore[attr-defined]


def test_the_title_says_with_what_the_plan_is_compared() -> None:
    plan = evenly.allocate({"a": lambda p: 60 / p, "b": lambda p: 30 / p}, cores=90)
    assert plot_plan(plan)._suptitle.get_text().endswith(" less than with equal shares")  # type: ignore[attr-defined]


def test_names_stand_only_in_bars_that_hold_them() -> None:
    """Names keep inside their bars, and are light on dark and dark on light."""
    seconds = {"large": 3.0, "flat": 3.0, "a-rather-long-name": 0.1, "yellow": 3.0, "pale": 3.0, "sky": 3.0}
    cores = {"large": 3000, "flat": 40, "a-rather-long-name": 3000, "yellow": 3000, "pale": 3000, "sky": 3000}
    figure = plot_timeline("parallel", CoupledStep("now", cores, seconds), count=3)
    figure.draw_without_rendering()
    (axes,) = figure.axes
    names = {text.get_gid(): text for text in axes.texts}
    assert set(names) == {f"name of {name}" for name in ("large", "yellow", "pale", "sky")}
    assert names["name of large"].get_color() == ON_DARK
    assert names["name of sky"].get_color() != ON_DARK
    for gid, text in names.items():
        work = next(p for p in axes.patches if p.get_gid() == f"work of {str(gid).removeprefix('name of ')}")
        inner, outer = text.get_window_extent(), work.get_window_extent()
        assert outer.x0 < inner.x0 < inner.x1 < outer.x1
        assert outer.y0 < inner.y0 < inner.y1 < outer.y1


@pytest.mark.parametrize(("after", "said"), [(2.0, "no difference"), (3.0, "50 % more"), (1.0, "50 % less")])
def test_the_title_says_what_changed(after: float, said: str) -> None:
    steps = [CoupledStep(label, {"a": 1}, {"a": time}) for label, time in (("now", 2.0), ("then", after))]
    assert said in plot_timeline("a", *steps)._suptitle.get_text()  # type: ignore[attr-defined]


def test_a_plan_is_compared_with_the_present_assignment(nested: Plan) -> None:
    earlier, later = steps_of(nested)
    assert (earlier.label, earlier.cores) == ("now", nested.versus["current"].cores)
    assert (later.label, later.cores, later.seconds) == ("evenly", nested.cores, nested.times)
    assert len(plot_plan(nested).axes) == 2


def test_a_plan_is_compared_with_shares_by_size_or_equal_ones() -> None:
    solvers = {"a": lambda p: 60 / p, "b": lambda p: 30 / p}
    sizes = Compare(degrees_of_freedom={"a": 3.0, "b": 1.0})
    assert steps_of(evenly.allocate(solvers, cores=100, compare=sizes))[0].cores == {"a": 75, "b": 25}
    plan = evenly.allocate(solvers, cores=100)
    assert steps_of(plan)[0].cores == {"a": 50, "b": 50}
    assert steps_of(plan, {"a": 10, "b": 90})[0].seconds == pytest.approx({"a": 6.0, "b": 1 / 3})


def test_a_comparison_that_is_not_there_is_refused(nested: Plan) -> None:
    with pytest.raises(InputError, match="must be one of auto, equal, current, or the cores of each solver"):
        plot_plan(nested, "proportional")


def test_a_timeline_without_steps_or_seconds_is_refused() -> None:
    with pytest.raises(InputError, match="at least one step"):
        plot_timeline("a")
    with pytest.raises(InputError, match="'b' has none"):
        plot_timeline(parse_layout("max(a, b)"), CoupledStep("now", {"a": 1}, {"a": 1.0}))
