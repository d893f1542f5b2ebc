"""The command line: it parses arguments, calls the library and prints results; it computes nothing itself."""

from __future__ import annotations

from evenly.cli.app import main

__all__ = ["main"]
