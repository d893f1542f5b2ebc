from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import matplotlib as mpl
import numpy as np
import pytest

from evenly.errors import InputError
from evenly.report.formatting import compact, interval, percent, prefix_for, quantity
from evenly.report.plots.style import FORMATS, legend_below, new_figure, quantity_axis, save_figure, set_title, wrapped

MAGIC = {".png": b"\x89PNG", ".svg": b"<?xml", ".pdf": b"%PDF"}


@pytest.mark.parametrize("suffix", FORMATS)
def test_every_format_is_written_and_the_same_twice(tmp_path: Path, suffix: str) -> None:
    contents = []
    for turn in range(2):
        figure = new_figure()
        figure.subplots().plot([1, 2], [3, 4])
        set_title(figure, "a $ b", "detail")
        contents.append(save_figure(figure, tmp_path / f"{turn}{suffix}").read_bytes())
    assert contents[0].startswith(MAGIC[suffix])
    assert contents[0] == contents[1]
    assert sorted(path.name for path in tmp_path.iterdir()) == [f"0{suffix}", f"1{suffix}"]


@pytest.mark.parametrize("name", ["curve.bmp", "curve", "curve.png.gz"])
def test_other_endings_are_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(InputError, match=r"saved as \.png, \.svg or \.pdf, but got 'curve"):
        save_figure(new_figure(), tmp_path / name)


def test_a_missing_folder_is_said(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="can't be written to"):
        save_figure(new_figure(), tmp_path / "missing" / "curve.png")


def test_a_failed_write_keeps_the_old_file(tmp_path: Path) -> None:
    target = tmp_path / "curve.png"
    target.mkdir()
    with pytest.raises(InputError, match="can't be written to"):
        save_figure(new_figure(), target)
    assert [path.name for path in tmp_path.iterdir()] == ["curve.png"]


def test_saving_changes_no_setting(tmp_path: Path) -> None:
    before = mpl.rcParams.copy()
    save_figure(new_figure(), tmp_path / "curve.svg")
    assert mpl.rcParams.copy() == before


def test_neither_pyplot_nor_a_setting_is_touched(tmp_path: Path) -> None:
    script = f"""
import sys, matplotlib as mpl
before = mpl.rcParams.copy()
import pandas as pd
from evenly.runs.runs import Runs
from evenly.report import tables
from evenly.report.plots import allocation, model, prediction, surface
from evenly.report.plots.style import save_figure
from evenly.report.plots.timeline import CoupledStep, plot_timeline
figure = plot_timeline("max(a, b)", CoupledStep("now", {{"a": 1, "b": 1}}, {{"a": 1.0, "b": 2.0}}))
save_figure(figure, {str(tmp_path / "x.png")!r})
assert "matplotlib.pyplot" not in sys.modules
assert mpl.rcParams.copy() == before
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_evenly_alone_imports_no_matplotlib() -> None:
    script = "import sys, evenly, evenly.runs.runs, evenly.allocation; assert 'matplotlib' not in sys.modules"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(
    ("values", "unit", "expected"),
    [
        ([2e-6], "s", "µs"),
        ([0.02, 0.5], "s", "ms"),
        ([1.0], "s", "s"),
        ([299.0], "s", "s"),
        ([300.0], "s", "min"),
        ([4 * 3600.0], "s", "h"),
        ([], "s", "s"),
        ([0.0], "s", "s"),
        ([1e-12], "s", "ns"),
        ([3 * 2.0**20], "B", "MiB"),
        ([4.2e6], "J", "MJ"),
        ([7.0], "1", ""),
    ],
)
def test_prefixes(values: list[float], unit: str, expected: str) -> None:
    assert prefix_for(values, unit)[1] == expected


def test_an_unknown_unit_is_refused() -> None:
    with pytest.raises(InputError, match="must be one of s, B, J, 1, but got 'm'"):
        prefix_for([1.0], "m")


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.0, "0"), (-0.5, "-0.5"), (999.96, "1000"), (9999.6, "10000"), (12345.0, "12.35k"), (2.5e9, "2.5G"),
        (np.inf, "∞"), (-np.inf, "-∞"), (np.nan, "–"), (0.000123, "0.000123"), (1e-5, "1e-05"), (3e15, "3e+15"),
    ],
)  # fmt: skip
def test_compact_numbers(value: float, text: str) -> None:
    assert compact(value) == text


def test_values_that_are_not_finite_are_written_without_unit() -> None:
    assert (quantity(np.inf), percent(np.nan)) == ("∞", "–")
    assert interval(0.5, 1.5) == "0.5 … 1.5 s"


def test_long_titles_are_broken_and_names_keep_their_dollars() -> None:
    lines = wrapped("time grows with $HOME and falls again", 2.0, 0.1).split("\n")
    assert all(len(line) <= 21 for line in lines)
    assert r"\$HOME" in " ".join(lines)


def test_a_legend_below_overlaps_no_axes() -> None:
    figure = new_figure()
    axes = figure.subplots()
    legend_below(figure, {f"a rather long label, number {i}": axes.plot([1, 2], [i, i])[0] for i in range(6)})
    figure.draw_without_rendering()
    legend = figure.legends[0].get_window_extent()
    assert not legend.overlaps(axes.get_tightbbox())  # type: ignore[arg-type]
    assert legend.x0 >= 0
    assert legend.x1 <= figure.bbox.x1


@pytest.mark.parametrize("log", [False, True])
@pytest.mark.parametrize("scale", [1e-5, 0.3, 40.0, 5000.0])
def test_tick_labels_never_overlap(log: bool, scale: float) -> None:
    figure = new_figure()
    axes = figure.subplots()
    values = scale * np.geomspace(1, 30, 9)
    axes.plot(np.arange(1, 10), values)
    quantity_axis(axes, "y", "time", "s", values, log=log)
    figure.draw_without_rendering()
    low, high = axes.get_ylim()
    boxes = [
        text.get_window_extent()
        for tick, text in zip(axes.get_yticks(), axes.get_yticklabels(), strict=True)
        if low <= tick <= high
    ]
    assert len(boxes) >= 3
    assert not any(one.overlaps(other) for i, one in enumerate(boxes) for other in boxes[:i])


@pytest.mark.filterwarnings("error")
def test_a_log_axis_of_zeros_alone_is_linear() -> None:
    axes = new_figure().subplots()
    axes.plot([1, 2], [0.0, 0.0])
    quantity_axis(axes, "y", "time", "s", [0.0, 0.0], log=True)
    assert axes.get_yscale() == "linear"
