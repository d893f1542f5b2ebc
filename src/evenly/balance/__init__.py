"""Decisions: how many cores each solver gets."""
