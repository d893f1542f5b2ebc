"""Pages about results: what was measured, the model, what to do, what to measure next."""
