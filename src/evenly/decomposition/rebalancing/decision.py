"""The decision whether a change of layout pays, with its reason.

>>> decision = decide(now_s=4e-3, predicted_s=3e-3, doubt_s=1e-4, rebuild_s=2.0, steps_left=1000)
>>> decision.adjust, decision.pays_after_steps
(False, 2000.0)
>>> print(decision.why)  # doctest: +NORMALIZE_WHITESPACE
not worth it: a step of the slowest rank takes 4 ms and would take 3 ms, but the 1000 steps still to go would gain 1 s,
and moving takes 2 s
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evenly.fdtd.cell.partition import BinaryPartition

__all__ = ["Decision", "decide"]


@dataclass(frozen=True)
class Decision:
    """The decision whether to change to a proposed layout.

    Parameters
    ----------
    adjust : bool
        Whether to change.
    why : str
        The reason, in one sentence.
    now_s : float
        Measured seconds per step of the slowest rank on the present layout.
    predicted_s : float
        Predicted seconds per step of the slowest rank on the proposed layout.
    doubt_s : float
        Uncertainty of the difference in seconds, from the noise of the timings and the error of the cost model. A
        smaller gain doesn't count as real.
    layout : BinaryPartition, optional
        The proposed layout, even if the change isn't worth it.
    rank_s : (ranks,), optional
        Predicted seconds per step of each rank on the proposed layout.
    rebuild_s : float
        Seconds that the last change of layout took; nan where none was measured yet.
    steps_left : float
        Remaining steps, within which a change must pay; infinite where not known.
    """

    adjust: bool
    why: str
    now_s: float
    predicted_s: float
    doubt_s: float = 0.0
    layout: BinaryPartition | None = None
    rank_s: NDArray[np.float64] | None = None
    rebuild_s: float = math.nan
    steps_left: float = math.inf

    @property
    def gain_s(self) -> float:
        """Predicted gain per step, in seconds."""
        return self.now_s - self.predicted_s

    @property
    def pays_after_steps(self) -> float:
        """Number of steps after which a change pays for itself; infinite if never, 0 where its time isn't known."""
        if self.gain_s <= 0:
            return math.inf
        return 0.0 if math.isnan(self.rebuild_s) else self.rebuild_s / self.gain_s


def decide(now_s: float, predicted_s: float, **known: Any) -> Decision:
    """Return the decision: adjust if the gain exceeds the doubt and pays for the move within the remaining steps.

    Parameters
    ----------
    now_s, predicted_s : float
        As for `Decision`.
    **known
        The other parameters of `Decision`: doubt_s, layout, rank_s, rebuild_s, steps_left.
    """
    draft = Decision(False, "", now_s, predicted_s, **known)
    change = f"a step of the slowest rank takes {_text(now_s)} and would take {_text(predicted_s)}"
    if draft.gain_s <= 0:
        return replace(draft, why=f"nothing better was found: {change}")
    if draft.gain_s <= draft.doubt_s:
        doubt = f"noise and the cost model's error make up for {_text(draft.doubt_s)}"
        return replace(draft, why=f"too close to call: {change}, but {doubt}")
    if draft.pays_after_steps > draft.steps_left:
        left = f"the {draft.steps_left:.0f} steps still to go would gain {_text(draft.gain_s * draft.steps_left)}"
        return replace(draft, why=f"not worth it: {change}, but {left}, and moving takes {_text(draft.rebuild_s)}")
    return replace(draft, adjust=True, why=f"worth it: {change}{_earned(draft)}")


def _earned(draft: Decision) -> str:
    steps = draft.steps_left
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
