"""The pictures that suit a result of any kind."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from evenly.allocation.plan import Plan
from evenly.arguments import explained
from evenly.core_counts.recommendation import Recommendation
from evenly.decomposition.forecasting.forecast import Forecast
from evenly.decomposition.partitioning.plan import CutPlan
from evenly.errors import InputError
from evenly.models.base import Model
from evenly.runs.runs import Runs
from evenly.tuning.result import Result
from evenly.tuning.sensitivity import Sensitivity

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["plot"]


@explained
def plot(thing: Any, runs: Runs | Mapping[str, Runs] | None = None, *, level: float = 0.9) -> dict[str, Figure]:
    """Return the pictures that suit a result, by name.

    Parameters
    ----------
    thing : Model, dict of str to Model, Plan, CutPlan, Forecast, tuning result, or sensitivity
    runs : Runs or dict of str to Runs, optional
        What the models were learned from: they are drawn beside them.
    level : float
        The probability of the intervals.

    Returns
    -------
    dict of str to matplotlib.figure.Figure
        A notebook shows a figure that ends a cell. ``figure.savefig("name.png")`` saves one.

    Raises
    ------
    InputError
        If a thing has no pictures.

    Examples
    --------
    >>> import evenly, pandas as pd
    >>> table = pd.DataFrame({"cores": [1, 2, 4, 8, 16], "seconds": [80.0, 41.0, 21.0, 11.5, 6.6]})
    >>> runs = evenly.Runs.from_frame(table, ["cores"])
    >>> list(evenly.plot(evenly.fit(runs, method="power-law"), runs))
    ['model', 'predicted']
    """
    match thing:
        case Model():
            one = runs if isinstance(runs, Runs) or runs is None else next(iter(runs.values()), None)
            return _of_model(thing, one, level)
        case Mapping() if thing and all(isinstance(model, Model) for model in thing.values()):
            of = runs if isinstance(runs, Mapping) else {}
            return {
                f"{name}-{kind}": figure
                for name, model in thing.items()
                for kind, figure in _of_model(model, of.get(name), level, str(name)).items()
            }
        case Plan() | CutPlan() | Forecast() | Result() | Sensitivity():
            return _of_result(thing)
        case Recommendation():
            raise InputError("a recommendation has no picture of its own: plot its model, or make a page of it")
    raise InputError(
        f"there are no pictures of {type(thing).__name__}: give models, plans, cuts, forecasts or searches"
    )


def _of_model(model: Model, runs: Runs | None, level: float, name: str = "") -> dict[str, Figure]:
    from evenly.report.plots.model import plot_model, plot_slices
    from evenly.report.plots.prediction import plot_predictions

    drawn = plot_model if len(model.space_) == 1 else plot_slices
    figures = {"model": drawn(model, runs, level=level, name=name)}
    if runs is not None and len(runs.ok):
        figures["predicted"] = plot_predictions(model, runs, level=level, name=name)
    return figures


def _of_result(thing: Plan | CutPlan | Forecast | Result | Sensitivity) -> dict[str, Figure]:
    from evenly.report.plots import allocation, forecast, partition, tuning

    match thing:
        case Plan():
            return {"curve": allocation.plot_curve(thing), "timeline": allocation.plot_plan(thing)}
        case CutPlan():
            return {"chunks": partition.plot_chunks(thing), "shares": partition.plot_shares(thing)}
        case Forecast():
            return forecast.plot_forecast(thing)
        case Result():
            return {"search": tuning.plot_search(thing)}
    return {"sensitivity": tuning.plot_sensitivity(thing)}
