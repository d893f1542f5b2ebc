"""Surrogate models: predicted log times of untried configurations, with uncertainty."""
