"""A chunk balancer that replaces Meep's own, and the measurement of the times that it needs."""
