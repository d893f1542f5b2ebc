"""Parts of tensor completion with positive factors: its grid and its optimiser."""
