"""Checks of a machine before work is given to it: what would make measured times wrong, or runs fail."""
