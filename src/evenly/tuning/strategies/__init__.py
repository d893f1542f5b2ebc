"""Strategies of a search: how the next configuration to run is chosen."""
