"""Names of core-hours for a simulated year (CHSY, also CHPSY), in columns and units."""

from __future__ import annotations

import re

__all__ = ["UNITS", "is_chsy", "is_node_hours"]

UNITS = frozenset({"chsy", "chpsy"})
_OF_A_YEAR = (
    r"s?[\s_-]*(?:h|hrs?|hours?)(?:\s*/\s*|[\s_-]*per[\s_-]*)"
    r"(?:(?:sim(?:ulated|\.)?|model(?:led|ed)?)[\s_-]*(?:y|yr|year)|sy|myear))\s*[\])]?"
)
_BEFORE = r"(?:.*[\[(\s_])?"
_NAME = re.compile(rf"{_BEFORE}(?:chp?sy|(?:core|cpu|pe|proc(?:essor)?){_OF_A_YEAR}", re.IGNORECASE)
_OF_NODES = re.compile(rf"{_BEFORE}(?:node{_OF_A_YEAR}", re.IGNORECASE)


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


def is_node_hours(column: str) -> bool:
    """Tell whether a column holds node-hours for a simulated year.

    Examples
    --------
    >>> is_node_hours("node-hours per simulated year"), is_node_hours("cost (node-h/SY)"), is_node_hours("node-hours")
    (True, True, False)
    """
    return _OF_NODES.fullmatch(column.strip()) is not None
