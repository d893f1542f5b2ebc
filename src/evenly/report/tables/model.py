"""Tables of models and predictions, for the terminal and as plain values for JSON."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal

import numpy as np
import pandas as pd
from rich.table import Table

from evenly.core_counts.failures import outcomes_of
from evenly.errors import InputError
from evenly.metrics import METRICS
from evenly.models.base import Model
from evenly.report.formatting import common_prefix, compact, in_unit, percent, plain, span, time_limit, typical_error
from evenly.report.left_out_errors import left_out_errors
from evenly.report.slices import bounds, formula_of, leading_of, measured_by_configuration, quietly
from evenly.report.tables.choice import blend_of, choice_as_dict, chose_itself
from evenly.report.tables.run import add_numbers, add_row, add_texts, new_table
from evenly.runs.durations import format_hms
from evenly.runs.runs import Runs
from evenly.space.parameters import Parameter
from evenly.space.space import Configurations

__all__ = [
    "TimeFormat",
    "errors_of",
    "model_table",
    "models_as_dict",
    "models_table",
    "predictions_as_dict",
    "predictions_table",
]

#: How times are written: in one unit, or as ``HH:MM:SS``.
TimeFormat = Literal["unit", "hms"]
#: With a larger weight than this, one formula counts as the whole model.
_ALONE = 0.9999
#: What a fitted model keeps for its intervals only.
_STATES = ("single_runs", "repeated_noise")
#: A table of predictions has room for so many columns of parameters.
_MOST_COLUMNS = 3
_CANDIDATES = 5


def errors_of(model: Model, runs: Runs) -> dict[str, float]:
    """Return all error metrics of a model's predictions, with one value per configuration of `runs`.

    Examples
    --------
    >>> import evenly, pandas as pd
    >>> table = pd.DataFrame({"cores": [1, 2, 4, 8, 16], "seconds": [80.0, 40.0, 20.0, 10.0, 5.0]})
    >>> runs = evenly.Runs.from_frame(table, ["cores"])
    >>> round(errors_of(evenly.fit(runs, method="power-law"), runs)["MLogQ"], 6)
    0.0
    """
    measured, asked = measured_by_configuration(model, runs)
    predicted = quietly(model).predict(asked)
    return {name: metric(measured, predicted) for name, metric in METRICS.items()}


def models_table(
    models: Mapping[str, Model],
    runs: Mapping[str, Runs] | None = None,
    test: Mapping[str, Runs] | None = None,
    *,
    title: str = "",
) -> Table:
    """Return a table of models with a row per solver: how far each is typically off. Formulas are below the table.

    Parameters
    ----------
    models : mapping of str to Model
        The model of each solver.
    runs : mapping of str to Runs, optional
        The runs that the models were fitted to. The table shows the leave-one-out errors on them ("left out"), or a
        dash if there are none: see `evenly.report.left_out_errors`. Without runs, they are what `evenly.fit` found.
    test : mapping of str to Runs, optional
        Held-out runs. The table shows the errors on them.
    title : str, optional
        The title above the table.

    Returns
    -------
    rich.table.Table
    """
    table = new_table(title, "\n".join([*_formulas(models), *_bounds(models)]))
    add_texts(table, "solver", "model", "learned on")
    add_numbers(table, "off by,\nleft out", *(["off by,\nheld out", "inside 90 %"] if test else []))
    for solver, model in models.items():
        cells = [_error_cell(model, (runs or {}).get(solver))]
        if test:
            cells += _test_cells(model, test.get(solver))
        learned = "\n".join(_learned_on(name, kind) for name, kind in model.space_.parameters.items())
        add_row(table, solver or "(all)", method_of(model), learned, *cells)
    return table


def _formulas(models: Mapping[str, Model]) -> list[str]:
    """Return the formulas. They are below the table, because it has no room for them."""
    written = []
    for solver, model in models.items():
        formula, share = leading_of(model)
        averaged = "" if share > _ALONE else f" (has {percent(share, 2)} of the weight in a blend)"
        if formula:
            written.append(f"{solver}: {formula}{averaged}" if solver else f"{formula}{averaged}")
    return written


def _bounds(models: Mapping[str, Model]) -> list[str]:
    """Return for each model how many runs it knows only a lower bound of."""
    counts = {solver: model.training_.get("bounds", 0) for solver, model in models.items()}
    return [
        f"{f'{solver}: ' if solver else ''}"
        + ("1 run that hit the limit counts as a bound" if n == 1 else f"{n} runs that hit their limit count as bounds")
        for solver, n in counts.items()
        if n
    ]


def method_of(model: Model) -> str:
    """Return the name of a model's method, with the parts of a blend; the name of its class if it has no other."""
    return blend_of(model) if chose_itself(model) else _name_of(model)


def _name_of(model: Model) -> str:
    return str(getattr(model, "method", type(model).__name__))


def _learned_on(name: str, kind: Parameter) -> str:
    ends = bounds(kind)
    return f"{name} {span(*ends)}" if ends is not None else f"{name}: {kind.describe()}"


def _error_cell(model: Model, runs: Runs | None) -> str:
    errors = left_out_errors(model, runs) if runs is not None and len(runs.ok) else model.training_.get("left_out")
    return typical_error(errors["MLogQ"]) if errors else "–"


def _test_cells(model: Model, test: Runs | None) -> list[str]:
    if test is None or not len(test.ok):
        return ["–", "–"]
    return [typical_error(errors_of(model, test)["MLogQ"]), percent(_coverage(model, test, 0.9))]


def _coverage(model: Model, runs: Runs, level: float) -> float:
    measured, asked = measured_by_configuration(model, runs)
    lower, upper = quietly(model).interval(asked, level)
    return float(np.mean((lower <= measured) & (measured <= upper)))


def model_table(
    model: Model,
    runs: Runs | None = None,
    test: Runs | None = None,
    *,
    name: str = "",
    title: str = "",
    at: Mapping[str, Any] | None = None,
) -> Table:
    """Return a table of one model: formula, terms with their shares, training range, and all error metrics.

    Parameters
    ----------
    model : Model
        The fitted model.
    runs, test : Runs, optional
        The runs that the model was fitted to, and held-out runs.
    name, title : str
        The name of the solver, and the title above the table.
    at : mapping of str to float, optional
        The configuration at which the terms are ranked. By default, it is the upper end of the training range.

    Returns
    -------
    rich.table.Table
    """
    table = new_table(title or name)
    add_texts(table, "")
    sets = {"learned from": runs, "held out": test}
    given = {label: errors_of(model, one) for label, one in sets.items() if one is not None and len(one.ok)}
    left_out = left_out_errors(model, runs) if "learned from" in given and runs is not None else None
    if left_out is not None:
        given = {"learned from": given.pop("learned from"), "left out": left_out, **given}
    table.add_column("" if not given else next(iter(given)), overflow="fold")
    for label in list(given)[1:]:
        table.add_column(label, no_wrap=True)
    for key, value in _facts(model).items():
        add_row(table, key, value)
    for key, value in [*_candidates(model), *_terms(model, at)]:
        add_row(table, key, value)
    table.add_section()
    for metric in METRICS if given else ():
        add_row(table, metric, *(compact(errors[metric], 4) for errors in given.values()))
    return table


def _facts(model: Model) -> dict[str, str]:
    members = getattr(model, "members_", ())
    facts = {"method": method_of(model), "formula": "" if len(members) > 1 else formula_of(model)}
    facts["search"] = str(getattr(model, "search_", ""))
    facts |= {name: kind.describe() for name, kind in model.space_.parameters.items()}
    facts["rows learned from"] = str(model.training_.get("rows", model.n_runs_))
    return {key: value for key, value in facts.items() if value}


def _candidates(model: Model) -> list[tuple[str, str]]:
    """Return the candidates with the largest weights in a model's average, with these weights."""
    members = getattr(model, "members_", ())
    if len(members) < 2:
        return []
    shown = members[:_CANDIDATES]
    found = [(f"{percent(one.weight, 2)} {one.kind}", str(one.formula or "–")) for one in shown]
    if len(members) > len(shown):
        rest = sum(one.weight for one in members[_CANDIDATES:])
        found.append((f"{percent(rest, 2)} {len(members) - len(shown)} others", ""))
    return found


def _scale_of(model: Model, at: Mapping[str, Any] | None) -> dict[str, float]:
    """Return the configuration at which terms are ranked: `at`, completed by the upper ends of the training range."""
    known = {name: bounds(kind) for name, kind in model.space_.parameters.items()}
    upper = {name: ends[1] for name, ends in known.items() if ends is not None}
    strange = sorted(set(at or {}) - set(upper))
    if strange:
        raise InputError(
            f"terms can be ranked at values of {', '.join(upper) or 'no parameter'}, not of {strange[0]!r}"
        )
    return {**upper, **{name: float(value) for name, value in (at or {}).items()}}


def _terms(model: Model, at: Mapping[str, Any] | None) -> list[tuple[str, str]]:
    """Return the terms of the leading formula with their shares at a scale, and the one that dominates in the limit."""
    formula = _leading(model)
    if formula is None:
        return []
    scale = _scale_of(model, at)
    place = ", ".join(f"{name} = {compact(value)}" for name, value in scale.items())
    shares = formula.shares(scale)[:_CANDIDATES] if len(formula.terms) > 1 else []
    rows = [(f"{percent(share, 2)} at {place}", text) for text, share in shares]
    return [*rows, ("in the limit", formula.dominating())]


def models_as_dict(
    models: Mapping[str, Model],
    runs: Mapping[str, Runs] | None = None,
    test: Mapping[str, Runs] | None = None,
) -> dict[str, Any]:
    """Return the models' formulas, ranges and errors as plain values for JSON."""
    return {
        solver: {
            "method": _name_of(model),
            "choice": choice_as_dict(model) if chose_itself(model) else None,
            "formula": formula_of(model) or None,
            "leading_formula": leading_of(model)[0] or None,
            "candidates": [
                {"kind": one.kind, "weight": float(one.weight), "formula": str(one.formula) if one.formula else None}
                for one in getattr(model, "members_", ())
            ],
            "in_the_limit": formula.dominating() if (formula := _leading(model)) else None,
            "parameters": model.space_.to_dict()["parameters"],
            "response": dict(model.response_),
            "training": {name: plain(value) for name, value in model.training_.items() if name not in _STATES},
            "errors": _errors_or_none(errors_of, model, (runs or {}).get(solver)),
            "left_out_errors": _errors_or_none(left_out_errors, model, (runs or {}).get(solver)),
            "held_out_errors": _errors_or_none(errors_of, model, (test or {}).get(solver)),
        }
        for solver, model in models.items()
    }


def _leading(model: Model) -> Any:
    """Return the formula with the largest weight in an average, else the only formula; None if there is none."""
    return getattr(model, "leading_", None) or getattr(model, "formula_", None)


def _errors_or_none(
    judged: Callable[[Model, Runs], dict[str, float] | None], model: Model, runs: Runs | None
) -> dict[str, Any] | None:
    found: dict[str, Any] | None = plain(judged(model, runs)) if runs is not None and len(runs.ok) else None
    return found


# ---- predictions --------------------------------------------------------------------------------------------


def predictions_table(
    models: Mapping[str, Model],
    configurations: Configurations,
    *,
    level: float = 0.9,
    limit: float | None = None,
    title: str = "",
    times: TimeFormat = "unit",
) -> Table:
    """Return a table of predictions with their intervals, with a row per configuration and solver.

    Parameters
    ----------
    models : mapping of str to Model
        The model of each solver.
    configurations : DataFrame, dict of columns or array (n, n_parameters)
        The configurations to predict.
    level : float
        The probability of the interval.
    limit : float, optional
        The probability with which a time limit is enough; a column shows this limit.
    title : str, optional
        The title above the table.
    times : {"unit", "hms"}
        How times are written: as numbers in one unit for the whole table, or as ``HH:MM:SS``.

    Returns
    -------
    rich.table.Table
        A star marks configurations outside the training range, a cross those on which every run failed.
    """
    found = _predictions(models, configurations, level, limit)
    starred = any(row["extrapolated"] for row in found)
    failing = any(row.get("failed") for row in found)
    unknown = limit is not None and any(row["limit"] is None for row in found)
    told = [
        *(["* outside what was measured"] if starred else []),
        *(["✗ all runs there, or at the nearest values that were run, failed"] if failing else []),
        *(["–: so many of the repeated runs were stopped at their limit that it isn't known what is enough"] * unknown),
    ]
    parameters = list(dict.fromkeys(name for row in found for name in row["configuration"]))
    values = {name: list(dict.fromkeys(_cell(row["configuration"].get(name)) for row in found)) for name in parameters}
    if len(parameters) > _MOST_COLUMNS:  # what is the same in all rows stands above
        same = [name for name in parameters if len(values[name]) == 1]
        title = "\n".join(filter(None, [title, ", ".join(f"{name} = {values[name][0]}" for name in same)]))
        parameters = [name for name in parameters if name not in same]
    table = new_table(title, "; ".join(told))
    if len(models) > 1:
        add_texts(table, "solver")
    enough = [] if limit is None else [f"time limit,\nenough in {percent(limit)}"]
    add_numbers(table, *parameters, "prediction", f"{percent(level)} interval", *enough)
    for row in found:
        value, between = _value_and_interval(row, found, times)
        value += "*" if row["extrapolated"] else " " * starred
        value += " ✗" if row.get("failed") else "  " * failing
        cells = [_cell(row["configuration"].get(name)) for name in parameters]
        whose = [row["solver"]] if len(models) > 1 else []
        add_row(table, *whose, *cells, value, between, *([row["limit"] or "–"] if limit is not None else []))
    return table


def _value_and_interval(
    row: Mapping[str, Any], all_rows: Sequence[Mapping[str, Any]], times: TimeFormat
) -> tuple[str, str]:
    """Write a predicted value and its interval in the unit of all rows of the same quantity."""
    unit = row["unit"]
    if times == "hms" and unit == "s":
        return format_hms(row["value"]), f"{format_hms(row['lower'])} … {format_hms(row['upper'])}"
    factor, prefix = common_prefix([one["value"] for one in all_rows if one["unit"] == unit], unit)
    value = f"{in_unit(row['value'], factor)} {prefix}".rstrip()
    return value, f"{in_unit(row['lower'], factor, 3)} … {in_unit(row['upper'], factor, 3)} {prefix}".rstrip()


def predictions_as_dict(
    models: Mapping[str, Model], configurations: Configurations, *, level: float = 0.9, limit: float | None = None
) -> dict[str, Any]:
    """Return predictions as plain values for JSON, each with its unit, and with a time limit for a probability."""
    return {"level": level, "predictions": _predictions(models, configurations, level, limit)}


def _predictions(
    models: Mapping[str, Model], configurations: Configurations, level: float, limit: float | None
) -> list[dict[str, Any]]:
    found = []
    for solver, model in models.items():
        table = model.space_.frame(configurations)
        silent = quietly(model)
        value = silent.predict(table)
        lower, upper = silent.interval(table, level)
        enough = None if limit is None else _limits(solver, silent, table, limit)
        beyond, fails = model.extrapolates(table), outcomes_of(model).fail(table)
        for i, row in enumerate(table.to_dict("records")):
            found.append({
                "solver": solver, "configuration": plain(row), "quantity": model.response_["name"],
                "unit": model.response_["unit"], "value": float(value[i]), "lower": float(lower[i]),
                "upper": float(upper[i]), "extrapolated": bool(beyond[i]),
                **({"failed": bool(fails[i])} if fails.any() else {}), **({"limit": enough[i]} if enough else {}),
            })  # fmt: skip
    return found


def _limits(solver: str, model: Model, table: pd.DataFrame, probability: float) -> list[str | None]:
    if model.response_["unit"] != "s":
        raise InputError(f"a time limit needs a model of times, but {solver} predicts {model.response_['name']}")
    limits = model.upper(table, probability)
    return [time_limit(seconds) if np.isfinite(seconds) else None for seconds in limits]


def _cell(value: Any) -> str:
    if value is None:
        return ""
    return f"{value}" if isinstance(value, int) else compact(value, 6) if isinstance(value, float) else str(value)
