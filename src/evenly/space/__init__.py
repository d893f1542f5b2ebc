"""The space of configurations: parameters, constraints on their values, and designs that sample configurations."""

from __future__ import annotations

from evenly._lazy import lazy

__all__, __getattr__, __dir__ = lazy(__name__)
