"""Cells: what is at each place of a simulated domain, counted per block."""
