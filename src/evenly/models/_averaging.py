"""From the best candidates to one model: refit, weigh against rivals, average. See `evenly.models.pmnf` for why."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from evenly.models._candidates import TermSet
from evenly.models._search import Candidate, Conditions, Problem
from evenly.models.formula import Formula, Term
from evenly.models.log_quadratic import LogQuadratic
from evenly.models.power_law import PowerLaw

__all__ = ["Member", "average_formula", "left_out", "predict", "rivals", "weigh"]

Floats = NDArray[np.float64]

_MOST_MEMBERS = 24
#: Members of less than this share of the largest weight are left out.
_LEAST_SHARE = 1e-3
#: Mean squared log errors below this are rounding, and no reason to prefer one candidate to another.
_ROUNDING = 1e-16
#: What choosing exponents counts as, in coefficients, beside the prior.
_SEARCHED = 0.25
#: A sum of terms is not followed below this share of the power law: outside the range asked it may turn negative.
_FLOOR = 1e-3


@dataclass(frozen=True)
class Member:
    """One of the models averaged.

    Attributes
    ----------
    kind : {"pmnf", "log-pmnf", "power-law", "log-quadratic"}
    weight : float
        Share in the average.
    loss : float
        Mean squared log error on left-out runs.
    coefficients : int
        Fitted coefficients.
    left_out : array (n_runs,)
        Prediction of each run by the fit without it.
    formula : Formula or None
        For ``"log-pmnf"`` of the logarithm.
    rival : PowerLaw or LogQuadratic, optional
    unit : float
        What a rival's predictions are multiplied by.
    """

    kind: str
    weight: float
    loss: float
    coefficients: int
    left_out: Floats
    formula: Formula | None
    rival: PowerLaw | LogQuadratic | None = None
    unit: float = 1.0

    def predict(self, table: pd.DataFrame) -> Floats:
        """Return values for a table (n, d); a sum of terms may be zero or less outside the range asked."""
        if self.rival is not None:
            return self.unit * self.rival._predict(table)
        assert self.formula is not None  # noqa: S101 - for the type checker: only rivals lack one
        values = self.formula.evaluate(table.to_numpy(dtype=np.float64))
        return np.exp(np.clip(values, -700.0, 700.0)) if self.kind == "log-pmnf" else values

    def to_state(self) -> dict[str, Any]:
        """Return what `from_state` reads."""
        plain = {"kind": self.kind, "weight": self.weight, "loss": self.loss, "coefficients": self.coefficients,
                 "left_out": self.left_out, "unit": self.unit}  # fmt: skip
        if self.rival is not None:
            return {**plain, "rival": self.rival._get_state()}
        assert self.formula is not None  # noqa: S101 - for the type checker
        terms = [[t.coefficient, list(t.powers), list(t.logs)] for t in self.formula.terms]
        return {**plain, "names": list(self.formula.names), "terms": terms}

    @classmethod
    def from_state(cls, state: Mapping[str, Any]) -> Member:
        """Restore what `to_state` returned."""
        shared = {name: state[name] for name in ("kind", "weight", "loss", "coefficients", "unit")}
        shared["left_out"] = np.asarray(state["left_out"], dtype=np.float64)
        if "rival" in state:
            rival = PowerLaw() if state["kind"] == "power-law" else LogQuadratic()
            rival._set_state(state["rival"])
            return cls(**shared, formula=_in_unit(rival.formula_, state["unit"]), rival=rival)
        terms = tuple(Term(float(c), tuple(map(float, i)), tuple(map(float, j))) for c, i, j in state["terms"])
        return cls(**shared, formula=Formula(tuple(state["names"]), terms))


def rivals(table: pd.DataFrame, values: Floats, weights: Floats, conditions: Conditions) -> list[Member]:
    """Fit the power law and the log-quadratic model, the latter left out where it breaks the monotony asked for."""
    fitted = []
    for model in (PowerLaw(), LogQuadratic()):
        model._learn(table, values, weights)
        if isinstance(model, LogQuadratic) and model.degree_ == "linear":
            continue
        predictions = values / np.exp(model._fit.left_out)
        loss = float(np.average(model._fit.left_out**2, weights=weights))
        fitted.append(Member(model.method, 0.0, loss, model._fit.rank, predictions, model.formula_, rival=model))
    return fitted[:1] + [member for member in fitted[1:] if _obeys(member.formula, conditions)]


def _obeys(formula: Formula | None, conditions: Conditions) -> bool:
    if formula is None or not conditions.signs:
        return True
    names = formula.names
    return all((s * formula.derivative(conditions.points, names[k]) > 0).all() for k, s in conditions.signs.items())


def weigh(
    problem: Problem,
    terms: TermSet,
    found: Sequence[Candidate],
    competitors: Sequence[Member],
    counts: Sequence[int],
    *,
    names: Sequence[str],
    unit: float,
) -> list[Member]:
    """Refit candidates, weigh them against rivals, and keep those that matter, the largest weight first.

    Parameters
    ----------
    problem, terms, found
        What was measured, and the candidates found.
    competitors : sequence of Member
    counts : sequence of int
        Number of candidates of 0, 1, … terms.
    names : sequence of str
    unit : float
        What values are to be multiplied by.
    """
    members = [*competitors, *(m for c in found if (m := _refit(problem, terms, c, names)) is not None)]
    scores = np.array([_score(m, len(problem.values), counts) for m in members])
    if not np.isfinite(scores).any():
        members, scores = members[:1], np.zeros(1)
    weights = np.exp(-0.5 * (scores - np.nanmin(scores)))
    weights[~np.isfinite(weights)] = 0.0
    order = [int(k) for k in np.argsort(-weights, kind="stable")][:_MOST_MEMBERS]
    order = [k for k in order if weights[k] >= _LEAST_SHARE * weights[order[0]]]
    total = float(sum(weights[k] for k in order))
    return [_scaled(replace(members[k], weight=float(weights[k]) / total), unit) for k in order]


def _score(member: Member, m: int, counts: Sequence[int]) -> float:
    """Return S of `evenly.models.pmnf`; infinite where too few runs are left to judge by."""
    searched = 0 if member.rival is not None else member.coefficients - 1
    k = member.coefficients + 1 + (_SEARCHED if searched else 0.0)
    if not math.isfinite(member.loss) or m - k - 1 <= 0:
        return math.inf
    prior = 2 * math.log(counts[searched]) if searched else 0.0
    return m * math.log(max(member.loss, _ROUNDING)) + 2 * k + 2 * k * (k + 1) / (m - k - 1) + prior


def _refit(problem: Problem, terms: TermSet, candidate: Candidate, names: Sequence[str]) -> Member | None:
    """Fit one candidate to all runs; None where the fit without some run predicts nothing above zero."""
    roots = problem.roots
    length = math.sqrt(float(roots @ roots))
    intercept = roots / length
    raw = terms.values(problem.points, np.array(candidate.terms, dtype=np.int64)) * roots
    along = raw @ intercept
    columns = raw - along[:, None] * intercept
    norms = np.sqrt(np.einsum("ij,ij->i", columns, columns))
    columns = columns / norms[:, None]
    z = roots * problem.response
    q, r = np.linalg.qr(np.concatenate([columns.T, math.sqrt(problem.ridge) * np.eye(len(columns))]))
    fitted = np.linalg.solve(r, q.T @ np.concatenate([z, np.zeros(len(columns))])) if len(columns) else np.zeros(0)
    free = 1.0 - intercept**2 - np.einsum("ij,ij->i", q[: len(z)], q[: len(z)])
    residuals = z - (intercept @ z) * intercept - fitted @ columns
    with np.errstate(all="ignore"):
        predictions = problem.predicted(problem.response - residuals / free / roots)
        logs = np.log(predictions / problem.values)
    if not np.isfinite(logs).all() or not (free > 0).all():
        return None
    slopes = fitted / norms
    constant = (intercept @ z - slopes @ along) / length
    formula = _as_formula(terms, candidate, names, slopes, float(constant))
    kind = "log-pmnf" if problem.fit == "log" else "pmnf"
    loss = float(np.average(logs**2, weights=problem.weights))
    return Member(kind, 0.0, loss, 1 + len(slopes), predictions, formula)


def _as_formula(terms: TermSet, candidate: Candidate, names: Sequence[str], slopes: Floats, constant: float) -> Formula:
    listed = [Term(constant, (0.0,) * len(names), (0.0,) * len(names))]
    for number, slope in zip(candidate.terms, slopes, strict=True):
        factors = terms.factors_of(number)
        listed.append(Term(float(slope), tuple(f[0] for f in factors), tuple(f[1] for f in factors)))
    return Formula.total(names, listed)


def _scaled(member: Member, unit: float) -> Member:
    """Turn a member fitted to values over `unit` into one of the values."""
    left_out = member.left_out * unit
    if member.kind == "log-pmnf":
        assert member.formula is not None  # noqa: S101 - for the type checker
        d = len(member.formula.names)
        shift = Term(math.log(unit), (0.0,) * d, (0.0,) * d)
        formula: Formula | None = Formula.total(member.formula.names, [*member.formula.terms, shift])
    else:
        formula = _in_unit(member.formula, unit)
    return replace(member, left_out=left_out, formula=formula, unit=unit)


def _in_unit(formula: Formula | None, unit: float) -> Formula | None:
    if formula is None:
        return None
    return Formula(formula.names, tuple(replace(t, coefficient=t.coefficient * unit) for t in formula.terms))


def average_formula(members: Sequence[Member]) -> Formula | None:
    """Return the weighted sum of all members as one formula; None if one has none, or is one of the logarithm."""
    if any(member.formula is None or member.kind == "log-pmnf" for member in members):
        return None
    terms = [
        replace(term, coefficient=term.coefficient * member.weight)
        for member in members
        for term in (member.formula.terms if member.formula else ())
    ]
    assert members[0].formula is not None  # noqa: S101 - for the type checker
    return Formula.total(members[0].formula.names, terms)


def left_out(members: Sequence[Member]) -> Floats:
    """Return the average's prediction of each run by the fits without it, (n_runs,); not finite where there is none."""
    total = sum(member.weight * member.left_out for member in members)
    return np.asarray(total, dtype=np.float64)


def predict(members: Sequence[Member], table: pd.DataFrame) -> tuple[Floats, Floats]:
    """Return the average's values and the spread of its members' logarithms, each (n,)."""
    with np.errstate(over="ignore"):
        each = np.array([member.predict(table) for member in members])
    shares = np.array([member.weight for member in members])
    raw = shares @ each
    least = _FLOOR * np.min(np.where(each > 0, each, np.inf), axis=0)
    least = np.where(np.isfinite(least), least, np.finfo(np.float64).tiny)
    values = np.clip(raw, np.maximum(least, np.finfo(np.float64).tiny), 1e300)
    logs = np.log(np.clip(each, np.maximum(least, np.finfo(np.float64).tiny), 1e300)) - np.log(values)
    return values, np.sqrt(shares @ logs**2)
