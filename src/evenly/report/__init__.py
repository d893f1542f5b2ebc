"""Figures and tables of measurements, models, allocations and layouts."""
