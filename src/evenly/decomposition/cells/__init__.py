"""Cells: descriptions of simulated domains for the decomposition, with points of each kind counted per block."""
