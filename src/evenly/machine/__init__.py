"""Machines: their cores, memory, prices and message times, and the measurement of these."""

from __future__ import annotations

from evenly._lazy import lazy

__all__, __getattr__, __dir__ = lazy(__name__)
