"""What ways to choose share."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from evenly.tuning.candidates import Candidates
from evenly.tuning.trials import Trials

__all__ = ["Choice", "Strategy", "row_of"]


@dataclass(frozen=True)
class Choice:
    """A configuration to run next.

    Attributes
    ----------
    configuration : dict
    why : str
        In words.
    gain : float
        Expected saving relative to the best so far, 0.1 is 10 %; nan where nothing is known of it.
    expected_s : float
        Seconds that it is expected to take; nan where nothing is known of it.
    """

    configuration: dict[str, Any]
    why: str
    gain: float = float("nan")
    expected_s: float = float("nan")


class Strategy(ABC):
    """Chooses what to run next.

    Laws: a choice is feasible and was not tried before; it depends on the trials, in their order, and on the
    generator's state alone.
    """

    @abstractmethod
    def choose(self, trials: Trials, candidates: Candidates, random: np.random.Generator) -> Choice | None:
        """Return the next configuration; None where all have been tried."""


def row_of(table: pd.DataFrame, row: int) -> dict[str, Any]:
    """Return a row as plain Python values."""
    return {str(name): table[name].iloc[[row]].tolist()[0] for name in table.columns}
