"""Conformal prediction intervals: of one width for all configurations, and of local width."""
