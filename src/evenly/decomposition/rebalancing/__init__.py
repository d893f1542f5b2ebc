"""Rebalancing: better layouts from what runs took, between runs and in the middle of one."""

from __future__ import annotations

from evenly._lazy import lazy

__all__, __getattr__, __dir__ = lazy(__name__)
