"""Gaussian-process regression: covariance functions, hyper-parameters, likelihood, and local experts for many runs."""
