"""Calibration: runs of designed cells are timed, and the cost of each kind of point is fitted to the times."""
