"""``evenly predict``: how long configurations take."""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from evenly.cli import options as opt
from evenly.cli import parsing
from evenly.cli.cell_input import MeepScript
from evenly.cli.console import note, out, print_json, save_table, silence
from evenly.cli.core_counts_input import Counts, asking, predict_counts, refuse_without_cores
from evenly.cli.fdtd_options import What
from evenly.cli.forecast_input import Unrun, predict_unrun, refuse_unrun
from evenly.cli.run_input import Learned, check_parameters, known_rows, learn
from evenly.errors import ExtrapolationWarning, InputError

if TYPE_CHECKING:
    import pandas as pd

    from evenly.models.base import Model


def predict(
    path: opt.OptionalPaths = None,
    at: opt.At = None,
    file: Annotated[
        Path | None,
        typer.Option("--file", help="A CSV file of configurations, one per row; a column may name the solver of each."),
    ] = None,
    save: Annotated[Path | None, typer.Option("--save", "-o", help="Save the predictions as CSV.")] = None,
    level: opt.Level = 0.9,
    counts: Counts = Counts(),
    limit: opt.Limit = None,
    unrun: Unrun = Unrun(),
    what: What = What(),
    meep: MeepScript = MeepScript(),
    learning: opt.Learning = opt.Learning(),
    reading: opt.Reading = opt.Reading(),
    pictures: opt.Pictures = opt.Pictures(),
    times: Annotated[
        Literal["unit", "hms"], typer.Option("--times", help="Write times in one unit, or as HH:MM:SS: hms.")
    ] = "unit",
    json: opt.Json = False,
) -> None:
    """Predict how long configurations take, with intervals, from saved models or straight from measurements.

    With --cores: on how many cores a job should run, what that takes and costs, and where more cores stop paying. With
    --simulation: the same of a simulation that nobody has run, on numbers of ranks of a machine.
    """
    if unrun.simulation is not None:
        given = [*(["PATH"] if path else []), *(["--at"] if at else []), *(["--file"] if file else [])]
        given += [*(["--limit"] if limit else []), *opt.typed(learning), *opt.typed(reading)]
        if given:
            raise InputError(f"{given[0]} can't be used with --simulation: it needs no measurements")
        predict_unrun(unrun, counts, what, meep, level, pictures, save, json=json)
        return
    refuse_unrun(unrun, what, meep, pictures)
    if not path:
        raise InputError("give measurement files or a saved model as PATH, or a simulation with --simulation")
    if counts.cores is not None:
        _predict_counts(path, at, file, counts, level, save, learning, reading, times, limit, json=json)
        return
    refuse_without_cores(counts)
    asked = _asked(at, file)
    if save is not None:
        opt.check_writable(save, "predictions", read=[*path, *([file] if file else [])])
    silence(ExtrapolationWarning)  # a star marks it
    named = [] if at is None else list(map(str, asked.columns))
    learned = learn(path, reading, learning, accept=asking(named, counts, learning.train) if named else None)
    check_parameters(named, learned)
    parts = _parts(learned, _with_constants(known_rows(asked, learned), learned), reading.solver)
    for part in parts:
        for name, model in part.models.items():
            for said in model.stand_ins(part.rows):
                note(f"{name}: {said}" if name else said)
    if save is not None:
        _save(_predicted(parts, level, limit), save)
    if json:
        print_json({"level": level, "predictions": _predicted(parts, level, limit)})
    else:
        _show(parts, level, limit, times)
        _tell_method(parts, level)
        _tell_scatter(parts, level, limit)


def _predict_counts(
    path: list[Path], at: list[str] | None, file: Path | None, counts: Counts, level: float, save: Path | None,
    learning: opt.Learning, reading: opt.Reading, times: Literal["unit", "hms"], limit: float | None,
    *, json: bool,
) -> None:  # fmt: skip
    if file is not None:
        raise InputError("--file can't be used with --cores: give the values of other parameters with --at")
    if save is not None:
        opt.check_writable(save, "predictions", read=path)
    silence(ExtrapolationWarning)  # a star marks it
    counts.goal(counts.described().currency)  # what can't be read is refused before anything is learned
    named = list(parsing.pairs(at or [], "--at"))
    learned = learn(path, reading, learning, accept=asking(named, counts, learning.train))
    check_parameters(named, learned)
    predict_counts(learned, counts, at, level, save, times=times, limit=limit, json=json)


def _with_constants(asked: pd.DataFrame, learned: Learned) -> pd.DataFrame:
    """Add the parameters that never varied, and say so."""
    from evenly.runs.cores import constants

    found: dict[str, set[Any]] = {}
    for model in learned.models.values():
        for name, value in constants(model.space_, but=list(map(str, asked.columns))).items():
            found.setdefault(name, set()).add(value)
    only = {name: values.pop() for name, values in found.items() if len(values) == 1}
    if only:
        note(f"{', '.join(f'{name} = {value}' for name, value in only.items())}, as in all measurements")
    return asked.assign(**only)


@dataclass(frozen=True)
class _Part:
    """Rows that are asked of some models."""

    models: dict[str, Model]
    rows: pd.DataFrame
    solver: str = ""


def _parts(learned: Learned, asked: pd.DataFrame, given: str | None) -> list[_Part]:
    """Ask each row only of the solver that it names, where a column names solvers; else of all."""
    models = learned.models
    column = _solver_column([*models, *learned.left_out], models, asked, given)
    parameters = {name for model in models.values() for name in model.space_.names}
    if unused := [str(name) for name in asked.columns if name not in parameters and name != column]:
        note(f"not used, since no model has such a parameter: {', '.join(unused)}")
    if column is None:
        return [_Part(models, asked)]
    asked = asked[~asked[column].astype(str).isin(learned.left_out)]
    if not len(asked):
        raise InputError(f"no row of --file is left: those of {', '.join(learned.left_out)} are left out")
    names = asked[column].astype(str)
    for name in names.unique():
        parsing.one_of(name, models, f"the column {column!r} of --file")
    left = asked.drop(columns=column)
    return [_Part({name: models[name]}, left[names == name], name) for name in names.unique()]


def _solver_column(solvers: list[str], models: dict[str, Model], asked: pd.DataFrame, given: str | None) -> str | None:
    from evenly.readers.tables.columns import SOLVER_NAMES

    if given not in (None, "*"):  # a * stands for names of columns of the measurements
        return parsing.one_of(str(given), map(str, asked.columns), "--solver")
    parameters = {name for model in models.values() for name in model.space_.names}
    free = [name for name in asked.columns if name not in parameters]
    named = [
        name for name in free if name.strip().lower() in SOLVER_NAMES and asked[name].astype(str).isin(solvers).any()
    ]
    return named[0] if named else None


def _predicted(parts: list[_Part], level: float, limit: float | None) -> list[dict[str, Any]]:
    """Return all predictions, those of rows that name their solver in the order of the rows."""
    from evenly.report.tables.model import predictions_as_dict

    found = [predictions_as_dict(part.models, part.rows, level=level, limit=limit)["predictions"] for part in parts]
    if len(parts) == 1:
        return list(found[0])
    numbered = [
        pair for part, rows in zip(parts, found, strict=True) for pair in zip(part.rows.index, rows, strict=True)
    ]
    return [row for _, row in sorted(numbered, key=lambda pair: int(pair[0]))]


def _show(parts: list[_Part], level: float, limit: float | None, times: Literal["unit", "hms"]) -> None:
    from evenly.report.tables.model import predictions_table

    for part in parts:
        shown = predictions_table(part.models, part.rows, level=level, limit=limit, title=part.solver, times=times)
        out.print(shown)


def _tell_method(parts: list[_Part], level: float) -> None:
    """Say where a model misses its own runs, or predicts the end of an interval."""
    from evenly.models.learned import told_at_edge, told_missed

    for part in parts:
        for name, model in part.models.items():
            edge = told_at_edge(model, model.predict(part.rows), *model.interval(part.rows, level))
            for told in filter(None, (told_missed(model), edge)):
                note(f"{name}: {told}")


def _tell_scatter(parts: list[_Part], level: float, limit: float | None) -> None:
    """Say where single runs scatter more than the medians of repeated ones, for which the intervals hold."""
    from evenly.models.uncertainty.single_runs import SCATTERS
    from evenly.report.formatting import quantity

    probability = (1 + level) / 2 if limit is None else limit
    for part in parts:
        for name, model in part.models.items():
            if "single_runs" not in model.training_ or model.response_["name"] != "seconds":
                continue
            upper, single = model.interval(part.rows, 2 * probability - 1)[1], model.upper(part.rows, probability)
            far = int((single / upper).argmax())
            if single[far] <= SCATTERS * upper[far]:
                continue
            share, statistic = f"{100 * probability:.0f} %", model.training_["statistic"]
            told = f"{share} of them end within {quantity(single[far])}"
            if not math.isfinite(single[far]):
                told = f"so many were stopped at their limit that it isn't known when {share} of them end"
            if limit is None:
                note(
                    f"{name}: the interval is that of the {statistic} of repeated runs, and ends at "
                    f"{quantity(upper[far])}. Single runs scatter more: {told} (--limit)"
                )
            else:
                note(
                    f"{name}: the limit is for single runs. They scatter more than the {statistic} of repeated runs: "
                    f"{told}; {share} of such {statistic}s end within {quantity(upper[far])}. If something disturbed "
                    "runs, leave them out of the table"
                )


def _save(predictions: list[dict[str, Any]], path: Path) -> None:
    import pandas as pd

    rows = [{**row.pop("configuration"), **row} for row in predictions]
    save_table(pd.DataFrame(rows), path, "predictions")


def _asked(at: list[str] | None, file: Path | None) -> pd.DataFrame:
    import numpy as np
    import pandas as pd

    from evenly.readers.files import lines
    from evenly.readers.tables.delimited import parse
    from evenly.readers.tables.number_texts import numbers

    if (at is None) == (file is None):
        raise InputError("give the configurations either with --at, as --at cores=64,128, or with --file table.csv")
    if file is None:
        return pd.DataFrame(parsing.configurations(at or []))
    table = parse(file, lines(file))
    if table.cut:
        raise InputError(f"{file}: {table.cut}")
    columns = {name: (cells, numbers(file, str(name), cells, table.lines)) for name, cells in table.frame.items()}
    return pd.DataFrame(
        {name: values if np.isfinite(values).all() else cells for name, (cells, values) in columns.items()}
    )
