"""Scaling studies: run times of one simulation against the number of ranks."""
