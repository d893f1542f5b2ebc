"""Averaging of the best PMNF candidates and their rivals: weights and predictions. See `pmnf` for the reasons."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd

from evenly.models.array_types import Flags, Floats
from evenly.models.pmnf.problem import Problem, SearchReport
from evenly.models.scaling_laws.conditions import Conditions
from evenly.models.scaling_laws.credible_bounds import credibilities, relative_leverage
from evenly.models.scaling_laws.formula import Formula, Term
from evenly.models.scaling_laws.laws import fit_laws
from evenly.models.scaling_laws.log_quadratic import LogQuadratic
from evenly.models.scaling_laws.monotonicity import Fault, fault
from evenly.models.scaling_laws.power_law import PowerLaw

__all__ = ["Member", "average_formula", "predict", "residuals", "rivals", "weigh", "who_leads"]

#: Penalty per coefficient of the power law and of a law of fixed form, in units of -2 log-likelihood. This is AIC's 2,
#: without the small-sample correction, with which no model of three coefficients could take part at 5 runs.
_LAW_PENALTY = 2.0
#: Prior weight of a law of fixed form in averaged predictions, relative to the power law. Laws bend only upwards, so
#: with equal weights they would raise predictions of curves that are power laws. With 1/64, a bend that shows in 4 runs
#: of 3 % noise still gives a law most of the weight.
_LAW_SHARE = 1 / 64
_MOST_MEMBERS = 24
#: Members with less than this share of the largest weight are dropped.
_LEAST_SHARE = 1e-3
#: Mean squared log errors below this are rounding errors and count as equal.
_ROUNDING = 1e-16
#: The search for exponents counts as this many coefficients, in addition to the prior 1 / N.
_SEARCHED = 0.25
#: Predictions are at least this share of the smallest prediction above zero of any member. Far outside the prediction
#: range, each sum of terms may become negative.
_FLOOR = 1e-3


@dataclass(frozen=True)
class Member:
    """One model of the average.

    Attributes
    ----------
    kind : str
        "pmnf" or "log-pmnf" if found by search, "power-law", "log-quadratic", or the `kind` of a law
        (`evenly.models.scaling_laws.laws.Law`).
    weight : float
        Weight in averaged predictions.
    credibility : float
        Weight in the interval; see `_weights`.
    loss : float
        Mean squared log error on left-out runs.
    coefficients : int
        Number of fitted coefficients.
    left_out : array (n_runs,)
        Leave-one-out prediction of each run.
    formula : Formula or None
        The member as a formula; for ``"log-pmnf"`` the formula of the logarithm.
    spread : array (n_terms, n_terms)
        Inverse Gram matrix of the formula's terms; empty if `rival` is set, which has its own.
    rival : PowerLaw or LogQuadratic, optional
        The fitted model, if the member is one of these.
    unit : float
        Factor by which the predictions of `rival` are multiplied.
    share : float
        The member's share of the prior weight of its kind.
    """

    kind: str
    weight: float
    loss: float
    coefficients: int
    left_out: Floats
    formula: Formula | None
    spread: Floats
    rival: PowerLaw | LogQuadratic | None = None
    unit: float = 1.0
    share: float = 1.0
    credibility: float = 0.0

    @property
    def searched(self) -> bool:
        """Whether a search found it."""
        return self.kind in ("pmnf", "log-pmnf")

    def leverage(self, table: pd.DataFrame) -> Floats:
        """Return the leverage at each row, (n,): the variance of the log prediction, in units of one run's variance."""
        if self.rival is not None:
            return self.rival._fit.leverage(self.rival._design(table))
        assert self.formula is not None  # noqa: S101 - for the type checker: only rivals lack one
        points = table.to_numpy(dtype=np.float64)
        return relative_leverage(self.formula, self.spread, points, of_logarithm=self.kind == "log-pmnf")

    def predict(self, table: pd.DataFrame) -> Floats:
        """Return predictions for a table (n, d), (n,); a sum of terms may be negative outside the prediction range."""
        if self.rival is not None:
            return self.unit * self.rival._predict(table)
        assert self.formula is not None  # noqa: S101 - for the type checker: only rivals lack one
        values = self.formula.evaluate(table.to_numpy(dtype=np.float64))
        return np.exp(np.clip(values, -700.0, 700.0)) if self.kind == "log-pmnf" else values

    def to_state(self) -> dict[str, Any]:
        """Return the state as a dict, which `from_state` reads."""
        plain = {"kind": self.kind, "weight": self.weight, "loss": self.loss, "coefficients": self.coefficients,
                 "left_out": self.left_out, "unit": self.unit, "credibility": self.credibility,
                 "spread": self.spread}  # fmt: skip
        if self.rival is not None:
            return {**plain, "rival": self.rival._get_state()}
        assert self.formula is not None  # noqa: S101 - for the type checker
        terms = [[t.coefficient, list(t.powers), list(t.logs)] for t in self.formula.terms]
        return {**plain, "names": list(self.formula.names), "terms": terms}

    @classmethod
    def from_state(cls, state: Mapping[str, Any]) -> Member:
        """Restore the state from the result of `to_state`."""
        shared = {name: state[name] for name in ("kind", "weight", "loss", "coefficients", "unit", "credibility")}
        shared["spread"] = np.asarray(state["spread"], dtype=np.float64)
        shared["left_out"] = np.asarray(state["left_out"], dtype=np.float64)
        if "rival" in state:
            rival = PowerLaw() if state["kind"] == "power-law" else LogQuadratic()
            rival._set_state(state["rival"])
            return cls(**shared, formula=_in_unit(rival.formula_, state["unit"]), rival=rival)
        terms = tuple(Term(float(c), tuple(map(float, i)), tuple(map(float, j))) for c, i, j in state["terms"])
        return cls(**shared, formula=Formula(tuple(state["names"]), terms))


def rivals(
    table: pd.DataFrame, values: Floats, weights: Floats, conditions: Conditions, search: SearchReport
) -> list[Member]:
    """Fit the rivals of searched candidates: power law, log-quadratic model and laws of fixed form.

    Rivals that violate the conditions are dropped and counted in `search`. The power law is always kept; its exponents
    of the wrong sign are set to zero.
    """
    fitted = [_power_law(table, values, weights, conditions, search)]
    quadratic = LogQuadratic()
    quadratic._learn_itself(table, values, weights)
    laws = [
        Member(law.kind, 0.0, law.loss, law.coefficients, law.left_out, law.formula, law.spread, share=law.share)
        for law in fit_laws(table, values, weights)
    ]
    if quadratic.degree_ != "linear":
        laws.insert(0, _as_rival(quadratic, values, weights))
    for member in laws:
        # The signs of the slopes can't be checked without a formula.
        unknown: Fault | None = "not monotone" if conditions.signs else None
        broken = unknown if member.formula is None else fault(member.formula, conditions)
        if broken is None:
            fitted.append(member)
        else:
            search.add(broken, 1)
    return fitted


def _as_rival(model: PowerLaw | LogQuadratic, values: Floats, weights: Floats) -> Member:
    """Return a fitted model as a member of weight 0."""
    predictions = values / np.exp(model._fit.left_out)
    loss = float(np.average(model._fit.left_out**2, weights=weights))
    none = np.zeros((0, 0))
    return Member(model.method, 0.0, loss, model._fit.rank, predictions, model.formula_, none, rival=model)


def _power_law(
    table: pd.DataFrame, values: Floats, weights: Floats, conditions: Conditions, search: SearchReport
) -> Member:
    """Fit a power law; while an exponent has the wrong sign, hold the worst such parameter constant and refit."""
    constant = table.copy()
    wrong: list[int] = []
    while True:
        model = PowerLaw()
        model._learn_itself(constant, values, weights)
        exponents = model._fit.coefficients[1:].copy()
        exponents[wrong] = 0.0
        worst = min(((s * exponents[k], k) for k, s in conditions.signs.items()), default=(0.0, -1))
        if worst[0] >= 0:
            break
        wrong.append(worst[1])
        # Use the least value: it decides whether the parameter's coordinate is its logarithm.
        constant[table.columns[worst[1]]] = table.iloc[:, worst[1]].min()
    if wrong:
        search.add("not monotone", 1)
        # The coefficient of a constant column has rounding errors: set it to exactly zero.
        model._fit = replace(model._fit, coefficients=np.append(model._fit.coefficients[:1], exponents))
        model._finish()
    return _as_rival(model, values, weights)


def weigh(
    problem: Problem,
    members: Sequence[Member],
    counts: Sequence[int],
    conditions: Conditions,
    search: SearchReport,
    *,
    unit: float,
    average: bool = True,
) -> list[Member]:
    """Weigh members; return those of enough weight that meet the conditions everywhere, the largest weight first.

    Parameters
    ----------
    problem : Problem
        The runs.
    members : sequence of Member
        Rivals, the power law first, and refitted candidates.
    counts : sequence of int
        Number of candidates of 0, 1, … terms.
    conditions : Conditions
        Conditions to check on the whole range; so far, candidates were checked at ``points`` only.
    search : SearchReport
        Counts members that violate the conditions.
    unit : float
        Factor by which values are multiplied to get the original unit.
    average : bool
        If not, the searched candidate of the smallest loss has all weight in predictions; intervals stay.
    """
    members, checked = list(members), set[int]()
    while True:
        # Only members of enough weight are checked. Without those that fail, weights change, and others are checked.
        weights, tails = _weights(members, counts, len(problem.values))
        kept = _kept(weights) | _kept(tails)
        new = [members[k] for k in np.flatnonzero(kept) if id(members[k]) not in checked]
        checked.update(map(id, new))
        broken = {
            id(member): reason
            for member in new
            if member.searched and member.formula and (reason := fault(member.formula, conditions)) is not None
        }
        if not broken:
            break
        for reason in broken.values():
            search.add(reason, 1)
        members = [member for member in members if id(member) not in broken]
    searched = [k for k, member in enumerate(members) if member.searched and math.isfinite(member.loss)]
    if not average and searched:
        best = min(searched, key=lambda k: members[k].loss)
        weights = np.eye(len(members))[best]
        kept[best] = True
    order = [int(k) for k in np.argsort(-weights, kind="stable") if kept[k]]
    total, credible = float(weights[order].sum()), float(tails[order].sum())
    return [
        _finished(
            replace(members[k], weight=float(weights[k]) / total, credibility=float(tails[k]) / credible), problem, unit
        )
        for k in order
    ]


def _weights(members: Sequence[Member], counts: Sequence[int], runs: int) -> tuple[Floats, Floats]:
    """Return the members' weights in predictions and in intervals, each (n_members,).

    The weights in predictions are ``share · prior · exp(-S / 2)``, normalised, with S from `_score`. If none is finite,
    the first member has all the weight. Half of the weights in intervals are `credibilities`, which even out what few
    runs tell of laws, but not that the best of many searched candidates may fit them by chance. The other half are the
    weights in predictions: what predicts counts in its own interval.
    """
    # All searched candidates of the same number of terms together have the prior weight of one power law.
    priors = np.array([-math.log(counts[m.coefficients - 1]) if m.searched else math.log(m.share) for m in members])
    shares = [0.0 if m.searched or m.rival is not None else math.log(_LAW_SHARE) for m in members]
    logs = np.array(shares) + priors - 0.5 * np.array([_score(m, runs) for m in members])
    finite = np.isfinite(logs)
    weights = np.append(1.0, np.zeros(len(logs) - 1))
    if finite.any():
        weights = np.exp(np.where(finite, logs - logs[finite].max(), -np.inf))
        weights = weights / weights.sum()
    losses, coefficients = np.array([m.loss for m in members]), np.array([m.coefficients for m in members])
    return weights, 0.5 * (credibilities(losses, coefficients, priors, runs) + weights)


def _kept(weights: Floats) -> Flags:
    """Mark the largest weights, (n_members,): at most `_MOST_MEMBERS`, and at least `_LEAST_SHARE` of the largest."""
    largest = np.argsort(-weights, kind="stable")[:_MOST_MEMBERS]
    kept = np.zeros(len(weights), dtype=np.bool_)
    kept[largest] = weights[largest] >= _LEAST_SHARE * weights[largest[0]]
    return kept


def _score(member: Member, m: int) -> float:
    """Return S of `evenly.models.pmnf.pmnf` without the prior; infinite if m runs are too few for the coefficients."""
    k = member.coefficients
    if not math.isfinite(member.loss):
        return math.inf
    fit = m * math.log(max(member.loss, _ROUNDING))
    if not member.searched and member.kind != "log-quadratic":
        return fit + _LAW_PENALTY * k if m > k else math.inf
    # AICc; the noise and the search for exponents count as coefficients.
    all_in = k + 1 + (_SEARCHED if member.searched else 0.0)
    left = m - all_in - 1
    return fit + 2 * all_in + 2 * all_in * (all_in + 1) / left if left > 0 else math.inf


def _finished(member: Member, problem: Problem, unit: float) -> Member:
    """Rescale a member from values divided by `unit` to values; add the inverse Gram matrix of a searched member."""
    formula, spread = member.formula, member.spread
    if member.searched and formula is not None and formula.terms:
        columns = [term.values(problem.points) / term.coefficient for term in formula.terms]
        design = np.column_stack(columns) * problem.roots[:, None]
        lengths = np.linalg.norm(design, axis=0)
        scaled = design / lengths
        spread = np.linalg.pinv(scaled.T @ scaled, hermitian=True) / np.outer(lengths, lengths)
    if member.kind == "log-pmnf" and formula is not None:
        # ln(unit · y) = ln(y) + ln(unit).
        none = (0.0,) * len(formula.names)
        formula = Formula.total(formula.names, [*formula.terms, Term(math.log(unit), none, none)])
    else:
        scale = np.ones(len(spread))
        scale[: len(formula.terms) if formula is not None else 0] = unit  # exponents have no unit
        formula, spread = _in_unit(formula, unit), spread * np.outer(scale, scale)
    return replace(member, left_out=member.left_out * unit, unit=unit, formula=formula, spread=spread)


def _in_unit(formula: Formula | None, unit: float) -> Formula | None:
    if formula is None:
        return None
    return Formula(formula.names, tuple(replace(t, coefficient=t.coefficient * unit) for t in formula.terms))


def who_leads(members: Sequence[Member]) -> list[str]:
    """Return a note if searched candidates have less than half of the weight, otherwise no note."""
    searched = sum(member.weight for member in members if member.searched)
    if searched >= 0.5:
        return []
    return [f"{members[0].kind} leads, candidates searched have {100 * searched:.0f} % of the weight"]


def average_formula(members: Sequence[Member]) -> Formula | None:
    """Return the weighted sum of all members as one formula; None if a member has none or models the logarithm."""
    members = [member for member in members if member.weight > 0]
    if any(member.formula is None or member.kind == "log-pmnf" for member in members):
        return None
    terms = [
        replace(term, coefficient=term.coefficient * member.weight)
        for member in members
        for term in (member.formula.terms if member.formula else ())
    ]
    assert members[0].formula is not None  # noqa: S101 - for the type checker
    return Formula.total(members[0].formula.names, terms)


def residuals(members: Sequence[Member], values: Floats) -> Floats:
    """Return each run's leave-one-out log residual, (n_runs,), as the credibility-weighted RMS over the members.

    The residuals of the average itself would be too small, since members are weighted by these same residuals.
    """
    with np.errstate(invalid="ignore", divide="ignore"):
        squares = [
            member.credibility * np.log(values / member.left_out) ** 2 for member in members if member.credibility
        ]
        return np.asarray(np.sqrt(sum(squares)), dtype=np.float64)


def predict(members: Sequence[Member], table: pd.DataFrame, edge: Floats) -> tuple[Floats, Floats]:
    """Return the averaged predictions (n,) and the logarithms of the members' predictions (n_members, n).

    `edge` (n, d) are the nearest points of the measured range. Beyond it, members that can't be believed (`_believed`)
    have no weight, and stand at the average in intervals, unless no member can be believed.
    """
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        each = np.array([member.predict(table) for member in members])
        believed = np.array([_believed(*one, table, edge) for one in zip(members, each, strict=True)])
    shares = np.array([member.weight for member in members])
    # Predictions are clipped at a share of the smallest member prediction above zero.
    floor = _FLOOR * np.min(np.where(each > 0, each, np.inf), axis=0)
    floor = np.maximum(np.where(np.isfinite(floor), floor, 0.0), np.finfo(np.float64).tiny)
    centre = shares @ each
    weights = shares[:, np.newaxis] * believed
    fewer = np.flatnonzero(~believed.all(axis=0) & (weights.sum(axis=0) > 0))
    centre[fewer] = np.average(np.where(believed, each, 0.0)[:, fewer], axis=0, weights=weights[:, fewer])
    centre = np.clip(centre, floor, 1e300)
    logs = np.log(np.clip(each, floor, 1e300))
    logs[:, fewer] = np.where(believed[:, fewer], logs[:, fewer], np.log(centre[fewer]))
    return centre, logs


def _believed(member: Member, values: Floats, table: pd.DataFrame, edge: Floats) -> Flags:
    """Tell where a member's predictions (n,) are those of a time: above zero, and without a peak beyond the range.

    Laws of times are sums of positive parts. In logarithms they have dips, but no peaks. A sum that rises at the edge
    of the measured range and falls farther out, as to few cores, only fits what was measured.
    """
    believed = values > 0
    points = table.to_numpy(dtype=np.float64)
    if member.formula is None or not (outside := np.flatnonzero((points != edge).any(axis=1))).size:
        return believed
    points, edge = points[outside], edge[outside]
    for k, name in enumerate(member.formula.names):
        out = np.sign(points[:, k] - edge[:, k])
        rises, falls = (out * member.formula.derivative(at, name) for at in (edge, points))
        believed[outside] &= ~((rises > 0) & (falls < 0))
    return believed
