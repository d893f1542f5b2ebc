"""Where step models are kept: the user's own of this machine, else those that come with evenly."""

from __future__ import annotations

from pathlib import Path

from evenly.decomposition.costs.locations import cost_file
from evenly.decomposition.forecasting.step_model import StepModel

__all__ = ["find_step_model", "rehearsal_file", "shipped_file", "step_model_file"]


def step_model_file(program: str) -> Path:
    """Return where what was learned of a program on this machine is kept."""
    return cost_file(program).with_suffix(".steps.evenly")


def rehearsal_file(program: str) -> Path:
    """Return where the rehearsals that it was learned from are kept."""
    return cost_file(program).with_suffix(".rehearsals.db")


def shipped_file(program: str) -> Path:
    """Return where the step model that comes with evenly is."""
    return Path(__file__).parent / "shipped" / f"{program}.evenly"


def find_step_model(program: str) -> StepModel | None:
    """Return the step model of a program that fits this machine best; None where there is none.

    Costs that were calibrated later than the user's step model count more than it, and so do any calibrated ones
    beside the model that came with evenly: its proportions between kinds of work are of another machine.
    """
    own = step_model_file(program)
    if own.exists():
        return StepModel.load(own)
    if cost_file(program).exists() or not shipped_file(program).exists():
        return None
    return StepModel.load(shipped_file(program))
