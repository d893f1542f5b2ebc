"""Which runs come next."""
