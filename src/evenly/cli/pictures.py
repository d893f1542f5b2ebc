"""Saving pictures and saying where they are."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from evenly.cli.console import note
from evenly.cli.options import Pictures
from evenly.errors import InputError

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["save_all"]


def save_all(figures: dict[str, Figure], where: Pictures) -> None:
    """Save each figure as ``folder/name.suffix``, making the folder if it is missing."""
    from evenly.report.style import save_figure

    folder, suffix = where.plot or Path(), where.suffix.lstrip(".")
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"pictures can't be saved in {folder}: {error.strerror}") from None
    for name, figure in figures.items():
        save_figure(figure, folder / f"{name}.{suffix}")
    note(f"pictures in {folder}: {', '.join(f'{name}.{suffix}' for name in figures)}")
