"""What was measured: the table of runs, its columns, files and units."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evenly._lazy import lazy

if TYPE_CHECKING:
    from evenly.runs.runs import Runs as Runs

_HOMES = {
    "Runs": "evenly.runs.runs",
}

__all__ = sorted(_HOMES)

__getattr__, __dir__ = lazy(__name__, _HOMES)
