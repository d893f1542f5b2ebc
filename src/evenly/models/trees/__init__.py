"""What forests and boosting are made of: the trend, columns, fitters, and trees as flat arrays."""
