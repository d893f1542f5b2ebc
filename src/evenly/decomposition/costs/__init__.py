"""What chunks of a cell cost: terms, coefficients measured on a machine, predictions per rank."""
