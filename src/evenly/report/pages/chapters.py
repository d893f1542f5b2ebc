"""What stands on a page about each kind of result. Pages are put together in `evenly.report.pages.page`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd

from evenly.allocation.allocate import values_at
from evenly.allocation.plan import Plan
from evenly.core_counts.recommendation import Recommendation, recommend
from evenly.decomposition.forecasting.forecast import Forecast
from evenly.decomposition.partitioning.plan import CutPlan
from evenly.errors import EvenlyError, InfeasibleError, InputError
from evenly.models.base import Model
from evenly.models.ensemble.learning_curves import curve_of
from evenly.models.learned import told_missed
from evenly.models.outliers import outliers_told
from evenly.report.formatting import count_text, in_unit, interval, percent, plain, quantity, typical_error, value_text
from evenly.report.html_page import Fold, Part, Picture, Remark, Section, Table, Text
from evenly.report.left_out_errors import left_out_errors
from evenly.report.pages.chapter import Asked, Chapter
from evenly.report.pages.explorer import Explorer
from evenly.report.slices import quietly
from evenly.report.tables.model import models_as_dict, models_table
from evenly.report.tables.recommendation import choice_lines, limit_lines, question_lines, recommendation_table
from evenly.report.tables.tuning import advice_table
from evenly.runs.cores import Cores, find_cores
from evenly.runs.runs import Runs
from evenly.space.space import Space
from evenly.tuning.advisor import Values, advise
from evenly.tuning.result import Result
from evenly.tuning.sensitivity import sobol_indices

__all__ = ["cut", "forecast", "models", "plan", "recommendation", "search"]

#: More configurations than this are so many that proposing another would take long, and teach little.
_MOST_ADVISED = 500
#: Explorers on a page.
_MOST_EXPLORERS = 8


# ---- models -------------------------------------------------------------------------------------------------


def models(
    learned: Mapping[str, Model],
    runs: Mapping[str, Runs],
    test: Mapping[str, Runs],
    asked: Asked,
    *,
    plan: Plan | None = None,
    fastest: Result | None = None,
    values: Values = "usual",
) -> Iterator[Chapter]:
    """Tell how good models are, what they predict, on how many cores to run, and which runs would teach them most.

    Sliders stand first where it is recommended to be: at the cores of the plan, where there is one, or at the fastest
    configuration of a search, which answers on how many cores to run, unless that is asked.
    """
    yield _model_chapter(learned, runs, test, asked)
    found = _Recommended()
    if len(learned) == 1:
        (name, model), *_ = learned.items()
        if fastest is not None and not asked.wants_cores:
            found = _Recommended(fastest.best)
        else:
            found = _cores(model, runs.get(name), asked)
    all_values = values_at({**found.best, **asked.at}, learned)
    for count, (name, model) in enumerate(learned.items()):
        if count >= _MOST_EXPLORERS:
            yield Chapter([Section("More models", [Text(f"{len(learned) - count} more have no sliders here.")])])
            break
        at, stops = all_values[name], found.stops
        cores = _certain_cores(model.space_, runs.get(name), asked.cores_are)
        if plan is not None and name in plan.cores and cores is not None and cores.is_one_parameter:
            at, stops = {**at, cores.names[0]: plan.cores[name]}, {cores.names[0]: [plan.cores[name]]}
        explorer = Explorer.of(
            name, model, runs.get(name), at=at, level=asked.level, machine=asked.machine,
            cores_are=asked.cores_are, written=found.unit, stops=stops,
        )  # fmt: skip
        title = f"Predictions{f' of {name}' if len(learned) > 1 else ''}"
        yield Chapter([Section(title, [explorer])])
    yield from found.chapters
    if asked.next_runs:
        yield from _next(runs, learned, asked, found.best, values)


def _model_chapter(
    learned: Mapping[str, Model], runs: Mapping[str, Runs], test: Mapping[str, Runs], asked: Asked
) -> Chapter:
    from evenly.report.plots.prediction import plot_predictions

    parts: list[Part] = [Table.of(models_table(learned, runs, test))]
    numbers = {}
    for name, model in list(learned.items())[:_MOST_EXPLORERS]:
        whose = f" of {name}" if len(learned) > 1 else ""
        if name not in runs or not len(runs[name].ok):
            continue
        errors = left_out_errors(model, runs[name])
        if errors is not None:
            numbers[f"typical error{whose} on runs left out"] = typical_error(errors["MLogQ"])
            if len(curve := curve_of(model, runs[name], errors["MLogQ"])):
                parts.append(_learning_curve(curve, whose))
        parts += _importance(model, runs[name], whose)
        first = f"{name}: " if len(learned) > 1 else ""
        parts += [Remark(f"{first}{told}", "warning") for told in model.training_.get("hung", ())]
        if "outliers" in model.training_:
            parts.append(Remark(f"{first}{outliers_told(model)}", "warning"))
        if missed := told_missed(model):
            parts.append(Text(f"{first}{missed}"))
        parts += _repetitions(model, runs[name], asked.level, first)
        figure = plot_predictions(model, runs[name], test.get(name), level=asked.level, name=name)
        parts.append(Picture(figure, f"predicted against measured {model.response_['name']}{whose}"))
    return Chapter(
        [Section("The models" if len(learned) > 1 else "The model", parts)], numbers,
        {"models": plain(models_as_dict(learned, runs, test))},
    )  # fmt: skip


def _repetitions(model: Model, runs: Runs, level: float, first: str) -> Iterator[Text]:
    """Tell of what the intervals are, where configurations were run several times."""
    if model.response_["name"] != "seconds" or "single_runs" not in model.training_:
        return
    silent, single = quietly(model), runs.ok
    lower, upper = silent.interval(single.configurations, level)
    inside = float(np.mean((lower <= single.values) & (single.values <= upper)))
    yield Text(
        f"{first}The {percent(level)} interval is for the {model.training_['statistic']} of repeated runs, not for one "
        f"run: {percent(inside, 2)} of the single runs lie inside."
    )


def _importance(model: Model, runs: Runs, whose: str) -> list[Part]:
    """Tell which of several parameters matter to the model."""
    varied = [name for name in runs.parameters if runs.ok.configurations[name].nunique() > 1]
    if len(varied) < 2:
        return []
    first, total = sobol_indices(quietly(model), runs.ok, np.random.default_rng(0))
    rows = sorted(zip(runs.parameters, first, total, strict=True), key=lambda row: -row[2])
    told = [[name, percent(alone, 2), percent(all_, 2)] for name, alone, all_ in rows if name in varied]
    caption = f"share of the variance of the logarithm of predicted times{whose} that comes from each parameter"
    return [Table(["parameter", "alone", "with others"], told, caption)]


def _learning_curve(curve: pd.DataFrame, whose: str) -> Table:
    rows = [
        [count_text(int(row["runs"])), typical_error(float(row["error"])), row["kind"]]
        for row in curve.to_dict("records")
    ]
    return Table(["runs", "error", ""], rows, f"the error{whose} by number of runs", words=(2,))


@dataclass(frozen=True)
class _Recommended:
    """What is recommended of one program: the configuration, the unit of its time, and the chapter.

    `stops` are the counts of its table, by the parameter that they belong to.
    """

    best: Mapping[str, Any] = field(default_factory=dict)
    unit: str = ""
    chapters: Sequence[Chapter] = ()
    stops: Mapping[str, Sequence[float]] = field(default_factory=dict)


def _cores(model: Model, runs: Runs | None, asked: Asked) -> _Recommended:
    """Recommend a number of cores, where it is certain what they are."""
    title = "On how many cores"
    if model.response_["name"] != "seconds" and not asked.wants_cores:
        return _Recommended()
    try:
        measured = None if runs is None else runs.configurations
        cores = find_cores(model.space_, asked.cores_are, measured=measured)
        # Where sliders stand first may be said of the cores, too.
        at = {name: value for name, value in asked.at.items() if not (cores.is_one_parameter and name in cores.names)}
        found = recommend(
            model, asked.cores or _measured_range(model, runs, asked.cores_are), cores_are=asked.cores_are,
            at=at, measured=runs, goal=asked.goal, steps=asked.steps, machine=asked.machine, level=asked.level,
            limit=asked.limit,
        )  # fmt: skip
    except InfeasibleError as error:
        return _Recommended(chapters=[Chapter([Section(title, [Remark(str(error), "failure")])])])
    except EvenlyError as error:
        if asked.wants_cores:
            raise
        return _Recommended(chapters=[Chapter([Section(title, [Text(f"Nothing is recommended: {error}.")])])])
    made = {name: plain(found.best[name]) for name in model.space_.names if name in found.best}
    one = {cores.names[0]: found.cores} if cores.is_one_parameter else {}
    return _Recommended(
        {**found.at, **made, **one}, found.time_unit[1] if found.steps == 1 else "", [recommendation(found)],
        {cores.names[0]: found.curve["cores"].tolist()} if cores.is_one_parameter else {},
    )  # fmt: skip


def _measured_range(model: Model, runs: Runs | None, cores_are: str | None) -> range:
    """Return the counts from the fewest cores that were measured to the most."""
    from evenly.report.slices import bounds

    cores = find_cores(model.space_, cores_are, measured=None if runs is None else runs.configurations)
    if runs is not None and len(runs.ok):
        made = cores.of(runs.ok.configurations, len(runs.ok))
    else:
        ends = {name: bounds(model.space_.parameters[name]) or (1.0, 1.0) for name in cores.names}
        made = cores.of({name: np.array(end) for name, end in ends.items()}, 2)
    return range(int(np.nanmin(made)), int(np.nanmax(made)) + 1)


def _next(
    runs: Mapping[str, Runs], learned: Mapping[str, Model], asked: Asked, best: Mapping[str, Any], values: Values
) -> Iterator[Chapter]:
    """Propose the runs that would teach most; first of all, the `best` configuration, if it is far from all runs."""
    parts: list[Part] = []
    first: list[Mapping[str, Any]] = []
    if best and any(model.extrapolates([best])[0] for model in learned.values()):
        first = [best]
        at = ", ".join(f"{name} = {value_text(value)}" for name, value in best.items())
        parts.append(Remark(f"Run {at} first: it is recommended, but lies outside what was measured"))
    proposed = {}
    for name, one in runs.items():
        whose = f"{name}: " if len(runs) > 1 else ""
        tried = len(one.configurations.drop_duplicates())
        if tried > _MOST_ADVISED:
            parts.append(Text(f"{whose}With {count_text(tried)} configurations, a few more would teach little."))
            continue
        cores = _certain_cores(one.space, one, asked.cores_are)
        text = None if cores is None else cores.text
        try:
            table = advise(one, asked.next_runs, cores=text, times=learned.get(name), values=values, first=first)
        except EvenlyError as error:
            parts.append(Text(f"{whose}{error}"))
            continue
        if len(table):
            proposed[name] = plain(table.to_dict("records"))
            shown = advice_table(table, one.parameters, per_core=cores is None, errors=False)
            parts += [*([Text(whose)] if whose else []), Table.of(shown)]
        else:
            parts.append(Text(f"{whose}All usual values between those measured were run. Others would teach more."))
    if parts:
        yield Chapter([Section("What to measure next", parts)], data={"next": proposed})


def _certain_cores(space: Space, runs: Runs | None, cores_are: str | None) -> Cores | None:
    """Return what the cores are; None where it is open."""
    try:
        return find_cores(space, cores_are, measured=None if runs is None else runs.configurations)
    except InputError:
        return None


# ---- answers ------------------------------------------------------------------------------------------------


def recommendation(found: Recommendation) -> Chapter:
    """Tell on how many cores to run, and why."""
    from evenly.report.plots.recommendation import plot_recommendation

    first, *others = choice_lines(found.choice, "cores", found.level)
    parts: list[Part] = [*map(Text, (*question_lines(found), *found.notes))]
    parts += [Remark(f"{first[:1].upper()}{first[1:]}"), *map(Text, others)]
    parts += [*map(Text, limit_lines(found)), Table.of(recommendation_table(found), copied=True)]
    if len(found.curve) > 1 and np.isfinite(found.curve["run_upper_s"]).all():
        parts.append(Picture(plot_recommendation(found), "The predicted time against the number of cores."))
    factor, unit = found.time_unit
    lower, upper = (in_unit(end, factor, 3) for end in found.interval)
    numbers = {
        "recommended": f"{found.cores} core{'s' * (found.cores != 1)}",
        "predicted": f"{in_unit(found.seconds, factor)} {unit}{', an extrapolation' if found.extrapolated else ''}",
        f"{percent(found.level)} interval": f"{lower} … {upper} {unit}",
    }
    return Chapter(
        [Section("On how many cores", parts)], numbers, {"cores": plain(found.to_dict())},
    )  # fmt: skip


def plan(found: Plan) -> Chapter:
    """Tell how many cores each coupled solver gets."""
    from evenly.report.plots.allocation import plot_curve, plot_plan
    from evenly.report.tables.plan import comparison_table, plan_as_dict, plan_table

    parts: list[Part] = [
        Text(f"They wait for each other as `{found.problem.layout}`."),
        Table.of(plan_table(found), copied=True),
    ]
    if found.versus or found.runner_up:
        parts.append(Table.of(comparison_table(found)))
    parts.append(Picture(plot_plan(found), "the solvers' work and waiting over a few steps"))
    parts.append(Picture(plot_curve(found), "time of a step by number of cores"))
    numbers = {
        "cores": ", ".join(f"{name} {cores}" for name, cores in found.cores.items()),
        "a step takes": f"{quantity(found.seconds)}{', an extrapolation' * bool(found.extrapolated)}",
    }
    if found.interval is not None:
        told = "not known, so far from what was measured" if found.is_guess else interval(*found.interval)
        numbers[f"{percent(found.noise.level)} interval"] = told
    return Chapter([Section("How many cores for each solver", parts)], numbers, {"plan": plain(plan_as_dict(found))})


def cut(found: CutPlan) -> Chapter:
    """Tell how a cell is cut among ranks."""
    from evenly.report.plots.partition import plot_chunks, plot_shares
    from evenly.report.tables.partition import answer, cuts_headline, cuts_table, prediction_as_dict, shares_table

    said = answer(found)
    parts: list[Part] = [
        Text(cuts_headline(found)), Remark(f"{said[:1].upper()}{said[1:]}"), Table.of(cuts_table(found)),
        Picture(plot_chunks(found), "the chunks of the ranks in the cell"),
        Picture(plot_shares(found), "the work of each rank"),
        Fold("every rank", [Table.of(shares_table(found), copied=True)]),
    ]  # fmt: skip
    numbers = {"ranks": str(found.prediction.ranks), "a step takes": quantity(found.prediction.step_s)}
    return Chapter(
        [Section("How to cut", parts)], numbers,
        {"cut": plain({"why": found.why, **prediction_as_dict(found.prediction)})},
    )  # fmt: skip


def forecast(found: Forecast) -> Chapter:
    """Tell how long a simulation takes that nobody has run."""
    from evenly.report.plots.forecast import plot_forecast
    from evenly.report.tables.forecast import forecast_headline, forecast_table

    first, *others = choice_lines(found.choice, "ranks", found.level)
    parts: list[Part] = [Text(forecast_headline(found)), Remark(f"{first[:1].upper()}{first[1:]}"), *map(Text, others)]
    parts.append(Table.of(forecast_table(found), copied=True))
    parts += [Picture(figure, f"forecast: {name}") for name, figure in plot_forecast(found).items()]
    return Chapter(
        [Section("How long it takes", parts)], {"recommended": f"{found.ranks} ranks"},
        {"forecast": plain(found.to_dict())},
    )  # fmt: skip


def search(found: Result) -> Chapter:
    """Tell which configuration is fastest, and how it was found."""
    from evenly.report.plots.tuning import plot_search
    from evenly.report.tables.tuning import alike_table, found_text, result_as_dict, tasks_table

    first, *others = found_text(found).split("\n")
    parts: list[Part] = [Remark(f"{first[:1].upper()}{first[1:]}"), *map(Text, others), Text(f"{found.stopped}.")]
    parts.append(Table.of(tasks_table(found) if found.task_names else alike_table(found), copied=True))
    parts.append(Picture(plot_search(found), "the time of each run, and the fastest so far"))
    return Chapter(
        [Section("The fastest configuration", parts)], {"fastest": quantity(found.seconds)},
        {"search": plain(result_as_dict(found))},
    )  # fmt: skip
