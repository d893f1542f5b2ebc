"""Counts before a run: grid points of each kind per chunk and rank, and bytes of memory per rank."""
