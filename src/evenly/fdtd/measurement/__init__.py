"""A measurement: what a run of a simulation took, as a file that others read."""
