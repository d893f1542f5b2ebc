"""Extrapolation beyond the measured range: trends, their residuals, and a race on held-out outer shells."""
