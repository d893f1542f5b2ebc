"""Spaces of real programs, ready to be searched."""
