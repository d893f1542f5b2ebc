"""What a check found, and what to do about it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

__all__ = ["Finding", "Verdict"]

#: Nothing to do; something is slower, noisier or missing; evenly doesn't work as it should.
Verdict = Literal["good", "note", "bad"]


@dataclass(frozen=True)
class Finding:
    """One line of what `evenly doctor` says.

    Parameters
    ----------
    name : str
        What was checked.
    verdict : {"good", "note", "bad"}
        Whether there is something to do.
    found : str
        What was found, with figures.
    remedy : str
        What to do; empty if there is nothing to do.
    """

    name: str
    verdict: Verdict
    found: str
    remedy: str = ""
