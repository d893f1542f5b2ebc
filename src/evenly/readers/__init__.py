"""Readers: from measurement files to runs. One format, one file."""

from evenly.readers.base import Reader
from evenly.readers.registry import Skipped, format_names, option_names, readers
from evenly.readers.scan import Measurements, read, scan

__all__ = ["Measurements", "Reader", "Skipped", "format_names", "option_names", "read", "readers", "scan"]
