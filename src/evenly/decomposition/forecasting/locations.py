"""Paths of step models: the user's own for this machine, else those that come with evenly."""

from __future__ import annotations

from pathlib import Path

from evenly.decomposition.costs.locations import cost_file
from evenly.decomposition.forecasting.step_model import StepModel

__all__ = ["find_step_model", "rehearsal_file", "shipped_file", "step_model_file"]


def step_model_file(program: str) -> Path:
    """Return the path of the step model that was learned for a program on this machine."""
    return cost_file(program).with_suffix(".steps.evenly")


def rehearsal_file(program: str) -> Path:
    """Return the path of the rehearsals from which a program's step model is learned."""
    return cost_file(program).with_suffix(".rehearsals.db")


def shipped_file(program: str) -> Path:
    """Return the path of a program's step model that comes with evenly."""
    return Path(__file__).parent / "shipped" / f"{program}.evenly"


def find_step_model(program: str) -> StepModel | None:
    """Return the step model of a program that fits this machine best, or None.

    The user's own step model comes first. Without one, the step model that comes with evenly is used only if the user
    has no calibrated costs: its proportions between kinds of work are those of another machine.
    """
    own = step_model_file(program)
    if own.exists():
        return StepModel.load(own)
    if cost_file(program).exists() or not shipped_file(program).exists():
        return None
    return StepModel.load(shipped_file(program))
