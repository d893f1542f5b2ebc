"""Scaling laws: formulas with few coefficients, fitted by least squares, and the bounds of their predictions."""
