"""Forecasts of the run time and the cost of a simulation on numbers of ranks: the public function `evenly.forecast`.

The simulation doesn't run. For each number of ranks it is decomposed, the computation of every rank is predicted from
its chunks, and a step is simulated message by message on the machine's description (`replay`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from evenly.arguments import explained
from evenly.core_counts.goal import Choice, Goal, Knee
from evenly.decomposition.cells.cell import Cell
from evenly.decomposition.cells.fdtd.cell import cell_from
from evenly.decomposition.costs.cost_model import CostModel
from evenly.decomposition.costs.locations import find_cost
from evenly.decomposition.forecasting.features import LayoutWorkload, shares_of, workload_of
from evenly.decomposition.forecasting.replay import replay
from evenly.decomposition.forecasting.step_model import StepModel
from evenly.errors import InputError
from evenly.machine.machine import Machine
from evenly.showing import Shown

if TYPE_CHECKING:
    from evenly.fdtd.simulation import Simulation

__all__ = ["Forecast", "forecast", "forecast_step"]

#: Error of the logarithm of replayed communication times against real ranks; see docs/benchmarks.md.
REPLAY_ERROR = 0.65
#: Above this efficiency, it is said why it may be.
HIGH_EFFICIENCY = 1.1


@dataclass(frozen=True, repr=False)
class Forecast(Shown):
    """Predicted time and cost of a simulation for several numbers of ranks, and the recommended number.

    Parameters
    ----------
    curve : DataFrame
        One row for each number of ranks. Columns: ``ranks``, ``nodes``; seconds per step ``step_s`` with its interval
        ``lower_s`` and ``upper_s``, and its parts ``computation_s`` (slowest rank) and ``communication_s``;
        ``communication_share``; ``imbalance`` of the computation; ``speedup`` and ``efficiency`` relative to the
        smallest number of ranks; for all steps ``run_s`` with ``run_lower_s`` and ``run_upper_s``, ``core_hours``
        and, if the machine has a price, ``money``.
    choice : Choice
        The recommended number of ranks and why, where more stop paying, and the runner-up.
    machine : Machine
    steps : int
        Number of steps of the whole run, for ``run_s`` and the costs.
    notes : tuple of str
        Notes for the user: where the costs were measured, and features in which the simulation lies outside the
        training data.
    name : str
        Name of the cell.
    level : float
        Probability of the intervals.
    """

    curve: pd.DataFrame
    choice: Choice
    machine: Machine
    steps: int
    notes: tuple[str, ...] = ()
    name: str = "cell"
    level: float = 0.9

    def __repr__(self) -> str:
        return f"<Forecast of {self.name} on {self.machine.name}: {self.ranks} ranks, {self.why}>"

    @property
    def ranks(self) -> int:
        """The recommended number of ranks."""
        return self.choice.count

    @property
    def why(self) -> str:
        """The reason for the recommendation, in one sentence."""
        return self.choice.why

    @property
    def knee(self) -> Knee:
        """Where more ranks stop paying."""
        return self.choice.knee

    @property
    def best(self) -> dict[str, float]:
        """The row of `curve` for the recommended number of ranks."""
        row = self.curve[self.curve["ranks"] == self.ranks].iloc[0]
        return {str(name): float(value) for name, value in row.items()}

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain values, for JSON."""
        return {
            "name": self.name, "machine": self.machine.to_dict(), "steps": self.steps, "source": "replay",
            "recommended": {"ranks": self.ranks, "why": self.why}, **self.choice.to_dict(), "notes": list(self.notes),
            "rows": self.curve.to_dict("records"),
        }  # fmt: skip


@explained
def forecast(
    simulation: Cell | Simulation | Callable[[int], Cell],
    ranks: Sequence[int],
    machine: Machine,
    *,
    model: StepModel | CostModel | None = None,
    steps: int = 1,
    goal: Goal | None = None,
    level: float = 0.9,
    told: Callable[[int, int], None] | None = None,
) -> Forecast:
    """Predict the time per step and the cost of a simulation on several numbers of ranks of a machine.

    Parameters
    ----------
    simulation : Cell, evenly.fdtd.Simulation, or callable
        The simulation; its fields aren't allocated. A callable takes a number of ranks and returns the cell for it.
    ranks : sequence of int
        Numbers of ranks to predict for.
    machine : Machine
        Must describe the link within a node, and the link between nodes if the ranks need several nodes.
    model : StepModel or CostModel, optional
        Model of the ranks' computation: a step model learned from rehearsals, or a linear cost model. The default is
        the step model learned on this machine (`evenly train`), else the model that comes with evenly.
    steps : int
        Number of steps of the whole run.
    goal : Goal, optional
        The goal by which the number of ranks is recommended.
    level : float
        Coverage probability of the intervals.
    told : callable, optional
        Progress callback: called after each number of ranks with how many are done and how many there are.

    Raises
    ------
    InputError
        If the machine has too few cores or lacks a link, or an argument is invalid.
    InfeasibleError
        If no number of ranks meets the goal.
    """
    counts = sorted({int(n) for n in ranks})
    if not counts or counts[0] < 1:
        raise InputError(f"`ranks` must be numbers of at least 1, but got {list(ranks)!r}.")
    if isinstance(steps, bool) or steps < 1:
        raise InputError(f"`steps` must be a whole number of at least 1, but got {steps!r}.")
    if not 0 < level < 1:
        raise InputError(f"`level` must lie between 0 and 1, but got {level!r}.")
    cells = _cells(simulation)
    first = cells(counts[0])
    known = _model(first.program) if model is None else model
    cost = known.cost if isinstance(known, StepModel) else known
    cost.check(first)
    rows: list[dict[str, float]] = []
    outside: dict[str, list[int]] = {}
    for done, count in enumerate(counts, 1):
        workload = workload_of(cells(count), count, cost)
        rows.append(forecast_step(workload, known, machine, level))
        if isinstance(known, StepModel):
            traits = {"points": float(workload.cell.grid.box.volume), **shares_of(workload.cell), "ranks": float(count)}
            for name in known.overlap.outside(pd.DataFrame([traits]))[0]:
                outside.setdefault(name, []).append(count)
        if told is not None:
            told(done, len(counts))
    curve = _finished(pd.DataFrame(rows), machine, steps)
    choice = (goal or Goal()).choose(curve, currency=machine.currency, level=level)
    far = "" if isinstance(known, StepModel) else cost.extrapolation(float(curve["computation_s"].max()))
    notes = (*_notes(known, outside), *filter(None, (cost.lacking(first), far, _efficient(curve))))
    return Forecast(curve, choice, machine, steps, notes, first.name, level)


def _cells(simulation: Any) -> Callable[[int], Cell]:
    if callable(simulation) and not isinstance(simulation, Cell):
        return simulation  # type: ignore[no-any-return]
    cell = cell_from(simulation)
    return lambda _ranks: cell


def _model(program: str) -> StepModel | CostModel:
    from evenly.decomposition.forecasting.locations import find_step_model

    found = find_step_model(program)
    return find_cost(program).cost if found is None else found


def forecast_step(
    workload: LayoutWorkload, known: StepModel | CostModel, machine: Machine, level: float = 0.9
) -> dict[str, float]:
    """Predict the time per step of a cell on one layout, by a replay on a machine.

    Parameters
    ----------
    workload : LayoutWorkload
        The cell and its layout, as `evenly.decomposition.forecasting.features.workload_of` returns them.
    known : StepModel or CostModel
        Model of the ranks' computation.
    machine : Machine
    level : float
        Coverage probability of the interval.

    Returns
    -------
    dict
        A row of `Forecast.curve` up to ``imbalance``.
    """
    if isinstance(known, StepModel):
        seconds = known.rank_seconds([workload.load])[0]
        half = float(np.hypot(known.half_width(level), known.cost.pace_half_width(level)))
    else:
        seconds, half = workload.load.seconds, known.half_width(level)
    load = workload.load
    found = replay(seconds, workload.messages, machine, memory_bytes=load.memory_bytes, late=load.late, fed=load.fed)
    share = found.communication_s / found.step_s
    wide = float(np.hypot((1 - share) * half, share * REPLAY_ERROR * _normal(level)))
    return {
        "ranks": workload.ranks,
        "nodes": -(-workload.ranks // (machine.cores_per_node or workload.ranks)),
        "step_s": found.step_s,
        "lower_s": found.step_s * np.exp(-wide),
        "upper_s": found.step_s * np.exp(wide),
        "computation_s": found.computation_s,
        "communication_s": found.communication_s,
        "communication_share": share,
        "imbalance": float(found.rank_s.max() / found.rank_s.mean()),
    }


def _normal(level: float) -> float:
    from scipy.stats import norm

    return float(norm.ppf(0.5 + level / 2))


def _finished(curve: pd.DataFrame, machine: Machine, steps: int) -> pd.DataFrame:
    """Add the columns that follow from the seconds per step: speed-up, efficiency, and totals of the run."""
    fewest = curve.iloc[0]
    curve["speedup"] = fewest["step_s"] / curve["step_s"] * fewest["ranks"]
    curve["efficiency"] = curve["speedup"] / curve["ranks"]
    for name in ("", "lower_", "upper_"):
        curve[f"run_{name}s"] = curve[f"{name or 'step_'}s"] * steps
    curve["core_hours"] = curve["run_s"] * machine.billed(curve["ranks"].to_numpy()) / 3600
    if machine.price_per_core_hour is not None:
        curve["money"] = curve["core_hours"] * machine.price_per_core_hour
    return curve


def _efficient(curve: pd.DataFrame) -> str:
    """Say why an efficiency may be far above 100 %, and how sure that is; "" where none is."""
    fewest, best = curve.iloc[0], curve.iloc[int(np.argmax(curve["efficiency"]))]
    if best["efficiency"] <= HIGH_EFFICIENCY:
        return ""
    # The errors of both times, taken as independent.
    half = np.exp(np.hypot(*(np.log(row["upper_s"] / row["lower_s"]) / 2 for row in (fewest, best))))
    lower, found, upper = (f"{100 * best['efficiency'] * factor:.0f}" for factor in (1 / half, 1, half))
    return (
        f"an efficiency of {found} % on {best['ranks']:.0f} ranks can be: by the costs, the smaller parts of more "
        f"ranks fit better into the caches. The intervals of both times allow {lower} … {upper} %"
    )


def _notes(known: StepModel | CostModel, outside: Mapping[str, list[int]]) -> tuple[str, ...]:
    notes = ["times are replayed on the machine's description, not measured on it"]
    cost = known.cost if isinstance(known, StepModel) else known
    notes.append(f"costs were measured on {cost.machine}" + (f", {cost.when[:10]}" if cost.when else ""))
    if not isinstance(known, StepModel):
        notes.append("computing is predicted by the linear cost model alone")
    for name, counts in outside.items():
        on = f" on {', '.join(map(str, counts))} ranks" if "rank" in name else ""
        notes.append(f"unlike the cells learned from: {name}{on}; take it with care")
    return tuple(notes)
