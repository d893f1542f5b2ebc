"""What Meep does for the chunks of a cell, term by term."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from evenly.balance.cost.program import Program, Term
from evenly.balance.cutting.pieces import Pieces

__all__ = ["Meep"]

Array = NDArray[np.float64]


class Meep(Program):
    """Meep 1.2x."""

    name = "meep"
    terms = (
        Term("points", about="points of the sweep"),
        Term("chunks", "chunk", "chunks"),
        Term("faces copied", "face", "faces of points between chunks"),
        Term("PML 1d points"),
        Term("PML 2d points"),
        Term("PML 3d points"),
    )

    def amounts(self, pieces: Pieces) -> Array:
        layers = pieces.pml.sum(axis=1)
        columns = [
            pieces.volume,
            np.ones_like(pieces.volume),
            pieces.faces,
            *(pieces.volume * (layers == n) for n in (1, 2, 3)),
        ]
        return np.stack(columns, axis=1) * pieces.cell.parts
