"""The time of one window as an expression of the solvers' times, from preCICE's coupling schemes.

Sources: Table 1.1 of "Optimal core assignment for coupled simulations"; Bungartz, Lindner, Mehl and Uekermann, 2015,
"A plug-and-play coupling approach for parallel multi-field simulations", Comput. Mech. 55, 1119-1129.

- In a *parallel* scheme the participants compute at the same time, with data of the last window or iteration:
  ``max(a, b)``.
- In a *serial* scheme the second participant needs the first's result of the same window, and the first needs the
  second's result before its next window: ``sum(a, b)``. If data flow in one direction only, the sender waits for no
  answer. The participants then work on different windows at the same time, and a window takes ``max(a, b)`` on average.
- An *implicit* scheme iterates each window until it converges. A measured step is one iteration, or one of several
  substeps in it. So k steps in a window multiply a participant's time by k. ``max-iterations`` is only an upper bound
  of the iterations, so the layout has factors only if measured ones are given (`Coupling.expression`). A factor of the
  whole expression does not change the optimal assignment; those of single participants do.
- *multi* is an implicit parallel scheme of any number of participants.
- *Several schemes* in one file form a directed graph: an edge leads from the sender to the receiver of data. preCICE
  delays explicit schemes until an implicit scheme has converged, so the participants of an implicit scheme are one
  node. Nodes with data paths in both directions between them work on the same window. There, a window takes the time
  of the heaviest chain of serial schemes that send from first to second: ``sum(a, max(b, c))`` for a before b and a
  before c. Other nodes work on different windows at the same time. In a chain a → b → c with answers in the reverse
  direction, some versions of preCICE overlap a's next window with c's last one; the heaviest chain is then an upper
  bound. A cycle of serial schemes is a deadlock in preCICE, and an error here.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from evenly.errors import InputError, option_text
from evenly.readers.precice.task_order import expression_of, reachable

__all__ = ["Coupling", "Kind", "Scheme"]

Kind = Literal["serial", "parallel", "multi"]

_BARE = re.compile(r"[A-Za-z_][\w.-]*", re.ASCII)
_WORDS = ("max", "sum", "parallel", "serial")


@dataclass(frozen=True)
class Scheme:
    """One coupling scheme.

    Parameters
    ----------
    kind : {"serial", "parallel", "multi"}
        Whether the participants compute one after the other (``"serial"``) or at the same time.
    implicit : bool
        Whether a window is repeated until it converges.
    participants : tuple of str
        The first and the second participant; all participants for ``"multi"``.
    max_iterations : int, optional
        Upper bound of the iterations per window.
    flows : tuple of (str, str)
        Pairs (sender, receiver) of participants. Empty if the file names none; then every participant sends to every
        other one.
    windows : int, optional
        The number of time windows of the simulation, if the file gives it.
    """

    kind: Kind
    implicit: bool
    participants: tuple[str, ...]
    max_iterations: int | None = None
    flows: tuple[tuple[str, str], ...] = ()
    windows: int | None = None

    def sends(self, source: str, target: str) -> bool:
        """Return whether `source` sends data to `target`."""
        return (source, target) in self.flows if self.flows else {source, target} <= set(self.participants)

    def __str__(self) -> str:
        name = self.kind if self.kind == "multi" else f"{self.kind}-{'implicit' if self.implicit else 'explicit'}"
        return f"{name} of {', '.join(self.participants)}"


@dataclass(frozen=True)
class Coupling:
    """The coupling of all participants of a simulation.

    Parameters
    ----------
    participants : tuple of str
        All participants, in the order of the file.
    schemes : tuple of Scheme
        The coupling schemes.
    layout : str
        The time per window as an expression, if each participant makes one step; see `expression`.
    notes : tuple of str
        Remarks on the layout for the user.

    Examples
    --------
    >>> one = Scheme("serial", True, ("Fluid", "Solid"), max_iterations=30, windows=100)
    >>> coupling = Coupling.of(("Fluid", "Solid"), (one,))
    >>> coupling.layout, coupling.expression({"Fluid": 3, "Solid": 12})
    ('sum(Fluid, Solid)', '3 * sum(Fluid, 4 * Solid)')
    """

    participants: tuple[str, ...]
    schemes: tuple[Scheme, ...]
    layout: str
    notes: tuple[str, ...] = ()

    @classmethod
    def of(cls, participants: Sequence[str], schemes: Sequence[Scheme]) -> Coupling:
        """Combine the coupling schemes of all participants to a layout.

        Raises
        ------
        InputError
            If the schemes can't be combined.
        """
        layout = _expression(participants, schemes, {})
        return cls(tuple(participants), tuple(schemes), layout, tuple(_notes(participants, schemes)))

    @property
    def implicit(self) -> bool:
        """Whether some scheme is implicit."""
        return any(scheme.implicit for scheme in self.schemes)

    @property
    def windows(self) -> int | None:
        """The number of time windows, if the file gives it."""
        return next((scheme.windows for scheme in self.schemes if scheme.windows), None)

    def expression(self, steps: Mapping[str, float] | None = None) -> str:
        """Return the layout in which the participants make several steps in a time window.

        Parameters
        ----------
        steps : mapping of str to float, optional
            Steps per window of participants: the iterations of an implicit scheme, times the substeps in each; see
            `evenly.readers.precice.window_steps`. Those that are missing make one.

        Raises
        ------
        InputError
            If a participant makes less than one step in a window.
        """
        for name, count in (steps or {}).items():
            if not (math.isfinite(count) and count >= 1):
                raise InputError(f"a window takes at least one step, but got {count!r} for {name}")
        return _expression(self.participants, self.schemes, steps or {})


# ---- the objective --------------------------------------------------------------------------------------------------


def _quoted(name: str) -> str:
    return name if _BARE.fullmatch(name) and name not in _WORDS else json.dumps(name, ensure_ascii=False)


def _expression(participants: Sequence[str], schemes: Sequence[Scheme], steps: Mapping[str, float]) -> str:
    node = {name: name for name in participants}
    labels: dict[str, str] = {}
    for scheme in schemes:
        if scheme.implicit:
            _join(scheme, node, labels, steps)
    for name in participants:
        if node[name] == name:
            labels.setdefault(name, _times(steps.get(name, 1.0), _quoted(name)))
    order = {key: labels[key] for key in dict.fromkeys(node[name] for name in participants)}
    return expression_of(order, _edges(schemes, node))


def _edges(schemes: Sequence[Scheme], node: dict[str, str]) -> list[tuple[str, str]]:
    """Pairs of nodes of which the second waits for the first in each window, and the first at last for the second."""
    flows = {(node[a], node[b]) for s in schemes for a in s.participants for b in s.participants if s.sends(a, b)}
    reach = reachable(set(node.values()), flows)
    pairs = [
        (node[scheme.participants[0]], node[scheme.participants[1]])
        for scheme in schemes
        if scheme.kind == "serial" and not scheme.implicit and scheme.sends(*scheme.participants)
    ]
    return [(first, second) for first, second in pairs if first != second and first in reach[second]]


def _join(scheme: Scheme, node: dict[str, str], labels: dict[str, str], steps: Mapping[str, float]) -> None:
    """Make one node of an implicit scheme's participants."""
    names = scheme.participants
    taken = [name for name in names if node[name] != name]
    if taken:
        raise InputError(
            f"{taken[0]!r} takes part in two implicit schemes, which preCICE doesn't allow: use one multi scheme"
        )
    key = " and ".join(names)
    for name in names:
        node[name] = key
    group = "sum" if scheme.kind == "serial" else "max"
    counts = [steps.get(name, 1.0) for name in names]
    parts = [_times(count / min(counts), _quoted(name)) for name, count in zip(names, counts, strict=True)]
    labels[key] = _times(min(counts), f"{group}({', '.join(parts)})")


def _times(factor: float, text: str) -> str:
    return text if factor == 1 else f"{round(factor, 3):g} * {text}"


def _notes(participants: Sequence[str], schemes: Sequence[Scheme]) -> list[str]:
    coupled = {name for scheme in schemes for name in scheme.participants}
    notes = [
        f"{name} is in no coupling scheme and is taken to run beside the others"
        for name in participants
        if name not in coupled
    ]
    notes += [
        f"{scheme}: data flow one way only, so the two may work on different windows at the same time"
        for scheme in schemes
        if scheme.kind == "serial"
        and not (scheme.sends(*scheme.participants) and scheme.sends(*scheme.participants[::-1]))
    ]
    serial = [scheme for scheme in schemes if scheme.kind == "serial" and not scheme.implicit]
    middle = {scheme.participants[1] for scheme in serial} & {scheme.participants[0] for scheme in serial}
    return notes + [
        f"{name} is inside a chain of serial schemes: where windows overlap, the layout is an upper bound"
        + (f" ({_overlapping(name, participants)})" if len(participants) == 3 else "")
        for name in sorted(middle)
    ]


def _overlapping(name: str, participants: Sequence[str]) -> str:
    """Say which layout of a chain of three has windows that overlap around the middle one."""
    around = ", ".join(_quoted(one) for one in participants if one != name)
    layout = option_text("--layout", f"sum({_quoted(name)}, max({around}))")
    return f"{layout} says that the two around it run side by side, each in another window"
