"""The decision whether a change of layout pays, with its reason.

>>> decision = judged(Prospect(now_s=4e-3, predicted_s=3e-3, doubt_s=1e-4), Price(rebuild_s=2.0, steps_left=1000))
>>> decision.adjust, decision.pays_after_steps
(False, 2000.0)
>>> print(decision.why)  # doctest: +NORMALIZE_WHITESPACE
not worth it: a step of the slowest rank takes 4 ms and would take 3 ms, but the 1000 steps still to go would gain 1 s,
and moving takes 2 s
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from evenly.fdtd.cell.partition import BinaryPartition

__all__ = ["Decision", "Price", "Prospect", "judged"]


@dataclass(frozen=True)
class Prospect:
    """Predicted times of a proposed layout, beside the measured time on the present one.

    Parameters
    ----------
    now_s : float
        Measured seconds per step of the slowest rank on the present layout.
    predicted_s : float
        Predicted seconds per step of the slowest rank on the proposed layout.
    doubt_s : float
        Uncertainty of the difference in seconds, from the noise of the timings and the error of the cost model. A
        smaller gain doesn't count as real.
    layout : BinaryPartition, optional
        The proposed layout.
    rank_s : (ranks,), optional
        Predicted seconds per step of each rank on the proposed layout.
    """

    now_s: float
    predicted_s: float
    doubt_s: float = 0.0
    layout: BinaryPartition | None = None
    rank_s: NDArray[np.float64] | None = None


@dataclass(frozen=True)
class Price:
    """The price of a change of layout, and the number of steps in which it must pay.

    Parameters
    ----------
    rebuild_s : float
        Seconds that the last change of layout took; nan where none was measured yet.
    steps_left : float
        Remaining steps; infinite where not known.
    """

    rebuild_s: float = math.nan
    steps_left: float = math.inf


@dataclass(frozen=True)
class Decision:
    """The decision whether to change to a proposed layout.

    Parameters
    ----------
    adjust : bool
        Whether to change.
    why : str
        The reason, in one sentence.
    prospect : Prospect
    price : Price
    """

    adjust: bool
    why: str
    prospect: Prospect
    price: Price

    @property
    def layout(self) -> BinaryPartition | None:
        """The proposed layout, even if the change isn't worth it."""
        return self.prospect.layout

    @property
    def now_s(self) -> float:
        """Measured seconds per step on the present layout."""
        return self.prospect.now_s

    @property
    def predicted_s(self) -> float:
        """Predicted seconds per step on the proposed layout."""
        return self.prospect.predicted_s

    @property
    def rebuild_s(self) -> float:
        """Seconds that the last change of layout took; nan where not known."""
        return self.price.rebuild_s

    @property
    def gain_s(self) -> float:
        """Predicted gain per step, in seconds."""
        return self.now_s - self.predicted_s

    @property
    def pays_after_steps(self) -> float:
        """Number of steps after which a change pays for itself; infinite if never, 0 where its price isn't known."""
        if self.gain_s <= 0:
            return math.inf
        return 0.0 if math.isnan(self.rebuild_s) else self.rebuild_s / self.gain_s


def judged(prospect: Prospect, price: Price) -> Decision:
    """Return the decision: adjust if the gain exceeds the doubt and pays for the move within the remaining steps."""
    draft = Decision(False, "", prospect, price)
    change = f"a step of the slowest rank takes {_text(draft.now_s)} and would take {_text(draft.predicted_s)}"
    if draft.gain_s <= 0:
        return Decision(False, f"nothing better was found: {change}", prospect, price)
    if draft.gain_s <= prospect.doubt_s:
        doubt = f"noise and the cost model's error make up for {_text(prospect.doubt_s)}"
        return Decision(False, f"too close to call: {change}, but {doubt}", prospect, price)
    if draft.pays_after_steps > price.steps_left:
        total = draft.gain_s * price.steps_left
        left = f"the {price.steps_left:.0f} steps still to go would gain {_text(total)}"
        why = f"not worth it: {change}, but {left}, and moving takes {_text(draft.rebuild_s)}"
        return Decision(False, why, prospect, price)
    return Decision(True, f"worth it: {change}{_earned(draft)}", prospect, price)


def _earned(draft: Decision) -> str:
    steps = draft.price.steps_left
    if math.isnan(draft.rebuild_s):
        total = (
            "" if math.isinf(steps) else f", which gains {_text(draft.gain_s * steps)} in the {steps:.0f} steps to go"
        )
        return f"{total}; what moving itself takes isn't known and isn't counted"
    left = "" if math.isinf(steps) else f" of the {steps:.0f} still to go"
    return (
        f", and the {_text(draft.rebuild_s)} of moving are earned back after {draft.pays_after_steps:.0f} steps{left}"
    )


def _text(seconds: float) -> str:
    for unit, size in (("s", 1.0), ("ms", 1e-3), ("µs", 1e-6)):
        if abs(seconds) >= size:
            return f"{seconds / size:.3g} {unit}"
    return f"{seconds * 1e9:.3g} ns"
