"""Predictions beyond the measured range."""
