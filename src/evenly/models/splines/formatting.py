"""Formatting of a MARS model as a text equation, with hinges of logarithms and knots in the parameters' units."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

from evenly.models.inputs.coding import Coding
from evenly.models.splines.terms import Factor, Term

__all__ = ["in_words"]


def in_words(terms: Sequence[Term], coefficients: Iterable[float], constant: float, coding: Coding) -> str:
    """Return the equation ``ln(seconds) = …`` as text: the constant, then the terms sorted by their number of factors.

    A hinge of a coded number is ``(ln x - ln t) / scale``, so coefficients are divided by the scales.
    """
    shown = []
    for term, coefficient in zip(terms, coefficients, strict=True):
        if not term:
            constant += coefficient
            continue
        factors = []
        for factor in term:
            # A factor's input is its position among the numbers, or among the labels; convert it to one among all.
            kinds = [n for n, kind in enumerate(coding.kinds) if (kind == "label") == (factor.kind == "label")]
            n = kinds[factor.input]
            factors.append(_factor(factor, coding, n))
            coefficient /= 1.0 if factor.kind == "label" else coding.scales[n]
        sign = "-" if coefficient < 0 else "+"
        shown.append((len(term), f"{sign} {abs(coefficient):.4g} · {' · '.join(factors)}"))
    lines = [f"{constant:.4g}", *(text for _, text in sorted(shown, key=lambda entry: entry[0]))]
    return "ln(seconds) = " + " ".join(lines)


def _factor(factor: Factor, coding: Coding, n: int) -> str:
    """Return a factor of parameter number n as text."""
    name = coding.names[n]
    if factor.kind == "label":
        return f"[{name} = {coding.labels[n][int(factor.knot)]}]"
    # Coded numbers are (ln x - centre) / scale, so a knot at t lies at x = exp(centre + t · scale).
    knot = coding.centres[n] + factor.knot * coding.scales[n]
    if coding.kinds[n] == "log":
        over, under = f"ln({name}/{math.exp(knot):.4g})", f"ln({math.exp(knot):.4g}/{name})"
    else:
        over, under = f"{name} - {knot:.4g}", f"{knot:.4g} - {name}"
    if factor.kind == "line":
        return over if coding.kinds[n] == "log" else f"({over})"
    return f"max(0, {over if factor.kind == 'above' else under})"
