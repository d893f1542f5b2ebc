"""Multivariate adaptive regression splines (MARS): terms, forward pass, backward pass, and curves of one input."""
