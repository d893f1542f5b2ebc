"""Measurement of Meep's times: runs for calibration, times of ranks, and clocks."""
