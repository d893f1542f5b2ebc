"""Monitors: Fourier transforms of fields and results derived from them, values at points, energies, resonances."""
