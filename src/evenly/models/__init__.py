"""Models that learn from runs how long configurations take; each class is a scikit-learn estimator.

>>> from evenly.models import PowerLaw
>>> PowerLaw().fit({"cores": [1, 2, 4, 8]}, [80.0, 40.0, 20.0, 10.0]).predict({"cores": [5]})
array([16.])

A class is loaded on first use.
"""

from __future__ import annotations

from evenly._lazy import lazy

__all__, __getattr__, __dir__ = lazy(__name__)
