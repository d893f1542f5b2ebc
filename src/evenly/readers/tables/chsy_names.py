"""Names of core-hours for a simulated year (CHSY, also CHPSY), in columns and units."""

from __future__ import annotations

import re

__all__ = ["UNITS", "is_chsy"]

UNITS = frozenset({"chsy", "chpsy"})
_NAME = re.compile(
    r"(?:.*[\[(\s_])?(?:chp?sy|(?:core|cpu|pe|proc(?:essor)?)s?[\s_-]*(?:h|hrs?|hours?)(?:\s*/\s*|[\s_-]*per[\s_-]*)"
    r"(?:(?:sim(?:ulated|\.)?|model(?:led|ed)?)[\s_-]*(?:y|yr|year)|sy|myear))\s*[\])]?",
    re.IGNORECASE,
)


def is_chsy(column: str, unit: str | None = None) -> bool:
    """Tell whether a column holds core-hours for a simulated year, by the unit that the user names or by its name.

    Examples
    --------
    >>> [is_chsy(name) for name in ("CHSY", "cost (core-h/SY)", "pe-hrs/simulated_year", "core-hours", "core-h/year")]
    [True, True, True, False, False]
    >>> is_chsy("cost", "CHPSY")
    True
    """
    return (unit or "").lower() in UNITS or _NAME.fullmatch(column.strip()) is not None
