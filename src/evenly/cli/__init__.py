"""The command line: parses, calls and prints; it computes nothing."""

from __future__ import annotations

from evenly.cli.app import main

__all__ = ["main"]
