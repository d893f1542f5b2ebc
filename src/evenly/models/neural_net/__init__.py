"""What neural nets are made of: columns, training by JAX, and members that numpy predicts with."""
