"""Timing Meep: cells for calibration, ranks, clocks."""
