"""Cells of evenly's own simulation: its lattice, media and layers, counted per block."""
