"""When a run ends, and what happens on the way."""
