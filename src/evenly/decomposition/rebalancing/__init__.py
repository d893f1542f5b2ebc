"""Rebalancing: better layouts from measured times, between runs or during a run."""

from __future__ import annotations

from evenly._lazy import lazy

__all__, __getattr__, __dir__ = lazy(__name__)
