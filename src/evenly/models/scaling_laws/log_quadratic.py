"""Log-quadratic models: ``log(seconds)`` is a polynomial of second degree in the logarithms of the parameters.

Bends where a power law is straight, needs (d + 1)(d + 2) / 2 coefficients for d parameters, and is hard to beat by
anything of that size within the measured range. With fewer than twice as many runs as coefficients the mixed terms
are left out, then the squares. Outside the range the parabola goes on, for better or worse; its intervals widen
accordingly.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from typing import Any, ClassVar, final

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from evenly.models.scaling_laws.credible_bounds import Doubt
from evenly.models.scaling_laws.formula import Formula, Term
from evenly.models.scaling_laws.log_model import LogModel
from evenly.models.scaling_laws.loglinear import Coordinates, LogLinear

__all__ = ["LogQuadratic"]

Floats = NDArray[np.float64]


@final
class LogQuadratic(LogModel):
    """The exponential of a quadratic form in the logarithms of the parameters.

    Attributes
    ----------
    degree_ : {"linear", "squares", "full"}
        What the number of runs supports.
    formula_ : Formula or None
        None where a parameter is categorical or not above zero.

    Examples
    --------
    >>> cores = np.array([1, 2, 4, 8, 16, 32])
    >>> model = LogQuadratic().fit({"cores": cores}, np.exp(-np.log(cores) + 0.1 * np.log(cores) ** 2))
    >>> print(model.formula_)
    1 · cores^-1 · exp(0.1 ln(cores)^2)
    """

    method: ClassVar[str] = "log-quadratic"
    summary: ClassVar[str] = "exp of a quadratic form in log p: a power law that may bend"

    def _prepare(self, table: pd.DataFrame) -> None:
        self.degree_ = self._choose_degree(table)

    def _choose_degree(self, table: pd.DataFrame) -> str:
        z = self._coordinates.numeric(table)
        self._values = [min(len(np.unique(column)), 3) for column in z.T]
        straight = 1 + sum(count > 1 for count in self._values) + self._coordinates.one_hot(table).shape[1]
        for degree in ("full", "squares"):
            pairs = self._pairs_of(degree)
            if pairs and len(table) >= 2 * (straight + len(pairs)):
                return degree
        return "linear"

    def _pairs_of(self, degree: str) -> list[tuple[int, int]]:
        """Return what is multiplied: squares are told from lines by three values at least, products by two."""
        counts = self._values
        pairs = itertools.combinations_with_replacement(range(len(counts)), 2)
        told = [(a, b) for a, b in pairs if min(counts[a], counts[b]) > (2 if a == b else 1)]
        return {"full": told, "squares": [(a, b) for a, b in told if a == b], "linear": []}[degree]

    def _design(self, table: pd.DataFrame) -> Floats:
        z = self._coordinates.numeric(table)
        products = [z[:, a] * z[:, b] for a, b in self._pairs_of(self.degree_)]
        return np.column_stack([np.ones(len(table)), z, *products, self._coordinates.one_hot(table)])

    def _formula(self) -> Formula | None:
        c = self._coordinates
        d = len(c.names)
        if any(kind != "log" for kind in c.kinds):
            return None
        scales, centres = np.array(c.scales), np.array(c.centres)
        matrix = np.zeros((d, d))
        for (a, b), q in zip(self._pairs_of(self.degree_), self._fit.coefficients[1 + d :], strict=True):
            matrix[a, b] += q / 2 / scales[a] / scales[b]
            matrix[b, a] += q / 2 / scales[a] / scales[b]
        straight = self._fit.coefficients[1 : 1 + d] / scales
        constant = self._fit.coefficients[0] - straight @ centres + centres @ matrix @ centres
        powers = straight - 2 * matrix @ centres
        curvature = tuple(tuple(map(float, row)) for row in matrix) if matrix.any() else None
        term = Term(float(np.exp(constant)), tuple(map(float, powers)), (0.0,) * d, curvature)
        return Formula(tuple(c.names), (term,))

    def _get_state(self) -> dict[str, Any]:
        return {
            "coordinates": self._coordinates.to_state(),
            "degree": self.degree_,
            "values": list(self._values),
            "fit": self._fit.to_state(),
            "doubt": self._doubt.to_state(),
        }

    def _set_state(self, state: Mapping[str, Any]) -> None:
        self._coordinates = Coordinates.from_state(state["coordinates"])
        self.degree_ = str(state["degree"])
        # Models of earlier versions took squares of all numbers or of none.
        numbers = sum(kind != "label" for kind in self._coordinates.kinds)
        self._values = [int(count) for count in state.get("values", [3] * numbers)]
        self._fit = LogLinear.from_state(state["fit"])
        self._doubt = Doubt.from_state(state["doubt"])
        self._finish()
