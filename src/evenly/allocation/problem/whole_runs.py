"""Curves of solvers from whole coupled runs alone: each run tells one time, and how many cores each solver had.

Each solver's time is ``a_k p^-(b + b_k)`` on p cores, and the layout makes the time of a run of them. Before any run is
seen, the logarithms of the a_k are normal with the standard deviation `SPREAD`. They lie around values by which nobody
waits on the usual cores, since people balance layouts: solvers side by side take one time, and those in turn share it
equally. All these fit the runs on average. b is normal around 0.9. The runs are few, so the b_k are small: how little
they tell of each solver's exponent is in the interval of its curve. Draws of the unknowns from their posterior
(`evenly.allocation.problem.posterior`) tell the rest: each draw explains the runs, so that no solver takes longer than
a run did with as few cores of each.

So a solver is known only as far as the runs tell it apart from the others: where all shares grow alike, its curve stays
as unsure as before, though the time of the whole is known well. `WholeRuns.told` says of which solvers that is so.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from evenly.allocation.problem.coupled_runs import CoupledRuns, Inside, evidence_of, fitted_to, variance_of, waited_for
from evenly.allocation.problem.layout import Layout, Repeated, SideBySide, Solver
from evenly.allocation.problem.lone_runs import check_no_lone_run
from evenly.allocation.problem.posterior import posterior
from evenly.errors import InputError
from evenly.space.parameters import Integer
from evenly.space.space import Space

__all__ = ["SPREAD", "WholeRunCurve", "WholeRuns", "learn_whole_runs"]

Floats = NDArray[np.float64]

#: Standard deviation of the logarithm of a solver's time before any run is seen: times differ by up to ten times.
SPREAD = 1.2
_EXPONENT, _UNSURE = 0.9, 0.15
#: Standard deviation of a solver's exponent around the one of all; chosen (``benchmarks/whole_layouts.py`` tells how
#: many layouts lie inside the intervals then).
_APART = 0.07
#: A solver is told by the runs if they leave less than this share of what was unsure.
_TOLD = 0.5
#: A run is one of those that a solver was learned from, if it waited for the solver in this share of the draws.
_OFTEN = 0.5
_FEWEST = 2


class WholeRunCurve:
    """The time of one solver, ``seconds (p / known_at)^-exponent`` on p cores, with what is unsure of the exponent.

    The curve is known best on `known_at` cores.
    What is unsure of `seconds` is shared with the other solvers, and lies in `WholeRuns.inside`.
    """

    def __init__(
        self, seconds: float, known_at: float, exponent: float, unsure: float, range_: tuple[int, int]
    ) -> None:
        self.seconds, self.known_at, self.exponent, self.unsure = seconds, known_at, exponent, unsure
        self.space_ = Space(cores=Integer(*range_, scale="log"))
        self.feature_names_in_ = np.array(["cores"], dtype=object)

    def __repr__(self) -> str:
        return f"{self.seconds:.4g} s · (cores / {self.known_at:.4g})^-{self.exponent:.3g}"

    def predict(self, X: pd.DataFrame) -> Floats:
        """Return the seconds (n,) for the column ``cores``."""
        return np.asarray(self.seconds * (np.asarray(X["cores"], dtype=np.float64) / self.known_at) ** -self.exponent)

    def interval(self, X: pd.DataFrame, level: float = 0.9) -> tuple[Floats, Floats]:
        """Return the interval that the exponent's standard error makes."""
        away = np.abs(np.log(np.asarray(X["cores"], dtype=np.float64) / self.known_at))
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
        If there are fewer than two runs, or a solver has no cores in them, or layouts differ in their solvers. If a run
        is far off the others.

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
    d, balanced = len(names), [_balanced(one) for one in each]
    usual = np.array([np.mean([np.log(times[name]) for times in balanced]) for name in names])
    same = {one: np.array([k for k, other in enumerate(each) if other == one]) for one in each}

    def predicted(unknowns: Floats) -> Floats:
        # Nobody waits in the middle, where a run takes 1, but for exp(unknowns); the last unknowns are the exponents'.
        exponents = _EXPONENT + unknowns[..., d, None] + unknowns[..., d + 1 :]
        times = {
            name: np.exp(usual[k] + unknowns[..., k, None] - exponents[..., k, None] * away[name])
            for k, name in enumerate(names)
        }
        found = np.empty((*unknowns.shape[:-1], n))
        for one, rows in same.items():
            found[..., rows] = one.seconds({name: times[name][..., rows] for name in names})
        return np.log(found)

    shift = float(np.mean(measured - predicted(np.zeros(2 * d + 1))))
    prior = np.array([SPREAD] * d + [_UNSURE] + [_APART] * d)

    if runs.outliers == "refuse":
        _check_no_lone_run(runs, predicted, prior)

    def squares(unknowns: Floats) -> Floats:
        return np.asarray(np.sum((measured - shift - predicted(unknowns)) ** 2, axis=-1))

    def density(unknowns: Floats) -> Floats:
        before = np.sum(unknowns**2 / (2 * prior**2), axis=-1)
        return np.asarray(evidence_of(squares(unknowns), n) - before, dtype=np.float64)

    drawn = posterior(density, prior)
    seen = waited_for(predicted, drawn, np.eye(2 * d + 1)[:d]).mean(axis=0) > _OFTEN
    levels, exponents = usual + drawn[:, :d], _EXPONENT + drawn[:, d, None] + drawn[:, d + 1 :]
    # Each curve is known best where the error of its time and that of its exponent are uncorrelated.
    unsure = exponents.std(axis=0)
    known_best = np.mean((levels - levels.mean(axis=0)) * (exponents - exponents.mean(axis=0)), axis=0) / unsure**2
    levels = levels - exponents * known_best
    middles, errors = np.median(levels, axis=0), levels.std(axis=0)
    curves = {}
    for k, name in enumerate(names):
        counts = runs.cores[name][seen[:, k]] if seen[:, k].any() else runs.cores[name]
        curves[name] = WholeRunCurve(
            float(np.exp(middles[k] + shift)), middle[name] * float(np.exp(known_best[k])),
            float(exponents[:, k].mean()), float(unsure[k]), (int(counts.min()), int(counts.max())),
        )  # fmt: skip
    scatter = float(np.sqrt(variance_of(squares(drawn), n).mean()))
    inside = Inside(dict.fromkeys(names, 1.0), np.cov(levels.T), scatter, n, draws=levels - middles)
    told = {name: bool(seen[:, k].sum() >= _FEWEST and errors[k] < _TOLD * SPREAD) for k, name in enumerate(names)}
    return WholeRuns(curves, inside, told)


def _check_no_lone_run(runs: CoupledRuns, predicted: Callable[[Floats], Floats], prior: Floats) -> None:
    """Refuse a run that is far off the others, with the level of these."""
    measured, nothing = np.log(runs.seconds), np.zeros(len(prior))
    each = SPREAD * np.eye(len(prior))[: len(prior) // 2]  # the solvers' times, without their exponents

    def fitted(rows: NDArray[np.bool_]) -> Floats:
        level = float(np.mean((measured - predicted(nothing))[rows]))
        return fitted_to(rows, lambda x: predicted(x) + level, measured, [nothing, *each, *-each], prior)

    check_no_lone_run(runs.cores, measured, fitted)


def _balanced(layout: Layout, seconds: float = 1.0) -> dict[str, float]:
    """Return the times of solvers by which nobody waits, and those in turn take equally long.

    A solver that occurs several times takes the shortest of these.

    Examples
    --------
    >>> from evenly.allocation.problem.layout import parse_layout
    >>> _balanced(parse_layout("max(max(ice, lnd) + atm, 2 * ocn)"))
    {'ice': 0.5, 'lnd': 0.5, 'atm': 0.5, 'ocn': 0.5}
    """
    if isinstance(layout, Solver):
        return {layout.name: seconds}
    parts = layout.children()
    share = layout.count if isinstance(layout, Repeated) else 1 if isinstance(layout, SideBySide) else len(parts)
    found: dict[str, float] = {}
    for times in (_balanced(part, seconds / share) for part in parts):
        found |= {name: min(time, found.get(name, time)) for name, time in times.items()}
    return found
