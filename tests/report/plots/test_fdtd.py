"""Pictures of FDTD runs hold what they should, and files are written."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from evenly.errors import InputError, ReadError
from evenly.fdtd.cell.boundaries import PML, Absorber
from evenly.fdtd.cell.partition import BinaryPartition
from evenly.fdtd.measurement.measurement import Measurement, RankRecord
from evenly.fdtd.media.library import medium
from evenly.fdtd.media.materials import Medium
from evenly.fdtd.media.solids import Block, Sphere
from evenly.fdtd.monitors.fields import DftFields
from evenly.fdtd.monitors.flux import Flux
from evenly.fdtd.scaling.study import ScalingStudy
from evenly.fdtd.simulation import Simulation
from evenly.fdtd.sources.pulses import GaussianPulse
from evenly.fdtd.sources.source import Source
from evenly.fdtd.structures.example import Look
from evenly.fdtd.structures.jobs import Spectrum
from evenly.fdtd.structures.views import View, take_view
from evenly.report.plots.fdtd_run import plot_ranks, plot_spectrum
from evenly.report.plots.fdtd_scaling import plot_per_rank, plot_rates, plot_ratio, plot_run_time, plot_scaling
from evenly.report.plots.fdtd_view import plot_field, plot_geometry
from evenly.report.plots.style import save_figure


def of(axes: Axes, gid: str) -> list[Any]:
    return [artist for artist in axes.get_children() if artist.get_gid() == gid]


@pytest.fixture(scope="module")
def view() -> View:
    glass, metal = Medium(index=1.5), medium("aluminium")
    simulation = Simulation(
        cell=(3, 2, 2),
        resolution=10,
        geometry=[
            Block(size=(3, 2, 0.4), center=(0, 0, -0.8), material=metal),
            Sphere(radius=0.5, material=glass),
        ],
        sources=[Source(GaussianPulse(1.0, fwidth=2.0), "Ex", (0, 0, 0.5))],
        layout=BinaryPartition([("x", 0.0), [("z", 0.0), 0, 1], [("z", 0.0), 2, 3]]),
        boundaries=[PML(0.3, "z", "high"), Absorber(0.3, "x"), Absorber(0.3, "y")],
    )
    monitors = {
        "box": Flux((0, 0, 0), (1.2, 1.0, 1.2), [1.0]),
        "aside": Flux((0, 0.6, 0), (1, 0, 1), [1.0]),
        "volume": DftFields(["Ex"], (0.8, 0, 0), (0.4, 0.4, 0.4), [1.0]),
    }
    simulation.run(until=2.0)
    return take_view(simulation, monitors, Look("y", 0.0, "Ex"), name="cell", unit="µm", with_field=True, ranks=4)


def test_a_view_holds_what_the_slice_goes_through(view: View) -> None:
    assert view.axes == ("x", "z")
    assert view.index.shape == (30, 20)
    assert view.extent == pytest.approx((-1.5, 1.5, -1.0, 1.0))
    assert [area.label for area in view.monitors] == ["box", "volume"]
    assert {area.label for area in view.layers} == {"PML", "absorber"}
    area = sum((c.corners[1] - c.corners[0]) * (c.corners[3] - c.corners[2]) for c in view.chunks)
    assert area == pytest.approx(6.0)
    # Glass in the middle, metal below: index of Re ε < 0.
    assert view.index[15, 10] == pytest.approx(1.5)
    assert view.index[15, 1].imag > view.index[15, 1].real
    assert view.snapshot is not None
    assert np.abs(view.snapshot).max() > 0


def test_views_survive_a_file(view: View, tmp_path: Path) -> None:
    again = View.load(view.save(tmp_path / "view.npz"))
    np.testing.assert_array_equal(again.index, view.index)
    np.testing.assert_array_equal(np.asarray(again.snapshot), np.asarray(view.snapshot))
    assert list(again.chunks) == list(view.chunks)
    assert list(again.monitors) == list(view.monitors)
    (tmp_path / "other.npz").write_text("nothing of the kind")
    with pytest.raises(ReadError):
        View.load(tmp_path / "other.npz")


def test_geometry_shows_media_chunks_layers_monitors_and_sources(view: View, tmp_path: Path) -> None:
    figure = plot_geometry(view)
    media, chunks = figure.axes[:2]
    assert len(of(media, "media")) == len(of(media, "metal")) == 1
    assert len(of(media, "layer")) == len(view.layers) == 3
    assert len(of(media, "monitor")) == 2
    assert len(of(media, "source")) == 1
    owners = of(chunks, "owner")
    assert len(owners) == len(view.chunks)
    assert len({patch.get_facecolor() for patch in owners}) == len({chunk.owner for chunk in view.chunks}) > 1
    assert media.get_xlabel() == "x (µm)"
    assert save_figure(figure, tmp_path / "geometry.png").stat().st_size > 20_000


def test_field_has_a_bar_borders_and_outlines(view: View, tmp_path: Path) -> None:
    figure = plot_field(view)
    axes = figure.axes[0]
    (image,) = of(axes, "field")
    low, high = image.get_clim()
    assert low == -high
    assert len(of(axes, "chunk")) == len(view.chunks)
    (outlines,) = of(axes, "media")
    assert len(outlines.get_segments()) > 30
    assert any("Ex" in child.get_ylabel() for child in axes.child_axes)
    assert save_figure(figure, tmp_path / "field.png").stat().st_size > 20_000


def test_a_field_that_was_not_taken_is_not_drawn(view: View) -> None:
    bare = View(view.name, view.axes, view.across, view.at, view.extent, view.index, view.frequency)
    with pytest.raises(InputError, match="with_field"):
        plot_field(bare)


def test_spectra_have_a_sum_where_they_are_shares() -> None:
    frequencies = np.linspace(1.0, 2.0, 5)
    curves = {"extracted": np.full(5, 0.25), "lost": np.full(5, 0.75)}
    axes = plot_spectrum(Spectrum(frequencies, curves, "share of the emitted power", "µm")).axes[0]
    assert [line.get_gid() for line in axes.get_lines()] == ["curve", "curve", "sum"]
    np.testing.assert_allclose(np.asarray(axes.get_lines()[2].get_ydata()), 1.0)
    np.testing.assert_allclose(np.asarray(axes.get_lines()[0].get_xdata()), 1 / frequencies)
    assert len(plot_spectrum(Spectrum(frequencies, curves)).axes[0].get_lines()) == 2


def _run(ranks: int, repetition: int = 0, *, cores: int = 64, spread: float = 0.0) -> Measurement:
    records = []
    for rank in range(ranks):
        work = 8.0 / ranks * (1 + spread * rank) * (1 + 0.05 * repetition)
        times = {"fused": work, "fourier": 0.5 if rank == 0 else 0.0, "waiting": 0.4 * ranks, "boundary copies": 0.1}
        records.append(RankRecord(rank, times, times, points=100, chunks=1, counts={"fourier": 5 if rank == 0 else 0}))
    return Measurement("box", steps=10, size=ranks, ranks=tuple(records), cores=cores, repetition=repetition)


def test_bars_of_ranks_stack_to_the_time_of_a_step(tmp_path: Path) -> None:
    run = _run(4, spread=0.1)
    figure = plot_ranks(run)
    axes: Any = figure.axes[0]
    tops = [max(p.get_y() + p.get_height() for p in axes.patches if abs(p.get_x() + 0.375 - r) < 0.1) for r in range(4)]
    np.testing.assert_allclose(tops, [sum(rank.wall.values()) / 10 for rank in run.ranks])
    assert "rank 3 works" in figure.get_suptitle()
    assert save_figure(figure, tmp_path / "ranks.png").stat().st_size > 5_000


@pytest.fixture
def study() -> ScalingStudy:
    return ScalingStudy(tuple(_run(n, repetition) for n in (1, 2, 4, 8) for repetition in (0, 1)))


def _line(figure: Figure, gid: str, panel: int = 0) -> tuple[Any, Any]:
    line = next(line for line in figure.axes[panel].get_lines() if line.get_gid() == gid)
    return np.asarray(line.get_xdata(), dtype=float), np.asarray(line.get_ydata(), dtype=float)


def test_scaling_figures_hold_the_studys_numbers(study: ScalingStudy, tmp_path: Path) -> None:
    time = plot_run_time(study)
    np.testing.assert_allclose(_line(time, "run time")[1], [p.run_s.mean for p in study.points])
    ideal = _line(time, "ideal")[1]
    np.testing.assert_allclose(ideal * study.ranks, ideal[0])
    ratio = plot_ratio(study)
    assert study.crossover is not None
    assert _line(ratio, "crossover")[0][0] == pytest.approx(study.crossover)
    rates = plot_rates(study)
    np.testing.assert_allclose(_line(rates, "stepping")[1], [p.stepping_rate.mean for p in study.points])
    np.testing.assert_allclose(_line(rates, "Fourier", 1)[1], [p.fourier_rate.mean for p in study.points])
    files = [save_figure(figure, tmp_path / f"{name}.png") for name, figure in plot_scaling(study).items()]
    assert len(files) == 4
    assert all(file.stat().st_size > 10_000 for file in files)


def test_bars_per_rank_are_of_the_run_asked_for(study: ScalingStudy) -> None:
    figure = plot_per_rank(study, 4)
    assert len(figure.axes) == 3
    for axes, key in zip(figure.axes, ("stepping", "fourier", "waiting"), strict=True):
        bars: Any = axes.patches
        heights = [patch.get_height() for patch in bars]
        np.testing.assert_allclose(heights, [getattr(rank, key).mean for rank in study.per_rank(4)])
    assert [len(axes.patches) for axes in plot_per_rank(study).axes] == [8, 8, 8]


def test_crowded_ranks_are_said_to_be_in_cpu_time() -> None:
    crowded = ScalingStudy((_run(1, cores=2), _run(4, cores=2)))
    for figure in plot_scaling(crowded).values():
        assert "CPU time" in figure.axes[0].get_title(loc="left")
