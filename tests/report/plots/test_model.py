from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from evenly.errors import ExtrapolationWarning, InputError
from evenly.models.base import Model
from evenly.report.plots.model import plot_model, plot_models, plot_slices
from evenly.runs.runs import Runs

Fit = Callable[[Runs], Model]


def by_gid(axes: Axes, gid: str) -> Any:
    found = [artist for artist in axes.get_children() if artist.get_gid() == gid]
    assert found, f"nothing is called {gid}"
    return found[0]


def labels(figure: Figure) -> list[str]:
    return [text.get_text() for text in figure.legends[0].get_texts()]


def edges(band: Any) -> tuple[Any, Any, Any]:
    """Return x, lower and upper of a filled band, from its outline."""
    outline = band.get_paths()[0].vertices
    x = np.unique(outline[:, 0])
    lower = np.array([outline[outline[:, 0] == one, 1].min() for one in x])
    upper = np.array([outline[outline[:, 0] == one, 1].max() for one in x])
    return x, lower, upper


def test_the_line_is_what_the_model_predicts(strong: Runs, fit: Fit) -> None:
    model = fit(strong)
    line = by_gid(plot_model(model, strong).axes[0], "model")
    np.testing.assert_allclose(line.get_ydata(), model.predict({"cores": line.get_xdata()}))
    assert line.get_xdata()[0] == 100
    assert line.get_xdata()[-1] == 300


@pytest.mark.parametrize("level", [0.5, 0.9])
def test_the_band_is_the_interval(strong: Runs, fit: Fit, level: float) -> None:
    model = fit(strong)
    figure = plot_model(model, strong, level=level)
    x, lower, upper = edges(by_gid(figure.axes[0], "band"))
    expected = model.interval({"cores": x}, level)
    np.testing.assert_allclose(lower, expected[0])
    np.testing.assert_allclose(upper, expected[1])
    assert f"model and {100 * level:.0f} % interval" in labels(figure)


def test_error_bars_are_the_spread_over_repetitions(strong: Runs, fit: Fit) -> None:
    axes = plot_model(fit(strong), strong, log="linear").axes[0]
    points, (_, _), (bars,) = axes.containers[0]
    condensed = strong.aggregate()
    np.testing.assert_allclose(points.get_xydata(), condensed[["cores", "seconds"]])
    ends = np.array([segment[:, 1] for segment in bars.get_segments()])
    np.testing.assert_allclose(ends[:, 1] - condensed["seconds"], condensed["spread"])
    np.testing.assert_allclose(condensed["seconds"] - ends[:, 0], condensed["spread"])


def test_all_repetitions_are_shown(strong: Runs, fit: Fit) -> None:
    raw = by_gid(plot_model(fit(strong), strong).axes[0], "repetitions")
    np.testing.assert_allclose(np.sort(raw.get_ydata()), np.sort(strong.values))


def test_one_run_per_configuration_gives_no_bars_and_no_second_kind_of_point(grid: Runs, fit: Fit) -> None:
    figure = plot_model(fit(grid), grid)
    assert "measured" in labels(figure)
    assert "single runs" not in labels(figure)


def test_beyond_the_range_the_line_is_dashed_and_the_band_hatched(strong: Runs, fit: Fit) -> None:
    model = fit(strong)
    figure = plot_model(model, strong, extend_to=560)
    line = by_gid(figure.axes[0], "extrapolation")
    band = by_gid(figure.axes[0], "extrapolation band")
    assert line.is_dashed()
    assert band.get_hatch()
    assert (line.get_xdata()[0], line.get_xdata()[-1]) == (300, 560)
    np.testing.assert_allclose(
        line.get_ydata(), model.predict({"cores": line.get_xdata()[:1]})[0] * 300 / line.get_xdata()
    )
    assert by_gid(figure.axes[0], "model").get_xdata()[-1] == 300
    assert "extrapolated (learned on 100 … 300)" in labels(figure)


def test_both_sides_beyond_the_range_are_shown(strong: Runs, fit: Fit) -> None:
    model = fit(strong.where("cores > 120"))
    axes = plot_model(model, strong, extend_to=400).axes[0]
    lines = [one for one in axes.lines if one.get_gid() == "extrapolation"]
    spans = [tuple(np.asarray(one.get_xdata(), dtype=float)[[0, -1]]) for one in lines]
    assert spans == [(100, 150), (300, 400)]


def test_inside_the_range_nothing_is_marked_as_extrapolated(strong: Runs, fit: Fit) -> None:
    figure = plot_model(fit(strong), strong)
    assert not any("extrapolated" in label for label in labels(figure))


def test_a_plot_uses_up_no_warning_of_the_user(strong: Runs, fit: Fit) -> None:
    model = fit(strong)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        plot_model(model, strong, extend_to=1000)
    with pytest.warns(ExtrapolationWarning):
        model.predict({"cores": [1000]})


def test_held_out_points_stand_apart(strong: Runs, fit: Fit) -> None:
    train, test = strong.split("cores < 250")
    figure = plot_model(fit(train), train, test=test)
    drawn = by_gid(figure.axes[0], "test")
    assert drawn.get_marker() != by_gid(figure.axes[0], "medians").get_marker()
    np.testing.assert_allclose(drawn.get_xydata(), test.aggregate()[["cores", "seconds"]])
    assert any(label.startswith("held out") for label in labels(figure))
    assert by_gid(figure.axes[0], "extrapolation").get_xdata()[-1] == 300


def test_other_parameters_are_fixed_at_the_middle_of_the_commonest_and_named(grid: Runs, fit: Fit) -> None:
    figure = plot_model(fit(grid), grid, parameter="cores")
    assert figure.axes[0].get_title(loc="left") == "n = 4"
    assert len(by_gid(figure.axes[0], "medians").get_xdata()) == 7


def test_other_parameters_are_fixed_where_asked(grid: Runs, fit: Fit) -> None:
    model = fit(grid)
    axes = plot_model(model, grid, parameter="cores", at={"n": 16}).axes[0]
    line = by_gid(axes, "model")
    table = {"cores": line.get_xdata(), "n": np.full(len(line.get_xdata()), 16)}
    np.testing.assert_allclose(line.get_ydata(), model.predict(table))
    np.testing.assert_allclose(by_gid(axes, "medians").get_ydata(), 0.256 / by_gid(axes, "medians").get_xdata())


def test_points_of_scattered_designs_are_carried_to_the_slice(scattered: Runs, fit: Fit) -> None:
    model = fit(scattered)
    figure = plot_model(model, scattered, parameter="cores", at={"n": 30})
    drawn = by_gid(figure.axes[0], "medians")
    table = scattered.aggregate()
    ratio = model.predict(table[["n", "cores"]].assign(n=30)) / model.predict(table[["n", "cores"]])
    np.testing.assert_allclose(drawn.get_ydata(), table["seconds"] * ratio)
    assert "measured, scaled to this slice by the model" in labels(figure)


def test_scales_follow_the_data_unless_given(grid: Runs, strong: Runs, fit: Fit) -> None:
    assert plot_model(fit(grid), grid).axes[0].get_xscale() == "log"
    assert plot_model(fit(strong), strong).axes[0].get_xscale() == "linear"
    assert plot_model(fit(strong), strong, log="log").axes[0].get_yscale() == "log"
    assert plot_model(fit(grid), grid, log="linear").axes[0].get_yscale() == "linear"


def test_the_title_says_how_time_scales(strong: Runs, fit: Fit) -> None:
    figure = plot_model(fit(strong), strong, name="inner")
    assert figure._suptitle.get_text() == "inner: time falls as cores$^{-1.00}$"  # type: ignore[attr-defined]


def test_ticks_read_in_the_unit_of_the_label(strong: Runs, fit: Fit) -> None:
    figure = plot_model(fit(strong), strong)
    figure.draw_without_rendering()
    axes = figure.axes[0]
    assert axes.get_ylabel() == "time (ms)"
    placed = [(tick, text.get_text()) for tick, text in zip(axes.get_yticks(), axes.get_yticklabels(), strict=True)]
    assert len(placed) >= 4
    assert all(float(text) == pytest.approx(1000 * tick) for tick, text in placed)


def test_labels_of_a_categorical_parameter_get_a_dash_and_a_bar_each(fit: Fit) -> None:
    frame = pd.DataFrame({"solver": ["cg", "gmres", "bicg"], "seconds": [1.0, 2.0, 1.5]})
    runs = Runs.from_frame(frame, ["solver"])
    model = fit(runs)
    axes = plot_model(model, runs).axes[0]
    assert [text.get_text() for text in axes.get_xticklabels()] == ["bicg", "cg", "gmres"]
    heights = [segment[0, 1] for segment in by_gid(axes, "model").get_segments()]
    np.testing.assert_allclose(heights, model.predict({"solver": ["bicg", "cg", "gmres"]}))
    np.testing.assert_allclose(by_gid(axes, "medians").get_xydata(), [[0, 1.5], [1, 1.0], [2, 2.0]])


def test_memory_is_plotted_in_bytes(fit: Fit) -> None:
    frame = pd.DataFrame({"n": [1, 2, 4], "seconds": [1.0, 2.0, 4.0], "peak_memory": [1.0, 2.0, 4.0]})
    runs = Runs.from_frame(frame, ["n"], quantities={"peak_memory": "GiB"})
    model = fit(runs.learning("peak_memory"))
    model.response_ = {"name": "peak_memory", "unit": "B"}
    axes = plot_model(model, runs).axes[0]
    assert axes.get_ylabel() == "peak memory (GiB)"
    np.testing.assert_allclose(by_gid(axes, "medians").get_ydata(), [2.0**30, 2.0**31, 2.0**32])


def test_panels_of_solvers_share_the_time_axis(strong: Runs, grid: Runs, fit: Fit) -> None:
    runs = {"inner": strong, "outer": strong.where("cores < 250")}
    models = {name: fit(one) for name, one in runs.items()}
    axes = plot_models(models, runs, extend_to=400).axes
    assert [one.get_title(loc="left").split(":")[0] for one in axes] == ["inner", "outer"]
    assert axes[0].get_ylim() == axes[1].get_ylim()


def test_slices_give_one_panel_per_parameter_through_one_point(grid: Runs, fit: Fit) -> None:
    model = fit(grid)
    figure = plot_slices(model, grid)
    assert [axes.get_xlabel() for axes in figure.axes] == ["n", "cores"]
    ends = [np.interp(at, *by_gid(axes, "model").get_data()) for at, axes in zip((4, 8), figure.axes, strict=True)]
    np.testing.assert_allclose(ends, model.predict({"n": [4], "cores": [8]})[0], rtol=1e-3)


def test_a_model_is_plotted_without_runs(strong: Runs, fit: Fit) -> None:
    assert labels(plot_model(fit(strong))) == ["model and 90 % interval"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"parameter": "nodes"}, r"must be one of n, cores, but got 'nodes'"),
        ({"parameter": "n", "at": {"n": 3}}, r"not shown \(of cores\), but got 'n'"),
        ({"at": {"nodes": 3}}, r"but got 'nodes'"),
    ],
)
def test_unknown_parameters_are_refused(grid: Runs, fit: Fit, options: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        plot_model(fit(grid), grid, **options)


def test_no_models_are_refused() -> None:
    with pytest.raises(InputError, match="no model"):
        plot_models({})


def test_only_repeated_runs_are_moved_beside(fit: Fit) -> None:
    table = pd.DataFrame({"cores": [1, 2, 2, 4, 8], "seconds": [8.0, 4.0, 4.4, 2.0, 1.0]})
    runs = Runs.from_frame(table, ["cores"])
    raw = by_gid(plot_model(fit(runs), runs).axes[0], "repetitions")
    assert list(raw.get_xdata()) == [2, 2]
    once = Runs.from_frame(table.iloc[[0, 1, 3, 4]], ["cores"])
    assert not [a for a in plot_model(fit(once), once).axes[0].get_children() if a.get_gid() == "repetitions"]


def test_solvers_decades_apart_have_their_own_axes(fit: Fit) -> None:
    cores = np.array([1, 2, 4, 8])
    runs = {
        name: Runs.from_frame(pd.DataFrame({"cores": cores, "seconds": scale / cores}), ["cores"])
        for name, scale in (("slow", 1e4), ("fast", 1e-2))
    }
    slow, fast = plot_models({name: fit(one) for name, one in runs.items()}, runs).axes
    assert slow.get_ylim()[0] > 100 * fast.get_ylim()[1]
    assert fast.get_ylabel() != slow.get_ylabel()
    assert "ms" in fast.get_ylabel()
