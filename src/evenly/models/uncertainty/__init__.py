"""Intervals of predictions: conformal, and conformal near the point asked for."""
