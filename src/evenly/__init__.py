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
    from evenly.balance.allocate import allocate as allocate
    from evenly.balance.cost.model import CostModel as CostModel
    from evenly.balance.cutting.partition import partition as partition
    from evenly.balance.cutting.plan import CutPlan as CutPlan
    from evenly.balance.forecast.choosing import Goal as Goal
    from evenly.balance.forecast.forecast import Forecast as Forecast
    from evenly.balance.forecast.forecast import forecast as forecast
    from evenly.balance.forecast.step_model import StepModel as StepModel
    from evenly.balance.limits import Bound as Bound
    from evenly.balance.limits import Limits as Limits
    from evenly.balance.noise import Compare as Compare
    from evenly.balance.noise import Noise as Noise
    from evenly.balance.objective import Objective as Objective
    from evenly.balance.plan import Plan as Plan
    from evenly.campaign.measuring import measure as measure
    from evenly.campaign.study import Study as Study
    from evenly.errors import EvenlyError as EvenlyError
    from evenly.errors import InfeasibleError as InfeasibleError
    from evenly.errors import InputError as InputError
    from evenly.errors import RunFailed as RunFailed
    from evenly.machine import Machine as Machine
    from evenly.machine_link import Link as Link
    from evenly.models.base import Model as Model
    from evenly.models.distilling import distil as distil
    from evenly.models.fitting import fit as fit
    from evenly.models.storage import load as load
    from evenly.models.storage import save as save
    from evenly.parameters import Categorical as Categorical
    from evenly.parameters import Integer as Integer
    from evenly.parameters import Ordinal as Ordinal
    from evenly.parameters import Real as Real
    from evenly.readers import read as read
    from evenly.runs import Runs as Runs
    from evenly.space import Constraint as Constraint
    from evenly.space import Space as Space
    from evenly.tuning.search import Search as Search
    from evenly.tuning.sensitivity import sensitivity as sensitivity
    from evenly.tuning.tuning import tune as tune

_HOMES = {
    "Bound": "evenly.balance.limits",
    "Compare": "evenly.balance.noise",
    "CostModel": "evenly.balance.cost.model",
    "CutPlan": "evenly.balance.cutting.plan",
    "Forecast": "evenly.balance.forecast.forecast",
    "Goal": "evenly.balance.forecast.choosing",
    "StepModel": "evenly.balance.forecast.step_model",
    "forecast": "evenly.balance.forecast.forecast",
    "Limits": "evenly.balance.limits",
    "Link": "evenly.machine_link",
    "Noise": "evenly.balance.noise",
    "Objective": "evenly.balance.objective",
    "Plan": "evenly.balance.plan",
    "Categorical": "evenly.parameters",
    "Constraint": "evenly.space",
    "EvenlyError": "evenly.errors",
    "InfeasibleError": "evenly.errors",
    "InputError": "evenly.errors",
    "Integer": "evenly.parameters",
    "Machine": "evenly.machine",
    "Model": "evenly.models.base",
    "Ordinal": "evenly.parameters",
    "Real": "evenly.parameters",
    "RunFailed": "evenly.errors",
    "Runs": "evenly.runs",
    "Search": "evenly.tuning.search",
    "Study": "evenly.campaign.study",
    "Space": "evenly.space",
    "allocate": "evenly.balance.allocate",
    "distil": "evenly.models.distilling",
    "fdtd": "evenly.fdtd",
    "fit": "evenly.models.fitting",
    "load": "evenly.models.storage",
    "measure": "evenly.campaign.measuring",
    "metrics": "evenly.metrics",
    "partition": "evenly.balance.cutting.partition",
    "read": "evenly.readers",
    "save": "evenly.models.storage",
    "sensitivity": "evenly.tuning.sensitivity",
    "tune": "evenly.tuning.tuning",
}

__all__ = sorted(_HOMES)


__getattr__, __dir__ = lazy(__name__, _HOMES)
