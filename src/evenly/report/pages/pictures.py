"""The pictures that suit a result of any kind."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Literal

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

__all__ = ["pictures_of", "plot"]


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
    ['model', 'model-predicted']
    """
    match thing:
        case Model():
            one = runs if isinstance(runs, Runs) or runs is None else next(iter(runs.values()), None)
            return pictures_of({"": thing}, {} if one is None else {"": one}, level=level)
        case Mapping() if thing and all(isinstance(model, Model) for model in thing.values()):
            return pictures_of(thing, runs if isinstance(runs, Mapping) else {}, level=level)
        case Plan() | CutPlan() | Forecast() | Result() | Sensitivity():
            return _of_result(thing)
        case Recommendation():
            raise InputError("a recommendation has no picture of its own: plot its model, or make a page of it")
    raise InputError(
        f"there are no pictures of {type(thing).__name__}: give models, plans, cuts, forecasts or searches"
    )


def pictures_of(
    models: Mapping[str, Model],
    runs: Mapping[str, Runs],
    test: Mapping[str, Runs] | None = None,
    *,
    level: float = 0.9,
    along: str | None = None,
    at: Mapping[str, Any] | None = None,
    surface: tuple[str, str] | None = None,
    view: Literal["map", "3d"] = "map",
    extend_to: float | None = None,
) -> dict[str, Figure]:
    """Return the pictures of models by name: along a parameter, or over two; predicted against measured."""
    from evenly.report.plots.model import plot_model, plot_slices
    from evenly.report.plots.prediction import plot_predictions
    from evenly.report.plots.surface import plot_surface

    figures: dict[str, Figure] = {}
    for name, model in models.items():
        own, held_out = runs.get(name), (test or {}).get(name)
        title = name.replace("/", "-") or "model"
        if surface is not None:
            x, y = surface
            figures[f"{title}-surface"] = plot_surface(model, own, x=x, y=y, at=at, view=view, name=name)
        elif along is not None or len(model.space_) == 1:
            figures[title] = plot_model(
                model, own, parameter=along, at=at, level=level, test=held_out, extend_to=extend_to, name=name
            )
        else:
            figures[f"{title}-slices"] = plot_slices(model, own, at=at, level=level, test=held_out, name=name)
        if own is not None and len(own.ok):
            figures[f"{title}-predicted"] = plot_predictions(model, own, held_out, level=level, name=name)
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
