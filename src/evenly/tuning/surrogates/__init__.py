"""Surrogate models: predictions of runs that were not made, with their uncertainty."""
