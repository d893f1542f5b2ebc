"""Readers: from measurement files to runs. One format, one file."""

from __future__ import annotations

from evenly._lazy import lazy

__all__, __getattr__, __dir__ = lazy(__name__)
