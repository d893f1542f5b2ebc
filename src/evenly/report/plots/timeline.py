"""Figures of all cores during a few coupled steps, under one assignment or several.

Work is coloured, and waiting is hatched. Width is time and height is cores, so an area is a cost in core-seconds.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Patch, Rectangle
from matplotlib.ticker import MaxNLocator

from evenly.allocation.problem.core_usage import footprint_of
from evenly.allocation.problem.layout import Layout, Repeated, SideBySide, Solver, parse_layout
from evenly.errors import InputError
from evenly.report.formatting import percent, quantity
from evenly.report.plots.style import (
    GREY,
    INK,
    escape,
    legend_below,
    new_figure,
    quantity_axis,
    readable_on,
    set_title,
    solver_colours,
)
from evenly.report.plots.style import tidy as tidy_axes

__all__ = ["Bar", "CoupledStep", "bars_of", "plot_timeline"]

_MOST_ITERATIONS = 12
#: In inches: the width of the panels, the width of a letter, and the height of a line of text with space around it.
_WIDTH, _LETTER, _LINE = 6.6, 0.083, 0.19


@dataclass(frozen=True)
class CoupledStep:
    """An assignment of cores, and the times of the solvers with it.

    Parameters
    ----------
    label : str
        The name of the assignment in the picture: ``"now"``, ``"cores ∝ degrees of freedom"``, ``"evenly"``.
    cores : mapping of str to int
        The cores of each solver.
    seconds : mapping of str to float
        The time of each solver's own work in one step, or in one iteration if the layout repeats the solver.
    """

    label: str
    cores: Mapping[str, int]
    seconds: Mapping[str, float]


@dataclass(frozen=True)
class Bar:
    """The work of one solver. It begins at `start`, takes `seconds`, and uses `cores` cores from `first` on."""

    solver: str
    start: float
    seconds: float
    first: int
    cores: int


def bars_of(layout: Layout, step: CoupledStep) -> list[Bar]:
    """Return when and on which cores each solver works during one step.

    Parameters
    ----------
    layout : Layout
        How the solvers wait for each other and share cores.
    step : CoupledStep
        Cores and seconds per solver.

    Returns
    -------
    list of Bar
        In the order of the layout. A repeated part has one bar per iteration, or a single bar for many iterations.

    Examples
    --------
    >>> step = CoupledStep("now", {"ice": 2, "atm": 3}, {"ice": 1.0, "atm": 4.0})
    >>> for bar in bars_of(parse_layout("ice + atm"), step):
    ...     print(bar)
    Bar(solver='ice', start=0.0, seconds=1.0, first=0, cores=2)
    Bar(solver='atm', start=1.0, seconds=4.0, first=0, cores=3)
    """
    _check(layout, step)
    first = footprint_of(layout).places(step.cores)
    return [
        Bar(name, start, seconds, first[name], int(step.cores[name]))
        for name, start, seconds in _turns(layout, step.seconds, 0.0, 1.0)
    ]


def _check(layout: Layout, step: CoupledStep) -> None:
    missing = [name for name in layout.names if name not in step.cores or name not in step.seconds]
    if missing:
        raise InputError(f"{step.label!r} must give cores and seconds for every solver, but {missing[0]!r} has none")


def _turns(
    node: Layout, seconds: Mapping[str, float], start: float, times: float
) -> Iterator[tuple[str, float, float]]:
    """Yield solver, start and duration. `times` stretches a part with too many iterations to draw each of them."""
    match node:
        case Solver():
            yield node.name, start, times * float(seconds[node.name])
        case Repeated() if node.count > _MOST_ITERATIONS or not float(node.count).is_integer():
            yield from _turns(node.part, seconds, start, times * node.count)
        case Repeated():
            for turn in range(int(node.count)):
                yield from _turns(node.part, seconds, start + turn * times * float(node.part.seconds(seconds)), times)
        case _:
            for part in node.children():
                yield from _turns(part, seconds, start, times)
                start += 0.0 if isinstance(node, SideBySide) else times * float(part.seconds(seconds))


def plot_timeline(layout: Layout | str, *steps: CoupledStep, count: int = 3) -> Figure:
    """Show a few coupled steps on one time axis, for one assignment or several.

    Parameters
    ----------
    layout : Layout or str
        How the solvers wait for each other and share cores.
    *steps : CoupledStep
        From the first to the last panel, for example today's assignment and the planned one.
    count : int
        The number of steps to draw.

    Returns
    -------
    Figure

    Raises
    ------
    InputError
        If there is nothing to draw, or if a solver has no cores or seconds.

    Examples
    --------
    >>> now = CoupledStep("now", {"fluid": 60, "solid": 40}, {"fluid": 2.0, "solid": 1.0})
    >>> then = CoupledStep("evenly", {"fluid": 75, "solid": 25}, {"fluid": 1.6, "solid": 1.6})
    >>> plot_timeline("max(fluid, solid)", now, then).axes[1].get_title(loc="left")
    'evenly: 1.6 s per step on 100 cores (fluid 75, solid 25), 0 % waiting'
    """
    if not steps or count < 1:
        raise InputError(f"a timeline needs an assignment and at least one step, but got {len(steps)} and {count}")
    tree = parse_layout(layout, steps[0].cores) if isinstance(layout, str) else layout
    for step in steps:
        _check(tree, step)
    colours = solver_colours(tree.names)
    totals = [int(footprint_of(tree).cores(step.cores)) for step in steps]
    lengths = [float(tree.seconds(step.seconds)) for step in steps]
    heights = [0.55 + 1.3 * total / max(totals) for total in totals]
    figure = new_figure(7.6, 1.0 + sum(0.35 + height for height in heights))
    grid = figure.subplots(len(steps), 1, sharex=True, squeeze=False, height_ratios=heights)
    span = count * max(lengths)
    for axes, step, total, length, inches in zip(grid.ravel(), steps, totals, lengths, heights, strict=True):
        _draw(axes, bars_of(tree, step), colours, total=total, length=length, count=count, span=span, inches=inches)
        axes.set_title(_heading(tree, step, total, length), loc="left", fontsize=9.5, color=INK)
    last = grid.ravel()[-1]
    quantity_axis(last, "x", "time", "s", [span])
    last.set_xlim(0, span * 1.005)
    set_title(figure, _finding(lengths, steps[0].label))
    waiting = Patch(facecolor="white", edgecolor="#B0B0B0", hatch="/////", linewidth=0)
    handles = {name: Patch(facecolor=colour) for name, colour in colours.items()} | {"waiting": waiting}
    legend_below(figure, handles)
    return figure


def _finding(lengths: Sequence[float], compared: str) -> str:
    first, last = lengths[0], lengths[-1]
    if len(lengths) == 1:
        return f"A step takes {quantity(first, digits=3)}"
    said = f"A step takes {quantity(last, digits=3)} instead of {quantity(first, digits=3)}"
    if abs(last - first) < 0.0005 * first:
        return f"{said}: no difference"
    than = compared if compared in ("now", "before") else f"with {compared}"
    return f"{said}: {percent(abs(1 - last / first), 2)} {'less' if last < first else 'more'} than {than}"


def _heading(layout: Layout, step: CoupledStep, total: int, length: float) -> str:
    work = sum(bar.seconds * bar.cores for bar in bars_of(layout, step))
    waiting = max(0.0, 1 - work / (total * length))
    shares = ", ".join(f"{name} {step.cores[name]}" for name in layout.names)
    each = f" ({shares})" if len(shares) <= 48 else ""
    said = f"{step.label}: {quantity(length, digits=3)} per step on {total} cores{each}, {percent(waiting, 2)} waiting"
    return escape(said)


def _draw(
    axes: Axes, bars: list[Bar], colours: Mapping[str, str], *, total: int, length: float, count: int, span: float,
    inches: float,
) -> None:  # fmt: skip
    tidy_axes(axes, grid="none")
    for turn in range(count):
        idle = Rectangle((turn * length, 0), length, total, facecolor="white", edgecolor="#B0B0B0", hatch="/////")
        idle.set(linewidth=0, gid="waiting")
        axes.add_patch(idle)
        for bar in bars:
            place = (turn * length + bar.start, bar.first)
            axes.add_patch(
                Rectangle(place, bar.seconds, bar.cores, facecolor=colours[bar.solver], edgecolor="white",
                          linewidth=0.5, gid=f"work of {bar.solver}")
            )  # fmt: skip
    for turn in range(1, count + 1):
        axes.axvline(turn * length, color=INK, linewidth=0.9)
    _name_bars(axes, bars, colours, total=total, inches=inches, span=span)
    axes.set_ylim(0, total)
    axes.set_ylabel("cores", fontsize=10, color=INK)
    axes.yaxis.set_major_locator(MaxNLocator(4, integer=True, steps=[1, 2, 5, 10]))
    axes.spines["left"].set_color(GREY)


def _name_bars(
    axes: Axes, bars: list[Bar], colours: Mapping[str, str], *, total: int, inches: float, span: float
) -> None:
    """Write solver and cores into the large bars of the first step. The legend names the others."""
    seen: set[str] = set()
    for bar in sorted(bars, key=lambda one: -one.seconds):
        text = f"{bar.solver} {bar.cores}"
        wide = bar.seconds / span * _WIDTH > _LETTER * (len(text) + 1)
        if wide and bar.cores / total * inches > _LINE and bar.solver not in seen:
            seen.add(bar.solver)
            x, y = bar.start + bar.seconds / 2, bar.first + bar.cores / 2
            axes.text(
                x, y, escape(text), ha="center", va="center", fontsize=8.5, fontweight="bold", clip_on=True,
                color=readable_on(colours[bar.solver]), gid=f"name of {bar.solver}",
            )  # fmt: skip
