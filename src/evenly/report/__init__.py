"""Pictures and tables of what was measured, learned and decided."""
