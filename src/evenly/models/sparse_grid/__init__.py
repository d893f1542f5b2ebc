"""Sparse grids: their basis functions, products with them, the solution by conjugate gradients, and refinement."""
