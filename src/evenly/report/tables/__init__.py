"""All tables and their plain-number forms in one place, for the command line and for notebooks."""

from __future__ import annotations

from evenly._lazy import lazy

__all__, __getattr__, __dir__ = lazy(__name__)
