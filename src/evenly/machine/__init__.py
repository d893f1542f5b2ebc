"""Machines: what a decision may spend, how long messages take, and how both are measured."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evenly._lazy import lazy

if TYPE_CHECKING:
    from evenly.machine.link import Link as Link
    from evenly.machine.machine import Machine as Machine

_HOMES = {
    "Link": "evenly.machine.link",
    "Machine": "evenly.machine.machine",
}

__all__ = sorted(_HOMES)

__getattr__, __dir__ = lazy(__name__, _HOMES)
