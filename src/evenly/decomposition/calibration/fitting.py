"""Fit of a cost model to timed designs, with its errors on held-out cells.

>>> from evenly.decomposition.calibration.designs import Design
>>> sizes = (1000.0, 2000.0, 4000.0)
>>> timed = [Timed(Design("vacuum", str(n)), ({"points": n},), ((3e-9 * n,),)) for n in sizes]
>>> model = learn("fdtd", timed, machine="this one")
>>> round(model.coefficients["points"].seconds * 1e9, 6)
3.0
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timezone
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evenly.decomposition.calibration.designs import Timed
from evenly.decomposition.calibration.nonnegative_regression import Regression, regress
from evenly.decomposition.costs.cost_model import Coefficient, CostModel, program_named
from evenly.errors import InputError

__all__ = ["HeldOut", "held_out", "learn", "share_errors"]

Array = NDArray[np.float64]
#: Relative spread of the ratios between terms' coefficients from one machine to another.
BETWEEN_MACHINES = 0.5


@dataclass(frozen=True)
class HeldOut:
    """Measured times of a held-out cell, and their prediction by a model fitted without it.

    Parameters
    ----------
    group, name, key : str
        Group, name and key of the design.
    measured, predicted : (ranks,)
        Seconds per step.
    """

    group: str
    name: str
    key: str
    measured: Array
    predicted: Array

    @property
    def share_errors(self) -> Array:
        """Relative error of each rank's share of the work, (ranks,)."""
        return share_errors(self.measured, self.predicted)

    @property
    def time_error(self) -> float:
        """Relative error of the total time of all ranks."""
        return float(abs(self.predicted.sum() / self.measured.sum() - 1))


def share_errors(measured: Array, predicted: Array) -> Array:
    """Return the relative error of each rank's predicted share of the total time, (ranks,).

    Examples
    --------
    >>> share_errors(np.array([1.0, 1.0]), np.array([2.2, 1.8])).round(3).tolist()
    [0.1, 0.1]
    """
    return np.asarray(np.abs((predicted / predicted.sum()) / (measured / measured.sum()) - 1))


def learn(program: str, timed: Sequence[Timed], *, prior: CostModel | None = None, **about: Any) -> CostModel:
    """Return the cost model fitted to timed designs, with errors on held-out cells.

    Parameters
    ----------
    program : str
        The program of the designs.
    timed : sequence of Timed
    prior : CostModel, optional
        A cost model of another machine; it is scaled to this machine's speed. Terms without timings get its
        coefficients. The other terms are drawn towards them as far as the timings leave them open.
    **about
        Passed on to `CostModel`, such as machine, when, versions.

    Raises
    ------
    InputError
        If there are no timed designs.
    """
    if not timed:
        raise InputError(f"A cost model of {program} needs timed runs, but there are none: give more time.")
    names = [term.name for term in program_named(program).all_terms]
    found = _regression(timed, names, prior)
    coefficients = {
        name: Coefficient(float(found.coefficients[i]), float(found.errors[i]))
        for i, name in enumerate(names)
        if found.known[i]
    }
    if prior is not None:
        coefficients |= _filled(prior, timed, names, [n for n in names if n not in coefficients])
    outside = held_out(timed, names, prior)
    shares = np.concatenate([one.share_errors for one in outside if len(one.measured) > 1] or [np.array([np.nan])])
    predicted = {one.key: one.predicted for one in outside}
    times = [one.time_error for one in outside] or [np.nan]
    return CostModel(
        program,
        coefficients,
        share_error=float(shares.mean()),
        share_error_p90=float(np.percentile(shares, 90)),
        time_error=float(np.mean(times)),
        measured=tuple(row for one in timed for row in _rows(one, predicted.get(one.design.key))),
        **({"when": datetime.now(timezone.utc).isoformat(timespec="seconds")} | about),  # noqa: UP017
    )


def held_out(timed: Sequence[Timed], names: Sequence[str], prior: CostModel | None = None) -> list[HeldOut]:
    """Return measured and predicted times of each cell, predicted by a fit to all designs but those of its group."""
    result: list[HeldOut] = []
    for group in dict.fromkeys(one.design.group for one in timed if one.design.purpose == "cell"):
        rest = [one for one in timed if one.design.group != group]
        if not rest:
            continue
        coefficients = _regression(rest, names, prior).coefficients
        for one in (one for one in timed if one.design.group == group and one.design.purpose == "cell"):
            design, predicted = one.design, one.matrix(names) @ coefficients
            result.append(HeldOut(group, design.name, design.key, one.seconds, predicted))
    return result


def _regression(timed: Sequence[Timed], names: Sequence[str], prior: CostModel | None = None) -> Regression:
    """Return the regression over all ranks of all designs, one row each; rows with more noise have less weight.

    A prior adds one row for each timed term. Its weight follows from the coefficient's own error and from the spread
    between machines.
    """
    amounts = np.concatenate([one.matrix(names) for one in timed])
    seconds = np.concatenate([one.seconds for one in timed])
    noise = np.concatenate([np.minimum(one.spread / one.seconds, 0.2) for one in timed])
    weights = 1 / (0.02**2 + noise**2)
    found = regress(amounts, seconds, weights)
    if prior is None:
        return found
    expected = prior.vector * _slower(prior, amounts, seconds)
    told = np.flatnonzero(found.known & (expected > 0))
    known = [prior.coefficients[names[int(k)]] for k in told]
    errors = np.array([one.error / one.seconds for one in known])
    # The rows scatter more than by their noise. The prior's weights are scaled by this scatter, lest they dominate.
    scatter = float(np.sum(weights * found.residuals**2)) / max(1, len(seconds) - len(told))
    # The spread is relative to the larger of fit and prior: relative to a small prior, the fit would seem impossible.
    larger = np.maximum(1.0, found.coefficients[told] / expected[told])
    drawn = scatter / (BETWEEN_MACHINES**2 + np.minimum(errors, 10.0) ** 2) / larger**2
    return regress(
        np.vstack([amounts, np.eye(len(names))[told]]),
        np.concatenate([seconds, expected[told]]),
        np.concatenate([weights, drawn]),
    )


def _slower(prior: CostModel, amounts: Array, seconds: Array) -> float:
    """Return the median ratio of measured seconds to the prior's prediction: how much slower this machine is."""
    before = amounts @ prior.vector
    return float(np.median(seconds[before > 0] / before[before > 0])) if np.any(before > 0) else 1.0


def _filled(
    prior: CostModel, timed: Sequence[Timed], names: Sequence[str], missing: Sequence[str]
) -> dict[str, Coefficient]:
    """Return the prior's coefficients of missing terms, scaled to this machine's speed, with errors of 100 %."""
    amounts, seconds = np.concatenate([t.matrix(names) for t in timed]), np.concatenate([t.seconds for t in timed])
    factor = _slower(prior, amounts, seconds)
    return {
        name: Coefficient(prior.coefficients[name].seconds * factor, prior.coefficients[name].seconds * factor)
        for name in missing
        if name in prior.coefficients
    }


def _rows(one: Timed, held_out: Array | None) -> list[Mapping[str, Any]]:
    return [
        {
            "group": one.design.group,
            "name": one.design.name,
            "purpose": one.design.purpose,
            "rank": rank,
            "ranks": len(one.seconds),
            "amounts": {term: amount for term, amount in amounts.items() if amount},
            "seconds": float(one.seconds[rank]),
            "spread": None if np.isinf(one.spread[rank]) else float(one.spread[rank]),
            "repeats": [run[rank] for run in one.runs],
            **({} if held_out is None else {"held_out": float(held_out[rank])}),
        }
        for rank, amounts in enumerate(one.amounts)
    ]
