"""What tensor completion is made of: the grid, its factors, and the ways to find them from the runs measured."""
