"""Meep: what a simulation is about to compute, layouts for it, and a balancer that keeps it even."""
