"""Forecasts of the time per step of a simulation on a number of ranks of a machine, without running it there."""
