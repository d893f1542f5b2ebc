"""`fit` learns a model from runs, by a method that the user names or that evenly chooses."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, overload

import numpy as np
import pandas as pd

from evenly.arguments import explained
from evenly.errors import EvenlyWarning, InputError
from evenly.metrics import all_metrics
from evenly.models.base import Effort, Model, check_effort
from evenly.models.hung_runs import without_hung_runs
from evenly.models.learned import Learned, summarise
from evenly.models.outliers import Outliers, check_outliers, outliers_told, without_outliers
from evenly.models.registry import model_class
from evenly.models.thinning import MOST_CONFIGURATIONS, thinned
from evenly.runs.columns import BOOKKEEPING
from evenly.runs.grouping import by_value, constants
from evenly.runs.runs import Runs, Statistic
from evenly.space.parameters import Categorical

if TYPE_CHECKING:
    from evenly.models.ensemble.prior import Prior

__all__ = ["Effort", "default_method", "fit", "new_model"]

#: With at most this many parameters and fewer than this many configurations, leave-out errors are too noisy to choose a
#: method.
_FEW_PARAMETERS, _FEW_RUNS = 3, 20
#: A total and its parts: at least so many, and equal to this share.
_FEWEST_PARTS, _SUM = 3, 0.01
#: A prior with more weight in a blend leads it.
_MOST = 0.5
#: With fewer configurations, no law of one among many regions is learned.
_LEAST_POINTS = 3
#: Exponents of the laws of many regions: quarters and thirds where they are usual (surfaces scale as n^(2/3)), fewer
#: than `PMNF` tries for a single program. ``benchmarks/regions.py`` measures errors and time.
_EXPONENTS_OF_MANY = (
    -2, -3 / 2, -1, -3 / 4, -2 / 3, -1 / 2, -1 / 3, -1 / 4, 0, 1 / 4, 1 / 3, 1 / 2, 2 / 3, 3 / 4, 1, 5 / 4, 4 / 3,
    3 / 2, 5 / 3, 2, 5 / 2, 3,
)  # fmt: skip


@overload
def fit(runs: Runs | Mapping[str, Runs], *, each: str, **options: Any) -> dict[str, Model]: ...
@overload
def fit(runs: Runs | pd.DataFrame, **options: Any) -> Model: ...
@overload
def fit(runs: Mapping[str, Runs], **options: Any) -> dict[str, Model]: ...


@explained
def fit(
    runs: Runs | pd.DataFrame | Mapping[str, Runs],
    *,
    time: str = "seconds",
    parameters: Sequence[str] | None = None,
    unit: str = "s",
    method: str | None = None,
    effort: Effort = "normal",
    statistic: Statistic = "median",
    response: str | None = None,
    each: str | None = None,
    outliers: Outliers = "drop",
    most_configurations: int = MOST_CONFIGURATIONS,
    prior: Model | Runs | Prior | Mapping[str, Model] | Mapping[str, Runs] | None = None,
    **options: Any,
) -> Model | dict[str, Model]:
    """Learn a model from runs, one model per solver from a dict of runs, or one for each value of a column.

    Parameters
    ----------
    runs : Runs, DataFrame or mapping of str to Runs
        Runs, or a table with one row per run, of which `Runs.from_frame` makes them. Repeated runs of a configuration
        are first aggregated to one value. Failed runs are ignored. Runs that hit their limit (`Runs.bounds`) took
        longer than that, and models learn it (`evenly.models.censoring`).
    time, unit : str
        Of a table: the column with the measured time, and its unit (`evenly.runs.units.to_base`).
    parameters : sequence of str, optional
        Of a table: the columns that were varied. By default all columns but the time and those of `BOOKKEEPING`; an
        `EvenlyWarning` names them.
    method : str, optional
        One of `evenly.models.registry.method_names`; by default the result of `default_method`. ``"auto"`` races
        methods and blends the best. ``"pmnf"`` averages near-tied candidates and simple scaling laws, weighted by their
        errors on left-out runs.
    effort : {"quick", "normal", "thorough"}
        How much time a method may spend on its search, if it has one.
    statistic : {"median", "min", "mean"}
        Statistic that aggregates repeated runs.
    response : str, optional
        Quantity of the runs to learn, such as ``"peak_memory"``; the runs' own response by default.
    each : str, optional
        Learn one model for each value of this parameter, such as ``"region"``, by ``"pmnf"`` where all other parameters
        are numbers. Parameters that never vary are left out. `evenly.ranking` compares the models at a scale.
    outliers : {"drop", "keep"}
        Rows that are at least three times as long, or as short, as all that is near them tells are left out, and an
        `EvenlyWarning` names them (`evenly.models.outliers`). So are runs that were stopped at their limit long after
        others of the same values had ended (`evenly.models.hung_runs`). ``"keep"`` learns from all.
    most_configurations : int
        Of a table with more, so many are learned from; an `EvenlyWarning` says so (`evenly.models.thinning`).
    prior : Model, Runs, or mapping of str to either, optional
        What is known from another machine, version or resolution: a fitted model, runs to learn one from, or one of
        these for each solver. What differs is learned from the runs, as a ratio (`evenly.models.ensemble.prior`). Its
        weight is what left-out runs give it, none if it doesn't lower their error; an `EvenlyWarning` says it. The
        result is a blend (``"auto"``).
    **options
        Arguments of the method's class. With `each`, also ``done``, called with the share that is done, 0 to 1.

    Returns
    -------
    Model or dict of str to Model

    Warns
    -----
    EvenlyWarning
        Which rows are outliers. With `each`: which values have too few runs to learn from, and are left out. With
        `prior`: its weight, and what it doesn't know.

    Examples
    --------
    >>> import pandas as pd
    >>> table = pd.DataFrame({"cores": [1, 2, 4, 8, 16], "seconds": [80.0, 40.0, 20.0, 10.0, 5.0]})
    >>> model = fit(Runs.from_frame(table, ["cores"]), method="power-law")
    >>> model.predict({"cores": [3]}).round(3)
    array([26.667])
    >>> fit(table, time="seconds", parameters=["cores"], method="power-law").predict({"cores": [3]}).round(3)
    array([26.667])

    Two runs on a new machine, which is twice as fast:

    >>> new = Runs.from_frame(pd.DataFrame({"cores": [1, 16], "seconds": [40.0, 2.5]}), ["cores"])
    >>> with warnings.catch_warnings(action="ignore"):
    ...     fit(new, prior=model).predict({"cores": [3, 8]}).round(2)
    array([13.33,  5.  ])
    """
    if isinstance(runs, pd.DataFrame):
        runs = _runs_of(runs, time, parameters, unit)
    elif (time, parameters, unit) != ("seconds", None, "s"):
        raise InputError("time, parameters and unit are for a table: runs hold theirs already")
    shared: dict[str, Any] = {
        "method": method,
        "effort": effort,
        "statistic": statistic,
        "response": response,
        "outliers": outliers,
        "most_configurations": most_configurations,
    }
    shared |= options
    if each is not None and prior is not None:
        raise InputError("each learns many laws, and prior is for one model: leave one of them out")
    if each is not None:
        return _fit_each(runs, each, shared)
    if isinstance(runs, Mapping):
        if not runs:
            raise InputError("there are no runs to learn from: the mapping of solvers to runs is empty")
        known = {solver: _of_solver(prior, solver) for solver in runs}
        return {solver: _named(solver, one, known[solver], shared) for solver, one in runs.items()}
    if not isinstance(runs, Runs):
        is_file, kind = isinstance(runs, str | Path), type(runs).__name__
        hint = f": read the file first, as in evenly.fit(evenly.read({str(runs)!r}))" if is_file else ""
        raise InputError(f"evenly.fit learns from Runs, a DataFrame, or a dict of Runs by solver, but got {kind}{hint}")
    if isinstance(prior, Mapping):
        raise InputError("prior is a dict of solvers, but the runs are those of one: give the prior of this one alone")
    return _fit_with_prior(runs, prior, shared)


def _of_solver(prior: Any, solver: str) -> Any:
    if not isinstance(prior, Mapping):
        return prior
    if solver not in prior:
        raise InputError(f"there is no prior of {solver!r}, but of {', '.join(map(repr, prior))}: name it alike")
    return prior[solver]


def _fit_runs(
    runs: Runs,
    *,
    method: str | None,
    effort: Effort,
    statistic: Statistic,
    response: str | None,
    outliers: Outliers,
    most_configurations: int = MOST_CONFIGURATIONS,
    name: str = "",
    **options: Any,
) -> Model:
    """Learn a model from runs of one solver, which warnings name."""
    check_effort(effort)
    check_outliers(outliers)
    chosen = runs if response is None else runs.learning(response)
    chosen = _thinned(chosen, most_configurations, name)
    every = len(chosen)
    chosen, hung = without_hung_runs(chosen) if outliers == "drop" else (chosen, [])
    table = chosen.evidence(statistic)
    if table["censored"].all() and chosen.ok.values.size:
        raise InputError(
            f"of each configuration, so many runs were stopped at their limit that the {statistic} isn't known: only "
            f"{len(chosen.ok)} of all went well. Give runs a longer limit, or learn their minimum (--statistic min)"
        )
    if table["censored"].all():
        raise InputError(f"there are no runs with {chosen.response!r} that went well: nothing to learn from")
    learned = Learned.of(partial(new_model, method or default_method(chosen), effort, options), chosen, statistic)
    if outliers == "drop":
        learned = without_outliers(learned)
    summarise(learned)
    learned.model.training_["left_out"] = _errors_left_out(learned.model, table, chosen.response)
    if every < len(runs):
        learned.model.training_["thinned_from"] = len(runs)
    for told in hung:
        warnings.warn((f"{name}: " if name else "") + told, EvenlyWarning, stacklevel=5)
    if hung := [*hung, *learned.model.training_.get("hung", [])]:
        learned.model.training_["hung"] = hung
    if idle := learned.model.training_.get("without_effect"):
        warnings.warn(
            (f"{name}: " if name else "") + f"as far as {learned.model.n_runs_:,} configurations tell, {_some(idle)} "
            f"of {len(chosen.parameters)} parameters don't change the {chosen.response}: nothing is learned about them",
            EvenlyWarning,
            stacklevel=5,
        )
    if "outliers" in learned.model.training_:
        warnings.warn((f"{name}: " if name else "") + outliers_told(learned.model), EvenlyWarning, stacklevel=5)
    return learned.model


def _thinned(runs: Runs, most: int, name: str) -> Runs:
    """Return the runs to learn from, and say if they are fewer."""
    if most < 1:
        raise InputError(f"most_configurations must be at least 1, but got {most}")
    kept = thinned(runs, most)
    if len(kept) < len(runs):
        warnings.warn(
            (f"{name}: " if name else "")
            + f"learns from {most:,} configurations, drawn at random with the ends of all "
            f"ranges: {len(kept):,} of {len(runs):,} rows. More rarely tell more, and take longer "
            "(most_configurations=, from Python)",
            EvenlyWarning,
            stacklevel=6,
        )
    return kept


def _fit_with_prior(runs: Runs, prior: Model | Runs | Prior | None, arguments: dict[str, Any]) -> Model:
    """Learn a blend with what is known from other runs; if that has no weight, what would be learned without it."""
    if prior is None:
        return _fit_runs(runs, **arguments)
    from evenly.models.ensemble.prior import Prior

    response, statistic, name = arguments["response"], arguments["statistic"], arguments.get("name", "")
    chosen = runs if response is None else runs.learning(response)
    if isinstance(prior, Runs):
        general = {key: arguments[key] for key in ("effort", "statistic", "outliers", "most_configurations")}
        quantity = chosen.response if chosen.response in prior.quantities else None
        prior = _fit_runs(prior, method=None, response=quantity, **general)
    known = Prior.of(prior)
    known.check(chosen.space)
    known.check_response(chosen.response, chosen.quantities[chosen.response])
    usual = arguments["method"] or default_method(chosen)
    options = {} if usual == "auto" else {"methods": (usual,)}
    model = _fit_runs(runs, **{**options, **arguments, "method": "auto", "prior": known})
    if model.training_digest_ == known.model.training_digest_:
        raise InputError(
            f"{known.name} was learned from these same runs, so it tells nothing more: name runs of others"
        )
    found = model.prior_
    if not found["weight"] and usual != "auto":
        model = _fit_runs(runs, **arguments)
    model.training_["prior"] = found
    if found["weight"] > _MOST:  # the other runs tell how each parameter counts, even if these lie on a line
        for key in ("weak_scaling", "bands"):
            model.training_.pop(key, None)
            model.training_ |= {key: line} if (line := known.model.training_.get(key)) else {}
    said = [known.told(found), *known.differences(chosen.space, statistic)]
    warnings.warn((f"{name}: " if name else "") + ". ".join(said), EvenlyWarning, stacklevel=4)
    return model


def _errors_left_out(model: Model, evidence: pd.DataFrame, response: str) -> dict[str, float]:
    """Return all error metrics of the leave-one-out predictions, one value per configuration; {} if there are none."""
    if model.left_out_predictions_ is None:
        return {}
    values = evidence[response].mask(evidence["censored"])  # a bound is no measurement
    return all_metrics(values, model.left_out_predictions_[: len(values)])


def _runs_of(table: pd.DataFrame, time: str, parameters: Sequence[str] | None, unit: str) -> Runs:
    """Return the runs of a table; where the parameters aren't named, warn which columns are taken."""
    if time not in table.columns:
        from evenly.readers.tables.columns import time_candidates

        likely = time_candidates(map(str, table.columns))
        hint = f": pass time={likely[0].column!r}" if likely else ""
        hint += f", unit={likely[0].unit!r}" if likely and likely[0].unit else ""
        raise InputError(f"there is no column {time!r}, but {', '.join(map(repr, table.columns))}{hint}")
    if parameters is None:
        parameters = [str(name) for name in table.columns if name != time and name not in BOOKKEEPING]
        if parameters:
            warnings.warn(
                f"taken as parameters, since they aren't named: {', '.join(parameters)}; give parameters=[…] to change "
                "or confirm this",
                EvenlyWarning,
                stacklevel=4,
            )
    for name in parameters:
        if name in table.columns and table[name].dtype == object and _are_numbers(table[name]):
            raise InputError(
                f"{name!r} holds numbers as text, which would be labels: convert them, as in "
                f"table.astype({{{name!r}: float}}), or make labels of them that are no numbers"
            )
    return Runs.from_frame(table, parameters, time, unit=unit)


def _are_numbers(column: pd.Series[Any]) -> bool:
    """Tell whether all entries are texts that hold numbers."""
    texts = [value for value in column if isinstance(value, str)]
    return len(texts) == len(column) > 0 and bool(pd.to_numeric(pd.Series(texts), errors="coerce").notna().all())


def default_method(runs: Runs) -> str:
    """Return the method that `fit` uses if the user names none.

    * One numeric parameter: ``"pmnf"``, since scaling laws matter most there.
    * Up to three parameters and fewer than 20 configurations: ``"pmnf"`` if all parameters are numeric,
      ``"log-quadratic"`` if there are labels.
    * All other runs: ``"auto"``, which races methods and blends them (`evenly.models.ensemble.automatic`).

    A label that all runs share is none.

    Examples
    --------
    >>> import pandas as pd
    >>> table = pd.DataFrame({"cores": [1, 2], "solver": ["cg", "gmres"], "seconds": [80.0, 40.0]})
    >>> default_method(Runs.from_frame(table, ["cores", "solver"])), default_method(Runs.from_frame(table, ["cores"]))
    ('log-quadratic', 'pmnf')
    """
    kinds = [kind for name, kind in runs.space.parameters.items() if not _is_shared_label(runs, name)]
    few = len(kinds) <= _FEW_PARAMETERS and len(runs.configurations.drop_duplicates()) < _FEW_RUNS
    if any(isinstance(kind, Categorical) for kind in kinds):
        return "log-quadratic" if few else "auto"
    return "pmnf" if len(kinds) == 1 or few else "auto"


def _is_shared_label(runs: Runs, name: str) -> bool:
    return isinstance(runs.space.parameters[name], Categorical) and runs.configurations[name].nunique() == 1


def _fit_each(runs: Runs | Mapping[str, Runs], each: str, arguments: dict[str, Any]) -> dict[str, Model]:
    parts = by_value(runs, each)
    if whole := _sum_of_others(parts):
        del parts[whole]
        warnings.warn(f"{each} {whole!r} is the sum of the others in all runs: left out", EvenlyWarning, stacklevel=4)
    tables = [runs] if isinstance(runs, Runs) else list(runs.values())
    fixed = {name: value for one in tables for name, value in constants(one).items() if name != each}
    done = arguments.pop("done", None)
    models: dict[str, Model] = {}
    lost: dict[str, str] = {}
    for count, (name, part) in enumerate(parts.items(), 1):
        try:
            models[name] = model = _fit_one_of_many(name, part, arguments)
        except InputError as error:
            lost[name] = str(error)
        else:
            model.training_ |= {"each": each, "constants": {k: x for k, x in fixed.items() if k not in part.parameters}}
        if done is not None:
            done(count / len(parts))
    if not models:
        raise InputError(f"{next(iter(lost))}: {next(iter(lost.values()))}")
    for doubt in _doubts({name: parts[name] for name in models}):
        warnings.warn(doubt, EvenlyWarning, stacklevel=4)
    if lost:
        listed = "; ".join(f"{name}: {reason}" for name, reason in list(lost.items())[:3])
        more = f"; and {len(lost) - 3} more" if len(lost) > 3 else ""
        warnings.warn(
            f"{len(lost)} of {len(parts)} values of {each!r} left out: {listed}{more}", EvenlyWarning, stacklevel=4
        )
    return models


def _sum_of_others(parts: Mapping[str, Runs]) -> str:
    """Return the value whose time is the sum of all others' in all configurations, as ``total``; "" without one."""
    medians = {name: part.aggregate().set_index(part.parameters)[part.response] for name, part in parts.items()}
    names = {tuple(part.parameters) for part in parts.values()}
    if len(parts) < _FEWEST_PARTS or len(names) > 1:
        return ""
    table = pd.concat(medians, axis=1)
    if len(table) < _FEWEST_PARTS or table.isna().any(axis=None):
        return ""
    largest = str(table.sum().idxmax())
    others = table.drop(columns=largest).sum(axis=1)
    return largest if bool((abs(table[largest] / others - 1) < _SUM).all()) else ""


def _doubts(parts: Mapping[str, Runs]) -> list[str]:
    """Say what is open in the runs of each value: where some have none, and rows that may be more than repetitions."""
    said = []
    names = dict.fromkeys(name for part in parts.values() for name in part.parameters)
    for name in names:
        kinds = [part.space.parameters.get(name) for part in parts.values()]
        if any(kind is None or isinstance(kind, Categorical) for kind in kinds):
            continue
        # A value that never varies in the runs of a region is no parameter of its law.
        varied = {value: part.ok.configurations[name] for value, part in parts.items()}
        tops = {value: float(column.max()) for value, column in varied.items() if column.nunique() > 1}
        if absent := [value for value, top in tops.items() if top < max(tops.values(), default=0)]:
            said.append(
                f"{_some(absent)}: no runs above {name} = {tops[absent[0]]:g}, where others were measured up to "
                f"{max(tops.values()):g}; what is predicted beyond supposes that it goes on there"
            )
    good = {value: part.ok.configurations for value, part in parts.items()}
    rows = {value: len(table) / max(len(table.drop_duplicates()), 1) for value, table in good.items()}
    if rows and max(rows.values()) >= 2 * min(rows.values()):
        often = [value for value, number in rows.items() if number >= 2 * min(rows.values())]
        said.append(
            f"{_some(often)}: {max(rows.values()):g} rows for each configuration, where others have "
            f"{min(rows.values()):g}; they are taken as repetitions, not summed"
        )
    return said


def _some(names: Sequence[str]) -> str:
    return ", ".join(names[:3]) + (f" and {len(names) - 3} more" if len(names) > 3 else "")


def _fit_one_of_many(name: str, runs: Runs, arguments: dict[str, Any]) -> Model:
    chosen = runs if arguments["response"] is None else runs.learning(arguments["response"])
    measured = chosen.configurations[np.isfinite(chosen.values)].drop_duplicates()
    if len(measured) < _LEAST_POINTS:
        raise InputError(f"measured at {len(measured)} of the {_LEAST_POINTS} configurations that a law needs at least")
    labels = any(isinstance(kind, Categorical) for kind in runs.space.parameters.values())
    method = arguments["method"] or (default_method(runs) if labels else "pmnf")
    exponents = {"exponents": _EXPONENTS_OF_MANY} if method == "pmnf" else {}
    options = model_class(method).default_arguments()
    given = {name: value for name, value in arguments.items() if name != "asked" or name in options}
    return _fit_runs(runs, name=name, **{**exponents, **given, "method": method})


def _named(solver: str, runs: Runs, prior: Any, arguments: dict[str, Any]) -> Model:
    try:
        model = _fit_with_prior(runs, prior, {**arguments, "name": solver})
    except InputError as error:
        raise InputError(f"{solver}: {error}" if solver else str(error)) from None
    return model


def new_model(method: str, effort: Effort, options: Mapping[str, Any]) -> Model:
    """Return an unfitted model of a method.

    Raises
    ------
    InputError
        If the method doesn't exist, or has no option of that name.

    Examples
    --------
    >>> new_model("gp", "quick", {}).effort
    'quick'
    """
    kind = model_class(method)
    known = kind.default_arguments()
    unknown = sorted(set(options) - set(known))
    if unknown:
        raise InputError(
            f"{method} has no option {unknown[0]!r}; its options are {', '.join(known) if known else 'none'}"
        )
    if "effort" in known:
        options = {"effort": effort, **options}
    return kind(**options)
