"""Media, geometric objects, and the material properties at each grid point."""
