"""Terms in words: hinges of logarithms in the parameters' own units."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

from evenly.models.inputs.coding import Coding
from evenly.models.splines.terms import Factor, Term

__all__ = ["in_words"]


def in_words(terms: Sequence[Term], coefficients: Iterable[float], constant: float, coding: Coding) -> str:
    """Return ``ln(seconds) = …``, the constant, then terms of fewest factors first.

    Hinges of coded numbers are hinges of logarithms: ``(ln x - ln t) / scale``, so scales go into the coefficients.
    """
    shown = []
    for term, coefficient in zip(terms, coefficients, strict=True):
        if not term:
            constant += coefficient
            continue
        factors = []
        for factor in term:
            # Factors count numbers and labels each for themselves; a coding holds them together.
            kinds = [n for n, kind in enumerate(coding.kinds) if (kind == "label") == (factor.kind == "label")]
            n = kinds[factor.input]
            factors.append(_factor(factor, coding, n))
            coefficient /= 1.0 if factor.kind == "label" else coding.scales[n]
        sign = "-" if coefficient < 0 else "+"
        shown.append((len(term), f"{sign} {abs(coefficient):.4g} · {' · '.join(factors)}"))
    lines = [f"{constant:.4g}", *(text for _, text in sorted(shown, key=lambda entry: entry[0]))]
    return "ln(seconds) = " + " ".join(lines)


def _factor(factor: Factor, coding: Coding, n: int) -> str:
    """Return a factor of parameter number n in words."""
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
