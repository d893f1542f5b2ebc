"""On how many cores a program should run: `recommend` asks a model for many counts and chooses one by a goal.

The simulation that nobody has run has the same question: `evenly.forecast` answers it with the same goals.
"""

from __future__ import annotations

import dataclasses
import itertools
import math
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from evenly.arguments import explained
from evenly.core_counts.by_cores import check_whole, ways
from evenly.core_counts.failures import outcomes_of, told_counts, told_failed
from evenly.core_counts.goal import LOOKED_AT, Choice, Goal, Knee, counts_like, time_words
from evenly.core_counts.one_size import (
    check_one_size,
    check_varied,
    doubt_one_size,
    measured_range,
    only_cores_varied,
)
from evenly.core_counts.other_parameters import unvaried
from evenly.errors import ExtrapolationWarning, InfeasibleError, InputError
from evenly.machine.machine import Machine
from evenly.models.base import Model
from evenly.models.learned import told_at_edge, told_missed
from evenly.models.uncertainty.single_runs import SCATTERS
from evenly.runs.cores import Cores, constants, find_cores
from evenly.runs.count_names import kind_of
from evenly.runs.durations import common_unit
from evenly.runs.runs import Runs
from evenly.showing import Shown
from evenly.space.parameters import Categorical
from evenly.space.ranges import ends, learned_on

__all__ = ["Recommendation", "recommend"]

#: From so many repeated steps on, their mean is told if it is so much longer than their median.
_STEPS, _SKEW = 5, 1.03


@dataclass(frozen=True, repr=False)
class Recommendation(Shown):
    """The recommended number of cores, what it takes, and what speaks for others.

    Parameters
    ----------
    curve : DataFrame
        A row for each number of cores. Columns: ``cores``; the parameters that make it, where they are others; seconds
        of one run or step as measured, ``step_s``, with its interval ``lower_s``, ``upper_s``; of the whole job
        ``run_s``, ``run_lower_s``, ``run_upper_s``; ``efficiency`` against the smallest measured count; ``core_hours``
        with ``core_hours_lower``, ``core_hours_upper``; ``money`` if the machine has a price; ``extrapolated``;
        ``measured``: whether a run with this configuration ended well;
        ``failed`` where every run on some of the counts failed; and
        ``limit_s`` where a time limit was asked for: infinite where it isn't known. ``run_latest_s`` is the upper bound
        of a single run, which a deadline must allow: runs scatter more than the medians of repeated ones.
    choice : Choice
        The recommended count and why, the knee, and the runner-up.
    steps : float
        How many runs or steps the job has.
    machine : Machine
    notes : tuple of str
        What was assumed.
    level : float
        Probability of the intervals.
    limit : float, optional
        Probability with which the time limits are enough, where they were asked for.
    goal : Goal, optional
        What the count is for; by default what pays.
    at : mapping of str to value
        The values of the other parameters that were asked for.
    """

    curve: pd.DataFrame
    choice: Choice
    steps: float
    machine: Machine
    notes: tuple[str, ...] = ()
    level: float = 0.9
    limit: float | None = None
    goal: Goal | None = None
    at: Mapping[str, Any] = dataclasses.field(default_factory=dict)

    def __repr__(self) -> str:
        return f"<Recommendation: {self.cores} cores, {self.why}>"

    @property
    def cores(self) -> int:
        """The recommended number of cores."""
        return self.choice.count

    @property
    def why(self) -> str:
        """The reason, in one sentence."""
        return self.choice.why

    @property
    def best(self) -> dict[str, Any]:
        """The row of `curve` for the recommended number of cores."""
        row = self.curve[self.curve["cores"] == self.cores].iloc[0]
        return {str(name): value for name, value in row.items()}

    @property
    def seconds(self) -> float:
        """Predicted seconds of the whole job on the recommended cores."""
        return float(self.best["run_s"])

    @property
    def interval(self) -> tuple[float, float]:
        """Interval of `seconds`."""
        return float(self.best["run_lower_s"]), float(self.best["run_upper_s"])

    @property
    def time_unit(self) -> tuple[float, str]:
        """Seconds and name of the unit of all times of whole jobs, in tables, sentences and pictures."""
        return common_unit(self.curve["run_s"], self.seconds)

    @property
    def core_hours(self) -> float:
        """Core-hours of the whole job."""
        return float(self.best["core_hours"])

    @property
    def extrapolated(self) -> bool:
        """Whether the recommended count lies outside what was measured."""
        return bool(self.best["extrapolated"])

    @property
    def knee(self) -> Knee:
        """Where more cores stop paying."""
        return self.choice.knee

    @property
    def runner_up(self) -> int | None:
        """The next best count, if there is one."""
        return self.choice.runner_up

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain values, for JSON."""
        recommended = {"cores": self.cores, "why": self.why, "extrapolated": self.extrapolated}
        rows = self.curve.to_dict("records")
        for row in rows:
            for name in ("limit_s", "run_latest_s"):
                if not row.get(name, 0) < np.inf:
                    row[name] = None
        return {
            "source": "model", "steps": self.steps, "recommended": recommended, **self.choice.to_dict(),
            "notes": list(self.notes), "rows": rows,
        }  # fmt: skip


@explained
def recommend(
    model: Model,
    cores: Sequence[int],
    *,
    cores_are: str | None = None,
    at: Mapping[str, Any] | None = None,
    measured: Runs | None = None,
    goal: Goal | None = None,
    steps: float | None = None,
    machine: Machine | None = None,
    level: float = 0.9,
    limit: float | None = None,
) -> Recommendation:
    """Recommend a number of cores for the program that a model was learned from.

    Parameters
    ----------
    model : Model
        A fitted model of seconds.
    cores : sequence of int
        The counts to look at. Of a `range` of all numbers between two, about four per octave are looked at; more, if
        none of these meets the goal.
    cores_are : str, optional
        What the cores are, as an expression of the parameters: ``"nodes * tasks_per_node"``. By default the parameter
        whose name says so unmistakably.
    at : mapping, optional
        Values of the other parameters. Those that never varied in the measurements keep their value. A parameter of
        `cores_are` may have a list of values.
    measured : Runs, optional
        The runs learned from. If several parameters of `cores_are` are open, the combinations are those measured.
    goal : Goal, optional
        Deadline, budget or efficiency; by default what pays (the knee).
    steps : float, optional
        How many runs or steps, as they were measured, the job has; by default one.
    machine : Machine, optional
        For its price, and whether whole nodes are paid.
    level : float
        Probability of the intervals.
    limit : float, optional
        A probability above 0.5 and below 1: `curve` gets a column ``limit_s``, the time limit that is enough with it
        (see `Model.upper`). The limit of several steps is that of one step times their number.

    Raises
    ------
    InputError
        If it is open which parameters are the cores, or a value is missing; the message names the option.
    InfeasibleError
        If no count meets the goal.

    Examples
    --------
    >>> import evenly, pandas as pd
    >>> cores = [1, 2, 4, 8, 16, 32, 64]
    >>> table = pd.DataFrame({"cores": cores, "seconds": [100 / p + 10 for p in cores]})
    >>> model = evenly.fit(evenly.Runs.from_frame(table, ["cores"]), method="pmnf", effort="quick")
    >>> found = evenly.recommend(model, range(1, 65))
    >>> found.cores, round(found.seconds, 1), found.knee.count
    (12, 18.3, 12)
    >>> evenly.recommend(model, range(1, 65), goal=evenly.Goal(deadline_s=3600), steps=200).cores
    16
    """
    if not hasattr(model, "space_"):
        raise InputError(f"this {type(model).__name__} has not learned anything yet: call fit first")
    if model.response_["name"] != "seconds":
        raise InputError(f"cores are recommended by seconds, but the model predicts {model.response_['name']!r}")
    if steps is not None and (isinstance(steps, bool) or not 0 < steps < np.inf):
        raise InputError(f"`steps` must be a number above 0, but got {steps!r}.")
    count = 1.0 if steps is None else float(steps)
    machine = machine or Machine()
    what = find_cores(model.space_, cores_are, measured=None if measured is None else measured.configurations)
    if "cores" in model.space_.names and what.text.strip(" `") != "cores":
        raise InputError(
            f"the cores are {what.text}, but a parameter is called 'cores', too: give it another name in the table, as "
            "'cores_per_node'"
        )
    check_varied(model, what)
    check_one_size(model, what)
    table, notes = _candidates(model, what, list(cores), cores, dict(at or {}), measured)
    curve = _curve(model, table, what, count, machine, level, limit, measured)
    doubt = _doubt(model, what, dict(at or {}), measured) if only_cores_varied(model, what) else ""
    goal = goal or Goal()
    try:
        choice = _chosen(goal, curve, machine, level)
    except InfeasibleError:
        # Between two counts of which each keeps to one goal, one may keep to both.
        thinned = isinstance(cores, range) and cores.step == 1 and what.is_one_parameter
        if not (thinned and (finer := goal.between(_not_failed(curve), "cores"))):
            raise
        table = pd.concat(
            [table, _candidates(model, what, finer, finer, dict(at or {}), measured)[0]], ignore_index=True
        )
        curve = _curve(model, table, what, count, machine, level, limit, measured)
        choice = _chosen(goal, curve, machine, level)
        rows = [*(n for n in curve["cores"] if n not in finer), choice.count]
        curve = curve[curve["cores"].isin(rows)].reset_index(drop=True)
    missed = told_missed(model)
    lost = _told_failed(curve)
    curve = curve if lost else curve.drop(columns="failed")
    edge = told_at_edge(model, curve["run_s"], curve["run_lower_s"], curve["run_upper_s"])
    said = [one for one in (what.said, lost, missed, edge, doubt) if one]
    if steps is None and (goal.deadline_s or goal.core_hours or goal.money):
        said.append("the job is one run or step as measured: say how many it has with --steps (steps=)")
    if count != 1:
        said += _on_many_steps(model, limit, measured)
    found = Recommendation(curve, choice, count, machine, (), level, limit, goal, dict(at or {}))
    found = dataclasses.replace(found, notes=(*said, *_scattering(found), *_too_late(found), *notes))
    if not found.extrapolated:
        return found
    why = f"{choice.why}; an extrapolation: {_outside(model, table, found.best)}"
    return dataclasses.replace(found, choice=dataclasses.replace(choice, why=why))


def _chosen(goal: Goal, curve: pd.DataFrame, machine: Machine, level: float) -> Choice:
    """Return the count that a goal chooses among those on which runs ended well; an error says which it left out."""
    left = _not_failed(curve)
    if not len(left):
        counts = told_counts(np.sort(curve["cores"].to_numpy()))
        raise InfeasibleError(
            f"on {counts} cores, every run with these values failed, or every run near them: ask "
            "about other counts with --cores (cores=), or what a run there would take with --at (Model.predict)",
            constraint="cores",
        )
    among = LOOKED_AT if len(left) == len(curve) else f"{LOOKED_AT} that has no ✗"
    try:
        return goal.choose(left, "cores", currency=machine.currency, level=level, among=among)
    except InfeasibleError as error:
        if lost := _told_failed(curve):
            raise InfeasibleError(f"{error} {lost[0].upper()}{lost[1:]}.", constraint=error.constraint) from None
        raise


def _not_failed(curve: pd.DataFrame) -> pd.DataFrame:
    return curve[~curve["failed"]].reset_index(drop=True)


def _told_failed(curve: pd.DataFrame) -> str:
    ordered = curve.sort_values("cores")
    return told_failed(ordered["cores"].to_numpy(dtype=np.int64), ordered["failed"].to_numpy(dtype=np.bool_))


def _on_many_steps(model: Model, limit: float | None, measured: Runs | None) -> list[str]:
    """Say what isn't the sum of many steps: a limit of one of them, and their median."""
    said = []
    if limit is not None:
        said.append("the time limit is that of one run or step as measured, times their number")
    if measured is not None and model.training_.get("statistic") == "median":
        said += _skewed(measured)
    return said


def _scattering(found: Recommendation) -> list[str]:
    """Say that single runs scatter more than what was learned, where they do."""
    best = found.best
    if best["run_latest_s"] <= SCATTERS * best["run_upper_s"]:
        return []
    share = f"{50 * (1 + found.level):.0f} % of them"
    told = f"so many were stopped at their limit that it isn't known when {share} end on {found.cores} cores"
    if math.isfinite(best["run_latest_s"]):
        told = f"on {found.cores} cores, {share} end within {time_words(best['run_latest_s'], found.time_unit)}"
    return [f"single runs scatter more than the medians learned from: {told}"]


def _too_late(found: Recommendation) -> list[str]:
    """Say why a cheaper count wasn't chosen whose interval keeps the deadline: single runs on it may not."""
    deadline = found.goal.deadline_s if found.goal is not None else None
    if deadline is None:
        return []
    curve = found.curve
    cheaper = curve["core_hours"] < found.best["core_hours"]
    close = curve[cheaper & (curve["run_upper_s"] <= deadline) & (curve["run_latest_s"] > deadline)]
    if not len(close) or found.best["run_latest_s"] > deadline:
        return []
    row = close.iloc[-1]
    latest = f"within {time_words(row['run_latest_s'])}" if math.isfinite(row["run_latest_s"]) else "at an unknown time"
    told = f"its interval keeps it, but {50 * (1 + found.level):.0f} % of single runs end {latest}"
    return [f"{int(row['cores'])} cores are too few for the deadline of {time_words(deadline)}: {told}"]


def _skewed(measured: Runs) -> list[str]:
    """Say that the mean of repeated steps is longer than their median, which many of them take together."""
    times = measured.ok.to_frame().groupby(measured.parameters)[measured.response]
    several = times.count() >= _STEPS
    if not several.any():
        return []
    ratio = float((times.mean() / times.median())[several].median())
    if ratio < _SKEW:
        return []
    return [f"repeated steps take {ratio:.2f} times their median on average: for many of them, say --statistic mean"]


def _candidates(
    model: Model, what: Cores, counts: list[int], given: Sequence[int], at: dict[str, Any], measured: Runs | None
) -> tuple[pd.DataFrame, list[str]]:
    """Return the configurations (n, n_parameters + 1) to ask for, with their ``cores``, and what was assumed."""
    if not counts or min(counts) < 1 or any(count != int(count) for count in counts):
        raise InputError(f"`cores` must be whole numbers of at least 1, but got {counts[:8]!r}.")
    check_whole(max(counts))
    fixed, notes = _fixed(model, what, at)
    open_ = [name for name in what.names if name not in fixed]
    varied = _varied(model, open_)
    rows, thinned = [], isinstance(given, range) and given.step == 1
    like = [] if varied is None else _measured(model, varied, measured)
    for combination in _combinations(what, fixed, [n for n in open_ if n != varied], measured):
        rest = {**{name: fixed[name] for name in fixed if name not in what.names}, **combination}
        rows += _of_one(what, varied, rest, counts, like if thinned else None)
    if not rows:
        raise InputError(
            f"no configuration has {_listed(counts)} cores, which are {what.text!r}"
            f"{''.join(f', {name} = {value}' for name, value in fixed.items() if name in what.names)}: "
            "ask for other counts, or give other values with --at"
        )
    made = {row["cores"] for row in rows}
    if not thinned and (never := [count for count in counts if count not in made]):
        notes.append(f"left out, since {what.text!r} doesn't make so many cores here: {_listed(never)}")
    if varied is not None and len(what.names) > 1:
        others = [name for name in open_ if name != varied]
        values = "combinations" if len(others) > 1 else "values"
        measured_ones = f", with the measured {values} of {', '.join(others)}" if others else ""
        notes.append(f"cores are {what.text}: any number of {varied}{measured_ones}")
    return pd.DataFrame(rows), notes


def _fixed(model: Model, what: Cores, at: dict[str, Any]) -> tuple[dict[str, Any], list[str]]:
    """Return the values of the parameters that aren't open, and a note on those that never varied."""
    known = model.space_.names
    if strange := [name for name in at if name not in known]:
        raise InputError(f"`at` names {strange[0]!r}, but the parameters are {', '.join(known)}")
    if what.is_one_parameter and what.names[0] in at:
        raise InputError(f"{what.names[0]} is the cores: ask for them with --cores, and leave it out of --at")
    always = unvaried(model.space_, at, but=what.names)
    if not what.is_one_parameter:
        always |= constants(model.space_, but=at)
    for name, value in at.items():
        if name not in what.names and isinstance(value, list | tuple) and len(value) != 1:
            raise InputError(
                f"--at {name} must have one value here, but has {len(value)}: ask for each in its own call"
            )
    told = (
        [f"{', '.join(f'{name} = {value}' for name, value in always.items())}, as in all measurements"]
        if always
        else []
    )
    return {**always, **at}, told


def _varied(model: Model, open_: list[str]) -> str | None:
    """Return the parameter that may have any value: the only open one, else nodes, else ranks; None if none is open."""
    for kind in ("nodes", "ranks", "cores"):
        of_kind = [name for name in open_ if kind_of(name) == kind]
        if len(open_) > 1 and len(of_kind) == 1:
            open_ = of_kind
    if len(open_) > 1:
        others = " ".join(f"--at {name}=…" for name in open_[1:])
        raise InputError(f"the cores are made of {', '.join(open_)}: give values for all but one, as in {others}")
    if open_ and isinstance(model.space_.parameters[open_[0]], Categorical):
        raise InputError(f"{open_[0]!r} must be a number to count cores, but holds labels")
    return open_[0] if open_ else None


def _combinations(
    what: Cores, fixed: Mapping[str, Any], others: list[str], measured: Runs | None
) -> list[dict[str, Any]]:
    """Return the values of the factors of the cores that aren't varied: those given, and those measured together."""
    factors = [name for name in what.names if name in fixed]
    lists = [fixed[name] if isinstance(fixed[name], list | tuple) else [fixed[name]] for name in factors]
    given = [dict(zip(factors, row, strict=True)) for row in itertools.product(*lists)]
    if not others:
        return given
    if measured is None:
        raise InputError(
            f"the cores are {what.text!r}, and the model doesn't know which values of {', '.join(others)} go together: "
            f"give them, as in {' '.join(f'--at {name}=…' for name in others)}"
        )
    together = measured.configurations[others].drop_duplicates().to_dict("records")
    return [{**one, **{str(name): value for name, value in row.items()}} for one in given for row in together]


def _measured(model: Model, name: str, measured: Runs | None) -> list[int]:
    """Return the measured values of a parameter; its least and its largest one if the runs aren't at hand."""
    if measured is None:
        return sorted({int(end) for end in ends(model.space_.parameters[name])})
    return [int(value) for value in measured.configurations[name].unique()]


def _of_one(
    what: Cores, varied: str | None, rest: Mapping[str, Any], counts: list[int], like: Sequence[int] | None
) -> list[dict[str, Any]]:
    """Return the configurations with wanted counts for one combination of the other parameters.

    With `like`, the values of the varied parameter that were measured, only counts like these are wanted.
    """
    factors = {name: rest[name] for name in what.names if name in rest}
    if varied is None:
        only = int(what.of(factors, 1)[0])
        wanted = only in counts or (like is not None and counts[0] <= only <= counts[-1])
        return [{**rest, "cores": only}] if wanted else []
    values, made = ways(what, varied, factors, max(counts))
    kept = np.isin(made, counts) if like is None else (made >= min(counts)) & (made <= max(counts))
    values, made = values[kept], made[kept]
    if like is not None and len(values):
        kept = np.isin(values, counts_like(like, int(values[0]), int(values[-1])))
        values, made = values[kept], made[kept]
    return [{**rest, varied: int(v), "cores": int(c)} for v, c in zip(values, made, strict=True)]


def _doubt(model: Model, what: Cores, at: dict[str, Any], measured: Runs | None) -> str:
    """Return whether the times of the measured counts, whichever were asked for, may be those of weak scaling."""
    counts = measured_range(model, what)
    try:
        table = _candidates(model, what, list(counts), counts, at, measured)[0].sort_values("cores")
    except InputError:  # no combination is made of these counts
        return ""
    return doubt_one_size(model, table["cores"].to_numpy(), model.predict(table[model.space_.names]))


def _curve(
    model: Model, table: pd.DataFrame, what: Cores, steps: float, machine: Machine, level: float, limit: float | None,
    measured: Runs | None,
) -> pd.DataFrame:  # fmt: skip
    asked = table[model.space_.names]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ExtrapolationWarning)
        seconds = model.predict(asked)
        lower, upper = model.interval(asked, level)
        enough = None if limit is None else model.upper(asked, limit)
        # A deadline is that of one job. Over many steps, the scatter of single ones averages out.
        latest = upper if steps != 1 else model.upper(asked, (1 + level) / 2)
    beyond = model.extrapolates(asked)
    shown = [] if what.is_one_parameter else list(what.names)
    curve = table[["cores", *shown]].copy()
    curve["step_s"], curve["lower_s"], curve["upper_s"] = seconds, lower, upper
    for name in ("", "lower_", "upper_"):
        curve[f"run_{name}s"] = curve[f"{name or 'step_'}s"] * steps
    curve["run_latest_s"] = latest * steps
    billed = machine.billed(curve["cores"].to_numpy()) / 3600
    for name in ("", "_lower", "_upper"):
        curve[f"core_hours{name}"] = curve[f"run{name}_s"] * billed
    if machine.price_per_core_hour is not None:
        curve["money"] = curve["core_hours"] * machine.price_per_core_hour
    curve["extrapolated"], curve["failed"] = beyond, outcomes_of(model, measured).fail(asked)
    curve["measured"] = _were_measured(asked, measured)
    if enough is not None:
        curve["limit_s"] = enough * steps
    # Of several configurations with as many cores, the fastest one counts; those outside the measured range come last,
    # and after them those on which runs failed.
    curve = (
        curve.sort_values(["cores", "failed", "extrapolated", "run_s"], kind="stable")
        .drop_duplicates("cores")
        .reset_index(drop=True)
    )
    curve["efficiency"] = _least_work(model, table, what, curve, measured) * steps / (curve["run_s"] * curve["cores"])
    return curve


def _least_work(model: Model, table: pd.DataFrame, what: Cores, curve: pd.DataFrame, measured: Runs | None) -> float:
    """Return the core-seconds of a step on the fewest cores measured like this, whether they are asked for or not."""
    names = list(what.names)
    went = _went_well(model, measured)
    if set(model.space_.names) <= set(went.columns):
        made = _like(went, table.iloc[0].drop([*names, "cores"], errors="ignore"))[names]
        made = made.drop_duplicates(ignore_index=True)
    elif len(names) == 1:
        made = pd.DataFrame({names[0]: [_fewest(model, names[0], table.iloc[0])]})
    else:
        made = table[names].iloc[:0]
    cores = what.of(made, len(made))
    if not np.isfinite(cores).any():
        known = curve[~curve["extrapolated"]]
        fewest = (known if len(known) else curve).iloc[0]
        return float(fewest["step_s"] * fewest["cores"])
    least = float(np.nanmin(cores))
    rows = table[model.space_.names].iloc[[0] * int((cores == least).sum())].reset_index(drop=True)
    rows[names] = made[cores == least].to_numpy()
    return float(model.predict(rows).min()) * least


def _went_well(model: Model, measured: Runs | None) -> pd.DataFrame:
    """Return the configurations that are known to have ended well, (n, n_parameters)."""
    if measured is not None:
        return measured.ok.configurations
    known = outcomes_of(model)
    return known.configurations[~known.failed] if known.whole else pd.DataFrame()


def _were_measured(asked: pd.DataFrame, measured: Runs | None) -> NDArray[np.bool_]:
    """Tell which configurations (n, n_parameters) were measured; none where the runs aren't known."""
    if measured is None or not set(asked.columns) <= set(measured.parameters):
        return np.zeros(len(asked), dtype=np.bool_)
    names = list(asked.columns)
    known = set(measured.ok.configurations[names].itertuples(index=False, name=None))
    return np.array([row in known for row in asked.itertuples(index=False, name=None)], dtype=np.bool_)


def _like(configurations: pd.DataFrame, others: pd.Series) -> pd.DataFrame:
    """Return the configurations with the same other values, such as this mesh; all, if none has them."""
    same = (configurations[list(others.index)] == others).all(axis=1)
    return configurations[same] if same.any() else configurations


def _fewest(model: Model, name: str, asked: pd.Series) -> int:
    """Return the smallest value of a parameter that was measured with the labels that are asked for."""
    ranges = model.training_.get("label_ranges", {})
    lows = [its[str(asked[label])][name][0] for label, its in ranges.items() if name in its.get(str(asked[label]), {})]
    return math.ceil(max([*map(float, lows), ends(model.space_.parameters[name])[0]]))


def _outside(model: Model, table: pd.DataFrame, row: Mapping[str, Any]) -> str:
    """Say where a row lies outside what was measured."""
    its = np.all([table[name] == row[name] for name in table.columns if name in row], axis=0)
    asked = table[its][model.space_.names].iloc[:1]
    beyond = model.space_.outside(asked)
    if not beyond:  # outside the runs with these labels
        return f"there are no runs around {', '.join(f'{name} = {value}' for name, value in asked.iloc[0].items())}"
    return ", ".join(f"{name} = {asked[name].iloc[0]}, {learned_on(model.space_.parameters[name])}" for name in beyond)


def _listed(counts: list[int]) -> str:
    return ", ".join(map(str, counts)) if len(counts) <= 8 else f"{counts[0]} … {counts[-1]}"
