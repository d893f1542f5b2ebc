"""The ranks of a simulation: their communication, subgroups, start and common end."""
