"""Calibration: designed runs are timed, and a cost model's coefficients are fitted to the times."""
