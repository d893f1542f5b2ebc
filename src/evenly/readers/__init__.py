"""Readers: from measurement files to runs. One format, one file."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evenly._lazy import lazy

if TYPE_CHECKING:
    from evenly.readers.base import Reader as Reader
    from evenly.readers.registry import Skipped as Skipped
    from evenly.readers.registry import format_names as format_names
    from evenly.readers.registry import option_names as option_names
    from evenly.readers.registry import readers as readers
    from evenly.readers.scanning import Measurements as Measurements
    from evenly.readers.scanning import read as read
    from evenly.readers.scanning import scan as scan

_HOMES = {
    "Measurements": "evenly.readers.scanning",
    "Reader": "evenly.readers.base",
    "Skipped": "evenly.readers.registry",
    "format_names": "evenly.readers.registry",
    "option_names": "evenly.readers.registry",
    "read": "evenly.readers.scanning",
    "readers": "evenly.readers.registry",
    "scan": "evenly.readers.scanning",
}

__all__ = sorted(_HOMES)

__getattr__, __dir__ = lazy(__name__, _HOMES)
