"""Averages of the runs in each cell of the grid (section 5.1 of the paper)."""

from __future__ import annotations

import numpy as np

from evenly.models.completion.factors import Problem
from evenly.models.completion.grid import Placement

__all__ = ["cell_means"]


def cell_means(problem: Problem) -> Problem:
    """Return one observation per measured cell: the weighted mean of its targets, and the sum of its weights."""
    # Section 5.1: the tensor element of a cell is the mean of its runs; here the mean of their logs, as in section 5.2.
    _, first, cell = np.unique(problem.place.rows.T, axis=0, return_index=True, return_inverse=True)
    cell = np.ravel(cell)
    weights = np.bincount(cell, problem.weights)
    targets = np.bincount(cell, problem.weights * problem.targets) / weights
    rows, shares = problem.place.rows, problem.place.shares
    place = Placement(np.ascontiguousarray(rows[:, first]), np.ascontiguousarray(shares[:, first]))
    return Problem(problem.grid, place, np.asarray(targets, dtype=np.float64), np.asarray(weights, dtype=np.float64))
