"""Scaling laws: formulas with few coefficients that are fitted to the logarithm of the times."""
