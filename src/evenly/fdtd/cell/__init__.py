"""The cell: its Yee grid, its boundaries, and its partition into chunks."""
