"""Active learning: advice on the next runs, those that lower a model's variance most per core-hour.

Before a run is made, a Gaussian process predicts its time. It also predicts by how much the run would lower the
variance of the predicted log times, on average over the space. The best run has the largest ratio of this reduction to
its core-hours [the criterion of Cohn, as in Seo et al., Gaussian process regression: active data selection and test
point rejection, 2000; cost as in Settles, Craven and Friedland, Active learning with real annotation costs, 2008].
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from typing import Any, Literal

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from evenly.core_counts.goal import counts_like
from evenly.errors import EvenlyError, EvenlyWarning, ExtrapolationWarning, InputError
from evenly.models.base import Model
from evenly.models.fitting import fit
from evenly.models.gaussian_process.gaussian_process import GaussianProcess
from evenly.runs.cores import find_cores
from evenly.runs.count_names import kind_of_parameter
from evenly.runs.outcomes import Outcomes
from evenly.runs.runs import Runs
from evenly.space.expressions import Expression
from evenly.space.parameters import Categorical, Integer, Ordinal, Parameter, Real
from evenly.space.sampling import combinations
from evenly.space.space import Configurations, Space
from evenly.tuning.on_the_way import Halfway, settling

__all__ = ["Values", "advise", "next_runs"]

#: Which values are proposed.
Values = Literal["all", "usual"]
#: Maximum number of configurations to compare.
_COMPARED = 4096
#: Number of configurations over which the variance is averaged.
_ASKED = 512
#: Unmeasured counts are at least this far from measured ones, in logs; neighbours between which another value is worth
#: running, this share of the range.
_FAR, _WIDE = np.log(1.2), 0.2
_ADDED = ("seconds", "core_hours", "error_before", "error_after", "why")


def next_runs(runs: Runs, n: int = 1, *, seed: int = 0) -> pd.DataFrame:
    """Return configurations that are worth running next, the best first.

    Parameters
    ----------
    runs : Runs
        Measured runs. Their space defines the feasible configurations.
    n : int
        Number of configurations.
    seed : int
        Seed of the sample of configurations, where the space has too many to compare all.

    Returns
    -------
    DataFrame (at most n, n_parameters)
        Feasible configurations that were not run before, neither successfully nor not; fewer than n if no more are
        left.

    Raises
    ------
    InputError
        If no run succeeded.

    Examples
    --------
    >>> from evenly import Integer
    >>> measured = pd.DataFrame({"n": [1, 2, 3, 100], "seconds": [1.0, 2.1, 2.9, 101.0]})
    >>> runs = Runs.from_frame(measured, ["n"], space=Space(n=Integer(1, 100, scale="log")))
    >>> bool(3 < next_runs(runs)["n"].iloc[0] < 100)
    True
    """
    table = _proposed(runs, n, seed=seed)
    return table[runs.space.names].reset_index(drop=True)


def advise(
    runs: Runs,
    n: int = 5,
    *,
    budget: float | None = None,
    cores: str | None = None,
    times: Model | None = None,
    values: Values = "all",
    first: Sequence[Mapping[str, Any]] = (),
    asked: Configurations | None = None,
    seed: int = 0,
) -> pd.DataFrame:
    """Return configurations that are worth running next, with their cost and benefit, the best first.

    Parameters
    ----------
    runs : Runs
        Measured runs. Their space defines the feasible configurations.
    n : int
        Maximum number of configurations.
    budget : float, optional
        Maximum of their predicted core-hours in total.
    cores : str, optional
        Number of cores of a configuration: an expression of its parameters, such as ``"ranks * threads"``. By default,
        what the names of the parameters say unmistakably. Where that is open, and no budget is given, the runs are
        compared by their time, as if each had one core.
    times : Model, optional
        A model of these runs, which tells how long further ones take; by default one that is learned quickly.
    values : {"all", "usual"}
        Of parameters that are numbers: all of the space, or those that were measured and those well between them.
        Counts of cores and the like are those that people ask for; with "all", others where these were all run.
    first : sequence of mappings
        Configurations that come first, whatever they teach, also outside the space.
    asked : DataFrame, dict of columns or array (n, n_parameters), optional
        Configurations whose times are to be known; runs are then proposed for what they tell of these. Where they lie
        beyond the range, and laws that fit the runs alike differ there, the first proposal is the run on the way there
        that tells which law holds (`evenly.models.Beyond.settling`).
    seed : int
        Seed of the sample of configurations, where the space has too many to compare all.

    Returns
    -------
    DataFrame (at most n, n_parameters + 5)
        Feasible configurations that were not run before, neither successfully nor not. ``seconds`` and ``core_hours``
        are predictions. ``error_before`` and ``error_after`` are the model's estimates of its own error over the whole
        space, or at what is asked (standard deviation of log times: 0.1 is 10 %). Both assume the runs of the rows
        above; ``error_after`` also assumes the run of the row itself, and is the ``error_before`` of the next row.
        ``why`` is the reason of the run that tells laws apart, and empty for all others.

    Raises
    ------
    InputError
        If no run succeeded, an argument is out of range, a budget is given and it is open what the cores are, or no
        run with a label that is asked about ended well.

    Warns
    -----
    EvenlyWarning
        If all runs failed at what is asked, or nearest to it. If that is beyond what was measured: by how much, and
        which run tells whether times go on like this beyond it.

    Examples
    --------
    >>> from evenly import Integer
    >>> measured = pd.DataFrame({"n": [1, 2, 3, 100], "seconds": [1.0, 2.1, 2.9, 101.0]})
    >>> runs = Runs.from_frame(measured, ["n"], space=Space(n=Integer(1, 100, scale="log")))
    >>> table = advise(runs, 2)
    >>> bool((table["error_after"] < table["error_before"]).all())
    True
    """
    cores = _certain_cores(runs, needed=budget is not None) if cores is None else cores
    times = _learned(runs) if times is None else times
    return _proposed(
        runs, n, budget=budget, cores=cores, times=times, values=values, first=first, asked=asked, seed=seed
    )


def _certain_cores(runs: Runs, *, needed: bool) -> str | None:
    """Return what the names of the parameters say is the number of cores; None where it is open, and not needed."""
    try:
        return find_cores(runs.space, measured=runs.configurations).text
    except InputError:
        if needed:
            raise
        return None


def _lost_labels(space: Space, outcomes: Outcomes) -> dict[str, set[str]]:
    """Return the labels, as text, of which all runs failed, by parameter."""
    labels = [name for name, kind in space.parameters.items() if isinstance(kind, Categorical)]
    return {name: lost for name in labels if (lost := outcomes.labels(name))}


def _without_lost_labels(table: pd.DataFrame, space: Space, outcomes: Outcomes) -> pd.DataFrame:
    """Return the configurations with labels of which some run ended well: nothing is known about others."""
    lost = [table[name].astype(str).isin(its) for name, its in _lost_labels(space, outcomes).items()]
    return table[~np.any(lost, axis=0)].reset_index(drop=True) if lost else table


def _check_not_failed(asked: pd.DataFrame, space: Space, outcomes: Outcomes) -> None:
    """Refuse labels of which all runs failed; say where else they did."""
    for name, its in _lost_labels(space, outcomes).items():
        if lost := sorted(its & set(asked[name].astype(str))):
            raise InputError(
                f"no run with {name} = {lost[0]} ended well, so no further run is likely to tell its time: ask about "
                "another one"
            )
    failed = outcomes.fail(asked)
    if failed.any():
        first = asked[failed].iloc[0].items()
        warnings.warn(
            f"at {', '.join(f'{name} = {value}' for name, value in first)}, or nearest to it, all runs failed: the "
            "proposed runs tell what a run there would take if it ended well",
            EvenlyWarning,
            stacklevel=4,
        )


def _learned(runs: Runs) -> Model | None:
    """Return a model of how long runs take; None if there are too few to learn one."""
    try:
        return fit(runs, effort="quick")
    except EvenlyError:
        return None


def _proposed(
    runs: Runs,
    n: int,
    *,
    budget: float | None = None,
    cores: str | None = None,
    times: Model | None = None,
    values: Values = "all",
    first: Sequence[Mapping[str, Any]] = (),
    asked: Configurations | None = None,
    seed: int = 0,
) -> pd.DataFrame:
    """Return the proposals of `advise`; without `times`, the Gaussian process tells how long runs take."""
    if n < 1:
        raise InputError(f"n must be at least 1, but got {n}")
    if budget is not None and budget <= 0:
        raise InputError(f"budget must be above 0 core-hours, but got {budget}")
    known = runs.aggregate()
    if not len(known):
        raise InputError("no run went well, so there is nothing to learn from: run some configurations first")
    kept = runs.configurations.drop_duplicates(ignore_index=True)
    usual, outcomes = _usual(runs, values), Outcomes.of(runs)
    if asked is None:
        everywhere = runs.space.sample(_ASKED, design="sobol", seed=seed)
        everywhere = _without_lost_labels(everywhere, runs.space, outcomes)
    else:
        everywhere = runs.space.frame(asked)
        _check_not_failed(everywhere, runs.space, outcomes)
    told = [(pd.DataFrame([one])[runs.space.names], "") for one in first]
    told += [] if asked is None else settling(runs, everywhere)
    rows: list[dict[str, Any]] = []
    left = np.inf if budget is None else budget
    while len(rows) < n:
        chosen, reason = told.pop(0) if told else (None, "")
        open_ = _open(usual, kept, outcomes, seed) if chosen is None else chosen
        if not len(open_) and values == "all":
            open_ = _open(runs.space, kept, outcomes, seed)
        if not len(open_):
            break
        model = GaussianProcess(effort="quick", folds=0).fit(
            known[runs.space.names], known["seconds"], space=runs.space
        )
        seconds, lessons, variance = _expected(model, open_, everywhere)
        seconds = _seconds(times, open_, seconds)
        hours = seconds * _cores(cores, open_) / 3600
        worth = np.where(hours <= left, lessons / hours, -1.0)
        row = int(np.argmax(worth))
        if worth[row] < 0 and reason:
            warnings.warn(_too_dear(open_, float(hours[row]), reason), EvenlyWarning, stacklevel=3)
            continue
        if worth[row] < 0:
            break
        best = open_.iloc[[row]]
        left -= float(hours[row])
        kept = pd.concat([kept, best], ignore_index=True)
        # The chosen run is added at its predicted time, so that the next one is chosen elsewhere.
        known = pd.concat([known, best.assign(seconds=seconds[row])], ignore_index=True)
        # Each model estimates its own error anew; what a run is expected to take from it counts, so rows agree.
        before = rows[-1]["error_after"] if rows else np.sqrt(variance)
        after = before * np.sqrt(max(1 - lessons[row] / variance, 0.0)) if variance > 0 else 0.0
        rows.append(
            {"seconds": seconds[row], "core_hours": hours[row], "error_before": before, "error_after": after,
             "why": reason}
        )  # fmt: skip
    found = kept.iloc[len(kept) - len(rows) :].reset_index(drop=True)
    table = pd.concat([found, pd.DataFrame(rows, columns=list(_ADDED))], axis=1)
    if asked is not None and rows and (way := Halfway.to(everywhere, runs)) is not None:
        warnings.warn(_beyond_told(way, runs, everywhere, table, times, cores), EvenlyWarning, stacklevel=3)
    return table


def _beyond_told(
    way: Halfway, runs: Runs, asked: pd.DataFrame, proposed: pd.DataFrame, times: Model | None, cores: str | None
) -> str:
    """Say how far beyond the range it is what is asked, and which run tells whether times go on like this beyond it."""
    if way.is_beyond(proposed[runs.space.names]):
        return f"{way.told}. Only the proposed runs beyond the range tell whether times go on like this there"
    known = runs.aggregate()
    model = GaussianProcess(effort="quick", folds=0).fit(known[runs.space.names], known["seconds"], space=runs.space)
    seconds, lessons, variance = _expected(model, way.run, asked)
    hours = float((_seconds(times, way.run, seconds) * _cores(cores, way.run))[0]) / 3600
    run = ", ".join(f"{name} = {value}" for name, value in way.run.iloc[0].items())
    told = f"One at {run} does: it takes about {hours:.3g} {'hours' if cores is None else 'core-hours'}"
    after, first = 100 * np.sqrt(max(variance - lessons[0], 0.0)), 100 * proposed["error_after"].iloc[0]
    if after < first:
        told += f". The model expects to be off by {after:.3g} % after it, by {first:.3g} % after the first proposed"
    return f"{way.told}. Runs within the range don't tell whether times go on like this beyond it. {told}"


def _too_dear(run: pd.DataFrame, hours: float, why: str) -> str:
    told = ", ".join(f"{name} = {value}" for name, value in run.iloc[0].items())
    return f"the run at {told} {why}, but takes {hours:.3g} core-hours, more than the budget: it isn't proposed"


def _usual(runs: Runs, values: Values) -> Space:
    """Return the space with the usual counts of cores, ranks, nodes and the like only, and, if asked, other numbers."""
    space = runs.space
    if space.listed is not None:
        return space
    usual: dict[str, Parameter] = dict(space.parameters)
    for name, kind in space.parameters.items():
        measured = runs.ok.configurations[name].unique()
        if isinstance(kind, Integer) and kind_of_parameter(name):
            counts = counts_like([int(count) for count in measured], kind.low, kind.high)
            found: Sequence[float] = counts if values == "all" else _apart(counts, measured)
        elif isinstance(kind, Integer | Real) and values == "usual":
            found = _between(np.sort(measured.astype(np.float64)), kind)
        else:
            continue
        allowed = pd.Series(found)
        usual[name] = Ordinal(*allowed[kind.contains(allowed)].tolist())
    return Space.of(usual, space.constraints, conditions=space.conditions)


def _apart(counts: Sequence[int], measured: NDArray[Any]) -> list[int]:
    """Return the counts that were measured, and those that are far from all of them."""
    return [count for count in counts if (far := np.abs(np.log(count / measured)).min()) == 0 or far > _FAR]


def _between(measured: NDArray[np.float64], kind: Integer | Real) -> list[float]:
    """Return measured values, and round ones midway between neighbours that are far apart.

    Examples
    --------
    >>> _between(np.array([1e6, 1.1e6, 16e6]), Integer(1_000_000, 16_000_000, scale="log"))
    [1000000, 1100000, 4200000, 16000000]
    """
    is_log = kind.scale == "log"
    places = np.log(measured) if is_log else measured
    wide = np.diff(places) > _WIDE * (places[-1] - places[0])
    middles = (places[1:] + places[:-1])[wide] / 2
    rounded = [float(f"{np.exp(middle) if is_log else middle:.2g}") for middle in middles]
    found = sorted({*measured.tolist(), *(value for value in rounded if measured[0] < value < measured[-1])})
    return sorted(set(map(round, found))) if isinstance(kind, Integer) else found


def _cores(cores: str | None, table: pd.DataFrame) -> NDArray[np.float64]:
    if cores is None:
        return np.ones(len(table))
    expression = Expression(cores)
    strange = sorted(expression.names - set(table.columns))
    if strange:
        raise InputError(
            f"cores = {cores!r} mentions {strange[0]!r}, which is no parameter ({', '.join(table.columns)})"
        )
    found = np.broadcast_to(np.asarray(expression({str(k): x for k, x in table.items()}), dtype=np.float64), len(table))
    if not np.all(np.isfinite(found) & (found > 0)):
        raise InputError(f"cores = {cores!r} must be above 0 everywhere, but gives {found.min()}")
    return np.asarray(found)


def _open(space: Space, known: pd.DataFrame, outcomes: Outcomes, seed: int) -> pd.DataFrame:
    """Return feasible configurations that haven't been run: all of them, or a sample of a large space.

    Those around which runs failed are left out, if there are others; those with labels of which all failed, always.
    """
    count = combinations(space.parameters) if space.listed is None else len(space.listed)
    table = space.enumerate() if count <= _COMPARED else space.sample(_COMPARED, design="sobol", seed=seed)
    table = _without_lost_labels(table.drop_duplicates(ignore_index=True), space, outcomes)
    seen = set(known.itertuples(index=False, name=None))
    fresh = [row not in seen for row in table[list(known.columns)].itertuples(index=False, name=None)]
    table = table[np.array(fresh, dtype=bool)]
    sound = table[~outcomes.fail(table)]
    return (sound if len(sound) else table).reset_index(drop=True)


def _seconds(times: Model | None, open_: pd.DataFrame, usual: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the seconds of each run (n,) by a model; the usual ones without it, or for labels that it doesn't know."""
    if times is None:
        return usual
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ExtrapolationWarning)
        try:
            return times.predict(open_)
        except InputError:
            return usual


def _expected(
    model: GaussianProcess, open_: pd.DataFrame, everywhere: pd.DataFrame
) -> tuple[NDArray[np.float64], NDArray[np.float64], float]:
    """Return the predicted seconds of each run (n,), its reduction of the mean variance (n,), and that variance."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ExtrapolationWarning)
        variance = float(np.mean(model.deviation(everywhere) ** 2))
        return model.predict(open_), model.lessons(open_, everywhere), variance
