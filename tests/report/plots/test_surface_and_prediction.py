from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest

import evenly
from evenly.errors import InputError
from evenly.metrics import mlogq
from evenly.models.base import Model
from evenly.report.formatting import typical_error
from evenly.report.left_out_errors import left_out_errors
from evenly.report.plots.prediction import plot_predictions
from evenly.report.plots.surface import plot_surface
from evenly.runs.runs import Runs

Fit = Callable[[Runs], Model]


def labels(figure: Any) -> list[str]:
    return [text.get_text() for text in figure.legends[0].get_texts()]


def collection(axes: Any, gid: str) -> Any:
    return next(one for one in axes.collections if one.get_gid() == gid)


def test_the_map_holds_the_predictions(grid: Runs, fit: Fit) -> None:
    model = fit(grid)
    axes = plot_surface(model, grid).axes[0]
    mesh = next(one for one in axes.collections if type(one).__name__ == "QuadMesh")
    n, cores = (part.ravel() for part in np.moveaxis(mesh.get_coordinates(), 2, 0))  # type: ignore[attr-defined]
    np.testing.assert_allclose(np.ravel(mesh.get_array()), model.predict({"n": n, "cores": cores}))  # type: ignore[arg-type]
    assert (n.min(), n.max(), cores.min(), cores.max()) == (1, 16, 1, 64)


def test_measured_points_have_the_colour_of_their_value(grid: Runs, fit: Fit) -> None:
    axes = plot_surface(fit(grid), grid).axes[0]
    points = collection(axes, "measured")
    condensed = grid.aggregate()
    np.testing.assert_allclose(points.get_offsets(), condensed[["n", "cores"]])
    np.testing.assert_allclose(points.get_array(), condensed["seconds"])
    mesh = next(one for one in axes.collections if type(one).__name__ == "QuadMesh")
    assert points.norm is mesh.norm


def test_points_at_other_fixed_values_are_rings(fit: Fit) -> None:
    frame = pd.DataFrame({"a": [1, 2, 4, 8], "b": [1, 4, 2, 8], "c": [1, 2, 3, 4], "seconds": [1.0, 3.0, 2.0, 8.0]})
    runs = Runs.from_frame(frame, ["a", "b", "c"])
    figure = plot_surface(fit(runs), runs, x="b", y="a", at={"c": 2.5})
    assert figure.axes[0].get_title(loc="left") == "c = 2.5"
    np.testing.assert_allclose(collection(figure.axes[0], "elsewhere").get_offsets(), frame[["b", "a"]])


def test_the_surface_holds_the_measured_points_as_logarithms(grid: Runs, fit: Fit) -> None:
    axes: Any = plot_surface(fit(grid), grid, view="3d").axes[0]
    points = collection(axes, "measured")
    condensed = grid.aggregate()
    expected = np.log10(condensed[["n", "cores", "seconds"]].to_numpy(dtype=np.float64))
    found = np.column_stack([np.asarray(part) for part in points._offsets3d])
    np.testing.assert_allclose(found[np.lexsort(found.T)], expected[np.lexsort(expected.T)])
    assert axes.get_zlabel() == "time (ms)"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"x": "nodes"}, r"must be numeric parameters \(n, cores\), but got 'nodes'"),
        ({"x": "n", "y": "n"}, "two different numeric parameters"),
        ({"view": "globe"}, "view must be 'map' or '3d', but got 'globe'"),
    ],
)
def test_what_makes_no_surface_is_refused(grid: Runs, fit: Fit, options: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        plot_surface(fit(grid), grid, **options)


def test_one_parameter_makes_no_surface(strong: Runs, fit: Fit) -> None:
    with pytest.raises(InputError, match="use plot_model for a single parameter"):
        plot_surface(fit(strong), strong)


def test_a_constant_parameter_makes_no_surface(fit: Fit) -> None:
    runs = Runs.from_frame(pd.DataFrame({"a": [1, 2, 4], "b": [3, 3, 3], "seconds": [1.0, 2.0, 4.0]}), ["a", "b"])
    with pytest.raises(InputError, match="measured only at 3"):
        plot_surface(fit(runs), runs)


def test_predictions_lie_over_what_was_measured(scattered: Runs, fit: Fit) -> None:
    train, test = scattered.split("n < 40")
    model = fit(train)
    figure = plot_predictions(model, train, test, name="inner")
    lines: dict[Any, Any] = {line.get_gid(): line for line in figure.axes[0].lines}
    for gid, runs in (("learned from", train), ("held out", test)):
        table = runs.aggregate()
        measured, predicted = lines[gid].get_data()
        np.testing.assert_allclose(measured, table["seconds"])
        np.testing.assert_allclose(np.log(np.asarray(predicted)), np.log(_quiet(model, table)))
        error = mlogq(table["seconds"], _quiet(model, table))
        assert f"{gid}: {len(table)}, off by {typical_error(error)}" in labels(figure)
    assert "within a factor of 1.1" in labels(figure)
    assert figure.axes[0].get_xlim() == figure.axes[0].get_ylim()


def _quiet(model: Model, table: pd.DataFrame) -> Any:
    from evenly.report.slices import quietly

    return quietly(model).predict(table)


def test_the_title_tells_the_error_and_the_coverage(strong: Runs, fit: Fit) -> None:
    model = fit(strong)
    shifted = strong.to_frame().assign(seconds=lambda t: 1.5 * t["seconds"])
    off = Runs.from_frame(shifted[["cores", "seconds"]], ["cores"])
    figure = plot_predictions(model, strong, off)
    title = figure._suptitle.get_text().replace("\n", " ")  # type: ignore[attr-defined]
    assert title == "Typically off by 50 % on held-out runs"
    assert figure.axes[0].get_title(loc="left") == "0 % of them inside the 90 % interval"


def test_runs_are_shown_as_they_are_predicted_without_them(scattered: Runs) -> None:
    model = evenly.fit(scattered, method="power-law", statistic="median")
    assert isinstance(model, Model)
    assert model.left_out_predictions_ is not None
    figure = plot_predictions(model, scattered)
    (line,) = (line for line in figure.axes[0].lines if line.get_gid() == "left out, one by one")
    errors = left_out_errors(model, scattered)
    assert errors is not None
    np.testing.assert_allclose(np.sort(line.get_ydata()), np.sort(model.left_out_predictions_))
    expected = f"{len(scattered.aggregate())}, off by {typical_error(errors['MLogQ'])}"
    assert f"left out, one by one: {expected}" in labels(figure)
    assert figure._suptitle.get_text().endswith("on runs left out")  # type: ignore[attr-defined]


def test_without_left_out_predictions_the_model_is_shown(strong: Runs, fit: Fit) -> None:
    model = fit(strong)
    assert model.left_out_predictions_ is None
    figure = plot_predictions(model, strong)
    assert figure._suptitle.get_text().endswith("on the runs it learned from")  # type: ignore[attr-defined]


def test_predictions_without_runs_are_refused(strong: Runs, fit: Fit) -> None:
    with pytest.raises(InputError, match="pass `runs` or `test`"):
        plot_predictions(fit(strong))
