"""Runs and models from a path on the command line: reads runs, reports skipped files, fits with a progress bar."""

from __future__ import annotations

import dataclasses
import math
import re
import shlex
import warnings
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from evenly.cli import parsing
from evenly.cli.console import loss, note, note_once_per_text, progress
from evenly.cli.failed_runs import tell_failed
from evenly.cli.input_paths import holds_models, name_of, own_name, why_unread
from evenly.cli.lone_row_input import tell_how_to_leave_out
from evenly.cli.options import Learning, Reading, typed
from evenly.cli.search_options import check_taken, tell_without_effect
from evenly.cli.timing_settings import check_one_case
from evenly.errors import InputError, option_text

if TYPE_CHECKING:
    import pandas as pd

    from evenly.models.base import Model
    from evenly.models.ensemble.prior import Prior
    from evenly.readers import Measurements
    from evenly.runs.runs import Runs
    from evenly.space.parameters import Parameter

#: The column that readers of profiles name regions in.
_REGION = "region"

__all__ = [
    "Learned", "check_parameters", "known_rows", "known_values", "learn", "learn_from", "measurements",
    "one_program", "split", "step_days_of", "tell_about",
]  # fmt: skip


@dataclass(frozen=True)
class Learned:
    """Models by solver, with what they were learned from and tested on where that is known.

    `unnamed` tells that the only solver has its name from its file; `left_out` are solvers that the user doesn't want.
    """

    models: dict[str, Model]
    runs: dict[str, Runs] = field(default_factory=dict)
    test: dict[str, Runs] = field(default_factory=dict)
    found: Measurements | None = None
    unnamed: bool = False
    left_out: tuple[str, ...] = ()


def measurements(paths: Sequence[Path], reading: Reading) -> Measurements:
    """Read `paths`, report skipped files, and keep the solvers that the user wants.

    A solver that no file names gets the name of the first path that was read.
    """
    found = _measured(paths, reading)
    return dataclasses.replace(found, runs={name: found.runs[name] for name in reading.chosen(found.runs)})


def one_program(path: Path, reading: Reading) -> Runs:
    """Read the runs of one program, and report skipped files and guesses.

    Raises
    ------
    InputError
        If there are several programs' runs.
    """
    found = measurements([path], reading)
    tell_about(found)
    if len(found.runs) > 1:
        raise InputError(
            f"runs of one program are needed, but {path} has those of {', '.join(found.runs)}: choose one with --only, "
            "or name all columns that were varied with --parameters where these are values of a parameter"
        )
    return next(iter(found.runs.values()))


def _measured(
    paths: Sequence[Path], reading: Reading, solver_column: Callable[[Measurements], str | None] | None = None
) -> Measurements:
    from evenly.readers import scan

    if saved := [path for path in paths if holds_models(path)]:
        raise InputError(f"{saved[0]} holds models, not measurements: give it to predict, allocate, fit or plot, alone")
    found = scan(list(paths), **reading.arguments())
    if solver_column is not None and (column := solver_column(found)) is not None:
        found = scan(list(paths), **reading.arguments() | {"solver": column})
    for skipped in found.skipped:
        if not skipped.benign:
            loss(f"left out: {skipped}")
    for path in found.unread:
        if not any(skipped.path.is_relative_to(path) for skipped in found.lost):
            loss(f"left out: {path}: {why_unread(path, found)}")
    its = own_name(paths, found)
    return dataclasses.replace(found, runs={name or its: runs for name, runs in found.runs.items()})


def tell_about(found: Measurements, response: str | None = None) -> None:
    """Report guesses made while reading, but for those that ``--learn`` answers, and texts beside the files."""
    from evenly.readers.beside import lines_of_text
    from evenly.readers.tables.remarks import unused_lines

    notes = [said for said in found.notes if response is None or f"--learn {response} " not in said]
    note_once_per_text(notes, [path for path, _ in found.sources])
    lines = [line for path in found.beside for line in lines_of_text(path)]
    # Beside the logs of one program lie all kinds of texts.
    may_tell = len(found.runs) > 1 or any(name == "table" for _, name in found.sources)
    if may_tell and (unused := unused_lines(lines, beside="the files")):
        note(unused)


def learn(
    paths: Sequence[Path],
    reading: Reading,
    learning: Learning,
    arguments: Callable[[Runs, Collection[str]], dict[str, Any]] | None = None,
    *,
    accept: Callable[[list[str], Measurements | None], None] | None = None,
    others: Sequence[str] = (),
    each: str | None = None,
    step_days: float | None = None,
    any_days: bool = False,
    solver_column: Callable[[Measurements], str | None] | None = None,
) -> Learned:
    """Load the models in a ``.evenly`` file, or read measurements and fit one model per solver, or per value of `each`.

    `arguments` gives further arguments of a method for runs, knowing the names of those that it takes. `accept` is
    called with the solvers, and what was read of them, before any is fitted. `others` are options that don't suit
    models that are there already. Where times tell that they are of different simulated days, or some don't tell it,
    all are made those of `step_days`; if all tell it, and nothing that was asked depends on it (`any_days`), those of
    one day. `solver_column` may find a column with the names of solvers in what was read, as those of one program: it
    is read anew by that.
    """
    from evenly.models.registry import method_names
    from evenly.readers.days_of_a_step import of_so_many_days, tells_all_days

    if learning.method is not None:
        parsing.one_of(learning.method, method_names(), "--method")
    if len(paths) == 1 and holds_models(paths[0]):
        loaded = _load(paths[0], reading, [*typed(reading), *typed(learning), *others], accept)
        return _with_unseen(loaded, learning)
    found = _measured(paths, reading, solver_column)
    if step_days is None and any_days and tells_all_days(found):
        step_days = 1.0
    found = found if step_days is None else of_so_many_days(found, step_days)
    tell_about(found, learning.response)
    check_one_case(found)
    chosen = reading.chosen(found.runs)
    if accept is not None:
        accept(chosen, found)
    runs = {name: found.runs[name] for name in chosen}
    learned = learn_from(runs, learning, arguments, each=each, found=found, reading=reading)
    for model in learned.models.values() if step_days is not None else ():
        model.training_["days"] = step_days
    left_out = tuple(name for name in found.runs if name not in chosen)
    unnamed = each is None and list(found.runs) == [own_name(paths, found)]
    return dataclasses.replace(learned, found=found, unnamed=unnamed, left_out=left_out)


def learn_from(
    runs: dict[str, Runs],
    learning: Learning,
    arguments: Callable[[Runs, Collection[str]], dict[str, Any]] | None = None,
    *,
    each: str | None = None,
    found: Measurements | None = None,
    reading: Reading = Reading(),
) -> Learned:
    """Fit one model per solver, or per value of `each`, to the runs that ``--train`` leaves.

    `reading` says how the measurements of ``--like`` are read.
    """
    if learning.response is not None:
        measured = dict.fromkeys(quantity for one in runs.values() for quantity in one.quantities)
        parsing.one_of(learning.response, measured, "--learn")
    train, test = split(runs, learning.train)
    tell_failed(train, learning.response)
    if each is not None and learning.like is not None:
        raise InputError("--each learns many laws, and --like is for one model per solver: leave one of them out")
    if each is not None:
        return _with_unseen(_learn_each(each, train, learning, arguments), learning)
    if any(_REGION in one.parameters for one in train.values()):
        note(f"{_REGION!r} is one of the parameters here: evenly fit --each {_REGION} learns one law for each")
    priors = {} if learning.like is None else known_before(learning.like, list(train), learning, reading)
    _check_constants(priors, train, found)
    models = {solver: _fit(solver, one, learning, arguments, priors.get(solver)) for solver, one in train.items()}
    tell_how_to_leave_out(models, train, found, reading.where)
    _note_per_worker(models, found)
    return _with_unseen(Learned(models, train, test, found), learning)


def _with_unseen(learned: Learned, learning: Learning) -> Learned:
    """Set what is done about labels that no run has, where ``--unseen`` says it."""
    if learning.unseen is not None:
        for model in learned.models.values():
            model.unseen = learning.unseen
    return learned


def _check_constants(priors: Mapping[str, Prior], runs: Mapping[str, Runs], found: Measurements | None) -> None:
    """Refuse runs in which a parameter that the model of ``--like`` knows has one value, and so isn't a parameter."""
    constant = [one.name for one in (() if found is None else found.columns) if one.role == "constant"]
    for solver, prior in priors.items():
        if names := [name for name in prior.missing(runs[solver].space) if name in constant]:
            all_names = ",".join([*runs[solver].parameters, *names])
            raise InputError(
                f"{prior.name} learned how the time depends on {names[0]!r}, which is the same in all runs here: name "
                f"it among the parameters, with {option_text('--parameters', all_names)}"
            )


def _note_per_worker(models: Mapping[str, Model], found: Measurements | None) -> None:
    """Say, and keep with the models, that a size was the same for each worker: the runs lack columns of one value.

    Who names the parameters is believed that all workers together did the same work.
    """
    from evenly.readers.tables.roles import NAMED, is_result
    from evenly.runs.weak_scaling import is_per_worker

    columns = () if found is None else found.columns
    if found is not None and not any(one.why == NAMED for one in columns):
        for model in models.values():
            model.training_["work_is_open"] = True
    if any(one.why == NAMED for one in columns):
        sizes = [one for one in columns if is_per_worker(one.name) and not is_result(one.name)]
        if each := [one.name for one in sizes if one.role in ("parameter", "constant", "left out")]:
            note(f"{' and '.join(each)}: taken for a setting (--parameters), so any number of cores does the same work")
            for model in models.values():
                model.training_["same_work"] = True
        return
    if each := [one.name for one in columns if one.role == "constant" and is_per_worker(one.name)]:
        note(f"{' and '.join(each)}: the same in all runs (weak scaling), so more cores do more work")
        for model in models.values():
            model.training_["per_worker"] = each


def _learn_each(
    each: str,
    runs: dict[str, Runs],
    learning: Learning,
    arguments: Callable[[Runs, Collection[str]], dict[str, Any]] | None,
) -> Learned:
    """Fit one model per value of a column; solvers are kept apart."""
    from evenly.models.fitting import fit
    from evenly.models.registry import model_class
    from evenly.runs.grouping import by_value, constants

    if learning.factors:
        raise InputError("--factor splits one time into parts, and --each learns many: leave one of them out")
    parts = by_value(runs, each)
    fixed = {name: value for one in runs.values() for name, value in constants(one).items() if name != each}
    if fixed:
        note("the same in all runs, so nothing is learned about " + ", ".join(f"{n} = {x}" for n, x in fixed.items()))
    known = list(model_class(learning.method or "pmnf").default_arguments())
    given = arguments(next(iter(parts.values())), known) if arguments else {}
    check_taken(learning.method or "pmnf", given, known)
    with progress(f"learning one law for each {each}") as done:
        models = fit(
            runs, each=each, method=learning.method, statistic=learning.statistic, effort=learning.effort,
            response=learning.response, outliers=learning.outliers, done=done, **given,
        )  # fmt: skip
    tell_without_effect(models, given)
    return Learned(models, {name: part for name, part in parts.items() if name in models})


def _load(
    path: Path,
    reading: Reading,
    options: Sequence[str],
    accept: Callable[[list[str], Measurements | None], None] | None,
) -> Learned:
    from evenly.models.storage import load

    useless = [option for option in options if option not in ("--only", "--without", "--unseen")]
    if useless:
        raise InputError(
            f"{path} holds models that are fitted already, so {', '.join(useless)} can't change them: leave that out, "
            "or give the measurements to fit them anew"
        )
    loaded = load(path)
    models = loaded if isinstance(loaded, dict) else {name_of(path): loaded}
    chosen = reading.chosen(models)
    if accept is not None:
        accept(chosen, None)
    left_out = tuple(name for name in models if name not in chosen)
    return Learned({name: models[name] for name in chosen}, left_out=left_out)


def known_values(values: Mapping[str, Any], learned: Learned) -> dict[str, Any]:
    """Return values of ``--at`` with numbers for parameters that are numbers.

    1.10 may be one, or a version; 4M is one as evenly itself writes it, and 512x256 the points of a grid.
    Labels and names may be typed in other capitals: `true` is what a table calls True. A mapping holds the values of
    one solver.
    """
    labels, known = _labels(learned), _names(learned)
    values = {parsing.spelled(name, known): value for name, value in values.items()}
    return {
        name: known_values(value, learned) if isinstance(value, Mapping)
        else _label(value, labels[name]) if name in labels else _number(value)
        for name, value in values.items()
    }  # fmt: skip


def known_rows(rows: pd.DataFrame, learned: Learned) -> pd.DataFrame:
    """Return configurations with numbers for parameters that are numbers, as `known_values`.

    Parameters that change nothing get any value if none is asked for.
    """
    labels, known = _labels(learned), _names(learned)
    meant = {name: parsing.spelled(name, known) for name in map(str, rows.columns)}
    rows = rows.rename(columns={name: new for name, new in meant.items() if new not in rows})
    texts = [name for name in map(str, rows.columns) if name not in labels and rows[name].dtype == object]
    rows = rows.assign(**{name: [_number(value) for value in rows[name]] for name in texts})
    named = [name for name in map(str, rows.columns) if name in labels]
    rows = rows.assign(**{name: [_label(value, labels[name]) for value in rows[name]] for name in named})
    for model in learned.models.values():
        for name in model.training_.get("without_effect", ()):  # nobody needs to say what doesn't matter
            if name not in rows:
                rows = rows.assign(**{name: _any_value(model.space_.parameters[name])})
    return rows


def _any_value(kind: Parameter) -> Any:
    from evenly.space.parameters import Categorical
    from evenly.space.ranges import ends

    return kind.options[0] if isinstance(kind, Categorical) else ends(kind)[0]


def _labels(learned: Learned) -> dict[str, list[Any]]:
    """Return the parameters of all models that are labels, with their values."""
    from evenly.space.parameters import Categorical

    found: dict[str, list[Any]] = {}
    for model in learned.models.values():
        for name, kind in model.space_.parameters.items():
            if isinstance(kind, Categorical):
                found.setdefault(name, []).extend(kind.options)
    return found


def _label(value: Any, options: Sequence[Any]) -> Any:
    """Return the label that is written like a value, but for capitals; the value itself if there is none, or several.

    Examples
    --------
    >>> _label(True, ["true", "false"]), _label("GCC", ["gcc", "icc"]), _label("1", [1, 2])
    ('true', 'gcc', 1)
    """
    if isinstance(value, list):
        return [_label(one, options) for one in value]
    if any(value == option and type(value) is type(option) for option in options):
        return value
    alike = list(dict.fromkeys(option for option in options if str(option).lower() == str(value).lower()))
    return alike[0] if len(alike) == 1 else value


def _number(value: Any) -> Any:
    from evenly.readers.tables.number_texts import number
    from evenly.readers.tables.products import PRODUCT

    if isinstance(value, list):
        return [_number(one) for one in value]
    if not isinstance(value, str):
        return value
    if PRODUCT.fullmatch(value):  # a grid of 512x512x256 points
        return math.prod(map(int, re.findall(r"\d+", value)))
    read = number(value)
    return value if math.isnan(read) else read


def check_parameters(names: Iterable[str], learned: Learned) -> None:
    """Refuse names in ``--at`` that are parameters of none of the models, or of none of the runs before these."""
    known = _names(learned)
    columns = () if learned.found is None else learned.found.columns
    there = {column.name for column in columns}
    for name in (name if name in there else parsing.spelled(name, known) for name in names):
        if name not in known and any(column.name == name and column.role == "solver" for column in columns):
            first = shlex.quote(next(iter(learned.models or learned.runs)))
            raise InputError(
                f"{name!r} tells the programs apart, so that each has a model of its own: choose one with --only, as "
                f"--only {first}, or learn it as one parameter more, with "
                f"{option_text('--parameters', ','.join([*known, name]))}"
            )
        if name not in known and (why := next((one.why for one in columns if one.name == name), "")):
            hint = "leave it out, the others tell it" if why.endswith("all runs") else f"there are {', '.join(known)}"
            raise InputError(f"--at names {name!r}, which is no parameter here ({why}): {hint}")
        parsing.one_of(name, known, "the parameter that --at names")


def _names(learned: Learned) -> list[str]:
    """Return the parameters of all models, or of the runs before there are models."""
    spaces = [model.space_ for model in learned.models.values()] or [runs.space for runs in learned.runs.values()]
    return list(dict.fromkeys(name for space in spaces for name in space.names))


def split(runs: dict[str, Runs], condition: str | None) -> tuple[dict[str, Runs], dict[str, Runs]]:
    """Return training and test runs per solver; without a condition all is for training."""
    if condition is None:
        return dict(runs), {}
    halves = {solver: one.split(condition) for solver, one in runs.items()}
    empty = [solver for solver, (train, _) in halves.items() if not len(train)]
    if empty:
        whose = f" for {empty[0]}" if empty[0] else ""
        raise InputError(
            f"--train {condition!r} leaves no runs to learn from{whose}: choose a condition that some runs meet"
        )
    return {s: train for s, (train, _) in halves.items()}, {s: test for s, (_, test) in halves.items() if len(test)}


def known_before(path: Path, solvers: Sequence[str], learning: Learning, reading: Reading) -> dict[str, Prior]:
    """Load, or learn, the model of another machine, version or resolution for each solver.

    Where both have one solver only, names don't matter.
    """
    from evenly.models.ensemble.prior import Prior

    general = dataclasses.replace(learning, like=None, method=None, factors=None, train=None)
    if holds_models(path):
        known = _load(path, Reading(), (), None).models
    else:
        alike = dataclasses.replace(
            reading, parameters=None, constants=None, where=None, only=None, without=None
        )  # these are about the runs at hand
        found = _measured([path], alike)
        tell_about(found)
        known = {name: _fit(name, runs, general, None) for name, runs in found.runs.items()}
    if len(known) == len(solvers) == 1:
        return {solvers[0]: Prior(next(iter(known.values())), path.name)}
    if missing := [solver for solver in solvers if solver not in known]:
        raise InputError(
            f"{path} knows {', '.join(known)}, but {missing[0]} is to be learned like it: choose solvers that both "
            "have with --only, or give a model of one solver for one solver"
        )
    return {solver: Prior(known[solver], f"{path.name} ({solver})") for solver in solvers}


def _fit(
    solver: str,
    runs: Runs,
    learning: Learning,
    arguments: Callable[[Runs, Collection[str]], dict[str, Any]] | None,
    prior: Prior | None = None,
) -> Model:
    from evenly.models.fitting import default_method, fit
    from evenly.models.registry import model_class

    method = learning.method
    factors = parsing.pairs(learning.factors, "--factor") if learning.factors else {}
    if factors:
        method = method or "factorized"
    if factors and prior is not None:
        raise InputError("--factor is for --method factorized, and --like for a blend: leave one of them out")
    chosen = "auto" if prior is not None else method or default_method(runs)
    known = list(model_class(chosen).default_arguments())
    if factors and "factors" not in known:
        raise InputError(f"--factor is for --method factorized, but {method} is asked for")
    given = arguments(runs, known) if arguments else {}
    check_taken(chosen, given, known)
    with progress(f"learning {solver or method or 'a model'}") as done:
        if chosen == "auto":
            _tell_first_answer(solver, runs, learning)
        told: dict[str, Any] = {"progress": done} if "progress" in known else {}
        told |= {"factors": factors} if factors else {}
        model = fit(
            {solver: runs}, method=method, statistic=learning.statistic, effort=learning.effort,
            response=learning.response, outliers=learning.outliers, prior=prior, **told, **given,
        )[solver]  # fmt: skip
    tell_without_effect({solver: model}, given)
    return model


def _tell_first_answer(solver: str, runs: Runs, learning: Learning) -> None:
    """Tell what a law alone makes of the runs, which takes a moment, before better methods are tried."""
    from evenly.models.fitting import fit
    from evenly.report.formatting import typical_error
    from evenly.report.left_out_errors import left_out_errors

    try:
        with warnings.catch_warnings(action="ignore"):  # the methods that come warn
            law = fit(
                runs, method="log-quadratic", statistic=learning.statistic, response=learning.response, outliers="keep"
            )
    except InputError:
        return  # the methods that come say why
    errors = left_out_errors(law, runs)
    if errors is not None:
        note(
            f"trying better methods than a simple law{f' for {solver}' if solver else ''}: log-quadratic alone misses "
            f"left-out runs by {typical_error(errors['MLogQ'])} (--method log-quadratic stops there)"
        )


def step_days_of(learned: Learned) -> float | None:
    """Return the days that a step simulates, where the times of all solvers tell the same; saved models keep them."""
    found = learned.found
    runs = [] if found is None else found.runs.values()
    days = {one.days for one in runs} or {model.training_.get("days") for model in learned.models.values()}
    return days.pop() if len(days) == 1 else None
