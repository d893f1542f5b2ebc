"""Configuration spaces of real programs."""
