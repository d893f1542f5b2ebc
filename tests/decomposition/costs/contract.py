"""Laws of every `Program`, as `evenly.decomposition.costs.terms` states them."""

from __future__ import annotations

from dataclasses import replace
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from evenly.decomposition.cells.cell import Cell
from evenly.decomposition.cells.pieces import Pieces, pieces_of
from evenly.decomposition.costs.terms import BOUNDARY, Program

__all__ = ["ProgramContract"]

Ints = NDArray[np.int64]


class ProgramContract:
    """Inherit it as ``class TestMine(ProgramContract)`` with `program` and `cells`."""

    program: ClassVar[Program]
    cells: ClassVar[dict[str, Cell]]

    def boxes(self, cell: Cell) -> tuple[Ints, Ints]:
        """Return random boxes of a cell, the whole cell first."""
        random = np.random.default_rng(7)
        shape = np.array(cell.grid.shape)
        one, other = random.integers(0, shape, (30, 3)), random.integers(0, shape, (30, 3))
        low, high = np.minimum(one, other), np.maximum(one, other) + 1
        return np.vstack([np.zeros((1, 3), np.int64), low]), np.vstack([shape[None, :], high])

    def test_terms_have_names_of_their_own(self) -> None:
        names = [term.name for term in self.program.all_terms]
        assert len(set(names)) == len(names)
        assert self.program.all_terms[-len(BOUNDARY) :] == BOUNDARY
        assert all(term.unit.startswith("ns per ") for term in self.program.terms)

    def test_amounts_are_finite_and_not_negative(self) -> None:
        for name, cell in self.cells.items():
            pieces = pieces_of(cell, *self.boxes(cell))
            amounts = self.program.amounts(pieces)
            assert amounts.shape == (len(pieces.low), len(self.program.terms)), name
            assert np.isfinite(amounts).all(), name
            assert (amounts >= -1e-9).all(), name

    def test_amounts_of_a_box_depend_on_it_alone(self) -> None:
        for name, cell in self.cells.items():
            low, high = self.boxes(cell)
            pieces = pieces_of(cell, low, high)
            amounts = self.program.amounts(pieces)
            random = np.random.default_rng(1)
            boxes = random.permutation(len(low))[: len(low) // 2]
            order = random.permutation(np.flatnonzero(np.isin(pieces.box, boxes)))
            some = self.program.amounts(_some(pieces, order))
            np.testing.assert_allclose(some, amounts[order], rtol=1e-9, atol=1e-6, err_msg=name)

    def test_a_piece_of_no_points_has_no_amounts(self) -> None:
        for name, cell in self.cells.items():
            pieces = pieces_of(cell, *self.boxes(cell))
            low = pieces.low.copy()
            low[::2] = pieces.high[::2]
            amounts = self.program.amounts(replace(pieces, low=low))
            assert not amounts[::2].any(), name
            assert (amounts[1::2].sum(axis=1) > 0).all(), name

    def test_no_cell_is_changed(self) -> None:
        for cell in self.cells.values():
            before = cell.survey.table.copy()
            self.program.amounts(pieces_of(cell, *self.boxes(cell)))
            np.testing.assert_array_equal(cell.survey.table, before)


def _some(pieces: Pieces, order: Ints) -> Pieces:
    return Pieces(
        pieces.cell, pieces.low[order], pieces.high[order], pieces.box[order], pieces.pml[order], pieces.absorber[order]
    )
