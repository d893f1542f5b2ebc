"""Power laws: ``seconds = c · Π p^a``, by least squares on logarithms.

A power law of one parameter has two coefficients, so a few runs suffice. A categorical parameter contributes one
constant factor per label. A parameter that is not above zero in all runs contributes ``exp(a · p)``.
"""

from __future__ import annotations

from typing import ClassVar, final

from evenly.models.scaling_laws.log_model import LogModel

__all__ = ["PowerLaw"]


@final
class PowerLaw(LogModel):
    """A product of powers of the parameters.

    Attributes
    ----------
    formula_ : Formula or None
        The fitted model as a formula; None if a parameter is categorical or not above zero in all runs.

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
    _degrees: ClassVar[tuple[str, ...]] = ("linear",)
