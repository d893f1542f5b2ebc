"""Processes that share a simulation: how they talk, form groups, are started, and end together."""
