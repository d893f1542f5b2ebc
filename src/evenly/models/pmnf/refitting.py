"""Least-squares fits of the candidates that a PMNF search found, to all runs."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from evenly.models.array_types import Floats
from evenly.models.pmnf.model_averaging import Member
from evenly.models.pmnf.problem import Candidate, Problem
from evenly.models.pmnf.terms import TermSet
from evenly.models.scaling_laws.formula import Formula, Term

__all__ = ["refit"]

#: Terms below this share of the smallest value, at all runs, are left out.
_DUST = 1e-12
#: Numbers in the columns of the candidates that are fitted together.
_TOGETHER = 1_000_000


def refit(problem: Problem, terms: TermSet, found: Sequence[Candidate], names: Sequence[str]) -> list[Member]:
    """Fit candidates to all runs; drop a candidate if some leave-one-out prediction isn't above zero.

    The columns of a candidate are projected orthogonally to the constant and scaled to unit length. The least-squares
    problem is solved by a QR decomposition of these columns with sqrt(ridge) times the identity below them.
    """
    tables = terms.tables(problem.points)
    members: dict[int, Member] = {}
    numbers = [len(candidate.terms) for candidate in found]
    for k in sorted(set(numbers)):  # candidates of as many terms are fitted together
        alike = [at for at, number in enumerate(numbers) if number == k]
        most = max(1, _TOGETHER // max(k * len(problem.values), 1))
        for part in (alike[start : start + most] for start in range(0, len(alike), most)):
            listed = [found[at] for at in part]
            fitted = zip(part, _refit_together(problem, terms, tables, listed, names), strict=True)
            members |= {at: member for at, member in fitted if member is not None}
    return [members[at] for at in sorted(members)]


def _refit_together(
    problem: Problem, terms: TermSet, tables: list[Floats], found: Sequence[Candidate], names: Sequence[str]
) -> list[Member | None]:
    """Fit candidates of k terms each; see `refit`."""
    roots, n, k = problem.roots, len(found), len(found[0].terms)
    length = math.sqrt(float(roots @ roots))
    intercept = roots / length
    z = roots * problem.response
    # Columns (n, k, m), projected orthogonally to the constant and scaled to unit length.
    chosen = np.array([candidate.terms for candidate in found], dtype=np.int64)
    plain = terms.from_tables(tables, chosen.ravel()).reshape(n, k, len(z))
    raw = plain * roots
    along = raw @ intercept
    columns = raw - along[:, :, None] * intercept
    norms = np.sqrt(np.einsum("nij,nij->ni", columns, columns))
    columns = columns / norms[:, :, None]
    ridge = np.broadcast_to(math.sqrt(problem.ridge) * np.eye(k), (n, k, k))
    q, r = np.linalg.qr(np.concatenate([columns.transpose(0, 2, 1), ridge], axis=1))
    q = q[:, : len(z)]
    fitted = np.linalg.solve(r, (z @ q)[:, :, None])[:, :, 0] if k else np.zeros((n, 0))
    # Leave-one-out residuals are residuals divided by 1 minus the leverage, as in `loss_kernels`.
    free = 1.0 - intercept**2 - np.einsum("nij,nij->ni", q, q)
    residuals = z - (intercept @ z) * intercept - np.einsum("nk,nkm->nm", fitted, columns)
    with np.errstate(all="ignore"):
        predictions = problem.predicted(problem.response - residuals / free / roots)
        logs = np.log(predictions / problem.values)
    usable = np.isfinite(logs).all(axis=1) & (free > 0).all(axis=1)
    # Coefficients of the original terms: undo the scaling, and correct the constant for the projection.
    slopes = fitted / norms
    constants = (intercept @ z - np.einsum("nk,nk->n", slopes, along)) / length
    sizes = np.concatenate([np.abs(constants)[:, None], np.abs(slopes[:, :, None] * plain).max(axis=2)], axis=1)
    # What is left of exact data by rounding is no term.
    is_term = sizes > _DUST * float(problem.values.min()) if problem.fit != "log" else np.ones_like(sizes, dtype=bool)
    members: list[Member | None] = []
    for at, candidate in enumerate(found):
        coefficients = [float(constants[at]), *map(float, slopes[at])]
        factors = [((0.0, 0.0),) * len(names), *map(terms.factors_of, candidate.terms)]
        listed = [
            Term(coefficient, tuple(power for power, _ in pairs), tuple(log for _, log in pairs))
            for coefficient, pairs, there in zip(coefficients, factors, is_term[at], strict=True)
            if there
        ]
        kind = "log-pmnf" if problem.fit == "log" else "pmnf"
        loss = float(np.average(logs[at] ** 2, weights=problem.weights))
        formula = Formula.total(names, listed)
        member = Member(kind, 0.0, loss, 1 + k, predictions[at], formula, np.zeros((0, 0)))
        members.append(member if usable[at] else None)
    return members
