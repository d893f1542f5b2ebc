"""Damage and faults, seeded, so that each can be repeated."""
