"""How preCICE's coupling schemes combine into the time of one window.

Sources: Table 1.1 of "Optimal core assignment for coupled simulations"; Bungartz, Lindner, Mehl and Uekermann, 2015,
"A plug-and-play coupling approach for parallel multi-field simulations", Comput. Mech. 55, 1119-1129.

- In a *parallel* scheme the participants compute side by side with data of the last window or iteration: ``max(a, b)``.
- In a *serial* scheme the second needs in a window what the first computed in it, and the first needs the second's
  result before its next window: ``sum(a, b)``. If data flow one way only, nobody waits for an answer: the participants
  work on different windows at the same time, and in the long run a window takes ``max(a, b)``.
- An *implicit* scheme repeats that until it converges. A measured step is one iteration, so a window takes ``k *`` that
  for k iterations. ``max-iterations`` is only an upper bound of k, so the layout has no factor unless a measured one is
  given (`Coupling.expression`). A factor over everything doesn't change the best assignment anyway.
- *multi* is an implicit parallel scheme of any number of participants.
- *Several schemes* in one file form a graph of who sends data to whom. preCICE holds explicit schemes back until an
  implicit one has converged, so an implicit scheme's participants are one node. Nodes that reach each other both ways
  along the data keep step: there, a window takes the heaviest chain of serial schemes that send from first to second,
  ``sum(a, max(b, c))`` for a before b and before c. Nodes that don't keep step work on different windows at the same
  time. In a chain a → b → c that answers backwards, some versions of preCICE let a's next window overlap with c's last
  one: there the heaviest chain is an upper bound. A circle of such schemes makes preCICE wait forever and is an error.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from evenly.errors import InputError
from evenly.readers._order import expression_of, reachable

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
        Whether participants compute in turn or side by side.
    implicit : bool
        Whether a window is repeated until it converges.
    participants : tuple of str
        First, second; for ``"multi"`` all of them.
    max_iterations : int, optional
        Upper bound of the iterations per window.
    flows : tuple of (str, str)
        Pairs of participants of which the first sends data to the second; empty if the file doesn't say, which
        stands for everybody to everybody.
    windows : int, optional
        How many time windows the simulation has, if the file says.
    """

    kind: Kind
    implicit: bool
    participants: tuple[str, ...]
    max_iterations: int | None = None
    flows: tuple[tuple[str, str], ...] = ()
    windows: int | None = None

    def sends(self, source: str, target: str) -> bool:
        """Whether `source` sends data to `target`."""
        return (source, target) in self.flows if self.flows else {source, target} <= set(self.participants)

    def __str__(self) -> str:
        name = self.kind if self.kind == "multi" else f"{self.kind}-{'implicit' if self.implicit else 'explicit'}"
        return f"{name} of {', '.join(self.participants)}"


@dataclass(frozen=True)
class Coupling:
    """How participants are coupled.

    Parameters
    ----------
    participants : tuple of str
        All participants, as the file lists them.
    schemes : tuple of Scheme
        The coupling schemes.
    layout : str
        Time per window, without factors for iterations; see `expression`.
    notes : tuple of str
        What a user should know about the layout.

    Examples
    --------
    >>> one = Scheme("serial", True, ("Fluid", "Solid"), max_iterations=30, windows=100)
    >>> coupling = Coupling.of(("Fluid", "Solid"), (one,))
    >>> coupling.layout, coupling.expression(iterations=4.5), coupling.iterations(steps=450)
    ('sum(Fluid, Solid)', '4.5 * sum(Fluid, Solid)', 4.5)
    """

    participants: tuple[str, ...]
    schemes: tuple[Scheme, ...]
    layout: str
    notes: tuple[str, ...] = ()

    @classmethod
    def of(cls, participants: Sequence[str], schemes: Sequence[Scheme]) -> Coupling:
        """Combine schemes.

        Raises
        ------
        InputError
            If the schemes can't be combined.
        """
        layout = _expression(participants, schemes, None)
        return cls(tuple(participants), tuple(schemes), layout, tuple(_notes(participants, schemes)))

    @property
    def implicit(self) -> bool:
        """Whether some scheme is implicit."""
        return any(scheme.implicit for scheme in self.schemes)

    def expression(self, iterations: float | None = None) -> str:
        """Give the layout with the number of iterations per window that the implicit scheme takes.

        Parameters
        ----------
        iterations : float, optional
            Measured iterations per window, see `iterations` and `read_iterations`.

        Returns
        -------
        str
        """
        if iterations is not None and not (math.isfinite(iterations) and iterations >= 1):
            raise InputError(f"a window takes at least one iteration, but got iterations={iterations!r}")
        return _expression(self.participants, self.schemes, iterations)

    def iterations(self, steps: float) -> float | None:
        """Give the mean number of iterations per window of a whole run.

        Parameters
        ----------
        steps : float
            Measured steps of a participant of the implicit scheme, warm-up included; it must not subcycle.

        Returns
        -------
        float or None
            None if the file doesn't say how many windows there are.
        """
        windows = next((scheme.windows for scheme in self.schemes if scheme.implicit and scheme.windows), None)
        return None if windows is None else steps / windows


# ---- the objective --------------------------------------------------------------------------------------------------


def _quoted(name: str) -> str:
    return name if _BARE.fullmatch(name) and name not in _WORDS else json.dumps(name, ensure_ascii=False)


def _expression(participants: Sequence[str], schemes: Sequence[Scheme], iterations: float | None) -> str:
    node = {name: name for name in participants}
    labels: dict[str, str] = {}
    for scheme in schemes:
        if scheme.implicit:
            _join(scheme, node, labels, iterations)
    for name in participants:
        if node[name] == name:
            labels.setdefault(name, _quoted(name))
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


def _join(scheme: Scheme, node: dict[str, str], labels: dict[str, str], iterations: float | None) -> None:
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
    factor = "" if iterations is None else f"{iterations:g} * "
    labels[key] = f"{factor}{group}({', '.join(map(_quoted, names))})"


def _notes(participants: Sequence[str], schemes: Sequence[Scheme]) -> list[str]:
    coupled = {name for scheme in schemes for name in scheme.participants}
    notes = [
        f"{name} is in no coupling scheme and is taken to run beside the others"
        for name in participants
        if name not in coupled
    ]
    for scheme in schemes:
        if scheme.kind == "serial" and not (
            scheme.sends(*scheme.participants) and scheme.sends(*scheme.participants[::-1])
        ):
            notes.append(f"{scheme}: data flow one way only, so the two may work on different windows at the same time")
        if scheme.implicit and len(coupled) > len(scheme.participants):
            bound = f" (at most {scheme.max_iterations} times)" if scheme.max_iterations else ""
            notes.append(
                f"{scheme}: iterates{bound} while the others wait, and the layout counts one iteration: "
                "give the measured number of iterations per window"
            )
    serial = [scheme for scheme in schemes if scheme.kind == "serial" and not scheme.implicit]
    middle = {scheme.participants[1] for scheme in serial} & {scheme.participants[0] for scheme in serial}
    return notes + [
        f"{name} is inside a chain of serial schemes: where windows overlap, the layout is an upper bound"
        for name in sorted(middle)
    ]
