"""A parallel finite-difference time-domain simulation of Maxwell's equations with uneven physics.

>>> import evenly
>>> evenly.fdtd.Grid((4.0, 2.0, 0.0), 10).shape
(40, 20, 1)

Everything is loaded on first use. Units: the speed of light is 1, lengths are in a unit of your choice.
"""

from __future__ import annotations

from evenly._lazy import lazy

__all__, __getattr__, __dir__ = lazy(__name__)
