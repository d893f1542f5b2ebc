"""Sparse-grid regression: basis functions, their compiled evaluation, conjugate gradients, and adaptive refinement."""
