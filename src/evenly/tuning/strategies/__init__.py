"""Ways to choose the next configuration to run."""
