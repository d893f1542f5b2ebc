"""Sensitivity: how strongly each parameter affects the time, by three measures.

The measures are permutation importance with refitting, permutation importance on left-out runs, and Sobol indices of a
model's predictions.

[The first: Balaprakash et al., Machine-learning-based load balancing for Community Ice Code component in CESM, 2014,
section 4; the second: Breiman, Random forests, 2001; the third: Sobol, Global sensitivity indices for nonlinear
mathematical models, 2001, of a model's predictions over the configurations.]
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pandas as pd

from evenly.arguments import check_seed, explained
from evenly.errors import EvenlyWarning, InputError
from evenly.models.array_types import Floats
from evenly.models.base import Model
from evenly.models.fitting import fit
from evenly.models.inputs.coding import Coding, Inputs
from evenly.runs.runs import Runs
from evenly.showing import Shown

__all__ = ["Sensitivity", "sensitivity", "sobol_indices"]

#: Least number of configurations per task; models learn from half of them.
_FEWEST = 8
#: With fewer configurations per parameter than this, results are uncertain and a warning is given.
_FEW = 10
#: Number of tasks that a message names.
_LISTED = 10
_TREES = 200
#: Number of rows of each matrix in Saltelli's scheme for Sobol indices.
_SOBOL = 2048
#: Most configurations of a grid on which the indices are computed exactly.
_GRID = 2**15


@dataclass(frozen=True)
class Sensitivity(Shown):
    """How strongly each parameter affects the time.

    Attributes
    ----------
    table : DataFrame (n_tasks * n_parameters, 9)
        One row per task and parameter: ``task``, ``parameter``, and these measures.

        * ``refitted``: increase of the mean squared error of log times, in per cent, when the parameter's values are
          permuted before a model is fitted; ``left_out``: the same when they are permuted in left-out runs. Both are
          means over repeats, with standard deviations ``refitted_sd`` and ``left_out_sd`` (nan for a single repeat).
        * ``first_order`` and ``total``: Sobol indices, the shares of the variance of predicted log times that the
          parameter explains alone, and together with others.
        * ``runs``: number of configurations.
    task : str or None
        The parameter whose values separate the tasks.
    """

    table: pd.DataFrame
    task: str | None = None

    def ranked(self, by: str = "total") -> pd.DataFrame:
        """Return the means over tasks for each parameter, sorted by the column `by`, the largest first."""
        numbers = self.table.drop(columns=["task"]).groupby("parameter", sort=False).mean()
        return numbers.sort_values(by, ascending=False)


@explained
def sensitivity(
    runs: Runs, *, task: str | None = None, repeats: int = 10, seed: int = 0, method: str = "gp"
) -> Sensitivity:
    """Return how strongly each parameter affects the time of measured runs.

    Parameters
    ----------
    runs : Runs
        Failed runs are left out, and repetitions are aggregated.
    task : str, optional
        A parameter such as the number of MPI tasks; runs with different values of it are analysed separately.
    repeats : int
        Number of random halves, each with one permutation per parameter.
    seed : int
    method : str
        The method of the model whose Sobol indices are computed.

    Warns
    -----
    EvenlyWarning
        Where a task has fewer than 10 configurations for each parameter, or is left out because it has too few to tell
        anything.

    Raises
    ------
    InputError
        If each task has fewer than 8 configurations, or none in which a parameter varies.

    Examples
    --------
    >>> table = pd.DataFrame({"a": np.tile(range(8), 8), "b": np.repeat(range(8), 8)})
    >>> table["seconds"] = np.exp(0.5 * table["a"])
    >>> found = sensitivity(Runs.from_frame(table, ["a", "b"]), repeats=3)
    >>> found.ranked().index.tolist()
    ['a', 'b']
    """
    if repeats < 1:
        raise InputError(f"repeats must be at least 1, but got {repeats}")
    if task is not None and task not in runs.parameters:
        raise InputError(f"task must be one of {', '.join(runs.parameters)}, but got {task!r}")
    table = runs.aggregate()
    rows: list[dict[str, object]] = []
    few: list[str] = []
    too_few: list[str] = []
    for value, part in _tasks(table, runs, task):
        which = "" if task is None else f"{task} = {value}"
        names = [name for name in runs.parameters if name != task and part[name].nunique() > 1]
        if len(part) < _FEWEST or not names:
            varying = f"{len(part)} configurations, varying in {', '.join(names) or 'nothing'}"
            too_few.append(f"{which or 'the runs'}: {varying}")
            continue
        rows += _of_task(value, part, names, runs, repeats, seed, method)
        if len(part) < _FEW * len(names):
            few.append(f"{len(part)} configurations{which and f' of {which}'}")
    rule = f"at least {_FEWEST} configurations in which something varies are needed to tell what matters"
    if not rows:
        raise InputError(f"{rule}; but got {_listed(too_few)}")
    if too_few:
        warnings.warn(f"left out: {_listed(too_few)}; {rule}", EvenlyWarning, stacklevel=3)
    if few:
        asked = f"below {_FEW} for each parameter, what matters may still change with more runs"
        warnings.warn(f"{', '.join(few)} are few to learn from: {asked}", EvenlyWarning, stacklevel=3)
    return Sensitivity(pd.DataFrame(rows), task)


def _tasks(table: pd.DataFrame, runs: Runs, task: str | None) -> Iterator[tuple[object, pd.DataFrame]]:
    """Yield the value of each task, and its configurations that went well (an empty table if none did)."""
    if task is None:
        yield "all", table
        return
    for value in sorted(runs.configurations[task].unique()):
        yield value, table[table[task] == value]


def _listed(texts: list[str]) -> str:
    return "; ".join(texts[:_LISTED]) + (f" and {len(texts) - _LISTED} more" if len(texts) > _LISTED else "")


def _of_task(
    value: object, part: pd.DataFrame, names: list[str], runs: Runs, repeats: int, seed: int, method: str
) -> list[dict[str, object]]:
    part = part.reset_index(drop=True)
    alone = Runs.from_frame(part, names, space=type(runs.space).from_data(part[names], like=runs.space))
    coding = Coding.learn(part[names], alone.space)
    inputs, logs = coding.inputs(part[names]), np.log(part[runs.response].to_numpy())
    check_seed(seed)
    random = np.random.default_rng(seed)
    halves = [_permuted(inputs, logs, coding, random) for _ in range(repeats)]
    refitted, left_out = (np.array([half[which] for half in halves]) for which in (0, 1))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", EvenlyWarning)
        first, total = sobol_indices(fit(alone, method=method, effort="quick"), alone, random)
    return [
        {"task": value, "parameter": name, "refitted": refitted[:, k].mean(), "refitted_sd": _scatter(refitted[:, k]),
         "left_out": left_out[:, k].mean(), "left_out_sd": _scatter(left_out[:, k]),
         "first_order": first[names.index(name)], "total": total[names.index(name)], "runs": len(part)}
        for k, name in enumerate(coding.names)
    ]  # fmt: skip


def _scatter(values: Floats) -> float:
    return float(np.std(values, ddof=1)) if len(values) > 1 else float("nan")


def _permuted(inputs: Inputs, logs: Floats, coding: Coding, random: np.random.Generator) -> tuple[Floats, Floats]:
    """Return the growth of errors in per cent by permuting each parameter, before fitting and in the other half.

    Both are arrays (n_parameters,). A random forest is fitted to a random half of the runs.
    """
    rows = random.permutation(len(logs))
    half, other = rows[: (len(rows) + 1) // 2], rows[(len(rows) + 1) // 2 :]
    seed = int(random.integers(2**31))
    x, y = inputs.rows(half).matrix, logs[half]
    forest = _forest(x, y, seed)
    base = float(np.mean((forest.predict(x) - y) ** 2))
    tested = inputs.rows(other).matrix
    base_out = float(np.mean((forest.predict(tested) - logs[other]) ** 2))
    refitted, left_out = [], []
    for columns in _columns(coding):
        order = random.permutation(len(half))
        mixed = x.copy()
        mixed[:, columns] = x[order][:, columns]
        error = float(np.mean((_forest(mixed, y, seed).predict(mixed) - y) ** 2))
        refitted.append(100 * (error / base - 1) if base > 0 else 0.0)
        mixed = tested.copy()
        mixed[:, columns] = tested[random.permutation(len(other))][:, columns]
        error = float(np.mean((forest.predict(mixed) - logs[other]) ** 2))
        left_out.append(100 * (error / base_out - 1) if base_out > 0 else 0.0)
    return np.array(refitted), np.array(left_out)


def _forest(x: Floats, y: Floats, seed: int):  # type: ignore[no-untyped-def]
    from sklearn.ensemble import RandomForestRegressor

    return RandomForestRegressor(_TREES, max_features=1 / 3, min_samples_leaf=2, random_state=seed).fit(x, y)


def _columns(coding: Coding) -> Iterator[list[int]]:
    """Yield the columns of `Inputs.matrix` that belong to each parameter, in the coding's order."""
    number, label = 0, len(coding.numeric)
    sizes = iter(coding.sizes)
    for kind in coding.kinds:
        if kind == "label":
            size = next(sizes)
            yield list(range(label, label + size))
            label += size
        else:
            yield [number]
            number += 1


def sobol_indices(model: Model, runs: Runs, random: np.random.Generator) -> tuple[Floats, Floats]:
    """Return first-order and total indices of predicted logarithms over the product of the measured values.

    Both are arrays (n_parameters,), in the order of ``runs.parameters``: shares of the variance that a parameter
    explains alone, and together with others. Exact where the product has at most `_GRID` configurations. Else
    Saltelli's estimator of the first order and Jansen's of the total one, over parameters drawn independently from
    the measured values [Saltelli et al., Variance based sensitivity analysis of model output, 2010].
    """
    values = {name: runs.configurations[name].unique() for name in runs.parameters}
    shape = tuple(map(len, values.values()))
    if math.prod(shape) <= _GRID:
        table = pd.MultiIndex.from_product(list(values.values()), names=list(values)).to_frame(index=False)
        return _indices(np.log(model.predict(table)).reshape(shape))

    def drawn() -> pd.DataFrame:
        return pd.DataFrame({name: random.choice(its, _SOBOL) for name, its in values.items()})

    # Matrices A (`one`) and B (`two`) of Saltelli's scheme; `mixed` are the predictions for A with one column from B.
    one, two = drawn(), drawn()
    f_one, f_two = (np.log(model.predict(some)) for some in (one, two))
    variance = float(np.var(np.concatenate([f_one, f_two])))
    if variance <= 0:
        return np.zeros(len(values)), np.zeros(len(values))
    mixed = [np.log(model.predict(one.assign(**{name: two[name]}))) for name in values]
    # S_i = mean(f(B) (f(A_B^i) - f(A))) / V, T_i = mean((f(A) - f(A_B^i))²) / (2 V) [Saltelli 2010, table 2 b, f].
    first = np.clip([float(np.mean(f_two * (f - f_one))) / variance for f in mixed], 0, 1)
    total = [float(np.mean((f_one - f) ** 2)) / (2 * variance) for f in mixed]
    return first, np.maximum(total, first)  # estimates scatter, but the share with others is never the smaller one


def _indices(logs: Floats) -> tuple[Floats, Floats]:
    """Return both indices of each axis of a function known on a whole grid, from its definition.

    S_i = V(E(f | x_i)) / V(f), and T_i = E(V(f | all but x_i)) / V(f) [Sobol 2001, sections 3 and 4].

    Examples
    --------
    >>> _indices(np.array([[0.0, 1.0], [2.0, 3.0]]))
    (array([0.8, 0.2]), array([0.8, 0.2]))
    """
    variance = float(np.var(logs))
    if variance <= 0:
        return np.zeros(logs.ndim), np.zeros(logs.ndim)
    axes = range(logs.ndim)
    first = [np.var(np.mean(logs, axis=tuple(a for a in axes if a != axis))) / variance for axis in axes]
    total = [np.mean(np.var(logs, axis=axis)) / variance for axis in axes]
    return np.array(first), np.array(total)
