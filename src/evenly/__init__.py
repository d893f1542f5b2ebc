"""evenly learns, from few measured runs, how long a parallel simulation takes, and spreads its work evenly.

>>> import evenly
>>> runs = evenly.read("case/")                                 # doctest: +SKIP
>>> models = evenly.fit(runs)                                   # doctest: +SKIP
>>> plan = evenly.allocate(models, cores=560)                   # doctest: +SKIP

Everything is loaded on first use, so that importing evenly costs next to nothing.
"""

from __future__ import annotations

from evenly._lazy import lazy

__all__, _named, __dir__ = lazy(__name__)


def __getattr__(name: str) -> object:
    if name == "__version__":
        from importlib.metadata import version

        return version("evenly")
    return _named(name)
