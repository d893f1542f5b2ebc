"""Power laws: ``seconds = c · Π p^a``, by least squares on logarithms.

Two coefficients for one parameter: little to go wrong with few runs. A categorical parameter multiplies by a constant
per label; a parameter that is not above zero everywhere enters as ``exp(a · p)``.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, final

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from evenly.models.scaling_laws.credible_bounds import Doubt
from evenly.models.scaling_laws.formula import Formula, Term
from evenly.models.scaling_laws.log_model import LogModel
from evenly.models.scaling_laws.loglinear import Coordinates, LogLinear

__all__ = ["PowerLaw"]

Floats = NDArray[np.float64]


@final
class PowerLaw(LogModel):
    """A product of powers of the parameters.

    Attributes
    ----------
    formula_ : Formula or None
        None where a parameter is categorical or not above zero.

    Examples
    --------
    >>> model = PowerLaw().fit({"cores": [1, 2, 4, 8]}, [80.0, 40.0, 20.0, 10.0])
    >>> print(model.formula_)
    80 · cores^-1
    >>> model.predict({"cores": [5]})
    array([16.])
    """

    method: ClassVar[str] = "power-law"
    summary: ClassVar[str] = "c · Π p^a: least squares on logarithms; safe with very few runs"

    def _prepare(self, table: pd.DataFrame) -> None:
        """Leave nothing to choose: a power law's columns follow from the parameters."""

    def _design(self, table: pd.DataFrame) -> Floats:
        c = self._coordinates
        return np.column_stack([np.ones(len(table)), c.numeric(table), c.one_hot(table)])

    def _formula(self) -> Formula | None:
        c = self._coordinates
        if any(kind != "log" for kind in c.kinds):
            return None
        powers = self._fit.coefficients[1:] / np.array(c.scales)
        constant = np.exp(self._fit.coefficients[0] - powers @ np.array(c.centres))
        term = Term(float(constant), tuple(map(float, powers)), (0.0,) * len(powers))
        return Formula(tuple(c.names), (term,))

    def _get_state(self) -> dict[str, Any]:
        return {
            "coordinates": self._coordinates.to_state(),
            "fit": self._fit.to_state(),
            "doubt": self._doubt.to_state(),
        }

    def _set_state(self, state: Mapping[str, Any]) -> None:
        self._coordinates = Coordinates.from_state(state["coordinates"])
        self._fit = LogLinear.from_state(state["fit"])
        self._doubt = Doubt.from_state(state["doubt"])
        self._finish()
