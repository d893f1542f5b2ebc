"""What `evenly.fdtd` does for the chunks of a cell, term by term, and the cell of a simulation."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from evenly.balance.cost.program import Program, Term
from evenly.balance.cutting.pieces import Pieces

__all__ = ["Fdtd"]

Array = NDArray[np.float64]


class Fdtd(Program):
    """The embedded simulation."""

    name = "fdtd"
    terms = (
        Term("points", about="points of the sweep"),
        Term("chunks", "chunk", "chunks"),
        Term("faces copied", "face", "faces of points between chunks"),
        Term("PML 1d points"),
        Term("PML 2d points"),
        Term("PML 3d points"),
        Term("varied points", about="points of chunks in which the permittivity varies"),
        Term("pole points", about="points times poles"),
    )

    def amounts(self, pieces: Pieces) -> Array:
        parts, layers = pieces.cell.parts, pieces.pml.sum(axis=1)
        varied = (pieces.count("dielectric") > 0.5) & (pieces.count("dielectric") < pieces.volume - 0.5)
        poles = sum((pieces.count(k) for k in pieces.cell.survey.kinds if k.startswith("pole ")), np.zeros(1))
        columns = [
            pieces.volume,
            np.ones_like(pieces.volume),
            pieces.faces,
            *(pieces.volume * (layers == n) for n in (1, 2, 3)),
            pieces.volume * varied,
            poles,
        ]
        return np.stack([np.broadcast_to(c, pieces.volume.shape) for c in columns], axis=1) * parts
