"""Curves of solvers from whole coupled runs alone: each run tells one time, and how many cores each solver had.

Each solver's time is ``a_k p^-b`` on p cores, and the layout makes the time of a run of them. The exponent b is one for
all solvers, since the runs are few. Before any run is seen, the logarithms of the a_k are normal around one value that
fits the runs on average, with the standard deviation `SPREAD`; b is normal around 0.9. The most likely values follow by
the Gauss-Newton steps of `evenly.allocation.problem.coupled_runs`, from several starts, since a run tells nothing of a
solver that nobody waits for. Where several optima explain the runs, the covariance holds their distances, too.

So a solver is known only as far as the runs tell it apart from the others: where all shares grow alike, its curve stays
as unsure as before, though the time of the whole is known well. `WholeRuns.told` says of which solvers that is so.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from evenly.allocation.problem.coupled_runs import CoupledRuns, Inside, most_likely
from evenly.allocation.problem.layout import Layout
from evenly.errors import InputError
from evenly.space.parameters import Integer
from evenly.space.space import Space

__all__ = ["SPREAD", "WholeRunCurve", "WholeRuns", "learn_whole_runs"]

Floats = NDArray[np.float64]

#: Standard deviation of the logarithm of a solver's time before any run is seen: times differ by up to ten times.
SPREAD = 1.2
_EXPONENT, _UNSURE = 0.9, 0.15
#: A solver is told by the runs if they leave less than this share of what was unsure.
_TOLD = 0.5
_STARTS = (-1.5, -0.5, 0.5, 1.5)
_FEWEST = 2


class WholeRunCurve:
    """The time of one solver, ``seconds (p / middle)^-exponent`` on p cores, with what is unsure of the exponent.

    What is unsure of `seconds` is shared with the other solvers, and lies in `WholeRuns.inside`.
    """

    def __init__(self, seconds: float, middle: float, exponent: float, unsure: float, range_: tuple[int, int]) -> None:
        self.seconds, self.middle, self.exponent, self.unsure = seconds, middle, exponent, unsure
        self.space_ = Space(cores=Integer(*range_, scale="log"))
        self.feature_names_in_ = np.array(["cores"], dtype=object)

    def __repr__(self) -> str:
        return f"{self.seconds:.4g} s · (cores / {self.middle:.4g})^-{self.exponent:.3g}"

    def predict(self, X: pd.DataFrame) -> Floats:
        """Return the seconds (n,) for the column ``cores``."""
        return np.asarray(self.seconds * (np.asarray(X["cores"], dtype=np.float64) / self.middle) ** -self.exponent)

    def interval(self, X: pd.DataFrame, level: float = 0.9) -> tuple[Floats, Floats]:
        """Return the interval that the exponent's standard error makes."""
        away = np.abs(np.log(np.asarray(X["cores"], dtype=np.float64) / self.middle))
        width = np.exp(NormalDist().inv_cdf(0.5 + level / 2) * self.unsure * away)
        return self.predict(X) / width, self.predict(X) * width


@dataclass(frozen=True)
class WholeRuns:
    """What whole coupled runs tell of their solvers.

    Parameters
    ----------
    curves : mapping of str to WholeRunCurve
    inside : Inside
        Factors of 1 with the covariance of the logarithms of the curves, and the scatter of runs.
    told : mapping of str to bool
        Whether the runs tell a solver's time apart from the others'.
    """

    curves: Mapping[str, WholeRunCurve]
    inside: Inside
    told: Mapping[str, bool]


def learn_whole_runs(layouts: Layout | Sequence[Layout], runs: CoupledRuns) -> WholeRuns:
    """Return the curves of solvers that explain the times of whole coupled runs.

    Parameters
    ----------
    layouts : Layout, or sequence of Layout (n_runs,)
        How the solvers wait for each other: in all runs, or in each. All have the same solvers.
    runs : CoupledRuns
        Cores of each solver, and the time of each run.

    Raises
    ------
    InputError
        If there are fewer than two runs, or a solver has no cores in them, or layouts differ in their solvers.

    Examples
    --------
    >>> from evenly.allocation.problem.layout import parse_layout
    >>> cores = {"a": np.array([8, 16, 64, 64]), "b": np.array([64, 64, 8, 16])}
    >>> seconds = np.maximum(200 / cores["a"], 100 / cores["b"])
    >>> found = learn_whole_runs(parse_layout("max(a, b)"), CoupledRuns(cores, seconds))
    >>> found.told, round(float(found.curves["a"].predict(pd.DataFrame({"cores": [16]}))[0]))
    ({'a': True, 'b': True}, 13)
    """
    n = len(runs.seconds)
    each = [layouts] * n if isinstance(layouts, Layout) else list(layouts)
    names = each[0].names if each else ()
    if len(each) != n or any(set(one.names) != set(names) for one in each):
        raise InputError(f"whole runs need one layout each, of the same solvers: there are {n} runs")
    if n < _FEWEST:
        raise InputError(f"curves from whole coupled runs need at least {_FEWEST} of them, but there is {n}")
    if missing := [name for name in names if name not in runs.cores]:
        raise InputError(f"the coupled runs don't tell the cores of {missing[0]}: there are {', '.join(runs.cores)}")
    middle = {name: float(np.exp(np.mean(np.log(runs.cores[name])))) for name in names}
    away = {name: np.log(runs.cores[name] / middle[name]) for name in names}
    measured = np.log(runs.seconds)
    d = len(names)
    same = {one: np.array([k for k, other in enumerate(each) if other == one]) for one in each}

    def predicted(unknowns: Floats) -> Floats:
        # All solvers take a time of 1 in the middle, times exp(unknowns); the last unknown is the exponent's.
        exponent = _EXPONENT + unknowns[d]
        times = {name: np.exp(unknowns[k] - exponent * away[name]) for k, name in enumerate(names)}
        found = np.empty(n)
        for one, rows in same.items():
            found[rows] = one.seconds({name: times[name][rows] for name in names})
        return np.log(found)

    # Solvers share cores in proportion to their work in a sensible layout: all take one time in the middle.
    shift = float(np.mean(measured - predicted(np.zeros(d + 1))))
    prior = np.array([SPREAD] * d + [_UNSURE])
    starts = [np.zeros(d + 1), *(s * np.eye(d + 1)[k] for k in range(d) for s in _STARTS)]
    optima = [most_likely(predicted, measured - shift, start, prior) for start in starts]
    best = max(optima, key=lambda one: one.evidence)
    distinct = {tuple(np.round(one.logs, 1)): one for one in sorted(optima, key=lambda one: one.evidence)}
    weights = {key: float(np.exp(one.evidence - best.evidence)) for key, one in distinct.items()}
    total = sum(weights.values())
    covariance = np.zeros((d + 1, d + 1))
    for key, one in distinct.items():
        apart = one.logs - best.logs
        covariance += weights[key] / total * (np.linalg.inv(one.precision) + np.outer(apart, apart))
    errors = np.sqrt(np.diag(covariance))
    curves = {
        name: WholeRunCurve(
            float(np.exp(best.logs[k] + shift)), middle[name], float(_EXPONENT + best.logs[d]), float(errors[d]),
            (int(runs.cores[name].min()), int(runs.cores[name].max())),
        )
        for k, name in enumerate(names)
    }  # fmt: skip
    inside = Inside(dict.fromkeys(names, 1.0), covariance[:d, :d], float(np.sqrt(best.variance)), n)
    return WholeRuns(curves, inside, {name: bool(errors[k] < _TOLD * SPREAD) for k, name in enumerate(names)})
