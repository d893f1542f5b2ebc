"""Forests and gradient boosting: the trend, the columns, the fitters, and trees as flat arrays."""
