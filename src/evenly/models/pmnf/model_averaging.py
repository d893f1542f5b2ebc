"""From the best candidates to one model: refit, weigh against rivals, average. See `pmnf` for why."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from evenly.models.pmnf.problem import Candidate, Problem, Search
from evenly.models.pmnf.terms import TermSet
from evenly.models.scaling_laws.conditions import Conditions
from evenly.models.scaling_laws.credible_bounds import credibilities, relative_leverage
from evenly.models.scaling_laws.formula import Formula, Term
from evenly.models.scaling_laws.laws import fit_laws
from evenly.models.scaling_laws.log_quadratic import LogQuadratic
from evenly.models.scaling_laws.monotonicity import Fault, fault
from evenly.models.scaling_laws.power_law import PowerLaw

__all__ = ["Member", "average_formula", "predict", "refit", "residuals", "rivals", "weigh", "who_leads"]

Floats = NDArray[np.float64]

#: What a coefficient of a law that was planted costs, in 2 log-likelihoods: Akaike's 2 without his correction for small
#: samples, which nothing of three coefficients survives at 5 runs.
_PLANTED = 2.0
#: Share of a law in averages, relative to the power law. Laws that bend only upwards, averaged on an equal footing,
#: move predictions of curves that are power laws up; at 1/64 a bend that 4 runs of 3 % noise show still wins.
_LAW_SHARE = 1 / 64
_MOST_MEMBERS = 24
#: Members of less than this share of the largest weight are left out.
_LEAST_SHARE = 1e-3
#: Mean squared log errors below this are rounding, and no reason to prefer one candidate to another.
_ROUNDING = 1e-16
#: What choosing exponents counts as, in coefficients, beside the prior.
_SEARCHED = 0.25
_FOUND_BY_SEARCH = ("pmnf", "log-pmnf")
#: A sum of terms is not followed below this share of the power law: outside the range asked it may turn negative.
_FLOOR = 1e-3


@dataclass(frozen=True)
class Member:
    """One of the models averaged.

    Attributes
    ----------
    kind : str
        "pmnf" or "log-pmnf" if found by search, "power-law", "log-quadratic", or that of a law (`_laws.Law`).
    weight : float
        Share in the average.
    credibility : float
        Share in the interval; see `evenly.models.scaling_laws.credible_bounds`.
    loss : float
        Mean squared log error on left-out runs.
    coefficients : int
        Fitted coefficients.
    left_out : array (n_runs,)
        Prediction of each run by the fit without it.
    formula : Formula or None
        For ``"log-pmnf"`` of the logarithm.
    spread : array (n_terms, n_terms)
        Inverse Gram matrix of the formula's terms as fitted; empty for rivals, which know their own.
    rival : PowerLaw or LogQuadratic, optional
    unit : float
        What a rival's predictions are multiplied by.
    share : float
        Part of its kind's prior weight.
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

    def leverage(self, table: pd.DataFrame) -> Floats:
        """Return the variance of the logarithm at each row over that of one run, as far as coefficients cause it."""
        if self.rival is not None:
            return self.rival._fit.leverage(self.rival._design(table))
        assert self.formula is not None  # noqa: S101 - for the type checker: only rivals lack one
        points = table.to_numpy(dtype=np.float64)
        return relative_leverage(self.formula, self.spread, points, of_logarithm=self.kind == "log-pmnf")

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
                 "left_out": self.left_out, "unit": self.unit, "credibility": self.credibility,
                 "spread": self.spread}  # fmt: skip
        if self.rival is not None:
            return {**plain, "rival": self.rival._get_state()}
        assert self.formula is not None  # noqa: S101 - for the type checker
        terms = [[t.coefficient, list(t.powers), list(t.logs)] for t in self.formula.terms]
        return {**plain, "names": list(self.formula.names), "terms": terms}

    @classmethod
    def from_state(cls, state: Mapping[str, Any]) -> Member:
        """Restore what `to_state` returned."""
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
    table: pd.DataFrame, values: Floats, weights: Floats, conditions: Conditions, search: Search
) -> list[Member]:
    """Fit the power law, the log-quadratic model and the laws; those not as monotone as asked are left out and counted.

    In place of a power law that is not, there is one whose wrong exponents are zero, so that there always is a rival.
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
        broken = _fault_of_rival(member, conditions)
        if broken is None:
            fitted.append(member)
        else:
            search.add(broken, 1)
    return fitted


def _fault_of_rival(member: Member, conditions: Conditions) -> Fault | None:
    if member.formula is not None:
        return fault(member.formula, conditions)
    # Without a formula a slope is not known.
    return "not monotone" if conditions.signs else None


def _as_rival(model: PowerLaw | LogQuadratic, values: Floats, weights: Floats) -> Member:
    predictions = values / np.exp(model._fit.left_out)
    loss = float(np.average(model._fit.left_out**2, weights=weights))
    none = np.zeros((0, 0))
    return Member(model.method, 0.0, loss, model._fit.rank, predictions, model.formula_, none, rival=model)


def _power_law(table: pd.DataFrame, values: Floats, weights: Floats, conditions: Conditions, search: Search) -> Member:
    """Fit a power law; parameters whose exponents have the wrong sign are held constant, one by one."""
    held = table.copy()
    wrong: list[int] = []
    while True:
        model = PowerLaw()
        model._learn_itself(held, values, weights)
        exponents = model._fit.coefficients[1:].copy()
        exponents[wrong] = 0.0
        worst = min(((s * exponents[k], k) for k, s in conditions.signs.items()), default=(0.0, -1))
        if worst[0] >= 0:
            break
        wrong.append(worst[1])
        # The least value, as it decides between a power and an exponential.
        held[table.columns[worst[1]]] = table.iloc[:, worst[1]].min()
    if wrong:
        search.add("not monotone", 1)
        # Rounding leaves the coefficient of a constant column near zero.
        model._fit = replace(model._fit, coefficients=np.append(model._fit.coefficients[:1], exponents))
        model._finish()
    return _as_rival(model, values, weights)


def refit(problem: Problem, terms: TermSet, found: Sequence[Candidate], names: Sequence[str]) -> list[Member]:
    """Fit candidates to all runs; without those that, fitted without some run, predict nothing above zero for it."""
    tables = terms.tables(problem.points)
    return [member for c in found if (member := _refit(problem, terms, tables, c, names)) is not None]


def weigh(
    problem: Problem,
    members: Sequence[Member],
    counts: Sequence[int],
    conditions: Conditions,
    search: Search,
    *,
    unit: float,
) -> list[Member]:
    """Weigh members, and keep those that matter and obey the conditions everywhere, the largest weight first.

    Parameters
    ----------
    problem : Problem
    members : sequence of Member
        Rivals, of which the first is never left out, and refitted candidates.
    counts : sequence of int
        Number of candidates of 0, 1, … terms.
    conditions : Conditions
        Of which candidates have seen only the points.
    search : Search
        Counts those that don't obey.
    unit : float
        What values are to be multiplied by.
    """
    members, checked = list(members), set[int]()
    while True:
        weights, tails = _weights(members, counts, len(problem.values))
        kept = _kept(weights) | _kept(tails)
        new = [members[k] for k in np.flatnonzero(kept) if id(members[k]) not in checked]
        checked.update(map(id, new))
        broken = {id(member): reason for member in new if (reason := _fault_of_found(member, conditions)) is not None}
        if not broken:
            break
        for reason in broken.values():
            search.add(reason, 1)
        members = [member for member in members if id(member) not in broken]
    order = [int(k) for k in np.argsort(-weights, kind="stable") if kept[k]]
    total, credible = float(weights[order].sum()), float(tails[order].sum())
    shared = ((k, float(weights[k]) / total, float(tails[k]) / credible) for k in order)
    return [_scaled(_with_spread(replace(members[k], weight=w, credibility=c), problem), unit) for k, w, c in shared]


def _fault_of_found(member: Member, conditions: Conditions) -> Fault | None:
    return fault(member.formula, conditions) if member.kind in _FOUND_BY_SEARCH and member.formula else None


def _weights(members: Sequence[Member], counts: Sequence[int], runs: int) -> tuple[Floats, Floats]:
    """Return the members' weights in predictions and in intervals, each (n_members,)."""
    priors = np.array([_log_prior(m, counts) for m in members])
    scores = np.array([_score(m, runs) for m in members])
    weights = _softmax(np.array([_log_share(m) for m in members]) + priors - 0.5 * scores)
    losses, coefficients = np.array([m.loss for m in members]), np.array([m.coefficients for m in members])
    return weights, credibilities(losses, coefficients, priors, runs)


def _softmax(logs: Floats) -> Floats:
    """Exponentials over their sum; all on the first if none is finite."""
    finite = np.isfinite(logs)
    if not finite.any():
        return np.append(1.0, np.zeros(len(logs) - 1))
    weights = np.exp(np.where(finite, logs - logs[finite].max(), -np.inf))
    return np.asarray(weights / weights.sum(), dtype=np.float64)


def _kept(weights: Floats) -> NDArray[np.bool_]:
    largest = np.argsort(-weights, kind="stable")[:_MOST_MEMBERS]
    kept = np.zeros(len(weights), dtype=np.bool_)
    kept[largest] = weights[largest] >= _LEAST_SHARE * weights[largest[0]]
    return kept


def _log_prior(member: Member, counts: Sequence[int]) -> float:
    if member.kind in _FOUND_BY_SEARCH:
        return -math.log(counts[member.coefficients - 1])
    return math.log(member.share)


def _log_share(member: Member) -> float:
    return 0.0 if member.kind in _FOUND_BY_SEARCH or member.rival is not None else math.log(_LAW_SHARE)


def _score(member: Member, m: int) -> float:
    """Return S of `evenly.models.pmnf.pmnf` without the prior; infinite where too few runs are left to judge by."""
    k = member.coefficients
    if not math.isfinite(member.loss):
        return math.inf
    fit = m * math.log(max(member.loss, _ROUNDING))
    if member.kind not in _FOUND_BY_SEARCH and member.kind != "log-quadratic":
        return fit + _PLANTED * k if m > k else math.inf
    all_in = k + 1 + (_SEARCHED if member.kind in _FOUND_BY_SEARCH else 0.0)
    left = m - all_in - 1
    return fit + 2 * all_in + 2 * all_in * (all_in + 1) / left if left > 0 else math.inf


def _refit(
    problem: Problem, terms: TermSet, tables: list[Floats], candidate: Candidate, names: Sequence[str]
) -> Member | None:
    """Fit one candidate to all runs; None where the fit without some run predicts nothing above zero."""
    roots = problem.roots
    length = math.sqrt(float(roots @ roots))
    intercept = roots / length
    raw = terms.from_tables(tables, np.array(candidate.terms, dtype=np.int64)) * roots
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
    return Member(kind, 0.0, loss, 1 + len(slopes), predictions, formula, np.zeros((0, 0)))


def _with_spread(member: Member, problem: Problem) -> Member:
    """Give a member that a search found the inverse Gram matrix of its terms."""
    if member.kind not in _FOUND_BY_SEARCH or member.formula is None or not member.formula.terms:
        return member
    columns = [term.values(problem.points) / term.coefficient for term in member.formula.terms]
    design = np.column_stack(columns) * problem.roots[:, None]
    lengths = np.linalg.norm(design, axis=0)
    scaled = design / lengths
    return replace(member, spread=np.linalg.pinv(scaled.T @ scaled, hermitian=True) / np.outer(lengths, lengths))


def _as_formula(terms: TermSet, candidate: Candidate, names: Sequence[str], slopes: Floats, constant: float) -> Formula:
    listed = [Term(constant, (0.0,) * len(names), (0.0,) * len(names))]
    for number, slope in zip(candidate.terms, slopes, strict=True):
        factors = terms.factors_of(number)
        listed.append(Term(float(slope), tuple(f[0] for f in factors), tuple(f[1] for f in factors)))
    return Formula.total(names, listed)


def _scaled(member: Member, unit: float) -> Member:
    """Turn a member fitted to values over `unit` into one of the values."""
    member = replace(member, left_out=member.left_out * unit, unit=unit)
    if member.kind == "log-pmnf":
        assert member.formula is not None  # noqa: S101 - for the type checker
        d = len(member.formula.names)
        shift = Term(math.log(unit), (0.0,) * d, (0.0,) * d)
        return replace(member, formula=Formula.total(member.formula.names, [*member.formula.terms, shift]))
    return replace(member, formula=_in_unit(member.formula, unit), spread=member.spread * unit**2)


def _in_unit(formula: Formula | None, unit: float) -> Formula | None:
    if formula is None:
        return None
    return Formula(formula.names, tuple(replace(t, coefficient=t.coefficient * unit) for t in formula.terms))


def who_leads(members: Sequence[Member]) -> list[str]:
    """Say so where most of the weight is not on candidates that were searched."""
    searched = sum(member.weight for member in members if member.kind in _FOUND_BY_SEARCH)
    if searched >= 0.5:
        return []
    return [f"{members[0].kind} leads, candidates searched have {searched:.0%} of the weight"]


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


def residuals(members: Sequence[Member], values: Floats) -> Floats:
    """Return the root mean square, over members by credibility, of each run's log residual when left out, (n_runs,).

    Not of the average's residual: where members are chosen by these residuals, the best of them are small by luck.
    """
    with np.errstate(invalid="ignore", divide="ignore"):
        squares = [
            member.credibility * np.log(values / member.left_out) ** 2 for member in members if member.credibility
        ]
        return np.asarray(np.sqrt(sum(squares)), dtype=np.float64)


def predict(members: Sequence[Member], table: pd.DataFrame) -> tuple[Floats, Floats]:
    """Return the average's values (n,) and the logarithms of its members' (n_members, n)."""
    with np.errstate(over="ignore"):
        each = np.array([member.predict(table) for member in members])
    shares = np.array([member.weight for member in members])
    least = _FLOOR * np.min(np.where(each > 0, each, np.inf), axis=0)
    least = np.maximum(np.where(np.isfinite(least), least, 0.0), np.finfo(np.float64).tiny)
    return np.clip(shares @ each, least, 1e300), np.log(np.clip(each, least, 1e300))
