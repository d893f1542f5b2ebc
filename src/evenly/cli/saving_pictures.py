"""Saving pictures and saying where they are."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from evenly.cli.console import note
from evenly.cli.options import Pictures
from evenly.errors import InputError
from evenly.writing import check_replaceable

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["save_all"]


def save_all(figures: dict[str, Figure], where: Pictures) -> list[Path]:
    """Save each figure as ``folder/name.suffix``, making the folder if it is missing; return the files.

    Raises
    ------
    InputError
        If they can't be written, or one would replace a file that evenly did not write.
    """
    from evenly.report.plots.style import save_figure

    folder, suffix = where.plot or Path(), where.suffix.lstrip(".")
    targets = {folder / f"{name}.{suffix}": figure for name, figure in figures.items()}
    check_replaceable(targets)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"pictures can't be saved in {folder}: {error.strerror or error}") from None
    files = [save_figure(figure, target) for target, figure in targets.items()]
    note(f"pictures in {folder}: {', '.join(file.name for file in files)}")
    return files
