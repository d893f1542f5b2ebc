"""The interface of search strategies: from the trials so far to the next configuration to run."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from evenly.models.array_types import Floats
from evenly.tuning.candidates import Candidates
from evenly.tuning.trials import Trial, Trials

__all__ = ["Choice", "Strategy", "row_of", "stop_reason"]


@dataclass(frozen=True)
class Choice:
    """A configuration to run next.

    Attributes
    ----------
    configuration : dict
    why : str
        The reason in words.
    gain : float
        Largest expected saving of any candidate in the same task, relative to the best time so far (0.1 is 10 %); nan
        where there is no prediction. This candidate may differ from `configuration`.
    expected_s : float
        Predicted seconds of that candidate; nan where there is no prediction.
    """

    configuration: dict[str, Any]
    why: str
    gain: float = float("nan")
    expected_s: float = float("nan")


class Strategy(ABC):
    """Chooses the next configuration to run.

    Every implementation must obey two laws. A choice is feasible and was not tried before. It depends only on the
    trials (with their order), the candidates and the generator's state.
    """

    @abstractmethod
    def choose(self, trials: Trials, candidates: Candidates, random: np.random.Generator) -> Choice | None:
        """Return the next configuration; None if all have been tried."""

    def expected(
        self, trial: Trial, trials: Trials, candidates: Candidates, random: np.random.Generator
    ) -> tuple[float, float]:
        """Return the predicted seconds of a trial and its probability of success, learned from all others.

        Both are nan if the strategy doesn't predict times, as by default.
        """
        del trial, trials, candidates, random
        return float("nan"), float("nan")

    def believed(
        self, trials: Trials, candidates: Candidates, random: np.random.Generator, *, is_answer: bool = False
    ) -> tuple[Floats, Floats] | None:
        """Return means and standard deviations of the log seconds of the n successful trials, (n,) each, without noise.

        They are more exact if they are the search's answer. None if the strategy doesn't tell noise from differences
        between configurations, as by default.
        """
        del trials, candidates, random, is_answer
        return None


def row_of(table: pd.DataFrame, row: int) -> dict[str, Any]:
    """Return a row of a table as a dict of plain Python values."""
    return {str(name): table[name].iloc[[row]].tolist()[0] for name in table.columns}


def stop_reason(choice: Choice, trials: Trials, production: float | None) -> str | None:
    """Return the reason to stop if a run takes longer than it is expected to save in `production` runs, else None."""
    best = trials.best_like(choice.configuration)
    if production is None or best is None or not np.isfinite(choice.gain * choice.expected_s):
        return None
    saved = choice.gain * best.mean_s * production
    if saved >= choice.expected_s:
        return None
    return (
        f"another run would take about {choice.expected_s:.3g} s and is expected to save {saved:.3g} s in "
        f"{production:g} runs"
    )
