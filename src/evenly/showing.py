"""How results and long work show themselves in a notebook: as the tables that the commands print, and as bars."""

from __future__ import annotations

import importlib
import sys
from html import escape
from typing import Any

__all__ = ["NotebookBar", "Shown", "drawn_chunks", "notebook_bar"]

#: Named, not imported: what shows results is built on top of them, and is loaded only when one is shown.
_NOTEBOOK = "evenly.report.pages.notebook"
_CHUNKS = "evenly.report.plots.partition"


class Shown:
    """A result that a notebook shows as tables."""

    def _repr_html_(self) -> str:
        return str(importlib.import_module(_NOTEBOOK).html_of(self))


def drawn_chunks(simulation: Any, ranks: int | None = None) -> Any:
    """Return the figure of a simulation's chunks; see `evenly.report.plots.partition.plot_layout`."""
    return importlib.import_module(_CHUNKS).plot_layout(simulation, ranks)


class NotebookBar:
    """A progress bar below the cell of a notebook that is running; it is taken away when the work ends.

    Parameters
    ----------
    text : str
        What is done.
    """

    def __init__(self, text: str) -> None:
        self._text = text
        self._shown: Any = None

    def show(self, share: float | None, told: str = "") -> None:
        """Show the share of the work that is done, 0 to 1 (None: unknown), and how far it is in words."""
        html = importlib.import_module("IPython.display").HTML(self._html(share, told))
        if self._shown is None:
            self._shown = importlib.import_module("IPython.display").display(html, display_id=True)
        else:
            self._shown.update(html)

    def close(self) -> None:
        """Take the bar away."""
        if self._shown is not None:
            self._shown.update(importlib.import_module("IPython.display").HTML(""))

    def _html(self, share: float | None, told: str) -> str:
        value = "" if share is None else f' value="{min(max(share, 0.0), 1.0):.3f}"'
        label = escape(f"{self._text}: {told}" if told else self._text)
        return f'<label>{label} <progress max="1"{value} aria-label="{escape(self._text)}"></progress></label>'


def notebook_bar(text: str) -> NotebookBar | None:
    """Return a progress bar where the caller runs in a notebook, else None.

    Examples
    --------
    >>> notebook_bar("measuring") is None
    True
    """
    found = sys.modules.get("IPython")  # a notebook has loaded it
    shell = None if found is None else found.get_ipython()
    return None if getattr(shell, "kernel", None) is None else NotebookBar(text)
