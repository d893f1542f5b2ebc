"""Measurements: the times, counts and messages of a simulation's run on each rank, and their file format."""
