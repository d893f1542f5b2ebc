"""Figures of one FDTD run: its spectra, and the time of each rank by phase."""

from __future__ import annotations

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from evenly.fdtd.measurement.measurement import COMPUTATION, Measurement
from evenly.fdtd.structures.jobs import Spectrum
from evenly.report.formatting import compact, quantity
from evenly.report.plots.style import GREY, INK, PALETTE, legend_below, one_panel, quantity_axis, rank_axis, set_title
from evenly.report.tables.fdtd import PHASE_GROUPS, clock_note

__all__ = ["PHASE_COLOURS", "plot_ranks", "plot_spectrum"]

#: Work in strong colours, waiting in light grey.
PHASE_COLOURS = {
    "stepping": PALETTE[0], "Fourier": PALETTE[4], "copies": PALETTE[2], "sends": PALETTE[3],
    "waiting": "#D0D0D0", "other": "#8C8C8C",
}  # fmt: skip
_MARKERS = "os^Dvp"


def plot_spectrum(spectrum: Spectrum, *, name: str = "") -> Figure:
    """Show the curves of a spectrum against wavelength.

    Parameters
    ----------
    spectrum : Spectrum
        Shares of a power are shown from 0 to 1, together with their sum if it should be 1.
    name : str
        The name of the structure.

    Examples
    --------
    >>> figure = plot_spectrum(Spectrum(np.array([1.0, 2.0]), {"out": np.array([0.5, 0.6])}, unit="µm"))
    >>> figure.axes[0].get_xlabel()
    'wavelength (µm)'
    """
    figure, axes = one_panel(6.4, 4.2)
    positive = spectrum.frequencies > 0
    wavelength = 1 / spectrum.frequencies[positive]
    marks = len(wavelength) <= 60
    handles = {}
    for n, (label, curve) in enumerate(spectrum.curves.items()):
        (handles[label],) = axes.plot(
            wavelength, curve[positive], color=PALETTE[n % len(PALETTE)], linewidth=1.6, zorder=3,
            marker=_MARKERS[n % len(_MARKERS)] if marks else None, markersize=4, gid="curve",
        )  # fmt: skip
    shares = spectrum.what.startswith("share")
    if shares and len(spectrum.curves) > 1:
        total = np.sum([curve[positive] for curve in spectrum.curves.values()], axis=0)
        (handles["sum"],) = axes.plot(wavelength, total, color=GREY, linewidth=1.0, linestyle=(0, (4, 2)), gid="sum")
    _label(axes, spectrum, shares=shares)
    set_title(figure, f"{name}: {_strongest(spectrum)}" if name else _strongest(spectrum))
    legend_below(figure, handles)
    return figure


def _label(axes: Axes, spectrum: Spectrum, *, shares: bool) -> None:
    axes.set_xlabel(f"wavelength ({spectrum.unit})", fontsize=10, color=INK)
    axes.set_ylabel(spectrum.what, fontsize=10, color=INK)
    axes.xaxis.set_major_locator(MaxNLocator(8, steps=[1, 2, 2.5, 5, 10]))
    if shares:
        axes.set_ylim(min(0.0, *(float(curve.min()) for curve in spectrum.curves.values())), 1.05)
        axes.yaxis.set_major_locator(MaxNLocator(6, steps=[1, 2, 5, 10]))
    elif min(float(curve.min()) for curve in spectrum.curves.values()) >= 0:
        axes.set_ylim(0, None)


def _strongest(spectrum: Spectrum) -> str:
    name, curve = next(iter(spectrum.curves.items()))
    at = int(np.argmax(curve))
    frequency = float(spectrum.frequencies[at])
    place = f"{compact(1 / frequency, 3)} {spectrum.unit}" if frequency else "frequency 0"
    return f"{name} peaks at {compact(float(curve[at]), 3)}, {place}"


def plot_ranks(measurement: Measurement) -> Figure:
    """Show the time of each rank as a stack of phases.

    Parameters
    ----------
    measurement : Measurement
        The measurement of a run.

    Examples
    --------
    >>> from evenly.fdtd.measurement.measurement import RankRecord
    >>> rank = RankRecord(0, {"fused": 1.0}, {"fused": 1.0})
    >>> plot_ranks(Measurement("box", steps=10, ranks=(rank,), cores=2)).axes[0].get_xlabel()
    'rank'
    """
    times = {name: np.array(measurement.times(phases)) for name, phases in PHASE_GROUPS.items()}
    times = {name: values / measurement.steps for name, values in times.items() if values.max(initial=0) > 0}
    figure, axes = one_panel(max(6.4, min(12.0, 2.6 + 0.45 * measurement.size)), 4.2)
    base, places, handles = np.zeros(measurement.size), np.arange(measurement.size), {}
    for name, values in times.items():
        handles[name] = axes.bar(
            places, values, bottom=base, width=0.75, color=PHASE_COLOURS[name], edgecolor="white", linewidth=0.5,
            hatch="///" if name == "waiting" else None, zorder=3, gid=name,
        )  # fmt: skip
        base = base + values
    quantity_axis(axes, "y", "time per step", "s", base)
    rank_axis(axes, measurement.size)
    set_title(figure, *_balance(measurement))
    legend_below(figure, handles)
    return figure


def _balance(measurement: Measurement) -> tuple[str, str]:
    step = quantity(measurement.step_s(), digits=3)
    if measurement.size == 1:
        return f"{measurement.name}: {step} per step", clock_note(measurement)
    work = np.array(measurement.times(COMPUTATION))
    slowest = int(np.argmax(work))
    finding = (
        f"{measurement.name}: {step} per step, rank {slowest} works {compact(measurement.imbalance(), 3)} × the mean"
    )
    return finding, clock_note(measurement)
