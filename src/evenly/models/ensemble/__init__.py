"""Several models as one: the race that chooses them, the weights, corrections, small copies."""
