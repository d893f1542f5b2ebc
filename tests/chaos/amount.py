"""How much of the chaos is made: a share in `make test`, all of it with the environment variable EVENLY_CHAOS=all."""

from __future__ import annotations

import os

__all__ = ["amount"]


def amount(share: int, *, of: int) -> int:
    """Return `of` where all is asked for, else `share`.

    Examples
    --------
    >>> amount(5, of=5)
    5
    """
    return of if os.environ.get("EVENLY_CHAOS") == "all" else share
