"""The logger ``evenly`` of the standard library's `logging`, for programs that use evenly as a library.

It says what is understood, assumed and done: what a table's columns were taken for, each run of a study or a search.
Nothing is shown unless the program asks for it, as with ``logging.basicConfig(level=logging.INFO)``.

What may be wrong is a warning (`evenly.errors.EvenlyWarning`), and is not logged too. ``logging.captureWarnings(True)``
makes it a record of the logger ``py.warnings``. The commands print what was assumed themselves, and show no log.
"""

from __future__ import annotations

import logging

__all__ = ["log"]

log = logging.getLogger("evenly")
log.addHandler(logging.NullHandler())
