"""The problem that a balancer solves: layout, curves, limits, objective."""
