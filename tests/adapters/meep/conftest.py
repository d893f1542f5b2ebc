"""Modules that run in Meep's Python are not looked through for doctests in this one."""

collect_ignore = ["structures.py"]
