"""Ctrl-C at any moment ends the program with one line and status 130.

While a package is imported, or while C calls Python code, `KeyboardInterrupt` gets lost or becomes another error. In
these cases, the signal is sent again a moment later, until it meets other code.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

__all__ = ["INTERRUPTED", "heeded"]

#: The exit status after Ctrl-C.
INTERRUPTED = 128 + signal.SIGINT
_AGAIN_S = 0.02
# Seconds after which an import is interrupted, whatever comes of it: it may never end.
_PATIENCE_S = 3.0


@contextmanager
def heeded() -> Iterator[None]:
    """Raise `KeyboardInterrupt` at Ctrl-C only where it isn't lost."""
    if (
        threading.current_thread() is not threading.main_thread()
        or signal.getsignal(signal.SIGINT) is not signal.default_int_handler
    ):
        yield
        return
    usual, waiting_since = sys.unraisablehook, 0.0

    def interrupt(number: int, frame: FrameType | None) -> None:
        nonlocal waiting_since
        now = time.monotonic()
        if _is_importing(frame) and now - (waiting_since := waiting_since or now) < _PATIENCE_S:
            _send_again()
            return
        waiting_since = 0.0
        signal.default_int_handler(number, frame)

    def lost(found: Any) -> None:
        if issubclass(found.exc_type, KeyboardInterrupt):
            _send_again()
        else:
            usual(found)

    signal.signal(signal.SIGINT, interrupt)
    sys.unraisablehook = lost
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, signal.default_int_handler)
        sys.unraisablehook = usual


def _is_importing(frame: FrameType | None) -> bool:
    while frame is not None:
        if frame.f_code.co_filename == "<frozen importlib._bootstrap>":
            return True
        frame = frame.f_back
    return False


def _send_again() -> None:
    timer = threading.Timer(_AGAIN_S, os.kill, (os.getpid(), signal.SIGINT))
    timer.daemon = True
    timer.start()
