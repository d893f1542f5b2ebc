"""Neural nets: input columns, training with JAX, and ensemble members that predict with numpy."""
