"""Machines: what a decision may spend, how long messages take, and how both are measured."""

from __future__ import annotations

from evenly._lazy import lazy

__all__, __getattr__, __dir__ = lazy(__name__)
