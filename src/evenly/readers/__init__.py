"""Readers: from measurement files to runs. One format, one file."""
