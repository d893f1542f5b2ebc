"""The pictures that suit a result of any kind."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, Literal

from evenly.allocation.plan import Plan
from evenly.arguments import explained
from evenly.core_counts.recommendation import Recommendation
from evenly.decomposition.forecasting.forecast import Forecast
from evenly.decomposition.partitioning.plan import CutPlan
from evenly.errors import InputError
from evenly.models.base import Model
from evenly.report.html_page import as_image
from evenly.runs.runs import Runs
from evenly.tuning.result import Result
from evenly.tuning.sensitivity import Sensitivity

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["Pictures", "check_fits", "numbered", "pictures_of", "plot"]


class Pictures(dict[str, "Figure"]):
    """Figures by their names, which a notebook shows one below the other."""

    def _repr_html_(self) -> str:
        return "".join(map(as_image, self.values(), self))


@explained
def plot(thing: Any, runs: Runs | Mapping[str, Runs] | None = None, *, level: float = 0.9) -> Pictures:
    """Return the pictures that suit a result, by name.

    Parameters
    ----------
    thing : Model, dict of str to Model, Plan, CutPlan, Forecast, Recommendation, tuning result, or sensitivity
    runs : Runs or dict of str to Runs, optional
        What the models were learned from: they are drawn beside them.
    level : float
        The probability of the intervals.

    Returns
    -------
    dict of str to matplotlib.figure.Figure
        A notebook shows them where they end a cell. ``figure.savefig("name.png")`` saves one.

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
            return Pictures(pictures_of({"": thing}, _runs_of({"": thing}, runs), level=level))
        case Mapping() if thing and all(isinstance(model, Model) for model in thing.values()):
            return Pictures(pictures_of(thing, _runs_of(thing, runs), level=level))
        case Plan() | CutPlan() | Forecast() | Recommendation() | Result() | Sensitivity():
            if runs is not None:
                raise InputError(f"runs are drawn beside models, but got {type(thing).__name__}: leave them out")
            return Pictures(_of_result(thing))
    raise InputError(
        f"there are no pictures of {type(thing).__name__}: give models, plans, cuts, forecasts or searches"
    )


def _runs_of(models: Mapping[str, Model], runs: Runs | Mapping[str, Runs] | None) -> Mapping[str, Runs]:
    """Return runs by the names of their models; those of one model need no name."""
    given = {} if runs is None else {"": runs} if isinstance(runs, Runs) else runs
    if len(given) == len(models) == 1:
        given = dict(zip(models, given.values(), strict=True))
    strange = [name for name in given if name not in models]
    if strange:
        raise InputError(
            f"runs of {strange[0] or 'no name'} have no model here: give runs by the names of the models, which are "
            f"{', '.join(name or 'without a name' for name in models)}"
        )
    check_fits(models, given)
    return given


def check_fits(models: Mapping[str, Model], runs: Mapping[str, Runs]) -> None:
    """Raise `InputError` if the runs of a model lack one of its parameters."""
    for name, one in runs.items():
        names = models[name].space_.names if name in models else []
        if lacking := [parameter for parameter in names if parameter not in one.parameters]:
            raise InputError(
                f"the model{f' of {name}' if name else ''} needs {lacking[0]!r}, but the runs have "
                f"{', '.join(one.parameters)}: give the runs that it was learned from"
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
    taken: set[str] = set()
    for name, model in models.items():
        own, held_out = runs.get(name), (test or {}).get(name)
        plain = name.replace("/", "-") or "model"
        title = next(one for one in numbered(plain) if one not in taken)
        taken.add(title)
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


def numbered(name: str, joined: str = "-") -> Iterator[str]:
    """Yield a name, and the name with 2, 3, …: the first that isn't taken is used."""
    yield name
    yield from (f"{name}{joined}{number}" for number in itertools.count(2))


def _of_result(thing: Plan | CutPlan | Forecast | Recommendation | Result | Sensitivity) -> dict[str, Figure]:
    from evenly.report.plots import allocation, forecast, partition, recommendation, tuning

    match thing:
        case Plan():
            return {"curve": allocation.plot_curve(thing), "timeline": allocation.plot_plan(thing)}
        case CutPlan():
            return {"chunks": partition.plot_chunks(thing), "shares": partition.plot_shares(thing)}
        case Forecast():
            return forecast.plot_forecast(thing)
        case Recommendation():
            return {"cores": recommendation.plot_recommendation(thing)}
        case Result():
            return {"search": tuning.plot_search(thing)}
    return {"sensitivity": tuning.plot_sensitivity(thing)}
