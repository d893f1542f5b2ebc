"""Search strategies: rules to choose the next configuration to run."""
