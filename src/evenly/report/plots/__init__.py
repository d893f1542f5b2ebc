"""Pictures, one file per kind of result."""
