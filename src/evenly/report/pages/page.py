"""One page about results of any kind: `page` puts together what `evenly.report.pages.chapters` tells of each."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from evenly.allocation.plan import Plan
from evenly.arguments import explained
from evenly.campaign import Campaign
from evenly.core_counts.goal import Goal
from evenly.core_counts.recommendation import Recommendation
from evenly.decomposition.forecasting.forecast import Forecast
from evenly.decomposition.partitioning.plan import CutPlan
from evenly.errors import InputError
from evenly.machine.machine import Machine
from evenly.models.base import Model
from evenly.report.html_page import Page
from evenly.report.pages import chapters, measurements
from evenly.report.pages.chapter import Asked, Chapter
from evenly.report.pages.pictures import check_fits, numbered
from evenly.report.pages.several import several
from evenly.runs.runs import Runs
from evenly.tuning.advisor import Values
from evenly.tuning.result import Result

__all__ = ["page", "page_of"]

#: What a result without a name is called.
_UNNAMED = ""


@explained
def page(
    *things: Any,
    title: str = "",
    at: Mapping[str, Any] | None = None,
    cores: Sequence[int] | None = None,
    cores_are: str | None = None,
    goal: Goal | None = None,
    steps: float | None = None,
    machine: Machine | None = None,
    level: float = 0.9,
    limit: float | None = None,
    next_runs: int = 3,
) -> Page:
    """Return a page about results: what was measured, the model with sliders, what to do, what to measure next.

    Parameters
    ----------
    *things : Runs, Model, Plan, CutPlan, Forecast, Recommendation, tuning result, Campaign, or dict
        A dict holds runs or models by name. Runs and models with the same name belong together.
    title : str
        The title of the page.
    at : mapping of str to value, optional
        Where sliders stand first, and the values of other parameters where a number of cores is recommended.
    cores : sequence of int, optional
        Numbers of cores to look at; by default all up to the largest measured.
    cores_are : str, optional
        What the cores are, as an expression of the parameters: ``"nodes * tasks_per_node"``.
    goal : Goal, optional
        What a number of cores is recommended for.
    steps : float, optional
        How many runs or steps, as they were measured, the job has; by default one.
    machine : Machine, optional
        For its price.
    level : float
        The probability of the intervals.
    limit : float, optional
        A probability: the time limit that is enough with it is told.
    next_runs : int
        How many further runs are proposed; 0 for none.

    Returns
    -------
    Page
        Its `save` writes one HTML file that needs no network, or Markdown; `data` holds the results as plain values.

    Raises
    ------
    InputError
        If there is nothing to show, or a thing is of another kind.

    Examples
    --------
    >>> import evenly, pandas as pd
    >>> table = pd.DataFrame({"cores": [1, 2, 4, 8, 16], "seconds": [80.0, 41.0, 21.0, 11.5, 6.6]})
    >>> runs = evenly.Runs.from_frame(table, ["cores"])
    >>> found = evenly.page(runs, evenly.fit(runs, method="power-law"), title="My solver", next_runs=0)
    >>> [section.title for section in found.sections]
    ['What was measured', 'The model', 'Predictions', 'On how many cores']
    >>> path = found.save("my-solver.html")                                                       # doctest: +SKIP
    """
    asked = Asked(
        dict(at or {}), cores, cores_are, goal, steps, machine, level, limit, next_runs,
    )  # fmt: skip
    return page_of(_sorted(things), asked, title=title)


def page_of(
    things: tuple[dict[str, Runs], dict[str, Model], list[Any]],
    asked: Asked,
    *,
    title: str = "",
    test: Mapping[str, Runs] | None = None,
    notes: Iterable[str] = (),
) -> Page:
    """Return a page about runs, models, and other results.

    Parameters
    ----------
    things : tuple of dict, dict and list
        Runs and models by name, and all other results.
    asked : Asked
    title : str
    test : mapping of str to Runs, optional
        Held-out runs.
    notes : iterable of str
        What was assumed: it stands at the top.
    """
    runs, models, others = things
    if asked.wants_cores and len(models) != 1:
        there = f"there are {', '.join(models)}" if models else "there is none"
        raise InputError(f"cores, goal, steps and limit ask for the model of one program, but {there}")
    if asked.cores is not None and not len(asked.cores):
        raise InputError("cores must name at least one number of cores")
    check_fits(models, runs)
    found = list(_chapters(runs, models, others, test or {}, asked))
    if not found:
        raise InputError("there is nothing to show: give runs, models, plans, cuts, forecasts or results of searches")
    numbers: dict[str, str] = {}
    data: dict[str, Any] = {}
    often = Counter(name for chapter in found for name in chapter.numbers)
    for chapter in found:
        for name, value in chapter.numbers.items():
            its_own = name if often[name] == 1 else f"{chapter.sections[0].title}: {name}"
            numbers[_another(its_own, numbers)] = value
        for name, value in chapter.data.items():
            data[_another(name, data)] = value
    names = [name for name in dict.fromkeys([*runs, *models]) if name != _UNNAMED]
    heading = title or (", ".join(names[:4]) + (" …" if len(names) > 4 else "") if names else "Results")
    return Page(
        heading, "\n".join(notes), dict(list(numbers.items())[:6]),
        [section for chapter in found for section in chapter.sections], "Made by evenly.", data,
    )  # fmt: skip


def _another(name: str, there: Mapping[str, Any]) -> str:
    """Return a name that isn't there yet: ``plan``, then ``plan 2``."""
    return next(one for one in numbered(name, " ") if one not in there)


def _chapters(
    runs: Mapping[str, Runs], models: Mapping[str, Model], others: Sequence[Any], test: Mapping[str, Runs], asked: Asked
) -> Iterator[Chapter]:
    for thing in others:
        match thing:
            case Plan():
                yield chapters.plan(thing)
            case CutPlan():
                yield chapters.cut(thing)
            case Forecast():
                yield chapters.forecast(thing)
            case Recommendation():
                yield chapters.recommendation(thing)
            case Result():
                yield chapters.search(thing)
            case Campaign():
                yield measurements.campaign(thing)
    if runs:
        yield measurements.measured(runs)
    if models:
        plans = [thing for thing in others if isinstance(thing, Plan)]
        if len(models) > 1 and not plans:
            yield several(models, runs)
        searches = [thing for thing in others if isinstance(thing, Result)]
        # A study says which values can be run; a table, which ones were.
        values: Values = "all" if any(isinstance(thing, Result | Campaign) for thing in others) else "usual"
        yield from chapters.models(
            models, runs, test, asked, plan=plans[0] if len(plans) == 1 else None,
            fastest=searches[0] if len(searches) == 1 else None, values=values,
        )  # fmt: skip


def _sorted(things: Sequence[Any]) -> tuple[dict[str, Runs], dict[str, Model], list[Any]]:
    """Return runs by name, models by name, and all others, in their order."""
    runs: dict[str, Runs] = {}
    models: dict[str, Model] = {}
    others: list[Any] = []
    for thing in things:
        named = thing if isinstance(thing, Mapping) else {_UNNAMED: thing}
        for name, one in named.items():
            place: dict[str, Any] | None = runs if isinstance(one, Runs) else models if isinstance(one, Model) else None
            if place is None:
                if not isinstance(one, Plan | CutPlan | Forecast | Recommendation | Result | Campaign):
                    raise InputError(f"a page shows runs, models and results, but got {type(one).__name__}")
                others.append(one)
            elif name in place:
                raise InputError(f"two of the {type(one).__name__} are called {name!r}: give them names, as a dict")
            else:
                place[str(name)] = one
    if len(runs) == len(models) == 1 and (_UNNAMED in runs) != (_UNNAMED in models):
        name = max(*runs, *models)  # the one that isn't empty
        runs, models = dict.fromkeys([name], *runs.values()), dict.fromkeys([name], *models.values())
    return runs, models, others
