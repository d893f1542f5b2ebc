"""Cells of `evenly.fdtd`: surveys of the structure's media and layers, counted per block."""
