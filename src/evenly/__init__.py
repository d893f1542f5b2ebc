"""evenly learns, from few measured runs, how long a parallel simulation takes, and spreads its work evenly.

>>> import evenly
>>> runs = evenly.read("case/")                                 # doctest: +SKIP
>>> models = evenly.fit(runs)                                   # doctest: +SKIP
>>> plan = evenly.allocate(models, cores=560)                   # doctest: +SKIP

Everything is loaded on first use, so that importing evenly costs next to nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from evenly._lazy import lazy

if TYPE_CHECKING:
    from evenly import fdtd as fdtd
    from evenly import metrics as metrics
    from evenly.allocation.allocate import allocate as allocate
    from evenly.allocation.plan import Plan as Plan
    from evenly.allocation.problem.limits import Bound as Bound
    from evenly.allocation.problem.limits import Limits as Limits
    from evenly.allocation.problem.noise import Compare as Compare
    from evenly.allocation.problem.noise import Noise as Noise
    from evenly.allocation.problem.objective import Objective as Objective
    from evenly.campaign.measuring import measure as measure
    from evenly.campaign.study import Study as Study
    from evenly.decomposition.costs.cost_model import CostModel as CostModel
    from evenly.decomposition.forecasting.forecast import Forecast as Forecast
    from evenly.decomposition.forecasting.forecast import forecast as forecast
    from evenly.decomposition.forecasting.goal import Goal as Goal
    from evenly.decomposition.forecasting.step_model import StepModel as StepModel
    from evenly.decomposition.partitioning.partition import partition as partition
    from evenly.decomposition.partitioning.plan import CutPlan as CutPlan
    from evenly.errors import EvenlyError as EvenlyError
    from evenly.errors import InfeasibleError as InfeasibleError
    from evenly.errors import InputError as InputError
    from evenly.errors import RunFailed as RunFailed
    from evenly.machine.link import Link as Link
    from evenly.machine.machine import Machine as Machine
    from evenly.models.base import Model as Model
    from evenly.models.ensemble.distillation import distil as distil
    from evenly.models.fitting import fit as fit
    from evenly.models.storage import load as load
    from evenly.models.storage import save as save
    from evenly.readers import read as read
    from evenly.runs.runs import Runs as Runs
    from evenly.space.parameters import Categorical as Categorical
    from evenly.space.parameters import Integer as Integer
    from evenly.space.parameters import Ordinal as Ordinal
    from evenly.space.parameters import Real as Real
    from evenly.space.space import Constraint as Constraint
    from evenly.space.space import Space as Space
    from evenly.tuning.search import Search as Search
    from evenly.tuning.sensitivity import sensitivity as sensitivity
    from evenly.tuning.tuning import tune as tune

_HOMES = {
    "Bound": "evenly.allocation.problem.limits",
    "Compare": "evenly.allocation.problem.noise",
    "CostModel": "evenly.decomposition.costs.cost_model",
    "CutPlan": "evenly.decomposition.partitioning.plan",
    "Forecast": "evenly.decomposition.forecasting.forecast",
    "Goal": "evenly.decomposition.forecasting.goal",
    "StepModel": "evenly.decomposition.forecasting.step_model",
    "forecast": "evenly.decomposition.forecasting.forecast",
    "Limits": "evenly.allocation.problem.limits",
    "Link": "evenly.machine.link",
    "Noise": "evenly.allocation.problem.noise",
    "Objective": "evenly.allocation.problem.objective",
    "Plan": "evenly.allocation.plan",
    "Categorical": "evenly.space.parameters",
    "Constraint": "evenly.space.space",
    "EvenlyError": "evenly.errors",
    "InfeasibleError": "evenly.errors",
    "InputError": "evenly.errors",
    "Integer": "evenly.space.parameters",
    "Machine": "evenly.machine.machine",
    "Model": "evenly.models.base",
    "Ordinal": "evenly.space.parameters",
    "Real": "evenly.space.parameters",
    "RunFailed": "evenly.errors",
    "Runs": "evenly.runs.runs",
    "Search": "evenly.tuning.search",
    "Study": "evenly.campaign.study",
    "Space": "evenly.space.space",
    "allocate": "evenly.allocation.allocate",
    "distil": "evenly.models.ensemble.distillation",
    "fdtd": "evenly.fdtd",
    "fit": "evenly.models.fitting",
    "load": "evenly.models.storage",
    "measure": "evenly.campaign.measuring",
    "metrics": "evenly.metrics",
    "partition": "evenly.decomposition.partitioning.partition",
    "read": "evenly.readers",
    "save": "evenly.models.storage",
    "sensitivity": "evenly.tuning.sensitivity",
    "tune": "evenly.tuning.tuning",
}

__all__ = sorted(_HOMES)


__getattr__, __dir__ = lazy(__name__, _HOMES)
