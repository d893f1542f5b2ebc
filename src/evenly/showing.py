"""How results show themselves in a notebook: as the tables that the commands print."""

from __future__ import annotations

import importlib

__all__ = ["Shown"]

#: Named, not imported: what shows results is built on top of them, and is loaded only when one is shown.
_NOTEBOOK = "evenly.report.pages.notebook"


class Shown:
    """A result that a notebook shows as tables."""

    def _repr_html_(self) -> str:
        return str(importlib.import_module(_NOTEBOOK).html_of(self))
