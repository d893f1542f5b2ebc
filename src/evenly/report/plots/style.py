"""The style of evenly's figures, and how they are saved to files.

Figures are made without pyplot, so that no global state changes: neither the backend nor any setting. The colours are
those of Okabe and Ito, which can be distinguished with any colour vision and in grey.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, Literal

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle
from matplotlib.ticker import FixedLocator, FuncFormatter, Locator, LogLocator, MaxNLocator, NullLocator
from numpy.typing import NDArray

from evenly.errors import InputError
from evenly.report.formatting import compact, prefix_for
from evenly.writing import MARK, replacing

__all__ = [
    "FAINT",
    "FORMATS",
    "GREY",
    "INK",
    "ON_DARK",
    "ON_LIGHT",
    "PALETTE",
    "Scaling",
    "above_zero",
    "add_box",
    "colour_bar",
    "headed",
    "legend_below",
    "new_figure",
    "nice_ticks",
    "one_panel",
    "points_with_bars",
    "quantity_axis",
    "rank_axis",
    "readable_on",
    "save_figure",
    "set_title",
    "solver_colours",
    "tidy",
    "value_axis",
    "wrapped",
]

Scaling = Literal["auto", "linear", "log"]

#: Colours of Okabe and Ito (2008) with enough contrast to white, the most different ones first.
PALETTE = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#5D4A99", "#8C8C8C")
INK = "#222222"
GREY = "#6B6B6B"
#: Ink on coloured areas, whether the page is light or dark.
ON_DARK, ON_LIGHT = "#FEFEFE", "#232323"
FAINT = "#E4E4E4"
#: File endings that `save_figure` writes.
FORMATS = (".png", ".svg", ".pdf")
_DPI = 200
_MARKUP = re.compile(r"[$^{}]")


def new_figure(width: float = 6.4, height: float = 4.2) -> Figure:
    """Return an empty figure without overlapping labels; sizes are in inches."""
    return Figure(figsize=(width, height), layout="constrained", facecolor="white", dpi=110)


def one_panel(
    width: float = 6.4, height: float = 4.2, *, grid: Literal["x", "y", "both", "none"] = "y"
) -> tuple[Figure, Axes]:
    """Return a figure with one tidy panel; sizes are in inches."""
    figure = new_figure(width, height)
    axes = figure.subplots()
    tidy(axes, grid=grid)
    return figure, axes


def headed(name: str, finding: str) -> str:
    """Return a title: the name of the subject, if it has one, and the finding.

    Examples
    --------
    >>> headed("inner", "time falls"), headed("", "time falls")
    ('inner: time falls', 'Time falls')
    """
    return f"{name}: {finding}" if name else finding[:1].upper() + finding[1:]


def solver_colours(names: Iterable[str]) -> dict[str, str]:
    """Return a colour for each solver. The same names in the same order get the same colours in every picture."""
    return {name: PALETTE[i % len(PALETTE)] for i, name in enumerate(names)}


def readable_on(colour: str) -> str:
    """Return white or dark ink: the colour with more contrast to a colour given as ``#RRGGBB``.

    The contrast is that of the Web Content Accessibility Guidelines: (lighter + 0.05) / (darker + 0.05), where
    ``lighter`` and ``darker`` are relative luminances.

    Examples
    --------
    >>> readable_on("#0072B2"), readable_on("#E69F00")
    ('#FEFEFE', '#232323')
    """
    light = _luminance(colour) + 0.05
    return ON_DARK if 1.05 / light >= light / (_luminance(ON_LIGHT) + 0.05) else ON_LIGHT


def _luminance(colour: str) -> float:
    channels = np.array([int(colour[i : i + 2], 16) for i in (1, 3, 5)]) / 255
    linear = np.where(channels <= 0.04045, channels / 12.92, ((channels + 0.055) / 1.055) ** 2.4)
    return float(linear @ [0.2126, 0.7152, 0.0722])


def tidy(axes: Axes, *, grid: Literal["x", "y", "both", "none"] = "y") -> None:
    """Keep only two spines of the frame, and draw a faint grid behind the data."""
    axes.spines[["top", "right"]].set_visible(False)
    axes.spines[["left", "bottom"]].set_color(GREY)
    axes.tick_params(which="both", color=GREY, labelcolor=INK, labelsize=9)
    axes.set_axisbelow(True)
    if grid != "none":
        axes.grid(visible=True, axis=grid, color=FAINT, linewidth=0.7)


def set_title(figure: Figure, finding: str, detail: str = "") -> None:
    """Write the finding above the picture, and the details in grey below the finding."""
    title = wrapped(finding, figure.get_figwidth(), 0.104)
    figure.suptitle(title, x=0.012, ha="left", fontsize=12, fontweight="bold", color=INK)
    if detail and figure.axes:
        text = wrapped(detail, figure.get_figwidth() - 0.7, 0.07)
        figure.axes[0].set_title(text, loc="left", fontsize=9, color=GREY)


def wrapped(text: str, width: float, letter: float) -> str:
    r"""Break a text into lines of at most `width` inches, at `letter` inches per letter, and escape it.

    Examples
    --------
    >>> wrapped("time falls as cores$^{-0.97}$ and grows as n", 2.0, 0.1).split("\n")
    ['time falls as', 'cores$^{-0.97}$ and grows', 'as n']
    """
    lines, taken = [""], 0.0
    for word in escape(text).split(" "):
        size = letter * (len(_MARKUP.sub("", word)) + 1)
        if lines[-1] and taken + size > width + letter:
            lines.append(word)
            taken = size
        else:
            lines[-1] += f" {word}" if lines[-1] else word
            taken += size
    return "\n".join(lines)


def escape(text: str) -> str:
    """Escape a user's names, so that matplotlib does not read them as mathematics."""
    return text if "$^{" in text else text.replace("$", r"\$")


def points_with_bars(axes: Axes, x: Any, y: Any, spread: Any, *, colour: str, gid: str, marks: str = "o") -> Any:
    """Draw points with bars for their spread, above and below. Return the handle for a legend."""
    bars = axes.errorbar(
        x, y, yerr=above_zero(y, spread), fmt=marks, color=colour, markersize=6, markeredgecolor="white",
        markeredgewidth=0.6, linewidth=1.6, ecolor=colour, elinewidth=1.1, capsize=3, zorder=3,
    )  # fmt: skip
    bars[0].set_gid(gid)
    return bars


def above_zero(values: Any, spread: Any) -> Any:
    """Return the lengths of bars (2, n), downwards and upwards. Bars end above zero, which a log axis can't show.

    The lower end is at least a tenth of the value.

    Examples
    --------
    >>> above_zero([2.0, 1.0], [0.5, 3.0]).tolist()
    [[0.5, 0.9], [0.5, 3.0]]
    """
    return np.vstack([np.minimum(spread, 0.9 * np.asarray(values)), spread])


def rank_axis(axes: Axes, ranks: int) -> None:
    """Label an axis on which each whole number is a rank."""
    axes.set_xlabel("rank", fontsize=10, color=INK)
    axes.xaxis.set_major_locator(MaxNLocator(16, integer=True))
    axes.set_xlim(-0.6, ranks - 0.4)


def colour_bar(figure: Figure, image: Any, label: str, **place: Any) -> Any:
    """Add a labelled colour bar beside panels. The options in `place` are those of `Figure.colorbar`."""
    bar = figure.colorbar(image, **place)
    bar.set_label(label, fontsize=9, color=INK)
    bar.ax.tick_params(labelsize=9, color=GREY, labelcolor=INK)
    bar.outline.set_visible(False)
    return bar


def add_box(axes: Axes, corners: tuple[float, float, float, float], **look: Any) -> None:
    """Draw a rectangle with the corners x0, x1, y0, y1."""
    x0, x1, y0, y1 = corners
    axes.add_patch(Rectangle((x0, y0), x1 - x0, y1 - y0, **look))


def legend_below(figure: Figure, handles: Mapping[str, Any]) -> None:
    """Put one legend for all panels below them. `handles` maps labels to artists."""
    if not handles:
        return
    count = _columns([len(label) for label in handles], figure.get_figwidth(), len(handles))
    rows = -(-len(handles) // count)
    look: dict[str, Any] = {"ncols": count, "frameon": False, "fontsize": 9, "labelcolor": INK}
    drawn, texts = list(handles.values()), [escape(label) for label in handles]
    try:
        figure.legend(drawn, texts, loc="outside lower center", **look)
    except ValueError:  # matplotlib before 3.7 keeps no room for a figure's legend
        share = 0.3 * rows / figure.get_figheight()
        figure.get_layout_engine().set(rect=(0, share, 1, 1 - share))  # type: ignore[union-attr,call-arg]
        figure.legend(drawn, texts, loc="lower center", **look)


def _columns(letters: list[int], width: float, most: int) -> int:
    """Return the number of columns of a legend that fit side by side. A legend is filled column by column."""
    for count in range(min(most, len(letters)), 1, -1):
        rows = -(-len(letters) // count)
        columns = [max(letters[i : i + rows]) for i in range(0, len(letters), rows)]
        if sum(0.068 * widest + 0.6 for widest in columns) < width:  # inches per letter, per handle
            return len(columns)
    return 1


# ---- axes ---------------------------------------------------------------------------------------------------


class _InUnit(Locator):
    """Puts ticks where a value divided by `factor` is round."""

    def __init__(self, inner: Locator, factor: float) -> None:
        self.inner = inner
        self.factor = factor

    def __call__(self) -> Any:
        axis: Any = self.axis
        low, high = sorted(axis.get_view_interval())
        return self.tick_values(low, high)

    def tick_values(self, vmin: float, vmax: float) -> Any:
        return np.asarray(self.inner.tick_values(vmin / self.factor, vmax / self.factor)) * self.factor


def quantity_axis(
    axes: Axes, which: Literal["x", "y"], name: str, unit: str, values: Iterable[float], *, log: bool = False,
    written: tuple[float, str] | None = None,
) -> None:  # fmt: skip
    """Label an axis of a measured quantity. Data stay in the base unit, and tick labels use a suitable unit.

    Parameters
    ----------
    axes : Axes
        The panel.
    which : {"x", "y"}
        The axis.
    name : str
        The name of the quantity, e.g. ``"time per step"``.
    unit : {"s", "B", "J", "1"}
        The base unit of the data.
    values : iterable of float
        The values that will be shown. They determine the prefix of the unit.
    log : bool
        Whether the axis is logarithmic.
    written : tuple of float and str, optional
        The unit of the text beside the picture: its value in the base unit, and its name.
    """
    shown = np.array([v for v in values if math.isfinite(v)], dtype=np.float64)
    # On a log axis, the middle determines the unit, so that neither end has many zeros.
    middle = [float(np.sqrt(shown.min() * shown.max()))] if log and len(shown) else shown.tolist()
    factor, prefix = written or prefix_for(middle, unit)
    log = log and bool((shown > 0).any())  # an axis of zeros alone can't be logarithmic
    _scale(axes, which, log=log)
    axis = axes.xaxis if which == "x" else axes.yaxis
    axis.set_major_locator(_InUnit(_log_locator(shown) if log else MaxNLocator(6, steps=[1, 2, 2.5, 5, 10]), factor))
    axis.set_minor_locator(NullLocator())
    axis.set_major_formatter(FuncFormatter(_ticks(factor)))
    _label(axes, which, f"{name} ({prefix})" if prefix else name)


def value_axis(
    axes: Axes, which: Literal["x", "y"], name: str, unit: str, measured: NDArray[np.float64], *, log: bool = False
) -> None:
    """Label an axis of a parameter. A log scale has ticks at powers of two if all measured values are such powers."""
    _scale(axes, which, log=log)
    axis = axes.xaxis if which == "x" else axes.yaxis
    axis.set_major_locator(_parameter_locator(measured, log=log))
    axis.set_minor_locator(NullLocator())
    axis.set_major_formatter(FuncFormatter(_ticks(1.0)))
    _label(axes, which, f"{name} ({unit})" if unit and unit != name else name)


def nice_ticks(low: float, high: float, *, log: bool, most: int = 8) -> list[float]:
    """Return round numbers from `low` to `high`. Both ends are included if they are round.

    Examples
    --------
    >>> nice_ticks(1.0, 100.0, log=True)
    [1.0, 2.0, 5.0, 10.0, 20.0, 50.0, 100.0]
    """
    locator = _log_locator(np.array([low, high])) if log else MaxNLocator(most - 1, steps=[1, 2, 2.5, 5, 10])
    ticks = [round(float(t), 15) for t in locator.tick_values(low, high) if low * 0.999999 <= t <= high * 1.000001]
    return ticks[:: max(1, math.ceil(len(ticks) / most))]


def _scale(axes: Axes, which: str, *, log: bool) -> None:
    change: Callable[[str], None] = axes.set_xscale if which == "x" else axes.set_yscale
    change("log" if log else "linear")


def _label(axes: Axes, which: str, text: str) -> None:
    (axes.set_xlabel if which == "x" else axes.set_ylabel)(escape(text), fontsize=10, color=INK)


def _ticks(factor: float) -> Callable[[float, int | None], str]:
    def write(value: float, _position: int | None = None) -> str:
        return compact(value / factor, 4)

    return write


def _log_locator(values: NDArray[np.float64]) -> Locator:
    positive = values[values > 0]
    decades = math.log10(positive.max() / positive.min()) if len(positive) else 1.0
    if decades < 0.4:
        return MaxNLocator(5, steps=[1, 2, 2.5, 5, 10])
    subs = (1.0, 2.0, 3.0, 5.0, 7.0) if decades < 0.9 else (1.0, 2.0, 5.0) if decades < 2.2 else (1.0,)
    return LogLocator(base=10, subs=subs, numticks=12)


def _parameter_locator(measured: NDArray[np.float64], *, log: bool) -> Locator:
    if not log:
        return MaxNLocator(6, steps=[1, 2, 2.5, 5, 10], integer=bool(np.all(measured == np.round(measured))))
    exponents = np.log2(measured[measured > 0])
    if len(exponents) and np.all(exponents == np.round(exponents)) and np.ptp(exponents) >= 2:
        stride = max(1, math.ceil((np.ptp(exponents) + 1) / 8))
        start = int(exponents.min()) - 8 * stride
        return FixedLocator((2.0 ** np.arange(start, int(exponents.max()) + 8 * stride + 1, stride)).tolist())
    return _log_locator(measured)


# ---- files --------------------------------------------------------------------------------------------------


def save_figure(figure: Figure, path: str | Path) -> Path:
    """Write a figure to a file. An existing file is replaced only when the new one is complete.

    Parameters
    ----------
    figure : Figure
        The result of a plotting function.
    path : str or Path
        It ends in ``.png`` (200 dots per inch), ``.svg`` or ``.pdf``.

    Returns
    -------
    Path
        The file.

    Raises
    ------
    InputError
        If the ending is none of these or the folder can't be written to.

    Examples
    --------
    >>> save_figure(new_figure(), "curve.bmp")
    Traceback (most recent call last):
        ...
    evenly.errors.InputError: pictures are saved as .png, .svg or .pdf, but got 'curve.bmp'
    """
    target = Path(path)
    suffix = target.suffix.lower()
    if suffix not in FORMATS:
        raise InputError(f"pictures are saved as {', '.join(FORMATS[:-1])} or {FORMATS[-1]}, but got {target.name!r}")
    # No date and a fixed salt: the same picture gives the same file.
    undated: dict[str, Any] = {".png": {}, ".svg": {"Date": None}, ".pdf": {"CreationDate": None}}[suffix]
    about = {"Software" if suffix == ".png" else "Creator": MARK, **undated}
    try:
        with mpl.rc_context({"svg.hashsalt": "evenly"}), replacing(target) as new:
            figure.savefig(new, format=suffix[1:], dpi=_DPI, metadata=about)
    except OSError as error:
        raise InputError(
            f"the picture can't be written to {target}: {error.strerror or error}; choose another folder"
        ) from None
    return target
