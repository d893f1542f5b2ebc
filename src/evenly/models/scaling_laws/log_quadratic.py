"""Log-quadratic models: ``log(seconds)`` is a polynomial of second degree in the logarithms of the parameters.

On logarithmic axes it is a parabola, where a power law is a straight line. It has (d + 1)(d + 2) / 2 coefficients for d
parameters. Within the measured range, few models of that size are more accurate. If there are fewer than twice as many
runs as coefficients, the mixed terms are dropped, then the squares. Labels that scale differently have slopes, or
parabolas, of their own. Outside the range the parabola is extrapolated, and intervals widen accordingly.
"""

from __future__ import annotations

from typing import ClassVar, final

from evenly.models.scaling_laws.log_model import LogModel

__all__ = ["LogQuadratic"]


@final
class LogQuadratic(LogModel):
    """The exponential of a quadratic form in the logarithms of the parameters.

    Attributes
    ----------
    degree_ : {"linear", "squares", "full"}
        Products of logarithms in the polynomial: none, squares only, or all. It depends on the number of runs.
    formula_ : Formula or None
        The fitted model as a formula; None if a parameter is categorical or not above zero in all runs.

    Examples
    --------
    >>> import numpy as np
    >>> cores = np.array([1, 2, 4, 8, 16, 32])
    >>> model = LogQuadratic().fit({"cores": cores}, np.exp(-np.log(cores) + 0.1 * np.log(cores) ** 2))
    >>> print(model.formula_)
    1 · cores^-1 · exp(0.1 ln(cores)^2)
    """

    method: ClassVar[str] = "log-quadratic"
    summary: ClassVar[str] = "exp of a quadratic form in log p: a power law that may bend"
    _degrees: ClassVar[tuple[str, ...]] = ("full", "squares", "linear")
    _own: ClassVar[tuple[str, ...]] = ("slopes", "products")
