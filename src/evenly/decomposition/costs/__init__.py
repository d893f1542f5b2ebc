"""Cost models: terms of a program's work, coefficients measured on a machine, and predictions per chunk and rank."""
