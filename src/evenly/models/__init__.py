"""Models: from measured runs to predictions with intervals. One method, one file."""
