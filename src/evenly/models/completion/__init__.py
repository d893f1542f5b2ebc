"""Tensor completion: the grid, the factors of the decomposition, and the optimizers that fit them to runs."""
