"""Balancers: algorithms that find the assignment of cores. One algorithm, one file."""
