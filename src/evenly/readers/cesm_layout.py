"""Who shares cores with whom in a run of CESM or E3SM, from the first task and the number of tasks of each component.

Components whose tasks overlap run one after the other; the others run side by side. Each file tells the time of the
whole run, too (``TOT Run Time``), so that the layout is checked against it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from pathlib import Path

__all__ = [
    "Placed",
    "Placement",
    "about_times",
    "agreed",
    "cores_kept",
    "layout_of",
    "placement_of",
    "same_in_all",
    "widths",
]

#: The layout must make so much of the whole run's time; the rest is the coupler's exchange of data, and imbalance.
_LEAST, _MOST = 0.88, 1.05


class Placement(Enum):
    """Which cores the tasks of components with different threads keep."""

    #: Each as many as the task with the most threads: CIME puts the same number of tasks on every node.
    EVEN = "even"
    #: Each those of the threads on its own place.
    PACKED = "packed"
    #: It makes no difference, or nothing tells it.
    OPEN = "open"


@dataclass(frozen=True)
class Placed:
    """The layout of the run of one timing file.

    Parameters
    ----------
    path : Path
        The file.
    layout : str or None
        An expression for `evenly.allocate`; None where tasks overlap in a way that no expression describes.
    share : float or None
        The time that the layout makes of the components' times, over that of the whole run, where it is known.
    threads : mapping of str to int
        Threads of each task, by component.
    cores_per_task : mapping of str to int
        The most threads of any component on the place of a component's tasks, by component.
    most_threads : int
        The most threads of any component.
    placement : Placement
        Which cores tasks keep by ``pe count for cost estimate``.
    cores : mapping of str to int
        Cores of each component: its tasks times its threads.
    seconds : float or None
        Time of the whole run for a simulated day, in seconds, where it is known.
    fields : mapping of str to str
        Entries of the file's head that are parameters of the components' runs.
    strided : tuple of str
        The components whose tasks don't follow each other: others' tasks lie between them.
    setting : mapping of str to str
        The ``grid`` and the ``compset``: times of different ones can't be compared.
    machine : str
        Its name; "" if the file doesn't tell it.
    """

    path: Path
    layout: str | None
    share: float | None
    threads: Mapping[str, int]
    cores_per_task: Mapping[str, int] = field(default_factory=dict)
    most_threads: int = 1
    placement: Placement = Placement.OPEN
    cores: Mapping[str, int] = field(default_factory=dict)
    seconds: float | None = None
    fields: Mapping[str, str] = field(default_factory=dict)
    strided: tuple[str, ...] = ()
    setting: Mapping[str, str] = field(default_factory=dict)
    machine: str = ""

    @property
    def fits(self) -> bool:
        """Whether the layout explains the time of the whole run."""
        return self.layout is not None and (self.share is None or _LEAST <= self.share <= _MOST)


def layout_of(tasks: Mapping[str, range], seconds: Mapping[str, float]) -> tuple[str, float] | None:
    """Return the layout of components that run on these MPI tasks, and the time that it makes of theirs.

    A component that overlaps with all others of a group takes its turn with the rest of the group. Where groups remain
    that don't overlap, they run side by side. None where neither is so.

    Examples
    --------
    >>> tasks = {"atm": range(0, 32), "lnd": range(0, 16), "ice": range(16, 32), "ocn": range(32, 40)}
    >>> layout_of(tasks, {"atm": 5.0, "lnd": 1.0, "ice": 2.0, "ocn": 6.5})
    ('max(max(lnd, ice) + atm, ocn)', 7.0)
    >>> layout_of({"a": range(0, 4), "b": range(2, 8), "c": range(6, 12), "d": range(10, 14)}, {}) is None
    True
    """
    names = list(tasks)
    if len(names) == 1:
        return names[0], seconds.get(names[0], 0.0)
    groups = _apart(tasks)
    if len(groups) > 1:
        side = [layout_of({name: tasks[name] for name in group}, seconds) for group in groups]
        if None in side:
            return None
        parts = [part for part in side if part is not None]
        return f"max({', '.join(text for text, _ in parts)})", max(time for _, time in parts)
    turns = [name for name in names if all(_overlap(tasks[name], tasks[other]) for other in names)]
    if not turns:
        return None
    rest = {name: span for name, span in tasks.items() if name not in turns}
    inner = layout_of(rest, seconds) if rest else ("", 0.0)
    if inner is None:
        return None
    texts = [text for text in (inner[0], *turns) if text]
    return " + ".join(texts), inner[1] + sum(seconds.get(name, 0.0) for name in turns)


def widths(tasks: Mapping[str, range], threads: Mapping[str, int]) -> dict[str, int]:
    """Return the cores that each component's tasks keep: the most threads of any component on the same tasks.

    Examples
    --------
    >>> widths({"atm": range(4), "ice": range(3), "ocn": range(4, 8)}, {"atm": 4, "ice": 1, "ocn": 1})
    {'atm': 4, 'ice': 4, 'ocn': 1}
    """
    return {
        name: max(threads[other] for other, there in tasks.items() if _overlap(span, there))
        for name, span in tasks.items()
    }


def placement_of(tasks: Mapping[str, range], threads: Mapping[str, int], cores: int | None) -> Placement:
    """Return how a run's tasks were placed, by the cores of all its nodes.

    If every task keeps as many cores as the one with the most threads, the run has at least so many. If it has fewer,
    but enough for the threads on each place, they were packed. Nothing is told where a node has several threads for
    each of the cores that are counted.

    Examples
    --------
    >>> tasks, threads = {"atm": range(0, 192), "ocn": range(192, 336)}, {"atm": 3, "ocn": 1}
    >>> [placement_of(tasks, threads, cores).value for cores in (1008, 720, 360, None)]
    ['even', 'packed', 'open', 'open']
    """
    kept, most = widths(tasks, threads), max(threads.values())
    last = 1 + max(span[-1] for span in tasks.values())
    places = [1] * last
    for name, span in tasks.items():
        for at in span:
            places[at] = max(places[at], kept[name])
    if cores is None or sum(places) == last * most or cores < sum(places):
        return Placement.OPEN
    return Placement.PACKED if cores < last * most else Placement.EVEN


def cores_kept(files: Sequence[Placed]) -> tuple[dict[str, int], Placement]:
    """Return the cores that each task of a component keeps in all these runs, and by which placement.

    Where no file tells the placement, it is the one that CIME makes, in which all tasks keep the same.
    """
    found = {one.placement for one in files}
    if Placement.PACKED in found:
        return same_in_all([one.cores_per_task for one in files]), Placement.PACKED
    kept = same_in_all([dict.fromkeys(one.threads, one.most_threads) for one in files])
    return kept, Placement.EVEN if Placement.EVEN in found else Placement.OPEN


def same_in_all(files: Sequence[Mapping[str, int]]) -> dict[str, int]:
    """Return the numbers that are the same in all files that have them."""
    names = sorted({name for one in files for name in one})
    counts = {name: {one[name] for one in files if name in one} for name in names}
    return {name: found.pop() for name, found in counts.items() if len(found) == 1}


def agreed(files: Sequence[Placed]) -> tuple[str | None, list[str]]:
    """Return the layout that all timing files have, and what is said about it; None where they have none in common."""
    if not files:
        return None, []
    layouts: dict[str | None, Path] = {}
    for one in files:
        layouts.setdefault(one.layout, one.path)
    if len(layouts) > 1:
        listed = "; ".join(f"{layout or 'another'} in {path}" for layout, path in list(layouts.items())[:3])
        return None, [f"the timing files have different layouts by root_pe, so none is taken: {listed}"]
    layout = files[0].layout
    if layout is None:
        return None, [f"the tasks of components overlap by root_pe in a way that no layout describes ({files[0].path})"]
    shares = [one.share for one in files if one.share is not None]
    if not shares:
        return layout, []
    low, high = min(shares), max(shares)
    told = " to ".join(dict.fromkeys(f"{100 * share:.0f}" for share in (low, high))) + " %"
    if not all(one.fits for one in files):
        return None, [f"the layout by root_pe, {layout}, makes {told} of TOT Run Time, so that it isn't taken"]
    return layout, [f"the layout by root_pe, {layout}, makes {told} of TOT Run Time", *_spread(files)]


def about_times(files: Sequence[Placed]) -> list[str]:
    """Say of which machine the times of timing files are, and of which statistic.

    Examples
    --------
    >>> about_times([Placed(Path("cesm_timing.a"), None, None, {}, machine="derecho")])
    ['the timing files are of the machine derecho; times are the means per simulated day of each run']
    """
    machines = list(dict.fromkeys(one.machine for one in files if one.machine))
    of = (
        f"of the machine{'s' * (len(machines) > 1)} {', '.join(machines)}"
        if machines
        else "of a machine without a name"
    )
    return [f"the timing files are {of}; times are the means per simulated day of each run"] if files else []


def _spread(files: Sequence[Placed]) -> list[str]:
    """Say which components' tasks lie apart: their times may differ where tasks share the memory of a node."""
    names = sorted({name for one in files for name in one.strided})
    if not names:
        return []
    said = f"the tasks of {', '.join(names)} were measured with a stride (PSTRID); in a plan they follow each other"
    return [f"{said}, which may take longer, as they share the memory of a node"]


def _apart(tasks: Mapping[str, range]) -> list[list[str]]:
    """Return the names in groups that share no task, in the order of their names."""
    groups: list[list[str]] = []
    for name, span in tasks.items():
        touched = [group for group in groups if any(_overlap(span, tasks[other]) for other in group)]
        merged = [*(other for group in touched for other in group), name]
        groups = [group for group in groups if group not in touched]
        groups.append(merged)
    order = list(tasks)
    return sorted((sorted(group, key=order.index) for group in groups), key=lambda group: order.index(group[0]))


def _overlap(one: range, other: range) -> bool:
    """Return whether two components share a task; tasks with a stride leave out those between."""
    if one[0] > other[-1] or other[0] > one[-1]:
        return False
    fewer, more = sorted((one, other), key=len)
    return any(task in more for task in fewer)
