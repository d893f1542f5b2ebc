"""A base class for dataclasses that are stored with a model, field by field."""

from __future__ import annotations

from dataclasses import fields, is_dataclass
from typing import Any

__all__ = ["Stored"]


class Stored:
    """Adds `to_state` to a dataclass; each subclass has its own ``from_state``, which knows the types of the fields."""

    def to_state(self) -> dict[str, Any]:
        """Return the fields by name: `Stored` values as dicts, tuples as lists, other values unchanged."""
        assert is_dataclass(self)  # noqa: S101 - for the type checker
        state: dict[str, Any] = {}
        for field in fields(self):
            value = getattr(self, field.name)
            if isinstance(value, list | tuple):
                value = [item.to_state() if isinstance(item, Stored) else item for item in value]
            state[field.name] = value.to_state() if isinstance(value, Stored) else value
        return state
