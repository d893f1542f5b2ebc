"""A balancer in place of Meep's own, and the times that it needs."""
