"""Counting before a run: a simulation's points by kind, its chunks, the memory it takes."""
