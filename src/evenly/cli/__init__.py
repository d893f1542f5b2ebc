"""The command line: it parses arguments, calls the library and prints results; it computes nothing itself."""

from __future__ import annotations

import sys
from typing import NoReturn

__all__ = ["main"]


def main() -> NoReturn:
    """Run the command line and exit with its code; errors of evenly and Ctrl-C are printed without a traceback."""
    try:
        # Inside: an interruption during these imports ends with a line as well.
        from evenly.cli.interruptions import heeded

        with heeded():
            from evenly.cli.app import main as run

            run()
    except KeyboardInterrupt:
        sys.stderr.write("interrupted\n")
        sys.exit(130)
