"""Adaptive regression splines: terms, the forward search, the backward pass, and the case of one input."""
