"""What was measured: the table of runs, its columns, files and units."""

from __future__ import annotations

from evenly._lazy import lazy

__all__, __getattr__, __dir__ = lazy(__name__)
