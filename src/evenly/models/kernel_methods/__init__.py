"""Predictions from similar runs: nearest neighbours and support vectors."""
